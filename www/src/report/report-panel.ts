/** The report of the game: accuracy, average loss and bad moves of each player, and the progress of its analysis. */
import "../style/parts.css";
import { capitalised, plural } from "../text/words";
import { byId, make, makeButton, redraw } from "../shell/dom";
import {
  type GoodMark,
  type Kind,
  KINDS,
  MANY,
  MARKS,
  nextOf,
} from "./judgment";
import type { Reporter } from "./reporter";
import { summary } from "./summary";
import { surname } from "../game/identity";
import { change, NODES, type Settings } from "../settings/settings";
import type { Report } from "shelfish/analysis";
import type { Assessment, State } from "../state/state";

/** Makes a row of the table from a label and the cells of the sides. */
type Row = (
  label: string,
  of: (side: "white" | "black") => HTMLElement | string,
  ...remark: HTMLElement[]
) => HTMLElement;

export class ReportPanel {
  readonly #root = byId("report");
  /** A finished report, shown without a game. */
  readonly #example = byId("example");
  readonly #title = make("h2", {}, "Report");
  /** The controls of the analysis. They stay, so that a press is not lost during an update. */
  readonly #words = make("span", "pass");
  readonly #bar = make("progress", {
    "aria-label": "Share of the analysis that is done",
  });
  readonly #toggle = make("button", {});
  readonly #depth = make("select", {
    "data-testid": "analysis-depth",
    "aria-label": "Depth of the analysis",
  });
  readonly #filling = make(
    "div",
    { className: "filling", "data-testid": "filling" },
    this.#depth,
    this.#words,
    this.#toggle,
    this.#bar,
  );
  readonly #summary = make("div", { id: "summary" });
  readonly #body = make("div");
  /** Whether the table has dashes only. */
  #isDashed = false;
  constructor(
    private readonly state: State,
    private readonly reporter: Pick<
      Reporter,
      "set" | "stop" | "resume" | "judgeAnew" | "isEnabled"
    >,
    { nodes }: Pick<Settings, "nodes">,
  ) {
    this.#toggle.addEventListener("click", () => {
      if (!state.progress) reporter.judgeAnew();
      else if (state.progress.isRunning) reporter.stop();
      else reporter.resume();
    });
    this.#choices(nodes);
    this.#root.replaceChildren(
      this.#title,
      this.#summary,
      this.#filling,
      this.#body,
    );
    state.on(({ report, game, tree, progress }) => {
      if (progress || report || tree) this.#fill();
      const isNew = progress && !state.assessment && !this.#isDashed;
      if (report || game || tree || isNew) this.#draw();
    });
    this.#fill();
    this.#draw();
  }

  /** Fills the select of the depth. */
  #choices(nodes: number): void {
    const options = Object.entries(NODES).map(([name, value]) =>
      make(
        "option",
        {
          value: String(value),
          selected: value === nodes,
          title: `${value.toLocaleString("en")} nodes for each position of a doubtful move`,
        },
        name,
      ),
    );
    this.#depth.replaceChildren(...options);
    this.#depth.title =
      "Analyse deeper: nodes for each position of a doubtful move";
    this.#depth.addEventListener("change", () => {
      const nodes = Number(this.#depth.value);
      change({ nodes });
      this.reporter.set({ nodes });
    });
  }

  /** Shows the progress. The row keeps its height. */
  #fill(): void {
    const { progress, assessment } = this.state;
    this.#filling.hidden =
      !this.reporter.isEnabled || this.state.game.mainline().length < 2;
    const { pass = 0, share = 0, left, isRunning = false } = progress ?? {};
    const hadFocus = document.activeElement === this.#toggle;
    this.#toggle.hidden = !progress && !assessment?.isLinked;
    // The button keeps the focus of the keyboard in its row.
    if (hadFocus && this.#toggle.hidden)
      this.#depth.focus({ preventScroll: true });
    this.#toggle.textContent = !progress
      ? "Judge anew"
      : isRunning
        ? "Stop"
        : "Resume";
    this.#toggle.dataset.testid = isRunning ? "stop-engine" : "resume-engine";
    this.#bar.hidden = !isRunning;
    this.#bar.value = share;
    const { white, black, settled } = assessment?.report ?? {};
    const words = !progress
      ? settled
        ? assessment?.isLinked
          ? "From the link"
          : "Complete"
        : ""
      : !isRunning
        ? white && black && !settled
          ? `Stopped: ${white.judged + black.judged} of ${plural(white.moves + black.moves, "move")} judged`
          : "Stopped"
        : pass === 0
          ? "Looking up…"
          : `Judging: ${Math.floor(share * 100)} %${timeLeft(left)}`;
    if (this.#words.textContent !== words) this.#words.textContent = words;
  }

  #draw(): void {
    const { assessment, progress } = this.state;
    const line = this.state.game.mainline();
    const report = assessment?.report;
    this.#summary.hidden = !report;
    redraw(
      this.#summary,
      ...(assessment ? summary(assessment, this.state) : []),
    );
    this.#isDashed = !report && progress !== undefined;
    if (!report && !this.#isDashed) {
      const words =
        "The report appears as soon as enough positions of the game are known.";
      redraw(
        this.#body,
        line.length > 1 ? make("p", "quiet", words) : this.#example,
      );
      return;
    }
    const { headers } = this.state.game;
    const name = (side: "White" | "Black") => {
      const whole = headers.get(side) ?? side;
      return make(
        "th",
        { scope: "col", title: whole },
        make("span", "who", surname(whole)),
      );
    };
    const row: Row = (label, of, ...remark) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, label, ...remark),
        make("td", {}, of("white")),
        make("td", {}, of("black")),
      );
    const table = make(
      "table",
      {},
      make(
        "thead",
        {},
        make("tr", {}, make("td", {}), name("White"), name("Black")),
      ),
      make(
        "tbody",
        {},
        row("Accuracy", (side) => figure(report?.[side], "accuracy", 1, " %")),
        row("Average loss", (side) =>
          figure(report?.[side], "averageCentipawnLoss", 0),
        ),
        ...KINDS.map((kind) =>
          row(capitalised(MANY[kind]), (side) => {
            const count = report?.[side][MANY[kind]];
            const noun = count === 1 ? kind : MANY[kind];
            return this.#count(side, kind, count, noun, kind);
          }),
        ),
        ...MARKS.map((mark) =>
          row(`${capitalised(mark)} moves`, (side) => {
            // The search for good moves is the last.
            const count = assessment?.isPartial
              ? undefined
              : report?.[side][`${mark}Moves`];
            const noun = `${mark} move${count === 1 ? "" : "s"}`;
            return this.#count(side, mark, count, noun, "good");
          }),
        ),
        ...(report ? phaseRows(report, row, line.length) : []),
      ),
    );
    const share = assessment
      ? [
          make(
            "p",
            { className: "share", "data-testid": "report-share" },
            covers(assessment),
          ),
        ]
      : [];
    redraw(this.#body, table, ...share);
  }

  /** Returns a number of moves, as a button that goes to the next of them. */
  #count(
    side: "white" | "black",
    kind: Kind | GoodMark,
    count: number | undefined,
    noun: string,
    className: string,
  ): HTMLElement | string {
    const { settled } = this.state.assessment?.report ?? {};
    // Moves that are not judged may change "0".
    if (!count) return count === 0 && settled ? "0" : "–";
    return makeButton(
      {
        className: `count ${className}`,
        "aria-label": `${count} ${noun} of ${side}: go to the next`,
        "data-testid": `${side}-${kind}`,
      },
      () => this.state.go(nextOf(this.state, kind, 1, side)),
      String(count),
    );
  }
}

