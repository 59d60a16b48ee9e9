// The package in Node: answers, typed errors on every kind of bad host, cancelling.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { faults, host, instead } from "../browser/support/host.mjs";
import { DUMPS, PACKAGE, ROOT, SHELFISH } from "../browser/support/paths.mjs";
import { best, plain, truth } from "../browser/support/truth.mjs";

/** @type {typeof import("shelfish")} */
const { open, ShelfishError } = await import(pathToFileURL(join(PACKAGE, "index.js")).href);

const FAMOUS = DUMPS.filter((dump) => dump.includes("famous"));
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const ABSENT = "8/8/8/4k3/8/4K3/8/8 w - - 0 1";

const known = truth(...FAMOUS);
/** @type {string} */
let root;
/** @type {Awaited<ReturnType<typeof host>>} */
let shelf;

before(async () => {
  root = mkdtempSync(join(tmpdir(), "shelfish-npm-"));
  execFileSync(SHELFISH, ["build", ...FAMOUS, "-o", join(root, "db"), "--quiet"]);
  shelf = await host(join(root, "db"));
});
after(async () => {
  await shelf.close();
  rmSync(root, { recursive: true });
});

/** Opens, with a good host unless told otherwise; closed after the test. */
async function opened(/** @type {import("node:test").TestContext} */ t, options = {}) {
  shelf.fault = shelf.manifestFault = undefined;
  shelf.requests.length = 0;
  const database = await open(`${shelf.url}manifest.json`, options);
  t.after(() => database.close());
  return database;
}

/**
 * @param {Promise<unknown>} promise
 * @param {...string} codes
 */
async function rejects(promise, ...codes) {
  const error = await promise.then(() => assert.fail("an answer"), (error) => error);
  assert.ok(error instanceof ShelfishError, `${error}`);
  assert.ok(codes.includes(error.code), `${error.code}: ${error.message}`);
  return error;
}

test("every position of a database equals its source", async (t) => {
  const database = await opened(t);
  const fens = [...known.keys()];
  const answers = await database.lookupMany(fens, { castling: "chess960", san: true });
  assert.equal(database.manifest.positions, fens.length);
  fens.forEach((fen, n) => {
    const answer = answers[n];
    assert.ok(answer && "evaluations" in answer, fen);
    const evaluations = known.get(fen) ?? [];
    assert.deepEqual(answer.evaluations.map(plain).sort(), evaluations.map(plain).sort());
    assert.equal(plain(answer.best), plain(best(evaluations) ?? assert.fail()));
    for (const { pvs } of answer.evaluations) {
      for (const { uci, san } of pvs) assert.equal(san?.length, uci.length);
    }
  });
});

test("a lookup takes three requests at most, then none", async (t) => {
  const database = await opened(t);
  const answer = await database.lookup(START);
  assert.equal(answer?.fen, START.split(" ").slice(0, 4).join(" "));
  assert.equal(answer?.best, answer?.evaluations[0]);
  assert.ok(shelf.requests.length <= 3);
  const { requests } = database.stats();
  assert.equal(requests, shelf.requests.length);
  assert.equal(await database.lookup(ABSENT.replace("0 1", "")), null);
  await database.lookup(START.split(" ").slice(0, 4).join(" "));
  assert.ok(database.stats().memoryHits > 0);
});

test("castling is written as asked for", async (t) => {
  const database = await opened(t);
  const fens = [...known.keys()];
  const castles = async (/** @type {"standard" | "chess960"} */ castling) =>
    (await database.lookupMany(fens, { castling }))
      .flatMap((answer) => (answer && "evaluations" in answer ? answer.evaluations : []))
      .flatMap(({ pvs }) => pvs.flatMap(({ uci }) => uci));
  const [standard, chess960] = [await castles("standard"), await castles("chess960")];
  const changed = standard.flatMap((move, n) => (move === chess960[n] ? [] : [`${move} ${chess960[n]}`]));
  assert.deepEqual([...new Set(changed)].sort(), ["e1c1 e1a1", "e1g1 e1h1", "e8c8 e8a8", "e8g8 e8h8"]);
});

