/** Loads the inspector after the first evaluation. Earlier reads are recorded until then. */
import type { FetchedRange } from "shelfish";
import type { DatabaseClient } from "../database/client";
import { whenIdle } from "../loading/idle";

/** Shows the reads of a client's database in `host`. */
export function mountInspector(host: HTMLElement, client: DatabaseClient): void {
  const waiting: FetchedRange[] = [];
  client.onRequest = (request) => void waiting.push(request);
  client.onAnswer = (stats, manifest) => {
    // The inspector starts with the newest counters.
    client.onAnswer = (later) => void (stats = later);
    const load = async () => {
      const { Inspector } = await import("./inspector");
      const inspector = new Inspector(host);
      inspector.open(manifest);
      waiting.forEach((request) => inspector.request(request));
      client.onRequest = (request) => inspector.request(request);
      client.onAnswer = (stats) => inspector.count(stats);
      inspector.count(stats);
    };
    // The page works without the inspector.
    whenIdle(() => void load().catch(() => {}));
  };
}
