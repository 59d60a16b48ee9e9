/** Finds PGNs and FENs in any text, and checks whether a text looks like a move. */

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
export const isMove = (text: string): boolean =>
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
