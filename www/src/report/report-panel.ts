/** The report of the game: accuracy, average loss and bad moves of each player, and how much of the game is known. */
import { plural } from "../text/units";
import { byId, make, redraw } from "../shell/dom";
import { type Kind, KINDS, MANY, nextOf } from "./judgment";
import { ownScore } from "../score/known-score";
import { surname } from "../game/player-names";
import type { Report } from "shelfish/analysis";
import type { State } from "../state/state";

export class ReportPanel {
  readonly #root = byId("report");
  readonly #title = make("h2", { tabIndex: -1 }, "Report");
  /** The progress of the engine. Its elements stay, so that a press of Stop is not lost during an update. */
  readonly #filled = document.createTextNode("");
  readonly #bar = make("progress", { "aria-label": "Positions that the engine looks at" });
  readonly #stop = make("button", { type: "button", "data-testid": "stop-engine" }, "Stop");
  readonly #filling = make("p", { className: "filling", "data-testid": "filling" }, this.#filled, this.#bar, this.#stop);
  readonly #body = make("div");

  constructor(private readonly state: State) {
    this.#stop.addEventListener("click", () => state.progress?.stop());
    this.#root.replaceChildren(this.#title, this.#body);
    state.on(({ report, game, progress }) => {
      if (progress) this.#fill();
      if (report || game) this.#draw();
    });
    this.#fill();
    this.#draw();
  }

  #fill(): void {
    const { progress } = this.state;
    if (!progress) {
      if (this.#filling.contains(document.activeElement)) this.#title.focus({ preventScroll: true });
      return this.#filling.remove();
    }
    const { done, of } = progress;
    this.#filled.data = `Engine: ${done} of ${plural(of, "gap")} `;
    this.#bar.max = of;
    this.#bar.value = done;
    if (!this.#filling.isConnected) this.#title.after(this.#filling);
  }

  #draw(): void {
    const report = this.state.assessment?.report;
    if (!report) {
      const line = this.state.game.mainline().length;
      this.#body.replaceChildren(make("p", { className: "quiet" }, line > 1 ? "The report appears as soon as enough positions of the game are known." : "Open a game to see the accuracy, mistakes and blunders of both players."));
      return;
    }
    const { headers } = this.state.game;
    const name = (side: "White" | "Black") => surname(headers.get(side) ?? side);
    const row = (label: string, of: (side: "white" | "black") => HTMLElement | string) =>
      make("tr", {}, make("th", { scope: "row" }, label), make("td", {}, of("white")), make("td", {}, of("black")));
    const figure = (value: number | null, digits: number, unit = "") => (value === null ? "–" : `${value.toFixed(digits)}${unit}`);
    const table = make(
      "table",
      {},
      make("thead", {}, make("tr", {}, make("td", {}), make("th", { scope: "col" }, name("White")), make("th", { scope: "col" }, name("Black")))),
      make(
        "tbody",
        {},
        row("Accuracy", (side) => figure(report[side].accuracy, 1, " %")),
        row("Average loss", (side) => figure(report[side].averageCentipawnLoss, 0)),
        ...KINDS.map((kind) => row(MANY[kind].charAt(0).toUpperCase() + MANY[kind].slice(1), (side) => this.#count(report, side, kind))),
      ),
    );
    const share = make("p", { className: "share", "data-testid": "report-share" }, [rests(report), this.#engines()].join(" ").trim());
    redraw(this.#body, table, share);
  }

  /** Says how many positions were evaluated by the engine. */
  #engines(): string {
    const count = this.state.game.mainline().filter((node) => ownScore(node, this.state)?.origin === "engine").length;
    return count > 0 ? `${plural(count, "position")} ${count === 1 ? "was" : "were"} evaluated by the engine.` : "";
  }

  /** Returns the number of bad moves of a kind, as a button that goes to the next of them. */
  #count(report: Report, side: "white" | "black", kind: Kind): HTMLElement | string {
    const count = report[side][MANY[kind] as "inaccuracies" | "mistakes" | "blunders"];
    if (count === 0) return "0";
    const button = make("button", { type: "button", className: `count ${kind}`, "aria-label": `${count} ${count === 1 ? kind : MANY[kind]} of ${side}: go to the next`, "data-testid": `${side}-${kind}` }, String(count));
    button.addEventListener("click", () => this.state.go(nextOf(this.state, kind, 1, side)));
    return button;
  }
}

/** Says how many moves the report is based on. */
function rests({ white, black, positions, known }: Report): string {
  const provisional = white.provisional + black.provisional;
  const parts = [`Based on ${white.judged + black.judged} of ${plural(white.moves + black.moves, "move")}; ${known} of ${plural(positions, "position")} are known.`];
  if (provisional > 0) parts.push(`${plural(provisional, "judgment")} ${provisional === 1 ? "is" : "are"} provisional and not counted.`);
  return parts.join(" ");
}
