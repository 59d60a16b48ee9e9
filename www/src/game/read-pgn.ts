/** Reads a pasted text or a file: a FEN, or games in PGN. The module of the analysis reads the games. Errors name the problem. */
import { Chess, type Position } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { isMate, parseComment } from "chessops/pgn";
import type { NormalMove } from "chessops/types";
import { parseUci } from "chessops/util";
import type { PgnGame, PgnMove } from "shelfish/analysis";
import { analysis, nextTask } from "../loading/loading";
import { InputError, plural } from "../text/words";
import { looksLikeFen, positionOf } from "./fen";
import { Game, type Node, type Notes } from "./game";
import { gameId, players } from "./identity";

/** A game that was not opened. */
export interface Refused {
  /** Number of the game in the text, from 1. */
  index: number;
  /** The players; empty if they are unknown. */
  name: string;
  reason: string;
}

/** The games of a text, the games that were not opened, and a remark if something was left out. */
export interface Opened<T = Game> {
  games: T[];
  refused: Refused[];
  remark?: string;
  /** The first error that has a place. */
  error?: InputError | undefined;
}

/** A game of a large text, for the list of games. */
export interface Checked {
  /** Key in the list. */
  id: string;
  headers: ReadonlyMap<string, string>;
  plies: number;
  result: string | null;
  text: string;
}

/** Maximum length of a text: about ten thousand games. */
const MAX_LENGTH = 16_000_000;
/** Maximum number of games per text, equal to the number of stored games. */
const MAX_GAMES = 5_000;
/** Maximum number of errors that a remark names. */
const MAX_ERRORS = 3;
const NEITHER =
  "Neither a FEN nor a PGN: a FEN has eight ranks joined by slashes, a PGN has moves such as 1. e4 e5.";
