// Written by table.mjs: openings sorted by their moves.

/** ECO codes of three letters. */
export declare const ecos: string;
/** Names, separated by line ends: the number of letters shared with the previous name, then the remaining letters. */
export declare const names: string;
/** Moves, separated by line ends: the number of moves shared with the previous opening, then squares. Castling is king to rook. */
export declare const moves: string;
