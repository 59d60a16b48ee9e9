/** The settings, stored in this browser. */
import { readObject, writeString } from "../shell/dom";

/** Nodes of the engine for each position of a doubtful move, in the analysis of a game. */
export const NODES = {
  Quick: 100_000,
  Normal: 250_000,
  Deep: 1_000_000,
} as const;
/** Numbers of lines of the engine. */
export const LINES = [1, 2, 3, 4, 5] as const;
/** Panels next to the game: the ids of their elements. */
export const PANELS = ["report", "explorer"] as const;

/** Sets of pieces and their names. */
export const PIECES = { cburnett: "Burnett", merida: "Merida" } as const;

/** All settings except the theme. */
export interface Settings {
  /** Whether evaluations and arrows are shown. */
  evaluations: boolean;
  /** Whether depth, origins, bytes and requests are shown. */
  details: boolean;
  /** Whether the engine searches positions that the database does not have. */
  engine: boolean;
  /** Whether Stockfish judges games, if the site has it. */
  stockfish: boolean;
  /** One of {@link NODES}, or another number of nodes. */
  nodes: number;
  lines: (typeof LINES)[number];
  /** The selected panel next to the game. */
  panel: (typeof PANELS)[number];
  pieces: keyof typeof PIECES;
}

const KEY = "settings";

/** Settings that could not be stored. */
let unstored: Partial<Settings> = {};

/** Reads the settings. Invalid values are replaced by defaults. */
export function load(): Settings {
  const stored: Record<string, unknown> = { ...readObject(KEY), ...unstored };
  const one = <T>(values: readonly T[], value: unknown, usual: T): T =>
    values.find((each) => each === value) ?? usual;
  return {
    evaluations: stored.evaluations !== false,
    details: stored.details === true,
    engine: stored.engine !== false,
    stockfish: stored.stockfish !== false,
    nodes:
      Number.isSafeInteger(stored.nodes) && Number(stored.nodes) > 0
        ? Number(stored.nodes)
        : NODES.Normal,
    lines: one(LINES, stored.lines, 2),
    panel: one(PANELS, stored.panel, "report"),
    pieces: stored.pieces === "merida" ? "merida" : "cburnett",
  };
}

/** Changes some settings, stores them, and applies the appearance. */
export function change(part: Partial<Settings>): void {
  const settings = { ...load(), ...part };
  // If storage is forbidden, the settings end with the page.
  unstored = writeString(KEY, JSON.stringify(settings)) ? {} : { ...settings };
  applyAppearance(settings);
}

/** Shows the chosen pieces. The style sheet of the board has the first set. */
export function applyPieces(
  { pieces }: Pick<Settings, "pieces"> = load(),
): void {
  document.documentElement.dataset.pieces = pieces;
  if (pieces === "merida") import("../style/merida.css").catch(() => {});
}

/** Shows or hides the evaluations and the details, and shows the chosen pieces. */
export function applyAppearance(settings: Settings): void {
  applyPieces(settings);
  const { dataset } = document.documentElement;
  dataset.evaluations = settings.evaluations ? "shown" : "hidden";
  if (settings.details) dataset.details = "";
  else delete dataset.details;
}

/** Returns the URL of the database's manifest: from `?db=`, or the site's own database. */
export const manifestUrl = (): URL =>
  named("db") ?? resolved(import.meta.env.VITE_DATABASE ?? "db/manifest.json");

/** Returns the URL of the book's manifest: from `?book=`, or the site's own book. */
export const bookUrl = (): URL =>
  named("book") ?? resolved("book/manifest.json");

/** Returns the URL of the index of endgame tables: from `?endgames=`, or the site's own tables. */
export const endgamesUrl = (): URL =>
  named("endgames") ?? resolved(SITE_ENDGAMES);

const SITE_ENDGAMES = "endgames/endgames.index";

/** Maximum number of pieces of the site's own endgame tables. */
const SITE_PIECES = 4;

/** Returns the maximum number of pieces of the tables of a URL; `undefined` if it is not known. */
export const endgamePieces = (url: URL): number | undefined =>
  url.href === resolved(SITE_ENDGAMES).href ? SITE_PIECES : undefined;

function named(parameter: string): URL | undefined {
  const value = new URLSearchParams(location.search).get(parameter);
  return value === null ? undefined : resolved(value);
}

/** Resolves a URL. An invalid URL becomes a missing file: the page then shows its usual error message. */
const resolved = (text: string): URL =>
  dataUrl(text, document.baseURI) ??
  new URL(encodeURIComponent(text), document.baseURI);

/**
 * Returns the URL of a database or a book, absolute or relative to `base`. Returns `undefined` if the protocol is not http or https, if the URL
 * contains a user name, or if the host contains unusual characters. Some characters, such as ";", have a meaning in a Content-Security-Policy.
 */
export function dataUrl(text: string, base: string): URL | undefined {
  if (!URL.canParse(text, base)) return undefined;
  const url = new URL(text, base);
  const isUsual =
    /^https?:$/.test(url.protocol) &&
    /^([\w.-]+|\[[\da-f:]+\])$/.test(url.hostname) &&
    !url.username &&
    !url.password;
  return isUsual ? url : undefined;
}
