/** The evaluation of the position on the board: bar, score, lines; or why there is none. */
import type { Evaluation, PositionEval } from "shelfish";
import { plural } from "../text/units";
import type { Explanation } from "../database/client";
import { byId, make } from "../shell/dom";
import { ending, moveNumber, type Node, path, type Step, steps } from "../game/game";
import { bestScore, isShallow, type KnownScore } from "../score/known-score";
import { type LineActions, lineItem } from "./lines";
import { winningChances, nodesText, scoreInWords, scoreText } from "../score/score";
import type { State } from "../state/state";

/** What the panel makes the page do. */
export interface PanelActions {
  preview: LineActions["preview"];
  /** Draw the first moves of the lines. */
  arrows(first: readonly Step[]): void;
  /** Try the failed lookup again. */
  retry(): void;
  /** How many positions the database has, once that is known. */
  positions(): number | undefined;
}

/** Bar, score and lines. */
export class EvaluationPanel {
  readonly #panel = byId("evaluation");
  readonly #score = byId("score");
  readonly #facts = byId("facts");
  readonly #others = byId("others");
  readonly #lines = byId("lines");
  readonly #cost = byId("cost");
  readonly #live = byId("live");
  #speaking = 0;
  #scrolled = false;
  /** Whether a line is pressed: a click ends where it began, so that what is found meanwhile is drawn after it. */
  #isPressed = false;
  #isDue = false;
  /** The position whose lines are listed. */
  #listed: Node | undefined;
  /** The position of which the engine's score was announced. */
  #heard: Node | undefined;

  /** How the last failure was told. */
  #told: { fault: Explanation; parts: HTMLElement[] } | undefined;

  constructor(
    private readonly state: State,
    private readonly actions: PanelActions,
  ) {
    this.#lines.addEventListener("scroll", () => (this.#scrolled = true), { passive: true });
    const unfold = byId("unfold");
    unfold.addEventListener("click", () => unfold.setAttribute("aria-expanded", String(this.#panel.classList.toggle("unfolded"))));
    this.#lines.addEventListener("pointerdown", () => (this.#isPressed = true), { passive: true });
    const released = () => {
      this.#isPressed = false;
      if (this.#isDue) window.setTimeout(() => this.#isDue && this.#show());
    };
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, released);
    state.on(({ node, known, status }) => {
      if (status) this.#showStatus();
      const isKnown = known && path(state.node).some(({ fen }) => known.has(fen));
      if (isKnown && !node && this.#isPressed) this.#isDue = true;
      else if (node || isKnown) this.#show();
    });
  }

  #show(): void {
    this.#isDue = false;
    const { node, databaseEvals } = this.state;
    this.actions.preview(undefined);
    const answer = databaseEvals.get(node.fen);
    const known = bestScore(node, this.state);
    const isOpen = answer === undefined && (!known || known.origin === "line");
    // What stands here belongs to another position until the answer comes.
    this.#panel.classList.toggle("stale", isOpen && !known);
    if (answer) this.#choose(node, answer, answer.best);
    else if (known) this.#borrowed(node, known);
    else if (answer === null) this.#absent(node);
    else this.#bar(undefined);
  }

  #showStatus(): void {
    const { waiting, fault, cost } = this.state.status;
    this.#cost.textContent = cost ?? "";
    this.#cost.title = cost ?? "";
    this.#panel.classList.toggle("failed", fault !== undefined);
    if (fault && bestScore(this.state.node, this.state)) this.#show();
    else if (fault) this.#failed(fault);
    else if (waiting && this.#panel.classList.contains("stale")) {
      this.#say("", "Looking it up…");
      this.actions.arrows([]);
      this.#lines.replaceChildren();
    }
  }

  /** One of the database's evaluations of the position, the others a click away. */
  #choose(node: Node, answer: PositionEval, chosen: Evaluation): void {
    const { depth, knodes, pvs } = chosen;
    const [best] = pvs;
    const shallow = isShallow({ origin: "database", depth, knodes });
    this.#say(best.score, `Depth ${depth}${shallow ? " · shallow" : ""} · ${nodesText(knodes)}`, shallow);
    this.#bar(winningChances(best));
    this.#announce(node, `${scoreInWords(best)}, depth ${depth}${shallow ? ", shallow" : ""}`);
    this.#others.replaceChildren(
      ...answer.evaluations.map((evaluation) => {
        const label = `d${evaluation.depth} · ${plural(evaluation.pvs.length, "line")}`;
        const title = `${nodesText(evaluation.knodes)} nodes`;
        const button = make("button", { type: "button", title, "aria-pressed": evaluation === chosen, "data-testid": "evaluation-choice" }, label);
        button.addEventListener("click", () => {
          this.#choose(node, answer, evaluation);
          this.#others.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
        });
        return button;
      }),
    );
    this.#list(node, pvs.map((pv) => ({ score: pv.score, line: steps(node.position, pv.uci) })));
  }

