/** The engine as an opponent. */
import type { NormalMove } from "chessops/types";
import { type Book, openBook } from "shelfish";
import { winningChances } from "../../../crate/js/shared/score.ts";
import { path, positionKey, steps, type Step } from "../game/game";
import { loadOnce } from "../loading/loading";
import { bookUrl } from "../settings/settings";
import type { Match } from "./match";
import { theory } from "./terms";

/** Milliseconds for a move at full strength, and for a hint. */
const USUAL = 1_000;
const HINT = 700;
/** A draw offer: the first move at which the engine agrees, the nodes of its search, and the highest winning chances (20 centipawns). */
const DRAW = { move: 20, nodes: 100_000, chances: 0.037 };
/** Minimum number of milliseconds before a reply, so that the user can see the moves. */
const PAUSE = 350;

type Limits = { elo?: number; movetime?: number; nodes?: number };

export class Opponent {
  /** Loads the engine, once. */
  readonly load = loadOnce(async () =>
    (await import("shelfish/engine")).openEngine(),
  );

  /** Whether the last reply was a book move. */
  isFromBook = false;

  /** Returns the engine's move, from the book if possible. Rejects if the engine cannot be loaded or the signal is aborted. */
  async reply(match: Match, signal: AbortSignal): Promise<NormalMove> {
    const { elo } = match.terms;
    const rest = new Promise((resolve) => setTimeout(resolve, PAUSE));
    const known = await this.#bookMove(match, signal);
    signal.throwIfAborted();
    this.isFromBook = known !== undefined;
    if (known) {
      await rest;
      return known;
    }
    const limits = elo === undefined ? { movetime: USUAL } : { elo };
    const answer = this.#ask(match, limits, signal);
    const [step] = await Promise.all([answer, rest]);
    return step.move;
  }

  /** Returns the best move at full strength. */
  hint(match: Match, signal: AbortSignal): Promise<Step> {
    return this.#ask(match, { movetime: HINT }, signal);
  }

  /** Whether the engine agrees to a draw: not early, and not in a better position. */
  async agreesToDraw(match: Match, signal: AbortSignal): Promise<boolean> {
    if (match.node.position.fullmoves < DRAW.move) return false;
    const { pvs } = await this.#search(match, { nodes: DRAW.nodes }, signal);
    const sign = match.terms.side === "white" ? -1 : 1;
    return sign * winningChances(pvs[0]) <= DRAW.chances;
  }

  readonly #book = loadOnce(async (): Promise<Book> => openBook(bookUrl()));

  /**
   * Returns a move of the site's book at random, weighted by its games and its score: nothing if the level knows no more theory, or if the book has no
   * move or cannot be loaded. A win and a
   * loss are added to the results, because one game proves little. A book does not know repetitions, so that moves to earlier positions are excluded.
   */
  async #bookMove(
    { node, terms }: Match,
    signal: AbortSignal,
  ): Promise<NormalMove | undefined> {
    if (node.ply >= theory(terms.elo)) return undefined;
    try {
      const book = await this.#book();
      const { moves } = await book.moves(node.fen, {
        signal,
        castling: "chess960",
      });
      const before = new Set(path(node).map(positionKey));
      const weights = moves.map(({ fen, white, draws, black }) => {
        if (before.has(fen)) return 0;
        const games = white + draws + black;
        const wins = node.position.turn === "white" ? white : black;
        return (games * (wins + draws / 2 + 1)) / (games + 2);
      });
      let rest = Math.random() * weights.reduce((sum, one) => sum + one, 0);
      const at = weights.findIndex((one) => (rest -= one) < 0);
      return steps(node.position, [moves[at]?.uci ?? ""])[0]?.move;
    } catch {
      return undefined;
    }
  }

  async #ask(match: Match, limits: Limits, signal: AbortSignal): Promise<Step> {
    const found = await this.#search(match, limits, signal);
    const { uci } = found.chosen ?? found.pvs[0];
    const [step] = steps(match.node.position, uci);
    if (!step) throw new Error("the engine found no move");
    return step;
  }

  async #search({ game, moves }: Match, limits: Limits, signal: AbortSignal) {
    const engine = await this.load();
    signal.throwIfAborted();
    return engine.analyse(game.root.fen, {
      ...limits,
      moves,
      signal,
      castling: "chess960",
    });
  }
}
