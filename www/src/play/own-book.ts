/** The engine's opening book: the site's book, and the results of games that were played in this browser. The native program chooses moves by the same rule. */
import type { NormalMove } from "chessops/types";
import { type Book, openBook, type Played } from "shelfish/book";
import { openStorage, requestResult, transactionEnd } from "shelfish/storage";
import { bookUrl } from "../settings/data-urls";
import { type Node, path, positionKey, steps, uci } from "../game/game";
import { loadOnce } from "../loading/load-once";
import { type Candidate, choose, sorted } from "./choice";
import type { Match, Outcome } from "./match";

/** Maximum number of games of the site's book that count, so that learned games matter. */
const PRIOR = 20;
/** Number of plies of a game that are learned. */
const PLIES = 50;
/** A move of a game with its result. */
export interface PlayedMove {
  position: string;
  uci: string;
  wins: number;
  draws: number;
  losses: number;
}

/** Returns the moves to learn: the last move from each position, except from the final position. */
export function movesToLearn(end: Node, { result }: Outcome): PlayedMove[] {
  const winner = { "1-0": "white", "0-1": "black", "1/2-1/2": undefined }[
    result
  ];
  const last = new Map<string, PlayedMove>();
  for (const node of path(end).slice(0, PLIES + 1)) {
    const { parent, move } = node;
    if (!parent || !move) continue;
    const { turn } = parent.position;
    const position = positionKey(parent);
    last.set(position, {
      position,
      uci: uci(move),
      wins: Number(winner === turn),
      draws: Number(!winner),
      losses: Number(!!winner && winner !== turn),
    });
  }
  last.delete(positionKey(end));
  return [...last.values()];
}

/** Combines the moves of the site's book with the learned moves, from the point of view of the side to move. */
export function merged(
  turn: "white" | "black",
  played: Played,
  learned: readonly Candidate[],
): Candidate[] {
  const all = played.moves.reduce(
    (sum, { white, draws, black }) => sum + white + draws + black,
    0,
  );
  const scale = Math.min(1, PRIOR / all);
  const found = new Map<string, Candidate>();
  for (const { uci, white, draws, black } of played.moves) {
    const [wins, losses] = turn === "white" ? [white, black] : [black, white];
    found.set(uci, {
      uci,
      frequency: (white + draws + black) * scale,
      wins: wins * scale,
      draws: draws * scale,
      losses: losses * scale,
    });
  }
  for (const each of learned) {
    const known = found.get(each.uci) ?? {
      uci: each.uci,
      frequency: 0,
      wins: 0,
      draws: 0,
      losses: 0,
    };
    const sum = (name: "frequency" | "wins" | "draws" | "losses") =>
      known[name] + each[name];
    found.set(each.uci, {
      uci: each.uci,
      frequency: sum("frequency"),
      wins: sum("wins"),
      draws: sum("draws"),
      losses: sum("losses"),
    });
  }
  return [...found.values()];
}

let opening: Promise<IDBDatabase> | undefined;
/** Returns the moves that were learned, in IndexedDB. Rejects if IndexedDB is unavailable. */
const learnedMoves = () =>
  (opening ??= openStorage(
    "shelfish-own-book",
    1,
    (database) =>
      void database.createObjectStore("moves", {
        keyPath: ["position", "uci"],
      }),
  ));

/** Returns the learned moves of a position; none if IndexedDB is unavailable. After a failure it is not asked again, because each move would wait for it. */
export async function learned(position: string): Promise<Candidate[]> {
  try {
    const moves = (await learnedMoves())
      .transaction("moves")
      .objectStore("moves");
    return (await requestResult(
      moves.getAll(IDBKeyRange.bound([position], [position, []])),
    )) as Candidate[];
  } catch (error) {
    opening = Promise.reject(error as Error);
    opening.catch(() => {});
    return [];
  }
}

/** Learns the moves of a finished game, in one transaction. Does nothing if IndexedDB is unavailable. Several tabs may learn at the same time. */
export async function learn(match: Match): Promise<void> {
  if (!match.outcome) return;
  try {
    const transaction = (await learnedMoves()).transaction(
      "moves",
      "readwrite",
    );
    const moves = transaction.objectStore("moves");
    for (const { position, uci, wins, draws, losses } of movesToLearn(
      match.node,
      match.outcome,
    )) {
      const request = moves.get([position, uci]) as IDBRequest<
        Candidate | undefined
      >;
      request.onsuccess = () => {
        const { result: before } = request;
        moves.put({
          position,
          uci,
          frequency: (before?.frequency ?? 0) + 1,
          wins: (before?.wins ?? 0) + wins,
          draws: (before?.draws ?? 0) + draws,
          losses: (before?.losses ?? 0) + losses,
        });
      };
    }
    await transactionEnd(transaction);
  } catch {
    // Private windows have no IndexedDB.
  }
}

const site = loadOnce(async (): Promise<Book> => openBook(bookUrl()));

/**
 * Returns a book move for the last position of a game. Returns nothing if the site's book has no move or cannot be loaded. Moves that repeat a
 * position of the game are excluded, because a book does not know repetitions.
 */
export async function bookMove(
  { node }: Match,
  signal: AbortSignal,
): Promise<NormalMove | undefined> {
  try {
    const [played, own] = await Promise.all([
      (await site()).moves(node.fen, { signal, castling: "chess960" }),
      learned(positionKey(node)),
    ]);
    if (played.moves.length === 0) return undefined;
    const before = new Set(path(node).map(positionKey));
    const { turn } = node.position;
    const fresh = merged(turn, played, own).filter(({ uci }) => {
      const fen = played.moves.find((move) => move.uci === uci)?.fen;
      return (
        steps(node.position, [uci]).length === 1 && !(fen && before.has(fen))
      );
    });
    const chosen = choose(sorted(fresh), Math.random());
    return chosen && steps(node.position, [chosen.uci])[0]?.move;
  } catch {
    return undefined;
  }
}
