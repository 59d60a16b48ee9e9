// `shelfish/uci` with public packages that drive `stockfish.js`. Only the URL of their Worker changes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Chess } from "chessops/chess";
import { makeFen, parseFen } from "chessops/fen";
import { parseUci } from "chessops/util";
import { lab } from "./support/lab.mjs";
import { ROOT } from "./support/paths.mjs";

const MODULES = join(ROOT, "tests/node_modules");
const RUNNER = join(MODULES, "cm-engine-runner");
const OURS = "/pkg/uci.js?database=/db/manifest.json";
const STOCKFISH = "/stockfish-v10-niklasf.js";
const BIN = join(ROOT, "tests/deep/node_modules/stockfish/bin");
const skip =
  !existsSync(BIN) &&
  "the package `stockfish` is not installed: cargo xtask test --all";

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => {
  shelf = await lab({ own: true });
  cpSync(join(RUNNER, "src"), join(shelf.root, "runner"), { recursive: true });
  cpSync(
    join(RUNNER, "engines/stockfish-v10-niklasf.js"),
    join(shelf.root, STOCKFISH),
  );
  if (!skip)
    for (const ending of ["js", "wasm"])
      cpSync(
        join(BIN, `stockfish-19-lite-single.${ending}`),
        join(shelf.root, `stockfish/stockfish-19-lite-single.${ending}`),
      );
  const script = join(shelf.root, "analysis.js");
  writeFileSync(
    script,
    'export { StockfishEngine } from "@react-chess-tools/react-chess-stockfish";',
  );
  const options = [
    "--bundle",
    "--format=esm",
    "--log-level=error",
    '--define:process.env.NODE_ENV="production"',
    "--outfile=" + join(shelf.root, "react-chess-stockfish.js"),
  ];
  execFileSync(
    join(ROOT, "crate/js/node_modules/.bin/esbuild"),
    [script, ...options],
    { env: { ...process.env, NODE_PATH: MODULES } },
  );
});
after(() => shelf.close());

test("cm-engine-runner plays a game with the adapter against Stockfish", async (t) => {
  const page = await shelf.page(t);
  await page.evaluate(
    async (urls) => {
      const entry = "/runner/cm-engine-runner/StockfishRunner.js";
      const { StockfishRunner } = await import(entry);
      const players = urls.map(
        (workerUrl) => new StockfishRunner({ workerUrl, responseDelay: 0 }),
      );
      await Promise.all(players.map((player) => player.initialization));
      Object.assign(globalThis, { players });
    },
    [OURS, STOCKFISH],
  );
  const position = Chess.default();
  for (let ply = 0; ply < 16 && !position.isEnd(); ply++) {
    const fen = makeFen(position.toSetup());
    const found = await page.evaluate(
      ([fen, player]) =>
        /** @type {any} */ (globalThis).players[player].calculateMove(fen, {
          level: 4,
        }),
      /** @type {const} */ ([fen, ply % 2]),
    );
    const move = parseUci(`${found.from}${found.to}${found.promotion ?? ""}`);
    assert.ok(
      move && position.isLegal(move),
      `${fen}: ${JSON.stringify(found)}`,
    );
    assert.match(String(found.score), /^(-?\d+\.\d|#\d+)$/);
    position.play(move);
  }
});

const FENS = [
  "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
  "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
  "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1",
];

/** Analyses positions by react-chess-stockfish with the Worker of a URL. Returns the last state for each position. */
async function analyse(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {string} */ workerPath,
) {
  const page = await shelf.page(t);
  return page.evaluate(async ([workerPath, fens]) => {
    const entry = "/react-chess-stockfish.js";
    const { StockfishEngine } = await import(entry);
    const engine = new StockfishEngine({ workerPath });
    await engine.init();
    const states = [];
    for (const fen of fens) {
      const ended = new Promise((resolve) => {
        const end = engine.subscribe(() => {
          const { status, hasResults } = engine.getSnapshot();
          if (status === "ready" && hasResults) resolve(end());
        });
      });
      engine.startAnalysis(fen, { depth: 8, multiPV: 1 });
      await ended;
      const { depth, evaluation, bestLine, principalVariations, error } =
        engine.getSnapshot();
      states.push({
        depth,
        evaluation,
        moves: bestLine?.moves.map((/** @type {any} */ move) => move.uci),
        lines: principalVariations.length,
        error,
      });
    }
    engine.destroy();
    return states;
  }, /** @type {const} */ ([workerPath, FENS]));
}

test("react-chess-stockfish analyses positions with the adapter", async (t) => {
  const states = await analyse(t, OURS);
  for (const [n, fen] of FENS.entries()) {
    const state = states[n];
    assert.deepEqual([state?.error, state?.lines], [null, 1], fen);
    const position = Chess.fromSetup(parseFen(fen).unwrap()).unwrap();
    const move = parseUci(String(state?.moves[0]));
    assert.ok(move && position.isLegal(move), String(state?.moves));
  }
  assert.deepEqual(states[2]?.evaluation, { type: "mate", value: 1 });
});

test(
  "its states have the form of states with Stockfish",
  { skip },
  async (t) => {
    const form = (/** @type {any} */ { evaluation, lines, error }) => ({
      type: evaluation.type,
      lines,
      error,
    });
    const stockfish = "/stockfish/stockfish-19-lite-single.js";
    assert.deepEqual(
      (await analyse(t, OURS)).map(form),
      (await analyse(t, stockfish)).map(form),
    );
  },
);
