/** Moves and games as texts, the search of a game on any page, and the address of the board with a game. */
import { dataUrl } from "../settings/settings";
import { gameOfPath } from "../link/sites";

/**
 * Matches a move in short or long algebraic notation, with letters of any language or figurines. The board knows the rules: it interprets the
 * letters and refuses illegal moves.
 */
const MOVE = String.raw`(?:[\p{Lu}♔-♟]?[a-h]?[1-8]?[-–x×:]?[a-h][1-8](?:=?[\p{Lu}♔-♟])?|[O0][-–][O0](?:[-–][O0])?)[+#†‡]*`;
const RESULT = "1-0|0-1|1/2-1/2|½[-–]½";

/** Tags of a game, or the number of a first move. */
const START =
  /(?:\[\w+\s+"(?:[^"\\\n]|\\.)*"\]\s*)+|(?<![\w.])1\s?\.(?!\s?[.…\d])/g;
/** Tokens after the start: space, comment, glyph or move number; a parenthesis (1), the result (2), a move (3). */
const TOKEN = new RegExp(
  String.raw`\s+|\{[^}]{0,5999}\}|\$\d+|[!?‼⁇⁉⁈±∓∞□⩲⩱+=/−-]+(?=[\s)]|$)|\d+\s?\.+|\d*…|([()])|(${RESULT}|\*)|(${MOVE})(?![\p{L}\d])`,
  "guy",
);
const FEN =
  /(?<!\w)([1-8pnbrqk]+\/){7}[1-8pnbrqk]+[ _]+[wb]([ _]+(-|[a-hkq]{1,4})([ _]+(-|[a-h][36])([ _]+\d+[ _]+\d+)?)?)?(?!\w)/i;

/** Whether a text looks like one move. */
const isMove = (text: string): boolean =>
  new RegExp(`^${MOVE}$`, "u").test(text);

/** Returns the result in a text, in PGN's notation. */
export function resultIn(text: string): string | undefined {
  const found = text.match(RESULT)?.[0];
  return found?.startsWith("½") ? "1/2-1/2" : found;
}

/**
 * Returns the PGNs in a text, each from its first tag or move to its last. Without tags only the longest PGN is returned, because the others are
 * examples and side lines of an article.
 */
export function pgnsIn(text: string): string[] {
  const tagged: string[] = [];
  let untagged: string[] = [];
  let longest = 1;
  let end = 0;
  for (const { 0: head, index } of text.matchAll(START)) {
    // This match belongs to the previous game.
    if (index < end) continue;
    const tags = head.startsWith("[") ? head : "";
    let at = (TOKEN.lastIndex = index + tags.length);
    let last = at;
    let moves = 0;
    let depth = 0;
    for (const [token, parenthesis, result, move] of text.matchAll(TOKEN)) {
      // Another game begins.
      if (moves > 0 && depth === 0 && /^1\s?\.$/.test(token)) break;
      at += token.length;
      if (parenthesis) depth += parenthesis === "(" ? 1 : -1;
      if (depth < 0) break;
      if (depth > 0) continue;
      if (move) moves++;
      // A number or a space at the end belongs to the surrounding text.
      if (!/^\s|[.…]$/.test(token)) last = at;
      if (result) break;
    }
    end = at;
    const game = text.slice(index, last).trim();
    if (tags) {
      if (moves > 0 || tags.includes("[FEN")) tagged.push(game);
    } else if (moves > longest) [longest, untagged] = [moves, [game]];
  }
  return tagged.length > 0 ? tagged : untagged;
}

/** Returns the first FEN in a text that names the side to move, with underscores instead of spaces. */
export function fenIn(text: string): string | undefined {
  return FEN.exec(text)?.[0].replace(/ +/g, "_");
}

/** Writes a PGN with the tags that have a value, and moves. */
export function toPgn(
  tags: Record<string, string | undefined>,
  moves: string[],
): string {
  const lines = Object.entries(tags).map(([name, value]) =>
    value ? `[${name} "${value.replace(/[\\"]/g, "\\$&")}"]\n` : "",
  );
  const text = moves.map((move, ply) =>
    ply % 2 ? move : `${ply / 2 + 1}. ${move}`,
  );
  return `${lines.join("")}\n${text.join(" ")} ${tags.Result ?? "*"}`;
}

/** Elements inside a move that do not belong to its text: numbers, clocks, evaluations, draw offers. */
const EXTRAS = "index,draw,glyph,eval,svg,[class*=time]";

/** Returns the first element that matches a selector. */
export const query = (
  selector: string,
  within: ParentNode = document,
): HTMLElement | null => within.querySelector<HTMLElement>(selector);

/** Returns all elements that match a selector. */
export const queryAll = <E extends Element = Element>(
  selector: string,
  within: ParentNode = document,
): E[] => [...within.querySelectorAll<E>(selector)];

/** Returns an element's trimmed text, or an empty string without an element. */
export const content = (element: Node | null | undefined): string =>
  element?.textContent?.trim() ?? "";

/** Returns the text of a move. A piece may be a letter, a figurine, or an element of an icon font. */
function text(node: Node): string {
  if (node instanceof Text) return content(node);
  if (!(node instanceof Element) || node.matches(EXTRAS)) return "";
  const [piece] =
    /king|queen|rook|bishop|knight/.exec(node.getAttribute("class") ?? "") ??
    [];
  const inside = [...node.childNodes].map(text).join("");
  return (
    node.getAttribute("data-figurine") ||
    inside ||
    (piece === "knight" ? "N" : (piece?.[0] ?? "").toUpperCase())
  );
}

/** Returns the main line of a tree of moves of Lichess or its viewer, without side lines and comments. */
export const mainLine = (list: Element): string[] =>
  movesOf(
    queryAll("move", list).filter(
      (move) => !move.closest("lines,interrupt,inline,variation,.empty"),
    ),
  );

