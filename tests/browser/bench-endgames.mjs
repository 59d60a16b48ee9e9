// Measures cold probes of endgame tables in Chromium: time with and without the module, requests and bytes; and the next move.
// node tests/browser/bench-endgames.mjs [POSITIONS] (after `cargo xtask site` and `cargo xtask npm`)
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { lab } from "./support/lab.mjs";
import { ROOT } from "./support/paths.mjs";
import { quantile } from "./support/quantile.mjs";

/** @typedef {typeof import("shelfish/endgames")} Entry */

const count = Number(process.argv[2] ?? 40);
const fens = readFileSync(
  join(ROOT, "tests/data/endgames/positions.txt"),
  "utf8",
)
  .trim()
  .split("\n")
  .slice(0, count);
const shelf = await lab({
  serve: ["--latency-ms", "50", "--bandwidth-mbit", "20"],
});
const rows = [];
try {
  for (const fen of fens) {
    const page = await (
      await shelf.browser.newContext({ serviceWorkers: "block" })
    ).newPage();
    await page.goto(shelf.server.url);
    const row = await page.evaluate(async (fen) => {
      const begin = performance.now();
      /** @type {Entry} */
      const { openEndgames } = await import(
        /** @type {any} */ ("/pkg/endgames.js")
      );
      const options = { indexedDB: false };
      const first = await openEndgames("/site/endgames/", options);
      const { moves } = await first.probe(fen);
      const withModule = performance.now() - begin;
      // A second reader has the module, but neither the index nor a page.
      const start = performance.now();
      const second = await openEndgames("/site/endgames/", options);
      await second.probe(fen);
      const milliseconds = performance.now() - start;
      const { requests, bytes } = second.stats();
      const next = moves[0]?.fen;
      if (next) await second.probe(next);
      return {
        withModule,
        milliseconds,
        requests,
        bytes,
        next: second.stats().requests - requests,
      };
    }, fen);
    rows.push(row);
    await page.context().close();
  }
} finally {
  await shelf.close();
}
for (const name of /** @type {const} */ ([
  "withModule",
  "milliseconds",
  "requests",
  "bytes",
  "next",
])) {
  const values = rows.map((row) => row[name]);
  console.log(
    `${name}: median ${quantile(values, 0.5).toFixed(0)}, 90 % ${quantile(values, 0.9).toFixed(0)}, most ${quantile(values, 1).toFixed(0)}`,
  );
}
console.log(
  `${rows.length} positions, 50 ms a request, 20 Mbit/s, nothing cached`,
);
