// The positions to step through: the main line of a PGN, or a single position.

import type { FoundEval, PgnGame } from "../analysis/types.js";

/** A position of the line, and the last move. */
export interface Ply {
  fen: string;
  /** Empty at the start. */
  san: string;
  uci: string;
  /** "12." or "12…", empty at the start. */
  number: string;
  /** Squares of the move's start and end, a1 = 0. Castling has the squares of the king. */
  squares: readonly number[];
  /** The square of a king in check. */
  check?: number | undefined;
  /** Result of a game that ends here: 1 if White won, -1 if Black won, 0 for a draw. */
  over?: -1 | 0 | 1 | undefined;
  comment: string;
  glyph: string;
  /** The evaluation in the PGN. */
  given?: FoundEval | undefined;
}

/** A game. */
export interface Line {
  plies: Ply[];
  headers: ReadonlyMap<string, string>;
  /** The error after the last legal ply. */
  error?: string | undefined;
}

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
const GLYPHS = ["", "!", "?", "!!", "??", "!?", "?!", "□"];

/** The line before the game is read, and of a game that cannot be read. */
export const emptyLine = (error?: string): Line => ({
  plies: [plyOf(START, false)],
  headers: new Map(),
  error,
});

/** Returns the main line of a game. */
export function lineOf(game: PgnGame): Line {
  const { positions, tree, tags, result, error, evaluations, fen } = game;
  const headers = new Map(tags);
  if (result && result !== "*") headers.set("Result", result);
  const first = Number(fen?.split(/\s+/)[5]) || 1;
  const blacks = positions[0]?.split(" ")[1] === "b" ? 1 : 0;
  const plies = positions.map((position, n): Ply => {
    const move = tree[n - 1];
    const check = move ? /[+#]$/.test(move.san) : game.isCheck;
    const ply = plyOf(position, check);
    ply.given = evaluations[n] ?? undefined;
    ply.comment = plain(move ? move.comments : game.comments);
    if (move?.san.endsWith("#")) ply.over = position.includes(" b ") ? 1 : -1;
    else if (game.isStalemate && n === positions.length - 1) ply.over = 0;
    if (!move) return ply;
    const at = n - 1 + blacks;
    return {
      ...ply,
      ...{ san: move.san, uci: move.uci, squares: endsOf(move.uci) },
      number: `${first + (at >> 1)}${at % 2 ? "…" : "."}`,
      glyph: move.nags.map((nag) => GLYPHS[nag] ?? "").join(""),
    };
  });
  return { plies, headers, ...(error && { error: `pgn: ${error}` }) };
}

function plyOf(fen: string, isCheck: boolean): Ply {
  return {
    ...{ fen, san: "", uci: "", number: "", squares: [] },
    ...{ comment: "", glyph: "" },
    check: isCheck ? kingOf(fen) : undefined,
  };
}

/** Returns the square of the king of the side to move. */
function kingOf(fen: string): number | undefined {
  const [board = "", turn] = fen.split(" ");
  const rows = board.replace(/\d/g, (digit) => " ".repeat(Number(digit)));
  const at = rows.replaceAll("/", "").indexOf(turn === "w" ? "K" : "k");
  return at < 0 ? undefined : at ^ 56;
}

/** Returns the squares from and to which a move in UCI goes, from a1 = 0. */
export const endsOf = (uci: string): [from: number, to: number] => {
  const square = (at: number) =>
    uci.charCodeAt(at) - 97 + 8 * (uci.charCodeAt(at + 1) - 49);
  return [square(0), square(2)];
};

/** Joins comments without commands such as `[%clk 0:01:30]`. */
const plain = (comments: readonly string[]): string =>
  comments
    .map((text) => text.replace(/\s*\[%[^\]]*\]\s*/g, " ").trim())
    .filter(Boolean)
    .join(" ");