test("evaluations below a depth or a number of nodes are left out", async (t) => {
  const database = await opened(t);
  const fens = [...known.keys()];
  const all = await database.lookupMany(fens);
  /** @type {[import("shelfish").LookupOptions, (evaluation: import("shelfish").Evaluation) => boolean][]} */
  const cases = [
    [{ minDepth: 20 }, ({ depth }) => depth >= 20],
    [{ minKnodes: 1500 }, ({ knodes }) => knodes >= 1500],
    [{ minDepth: 18, minKnodes: 1000 }, ({ depth, knodes }) => depth >= 18 && knodes >= 1000],
    [{ minDepth: 1e9 }, () => false],
  ];
  for (const [options, isLeft] of cases) {
    const some = await database.lookupMany(fens, options);
    let left = 0;
    for (const [n, answer] of all.entries()) {
      assert.ok(answer && "evaluations" in answer);
      const evaluations = answer.evaluations.filter(isLeft);
      const expected = evaluations.length > 0 ? { ...answer, evaluations, best: evaluations[0] } : null;
      assert.deepEqual(some[n], expected);
      assert.deepEqual(await database.lookup(String(fens[n]), options), expected);
      left += evaluations.length;
    }
    assert.ok(left > 0 || options.minDepth === 1e9, JSON.stringify(options));
  }
  for (const minDepth of [NaN, -1, "20"]) await rejects(database.lookup(START, /** @type {any} */ ({ minDepth })), "usage");
});

test("a malformed FEN is an error of its own, others still answer", async (t) => {
  const database = await opened(t);
  const error = await rejects(database.lookup("8/8/8/8/8/8/8/8 w - - 0 1"), "fen");
  assert.match(error.message, /empty/);
  const answers = await database.lookupMany([START, "nonsense", ABSENT]);
  assert.ok(answers[0] && "best" in answers[0]);
  assert.ok(answers[1] instanceof ShelfishError && answers[1].code === "fen");
  assert.equal(answers[2], null);
  const rows = readFileSync(join(ROOT, "tests/data/fen-bad.tsv"), "utf8").split("\n");
  for (const row of rows.filter((row) => row !== "" && !row.startsWith("#"))) {
    await rejects(database.lookup(row.split("\t")[0] ?? ""), "fen");
  }
});

/** @type {[keyof typeof faults, string[]][]} */
const BAD = [
  ["large", ["range"]],
  ["short", ["range", "network"]],
  ["cut", ["network"]],
  ["another", ["range"]],
  ["shifted", ["corrupt"]],
  ["flipped", ["corrupt"]],
  ["reset", ["network"]],
  ["hang", ["timeout"]],
  ["stall", ["timeout"]],
  ["notFound", ["status"]],
  ["forbidden", ["status"]],
  ["broken", ["status"]],
];

for (const [name, codes] of BAD) {
  test(`a host that is bad in the way "${name}" is a clear error, and not for ever`, async (t) => {
    const database = await opened(t, { timeout: 400 });
    shelf.fault = faults[name];
    const error = await rejects(database.lookup(START), ...codes);
    assert.match(error.url ?? "", /^http:.*\.silo$/);
    assert.ok(shelf.requests.length <= 4, `${shelf.requests.length} requests`);
    const [entry] = await database.lookupMany([START]);
    assert.ok(entry instanceof ShelfishError && codes.includes(entry.code));
    shelf.fault = undefined;
    assert.ok(await database.lookup(START));
  });
}

/**
 * A fault that passes after so many requests.
 * @param {import("../browser/support/host.mjs").Fault} fault
 * @param {number} times
 */
function passing(fault, times) {
  let left = times;
  /** @type {number[]} */
  const at = [];
  shelf.fault = (exchange) => {
    at.push(performance.now());
    left -= 1;
    if (left === 0) shelf.fault = undefined;
    fault(exchange);
  };
  return at;
}

const status = (/** @type {number} */ code, headers = {}) => {
  return (/** @type {import("../browser/support/host.mjs").Exchange} */ { response }) => void response.writeHead(code, headers).end();
};

