// Measures how long a visitor with an empty cache waits for the first evaluation, and for the graph of a linked game.
// `cargo xtask bench-page` calls it.
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { makeUci } from "chessops/util";
import { parsePgn, startingPosition } from "chessops/pgn";
import { parseSan } from "chessops/san";
import { chromium } from "playwright-core";
import { split } from "./support/games.mjs";
import { FLAGS } from "./support/lab.mjs";
import { CHROMIUM, SITE } from "./support/paths.mjs";
import { serve } from "./support/serve.mjs";

const { values: options } = parseArgs({
  options: {
    db: { type: "string" },
    games: { type: "string" },
    count: { type: "string", default: "15" },
    latency: { type: "string", default: "50" },
    mbit: { type: "string", default: "20" },
  },
});
const rounds = Number(options.count);
const network = [
  "--latency-ms",
  String(options.latency),
  "--bandwidth-mbit",
  String(options.mbit),
];

/** Links to real games, cut after 80 plies. */
async function links(/** @type {string} */ path, /** @type {number} */ count) {
  const links = [];
  for await (const part of split(path, "\n[Event ")) {
    const [game] = parsePgn(`[Event ${part}`);
    if (!game) continue;
    const position = startingPosition(game.headers).unwrap();
    /** @type {string[]} */
    const moves = [];
    for (const { san } of game.moves.mainline()) {
      if (moves.length === 80) break;
      const move = parseSan(position, san);
      if (!move) break;
      moves.push(makeUci(move));
      position.play(move);
    }
    if (moves.length === 80) links.push(`#moves=${moves.join(",")}`);
    if (links.length === count) break;
  }
  return links;
}

/** Records the time of the first frame that shows the expected content. */
function watch(/** @type {string} */ what) {
  const found = {
    evaluation: () =>
      /^Depth \d/.test(
        document.querySelector("[data-testid=facts]")?.textContent ?? "",
      ),
    graph: () =>
      [...document.querySelectorAll("[data-testid=graph] path")].some(
        (path) => (path.getAttribute("d") ?? "").length > 10,
      ),
  }[what];
  new MutationObserver((_, observer) => {
    if (!found?.()) return;
    observer.disconnect();
    requestAnimationFrame(() =>
      Object.assign(globalThis, { took: performance.now() }),
    );
  }).observe(document, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
  });
}

const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: FLAGS,
});

/** @typedef {{ ms: number, bytes: number, requests: number }} Visit */

/**
 * Visits a page with an empty browser profile.
 * @param {string} url
 * @param {"evaluation" | "graph"} what
 * @param {string} coding
 * @returns {Promise<Visit>}
 */
async function visit(url, what, coding) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await /** @type {any} */ (session).send("Network.setAcceptedEncodings", {
    encodings: [coding],
  });
  let [bytes, requests] = [0, 0];
  session.on(
    "Network.loadingFinished",
    ({ encodedDataLength }) => void ((bytes += encodedDataLength), requests++),
  );
  await page.addInitScript(watch, what);
  await page.goto(url, { waitUntil: "commit" });
  const took = await page.waitForFunction(
    () => /** @type {any} */ (globalThis).took,
    null,
    { polling: "raf" },
  );
  const ms = /** @type {number} */ (await took.jsonValue());
  const cost = { ms, bytes, requests };
  await context.close();
  return cost;
}

const at = (
  /** @type {Visit[]} */ visits,
  /** @type {keyof Visit} */ key,
  /** @type {number} */ share,
) =>
  visits.map((visit) => visit[key]).sort((a, b) => a - b)[
    Math.min(visits.length - 1, Math.floor(visits.length * share))
  ] ?? NaN;

/** @type {[name: string, visits: Visit[]][]} */
const table = [];
const sample = await serve(SITE, ...network);
for (const coding of ["br", "gzip"]) {
  const visits = [];
  for (let round = 0; round < rounds; round++)
    visits.push(await visit(sample.url, "evaluation", coding));
  table.push([`first evaluation, ${coding}`, visits]);
}
await sample.close();

if (options.db && options.games) {
  const root = mkdtempSync(join(tmpdir(), "shelfish-page-"));
  cpSync(SITE, root, {
    recursive: true,
    filter: (path) => path !== join(SITE, "db"),
  });
  cpSync(resolve(options.db), join(root, "db"), { recursive: true });
  const { positions } = JSON.parse(
    readFileSync(join(root, "db", "manifest.json"), "utf8"),
  );
  const large = await serve(root, ...network);
  const visits = [];
  for (const link of await links(resolve(options.games), rounds))
    visits.push(await visit(large.url + link, "graph", "br"));
  table.push([
    `graph of a game of 80 plies, br, ${positions?.toLocaleString("en")} positions`,
    visits,
  ]);
  await large.close();
  rmSync(root, { recursive: true });
}
console.log(
  `\n${options.latency} ms a request, ${options.mbit} Mbit/s, ${rounds} visits each, nothing cached; Chromium ${browser.version()}\n`,
);
console.log(
  "| | median ms | least | p95 | kB | requests |\n|---|---:|---:|---:|---:|---:|",
);
for (const [name, visits] of table) {
  const times = [0.5, 0, 0.95].map((share) =>
    at(visits, "ms", share).toFixed(0),
  );
  console.log(
    `| ${[name, ...times, (at(visits, "bytes", 0.5) / 1000).toFixed(1), at(visits, "requests", 0.5)].join(" | ")} |`,
  );
}
await browser.close();
