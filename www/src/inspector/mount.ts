/** The inspector of the board: a line with totals, and the panel that the line opens. */
import type { FetchedRange, Stats } from "shelfish";
import type { DatabaseClient } from "../database/client";
import { whenIdle } from "../loading/idle";
import { byId } from "../shell/dom";
import { plural, size } from "../text/units";

/** Binds the line, which shows and hides the panel. Returns the function that shows totals in the line. */
function bindLine(host: HTMLElement): (stats: Stats) => void {
  const [line, totals] = [byId("inspect"), byId("inspect-totals")];
  line.addEventListener("click", () => {
    host.hidden = !host.hidden;
    line.setAttribute("aria-expanded", String(!host.hidden));
    reveal(host);
  });
  return ({ bytes, requests }) => {
    const text = `${size(bytes)}, ${plural(requests, "request")}, no server`;
    if (totals.textContent !== text) totals.textContent = text;
  };
}

/** Scrolls to the panel if it is shown. */
function reveal(host: HTMLElement): void {
  if (!host.hidden) host.scrollIntoView({ block: "nearest" });
}

/**
 * Shows the reads of a client's database in `host`, and their totals in a line above it. The panel loads after the first evaluation; earlier reads are
 * recorded until then.
 */
export function mountInspector(
  host: HTMLElement,
  client: DatabaseClient,
): void {
  const waiting: FetchedRange[] = [];
  const count = bindLine(host);
  client.onRequest = (request) => void waiting.push(request);
  client.onAnswer = (stats, manifest) => {
    // The inspector starts with the newest counters.
    client.onAnswer = (later) => count((stats = later));
    count(stats);
    const load = async () => {
      const { Inspector } = await import("./inspector");
      const inspector = new Inspector(host);
      inspector.open(manifest);
      waiting.forEach((request) => inspector.request(request));
      client.onRequest = (request) => inspector.request(request);
      client.onAnswer = (stats) => {
        count(stats);
        inspector.count(stats);
      };
      inspector.count(stats);
      // The panel was empty if the line was pressed before.
      reveal(host);
    };
    // The page works without the inspector.
    whenIdle(() => void load().catch(() => {}));
  };
}