for (const [name, fault] of /** @type {const} */ ([
  ["no connection", faults.reset],
  ["a body that breaks off", faults.cut],
  ...[429, 500, 502, 503, 504].map((code) => /** @type {const} */ ([String(code), status(code)])),
])) {
  test(`a request that fails on the way (${name}) is sent again, twice at most`, async (t) => {
    const database = await opened(t, { indexedDB: false });
    const before = database.stats().requests;
    passing(fault, 2);
    assert.ok(await database.lookup(START));
    assert.equal(database.stats().requests - before, 3);

    const other = await opened(t, { indexedDB: false });
    const at = passing(fault, Infinity);
    await rejects(other.lookup(START), "status", "network");
    assert.equal(at.length, 3);
  });
}

test("what cannot get better is not sent again", async (t) => {
  for (const code of [400, 401, 501]) {
    const database = await opened(t, { indexedDB: false });
    const at = passing(status(code), Infinity);
    await rejects(database.lookup(START), "status");
    assert.equal(at.length, 1, String(code));
  }
});

test("a manifest that fails on the way is asked for again", async (t) => {
  await opened(t);
  let left = 2;
  shelf.manifestFault = (exchange) => {
    left -= 1;
    if (left === 0) shelf.manifestFault = undefined;
    faults.broken(exchange);
  };
  const database = await open(shelf.url, { indexedDB: false });
  t.after(() => database.close());
  assert.equal(database.stats().requests, 3);
});

test("a host that says when to come back is kept to, if there is time", async (t) => {
  const database = await opened(t, { indexedDB: false });
  const at = passing(status(429, { "retry-after": "1" }), 1);
  const start = performance.now();
  assert.ok(await database.lookup(START));
  assert.ok(performance.now() - start >= 950, "not before");
  assert.equal(at.length, 1);
  for (const after of ["60", new Date(Date.now() + 60_000).toUTCString()]) {
    const other = await opened(t, { indexedDB: false, timeout: 5000 });
    const asked = passing(status(503, { "retry-after": after }), Infinity);
    await rejects(other.lookup(START), "status");
    assert.equal(asked.length, 1, after);
  }
});

test("aborting ends the wait before a request is sent again", async (t) => {
  const database = await opened(t, { indexedDB: false });
  const abort = new AbortController();
  const at = passing((exchange) => {
    status(503, { "retry-after": "5" })(exchange);
    setImmediate(() => abort.abort());
  }, Infinity);
  await rejects(database.lookup(START, { signal: abort.signal }), "aborted");
  assert.equal(at.length, 1);
  shelf.fault = undefined;
  assert.ok(await database.lookup(START), "and the next lookup asks anew");
});

test("a pinned manifest is taken, and no other one", async (t) => {
  await opened(t);
  const stats = execFileSync(SHELFISH, ["stats", "-d", join(root, "db"), "--manifest", "--json"], { encoding: "utf8" });
  const { integrity } = JSON.parse(stats).manifest;
  const wrong = `sha256-${"A".repeat(43)}=`;
  const database = await open(shelf.url, { integrity: `${wrong} ${integrity}` });
  t.after(() => database.close());
  assert.ok(await database.lookup(START));
  const error = await rejects(open(shelf.url, { integrity: wrong }), "integrity");
  assert.match(error.message, /another manifest than the one asked for: expected sha256-A+=, found sha256-/);
  await rejects(open(shelf.url, { integrity: "sha256-short" }), "usage");

  // Another build in its place is not gone on with.
  const pinned = await open(shelf.url, { integrity, memoryBytes: 0 });
  t.after(() => pinned.close());
  const next = join(root, "pinned-next");
  execFileSync(SHELFISH, ["build", ...FAMOUS, "--best-only", "-o", next, "--quiet"]);
  shelf.directory = next;
  t.after(() => void (shelf.directory = join(root, "db")));
  await rejects(pinned.lookup(START), "status", "stale", "range");
});

test("arguments that are not what they should be are named", async (t) => {
  const database = await opened(t);
  const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);
  for (const [name, value] of [
    ["concurrency", NaN],
    ["concurrency", 0],
    ["concurrency", "many"],
    ["timeout", -1],
    ["timeout", NaN],
    ["memoryBytes", "16 MB"],
    ["indexedDB", { bytes: NaN }],
  ]) {
    const error = await rejects(open(shelf.url, any({ [String(name)]: value })), "usage");
    assert.ok(error.message.includes(String(name)), error.message);
  }
  for (const list of [null, undefined, 7, START, {}]) await rejects(database.lookupMany(any(list)), "usage");
  for (const fen of [null, undefined, 7, {}]) await rejects(database.lookup(any(fen)), "fen");
  for (const url of ["data:application/json,{}", "blob:x", "mailto:a@b", "", null]) await rejects(open(any(url)), "network");
  assert.ok(await database.lookup(START, any(null)), "no options are no fault");
  assert.deepEqual(await database.lookupMany([], any(null)), []);
});

