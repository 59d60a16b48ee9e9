/** Chess notation in any text: which part of it is a PGN or a FEN, and whether something could be a move at all. */

/**
 * A move in short or long algebraic notation, with letters of any language or figurines. Which letters mean what, and whether
 * the move is legal, is for the board to tell: it has the rules, and refuses what it does not know.
 */
const MOVE = String.raw`(?:[\p{Lu}♔-♟]?[a-h]?[1-8]?[-–x×:]?[a-h][1-8](?:=?[\p{Lu}♔-♟])?|[O0][-–][O0](?:[-–][O0])?)[+#†‡]*`;
const RESULT = "1-0|0-1|1/2-1/2|½[-–]½";

/** Tags of a game, or the number of a first move. */
const START = /(?:\[\w+\s+"(?:[^"\\\n]|\\.)*"\]\s*)+|(?<![\w.])1\s?\.(?!\s?[.…\d])/g;
/** What may follow: space, comment, glyph, move number; a parenthesis (1), the result (2), a move (3). */
const TOKEN = new RegExp(
  String.raw`\s+|\{[^}]{0,5999}\}|\$\d+|[!?‼⁇⁉⁈±∓∞□⩲⩱+=/−-]+(?=[\s)]|$)|\d+\s?\.+|\d*…|([()])|(${RESULT}|\*)|(${MOVE})(?![\p{L}\d])`,
  "guy",
);
const FEN = /(?<!\w)([1-8pnbrqk]+\/){7}[1-8pnbrqk]+[ _]+[wb]([ _]+(-|[a-hkq]{1,4})([ _]+(-|[a-h][36])([ _]+\d+[ _]+\d+)?)?)?(?!\w)/i;

/** Whether a text could be one move. */
export const isMove = (text: string): boolean => new RegExp(`^${MOVE}$`, "u").test(text);

/** The result that a text names, as PGN has it. */
export function resultIn(text: string): string | undefined {
  const found = text.match(RESULT)?.[0];
  return found?.startsWith("½") ? "1/2-1/2" : found;
}

/**
 * The PGNs in a text, each from its first tag or move to its last. Where none has tags, only the longest is taken: the others
 * are examples and side lines of an article.
 */
export function pgnsIn(text: string): string[] {
  const tagged: string[] = [];
  let untagged: string[] = [];
  let longest = 1;
  let end = 0;
  for (const { 0: head, index } of text.matchAll(START)) {
    // Part of the game before.
    if (index < end) continue;
    const tags = head.startsWith("[") ? head : "";
    let at = (TOKEN.lastIndex = index + tags.length);
    let last = at;
    let moves = 0;
    let depth = 0;
    for (const [token, parenthesis, result, move] of text.matchAll(TOKEN)) {
      // Another game.
      if (moves > 0 && depth === 0 && /^1\s?\.$/.test(token)) break;
      at += token.length;
      if (parenthesis) depth += parenthesis === "(" ? 1 : -1;
      if (depth < 0) break;
      if (depth > 0) continue;
      if (move) moves++;
      // A number or a space at the end belongs to the text around.
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

/** The first FEN in a text that names the side to move, with underscores for spaces. */
export function fenIn(text: string): string | undefined {
  return FEN.exec(text)?.[0].replace(/ +/g, "_");
}

/** A PGN of tags (those that are known) and moves. */
export function toPgn(tags: Record<string, string | undefined>, moves: string[]): string {
  const lines = Object.entries(tags).map(([name, value]) => (value ? `[${name} "${value.replace(/[\\"]/g, "\\$&")}"]\n` : ""));
  const text = moves.map((move, ply) => (ply % 2 ? move : `${ply / 2 + 1}. ${move}`));
  return `${lines.join("")}\n${text.join(" ")} ${tags.Result ?? "*"}`;
}
