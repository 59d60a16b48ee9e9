// Measures the engine in a headless Chromium: the first line of a position that the database lacks, a whole game with two
// Workers, the speed compared with the native program, and memory. `cargo xtask bench-engine` calls it.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as bench from "./support/bench.mjs";
import { launch } from "./support/chromium.mjs";
import { serverRoot } from "./support/fixtures.mjs";
import { games } from "./support/games.mjs";
import { PACKAGE, SHELFISH } from "./support/paths.mjs";

const ABSENT = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";
const POSITIONS = [
  "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
  ABSENT,
];
const NODES = 500_000;

/** @typedef {typeof import("shelfish/engine")} Entry */

/** Returns the milliseconds in which the native program searches a number of nodes of each position. */
async function natively() {
  const engine = spawn(SHELFISH, ["engine"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: engine.stdout })[
    Symbol.asyncIterator
  ]();
  const times = [];
  for (const fen of POSITIONS) {
    engine.stdin.write(`ucinewgame\nisready\n`);
    while ((await lines.next()).value !== "readyok");
    const start = performance.now();
    engine.stdin.write(`position fen ${fen}\ngo nodes ${NODES}\n`);
    while (!String((await lines.next()).value).startsWith("bestmove"));
    times.push(performance.now() - start);
  }
  engine.stdin.end("quit\n");
  return times;
}

const server = await bench.slow(serverRoot());
const browser = await launch();
/** @type {[what: string, value: string][]} */
const table = [];

// From the position on the board to the first score of the engine. The page has not loaded any file of the engine before.
/** @type {number[]} */
const firsts = [];
for (let round = 0; round < bench.count; round++) {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  await page.goto(`${server.url}site/`);
  await page.waitForFunction(() =>
    /^Depth/.test(document.querySelector("#facts")?.textContent ?? ""),
  );
  firsts.push(
    await page.evaluate(async (fen) => {
      const start = performance.now();
      const seen = new Promise((done) => {
        const facts = /** @type {Element} */ (document.querySelector("#facts"));
        new MutationObserver(
          () =>
            /^Engine/.test(facts.textContent ?? "") &&
            requestAnimationFrame(() => done(performance.now() - start)),
        ).observe(facts, {
          childList: true,
          characterData: true,
          subtree: true,
        });
      });
      location.hash = `#fen=${fen.replaceAll(" ", "_")}`;
      return /** @type {Promise<number>} */ (seen);
    }, ABSENT),
  );
  await context.close();
}
table.push([
  "first line of a position that the database lacks, engine not loaded, ms (median, p95)",
  [0.5, 0.95]
    .map((share) => bench.quantile(firsts, share).toFixed(0))
    .join(", "),
]);

const page = await browser.newPage();
await page.goto(server.url);
const native = await natively();
const here = await page.evaluate(async ([fens, nodes]) => {
  const entry = "/pkg/engine.js";
  /** @type {Entry} */
  const { openEngine } = await import(entry);
  const engine = await openEngine();
  const times = [];
  for (const fen of fens) {
    engine.clear();
    await engine.analyse(fen, { nodes: 1 });
    engine.clear();
    times.push((await engine.analyse(fen, { nodes })).milliseconds);
  }
  engine.close();
  return times;
}, /** @type {const} */ ([POSITIONS, NODES]));
table.push([
  `${(NODES / 1000).toFixed(0)} kn of each of three positions, ms: native; WebAssembly`,
  `${bench.sum(native).toFixed(0)}; ${bench.sum(here).toFixed(0)}`,
]);
table.push([
  "speed of WebAssembly against native",
  `${((100 * bench.sum(native)) / bench.sum(here)).toFixed(0)} %`,
]);

const [game] = (await games(String(bench.games), 20, 50)).filter(
  (fens) => fens.length > 80,
);
if (game) {
  const fens = game.slice(0, 81);
  const result = await page.evaluate(async (fens) => {
    const entry = "/pkg/engine.js?game";
    /** @type {Entry} */
    const { openEngine } = await import(entry);
    const engine = await openEngine({ workers: 2 });
    const start = performance.now();
    const answers = await Promise.all(
      fens.map((fen) => engine.analyse(fen, { depth: 12 })),
    );
    const took = performance.now() - start;
    engine.close();
    return {
      took,
      shallowest: Math.min(...answers.map(({ depth }) => depth)),
    };
  }, fens);
  table.push([
    `${fens.length - 1} plies, depth ${result.shallowest}, two Workers, s`,
    (result.took / 1000).toFixed(1),
  ]);
  // Each Worker searches half of the game from its end backwards, and its positions share the table.
  const backwards = await page.evaluate(async (fens) => {
    const entry = "/pkg/engine.js?backwards";
    /** @type {Entry} */
    const { openEngine } = await import(entry);
    const engine = await openEngine({ workers: 2 });
    const start = performance.now();
    const halves = [
      fens.slice(0, fens.length / 2),
      fens.slice(fens.length / 2),
    ];
    const answers = (
      await Promise.all(
        halves.map((half) =>
          engine.analyseSequence(half.reverse(), { depth: 16 }),
        ),
      )
    ).flat();
    const took = performance.now() - start;
    engine.close();
    return { took, shallowest: Math.min(...answers.map(({ depth }) => depth)) };
  }, fens);
  table.push([
    `${fens.length - 1} plies from the end backwards, depth ${backwards.shallowest}, two Workers, s`,
    (backwards.took / 1000).toFixed(1),
  ]);
}

// Only the Worker knows the size of its module's memory. Therefore this process measures the same module.
const name = "shelfish_engine_bg.wasm";
table.push([
  `${name}, kB`,
  (readFileSync(join(PACKAGE, name)).length / 1000).toFixed(0),
]);
const workerBytes = await page.evaluate(async (fens) => {
  const entry = "/pkg/engine.js?memory";
  // Captures the memory when the module creates it.
  const script = `const make = WebAssembly.instantiate; WebAssembly.instantiate = async (...args) => { const made = await make(...args); globalThis.memory = made.exports.memory; return made; };
    const hear = new BroadcastChannel("memory"); hear.onmessage = ({ data }) => data === "?" && hear.postMessage(globalThis.memory.buffer.byteLength);
    await import(${JSON.stringify(`${location.origin}/pkg/engine-worker.js`)}); for (const data of early) globalThis.onmessage({ data });`;
  const early =
    "const early = []; globalThis.onmessage = ({ data }) => early.push(data);\n";
  const url = URL.createObjectURL(
    new Blob([early + script], { type: "text/javascript" }),
  );
  /** @type {Entry} */
  const { openEngine } = await import(entry);
  const engine = await openEngine({
    worker: () => new Worker(url, { type: "module" }),
  });
  for (let game = 0; game < 200; game++)
    await engine.analyse(String(fens[game % fens.length]), { nodes: 5_000 });
  const channel = new BroadcastChannel("memory");
  const bytes = new Promise(
    (done) => (channel.onmessage = ({ data }) => done(data)),
  );
  channel.postMessage("?");
  return /** @type {Promise<number>} */ (bytes);
}, POSITIONS);
table.push([
  "memory of a Worker's module after 200 searches, MiB",
  (workerBytes / 2 ** 20).toFixed(1),
]);

console.log(`\n${bench.network}; Chromium ${browser.version()}\n`);
console.log(bench.table(["", ""], table));
await browser.close();
await server.close();
