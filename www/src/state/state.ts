/** State of a page with a board: the game, the position on the board and its evaluations. Views listen to the changes. */
import type { PositionEval } from "shelfish";
import type { Report } from "shelfish/analysis";
import type { Evaluated } from "shelfish/evaluator";
import { deeperResult } from "shelfish/score";
import type { Explanation } from "../database/client";
import { Game, type Node, type Step } from "../game/game";

/** The parts of the state that have changed. */
export interface Changes {
  /** Another game is on the board. */
  game?: true;
  /** Moves were added to the game or removed from it. */
  tree?: true;
  /** Another position is on the board. */
  node?: true;
  /** FENs of the positions with new evaluations. */
  known?: ReadonlySet<string>;
  /** Another next move is selected. */
  choice?: true;
  /** The report of the game was created or became invalid. */
  report?: true;
  /** Status of the lookup of the position on the board. */
  status?: true;
  /** Progress of the engine with the missing evaluations of the game. */
  progress?: true;
}

/** Progress of the engine with the positions of a game that have no evaluation. */
export interface EngineProgress {
  /** Number of positions that are searched. */
  done: number;
  /** Number of positions to search. */
  of: number;
  stop(): void;
}

/** Status of the lookup of the position on the board. */
export interface Status {
  /** The lookup is slow. */
  waiting?: boolean;
  /** Why the lookup failed. */
  fault?: Explanation;
  /** Cost of the last answer. */
  cost?: string;
}

/** A report, with the nodes of its moves. */
export interface Assessment {
  report: Report;
  moves: ReadonlyMap<Node, Report["moves"][number]>;
}

/** The state. Only its methods change it. */
export class State {
  #game = new Game();
  #node = this.#game.root;
  #choice: Node | undefined;
  #assessment: Assessment | undefined;
  #status: Status = {};
  #progress: EngineProgress | undefined;
  readonly #databaseEvals = new Map<string, PositionEval | null>();
  readonly #engineEvals = new Map<string, Evaluated>();
  readonly #listeners: ((changes: Changes) => void)[] = [];

  get game(): Game {
    return this.#game;
  }

  /** Position on the board. */
  get node(): Node {
    return this.#node;
  }

  /** The next move: the selected move, or the first one. */
  get choice(): Node | undefined {
    return this.#choice ?? this.#node.children[0];
  }

  /** Report of the main line, if it was created. */
  get assessment(): Assessment | undefined {
    return this.#assessment;
  }

  get status(): Status {
    return this.#status;
  }

  /** Answers of the database by FEN; `null` if the database does not have the position. */
  get databaseEvals(): ReadonlyMap<string, PositionEval | null> {
    return this.#databaseEvals;
  }

  /** Evaluations by the engine, by FEN. */
  get engineEvals(): ReadonlyMap<string, Evaluated> {
    return this.#engineEvals;
  }

  /** Progress of the engine with the missing evaluations of the game; `undefined` if it does not search them. */
  get progress(): EngineProgress | undefined {
    return this.#progress;
  }

  /** Adds a listener. Listeners are called after each change, in the order in which they were added. */
  on(listener: (changes: Changes) => void): void {
    this.#listeners.push(listener);
  }

  enter(game: Game, node: Node = game.root): void {
    this.#game = game;
    this.#node = node;
    this.#status = {};
    this.#notify({ game: true, tree: true, node: true });
  }

  /** Shows a position of the game. */
  go(node: Node | undefined): void {
    if (!node || node === this.#node) return;
    this.#step(node);
    this.#notify({ node: true });
  }

  /** Selects the next move if there are several. */
  choose(child: Node | undefined): void {
    this.#choice = child;
    this.#notify({ choice: true });
  }

  /** Plays moves from a position of the game and shows the position after them. */
  play(from: Node, ...moves: Step["move"][]): void {
    let grown = false;
    let node = from;
    for (const move of moves) {
      const before = node.children.length;
      const to = this.#game.play(node, move);
      grown ||= node.children.length > before;
      node = to;
    }
    this.#step(node);
    this.#notify(grown ? { tree: true, node: true } : { node: true });
  }

  /** Changes the tree of moves; `change` returns the node to show. */
  edit(change: () => Node): void {
    this.#step(change());
    this.#notify({ tree: true, node: true });
  }

  addDatabaseEvals(answers: Iterable<readonly [fen: string, answer: PositionEval | null]>): void {
    const known = new Set<string>();
    for (const [fen, answer] of answers) {
      this.#databaseEvals.set(fen, answer);
      known.add(fen);
    }
    if (known.size > 0) this.#notify({ known });
  }

  /** Adds an evaluation by the engine, unless a better one is known. */
  addEngineEval(fen: string, evaluation: Evaluated): void {
    if (deeperResult(this.#engineEvals.get(fen), evaluation) !== evaluation) return;
    this.#engineEvals.set(fen, evaluation);
    this.#notify({ known: new Set([fen]) });
  }

  setProgress(progress: EngineProgress | undefined): void {
    this.#progress = progress;
    this.#notify({ progress: true });
  }

  setAssessment(assessment: Assessment | undefined): void {
    if (assessment === this.#assessment) return;
    this.#assessment = assessment;
    this.#notify({ report: true });
  }

  setStatus(status: Status): void {
    this.#status = status;
    this.#notify({ status: true });
  }

  /** Shows another position of the game. The status of its lookup is not known yet. */
  #step(node: Node): void {
    this.#node = node;
    this.#status = { cost: this.#status.cost };
  }

  #notify(changes: Changes): void {
    if (changes.node) this.#choice = undefined;
    for (const listener of this.#listeners) listener(changes);
  }
}
