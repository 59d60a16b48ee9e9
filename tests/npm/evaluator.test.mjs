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

test("positions that the database lacks are null without an engine, and a database that cannot be reached is an error", async (t) => {
  let opened = 0;
  const engine = () => (opened++, openEngine());
  const down = new ShelfishError({ code: "network", message: "no connection" });
  const broken = { lookup: () => Promise.reject(down) };
  /** Asks an evaluator. @param {import("shelfish/engine").EvaluatorOptions} options */
  const asked = (options, fen = LOST) => {
    const judge = openEvaluator(options);
    t.after(() => judge.close());
    return judge.evaluate(fen, { depth: 3 });
  };
  const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
  assert.equal((await asked({ database, engine }, start))?.from, "database");
  assert.equal(opened, 0, "the engine is not opened without a gap");
  assert.equal(await asked({ database }), null);
  assert.equal((await asked({ database, engine }))?.from, "engine");
  await assert.rejects(asked({ database: broken }), down);
  assert.equal(
    (await asked({ database: broken, engine }))?.databaseError,
    down,
  );
  await assert.rejects(asked({ database, engine }, "nonsense"), {
    code: "fen",
  });
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
    const answer = {
      from: "database",
      fen: MIDDLE,
      ...best,
      evaluations: [best],
    };
    return { lookup: async () => answer };
  };
  const origin = async (
    /** @type {import("shelfish/engine").EvaluatorOptions} */ options,
  ) => {
    const judge = openEvaluator(options);
    t.after(() => judge.close());
    return (await judge.evaluate(MIDDLE, { nodes: 20_000 }))?.from;
  };
  const engine = () => openEngine();
  assert.equal(await origin({ database: hint(3), engine }), "engine");
  assert.equal(await origin({ database: hint(90), engine }), "database");
  assert.equal(await origin({ database: hint(3) }), "database");
});

test("so many variations as requested are the answer, of the database or of the engine", async (t) => {
  const pv = { cp: 7, score: "+0.07", uci: ["e1g1"] };
  const [deep, wide] = [
    { depth: 40, knodes: 9000, pvs: [pv] },
    { depth: 30, knodes: 5000, pvs: [pv, pv] },
  ];
  const answer = {
    from: "database",
    fen: MIDDLE,
    ...deep,
    evaluations: [deep, wide],
  };
  const lookup = async () => /** @type {any} */ (answer);
  const [without, withEngine] = [false, true].map((engine) =>
    openEvaluator({ database: { lookup }, engine }),
  );
  t.after(() => [without, withEngine].forEach((open) => open?.close()));
  const found = async (
    /** @type {typeof without} */ open,
    /** @type {number} */ multiPv,
  ) => {
    const { from, depth, pvs } =
      (await open?.evaluate(MIDDLE, { multiPv, depth: 3 })) ?? {};
    return `${from} ${depth} ${pvs?.length}`;
  };
  for (const open of [without, withEngine]) {
    assert.equal(await found(open, 1), "database 40 1");
    assert.equal(await found(open, 2), "database 30 2");
  }
  assert.equal(await found(without, 3), "database 30 2");
  assert.equal(await found(withEngine, 3), "engine 3 3");
});
