/** What a person has set; kept in this browser. */

export const BOARDS = ["brown", "green", "blue", "grey"] as const;
export const PIECES = ["cburnett", "letters"] as const;
/** Megabytes that the cache in IndexedDB may take; 0: none. */
export const CACHES = [0, 16, 64, 256, 1024] as const;

/** All that can be set, besides the theme. */
export interface Settings {
  board: (typeof BOARDS)[number];
  pieces: (typeof PIECES)[number];
  sounds: boolean;
  /** Whether the engine looks at what the database does not have. */
  engine: boolean;
  cache: (typeof CACHES)[number];
  /** The manifest of the database to read if the address names none; undefined: the one beside the page. */
  database?: string;
}

const KEY = "settings";

/** What was set where storage is forbidden. */
let unstored: Partial<Settings> = {};

/** The settings; what cannot be read is as it comes. */
export function load(): Settings {
  const stored = parsed();
  const one = <T>(values: readonly T[], value: unknown, usual: T): T => values.find((each) => each === value) ?? usual;
  return {
    board: one(BOARDS, stored.board, "brown"),
    pieces: one(PIECES, stored.pieces, "cburnett"),
    sounds: stored.sounds === true,
    engine: stored.engine !== false,
    cache: one(CACHES, stored.cache, 64),
    ...(typeof stored.database === "string" && stored.database ? { database: stored.database } : {}),
  };
}

/** Keeps settings and shows those that are a matter of looks. */
export function save(settings: Settings): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
    unstored = {};
  } catch {
    // Storage may be forbidden: they then last as long as the page.
    unstored = { ...settings };
  }
  applyAppearance(settings);
}

/** Gives board and pieces their looks. */
export function applyAppearance({ board, pieces }: Settings): void {
  document.documentElement.dataset.board = board;
  document.documentElement.dataset.pieces = pieces;
}

function parsed(): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return { ...(typeof value === "object" ? value : {}), ...unstored };
  } catch {
    return { ...unstored };
  }
}
