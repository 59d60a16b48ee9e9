/** Creates the report of the game. The module is loaded when a game is known. */
import type { KnownEval, Report } from "shelfish/analysis";
import { type Node, uci } from "../game/game";
import { ownScore } from "../score/known-score";
import { loadOnce } from "../loading/load-once";
import { loadPart } from "../loading/page-part";
import type { Assessment, State } from "../state/state";

/** Milliseconds without new evaluations before a report is created. */
const REST = 60;

/** Updates the state's report when evaluations of the main line arrive. */
export class Reporter {
  readonly #load = loadOnce(async () => (await loadPart(import("shelfish/analysis"))).openAnalysis());
  #timer = 0;

  constructor(private readonly state: State) {
    state.on(({ tree, known }) => {
      const isOfGame = known && state.game.mainline().some(({ fen }) => known.has(fen));
      if (!tree && !isOfGame) return;
      if (tree) state.setAssessment(undefined);
      window.clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.#report().catch(() => {}), REST);
    });
  }

  /** Returns the PGN with the evaluations, judgments and better lines. */
  async annotated(pgn: string): Promise<string> {
    return (await this.#load()).annotate(pgn, this.#evaluations(this.state.game.mainline()));
  }

  async #report(): Promise<void> {
    const { game } = this.state;
    const line = game.mainline();
    const evaluations = this.#evaluations(line);
    if (evaluations.filter(Boolean).length < 2) return;
    const module = await this.#load();
    // If the game has changed, another report follows.
    if (this.state.game !== game || game.mainline().length !== line.length) return;
    const moves = line.flatMap(({ move }) => (move ? [uci(move)] : []));
    this.state.setAssessment(judged(line, module.report({ fen: game.root.fen, moves, evaluations })));
  }

  /** Returns the positions' own evaluations: the score of an earlier line adds no information. */
  #evaluations(line: readonly Node[]): (KnownEval | null)[] {
    return line.map((node) => {
      const known = ownScore(node, this.state);
      if (!known || known.origin === "rules" || known.origin === "line") return null;
      const { cp, mate, depth, knodes, line, origin } = known;
      return { cp, mate, depth, knodes, line, from: origin };
    });
  }
}

function judged(line: readonly Node[], report: Report): Assessment {
  return { report, moves: new Map(report.moves.flatMap((move) => (line[move.ply] ? [[line[move.ply] as Node, move]] : []))) };
}