test("a small file may come whole", async (t) => {
  const database = await opened(t);
  shelf.fault = faults.whole;
  assert.ok(await database.lookup(START));
});

test("what is not a manifest is an error that says so", async (t) => {
  await opened(t);
  const text = readFileSync(join(root, "db", "manifest.json"), "utf8");
  /** @type {[import("../browser/support/host.mjs").Fault, ...string[]][]} */
  const bad = [
    [instead(""), "manifest"],
    [instead("<!doctype html>"), "manifest"],
    [instead(text.slice(0, -9)), "manifest"],
    [instead(text.replace('"positions":', '"positions":1')), "manifest"],
    [instead(text.replace('"format":1', '"format":2')), "version"],
    [faults.notFound, "status"],
    [faults.forbidden, "status"],
    [faults.broken, "status"],
    [faults.reset, "network"],
    [faults.hang, "timeout"],
  ];
  for (const [fault, ...codes] of bad) {
    shelf.manifestFault = fault;
    const error = await rejects(open(`${shelf.url}manifest.json`, { timeout: 400 }), ...codes);
    assert.equal(error.url, `${shelf.url}manifest.json`);
  }
  await rejects(open("db/manifest.json"), "network");
});

test("a manifest that points at missing files is an error at the lookup", async (t) => {
  const directory = mkdtempSync(join(root, "gone-"));
  writeFileSync(join(directory, "manifest.json"), readFileSync(join(root, "db", "manifest.json")));
  await opened(t);
  const other = await host(directory);
  t.after(() => other.close());
  const database = await open(other.url);
  assert.match((await rejects(database.lookup(START), "status")).message, /404/);
});

test("a database that is replaced while open goes on", async (t) => {
  const database = await opened(t);
  const next = join(root, "next");
  execFileSync(SHELFISH, ["build", ...FAMOUS, "--best-only", "-o", next, "--quiet"]);
  assert.notDeepEqual(readdirSync(next), readdirSync(join(root, "db")));
  shelf.directory = next;
  t.after(() => void (shelf.directory = join(root, "db")));
  assert.equal((await database.lookup(START))?.evaluations.length, 1);
});

test("lookups of one block share a request, and one that is aborted leaves the others", async (t) => {
  const database = await opened(t);
  const abort = new AbortController();
  const answers = [database.lookup(START, { signal: abort.signal }), database.lookup(START), database.lookup(START)];
  const aborted = rejects(/** @type {Promise<unknown>} */ (answers[0]), "aborted");
  abort.abort(new Error("enough"));
  const error = await aborted;
  assert.deepEqual([error.name, /** @type {Error} */ (error.cause).message], ["AbortError", "enough"]);
  assert.ok(await answers[1]);
  assert.deepEqual(await answers[1], await answers[2]);
  assert.ok(shelf.requests.length <= 3);
  await rejects(database.lookup(START, { signal: abort.signal }), "aborted");
  await rejects(open(shelf.url, { signal: abort.signal }), "aborted");
});

test("closing ends what is under way and frees the rest", async (t) => {
  const database = await opened(t);
  shelf.fault = faults.hang;
  const waiting = rejects(database.lookup(START), "closed");
  database.close();
  database.close();
  await waiting;
  await rejects(database.lookup(START), "closed");
  assert.throws(() => database.stats(), { code: "closed" });
});

test("many databases may be opened at once, with a folder's URL too", async (t) => {
  await opened(t);
  const databases = await Promise.all([1, 2, 3].map(() => open(new URL(shelf.url), { memoryBytes: 0 })));
  const answers = await Promise.all(databases.map((database) => database.lookup(START)));
  assert.ok(answers.every((answer) => answer !== null));
  databases.forEach((database) => database.close());
});
