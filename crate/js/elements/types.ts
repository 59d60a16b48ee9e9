// Types of the elements.

import type { FoundEval } from "../analysis/types.js";
import type { Evaluated, Explored } from "../shared/types.js";

/** Attributes that every element has in templates, of any framework. */
export interface CommonAttributes {
  /** `light`, `dark`, or the setting of the system (default). */
  theme?: "light" | "dark" | "auto";
  id?: string | undefined;
  class?: string | undefined;
  className?: string | undefined;
  style?: any;
  title?: string | undefined;
  lang?: string | undefined;
  dir?: string | undefined;
  slot?: string | undefined;
  role?: any;
  hidden?: any;
  tabIndex?: number | undefined;
  tabindex?: number | string | undefined;
  /** References, keys and children are types of the framework. */
  ref?: any;
  key?: any;
  children?: any;
  suppressHydrationWarning?: boolean | undefined;
  [attribute: `aria-${string}` | `data-${string}`]: any;
  [listener: `on${string}`]: any;
}

/** Attributes of `<shelfish-eval>`, for templates. */
export interface ShelfishEvalAttributes extends CommonAttributes {
  /** The position. */
  fen?: string;
  /** The URL of a database: its manifest, or its folder with a slash at the end. */
  database?: string;
  /** The URL of endgame tables, as `openEndgames` takes it. */
  endgames?: string;
  /** Whether the engine searches positions that tables and database lack. */
  engine?: boolean | "";
  /** Number of lines that are shown, up to 20. Default 1. */
  lines?: number | string;
}

/** Events of `<shelfish-eval>` by name. */
export interface ShelfishEvalEventMap extends Omit<
  HTMLElementEventMap,
  "error"
> {
  /** The answer is complete; `null` if no origin has an evaluation. */
  evaluation: CustomEvent<Evaluated<true> | null>;
  /** The lookup failed. The detail is the reason. */
  error: CustomEvent<string>;
}

/** Attributes of `<shelfish-explorer>`, for templates. */
export interface ShelfishExplorerAttributes extends CommonAttributes {
  /** The position. Default: the start of a game. */
  fen?: string;
  /** The URL of a book: its manifest, or its folder with a slash at the end. */
  book?: string;
  /** The URL of a database, whose evaluations are shown next to the moves. */
  database?: string;
  /** Maximum number of moves. Default 12; 0 shows all moves. */
  moves?: number | string;
}

/** Detail of the event `move`. */
export interface MoveDetail {
  /** The move in SAN. */
  san: string;
  /** The move in UCI. */
  uci: string;
  /** The position after the move: the first four fields of FEN. */
  fen: string;
}

/** Events of `<shelfish-explorer>` by name. */
export interface ShelfishExplorerEventMap extends Omit<
  HTMLElementEventMap,
  "error"
> {
  /** The user chose a move. If the event is cancelled, the element keeps its position. */
  move: CustomEvent<MoveDetail>;
  /** The moves of a position are shown. */
  explored: CustomEvent<Explored>;
  /** The lookup failed. The detail is the reason. */
  error: CustomEvent<string>;
}

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
  /** The evaluation; `null` if unknown. */
  evaluation: FoundEval | null;
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
