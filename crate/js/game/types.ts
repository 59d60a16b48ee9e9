// Types of the element `<shelfish-game>`.

import type { CommonAttributes } from "../elements/types.js";

export type { CommonAttributes };

/** Detail of the event `ply`: the position that is shown. */
export interface PlyDetail {
  /** Plies from the start. */
  ply: number;
  /** The position: the first four fields of FEN. */
  fen: string;
  /** The last move in SAN; empty at the start. */
  san: string;
  /** The last move in UCI; empty at the start. */
  uci: string;
  /** The score from White's point of view; `null` if unknown. */
  score: {
    cp?: number | undefined;
    mate?: number | undefined;
    depth?: number | undefined;
  } | null;
}

/** Attributes of the element, for templates. */
export interface ShelfishGameAttributes extends CommonAttributes {
  /** A PGN. The element shows the main line of its first game. The text inside the element also works. */
  pgn?: string;
  /** The URL of a PGN, which is fetched when the element becomes visible. */
  src?: string;
  /** A position, if there is no PGN. */
  fen?: string;
  /** The URL of a database: its manifest, or its folder with a slash at the end. If omitted, scores are those of the PGN. */
  database?: string;
  /** The ply that is shown, in plies from the start. Larger values show the last position. */
  ply?: number | string;
  /** The side at the bottom: `white` (default) or `black`. */
  orientation?: "white" | "black";
  /** `light`, `dark`, or the setting of the system (default). */
  theme?: "light" | "dark" | "auto";
}

/** Events of the element by name. */
export interface ShelfishGameEventMap extends Omit<
  HTMLElementEventMap,
  "error"
> {
  /** Another position is shown, or its score is new. */
  ply: CustomEvent<PlyDetail>;
  /** Something cannot be read. The detail is the reason. The event does not bubble. */
  error: CustomEvent<string>;
}
