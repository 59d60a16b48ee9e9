/** A game between the user and the engine: side to move, clock and result, without a view. */
import type { Color, NormalMove } from "chessops/types";
import { opposite, parseUci } from "chessops/util";
import { clip, InputError, plural } from "../text/words";
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
import {
  Clock,
  CONTROLS,
  type Left,
  LEVELS,
  levelName,
  type Terms,
} from "./terms";

/** The result of a game with its reason. */
export interface GameResult {
  result: "1-0" | "0-1" | "1/2-1/2";
  /** "Checkmate", "Draw by threefold repetition" */
  reason: string;
}

export class Match {
  readonly game: Game;
  readonly clock: Clock | undefined;
  readonly #headers: Map<string, string>;
  #node: Node;
  #outcome: GameResult | undefined;

  /**
   * Creates a game; `date` is "2026.11.22". A game that is continued has moves in UCI and clocks, which stand still until `resume`. Throws an
   * `InputError` for an invalid FEN or an illegal move.
   */
  constructor(
    readonly terms: Terms,
    date: string,
    kept?: {
      moves: readonly string[];
      left?: Left | undefined;
    },
  ) {
    const engine = `Shelfish (${levelName(terms.elo)})`;
    const [white, black] =
      terms.side === "white" ? ["You", engine] : [engine, "You"];
    const { control } = terms;
    this.#headers = new Map([
      ["Event", "Game against the engine"],
      ["Date", date],
      ["White", white],
      ["Black", black],
      ["Result", "*"],
      ...(control
        ? [
            [
              "TimeControl",
              `${Math.round(control.minutes * 60)}+${control.increment}`,
            ] as const,
          ]
        : []),
    ]);
    this.game = new Game(
      terms.fen === undefined ? undefined : positionOf(terms.fen),
      this.#headers,
    );
    this.clock = control && new Clock(control, kept?.left);
    this.#node = this.game.root;
    for (const text of kept?.moves ?? []) {
      const move = parseUci(text);
      if (!move || !this.#node.position.isLegal(move))
        throw new InputError(
          `The game contains an illegal move: ${clip(text)}.`,
        );
      this.#node = this.game.play(this.#node, move);
    }
    this.#judge();
  }

  get node(): Node {
    return this.#node;
  }

  /** The result; undefined while the game goes on. */
  get outcome(): GameResult | undefined {
    return this.#outcome;
  }

  /** Whether the user is to move. */
  get isMine(): boolean {
    return !this.#outcome && this.#node.position.turn === this.terms.side;
  }

  /** The moves in UCI; castling is the king's move to its rook. */
  get moves(): string[] {
    return movesOf(path(this.#node));
  }

  /** Plays a move. Returns false if it is illegal or the game is over. */
  play(move: NormalMove, now: number): boolean {
    if (this.#outcome || !this.#node.position.isLegal(move)) return false;
    const { clock } = this;
    this.#node = this.game.play(this.#node, move);
    // The clock starts after both sides have moved.
    if (clock?.running) clock.press(now);
    this.#judge();
    if (this.#outcome) clock?.stop(now);
    else if (!clock?.running) this.resume(now);
    this.game.sourcePlies = this.#node.ply;
    return true;
  }

  /** Starts the clock of a game that is continued. */
  resume(now: number): void {
    if (!this.#outcome && this.#node.ply >= 2)
      this.clock?.start(this.#node.position.turn, now);
  }

  /** Whether the user has a move to take back. */
  get canTakeBack(): boolean {
    return path(this.#node).some(
      ({ parent }) => parent?.position.turn === this.terms.side,
    );
  }

  /** Returns to the user's last turn. */
  takeBack(now: number): void {
    if (!this.canTakeBack) return;
    let node = this.#node.parent;
    while (node?.parent && node.position.turn !== this.terms.side)
      node = node.parent;
    if (!node) return;
    node.children.length = 0;
    this.#node = node;
    this.game.sourcePlies = node.ply;
    this.#end(undefined);
    const { clock } = this;
    if (clock?.running) clock.start(node.position.turn, now);
  }

  resign(now: number): void {
    this.#conclude(won(opposite(this.terms.side)), "You resigned", now);
  }

  agreeDraw(now: number): void {
    this.#conclude("1/2-1/2", "Draw by agreement", now);
  }

  #conclude(result: GameResult["result"], reason: string, now: number): void {
    if (this.#outcome) return;
    this.#end({ result, reason });
    this.clock?.stop(now);
  }

  /** Ends the game if the side to move has no time left. Returns whether it ended. */
  flag(now: number): boolean {
    const side = this.clock?.running;
    if (!side || this.#outcome || (this.clock?.left(side, now) ?? 1) > 0)
      return false;
    const cannotWin = this.#node.position.hasInsufficientMaterial(
      opposite(side),
    );
    const reason = `${side === this.terms.side ? "You" : "The engine"} ran out of time`;
    this.#end(
      cannotWin
        ? {
            result: "1/2-1/2",
            reason: `${reason}, but the opponent cannot mate`,
          }
        : { result: won(opposite(side)), reason },
    );
    this.clock?.stop(now);
    return true;
  }

  #judge(): void {
    const { position } = this.#node;
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
    const here = positionKey(this.#node);
    if (
      path(this.#node).filter((node) => positionKey(node) === here).length >= 3
    )
      draw("threefold repetition");
  }

  #end(outcome: GameResult | undefined): void {
    this.#outcome = outcome;
    this.#headers.set("Result", outcome?.result ?? "*");
    if (outcome) this.#headers.set("Termination", outcome.reason);
    else this.#headers.delete("Termination");
  }
}

const won = (side: Color): "1-0" | "0-1" => (side === "white" ? "1-0" : "0-1");

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
  const side = terms.side === "white" ? "White" : "Black";
  return {
    title,
    text: `${reason} after ${plural(moves, "move")}. You had ${side} against Shelfish (${levelName(terms.elo)}).`,
  };
}

const KEY = "play";
/** Maximum number of plies, more than in any game. */
const MOST_MOVES = 1_200;

/** Stores the game, or only its terms after its end. */
export function store(match: Match, now: number): void {
  const { clock, outcome } = match;
  const left = clock && {
    white: clock.left("white", now),
    black: clock.left("black", now),
  };
  const kept = {
    terms: match.terms,
    ...(outcome ? {} : { moves: match.moves, left }),
  };
  // If storage is forbidden, the game ends with the page.
  writeString(KEY, JSON.stringify(kept));
}

/** Returns the terms of the last game, and the game if it is not over. */
export function restore(date: string): { terms?: Terms; match?: Match } {
  try {
    const kept = readObject(KEY) as {
      terms?: Partial<Terms>;
      moves?: unknown;
      left?: Partial<Left>;
    };
    const terms = checked(kept.terms);
    if (!terms) return {};
    if (
      !Array.isArray(kept.moves) ||
      kept.moves.length === 0 ||
      kept.moves.length > MOST_MOVES
    )
      return { terms };
    const match = new Match(terms, date, {
      moves: kept.moves.map(String),
      left: time(kept.left),
    });
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
  const { control } = terms;
  return {
    side: terms.side,
    elo: LEVELS.find(([elo]) => elo === terms.elo)?.[0],
    control: CONTROLS.find(
      (each) =>
        each &&
        each.minutes === control?.minutes &&
        each.increment === control.increment,
    ),
    ...(typeof terms.fen === "string" ? { fen: terms.fen } : {}),
  };
}

function time(left: Partial<Left> | undefined): Left | undefined {
  const { white, black } = left ?? {};
  return typeof white === "number" &&
    typeof black === "number" &&
    white > 0 &&
    black > 0
    ? { white, black }
    : undefined;
}
