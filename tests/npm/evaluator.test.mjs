// The evaluator of `shelfish/engine` in Node, and the native program as Stockfish, because it speaks UCI.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { PACKAGE, ROOT, SHELFISH } from "../browser/support/paths.mjs";

const at = (/** @type {string} */ name) =>
  pathToFileURL(join(PACKAGE, name)).href;
/** @type {typeof import("shelfish/engine")} */
const { openEngine, openEvaluator, openUciEngine, ShelfishError } =
  await import(at("engine-inline.js"));
/** @type {typeof import("shelfish")} */
const { openDatabase } = await import(at("node.js"));

const DATABASE = join(ROOT, "tests/data/database/db");
/** Black mates. */
const LOST = "4k3/8/8/8/8/8/qq6/6K1 b - -";
const MIDDLE =
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -";

/**
 * Starts native engines. `made` contains the engines and the lines that they received.
 * @param {(line: string) => void} onLine receives a line before the engine
 */
function natives(onLine = () => {}) {
  /** @type {{ received: string[], fail: () => void }[]} */
  const made = [];
  const make = () => {
    const engine = spawn(SHELFISH, ["engine"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    /** @type {string[]} */
    const received = [];
    /** @type {(event: { message: string }) => void} */
    let onError = () => {};
    engine.stdin.on("error", () => {});
    made.push({
      received,
      fail: () => (engine.kill(), onError({ message: "killed" })),
    });
    return {
      postMessage: (/** @type {unknown} */ line) => {
        received.push(String(line));
        onLine(String(line));
        engine.stdin.write(`${line}\n`);
      },
      addEventListener: (
        /** @type {string} */ type,
        /** @type {(event: any) => void} */ listener,
      ) => {
        if (type === "error") onError = listener;
        else
          createInterface({ input: engine.stdout }).on("line", (data) =>
            listener({ data }),
          );
      },
      terminate: () => engine.kill(),
    };
  };
  return { made, make };
}

/** @type {Awaited<ReturnType<typeof openDatabase>>} */
let database;
before(async () => void (database = await openDatabase(DATABASE)));
after(() => database.close());

test("an evaluator answers without its store if IndexedDB has another store of this name", async (t) => {
  const { default: factory } = await import("fake-indexeddb");
  Object.assign(globalThis, { indexedDB: factory });
  t.after(() => Reflect.deleteProperty(globalThis, "indexedDB"));
  const newer = factory.open("taken", 7);
  await new Promise((done) => (newer.onsuccess = done));
  const judge = openEvaluator({
    engine: () => openEngine(),
    indexedDB: { name: "taken" },
  });
  t.after(() => judge.close());
  assert.equal((await judge.evaluate(LOST, { depth: 3 }))?.from, "engine");
  await judge.clear();
});

test("a closed evaluator starts no engine", async () => {
  let loads = 0;
  const judge = openEvaluator({
    database,
    engine: () => (loads++, openEngine()),
  });
  const waiting = judge.evaluate(LOST);
  judge.close();
  await assert.rejects(waiting, { code: "closed" });
  assert.equal(loads, 0);
});

test("after a Worker of a UCI engine could not start, the next sequence starts a new Worker", async (t) => {
  const { make } = natives();
  let tries = 0;
  const worker = () => {
    if (tries++ === 0) throw new TypeError("no such script");
    return make();
  };
  const engine = openUciEngine({ name: "Stockfish", worker });
  t.after(() => engine.close());
  await assert.rejects(engine.analyseSequence([MIDDLE], { depth: 3 }), {
    code: "engine",
    message: "Stockfish could not be started: no such script",
  });
  assert.equal(
    (await engine.analyseSequence([MIDDLE], { depth: 3 }))[0]?.from,
    "stockfish",
  );
});

test("positions are looked up together, and the engine searches the gaps", async (t) => {
  let opened = 0;
  const judge = openEvaluator({
    database,
    engine: () => (opened++, openEngine()),
  });
  t.after(() => judge.close());
  const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
  const { lookups } = database.stats();
  assert.equal(
    (await judge.evaluateMany([start]))[0] instanceof ShelfishError,
    false,
  );
  assert.equal(opened, 0, "the engine is not opened without a gap");
  /** @type {Map<number, unknown>} */
  const heard = new Map();
  const fens = [start, LOST, "nonsense", MIDDLE, "7k/6Q1/6K1/8/8/8/8/8 b - -"];
  const answers = await judge.evaluateMany(fens, {
    depth: 4,
    onAnswer: (index, answer) => void heard.set(index, answer),
  });
  assert.equal(database.stats().lookups - lookups, 5);
  const told = answers.map((answer) =>
    answer instanceof ShelfishError
      ? answer.code
      : answer &&
        `${answer.from} ${answer.from === "engine" ? answer.depth : ""}`.trim(),
  );
  assert.deepEqual(told, ["database", "engine 4", "fen", told[3], "over"]);
  assert.deepEqual([...heard.keys()].sort(), [0, 1, 2, 3, 4]);
  answers.forEach((answer, index) => assert.equal(heard.get(index), answer));
  assert.equal(opened, 1);
  await assert.rejects(
    judge.evaluateMany(fens, { signal: AbortSignal.abort() }),
    { code: "aborted" },
  );
  await assert.rejects(judge.evaluateMany(/** @type {any} */ (7)), {
    code: "usage",
  });
  await assert.rejects(judge.evaluateMany(fens, { depth: 0 }), {
    code: "usage",
    message: /^depth: /,
  });
});

test("without an engine, gaps are null, and a database that cannot be reached is an error of each position", async (t) => {
  const judge = openEvaluator({ database });
  t.after(() => judge.close());
  assert.deepEqual(await judge.evaluateMany([LOST]), [null]);
  const down = new ShelfishError({ code: "network", message: "no connection" });
  const broken = {
    lookup: () => Promise.reject(down),
    lookupMany: async (/** @type {string[]} */ fens) => fens.map(() => down),
  };
  assert.deepEqual(
    await openEvaluator({ database: broken }).evaluateMany([LOST, MIDDLE]),
    [down, down],
  );
  const other = openEvaluator({ database: broken, engine: () => openEngine() });
  t.after(() => other.close());
  const [found] = await other.evaluateMany([LOST], { depth: 3 });
  assert.ok(
    found &&
      "pvs" in found &&
      found.from === "engine" &&
      found.databaseError === down,
  );
});

test("a known evaluation is returned if it reaches the limits, and only deeper iterations are reported", async (t) => {
  const judge = openEvaluator({ engine: () => openEngine() });
  t.after(() => judge.close());
  const known = await judge.evaluate(MIDDLE, { depth: 5 });
  assert.ok(known);
  assert.deepEqual(
    (await judge.evaluate(MIDDLE, { depth: 5, known }))?.pvs,
    known.pvs,
  );
  /** @type {number[]} */
  const depths = [];
  const deeper = await judge.evaluate(MIDDLE, {
    depth: 7,
    known,
    onInfo: ({ depth }) => void depths.push(depth),
  });
  assert.equal(deeper?.depth, 7);
  assert.ok(depths.length > 0 && Math.min(...depths) >= 5, String(depths));
});

test("a shallow answer of a database is a hint: the engine searches, and the search of more nodes counts", async (t) => {
  const hint = (/** @type {number} */ knodes) => {
    /** @type {import("shelfish").Evaluation} */
    const best = {
      depth: 9,
      knodes,
      pvs: [{ cp: 7, score: "+0.07", uci: ["e1g1"] }],
    };
    /** @type {import("shelfish").PositionEval} */
    const answer = { fen: MIDDLE, best, evaluations: [best] };
    return {
      lookup: async () => answer,
      lookupMany: async (/** @type {string[]} */ fens) =>
        fens.map(() => answer),
    };
  };
  /** Returns the origins of the answers of `evaluate` and `evaluateMany`. */
  const origins = async (
    /** @type {import("shelfish/engine").EvaluatorOptions} */ options,
    /** @type {number} */ nodes,
  ) => {
    const judge = openEvaluator(options);
    t.after(() => judge.close());
    const answers = [
      await judge.evaluate(MIDDLE, { nodes }),
      ...(await judge.evaluateMany([MIDDLE], { nodes })),
    ];
    return answers.map((answer) => answer && "pvs" in answer && answer.from);
  };
  const engine = () => openEngine();
  assert.deepEqual(await origins({ database: hint(3), engine }, 20_000), [
    "engine",
    "engine",
  ]);
  assert.deepEqual(await origins({ database: hint(90), engine }, 20_000), [
    "database",
    "database",
  ]);
  assert.deepEqual(await origins({ database: hint(3) }, 20_000), [
    "database",
    "database",
  ]);
});
