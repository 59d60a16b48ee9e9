/** The inspector of the board: a line with totals, and the panel that the line opens. */
import type { FetchedRange } from "shelfish";
import type { DatabaseClient } from "../database/client";
import { whenIdle } from "../loading/loading";
import { byId } from "../shell/dom";
import { plural, size } from "../text/words";
import type { Inspector } from "./inspector";

/** Shows the reads of a client's database in `host`. The panel loads after the first evaluation; earlier reads wait for it. */
export function mountInspector(
  host: HTMLElement,
  client: DatabaseClient,
): void {
  const [line, totals] = [byId("inspect"), byId("inspect-totals")];
  const reveal = () => host.hidden || host.scrollIntoView({ block: "nearest" });
  line.addEventListener("click", () => {
    host.hidden = !host.hidden;
    line.setAttribute("aria-expanded", String(!host.hidden));
    reveal();
  });
  let waiting: FetchedRange[] = [];
  let inspector: Inspector | undefined;
  client.onRequest = (request) =>
    inspector ? inspector.request(request) : void waiting.push(request);
  client.onAnswer = (stats, manifest) => {
    const text = `${size(stats.bytes)}, ${plural(stats.requests, "request")}, no server`;
    if (totals.textContent !== text) totals.textContent = text;
    inspector?.count(stats);
    whenIdle(async () => {
      if (inspector) return;
      // The page works without the panel.
      const loaded = await import("./inspector").catch(() => undefined);
      if (!loaded || inspector) return;
      inspector = new loaded.Inspector(host);
      inspector.open(manifest);
      waiting.forEach((request) => inspector?.request(request));
      waiting = [];
      inspector.count(stats);
      // The panel was empty if the line was pressed before.
      reveal();
    });
  };
}
