/** A game between the user and the engine: side to move, clock and result, without a view. */
import type { Color, NormalMove } from "chessops/types";
import { opposite, parseUci } from "chessops/util";
import { clip, InputError } from "../text/input-error";
import {
  ending,
  Game,
  movesOf,
  type Node,
  path,
  positionKey,
} from "../game/game";
import { positionOf } from "../game/fen";
import { Clock, type Left } from "./clock";
import { DRAW_INTERVAL } from "./draw-offer";
import { levelName, type Terms } from "./terms";

export interface Outcome {
  result: "1-0" | "0-1" | "1/2-1/2";
  /** "Checkmate", "Draw by threefold repetition" */
  reason: string;
}

export class Match {
  readonly game: Game;
  readonly clock: Clock | undefined;
  readonly #headers: Map<string, string>;
  #node: Node;
  #outcome: Outcome | undefined;
  /** Ply of the user's last draw offer. */
  #drawOffer: number | undefined;

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
      drawOffer?: number | undefined;
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
    this.#drawOffer = kept?.drawOffer;
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
  get outcome(): Outcome | undefined {
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

  /** Ply of the user's last draw offer. */
  get drawOffer(): number | undefined {
    return this.#drawOffer;
  }

  /** Whether the user is to move, and the last draw offer was long ago. */
  get canOfferDraw(): boolean {
    return (
      this.isMine &&
      (this.#drawOffer === undefined ||
        this.#node.ply >= this.#drawOffer + 2 * DRAW_INTERVAL)
    );
  }

  /** Notes that the user offers a draw. */
  offerDraw(): void {
    this.#drawOffer = this.#node.ply;
  }

  /** Ends the game as a draw that both sides agreed on. */
  agreeDraw(now: number): void {
    if (this.#outcome) return;
    this.#end({ result: "1/2-1/2", reason: "Draw by agreement" });
    this.clock?.stop(now);
  }

  resign(now: number): void {
    if (this.#outcome) return;
    this.#end({
      result: won(opposite(this.terms.side)),
      reason: "You resigned",
    });
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

  #end(outcome: Outcome | undefined): void {
    this.#outcome = outcome;
    this.#headers.set("Result", outcome?.result ?? "*");
    if (outcome) this.#headers.set("Termination", outcome.reason);
    else this.#headers.delete("Termination");
  }
}

const won = (side: Color): "1-0" | "0-1" => (side === "white" ? "1-0" : "0-1");
