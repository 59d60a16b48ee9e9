// Every entry takes the same values as an origin.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { host } from "../browser/support/host.mjs";
import { PACKAGE, ROOT } from "../browser/support/paths.mjs";

const at = (/** @type {string} */ name) =>
  pathToFileURL(join(PACKAGE, name)).href;
/** @type {typeof import("shelfish")} */
const { openBook, openDatabase } = await import(at("node.js"));
/** @type {typeof import("shelfish/engine")} */
const { openEngine, openEvaluator } = await import(at("engine-inline.js"));
/** @type {typeof import("shelfish/analysis")} */
const { openAnalysis } = await import(at("analysis-inline.js"));
/** @type {typeof import("shelfish/endgames")} */
const { openEndgames } = await import(at("endgames-node.js"));
/** @type {typeof import("shelfish/lichess")} */
const { lichessFetch } = await import(at("lichess-node.js"));

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
const ENDING = "8/8/8/4k3/8/8/8/2B1KN2 w - -";
const GAME = {
  moves: [],
  positions: [START],
  evaluations: [null],
};
const EXPLORER = "https://explorer.lichess.org/masters";
const CLOUD = `https://lichess.org/api/cloud-eval?fen=${START}`;

/** The uses of each origin: each takes the value of its option. @type {Record<string, [open: (url: string) => Promise<any>, ...uses: ((given: any) => Promise<unknown>)[]]>} */
const USES = {
  database: [
    openDatabase,
    (database) => evaluated({ database }, START, "database"),
    async (database) => {
      const { evaluations, databaseError } = await (
        await openAnalysis()
      ).analyseGame(GAME, { database });
      assert.deepEqual(
        [evaluations[0]?.from, databaseError],
        ["database", undefined],
      );
    },
    async (database) => {
      const book = await openBook(sites.book?.url ?? "");
      const { moves } = await book.explore(START, { database });
      assert.ok(moves.some(({ evaluation, error }) => evaluation && !error));
      book.close();
    },
    async (database) =>
      assert.equal((await lichessFetch({ database })(CLOUD)).status, 200),
  ],
  book: [
    openBook,
    async (book) =>
      assert.equal((await lichessFetch({ book })(EXPLORER)).status, 200),
    async (masters) =>
      assert.equal((await lichessFetch({ masters })(EXPLORER)).status, 200),
  ],
  endgames: [
    openEndgames,
    (endgames) => evaluated({ endgames }, ENDING, "endgames"),
    async (endgames) => {
      const game = { ...GAME, fen: ENDING, positions: [ENDING] };
      const found = await (
        await openAnalysis()
      ).analyseGame(game, { endgames });
      assert.equal(found.evaluations[0]?.from, "endgames");
    },
  ],
};

/** @param {import("shelfish/engine").EvaluatorOptions} options */
async function evaluated(
  options,
  /** @type {string} */ fen,
  /** @type {string} */ from,
) {
  const evaluator = openEvaluator(options);
  assert.equal((await evaluator.evaluate(fen, { depth: 3 }))?.from, from);
  evaluator.close();
}

/** @type {Record<string, Awaited<ReturnType<typeof host>>>} */
const sites = {};
before(async () => {
  for (const [name, folder] of [
    ["database", "tests/data/database/db"],
    ["book", "tests/data/book/db"],
    ["endgames", "static-shards/endgames"],
  ])
    sites[String(name)] = await host(join(ROOT, String(folder)));
});
after(() => Promise.all(Object.values(sites).map((site) => site.close())));

for (const [name, [open, ...uses]] of Object.entries(USES)) {
  test(`${name}: a URL, an open object, a promise of either, or a function`, async () => {
    const url = sites[name]?.url ?? "";
    const opened = await open(url);
    for (const use of uses) {
      for (const given of [
        url,
        new URL(url),
        opened,
        Promise.resolve(opened),
        Promise.resolve(url),
        () => open(url),
      ])
        await use(given);
    }
    assert.ok(opened.stats().requests > 0, "what was passed open remains open");
    opened.close();
  });
}

test("engine: true, an engine, a promise or a function", async () => {
  const engine = await openEngine();
  for (const given of [
    true,
    engine,
    Promise.resolve(engine),
    () => openEngine(),
  ]) {
    await evaluated({ engine: given }, START, "engine");
    const { report } = await (
      await openAnalysis()
    ).analyseGame("1. f3 e5 2. g4", { engine: given, nodes: 500 });
    assert.equal(report.settled, true);
  }
  assert.ok(await engine.analyse(START, { depth: 1 }), "it remains open");
  engine.close();
});

test("another value is an error that names the option and the expected values", async () => {
  const wrong = /** @type {any} */ ({ database: 5, engine: "/stockfish.js" });
  for (const [name, expected] of [
    ["database", /^database: expected a URL, an open object .*, found 5$/],
    ["engine", /^engine: expected true, .*, found "\/stockfish\.js"$/],
  ])
    await assert.rejects(
      openEvaluator({ [String(name)]: wrong[String(name)] }).evaluate(START),
      { code: "usage", message: expected },
    );
  const failed = Promise.reject(new Error("down"));
  const evaluator = openEvaluator({ database: failed });
  await new Promise((done) => setImmediate(done)); // not an unhandled rejection
  await assert.rejects(evaluator.evaluate(START), { message: "down" });
});
