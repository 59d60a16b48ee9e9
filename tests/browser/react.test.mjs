// `shelfish/react`: hooks in a real React, in StrictMode.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as shelf from "./support/shelf.mjs";
import { PACKAGE, ROOT } from "./support/paths.mjs";

/** Records every state that a component sees. */
const APP = `
import { createElement, StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { useEvaluation, useGame } from "shelfish/react";

globalThis.seen = [];
function Evaluation({ fen, options }) {
  const state = useEvaluation(fen, options);
  seen.push({ fen, ...state, error: state.error?.code });
  return createElement("output", null, JSON.stringify(state.value?.pvs[0].score ?? state.error?.code ?? null));
}
function Game({ pgn, options }) {
  const state = useGame(pgn, options);
  seen.push({ pgn, ...state, error: state.error?.code });
  return createElement("output", null, String(state.value?.report?.known));
}
const kinds = { Evaluation, Game };
let root;
globalThis.show = (parts) => {
  root ??= createRoot(document.querySelector("#root"));
  root.render(createElement(StrictMode, null, parts.map(([kind, props], key) => createElement(kinds[kind], { ...props, key }))));
};
globalThis.isReady = true;
`;

// The bundle is next to the files of the package, which the hooks load by relative URLs.
const esbuild = join(ROOT, "crate/js/node_modules/.bin/esbuild");
const script = join(shelf.root, "app.js");
writeFileSync(script, APP.replace("shelfish/react", join(PACKAGE, "react.js")));
const parts = ["index", "engine", "endgames", "evaluator", "analysis"].map(
  (part) => `--external:./${part}.js`,
);
const modules = join(ROOT, "tests/node_modules");
const options = [
  "--bundle",
  "--format=esm",
  "--log-level=error",
  '--define:process.env.NODE_ENV="development"',
  `--outfile=${join(shelf.root, "pkg/app.js")}`,
];
execFileSync(esbuild, [script, ...options, ...parts], {
  env: { ...process.env, NODE_PATH: modules },
});
writeFileSync(
  join(shelf.root, "react.html"),
  '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>React</title><div id="root"></div><script type="module" src="/pkg/app.js"></script>',
);

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const AFTER = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
const UNKNOWN = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";
const DATABASE = { database: "/db/manifest.json" };

/** @typedef {{ fen?: string, pgn?: string, value: any, isLoading: boolean, error?: string }} Seen */

/** Opens the page. Returns a function that shows components, waits until the last component has its answer, and returns all states. */
async function app(/** @type {import("node:test").TestContext} */ t) {
  const page = await shelf.page(t, {
    path: "react.html",
    allow: /React DevTools/,
  });
  await page.waitForFunction(() => /** @type {any} */ (globalThis).isReady);
  await shelf.server.requests();
  /** @param {unknown[]} parts */
  const show = async (parts) => {
    await page.evaluate(
      (parts) => void (/** @type {any} */ (globalThis).show(parts)),
      parts,
    );
    await page.waitForFunction((parts) => {
      const { seen } = /** @type {any} */ (globalThis);
      const key = JSON.stringify(
        /** @type {any} */ (parts.at(-1))[1].fen ??
          /** @type {any} */ (parts.at(-1))[1].pgn,
      );
      const last = seen.findLast(
        (/** @type {any} */ state) =>
          JSON.stringify(state.fen ?? state.pgn) === key,
      );
      return last && !last.isLoading;
    }, parts);
    return /** @type {Promise<Seen[]>} */ (
      page.evaluate(() => /** @type {any} */ (globalThis).seen)
    );
  };
  return { page, show };
}

test("a position is looked up once in StrictMode, and components share a database", async (t) => {
  const { page, show } = await app(t);
  const part = ["Evaluation", { fen: START, options: DATABASE }];
  const seen = await show([part, part]);
  assert.equal(seen.at(-1)?.value.from, "database");
  assert.match(
    await page.locator("output").first().innerText(),
    /^"[+-]\d\.\d\d"$/,
  );
  const paths = (await shelf.server.requests()).filter(({ path }) =>
    path.startsWith("/db/"),
  );
  assert.equal(
    paths.filter(({ path }) => path.endsWith("manifest.json")).length,
    1,
  );
  assert.equal(paths.filter(({ range }) => range).length, 1);
});

test("the engine searches a gap and reports its iterations, and a game that is over is an error", async (t) => {
  const { page, show } = await app(t);
  const seen = await show([
    [
      "Evaluation",
      { fen: UNKNOWN, options: { ...DATABASE, engine: true, depth: 8 } },
    ],
  ]);
  assert.deepEqual(
    [seen.at(-1)?.value.from, seen.at(-1)?.value.depth],
    ["engine", 8],
  );
  // A search that ends only when the position changes.
  await page.evaluate(
    (fen) =>
      /** @type {any} */ (globalThis).show([
        ["Evaluation", { fen, options: { engine: true, movetime: 1e9 } }],
      ]),
    AFTER,
  );
  await page.waitForFunction(
    (fen) =>
      /** @type {any} */ (globalThis).seen.some(
        (/** @type {any} */ state) =>
          state.fen === fen &&
          state.value?.from === "engine" &&
          state.isLoading,
      ),
    AFTER,
  );
  const over = await show([
    [
      "Evaluation",
      { fen: "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", options: DATABASE },
    ],
  ]);
  assert.equal(over.at(-1)?.error, "over");
});

test("a game has its positions at once, then its report", async (t) => {
  const { page, show } = await app(t);
  // The database answers after the page has shown the positions.
  let answer = () => {};
  const shown = new Promise((resolve) => (answer = () => resolve(undefined)));
  await page.route("**/famous/**", async (route) => {
    await shown;
    await route.continue();
  });
  const pgn = readFileSync(
    join(ROOT, "static-shards/famous.pgn"),
    "utf8",
  ).split(/\n\n(?=\[Event)/)[0];
  const showing = show([
    ["Game", { pgn, options: { database: "/famous/manifest.json" } }],
  ]);
  await page.waitForFunction(() => {
    const { value, isLoading } =
      /** @type {any} */ (globalThis).seen.at(-1) ?? {};
    return isLoading && value?.game.positions.length > 20 && !value.report;
  });
  answer();
  const seen = await showing;
  const { value, isLoading } = /** @type {Seen} */ (seen.at(-1));
  assert.ok(
    !isLoading && value.report.known > 20 && value.pgn.includes("%eval"),
  );
  const wrong = await show([["Game", { pgn: "1. e5", options: DATABASE }]]);
  assert.equal(wrong.at(-1)?.error, "pgn");
});
