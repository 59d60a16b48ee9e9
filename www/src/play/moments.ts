/**
 * The decisive moments of a finished game: the moves that lost most of the winning chances. The analysis is that of the board, with the same nodes, so
 * that its stored results settle the report of the board. Loaded after the end of a game.
 */
import type { Judgment, KnownEval, Report } from "shelfish/analysis";
import { DatabaseClient } from "../database/client";
import { moveNumber, type Node, type Step, steps } from "../game/game";
import { loadPart } from "../loading/page-part";
import { throttle } from "../loading/throttle";
import { toPgn } from "../pgn/write-game";
import { workerCount } from "../report/workers";
import { manifestUrl } from "../settings/data-urls";
import type { Settings } from "../settings/settings";
import { byId, make } from "../shell/dom";
import { InputError, messageOf } from "../text/input-error";
import { plural } from "../text/units";
import type { Match } from "./match";

/** Number of moments that are shown. */
const COUNT = 3;
/** Number of passes of an analysis. */
const PASSES = 4;
/** Minimum number of milliseconds between two updates of the progress. */
const INTERVAL = 150;

/** A bad move whose judgment is settled. */
export interface Moment {
  /** The position after the move. */
  node: Node;
  /** The best move. */
  better: Step;
  judgment: Judgment;
  /** Winning chances that the move lost, in percent. */
  lost: number;
}

/** Returns the settled bad moves that lost most, in the order of the game. `line` is the root and the moves of the game. */
export function decisive(
  { moves }: Pick<Report, "moves">,
  line: readonly Node[],
): Moment[] {
  const found = moves.flatMap(
    ({ ply, judgment, settled, loss, best }): Moment[] => {
      const node = line[ply];
      const [better] =
        best && node?.parent ? steps(node.parent.position, [best]) : [];
      return node && better && judgment && settled && loss !== null
        ? [{ node, better, judgment, lost: Math.round(50 * loss) }]
        : [];
    },
  );
  return found
    .sort((a, b) => b.lost - a.lost)
    .slice(0, COUNT)
    .sort((a, b) => a.node.ply - b.node.ply);
}

/** Analyses a finished game and shows its decisive moments. `show` shows a moment on the board. */
export async function showMoments(
  match: Match,
  settings: Settings,
  show: (moment: Moment) => void,
  signal: AbortSignal,
): Promise<void> {
  const status = byId("moments-status");
  const bar = byId<HTMLProgressElement>("moments-progress");
  const list = byId("moments-list");
  const line = match.game.mainline();
  list.replaceChildren();
  byId("moments").hidden = line.length < 2;
  if (line.length < 2) return;
  status.textContent =
    "Looking for the moves that changed the winning chances most…";
  bar.hidden = false;
  bar.removeAttribute("value");
  const client = new DatabaseClient(
    manifestUrl(settings.database),
    settings.cache,
  );
  const engine = (await loadPart(import("shelfish/engine"))).openEngine({
    workers: workerCount(),
    signal,
  });
  // The analysis reports a failure. An analysis that is aborted before it waits for the engine reports nothing.
  engine.catch(() => {});
  try {
    const analysis = await (
      await loadPart(import("shelfish/analysis"))
    ).openAnalysis({ signal });
    const { report, evaluations } = await analysis.analyseGame(
      toPgn(match.game, "moves"),
      {
        database: {
          lookupMany: async (fens, options) =>
            (await client.open()).lookupMany(fens, options),
        },
        engine,
        nodes: settings.nodes,
        signal,
        onProgress: throttle(INTERVAL, ({ pass, done, of }) => {
          if (signal.aborted || pass === 0 || of === 0) return;
          bar.max = PASSES;
          bar.value = pass - 1 + done / of;
        }),
      },
    );
    if (signal.aborted) return;
    const moments = decisive(report, line);
    list.replaceChildren(
      ...moments.map((moment) => entry(moment, match, show)),
    );
    status.textContent = `${moments.length > 0 ? "The moves that lost most of the winning chances." : "No move lost much of the winning chances."} ${provenance(report, evaluations)}`;
  } catch (error) {
    if (signal.aborted) return;
    status.textContent =
      error instanceof InputError
        ? error.message
        : `The analysis failed: ${messageOf(error)}`;
  } finally {
    if (!signal.aborted) bar.hidden = true;
    void engine.then(
      (engine) => engine.close(),
      () => {},
    );
  }
}

function entry(
  moment: Moment,
  { terms }: Match,
  show: (moment: Moment) => void,
): HTMLElement {
  const { node, judgment, lost } = moment;
  const { position } = node.parent ?? node;
  const player = position.turn === terms.side ? "your" : "the engine’s";
  const button = make(
    "button",
    { type: "button", "aria-pressed": false, "data-testid": "moment" },
    make("strong", {}, `${moveNumber(position)} ${node.san}`),
    make(
      "span",
      {},
      ` ${player} ${judgment}: ${lost} % of the winning chances`,
    ),
  );
  button.addEventListener("click", () => {
    for (const other of byId("moments-list").querySelectorAll("button"))
      other.setAttribute("aria-pressed", String(other === button));
    show(moment);
  });
  return make("li", {}, button);
}

/** Says which evaluations the moments are based on, and how many judgments are provisional. */
function provenance(
  { white, black }: Report,
  evaluations: readonly (KnownEval | null)[],
): string {
  const count = (origin: string) =>
    evaluations.filter(
      (known) => known && (known.from ?? "database") === origin,
    ).length;
  const [database, engine] = [count("database"), count("engine")];
  const parts = [
    ...(database > 0 ? [`${database} from the database`] : []),
    ...(engine > 0 ? [`${engine} by the engine`] : []),
  ];
  const provisional = white.provisional + black.provisional;
  const rest =
    provisional > 0
      ? ` ${plural(provisional, "judgment")} ${provisional === 1 ? "is" : "are"} provisional and not counted.`
      : "";
  return `${parts.length > 0 ? `Evaluations: ${parts.join(", ")}.` : ""}${rest}`;
}
