/** The report of the game: accuracy, losses and bad moves of each player, and what share of the game it rests on. */
import { plural } from "./cost";
import { byId, make } from "./dom";
import { type Kind, KINDS, MANY, nextOf } from "./judgment";
import { ownKnown } from "./knowledge";
import { surname } from "./names";
import type { Report } from "./report";
import type { State } from "./state";

/** The panel. */
export class ReportPanel {
  readonly #root = byId("report");

  constructor(private readonly state: State) {
    state.on(({ report, game, filling }) => (report || game || filling) && this.#draw());
    this.#draw();
  }

  #draw(): void {
    const report = this.state.assessment?.report;
    const title = make("h2", {}, "Report");
    if (!report) {
      const line = this.state.game.mainline().length;
      this.#root.replaceChildren(title, ...this.#filling(), make("p", { className: "quiet" }, line > 1 ? "The report stands here as soon as enough of the game is known." : "Open a game to see accuracy, mistakes and blunders of both players."));
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
    this.#root.replaceChildren(title, ...this.#filling(), table, share);
  }

  /** How far the engine is with what the database does not have. */
  #filling(): HTMLElement[] {
    const { filling } = this.state;
    if (!filling) return [];
    const { done, of } = filling;
    const stop = make("button", { type: "button", "data-testid": "stop-engine" }, "Stop");
    stop.addEventListener("click", () => filling.stop());
    const bar = make("progress", { max: of, value: done, "aria-label": "Positions that the engine looks at" });
    return [make("p", { className: "filling", "data-testid": "filling" }, `Engine: ${done} of ${plural(of, "gap")} `, bar, stop)];
  }

  /** What of it is the engine's. */
  #engines(): string {
    const count = this.state.game.mainline().filter((node) => ownKnown(node, this.state)?.source === "engine").length;
    return count > 0 ? `${plural(count, "position")} of these ${count === 1 ? "is" : "are"} the engine’s, not the database’s.` : "";
  }

  /** How many bad moves of a kind a player made; pressed, it goes to the next of them. */
  #count(report: Report, side: "white" | "black", kind: Kind): HTMLElement | string {
    const count = report[side][MANY[kind] as "inaccuracies" | "mistakes" | "blunders"];
    if (count === 0) return "0";
    const button = make("button", { type: "button", className: `count ${kind}`, "aria-label": `${count} ${count === 1 ? kind : MANY[kind]} of ${side}: go to the next`, "data-testid": `${side}-${kind}` }, String(count));
    button.addEventListener("click", () => this.state.go(nextOf(this.state, kind, 1, side)));
    return button;
  }
}

/** What the figures rest on. */
function rests({ white, black, positions, known }: Report): string {
  const withheld = white.withheld + black.withheld;
  const parts = [`Rests on ${white.judged + black.judged} of ${plural(white.moves + black.moves, "move")}; ${known} of ${plural(positions, "position")} are known.`];
  if (withheld > 0) parts.push(`Nothing is said of ${plural(withheld, "move")} whose evaluations contradict each other.`);
  return parts.join(" ");
}
