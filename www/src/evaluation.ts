/** The evaluation of the position on the board: bar, score, lines; or why there is none. */
import type { Eval, Evaluation } from "shelfish";
import { plural } from "./cost";
import type { Explanation } from "./database";
import { byId, make } from "./dom";
import { type ending, moveNumber, type Node, type Step, steps } from "./game";
import { advantage, nodes, spoken } from "./score";

/** What the panel makes the page do. */
export interface PanelActions {
  /** Show the position after a step of a line, whose position before it is given; undefined: no more. */
  preview(step: Step | undefined, before?: Node["position"]): void;
  /** Play these steps from the node that they belong to. */
  play(from: Node, line: readonly Step[]): void;
  /** Draw the first moves of the lines. */
  arrows(first: readonly Step[]): void;
  /** Try the failed lookup again. */
  retry(): void;
}

/** Bar, score and lines. */
export class EvaluationPanel {
  readonly #score = byId("score");
  readonly #facts = byId("facts");
  readonly #others = byId("others");
  readonly #lines = byId("lines");
  readonly #cost = byId("cost");
  readonly #live = byId("live");
  #speaking = 0;

  constructor(private readonly actions: PanelActions) {
    this.#lines.addEventListener("pointerleave", () => actions.preview(undefined));
    this.#lines.addEventListener("focusout", () => actions.preview(undefined));
  }

  /** An answer: its deepest evaluation first, the others a click away. */
  found(node: Node, answer: Eval): void {
    this.#choose(node, answer, answer.best);
  }

  /** The position is not in the database, which is an answer too. */
  absent(node: Node, positions: number | undefined): void {
    this.#say("", "Not in this database");
    this.#bar(undefined);
    this.actions.arrows([]);
    const holds = positions === undefined ? "" : `It holds ${plural(positions, "position")}, and nothing is computed here. `;
    const back = node.parent ? "Step back, or pick a famous game." : "Pick a famous game to see one that is.";
    this.#lines.replaceChildren(make("p", { className: "quiet" }, holds + back));
    this.#announce(node, "not in this database");
  }

  /** The game has ended on the board: there is nothing to look up. */
  over(node: Node, end: NonNullable<ReturnType<typeof ending>>): void {
    this.#say(end.result, end.title);
    this.#bar(end.winner === "white" ? 1 : end.winner === "black" ? -1 : 0);
    this.actions.arrows([]);
    const how = end.winner ? `${end.winner === "white" ? "White" : "Black"} has won.` : "The game is drawn.";
    this.#lines.replaceChildren(make("p", { className: "quiet" }, how));
    this.cost("Nothing to look up: the game is over here.");
    this.#announce(node, end.title);
  }

  /** An answer is taking its time. */
  waiting(): void {
    this.#say("", "Looking it up…");
    this.actions.arrows([]);
    this.#lines.replaceChildren();
    this.cost("");
  }

  /** The database failed. */
  failed({ title, advice }: Explanation): void {
    this.#say("", "");
    this.#bar(undefined);
    this.actions.arrows([]);
    // The alert speaks for itself.
    window.clearTimeout(this.#speaking);
    this.#live.textContent = "";
    const retry = make("button", { type: "button", className: "primary", "data-testid": "retry" }, "Try again");
    retry.addEventListener("click", () => this.actions.retry());
    const fault = make("div", { className: "fault", role: "alert", "data-testid": "error" }, make("strong", {}, title), make("p", {}, advice));
    this.#lines.replaceChildren(fault, retry);
    this.cost("");
  }

  /** The line that says what the answer cost. */
  cost(text: string): void {
    this.#cost.textContent = text;
  }

  #choose(node: Node, answer: Eval, chosen: Evaluation): void {
    const best = chosen.pvs[0];
    this.#say(best?.score ?? "", `Depth ${chosen.depth} · ${nodes(chosen.knodes)}`);
    this.#bar(best && advantage(best));
    if (best) this.#announce(node, `${spoken(best)}, depth ${chosen.depth}`);

    const others = answer.evaluations.map((evaluation) => {
      const label = `d${evaluation.depth} · ${plural(evaluation.pvs.length, "line")}`;
      const title = `Depth ${evaluation.depth}, ${nodes(evaluation.knodes)}, ${plural(evaluation.pvs.length, "line")}`;
      const pressed = evaluation === chosen;
      const button = make("button", { type: "button", title, "aria-label": title, "aria-pressed": pressed, "data-testid": "evaluation-choice" }, label);
      button.addEventListener("click", () => {
        this.#choose(node, answer, evaluation);
        this.#others.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
      });
      return button;
    });
    this.#others.replaceChildren(...others);

    const lines = chosen.pvs.map((pv) => ({ pv, line: steps(node.position, pv.uci) }));
    this.actions.arrows(lines.flatMap(({ line }) => line.slice(0, 1)));
    this.#lines.replaceChildren(
      make(
        "ol",
        { "aria-label": "Lines, best first" },
        ...lines.map(({ pv, line }) =>
          make("li", { "data-testid": "line" }, make("span", { className: pv.score.startsWith("-") || pv.score.startsWith("#-") ? "pv-score black" : "pv-score" }, pv.score), this.#line(node, line)),
        ),
      ),
    );
  }

  /** One line as buttons: one stop of the Tab key, arrow keys within. */
  #line(node: Node, line: readonly Step[]): HTMLElement {
    const words = make("span", { className: "line", role: "toolbar", "aria-label": "Moves of the line" });
    const buttons = line.map((step, index) => {
      const before = line[index - 1]?.position ?? node.position;
      const show = () => this.actions.preview(step, before);
      const button = make("button", { type: "button", tabIndex: index === 0 ? 0 : -1, "aria-label": `${step.number} ${step.san}`, "data-testid": "line-move" }, step.san);
      // A finger that touches wants to play, not to hover.
      button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && show());
      button.addEventListener("focus", () => button.matches(":focus-visible") && show());
      button.addEventListener("click", () => this.actions.play(node, line.slice(0, index + 1)));
      return button;
    });
    buttons.forEach((button, index) => {
      const before = line[index - 1]?.position ?? node.position;
      const number = index === 0 || before.turn === "white" ? [make("span", { className: "number" }, moveNumber(before))] : [];
      words.append(make("span", { className: "ply" }, ...number, button), " ");
    });
    words.addEventListener("keydown", (event) => {
      const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: buttons.length - 1 }[event.key];
      if (to === undefined || at === -1) return;
      event.preventDefault();
      const target = buttons[Math.max(0, Math.min(to, buttons.length - 1))];
      for (const button of buttons) button.tabIndex = button === target ? 0 : -1;
      target?.focus();
    });
    return words;
  }

  #say(score: string, facts: string): void {
    this.actions.preview(undefined);
    this.#score.textContent = score;
    this.#facts.textContent = facts;
    this.#others.replaceChildren();
  }

  #bar(share: number | undefined): void {
    const bar = byId("bar");
    bar.classList.toggle("unknown", share === undefined);
    bar.style.setProperty("--white", String(0.5 + (share ?? 0) / 2));
  }

  /** Speaks once the stepping has come to rest. */
  #announce(node: Node, text: string): void {
    window.clearTimeout(this.#speaking);
    const move = node.parent ? `${moveNumber(node.parent.position)} ${node.san}: ` : "";
    this.#speaking = window.setTimeout(() => (this.#live.textContent = `${move}${text}.`), 300);
  }
}
