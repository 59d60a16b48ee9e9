// The evaluator of `shelfish/engine` in Node: a database, the engine, and in Stockfish's place the native program, which speaks
// UCI as well.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { host } from "../browser/support/host.mjs";
import { PACKAGE, ROOT, SHELFISH } from "../browser/support/paths.mjs";

const at = (/** @type {string} */ name) => pathToFileURL(join(PACKAGE, name)).href;
/** @type {typeof import("shelfish/engine")} */
const { openEngine } = await import(at("engine-inline.js"));
/** @type {typeof import("shelfish/evaluator")} */
const { openEvaluator } = await import(at("evaluator.js"));
/** @type {typeof import("shelfish")} */
const { openDatabase } = await import(at("node.js"));

const DATABASE = join(ROOT, "tests/data/database/db");
/** Black mates. */
const LOST = "4k3/8/8/8/8/8/qq6/6K1 b - -";
const MIDDLE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -";

/**
 * Starts native engines; `made` has them, with the lines that each was told.
 * @param {(line: string) => void} onLine hears a line before the engine does
 */
function natives(onLine = () => {}) {
  /** @type {{ told: string[], fail: () => void }[]} */
  const made = [];
  const make = () => {
    const engine = spawn(SHELFISH, ["engine"], { stdio: ["pipe", "pipe", "inherit"] });
    /** @type {string[]} */
    const told = [];
    /** @type {(event: { message: string }) => void} */
    let onError = () => {};
    engine.stdin.on("error", () => {});
    made.push({ told, fail: () => (engine.kill(), onError({ message: "killed" })) });
    return {
      postMessage: (/** @type {unknown} */ line) => {
        told.push(String(line));
        onLine(String(line));
        engine.stdin.write(`${line}\n`);
      },
      addEventListener: (/** @type {string} */ type, /** @type {(event: any) => void} */ listener) => {
        if (type === "error") onError = listener;
        else createInterface({ input: engine.stdout }).on("line", (data) => listener({ data }));
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

test("blanks around a FEN change nothing of the score", async (t) => {
  const judge = openEvaluator({ database, stockfish: natives().make });
  t.after(() => judge.close());
  for (const fen of [LOST, `  ${LOST}  0 1`, LOST.replaceAll(" ", "\t")]) {
    const found = await judge.evaluate(fen, { stockfish: true, depth: 4 });
    assert.deepEqual([found?.from, found?.fen], ["stockfish", LOST]);
    assert.ok(Number(found?.pvs[0].mate) < 0, JSON.stringify(found));
  }
});

for (const [name, loads] of /** @type {const} */ ([["with an engine", true], ["without one", false]])) {
  test(`a UCI engine hears of no right to castle without king and rook, ${name}`, async (t) => {
    const { made, make } = natives();
    const judge = openEvaluator({ database, stockfish: make, engine: loads ? () => openEngine() : null });
    t.after(() => judge.close());
    for (const [rights, kept] of [["KQkq", "Kq"], ["HAha", "Kq"], ["kq", "q"], ["-", "-"]]) {
      await judge.evaluate(`r3k3/8/8/8/8/8/8/4K2R w ${rights} - 3 9`, { stockfish: true, depth: 1 });
      const told = made[0]?.told.findLast((line) => line.startsWith("position")) ?? "";
      const heard = (told.split(" ")[4] ?? "").replace("H", "K").replace("a", "q");
      assert.equal(heard, kept, told);
    }
  });
}

test("where IndexedDB has a store of that name that is not its own, an evaluator keeps nothing and answers", async (t) => {
  const { default: factory } = await import("fake-indexeddb");
  Object.assign(globalThis, { indexedDB: factory });
  t.after(() => Reflect.deleteProperty(globalThis, "indexedDB"));
  const newer = factory.open("taken", 7);
  await new Promise((done) => (newer.onsuccess = done));
  const judge = openEvaluator({ engine: () => openEngine(), indexedDB: { name: "taken" } });
  t.after(() => judge.close());
  assert.equal((await judge.evaluate(LOST, { depth: 3 }))?.from, "engine");
  await judge.clear();
});

test("an evaluator that is closed ends all questions, those that wait, too, and starts nothing any more", async () => {
  const { made, make } = natives();
  let loads = 0;
  const judge = openEvaluator({ database, stockfish: make, engine: () => (loads++, openEngine()) });
  const asked = [MIDDLE, LOST, MIDDLE].map((fen) => judge.evaluate(fen, { stockfish: true, depth: 60, onInfo: () => judge.close() }));
  for (const asking of asked) await assert.rejects(asking, { code: "closed" });
  assert.deepEqual([made.length, loads], [1, 1]);

  const late = openEvaluator({ database, stockfish: make, engine: () => (loads++, openEngine()) });
  const waiting = [late.evaluate(LOST), late.evaluate(LOST, { stockfish: true })];
  late.close();
  for (const asking of waiting) await assert.rejects(asking, { code: "closed" });
  assert.deepEqual([made.length, loads], [1, 1]);
});

test("a question that waits is aborted at once", async (t) => {
  const judge = openEvaluator({ database, stockfish: natives().make });
  t.after(() => judge.close());
  const [first, second] = [new AbortController(), new AbortController()];
  /** @type {string[]} */
  const ended = [];
  const asked = judge.evaluate(MIDDLE, { stockfish: true, depth: 60, signal: first.signal, onInfo: () => second.abort() });
  const waits = judge.evaluate(LOST, { stockfish: true, signal: second.signal });
  await Promise.allSettled([
    waits.catch(({ code }) => (ended.push(`second ${code}`), first.abort())),
    asked.catch(({ code }) => ended.push(`first ${code}`)),
  ]);
  assert.deepEqual(ended, ["second aborted", "first aborted"]);
  assert.equal((await judge.evaluate(LOST, { stockfish: true, depth: 4 }))?.from, "stockfish");
});

test("a question that is aborted before its search begins is not searched", async (t) => {
  const abort = new AbortController();
  const { made, make } = natives((line) => line === "isready" && abort.abort());
  const judge = openEvaluator({ database, stockfish: make });
  t.after(() => judge.close());
  await assert.rejects(judge.evaluate(MIDDLE, { stockfish: true, depth: 60, signal: abort.signal }), { code: "aborted" });
  assert.equal((await judge.evaluate(LOST, { stockfish: true, depth: 4 }))?.from, "stockfish");
  assert.deepEqual(made[0]?.told.filter((line) => line.startsWith("go")), ["go depth 4"]);
});

test("where a UCI engine failed, or could not be started, the next question starts another one", async (t) => {
  const { made, make } = natives();
  let tries = 0;
  const deep = () => {
    if (tries++ === 0) throw new TypeError("no such script");
    return make();
  };
  const judge = openEvaluator({ database, stockfish: deep });
  t.after(() => judge.close());
  await assert.rejects(judge.evaluate(MIDDLE, { stockfish: true }), { code: "engine", message: /no such script/ });
  const asked = judge.evaluate(MIDDLE, { stockfish: true, depth: 60, onInfo: () => made[0]?.fail() });
  const waits = judge.evaluate(LOST, { stockfish: true });
  for (const asking of [asked, waits]) await assert.rejects(asking, { code: "engine", message: /killed/ });
  assert.equal((await judge.evaluate(LOST, { stockfish: true, depth: 4 }))?.from, "stockfish");
  assert.equal(made.length, 2);
});

test("where the database cannot be reached and there is no engine to check positions, its fault is told", async (t) => {
  const shelf = await host(DATABASE);
  const far = await openDatabase(shelf.url, { indexedDB: false });
  t.after(() => far.close());
  await shelf.close();
  const judge = openEvaluator({ database: far, stockfish: natives().make });
  await assert.rejects(judge.evaluate(MIDDLE, { stockfish: true }), { code: "network" });
  await assert.rejects(openEvaluator({ stockfish: natives().make }).evaluate(MIDDLE, { stockfish: true }), { code: "usage" });
});
