/** State of a page with a board: the game, the position on the board and its evaluations. Views listen to the changes. */
import type { PositionEval } from "shelfish";
import type { FoundEval, MoveReport, Report } from "shelfish/analysis";
import type { Evaluated } from "shelfish/engine";
import type { EndgameResult } from "shelfish/endgames";
import { deeperResult } from "../../../crate/js/shared/score.ts";
import type { Explanation } from "../database/client";
import { arrange } from "../game/identity";
import { Game, type Node, path, type Step, variationOf } from "../game/game";
import { replacesEval } from "../score/known-score";

/** The parts of the state that have changed. */
export interface Changes {
  /** Another game is on the board. */
  game?: true;
  /** Moves were added to the game or removed from it. */
  tree?: true;
  /** Variations were promoted or deleted, or that was undone. */
  edited?: true;
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
  /** Progress of the analysis of the game. */
  progress?: true;
  /** The search of the position on the board began, ended, or has other limits. */
  search?: true;
}

/** Progress of the engine in the analysis of the game. */
interface AnalysisProgress {
  /** Pass of the engine, from 1; 0 before its first search. */
  pass: number;
  /** Estimated share that is done, from 0 to 1. */
  share: number;
  /** Estimated seconds that are left, once they can be estimated. */
  left?: number | undefined;
  /** Whether the analysis runs. An analysis that was stopped can be resumed. */
  isRunning: boolean;
}

/** Status of the lookup of the position on the board. */
export interface Status {
  /** The lookup is slow. */
  waiting?: boolean;
  /** Why the lookup failed. */
  error?: Explanation;
  /** Cost of the last answer. */
  cost?: string;
}

/** A report, and what it is based on. */
export interface Judged {
  report: Report;
  /** The evaluations that count, for each position of the main line. */
  evaluations: readonly (FoundEval | null)[];
  /** Name of the engine that judged, if one was enabled. */
  by: string | undefined;
  /** Its nodes for each position of a doubtful move; 0 without an engine. */
  nodes: number;
  /** Whether moves may still be judged or marked. */
  isPartial?: boolean;
  /** Whether the report came with a link. */
  isLinked?: boolean;
}

/** A report, with the nodes of its moves. */
export interface Assessment extends Judged {
  moves: ReadonlyMap<Node, MoveReport>;
}

/** A change of the variations. */
interface Change {
  words: string;
  undo(): Node;
  redo(): void;
}

type Answers<T> = Iterable<readonly [fen: string, answer: T]>;

/** The state. Only its methods change it. */
export class State {
  game = new Game();
  /** Position on the board. */
  node = this.game.root;
  #choice: Node | undefined;
  /** Report of the main line, if it was created. */
  assessment: Assessment | undefined;
  status: Status = {};
  /** Progress of the analysis of the game; `undefined` before it begins and after it is complete. */
  progress: AnalysisProgress | undefined;
  /** Whether the engine searches the position on the board without a limit. */
  isDeep = false;
  /** Answers of the database by FEN; `null` if the database does not have the position. */
  readonly databaseEvals = new Map<string, PositionEval | null>();
  /** Results of endgame tables by FEN. */
  readonly endgameEvals = new Map<string, EndgameResult>();
  /** Evaluations by the search of the position on the board, by FEN. */
  readonly engineEvals = new Map<string, Evaluated>();
  /** Evaluations by the engine in the analysis of the game, by FEN. */
  readonly gameEvals = new Map<string, Evaluated>();
  /** The changes of the game that can be undone, and the positions that were on the board before. */
  #undos: Change[] = [];
  /** The changes that were undone, the last one first to redo. */
  #redos: Change[] = [];
  readonly #listeners: ((changes: Changes) => void)[] = [];

  /** The next move: the selected move, or the first one. */
  get choice(): Node | undefined {
    return this.#choice ?? this.node.children[0];
  }

  /** Returns the report on a move of the main line, if it was created. */
  moveReport(node: Node): MoveReport | undefined {
    return this.assessment?.moves.get(node);
  }

  /** Adds a listener. Listeners are called after each change, in the order in which they were added. */
  on(listener: (changes: Changes) => void): void {
    this.#listeners.push(listener);
  }

  /** Adds the listener of a part that loads later, and calls it with the changes before. */
  join(listener: (changes: Changes) => void): void {
    this.on(listener);
    listener({
      game: true,
      tree: true,
      node: true,
      known: new Set(this.databaseEvals.keys()),
      status: true,
    });
  }

  enter(game: Game, node: Node = game.root): void {
    this.game = game;
    this.node = node;
    this.isDeep = false;
    this.status = {};
    this.#undos = [];
    this.#redos = [];
    this.#notify({ game: true, tree: true, node: true });
  }

