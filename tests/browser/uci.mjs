// Runs the engine of the npm package in a Worker of a headless Chromium as a UCI engine on standard input and output. Supports the
// part of the protocol that `arena` uses. `cargo xtask elo --chromium` plays with it.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { BLANK } from "./support/fixtures.mjs";
import { FLAGS } from "./support/lab.mjs";
import { CHROMIUM, PACKAGE } from "./support/paths.mjs";
import { serve } from "./support/serve.mjs";

/** @typedef {typeof import("shelfish/engine")} Entry */
/** @typedef {import("shelfish/engine").Engine} Engine */

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

const root = mkdtempSync(join(tmpdir(), "shelfish-uci-"));
writeFileSync(join(root, "index.html"), BLANK);
cpSync(PACKAGE, join(root, "pkg"), { recursive: true, dereference: true });
const server = await serve(root);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
const page = await browser.newPage();
await page.goto(server.url);
const engine = await page.evaluateHandle(async () => {
  const entry = "/pkg/engine.js";
  /** @type {Entry} */
  const { openEngine } = await import(entry);
  return openEngine();
});

/** The position of the last command `position`, and the moves after it. */
let fen = START;
/** @type {string[]} */
let moves = [];

/** @param {string[]} words after `go` */
async function go(words) {
  const limits = Object.fromEntries(words.flatMap((word, n) => (n % 2 === 0 ? [[word, Number(words[n + 1])]] : [])));
  const unknown = Object.keys(limits).find((name) => !["movetime", "nodes", "depth"].includes(name));
  if (unknown) throw new Error(`go ${unknown}: expected movetime, nodes or depth`);
  const found = await page.evaluate(([engine, fen, options]) => engine.analyse(fen, options), /** @type {const} */ ([engine, fen, { moves, ...limits }]));
  const [line] = found.pvs;
  // The package's scores are from White's point of view, scores in UCI from the side to move.
  const side = found.fen.split(" ")[1] === "b" ? -1 : 1;
  const score = line?.mate === undefined ? `cp ${side * (line?.cp ?? 0)}` : `mate ${side * line.mate}`;
  console.log(`info depth ${found.depth} nodes ${found.nodes} score ${score}\nbestmove ${line?.uci[0] ?? "0000"}`);
}

try {
  for await (const text of createInterface({ input: process.stdin })) {
    const [command, ...words] = text.trim().split(/\s+/);
    if (command === "quit") break;
    if (command === "uci") console.log("id name Shelfish in Chromium\nuciok");
    if (command === "isready") console.log("readyok");
    if (command === "ucinewgame") await engine.evaluate((engine) => engine.clear());
    if (command === "position") {
      const end = words.includes("moves") ? words.indexOf("moves") : words.length;
      fen = words[0] === "fen" ? words.slice(1, end).join(" ") : START;
      moves = words.slice(end + 1);
    }
    if (command === "go") await go(words);
  }
} finally {
  await browser.close();
  await server.close();
  rmSync(root, { recursive: true, force: true });
}