/** Whether a tree of moves begins with move 1. */
export const fromFirst = (list: Element): boolean =>
  /^1(?!\d)/.test(content(list));

/** Returns the moves in elements. Skips elements without text; refuses text that is not a move. */
export function movesOf(elements: Element[]): string[] {
  return elements.flatMap((element) => {
    const move = text(element)
      .replace(/[\s\p{Cf}\ufe0e\ufe0f]|^\d+\.+|[!?‼⁇⁉⁈□✓✗]+$/gu, "")
      .replace(/0/g, "O");
    if (/^[.…]*$/.test(move)) return [];
    return isMove(move) ? move : refuse(`“${move.slice(0, 20)}” is no move.`);
  });
}

/** Maximum length of a link. Firefox refuses links of more than a mebibyte. */
const MAX_LENGTH = 900_000;

/** Returns the fragment that opens games, if there are any. */
function pgnFragment(games: string[]): string | undefined {
  const fragment = encodeURIComponent(games.join("\n\n"));
  if (fragment.length > MAX_LENGTH)
    refuse("Too long for a link: paste the PGN at the board.");
  return fragment && `pgn=${fragment}`;
}

/** Returns the fragment that opens a game from its tags and moves. */
export const gameFragment = (
  tags: Record<string, string | undefined>,
  moves: string[],
): string | undefined =>
  moves.length > 0
    ? pgnFragment([toPgn(tags, moves)])
    : refuse("It shows no moves.");

/** Returns the fragment that opens a position. */
const fenFragment = (fen: string | undefined): string | undefined =>
  fen && `fen=${fen}`;

/** Returns the fragment of a Lichess game. The board fetches the game with its clocks, and refuses it if it is still being played. */
export const lichessFragment = (id: string, black: boolean): string =>
  `lichess=${id}${black ? "/black" : ""}`;

export function refuse(reason: string): never {
  throw new Error(reason);
}

/** Refuses a game that is or may be in progress. */
export const refuseRunning = (fact = "This game is being played"): never =>
  refuse(`${fact}: only finished games are opened (fair play).`);

/** Refuses a page if it does not show whether the game is over. */
export const refuseUnclear = (): never =>
  refuseRunning("It does not show whether this game is over");

/**
 * Returns the `javascript:` URL that calls a function, given as an expression, with the board's URL. Everything except letters and digits is
 * percent-encoded: quotes, bookmark editors and URL fields, which drop line breaks, do not change it.
 */
export function bookmarkletLink(code: string, board: string): string {
  return `javascript:${encodeURIComponent(`void ${code}(${JSON.stringify(board)})`)}`;
}

/** Returns the URL of the board next to a page, with the page's `?db=` if it is valid. */
export function boardBeside(page: string): string {
  const { search } = new URL(page);
  const database = new URLSearchParams(search).get("db");
  return new URL(
    database === null || !dataUrl(database, page)
      ? "./"
      : `./?db=${encodeURIComponent(database)}`,
    page,
  ).href;
}

/** Returns the fragment that opens the content of the page. Games are preferred to positions. */
export function anyPage(): string | undefined {
  const selected = [String(getSelection())];
  // Frames of the same origin count as parts of the page.
  const pages = [
    document,
    ...queryAll<HTMLIFrameElement>("iframe").flatMap(
      (frame) => frame.contentDocument ?? [],
    ),
  ];
  const places = [attributes, fields, preformatted, whole].map((place) =>
    pages.flatMap(place),
  );
  return (
    gamesIn(selected) ||
    positionIn(selected) ||
    first(places, gamesIn) ||
    viewers() ||
    embedded() ||
    first(places, positionIn) ||
    positionIn([unescape(location.href)])
  );
}

/** Returns the fragment that opens the games in the page's form fields. */
export const fieldPgns = (): string | undefined => gamesIn(fields(document));

const gamesIn = (texts: string[]): string | undefined =>
  pgnFragment(texts.flatMap(pgnsIn));
const positionIn = (texts: string[]): string | undefined =>
  fenFragment(first(texts, fenIn));

function first<T>(
  list: T[],
  read: (item: T) => string | undefined,
): string | undefined {
  for (const item of list) {
    const found = read(item);
    if (found) return found;
  }
  return undefined;
}

/** Viewers of games, such as the viewer of Lichess, get their game from these attributes. */
const attributes = (page: Document): string[] =>
  ["data-pgn", "pgn", "data-fen", "fen"].flatMap((name) =>
    queryAll(`[${name}]`, page).map((element) =>
      (element.getAttribute(name) ?? "").replace(/<br>/g, "\n"),
    ),
  );

const fields = (page: Document): string[] =>
  queryAll<HTMLInputElement>("textarea,input:not([type=password])", page).map(
    (field) => field.value,
  );

const preformatted = (page: Document): string[] =>
  queryAll("pre,code,.pgn,script[type*=pgn]", page).map(content);

const whole = (page: Document): string[] => [page.body?.innerText ?? ""];

/** Reads the moves that Lichess's viewer shows: it removes the attribute with the PGN. */
const viewers = (): string | undefined =>
  pgnFragment(
    queryAll(".lpv__moves").flatMap((list) =>
      fromFirst(list) ? toPgn({ Site: location.href }, mainLine(list)) : [],
    ),
  );

/** Finds a Lichess game in a frame of another origin. The board refuses the game if it is still being played. */
const embedded = (): string | undefined =>
  first(
    queryAll<HTMLIFrameElement>("iframe[src*='//lichess.org/embed/']"),
    ({ src }) => {
      const game = gameOfPath(new URL(src).pathname);
      return game && lichessFragment(game.id, game.side === "black");
    },
  );
