// The positions to step through: the main line of a PGN, or a single position.

import { makeFen, parseFen } from "chessops/fen";
import {
  type Evaluation as Given,
  isMate,
  isPawns,
  parseComment,
  startingPosition,
} from "chessops/pgn";
import { makeSanAndPlay, parseSan } from "chessops/san";
import { Chess } from "chessops/chess";
import type { Position } from "chessops/chess";
import { isNormal, type NormalMove } from "chessops/types";
import { makeUci } from "chessops/util";
import { readMainLine } from "./main-line.js";

/** A score from White's point of view, and its origin. */
export interface PlyScore {
  cp?: number | undefined;
  mate?: number | undefined;
  depth?: number | undefined;
  /** The best move, in UCI. */
  best?: string | undefined;
  from: "database" | "pgn";
}

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
  given?: PlyScore | undefined;
}

/** A game. */
export interface Line {
  plies: Ply[];
  headers: ReadonlyMap<string, string>;
  /** The error after the last legal ply. */
  error?: string | undefined;
}

/** Reads a position in FEN. */
export function fromFen(fen: string): Line {
  const headers = new Map<string, string>();
  try {
    const setup = parseFen(fen.trim()).unwrap();
    return { plies: [ply(Chess.fromSetup(setup).unwrap())], headers };
  } catch (cause) {
    return {
      plies: [ply(Chess.default())],
      headers,
      error: `fen: ${(cause as Error).message}, found ${fen.slice(0, 100)}`,
    };
  }
}

/** Reads the first game of a PGN: its main line, up to the first move that is not legal. */
export function fromPgn(pgn: string): Line {
  const game = readMainLine(pgn);
  const headers = game?.headers ?? new Map<string, string>();
  const start = startingPosition(headers);
  if (!game || start.isErr) {
    const variant = headers.get("Variant");
    const error = !game
      ? "it contains no game"
      : variant && !/^(standard|chess\s?960|from position)$/i.test(variant)
        ? `the variant ${variant} is not shown`
        : "its starting position is not legal";
    return { plies: [ply(Chess.default())], headers, error: `pgn: ${error}` };
  }
  const position = start.value;
  if (position.rules !== "chess")
    return {
      plies: [ply(Chess.default())],
      headers,
      error: `pgn: the variant ${headers.get("Variant")} is not shown`,
    };
  const plies = [
    {
      ...ply(position),
      comment: game.comments.map((text) => parseComment(text).text).join(" "),
    },
  ];
  for (const data of game.moves) {
    const move = parseSan(position, data.san);
    const number = `${position.fullmoves}${position.turn === "white" ? "." : "…"}`;
    if (!move || !isNormal(move))
      return {
        plies,
        headers,
        error: `pgn: move ${number} ${data.san.slice(0, 12)} is not legal`,
      };
    const squares = markedSquares(position, move);
    const uci = makeUci(move);
    const san = makeSanAndPlay(position, move);
    const comments = data.comments.map(parseComment);
    const given = comments.find(({ evaluation }) => evaluation)?.evaluation;
    plies.push({
      ...ply(position),
      ...{ san, uci, number, squares },
      comment: comments
        .map(({ text }) => text)
        .filter(Boolean)
        .join(" "),
      glyph: data.glyphs,
      given: given && plyScore(given),
    });
  }
  return { plies, headers };
}

function ply(position: Position): Ply {
  const outcome = position.outcome();
  return {
    fen: makeFen(position.toSetup(), { epd: true }),
    ...{ san: "", uci: "", number: "", squares: [], comment: "", glyph: "" },
    check: position.isCheck()
      ? position.board.kingOf(position.turn)
      : undefined,
    over:
      position.isCheckmate() || position.isStalemate()
        ? outcome?.winner === "white"
          ? 1
          : outcome?.winner === "black"
            ? -1
            : 0
        : undefined,
  };
}

/** Returns the squares to mark. chessops encodes castling as king to rook. */
function markedSquares(position: Position, { from, to }: NormalMove): number[] {
  const isCastling =
    position.board.get(from)?.role === "king" &&
    position.board.get(to)?.color === position.turn;
  return [from, isCastling ? (from & 56) + (to > from ? 6 : 2) : to];
}

function plyScore(given: Given): PlyScore | undefined {
  if (isPawns(given))
    return {
      cp: Math.round(100 * given.pawns),
      depth: given.depth,
      from: "pgn",
    };
  return isMate(given) && given.mate !== 0
    ? { mate: given.mate, depth: given.depth, from: "pgn" }
    : undefined;
}