/** A header, a target square, or castling. A text without these signs contains no game. */
const SIGN_OF_PGN = /^\s*\[\w+\s+"|[a-h][1-8]|[O0o]-[O0o]/m;
/** Milliseconds of work between two pauses. */
const SLICE = 10;

/** Reads a FEN or a PGN with one or more games. Throws an `InputError` if nothing can be opened. */
export async function read(text: string): Promise<Opened> {
  const trimmed = cleaned(text);
  if (looksLikeFen(trimmed.trim()))
    return { games: [new Game(positionOf(trimmed.trim()))], refused: [] };
  const tally = new Tally<Game>();
  for (const pgn of (await analysis()).readGames(trimmed, CASTLING))
    tally.take(pgn, () => gameOf(pgn));
  return tally.result();
}

/** The notation of castling that chessops reads without the position. */
export const CASTLING = { castling: "chess960" } as const;

/**
 * Checks the games of a PGN, with pauses that keep the page responsive, and gives the first game to `open`. Throws an
 * `InputError` if nothing can be opened, or the signal's reason.
 */
export async function survey(
  file: string | Uint8Array,
  signal: AbortSignal,
  open: (game: Game) => void,
): Promise<Opened<Checked>> {
  const source = typeof file === "string" ? cleaned(file) : file;
  const tally = new Tally<Checked>();
  let pause = performance.now() + SLICE;
  for (const pgn of (await analysis()).readGames(source, CASTLING)) {
    tally.take(pgn, () => {
      const checked = check(pgn);
      if (tally.games.length === 0) open(gameOf(pgn));
      return checked;
    });
    if (performance.now() < pause) continue;
    await nextTask();
    signal.throwIfAborted();
    pause = performance.now() + SLICE;
  }
  signal.throwIfAborted();
  return tally.result();
}

/** Returns the legal move for a typed text: SAN, also in lower case or in another language, or UCI. */
export async function typedMove(
  position: Position,
  text: string,
): Promise<NormalMove | undefined> {
  const fen = makeFen(position.toSetup());
  const uci = (await analysis()).findMove(fen, text, CASTLING);
  return uci === undefined ? undefined : moveOf(uci);
}

/** Returns the first position and the moves of the main line. Throws an `InputError`. */
export function mainLine({ fen, moves }: PgnGame): {
  start: Position;
  moves: readonly NormalMove[];
} {
  return { start: positionIn(fen), moves: moves.map(moveOf) };
}

const moveOf = (uci: string): NormalMove => parseUci(uci) as NormalMove;

const positionIn = (fen: string | undefined): Position =>
  fen === undefined ? Chess.default() : positionOf(fen);

/** Checks a game for the list. Throws an `InputError`. */
function check({ fen, tags, moves, result, text }: PgnGame): Checked {
  const headers = headersOf(tags);
  const id = gameId(positionIn(fen), moves, headers);
  return { id, headers, plies: moves.length, result, text };
}

/** Makes the tree of a game. Throws an `InputError`. */
function gameOf(pgn: PgnGame): Game {
  const { id, headers, result } = check(pgn);
  const shown = new Map(headers);
  if (result && result !== "*" && !shown.has("Result"))
    shown.set("Result", result);
  for (const name of ["FEN", "SetUp"]) shown.delete(name);
  const game = new Game(positionIn(pgn.fen), shown);
  addComments(game.root.notes, pgn.comments);
  addMoves(game, game.root, pgn.tree);
  game.sourcePlies = pgn.moves.length;
  game.id = id;
  return game;
}

/** Returns the headers with a value other than `?` and `*`. */
const headersOf = (tags: PgnGame["tags"]): Map<string, string> =>
  new Map(
    tags.flatMap(([name, value]): [string, string][] =>
      /^[?.*]*$/.test(value.trim()) ? [] : [[name, value.trim()]],
    ),
  );

/** Adds the moves of a line. The reader limits the depth of variations. */
function addMoves(game: Game, from: Node, line: readonly PgnMove[]): void {
  let node = from;
  for (const { uci, nags, before, comments, variations } of line) {
    const next = game.play(node, moveOf(uci));
    const { notes } = next;
    const text = joined(
      notes.before,
      before.map((comment) => parseComment(comment).text),
    );
    if (text) notes.before = text;
    addComments(notes, comments);
    for (const nag of nags)
      if (nag >= 1 && !notes.nags.includes(nag)) notes.nags.push(nag);
    for (const variation of variations) addMoves(game, node, variation);
    node = next;
  }
}

/** Adds comments that follow the move. */
function addComments(notes: Notes, comments: readonly string[]): void {
  for (const comment of comments) {
    const { text, shapes, clock, emt, evaluation } = parseComment(comment);
    const whole = joined(notes.comment, [text]);
    if (whole) notes.comment = whole;
    if (shapes.length > 0) notes.shapes = [...(notes.shapes ?? []), ...shapes];
    if (clock !== undefined) notes.clock = clock;
    if (emt !== undefined) notes.elapsed = emt;
    // A game that is over needs no evaluation.
    if (evaluation && !(isMate(evaluation) && evaluation.mate === 0))
      notes.given = {
        ...(isMate(evaluation)
          ? { mate: evaluation.mate }
          : { cp: Math.round(evaluation.pawns * 100) }),
        ...(evaluation.depth === undefined ? {} : { depth: evaluation.depth }),
      };
  }
}

const joined = (before: string | undefined, texts: readonly string[]): string =>
  [before ?? "", ...texts].join(" ").replace(/\s+/g, " ").trim();

/** Collects the games that can be opened, each once, and the other games. */
class Tally<T extends { id?: string }> {
  readonly games: T[] = [];
  /** Numbers of the games in the text, by id. */
  readonly #numbers = new Map<string, number>();
  readonly #refused: Refused[] = [];
  readonly #errors: string[] = [];
  #error: InputError | undefined;
  #total = 0;
  #cuts = 0;

  take(pgn: PgnGame, open: () => T): void {
    this.#total++;
    if (this.games.length + this.#refused.length >= MAX_GAMES) return;
    if (pgn.error !== null)
      this.#error ??= new InputError(pgn.error, [pgn.text, pgn.errorAt ?? 0]);
    try {
      if (pgn.moves.length === 0 && (pgn.error !== null || !pgn.fen))
        throw new InputError(pgn.error ?? "The game has no moves.");
      const value = open();
      const same = this.#numbers.get(value.id ?? "");
      if (same !== undefined)
        throw new InputError(`It is the same game as game ${same}.`);
      if (value.id !== undefined) this.#numbers.set(value.id, pgn.number);
      this.games.push(value);
      this.#cuts += pgn.skipped[2];
      if (pgn.error !== null)
        this.#errors.push(`Game ${pgn.number} ends early: ${pgn.error}.`);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.#refused.push({
        index: pgn.number,
        name: players(headersOf(pgn.tags)),
        reason: error.message,
      });
    }
  }

  result(): Opened<T> {
    const [first] = this.#refused;
    if (this.games.length === 0) {
      if (!first) throw new InputError(NEITHER);
      throw new InputError(
        this.#refused.length > 1
          ? `None of the ${this.#refused.length} games can be opened. The first game: ${first.reason}`
          : first.reason,
        this.#error?.place,
      );
    }
    const remarks = this.#errors.slice(0, MAX_ERRORS);
    if (this.#errors.length > MAX_ERRORS)
      remarks.push(`${this.#errors.length} games end early.`);
    if (this.#cuts > 0)
      remarks.push(
        `${plural(this.#cuts, "variation")} ended early at an illegal move.`,
      );
    if (this.#total > MAX_GAMES)
      remarks.push(
        `Only the first ${MAX_GAMES.toLocaleString("en")} of ${this.#total.toLocaleString("en")} games were opened.`,
      );
    return {
      games: this.games,
      refused: this.#refused,
      error: this.#error,
      ...(remarks.length > 0 ? { remark: remarks.join(" ") } : {}),
    };
  }
}

function cleaned(text: string): string {
  if (text.length > MAX_LENGTH)
    throw new InputError(
      `This text is too long: at most ${MAX_LENGTH / 1_000_000} million characters can be read at once.`,
    );
  const trimmed = text.replace(/^\uFEFF/, "").trimEnd();
  if (trimmed === "")
    throw new InputError("Nothing to open: paste a FEN or a PGN.");
  if (!looksLikeFen(trimmed.trim()) && !SIGN_OF_PGN.test(trimmed))
    throw new InputError(NEITHER);
  return trimmed;
}