/** Returns a row with the accuracy of each phase. */
function phaseRows(report: Report, row: Row, end: number): HTMLElement[] {
  const { middlegame, endgame } = report.phases;
  const starts = [1, (middlegame ?? endgame ?? end) + 1, (endgame ?? end) + 1];
  const names = ["opening", "middlegame", "endgame"] as const;
  return names.flatMap((name, n) => {
    if ((starts[n] ?? end) >= Math.min(starts[n + 1] ?? end, end)) return [];
    const cell = (side: "white" | "black") => {
      const accuracy = report[side].accuracyByPhase[name];
      return accuracy === null ? "–" : `${accuracy.toFixed(1)} %`;
    };
    return [row(capitalised(name), cell, make("small", {}, " accuracy"))];
  });
}

/** Returns a figure of a side, or a dash with the reason. */
function figure(
  side: Report["white"] | undefined,
  name: "accuracy" | "averageCentipawnLoss",
  digits: number,
  unit = "",
): HTMLElement | string {
  const value = side?.[name];
  if (typeof value === "number") return `${value.toFixed(digits)}${unit}`;
  const { judged = 0, moves } = side ?? {};
  return make(
    "span",
    {
      title:
        moves === 0
          ? "No moves"
          : moves === undefined
            ? "Not judged yet"
            : `Only ${judged} of ${plural(moves, "move")} are final; 75 % are needed`,
    },
    "–",
  );
}

/** Returns words for the time that is left. */
function timeLeft(seconds: number | undefined): string {
  if (seconds === undefined) return "";
  const [step, unit] = seconds < 57 ? [5, "s"] : [60, "min"];
  const count = Math.max(1, Math.round(seconds / step));
  return `, about ${unit === "s" ? count * step : count} ${unit} left`;
}

/** Says how much of the game the report covers, how many positions an engine evaluated, and which engine judged. */
function covers(assessment: Assessment): string {
  const { report, evaluations, by, nodes, isLinked } = assessment;
  const { white, black, positions, known, settled } = report;
  const engine = evaluations.filter(
    (known) => known?.from === "engine" || known?.from === "uci",
  ).length;
  const depth = Object.entries(NODES).find(([, value]) => value === nodes)?.[0];
  const parts = [
    ...(isLinked ? ["Report from the link."] : []),
    `Based on ${white.judged + black.judged} of ${plural(white.moves + black.moves, "move")}; ${known} of ${plural(positions, "position")} are known.`,
  ];
  if (!settled) parts.push("A dash stands for what is not final.");
  if (engine > 0)
    parts.push(
      `${plural(engine, "position")} ${engine === 1 ? "was" : "were"} evaluated by the engine.`,
      `${capitalised(by ?? "")} judged${depth ? ` (${depth})` : ""}.`,
    );
  return parts.join(" ");
}
