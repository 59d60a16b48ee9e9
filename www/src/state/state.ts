/** What the page is about: one game, one position of it, and what is known. Views read it and are told what has changed. */
import type { Eval, Evaluation } from "shelfish";
import type { Explanation } from "../database/client";
import { Game, type Node, type Step } from "../game/game";
import type { Assessment } from "../report/reporter";

/** What has changed; a view looks at what concerns it. */
export interface Changes {
  /** Another game is on the board. */
  game?: true;
  /** The game has got or lost moves. */
  tree?: true;
  /** Another position is on the board. */
  node?: true;
  /** The FENs of positions about which more is known. */
  known?: ReadonlySet<string>;
  /** Another move is chosen to go on with. */
  choice?: true;
  /** The report of the game was made, or is no longer true. */
  report?: true;
  /** How the lookup of the position on the board stands. */
  status?: true;
  /** The engine is further with the gaps of the game, or not at them any more. */
  filling?: true;
}

/** How far the engine is with the gaps of a game. */
export interface Filling {
  done: number;
  of: number;
  stop(): void;
}

/** How the lookup of the position on the board stands. */
export interface Status {
  /** It is taking its time. */
  waiting?: boolean;
  /** It failed. */
  fault?: Explanation;
  /** What the last answer cost. */
  cost?: string;
}

/** The state of the page. Only its methods change it. */
export class State {
  #game = new Game();
  #node = this.#game.root;
  #choice: Node | undefined;
  #assessment: Assessment | undefined;
  #status: Status = {};
  #filling: Filling | undefined;
  readonly #answers = new Map<string, Eval | null>();
  readonly #found = new Map<string, Evaluation>();
  readonly #listeners: ((changes: Changes) => void)[] = [];

  get game(): Game {
    return this.#game;
  }

  get node(): Node {
    return this.#node;
  }

  /** The move that goes on from here: the one that was chosen, else the main one. */
  get choice(): Node | undefined {
    return this.#choice ?? this.#node.children[0];
  }

  /** The report of the main line, once it is made. */
  get assessment(): Assessment | undefined {
    return this.#assessment;
  }

  get status(): Status {
    return this.#status;
  }

  /** What the database said of positions, by FEN; null: it does not have it. */
  get answers(): ReadonlyMap<string, Eval | null> {
    return this.#answers;
  }

  /** What the engine found of positions, by FEN. */
  get found(): ReadonlyMap<string, Evaluation> {
    return this.#found;
  }

  /** How far the engine is with the gaps of the game; undefined: it is not at them. */
  get filling(): Filling | undefined {
    return this.#filling;
  }

  /** Calls `listener` after each change, in the order of these calls. */
  on(listener: (changes: Changes) => void): void {
    this.#listeners.push(listener);
  }

  /** Puts a game on the board. */
  enter(game: Game, node: Node = game.root): void {
    this.#game = game;
    this.#node = node;
    this.#status = {};
    this.#tell({ game: true, tree: true, node: true });
  }

  /** Steps to a position of the game. */
  go(node: Node | undefined): void {
    if (!node || node === this.#node) return;
    this.#step(node);
    this.#tell({ node: true });
  }

  /** Chooses the move to go on with, where there are several. */
  choose(child: Node | undefined): void {
    this.#choice = child;
    this.#tell({ choice: true });
  }

  /** Plays moves from a position of the game, and goes where they lead. */
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
    this.#tell(grown ? { tree: true, node: true } : { node: true });
  }

  /** Changes the tree of moves, and goes to a node that is still in it. */
  edit(change: () => Node): void {
    this.#step(change());
    this.#tell({ tree: true, node: true });
  }

  /** Notes what the database said. */
  learn(answers: Iterable<readonly [fen: string, answer: Eval | null]>): void {
    const known = new Set<string>();
    for (const [fen, answer] of answers) {
      this.#answers.set(fen, answer);
      known.add(fen);
    }
    if (known.size > 0) this.#tell({ known });
  }

  /** Notes what the engine found of a position. */
  find(fen: string, evaluation: Evaluation): void {
    this.#found.set(fen, evaluation);
    this.#tell({ known: new Set([fen]) });
  }

  /** Notes how far the engine is with the gaps of the game. */
  fill(filling: Filling | undefined): void {
    this.#filling = filling;
    this.#tell({ filling: true });
  }

  /** Notes the report of the main line; undefined: there is none. */
  assess(assessment: Assessment | undefined): void {
    if (assessment === this.#assessment) return;
    this.#assessment = assessment;
    this.#tell({ report: true });
  }

  /** Notes how the lookup stands. */
  report(status: Status): void {
    this.#status = status;
    this.#tell({ status: true });
  }

  /** Puts another position of the game on the board, about whose lookup nothing is known yet. */
  #step(node: Node): void {
    this.#node = node;
    this.#status = { cost: this.#status.cost };
  }

  #tell(changes: Changes): void {
    if (changes.node) this.#choice = undefined;
    for (const listener of this.#listeners) listener(changes);
  }
}
