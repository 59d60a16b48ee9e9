// Types of the elements `<shelfish-eval>` and `<shelfish-explorer>`.

import type { Evaluated, Explored } from "../shared/types.js";

/** Attributes that every element has in templates, of any framework. */
export interface CommonAttributes {
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
  /** `light`, `dark`, or the setting of the system (default). */
  theme?: "light" | "dark" | "auto";
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
  /** `light`, `dark`, or the setting of the system (default). */
  theme?: "light" | "dark" | "auto";
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