  /** A score that is not the database's own of this position. */
  #borrowed(node: Node, known: KnownScore): void {
    if (known.origin === "rules") {
      const end = ending(node.position);
      this.#say(known.text, end?.title ?? "");
      this.#list(node, []);
      this.#lines.replaceChildren(quiet(end?.winner ? `${end.winner === "white" ? "White" : "Black"} has won.` : "The game is drawn."));
      this.#announce(node, end?.title ?? "");
    } else {
      const depth = known.depth === undefined ? "" : `, depth ${known.depth}`;
      const from = known.origin === "engine" ? `Engine${depth}` : `From the ${known.origin === "pgn" ? "PGN" : known.origin}${depth}`;
      this.#say(scoreText(known), from, isShallow(known), true);
      const line = steps(node.position, known.line);
      const pvs = known.origin === "engine" ? this.state.engineEvals.get(node.fen)?.pvs : undefined;
      const lines = pvs?.map((pv) => ({ score: scoreText(pv), line: steps(node.position, pv.uci) })) ?? [{ score: scoreText(known), line }];
      const { fault } = this.state.status;
      const above = fault ? this.#explained(fault) : [];
      this.#list(node, lines.filter(({ line }) => line.length > 0), above);
      const asked = this.state.databaseEvals.has(node.fen) ? "The database does not have this position itself." : "The database is being asked…";
      const told = quiet(fault ? `${from}: ${scoreText(known)}. The database could not be asked.` : asked);
      if (fault) above.at(-1)?.after(told);
      else this.#lines.append(told);
      // Deeper and deeper: once is enough to be heard.
      if (known.origin !== "engine" || this.#heard !== node) this.#announce(node, `${scoreInWords(known)}, ${from.toLowerCase()}`);
      this.#heard = known.origin === "engine" ? node : undefined;
    }
    this.#bar(known.chances, known.origin !== "rules");
  }

  /** The position is not in the database, which is an answer too. */
  #absent(node: Node): void {
    this.#say("", "Not in this database");
    this.#bar(undefined);
    const positions = this.actions.positions();
    const holds = positions === undefined ? "" : `It holds ${plural(positions, "position")}. `;
    this.#list(node, []);
    this.#lines.replaceChildren(quiet(holds + (node.parent ? "Step back, or try another move." : "Pick a famous game to see positions that it has.")));
    this.#announce(node, "not in this database");
  }

  /** The database failed. */
  #failed(fault: Explanation): void {
    this.#say("", "");
    this.#bar(undefined);
    this.actions.arrows([]);
    this.#panel.classList.remove("stale");
    // The alert speaks for itself.
    window.clearTimeout(this.#speaking);
    this.#live.textContent = "";
    this.#lines.replaceChildren(...this.#explained(fault));
  }

  /** What went wrong, and a way to try again. */
  #explained(fault: Explanation): HTMLElement[] {
    // The same elements as before, which are not announced and focused anew with each iteration of the engine.
    if (this.#told?.fault === fault) return this.#told.parts;
    const { title, advice } = fault;
    const retry = make("button", { type: "button", className: "primary", "data-testid": "retry" }, "Try again");
    retry.addEventListener("click", () => this.actions.retry());
    const alert = make("div", { className: "fault", role: "alert", "data-testid": "error" }, make("strong", {}, title), make("p", {}, advice));
    this.#told = { fault, parts: [alert, retry] };
    return this.#told.parts;
  }

  /** Lists lines, below what stands above them and is not touched if it is there already. */
  #list(node: Node, lines: { score: string; line: readonly Step[] }[], above: readonly HTMLElement[] = []): void {
    this.actions.arrows(lines.flatMap(({ line }) => line.slice(0, 1)));
    const actions = { preview: this.actions.preview, play: (line: readonly Step[]) => this.state.play(node, ...line.map(({ move }) => move)) };
    const items = lines.map(({ score, line }) => lineItem(score, node.position, line, actions));
    const rows = () => [...this.#lines.querySelectorAll("ol > li")].map((row) => [...row.querySelectorAll("button")]);
    const focused = this.#listed === node ? rows().map((row) => row.indexOf(document.activeElement as HTMLButtonElement)) : [];
    this.#listed = node;
    if (above.length === 0 || above.some((element, index) => this.#lines.children[index] !== element)) this.#lines.replaceChildren(...above);
    while (this.#lines.childElementCount > above.length) this.#lines.lastElementChild?.remove();
    if (items.length > 0) this.#lines.append(make("ol", { "aria-label": "Lines, best first" }, ...items));
    // Who has the focus on a move keeps it in its place while the engine goes deeper.
    const line = focused.findIndex((move) => move >= 0);
    const buttons = rows()[line] ?? [];
    const kept = buttons[focused[line] ?? 0] ?? buttons.at(-1);
    for (const button of buttons) button.tabIndex = button === kept ? 0 : -1;
    kept?.focus({ preventScroll: true });
    // Asking for the place would lay the page out once more in each step.
    if (this.#scrolled) this.#lines.scrollTop = 0;
    this.#scrolled = false;
  }

  #say(score: string, facts: string, shallow = false, borrowed = false): void {
    this.actions.preview(undefined);
    this.#score.textContent = score;
    this.#facts.textContent = facts;
    this.#facts.title = facts;
    this.#panel.classList.toggle("shallow", shallow);
    this.#panel.classList.toggle("borrowed", borrowed);
    this.#others.replaceChildren();
  }

  #bar(chances: number | undefined, borrowed = false): void {
    const bar = byId("bar");
    bar.classList.toggle("unknown", chances === undefined);
    bar.classList.toggle("borrowed", borrowed);
    bar.style.setProperty("--white", String(0.5 + (chances ?? 0) / 2));
  }

  /** Speaks once the stepping has come to rest. */
  #announce(node: Node, text: string): void {
    window.clearTimeout(this.#speaking);
    const move = node.parent ? `${moveNumber(node.parent.position)} ${node.san}: ` : "";
    this.#speaking = window.setTimeout(() => (this.#live.textContent = `${move}${text}.`), 300);
  }
}

const quiet = (text: string): HTMLElement => make("p", { className: "quiet" }, text);
