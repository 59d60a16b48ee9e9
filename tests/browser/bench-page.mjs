// Measures how long a visitor with an empty cache waits for the first evaluation, and for the graph of a linked game.
// `cargo xtask bench-page` calls it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeUci } from "chessops/util";
import { parsePgn, startingPosition } from "chessops/pgn";
import { parseSan } from "chessops/san";
import * as bench from "./support/bench.mjs";
import { launch } from "./support/chromium.mjs";
import { split } from "./support/games.mjs";
import { SITE } from "./support/paths.mjs";

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

const browser = await launch();

/** @typedef {{ ms: number, bytes: number, requests: number }} Visit */

/**
 * Visits a page with an empty browser profile.
 * @param {string} url
 * @param {"evaluation" | "graph"} what
 * @returns {Promise<Visit>}
 */
async function visit(url, what) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await /** @type {any} */ (session).send("Network.setAcceptedEncodings", {
    encodings: ["br"],
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

/**
 * Visits pages of a site one after the other.
 * @param {string} site
 * @param {string[]} links
 * @param {"evaluation" | "graph"} what
 */
async function row(site, links, what, name = "") {
  const server = await bench.slow(site);
  /** @type {Visit[]} */
  const visits = [];
  for (const link of links) visits.push(await visit(server.url + link, what));
  await server.close();
  const figure = (/** @type {keyof Visit} */ key, share = 0.5) =>
    bench.quantile(
      visits.map((visit) => visit[key]),
      share,
    );
  return [
    name,
    ...[0.5, 0, 0.95].map((share) => figure("ms", share).toFixed(0)),
    (figure("bytes") / 1000).toFixed(1),
    figure("requests"),
  ];
}

const db = String(bench.db);
const { positions } = JSON.parse(
  readFileSync(join(db, "manifest.json"), "utf8"),
);
const large = bench.copied({ "": SITE, db });
const rows = [
  await row(
    SITE,
    Array(bench.count).fill(""),
    "evaluation",
    "first evaluation, br",
  ),
  await row(
    large,
    await links(String(bench.games), bench.count),
    "graph",
    `graph of a game of 80 plies, br, ${positions.toLocaleString("en")} positions`,
  ),
];
console.log(
  `\n${bench.network}, ${bench.count} visits each, nothing cached; Chromium ${browser.version()}\n`,
);
console.log(
  bench.table(["", "median ms", "least", "p95", "kB", "requests"], rows),
);
await browser.close();
