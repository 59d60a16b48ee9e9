/** What a person pastes: a FEN or a PGN, told apart by its looks, read, or refused with the fault named. */
import { Chess, IllegalSetup, type Position } from "chessops/chess";
import { InvalidFen, parseFen } from "chessops/fen";
import { type ChildNode, type Node as PgnNode, type PgnNodeData, parsePgn, parseVariant } from "chessops/pgn";
import { Game, moveNumber, type Node, parseMove } from "./game";
import { players } from "./names";
import { addBefore, addComment, addNag } from "./notes";

/** The text holds no position or game; the message says what is wrong with it. */
export class InputError extends Error {}

/** A game of a text that could not be opened. */
export interface Refused {
  /** Which game of the text it is, from 1. */
  index: number;
  /** Who played it; empty if nobody is named. */
  name: string;
  reason: string;
  /** The line of the text, from 1. */
  line?: number;
}

/** What was read: games that open, those that do not, and a remark if something had to be left out. */
export interface Opened {
  games: Game[];
  refused: Refused[];
  remark?: string;
}

/** Longest text that is read: some hundred games. */
const MAX_LENGTH = 1_000_000;
/** Most games taken from one text. */
const MAX_GAMES = 100;

/** Reads a FEN or a PGN with one or more games. Throws an `InputError`. */
export function read(text: string): Opened {
  const trimmed = text.replace(/^\uFEFF/, "").trim();
  if (trimmed === "") throw new InputError("Nothing to open: paste a FEN or a PGN.");
  if (trimmed.length > MAX_LENGTH) throw new InputError("This text is too long: at most a million characters.");
  return looksLikeFen(trimmed) ? { games: [readFen(trimmed)], refused: [] } : readPgn(trimmed);
}

