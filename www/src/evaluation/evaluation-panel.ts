/** The evaluation of the position on the board: bar, score and lines, or why there is no evaluation. */
import type { Evaluation } from "shelfish";
import { capitalised, plural } from "../text/words";
import type { Explanation } from "../database/client";
import { bindPreviewEnd } from "../board/board";
import { byId, disable, make, makeButton, redraw } from "../shell/dom";
import {
  ending,
  moveNumber,
  type Node,
  path,
  type Step,
  steps,
} from "../game/game";
import {
  bestScore,
  engineEval,
  isShallow,
  type KnownScore,
  nodesText,
  scoreInWords,
} from "../score/known-score";
import { type LineActions, lineItem } from "./lines";
import type { EndgameMove } from "shelfish/endgames";
import { scoreText, winningChances } from "../../../crate/js/shared/score.ts";
import { LINES, type Settings } from "../settings/settings";
import type { State } from "../state/state";

interface PanelActions {
  preview: LineActions["preview"];
  /** Draws the first moves of the lines. */
  arrows(first: readonly Step[]): void;
  retry(): void;
  /** Returns the number of positions in the database, once the manifest is loaded. */
  positions(): number | undefined;
  /** Changes the number of lines of the engine. */
  lines(count: Settings["lines"]): void;
}

/** A line with its score as text. */
interface Line {
  score: string;
  line: readonly Step[];
}

export class EvaluationPanel {
  readonly #panel = byId("evaluation");
  readonly #score = byId("score");
  readonly #words = byId("words");
  readonly #facts = byId("facts");
  readonly #lines = byId("lines");
  readonly #rows = make("ol", { "aria-label": "Lines, best first" });
  readonly #cost = byId("cost");
  readonly #live = byId("live");
  #speaking = 0;
  #scrolled = false;
  /** Whether the pointer is down on a line. New lines are drawn after the click, so that they do not move under the pointer. */
  #isPressed = false;
  #isDue = false;
  /** Position whose lines are listed. */
  #listed: Node | undefined;
  /** Position whose engine score was announced. */
  #heard: Node | undefined;

  /** The explanation that was last shown, with its elements. */
  #explanation: { error: Explanation; parts: HTMLElement[] } | undefined;

  constructor(
    private readonly state: State,
    private readonly actions: PanelActions,
    { lines }: Pick<Settings, "lines">,
  ) {
    this.#bindSearch(lines);
    // New lines replace the line under the pointer, which is not left then.
    bindPreviewEnd(this.#lines, () => actions.preview());
    this.#lines.addEventListener("scroll", () => (this.#scrolled = true), {
      passive: true,
    });
    const unfold = byId("unfold");
    unfold.addEventListener("click", () =>
      unfold.setAttribute(
        "aria-expanded",
        String(this.#panel.classList.toggle("unfolded")),
      ),
    );
    this.#lines.addEventListener(
      "pointerdown",
      () => (this.#isPressed = true),
      { passive: true },
    );
    const released = () => {
      this.#isPressed = false;
      if (this.#isDue) window.setTimeout(() => this.#isDue && this.#show());
    };
    for (const type of ["pointerup", "pointercancel"])
      addEventListener(type, released);
    state.on(({ node, known, status }) => {
      if (status) this.#showStatus();
      const isKnown =
        known && path(state.node).some(({ fen }) => known.has(fen));
      if (isKnown && !node && this.#isPressed) this.#isDue = true;
      else if (node || isKnown) this.#show();
    });
  }

  /** Binds the controls of the search of the position on the board. */
  #bindSearch(lines: number): void {
    const { state } = this;
    const [deeper, count] = [
      byId("deeper"),
      byId<HTMLSelectElement>("line-count"),
    ];
    deeper.addEventListener("click", () => state.setDeep(!state.isDeep));
    count.selectedIndex = LINES.findIndex((value) => value === lines);
    count.addEventListener("change", () =>
      this.actions.lines(LINES[count.selectedIndex] ?? 2),
    );
    const show = () => {
      deeper.setAttribute("aria-pressed", String(state.isDeep));
      deeper.textContent = state.isDeep ? "Stop" : "Go deeper";
      disable(deeper, !state.node.position.hasDests(), count);
    };
    state.on(({ node, search }) => (node || search) && show());
    show();
  }

  #show(): void {
    this.#isDue = false;
    const { node, databaseEvals } = this.state;
    const answer = databaseEvals.get(node.fen);
    const known = bestScore(node, this.state);
    const isOpen = answer === undefined && (!known || known.origin === "line");
    // The panel shows another position until the answer arrives.
    this.#panel.classList.toggle("stale", isOpen && !known);
    if (answer && known?.origin === "database") this.#answered(node, answer);
    else if (known) this.#borrowed(node, known);
    else if (answer === null) this.#absent(node);
    else this.#bar(undefined);
  }

