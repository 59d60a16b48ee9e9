// Errors of the package are native errors: Node, browsers and loggers show their message and the stack of the caller.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect, types } from "node:util";
import { host } from "../browser/support/host.mjs";
import { PACKAGE, ROOT } from "../browser/support/paths.mjs";

const at = (/** @type {string} */ file) =>
  pathToFileURL(join(PACKAGE, file)).href;
/** @type {typeof import("shelfish")} */
const { openDatabase, ShelfishError } = await import(at("index.js"));
/** @type {typeof import("shelfish")} */
const { openBook } = await import(at("index.js"));
/** @type {typeof import("shelfish/engine")} */
const { openEngine } = await import(at("engine-inline.js"));
/** @type {typeof import("shelfish/analysis")} */
const { openAnalysis } = await import(at("analysis-inline.js"));
/** @type {typeof import("shelfish/engine")} */
const { openEvaluator } = await import(at("engine-inline.js"));

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
const HERE = fileURLToPath(import.meta.url);

/** @type {Awaited<ReturnType<typeof host>>} */
let shelf;
/** @type {Awaited<ReturnType<typeof host>>} */
let games;
before(async () => {
  shelf = await host(join(ROOT, "tests/data/database/db"));
  games = await host(join(ROOT, "tests/data/book/db"));
});
after(async () => {
  await shelf.close();
  await games.close();
});

/** A caller whose name is in the stack. @param {() => unknown} work */
async function theCaller(work) {
  try {
    await work();
  } catch (error) {
    return error;
  }
  return assert.fail("an answer");
}

test("an error is a native error with its fields, and its stack begins at the caller", async (t) => {
  const database = await openDatabase(shelf.url, { indexedDB: false });
  const book = await openBook(games.url, { indexedDB: false });
  const engine = await openEngine();
  const analysis = await openAnalysis();
  const evaluator = openEvaluator({ database, engine });
  t.after(() => [database, book, engine].forEach((each) => each.close()));
  /** @type {Record<string, () => unknown>} */
  const cases = {
    lookup: () => database.lookup("nonsense"),
    "lookup in a file": () => (
      (shelf.fault = ({ response }) => void response.writeHead(404).end()),
      database.lookup(START)
    ),
    lookupMany: () =>
      database.lookupMany([START], { signal: AbortSignal.abort() }),
    moves: () => book.moves("nonsense"),
    explore: () => book.explore("nonsense"),
    openDatabase: () => openDatabase("http://127.0.0.1:1/"),
    openBook: () => openBook(shelf.url),
    analyse: () => engine.analyse("nonsense", { depth: 1 }),
    evaluate: () => evaluator.evaluate("nonsense"),
    openEngine: () => openEngine({ signal: AbortSignal.abort() }),
    openEvaluator: () => openEvaluator(/** @type {any} */ ({})),
    report: () => analysis.report({ moves: ["e2e5"], evaluations: [] }),
  };
  for (const [name, work] of Object.entries(cases)) {
    const error = await theCaller(function atTheCall() {
      return work();
    });
    assert.ok(
      types.isNativeError(error) &&
        error instanceof ShelfishError &&
        error instanceof Error,
      name,
    );
    const [head, ...frames] = String(error.stack).split("\n");
    assert.equal(head, `${error.name}: ${error.message}`, name);
    const isSync = /^(openEvaluator|read|report)$/.test(name);
    // A function that is not asynchronous is itself in the stack.
    const own = frames
      .filter((frame) => !frame.includes("node:internal"))
      .findIndex((frame) => frame.includes(HERE));
    assert.ok(isSync ? own > 0 : own === 0, `${name}: ${error.stack}`);
    assert.ok(
      frames.some((frame) => frame.includes("theCaller")),
      `${name}: ${error.stack}`,
    );
    assert.ok(
      !frames.some((frame) => frame.includes("wasm")),
      `${name}: ${error.stack}`,
    );
    assert.ok(
      inspect(error).includes(error.message) &&
        inspect(error).includes(`code: '${error.code}'`),
      inspect(error),
    );
  }
  shelf.fault = undefined;
  const [answer] = await database.lookupMany(["nonsense"]);
  assert.ok(
    types.isNativeError(answer) && String(answer.stack).includes(HERE),
    String(answer),
  );
});
