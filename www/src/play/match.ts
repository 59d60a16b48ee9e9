/** A game between the user and the engine: side to move and result, without a view. */
import type { NormalMove } from "chessops/types";
import { parseUci } from "chessops/util";
import { capitalised, clip, InputError, plural } from "../text/words";
import {
  ending,
  Game,
  movesOf,
  type Node,
  path,
  positionKey,
} from "../game/game";
import { positionOf } from "../game/fen";
import { readObject, writeString } from "../shell/dom";
import { LEVELS, levelName, type Terms } from "./terms";

/** The result of a game with its reason. */
interface GameResult {
  result: "1-0" | "0-1" | "1/2-1/2";
  /** "Checkmate", "Draw by threefold repetition" */
  reason: string;
}

export class Match {
  readonly game: Game;
  readonly #headers: Map<string, string>;
  node: Node;
  /** The result; undefined while the game goes on. */
  outcome: GameResult | undefined;

  /**
   * Creates a game; `date` is "2026.11.22". A game that is continued has moves in UCI. Throws an `InputError` for an invalid FEN or an illegal move.
   */
  constructor(
    readonly terms: Terms,
    date: string,
    kept: readonly string[] = [],
  ) {
    const engine = `Shelfish (${levelName(terms.elo)})`;
    const [white, black] =
      terms.side === "white" ? ["You", engine] : [engine, "You"];
    this.#headers = new Map([
      ["Event", "Game against the engine"],
      ["Date", date],
      ["White", white],
      ["Black", black],
      ["Result", "*"],
    ]);
    this.game = new Game(
      terms.fen === undefined ? undefined : positionOf(terms.fen),
      this.#headers,
    );
    this.node = this.game.root;
    for (const text of kept) {
      const move = parseUci(text);
      if (!move || !this.node.position.isLegal(move))
        throw new InputError(
          `The game contains an illegal move: ${clip(text)}.`,
        );
      this.node = this.game.play(this.node, move);
    }
    this.#judge();
  }

  /** Whether the user is to move. */
  get isMine(): boolean {
    return !this.outcome && this.node.position.turn === this.terms.side;
  }

  /** The moves in UCI; castling is the king's move to its rook. */
  get moves(): string[] {
    return movesOf(path(this.node));
  }

  /** Plays a move. Returns false if it is illegal or the game is over. */
  play(move: NormalMove): boolean {
    if (this.outcome || !this.node.position.isLegal(move)) return false;
    this.node = this.game.play(this.node, move);
    this.#judge();
    this.game.sourcePlies = this.node.ply;
    return true;
  }

  /** Whether the user has a move to take back. */
  get canTakeBack(): boolean {
    return path(this.node).some(
      ({ parent }) => parent?.position.turn === this.terms.side,
    );
  }

  /** Returns to the user's last turn. */
  takeBack(): void {
    if (!this.canTakeBack) return;
    let node = this.node.parent;
    while (node?.parent && node.position.turn !== this.terms.side)
      node = node.parent;
    if (!node) return;
    node.children.length = 0;
    this.node = node;
    this.game.sourcePlies = node.ply;
    this.#end(undefined);
  }

  resign(): void {
    const result = this.terms.side === "white" ? "0-1" : "1-0";
    if (!this.outcome) this.#end({ result, reason: "You resigned" });
  }

  agreeDraw(): void {
    const reason = "Draw by agreement";
    if (!this.outcome) this.#end({ result: "1/2-1/2", reason });
  }

  #judge(): void {
    const { position } = this.node;
    const end = ending(position);
    if (end)
      return this.#end({
        result: end.result === "½-½" ? "1/2-1/2" : end.result,
        reason: end.title,
      });
    const draw = (reason: string) =>
      this.#end({ result: "1/2-1/2", reason: `Draw by ${reason}` });
    if (position.isInsufficientMaterial()) return draw("insufficient material");
    if (position.halfmoves >= 100) return draw("the fifty-move rule");
    const here = positionKey(this.node);
    if (
      path(this.node).filter((node) => positionKey(node) === here).length >= 3
    )
      draw("threefold repetition");
  }

  #end(outcome: GameResult | undefined): void {
    this.outcome = outcome;
    this.#headers.set("Result", outcome?.result ?? "*");
    if (outcome) this.#headers.set("Termination", outcome.reason);
    else this.#headers.delete("Termination");
  }
}

/** Returns who won, how, after how many moves, and against whom. `text` is empty before the end. */
export function verdict({ node, outcome, terms }: Match): {
  title: string;
  text: string;
} {
  if (!outcome) return { title: "", text: "" };
  const { result, reason } = outcome;
  const isWon = result === (terms.side === "white" ? "1-0" : "0-1");
  const title =
    result === "1/2-1/2" ? "A draw" : isWon ? "You won" : "You lost";
  const moves = Math.ceil((path(node).length - 1) / 2);
  return {
    title,
    text: `${reason} after ${plural(moves, "move")}. You had ${capitalised(terms.side)} against Shelfish (${levelName(terms.elo)}).`,
  };
}

const KEY = "play";
/** Maximum number of plies, more than in any game. */
const MOST_MOVES = 1_200;

/** Stores the game, or only its terms after its end. */
export function store({ terms, moves, outcome }: Match): void {
  const kept = { terms, ...(outcome ? {} : { moves }) };
  // If storage is forbidden, the game ends with the page.
  writeString(KEY, JSON.stringify(kept));
}

/** Returns the terms of the last game, and the game if it is not over. */
export function restore(date: string): { terms?: Terms; match?: Match } {
  try {
    const kept = readObject(KEY) as {
      terms?: Partial<Terms>;
      moves?: unknown;
    };
    const terms = checked(kept.terms);
    if (!terms) return {};
    if (
      !Array.isArray(kept.moves) ||
      kept.moves.length === 0 ||
      kept.moves.length > MOST_MOVES
    )
      return { terms };
    const match = new Match(terms, date, kept.moves.map(String));
    return match.outcome ? { terms } : { terms, match };
  } catch {
    // The stored game is invalid.
    return {};
  }
}

/** Returns valid terms or nothing. */
function checked(terms: Partial<Terms> | undefined): Terms | undefined {
  if (!terms || (terms.side !== "white" && terms.side !== "black"))
    return undefined;
  return {
    side: terms.side,
    elo: LEVELS.find(([elo]) => elo === terms.elo)?.[0],
    ...(typeof terms.fen === "string" ? { fen: terms.fen } : {}),
  };
}
