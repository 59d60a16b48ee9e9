// Measures a game that is entirely in the database, compared with its bare requests, for `cargo xtask bench-web`. Bare requests are
// the same ranges by plain `fetch`: first the manifest, then all ranges at once.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { games } from "../browser/support/games.mjs";
import { DUMPS, PACKAGE, ROOT, SHELFISH } from "../browser/support/paths.mjs";
import { serve } from "../browser/support/serve.mjs";

/** @type {typeof import("shelfish")} */
const { openDatabase } = await import(
  pathToFileURL(join(PACKAGE, "index.js")).href
);
const root = mkdtempSync(join(tmpdir(), "shelfish-game-cost-"));
execFileSync(SHELFISH, ["build", ...DUMPS, "-o", join(root, "db"), "--quiet"], {
  stdio: "ignore",
});
const host = await serve(
  join(root, "db"),
  "--latency-ms",
  "50",
  "--bandwidth-mbit",
  "20",
);

/** Returns the milliseconds that some work takes. */
async function time(/** @type {() => Promise<unknown>} */ work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const get = (/** @type {string} */ url, headers = {}) =>
  fetch(url, { headers }).then((answer) => answer.arrayBuffer());

let [reader, bare, requests, runs, found, positions] = [0, 0, 0, 0, 0, 0];
for (const fens of await games(join(ROOT, "static-shards/famous.pgn"), 22, 1)) {
  for (let run = 0; run < 3; run += 1) {
    /** @type {import("shelfish").FetchedRange[]} */
    const ranges = [];
    const milliseconds = await time(async () => {
      const database = await openDatabase(host.url, {
        onRequest: (request) => void ranges.push(request),
      });
      const answers = await database.lookupMany(fens);
      found += answers.filter((answer) => answer && "best" in answer).length;
      positions += fens.length;
      database.close();
    });
    const others = ranges.slice(1).map(
      ({ url, start, end }) =>
        () =>
          get(url, { range: `bytes=${start}-${end - 1}` }),
    );
    const least = await time(async () => {
      await get(`${host.url}manifest.json`);
      await Promise.all(others.map((request) => request()));
    });
    // The first run opens connections.
    if (run === 0) continue;
    [reader, bare, requests, runs] = [
      reader + milliseconds,
      bare + least,
      requests + ranges.length,
      runs + 1,
    ];
  }
}
await host.close();
rmSync(root, { recursive: true });
const mean = (/** @type {number} */ sum) => (sum / runs).toFixed(0);
console.log(
  `A game of which ${((100 * found) / positions).toFixed(0)} % of the positions are in the database (50 ms a request, 20 Mbit/s, Node): ` +
    `${mean(reader)} ms, its ${(requests / runs).toFixed(1)} bare requests ${mean(bare)} ms: ${(reader / bare).toFixed(2)} times.`,
);
