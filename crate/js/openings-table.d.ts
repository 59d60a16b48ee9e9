// Made by openings-table.mjs: openings in the order of their moves.

/** ECO codes, of three letters each. */
export declare const ecos: string;
/** Names, a line each: how many letters are those of the name before, then the others. */
export declare const names: string;
/** Moves, a line each: how many are those of the opening before, then the squares of the others, castling as king takes rook. */
export declare const moves: string;
