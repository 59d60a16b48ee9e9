// Reads the main line of the first game of a PGN. A word that cannot be a move counts as a move, so that it is reported.

/** A move of the main line as text, with its comments and glyphs. */
export interface LineMove {
  san: string;
  comments: string[];
  glyphs: string;
}

/** The main line of a game. */
export interface MainLine {
  headers: Map<string, string>;
  /** Comments before the first move. */
  comments: string[];
  moves: LineMove[];
}

const GLYPHS: Readonly<Record<number, string>> = {
  1: "!",
  2: "?",
  3: "!!",
  4: "??",
  5: "!?",
  6: "?!",
};

/** A header, or a line that is meant as a header. */
const HEADER =
  /\[\s*([A-Za-z0-9][\w+#=:-]*)\s+"((?:[^"\\]|\\.)*)"\s*\]|\[[^\n]*/y;

/**
 * The tokens of movetext: blank space, an escaped line, a comment, a comment to the end of the line, a parenthesis, the number of
 * a glyph, a glyph, a word, and any other character.
 */
const TOKEN =
  /(\s+)|(?<=^|\n)%[^\n]*|\{([^}]*)\}?|;[^\n]*|([()])|\$(\d+)|([?!]{1,2})|([^\s(){};$?!]+)|[^]/y;

const RESULT = /^(?:\*|1[-–—]0|0[-–—]1|1\/2(?:[-–—]1\/2)?|½(?:[-–—]½)?)$/;

/** Numbers of moves before a move, with or without a space. */
const NUMBER = /^\d+(?:[.…]+|$)/;

/** Words that are no moves: signs of annotators such as `+-`, en passant, a novelty. `--` is a null move. */
const REMARK = /^(?!--$)(?:[^\p{L}\p{N}]*|e\.?p\.?|T?N)$/u;

/** Reads the main line of the first game. Returns `undefined` if the text contains no header, move or comment. */
export function readMainLine(text: string): MainLine | undefined {
  const line: MainLine = { headers: new Map(), comments: [], moves: [] };
  const { headers, moves } = line;
  let depth = 0;
  let isAfterBlankLine = false;
  for (let at = text.startsWith("\uFEFF") ? 1 : 0; at < text.length;) {
    HEADER.lastIndex = TOKEN.lastIndex = at;
    const header = depth === 0 ? HEADER.exec(text) : null;
    if (header && (header[1] || moves.length === 0)) {
      // The next game.
      if (moves.length > 0) break;
      if (header[1]) headers.set(header[1], header[2]!.replace(/\\(.)/g, "$1"));
      at = HEADER.lastIndex;
      continue;
    }
    const [, space, comment, parenthesis, glyphNumber, glyph, word] =
      TOKEN.exec(text)!;
    at = TOKEN.lastIndex;
    if (space !== undefined) {
      isAfterBlankLine ||= /\n[^\S\n]*\n/.test(space);
      continue;
    }
    if (parenthesis)
      depth = parenthesis === "(" ? depth + 1 : Math.max(0, depth - 1);
    if (depth > 0) continue;
    const last = moves.at(-1);
    if (comment !== undefined) (last ?? line).comments.push(comment.trim());
    else if (last && glyphNumber)
      last.glyphs += GLYPHS[Number(glyphNumber)] ?? "";
    else if (last && glyph) last.glyphs += glyph;
    else if (word) {
      if (RESULT.test(word)) {
        if (word !== "*") headers.set("Result", word.replace(/[–—]/g, "-"));
        break;
      }
      // The first move of the next game.
      if (isAfterBlankLine && moves.length > 0 && /^1\.(?!\.)/.test(word))
        break;
      const san = word.replace(NUMBER, "");
      if (!REMARK.test(san))
        moves.push({ san: castling(san), comments: [], glyphs: "" });
    }
    isAfterBlankLine = false;
  }
  return headers.size + moves.length + line.comments.length > 0
    ? line
    : undefined;
}

/** Writes castling with the letter O and hyphens. */
const castling = (san: string) =>
  /^[O0o][-–—][O0o]/.test(san)
    ? san.replace(/[0o]/g, "O").replace(/[–—]/g, "-")
    : san;