/** A FEN starts with ranks joined by slashes; a PGN never does. */
export function looksLikeFen(text: string): boolean {
  const board = text.split(/[\s_]/, 1)[0] ?? "";
  return (board.match(/\//g)?.length ?? 0) >= 3 && !board.includes("[");
}

/** A game that starts, and so far ends, at the FEN. Throws an `InputError`. */
export function readFen(text: string): Game {
  return new Game(positionOf(text.trim()));
}

function positionOf(fen: string): Position {
  const setup = parseFen(fen);
  if (setup.isErr) throw new InputError(fenFault(setup.error.message, fen));
  if (setup.value.pockets || setup.value.remainingChecks) throw new InputError("This FEN is of a chess variant; only standard chess and Chess960 are known here.");
  const position = Chess.fromSetup(setup.value);
  if (position.isErr) throw new InputError(positionFault(position.error.message, setup.value.turn));
  return position.value;
}

function fenFault(code: string, fen: string): string {
  const [board = "", turn, castling, enPassant, halfmoves, fullmoves] = fen.split(/[\s_]+/);
  switch (code) {
    case InvalidFen.Turn:
      return `FEN, side to move: “${clip(turn)}” should be w or b.`;
    case InvalidFen.Castling:
      return `FEN, castling: “${clip(castling)}” should be -, or letters such as KQkq.`;
    case InvalidFen.EpSquare:
      return `FEN, en passant: “${clip(enPassant)}” should be - or a square such as e3.`;
    case InvalidFen.Halfmoves:
      return `FEN, half-move clock: “${clip(halfmoves)}” should be a number.`;
    case InvalidFen.Fullmoves:
      return `FEN, move number: “${clip(fullmoves)}” should be a number.`;
    case InvalidFen.Board:
    case InvalidFen.Pockets:
      return `FEN, board: ${boardFault(board)}.`;
    default:
      return "FEN: there is more text than its six fields.";
  }
}

function boardFault(board: string): string {
  const ranks = board.split("/");
  const alien = [...board].find((letter) => !/[pnbrqkPNBRQK1-8/]/.test(letter));
  if (alien) return `“${alien}” is neither a piece (pnbrqk PNBRQK) nor a number of empty squares (1 to 8)`;
  if (ranks.length !== 8) return `it has ${ranks.length} ranks instead of 8`;
  for (const [index, rank] of ranks.entries()) {
    const width = [...rank].reduce((sum, letter) => sum + (Number(letter) || 1), 0);
    if (width !== 8) return `rank ${8 - index} (“${rank}”) has ${width} squares instead of 8`;
  }
  return "it cannot be read";
}

function positionFault(code: string, turn: string): string {
  const side = turn === "white" ? "White" : "Black";
  switch (code) {
    case IllegalSetup.Empty:
      return "The board is empty.";
    case IllegalSetup.Kings:
      return "Each side needs exactly one king.";
    case IllegalSetup.OppositeCheck:
      return `It is ${side}’s move, but the other king is in check already.`;
    case IllegalSetup.PawnsOnBackrank:
      return "There is a pawn on the first or the last rank.";
    default:
      return "This position cannot be played on.";
  }
}

function readPgn(text: string): Opened {
  const games: Game[] = [];
  const refused: Refused[] = [];
  let cut = 0;
  const parsed = parsePgn(text).filter((game) => game.moves.children.length > 0 || game.headers.has("FEN"));
  if (parsed.length === 0)
    throw new InputError("Neither a FEN nor a PGN: a FEN has eight ranks joined by slashes, a PGN has moves such as 1. e4 e5.");
  for (const [index, source] of parsed.slice(0, MAX_GAMES).entries()) {
    try {
      const variant = source.headers.get("Variant");
      if (parseVariant(variant) !== "chess") throw new InputError(`The variant “${clip(variant)}” is not known here.`);
      const fen = source.headers.get("FEN");
      const game = new Game(fen ? positionOf(fen) : Chess.default(), known(source.headers));
      for (const comment of source.comments ?? []) addComment(game.root.notes, comment);
      cut += graft(game, game.root, source.moves);
      game.sourcePlies = game.mainline().length - 1;
      games.push(game);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refused.push({ index: index + 1, name: players(known(source.headers)), reason: error.message });
    }
  }
  const [first] = refused;
  if (games.length === 0 && first) throw new InputError(refused.length > 1 ? `None of ${refused.length} games can be opened. The first: ${first.reason}` : first.reason);
  const remarks = [];
  if (cut > 0) remarks.push(cut === 1 ? "One variation was cut at an illegal move." : `${cut} variations were cut at illegal moves.`);
  if (parsed.length > MAX_GAMES) remarks.push(`Only the first ${MAX_GAMES} of ${parsed.length} games were opened.`);
  return { games, refused, ...(remarks.length > 0 ? { remark: remarks.join(" ") } : {}) };
}

/** Headers that say something. */
function known(headers: Map<string, string>): Map<string, string> {
  return new Map([...headers].filter(([, value]) => value !== "" && !/^[?.*]+$/.test(value)));
}

/** Copies the tree below `source` to `at`. An illegal move ends a variation (counted), but is an error in the main line. */
function graft(game: Game, at: Node, source: PgnNode<PgnNodeData>): number {
  let cut = 0;
  // A stack instead of recursion, because a line may be thousands of moves long.
  const open: { at: Node; child: ChildNode<PgnNodeData>; main: boolean }[] = [];
  const push = (node: Node, children: ChildNode<PgnNodeData>[], main: boolean) => {
    for (let i = children.length - 1; i >= 0; i--) {
      const child = children[i];
      if (child) open.push({ at: node, child, main: main && i === 0 });
    }
  };
  push(at, source.children, true);
  for (let task = open.pop(); task; task = open.pop()) {
    const { at: node, child, main } = task;
    const move = parseMove(node.position, child.data.san);
    if (!move) {
      if (main) throw new InputError(`${moveNumber(node.position)} ${clip(child.data.san)} is not a legal move.`);
      cut++;
      continue;
    }
    const next = game.play(node, move);
    for (const comment of child.data.startingComments ?? []) addBefore(next.notes, comment);
    for (const comment of child.data.comments ?? []) addComment(next.notes, comment);
    for (const nag of child.data.nags ?? []) addNag(next.notes, nag);
    push(next, child.children, main);
  }
  return cut;
}

/** Pasted text may be anything: a message quotes only its start. */
function clip(text: string | undefined): string {
  if (text === undefined) return "";
  return text.length > 24 ? `${text.slice(0, 24)}…` : text;
}