  #showStatus(): void {
    const { waiting, error, cost } = this.state.status;
    // Parts that do not fit are hidden as a whole.
    this.#cost.replaceChildren(
      ...(cost ?? "").split(/(?= · )/).map((part) => make("span", {}, part)),
    );
    this.#cost.title = cost ?? "";
    this.#panel.classList.toggle("failed", error !== undefined);
    if (error && bestScore(this.state.node, this.state)) this.#show();
    else if (error) this.#failed(error);
    else if (waiting && this.#panel.classList.contains("stale")) {
      this.#say("", "Looking it up…");
      this.actions.arrows([]);
      this.#lines.replaceChildren();
    }
  }

  /** Shows the best evaluation of the database. */
  #answered(node: Node, { depth, knodes, pvs }: Evaluation): void {
    const [best] = pvs;
    const shallow = isShallow({
      origin: "database",
      depth,
      knodes,
      mate: best.mate,
    });
    this.#say(
      best.score,
      `Depth ${depth}${shallow ? " · shallow" : ""} · ${nodesText(knodes)}`,
      shallow,
      false,
      standing(best),
    );
    this.#bar(winningChances(best));
    this.#announce(
      node,
      `${scoreInWords(best)}, depth ${depth}${shallow ? ", shallow" : ""}`,
    );
    this.#list(
      node,
      pvs.map((pv) => ({
        score: pv.score,
        line: steps(node.position, pv.uci),
      })),
    );
    // A search that was requested is shown although it does not count.
    const found = this.state.engineEvals.get(node.fen);
    const [first] = found
      ? steps(node.position, found.pvs[0].uci.slice(0, 1))
      : [];
    if (found && first)
      this.#lines.append(
        detail(
          `Engine, depth ${found.depth}: ${scoreText(found.pvs[0])} ${first.san}`,
        ),
      );
  }

  /** Shows a score that is not the database's own score of this position. */
  #borrowed(node: Node, known: KnownScore): void {
    if (known.origin === "rules") {
      const end = ending(node.position);
      this.#say(known.text, end?.title ?? "");
      this.#list(
        node,
        [],
        [
          quiet(
            end?.winner
              ? `${capitalised(end.winner)} has won.`
              : "The game is drawn.",
          ),
        ],
      );
      this.#announce(node, end?.title ?? "");
    } else if (known.origin === "endgames") {
      this.#exact(node, known);
    } else {
      const depth = known.depth === undefined ? "" : `, depth ${known.depth}`;
      const origins: Partial<Record<KnownScore["origin"], string>> = {
        engine: "Engine",
        stockfish: "Stockfish",
        pgn: "From the PGN",
      };
      const from = `${origins[known.origin] ?? `From the ${known.origin}`}${depth}${known.origin !== "engine" && isShallow(known) ? " · shallow" : ""}`;
      this.#say(
        scoreText(known),
        from,
        isShallow(known),
        true,
        standing(known),
      );
      const line = steps(node.position, known.line);
      const pvs =
        known.origin === "engine"
          ? engineEval(node.fen, this.state)?.pvs
          : undefined;
      const lines = pvs?.map((pv) => ({
        score: scoreText(pv),
        line: steps(node.position, pv.uci),
      })) ?? [{ score: scoreText(known), line }];
      const { error } = this.state.status;
      const above = error ? this.#explained(error) : [];
      this.#list(
        node,
        lines.filter(({ line }) => line.length > 0),
        above,
      );
      const answer = this.state.databaseEvals.get(node.fen);
      const hint =
        answer &&
        `The database has ${answer.pvs[0].score} at depth ${answer.depth}, ${nodesText(answer.knodes)}.`;
      const asked =
        hint ??
        (answer === null
          ? "The database does not have this position."
          : "The database is being asked…");
      const remark = (error ? quiet : detail)(
        error
          ? `${from}: ${scoreText(known)}. The database could not be asked.`
          : asked,
      );
      if (error) above.at(-1)?.after(remark);
      else this.#lines.append(remark);
      // The engine's first score is announced, deeper scores are not.
      if (known.origin !== "engine" || this.#heard !== node)
        this.#announce(node, `${scoreInWords(known)}, ${from.toLowerCase()}`);
      this.#heard = known.origin === "engine" ? node : undefined;
    }
    this.#bar(
      known.chances,
      known.origin !== "rules" && known.origin !== "endgames",
    );
  }

  /** Shows the exact result of endgame tables, and the results of all legal moves, best move first. */
  #exact(node: Node, known: KnownScore): void {
    const endgame = this.state.endgameEvals.get(node.fen);
    if (!endgame) return;
    const result = known.text;
    const rule = /cursed|blessed/.test(endgame.outcome)
      ? " by the 50-move rule"
      : "";
    const distance =
      known.chances === 0
        ? ""
        : `, capture or pawn move in ${plural(Math.abs(endgame.dtz), "half-move")}`;
    this.#say(
      "",
      `${result}${rule} by endgame tables${distance}`,
      false,
      false,
      `${result}${rule}`,
    );
    const lines = endgame.moves.map((move) => ({
      score: moveInWords(move),
      line: steps(node.position, [move.uci]),
    }));
    this.#list(node, lines, [], lines.slice(0, 1));
    this.#announce(node, `${result}${rule}${distance}, by endgame tables`);
  }

  /** Says that the database does not have the position. */
  #absent(node: Node): void {
    this.#say("", "Not in this database", false, false, "Not evaluated yet");
    this.#bar(undefined);
    const positions = this.actions.positions();
    const holds =
      positions === undefined
        ? ""
        : `It has ${plural(positions, "position")}. `;
    this.#list(
      node,
      [],
      [
        detail(holds),
        quiet(
          node.parent
            ? "Go back, or try another move."
            : "Choose a famous game to begin.",
        ),
      ],
    );
    this.#announce(node, "not evaluated yet");
  }

  /** Says that the database failed. */
  #failed(error: Explanation): void {
    this.#say("", "");
    this.#bar(undefined);
    this.actions.arrows([]);
    this.#panel.classList.remove("stale");
    // The alert is announced by its role.
    window.clearTimeout(this.#speaking);
    this.#live.textContent = "";
    this.#lines.replaceChildren(...this.#explained(error));
  }

  /** Returns the explanation of a failure, with a button to try again. */
  #explained(error: Explanation): HTMLElement[] {
    // Unchanged elements keep the focus and are not announced again with each iteration of the engine.
    if (this.#explanation?.error === error) return this.#explanation.parts;
    const { title, advice } = error;
    const retry = makeButton(
      { className: "primary", "data-testid": "retry" },
      () => this.actions.retry(),
      "Try again",
    );
    const alert = make(
      "div",
      { className: "error", role: "alert", "data-testid": "error" },
      make("strong", {}, title),
      make("p", {}, advice),
    );
    this.#explanation = { error, parts: [alert, retry] };
    return this.#explanation.parts;
  }

  /** Lists lines below the elements of `above`. Elements that are already in place are not touched. */
  #list(
    node: Node,
    lines: Line[],
    above: readonly HTMLElement[] = [],
    drawn: readonly Line[] = lines,
  ): void {
    this.actions.arrows(drawn.flatMap(({ line }) => line.slice(0, 1)));
    const actions = {
      preview: this.actions.preview,
      play: (line: readonly Step[]) =>
        this.state.play(node, ...line.map(({ move }) => move)),
    };
    // A focused move keeps the focus when the engine goes deeper, but not in another position.
    if (this.#listed !== node) this.#rows.replaceChildren();
    this.#listed = node;
    redraw(
      this.#rows,
      ...lines.map(({ score, line }) =>
        lineItem(score, node.position, line, actions),
      ),
    );
    const parts = lines.length > 0 ? [...above, this.#rows] : above;
    // Parts that are already in place are not touched.
    for (const part of [...this.#lines.childNodes])
      if (!parts.includes(part as HTMLElement)) part.remove();
    for (const [index, part] of parts.entries())
      if (this.#lines.children[index] !== part)
        this.#lines.insertBefore(part, this.#lines.children[index] ?? null);
    // Setting the position only after a scroll avoids a layout in each step.
    if (this.#scrolled) this.#lines.scrollTop = 0;
    this.#scrolled = false;
  }

  /** Shows a score with its details, and with `words` if details are not shown. */
  #say(
    score: string,
    facts: string,
    shallow = false,
    borrowed = false,
    words = facts,
  ): void {
    this.#score.textContent = score;
    this.#words.textContent = words;
    this.#facts.textContent = facts;
    this.#facts.title = facts;
    this.#panel.classList.toggle("shallow", shallow);
    this.#panel.classList.toggle("borrowed", borrowed);
  }

  #bar(chances: number | undefined, borrowed = false): void {
    const bar = byId("bar");
    bar.classList.toggle("unknown", chances === undefined);
    bar.classList.toggle("borrowed", borrowed);
    bar.style.setProperty("--white", String(0.5 + (chances ?? 0) / 2));
  }

  /** Announces the text after the last of several quick steps. */
  #announce(node: Node, text: string): void {
    window.clearTimeout(this.#speaking);
    const move = node.parent
      ? `${moveNumber(node.parent.position)} ${node.san}: `
      : "";
    this.#speaking = window.setTimeout(
      () => (this.#live.textContent = `${move}${text}.`),
      300,
    );
  }
}

/** Returns the result of a move for the side that moves: "Win 12", "Draw", "Loss 8". The number counts plies until the next capture or pawn move. */
function moveInWords({ outcome, dtz, isCheckmate }: EndgameMove): string {
  if (isCheckmate) return "Mate";
  if (/^(maybe-)?win$/.test(outcome)) return `Win ${Math.abs(dtz)}`;
  return /^(maybe-)?loss$/.test(outcome) ? `Loss ${Math.abs(dtz)}` : "Draw";
}

/** Returns the state of a game in words. */
function standing(score: KnownScore | Evaluation["pvs"][0]): string {
  const chances = winningChances(score);
  const side = chances > 0 ? "White" : "Black";
  if (score.mate) return `${side} mates in ${Math.abs(score.mate)}`;
  const by = Math.abs(chances);
  if (by < 0.1) return "Equal";
  return `${side} is ${by < 0.2 ? "a little better" : by < 0.5 ? "better" : "winning"}`;
}

const quiet = (text: string): HTMLElement => make("p", "quiet", text);
const detail = (text: string): HTMLElement => make("p", "quiet detail", text);
