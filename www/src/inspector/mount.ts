/** Brings the inspector to a page after its first evaluation; what was reported before is kept for it. */
import type { FetchedRange } from "shelfish";
import type { DatabaseClient } from "../database/client";
import { whenIdle } from "../loading/idle";

/** Shows in `host` what a client's database reads. */
export function mountInspector(host: HTMLElement, client: DatabaseClient): void {
  const waiting: FetchedRange[] = [];
  client.onRequest = (request) => void waiting.push(request);
  client.onAnswer = (stats, manifest) => {
    // The latest figures are shown once it is there.
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
    // Without it the page is as good.
    whenIdle(() => void load().catch(() => {}));
  };
}
