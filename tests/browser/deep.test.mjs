// The evaluator with Stockfish: runs only if the package `stockfish` is installed (`cargo xtask test --all`).
import assert from "node:assert/strict";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { START, lab } from "./support/lab.mjs";
import { ROOT } from "./support/paths.mjs";

const BIN = join(ROOT, "tests/deep/node_modules/stockfish/bin");
const skip =
  !existsSync(BIN) &&
  "the package `stockfish` is not installed: cargo xtask test --all";

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => {
  shelf = await lab({ own: true });
  if (skip) return;
  for (const ending of ["js", "wasm"])
    cpSync(
      join(BIN, `stockfish-19-lite-single.${ending}`),
      join(shelf.root, `stockfish/stockfish-19-lite-single.${ending}`),
    );
});
after(() => shelf.close());

/** @typedef {typeof import("shelfish/evaluator")} Entry */

test(
  "Stockfish is used only on request, and its answers contain the name Stockfish",
  { skip },
  async (t) => {
    const page = await shelf.page(t);
    const told = await page.evaluate(async (known) => {
      const entry = "/pkg/evaluator.js";
      /** @type {Entry} */
      const { openEvaluator } = await import(entry);
      const database = await shelfish.openDatabase("db/manifest.json");
      let made = 0;
      const judge = openEvaluator({
        database,
        stockfish: () => (
          made++,
          new Worker("/stockfish/stockfish-19-lite-single.js")
        ),
      });
      const lost = "4k3/8/8/8/8/8/qq6/6K1 b - - 0 1";
      const unknown = await judge.evaluate(lost);
      const first = await judge.evaluate(known, { stockfish: true });
      const before = made;
      /** @type {number[]} */
      const depths = [];
      const [deep, two] = await Promise.all([
        judge.evaluate(lost, {
          stockfish: true,
          depth: 12,
          onInfo: ({ depth }) => void depths.push(depth),
        }),
        judge.evaluate("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1", {
          stockfish: true,
          nodes: 20_000,
          multiPv: 2,
          castling: "chess960",
        }),
      ]);
      const abort = new AbortController();
      const endless = judge.evaluate(
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        {
          stockfish: true,
          depth: 100,
          signal: abort.signal,
          onInfo: () => abort.abort(),
        },
      );
      const code = await endless.catch((error) => error.code);
      const wrong = await judge
        .evaluate("9/8/8/8/8/8/8/8 w - -", { stockfish: true })
        .catch((error) => error.code);
      judge.close();
      database.close();
      return { unknown, first, before, made, deep, two, depths, code, wrong };
    }, START);
    assert.deepEqual(
      [told.unknown, told.first?.from, told.before, told.made],
      [null, "database", 0, 1],
    );
    assert.equal(told.deep?.from, "stockfish");
    assert.ok(
      Number(told.deep?.pvs[0].mate) < 0 &&
        told.deep?.pvs[0].score.startsWith("#-"),
      JSON.stringify(told.deep),
    );
    assert.ok(told.depths.length > 3);
    assert.equal(told.two?.pvs.length, 2);
    assert.deepEqual([told.code, told.wrong], ["aborted", "fen"]);
  },
);

test("a missing script is an error of the engine", { skip }, async (t) => {
  const page = await shelf.page(t, { allow: /404|Failed to load/ });
  const code = await page.evaluate(async () => {
    const [engine, evaluator] = ["/pkg/engine.js", "/pkg/evaluator.js"];
    /** @type {typeof import("shelfish/engine")} */
    const { openEngine } = await import(engine);
    /** @type {Entry} */
    const { openEvaluator } = await import(evaluator);
    const judge = openEvaluator({
      engine: () => openEngine(),
      stockfish: () => new Worker("/nowhere.js"),
    });
    const code = await judge
      .evaluate("4k3/8/8/8/8/8/qq6/6K1 b - - 0 1", { stockfish: true })
      .catch((error) => error.code);
    judge.close();
    return code;
  });
  assert.equal(code, "engine");
});