  /** Shows a position of the game. */
  go(node: Node | undefined): void {
    if (!node || node === this.node) return;
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
      const to = this.game.play(node, move);
      grown ||= node.children.length > before;
      node = to;
    }
    this.#step(node);
    this.#notify(grown ? { tree: true, node: true } : { node: true });
  }

  /** Makes the variation of a move, by default the current one, the first choice at its start. */
  promote(node = this.node): void {
    const first = variationOf(node);
    if (first?.parent)
      this.#edit(
        "The variation was moved up.",
        first.parent,
        (now) => [first, ...now.filter((each) => each !== first)],
        this.node,
      );
  }

  /** Deletes a move and the moves after it, by default the current variation. Shows the position before it if its own position is gone. */
  remove(first = variationOf(this.node)): void {
    if (first?.parent)
      this.#edit(
        variationOf(first)
          ? "The variation was deleted."
          : "The rest of the game was deleted.",
        first.parent,
        (now) => now.filter((each) => each !== first),
        path(this.node).includes(first) ? first.parent : this.node,
      );
  }

  /** Says which change `undo` undoes; `undefined` if there is none. */
  get lastEdit(): string | undefined {
    return this.#undos.at(-1)?.words;
  }

  /** Whether a change can be redone. */
  get canRedo(): boolean {
    return this.#redos.length > 0;
  }

  /** Undoes the last promotion or deletion, and shows the position that was on the board before it. */
  undo(): void {
    const last = this.#undos.pop();
    if (!last) return;
    this.#redos.push(last);
    this.#step(last.undo());
    this.#notify({ tree: true, node: true, edited: true });
  }

  /** Repeats the change that was undone last. */
  redo(): void {
    this.#redos.pop()?.redo();
  }

  /** Gives a position these next moves, and shows the position of `node`. `children` returns them for the next moves before the change. */
  #edit(
    words: string,
    parent: Node,
    children: (now: readonly Node[]) => readonly Node[],
    node: Node,
    redos: Change[] = [],
  ): void {
    const before = this.node;
    const edit = arrange(this.game, parent, children(parent.children));
    this.#redos = redos;
    this.#undos.push({
      words,
      undo: () => (edit.undo(), before),
      redo: () => this.#edit(words, parent, children, node, this.#redos),
    });
    this.#step(node);
    this.#notify({ tree: true, node: true, edited: true });
  }

  addDatabaseEvals(answers: Answers<PositionEval | null>): void {
    this.#add(this.databaseEvals, answers);
  }

  addEndgameEvals(results: Answers<EndgameResult>): void {
    this.#add(this.endgameEvals, results);
  }

  #add<T>(evals: Map<string, T>, answers: Answers<T>): void {
    const known = new Set<string>();
    for (const [fen, answer] of answers) {
      evals.set(fen, answer);
      known.add(fen);
    }
    if (known.size > 0) this.#notify({ known });
  }

  /** Adds an evaluation by the engine, unless a better one is known. */
  addEngineEval(fen: string, evaluation: Evaluated): void {
    if (deeperResult(this.engineEvals.get(fen), evaluation) !== evaluation)
      return;
    this.engineEvals.set(fen, evaluation);
    this.#notify({ known: new Set([fen]) });
  }

  /** Removes the evaluation of a position by the search of the board, for a search of more lines. */
  removeEngineEval(fen: string): void {
    if (this.engineEvals.delete(fen)) this.#notify({ known: new Set([fen]) });
  }

  setProgress(progress: AnalysisProgress | undefined): void {
    this.progress = progress;
    this.#notify({ progress: true });
  }

  /** Searches the position on the board without a limit, until the search is stopped or another position is shown. */
  setDeep(isDeep: boolean): void {
    if (isDeep === this.isDeep) return;
    this.isDeep = isDeep;
    this.#notify({ search: true });
  }

  /** Sets the report of the game, with the engine's evaluations of its positions. */
  setAssessment(
    assessment: Assessment | undefined,
    evaluations: readonly Evaluated[] = [],
  ): void {
    if (assessment === this.assessment) return;
    this.assessment = assessment;
    this.#notify({ report: true });
    this.addGameEvals(evaluations, () => true);
  }

  /** Adds the engine's evaluations of positions of the game, unless better ones are known. */
  addGameEvals(
    evaluations: readonly Evaluated[],
    replaces: typeof replacesEval = replacesEval,
  ): void {
    const known = new Set<string>();
    for (const found of evaluations) {
      if (!replaces(found, this.gameEvals.get(found.fen))) continue;
      this.gameEvals.set(found.fen, found);
      known.add(found.fen);
    }
    if (known.size > 0) this.#notify({ known });
  }

  setStatus(status: Status): void {
    this.status = status;
    this.#notify({ status: true });
  }

  /** Shows another position of the game. The status of its lookup is not known yet. */
  #step(node: Node): void {
    this.node = node;
    this.isDeep = false;
    this.status = { cost: this.status.cost };
  }

  #notify(changes: Changes): void {
    if (changes.node) this.#choice = undefined;
    for (const listener of this.#listeners) listener(changes);
  }
}
