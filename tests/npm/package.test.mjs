// The package in Node: answers, typed errors on every kind of bad host, cancelling.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { faults, host } from "../browser/support/host.mjs";
import { DUMPS, PACKAGE, SHELFISH } from "../browser/support/paths.mjs";
import { best, plain, truth } from "../browser/support/truth.mjs";

/** @type {typeof import("shelfish")} */
const { openDatabase, ShelfishError } = await import(
  pathToFileURL(join(PACKAGE, "index.js")).href
);

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
  execFileSync(SHELFISH, [
    "build",
    ...FAMOUS,
    "-o",
    join(root, "db"),
    "--quiet",
  ]);
  shelf = await host(join(root, "db"));
});
after(async () => {
  await shelf.close();
  rmSync(root, { recursive: true });
});

/** Opens a database, by default on a good host, and closes it after the test. */
async function opened(
  /** @type {import("node:test").TestContext} */ t,
  options = {},
) {
  shelf.fault = shelf.manifestFault = undefined;
  shelf.requests.length = 0;
  const database = await openDatabase(`${shelf.url}manifest.json`, options);
  t.after(() => database.close());
  return database;
}

/**
 * @param {Promise<unknown>} promise
 * @param {...string} codes
 */
async function rejects(promise, ...codes) {
  const error = await promise.then(
    () => assert.fail("an answer"),
    (error) => error,
  );
  assert.ok(error instanceof ShelfishError, `${error}`);
  assert.ok(codes.includes(error.code), `${error.code}: ${error.message}`);
  return error;
}

test("every position of a database equals its source", async (t) => {
  const database = await opened(t);
  const fens = [...known.keys()];
  const answers = await database.lookupMany(fens, {
    castling: "chess960",
    san: true,
  });
  assert.equal(database.manifest.positions, fens.length);
  fens.forEach((fen, n) => {
    const answer = answers[n];
    assert.ok(answer && "evaluations" in answer, fen);
    const evaluations = known.get(fen) ?? [];
    assert.deepEqual(
      answer.evaluations.map(plain).sort(),
      evaluations.map(plain).sort(),
    );
    assert.equal(plain(answer), plain(best(evaluations) ?? assert.fail()));
    for (const { pvs } of answer.evaluations) {
      for (const { uci, san } of pvs) assert.equal(san?.length, uci.length);
    }
  });
});

test("a first lookup takes at most three requests, and a second lookup no request", async (t) => {
  const database = await opened(t);
  const answer = await database.lookup(START);
  assert.equal(answer?.fen, START.split(" ").slice(0, 4).join(" "));
  assert.deepEqual(
    [answer?.from, answer?.depth, answer?.knodes],
    ["database", answer?.evaluations[0].depth, answer?.evaluations[0].knodes],
  );
  assert.equal(answer?.pvs, answer?.evaluations[0].pvs);
  assert.ok(shelf.requests.length <= 3);
  const { requests } = database.stats();
  assert.equal(requests, shelf.requests.length);
  assert.equal(await database.lookup(ABSENT.replace("0 1", "")), null);
  await database.lookup(START.split(" ").slice(0, 4).join(" "));
  assert.ok(database.stats().memoryHits > 0);
});

test("castling has the requested notation", async (t) => {
  const database = await opened(t);
  const fens = [...known.keys()];
  const castles = async (/** @type {"standard" | "chess960"} */ castling) =>
    (await database.lookupMany(fens, { castling }))
      .flatMap((answer) =>
        answer && "evaluations" in answer ? answer.evaluations : [],
      )
      .flatMap(({ pvs }) => pvs.flatMap(({ uci }) => uci));
  const [standard, chess960] = [
    await castles("standard"),
    await castles("chess960"),
  ];
  const changed = standard.flatMap((move, n) =>
    move === chess960[n] ? [] : [`${move} ${chess960[n]}`],
  );
  assert.deepEqual([...new Set(changed)].sort(), [
    "e1c1 e1a1",
    "e1g1 e1h1",
    "e8c8 e8a8",
    "e8g8 e8h8",
  ]);
});

test("evaluations below a depth or a number of nodes are excluded", async (t) => {
  const database = await opened(t);
  const fens = [...known.keys()];
  const all = await database.lookupMany(fens);
  const options = { minDepth: 18, minKnodes: 1000 };
  const some = await database.lookupMany(fens, options);
  for (const [n, answer] of all.entries()) {
    assert.ok(answer && "evaluations" in answer);
    const left = answer.evaluations.filter(
      ({ depth, knodes }) => depth >= 18 && knodes >= 1000,
    );
    const [best] = left;
    assert.deepEqual(
      some[n],
      best ? { ...answer, ...best, evaluations: left } : null,
    );
  }
  assert.ok(some.includes(null) && some.some((answer) => answer));
});

test("a malformed FEN is the error of its position, and the other positions are answered", async (t) => {
  const database = await opened(t);
  const error = await rejects(
    database.lookup("8/8/8/8/8/8/8/8 w - - 0 1"),
    "fen",
  );
  assert.match(error.message, /empty/);
  const answers = await database.lookupMany([START, "nonsense", ABSENT]);
  assert.ok(answers[0] && "pvs" in answers[0]);
  assert.ok(answers[1] instanceof ShelfishError && answers[1].code === "fen");
  assert.equal(answers[2], null);
});

/** A short time-out only for tests of time-outs, because a busy machine may be silent for that long. */
const timeout = (/** @type {readonly string[]} */ codes) =>
  codes.includes("timeout") ? 400 : 20_000;

/** The matrix of faults of `cargo xtask test --all` has all faults. @type {[keyof typeof faults, string[]][]} */
const BAD = [
  ["large", ["range"]],
  ["cut", ["network"]],
  ["flipped", ["corrupt"]],
  ["hang", ["timeout"]],
  ["notFound", ["status"]],
];

for (const [name, codes] of BAD) {
  test(`a host with the fault "${name}" is a clear error, and a later lookup succeeds`, async (t) => {
    const database = await opened(t, { timeout: timeout(codes) });
    shelf.fault = faults[name];
    const error = await rejects(database.lookup(START), ...codes);
    assert.match(error.url ?? "", /^http:.*\.silo$/);
    shelf.fault = undefined;
    assert.ok(await database.lookup(START));
  });
}

test("a transient error is retried at most twice", async (t) => {
  for (const fault of [
    faults.reset,
    (/** @type {import("../browser/support/host.mjs").Exchange} */ exchange) =>
      void exchange.response.writeHead(503).end(),
  ]) {
    const database = await opened(t, { indexedDB: false });
    const before = database.stats().requests;
    shelf.fault = fault;
    await rejects(database.lookup(START), "status", "network");
    assert.equal(database.stats().requests - before, 3);
  }
});

test("only a pinned manifest is accepted", async (t) => {
  await opened(t);
  const stats = execFileSync(
    SHELFISH,
    ["stats", "-d", join(root, "db"), "--json"],
    { encoding: "utf8" },
  );
  const { integrity } = JSON.parse(stats).manifest;
  const wrong = `sha256-${"A".repeat(43)}=`;
  const database = await openDatabase(shelf.url, {
    integrity: `${wrong} ${integrity}`,
  });
  t.after(() => database.close());
  assert.ok(await database.lookup(START));
  const error = await rejects(
    openDatabase(shelf.url, { integrity: wrong }),
    "integrity",
  );
  assert.match(
    error.message,
    /another manifest than the one asked for: expected sha256-A+=, found sha256-/,
  );
  await rejects(
    openDatabase(shelf.url, { integrity: "sha256-short" }),
    "usage",
  );
});

test("an error names the wrong argument", async (t) => {
  const database = await opened(t);
  const open = (
    /** @type {any} */ options,
    /** @type {any} */ url = shelf.url,
  ) => openDatabase(url, options);
  const lookup = (/** @type {any} */ options, /** @type {any} */ fen = START) =>
    database.lookup(fen, options);
  const many = (/** @type {any} */ fens) => database.lookupMany(fens);
  /** @type {[() => Promise<unknown>, RegExp][]} */
  const cases = [
    [() => open({ concurrency: 0 }), /^concurrency: /],
    [() => open({ timeout: NaN }), /^timeout: /],
    [() => open({ memoryBytes: "16 MB" }), /^memoryBytes: .*found "16 MB"/],
    [() => open({ fetch: 7 }), /^fetch: expected a function/],
    [() => open({ cache: true }), /^cache: openDatabase has no such option/],
    [
      () => open({ indexedDB: { byte: 1 } }),
      /^indexedDB\.byte: openDatabase has no such option, expected name, bytes/,
    ],
    [
      () => lookup({ castling: "Chess960" }),
      /^castling: expected "standard" or "chess960", found /,
    ],
    [
      () => lookup({ minDept: 20 }),
      /^minDept: lookup has no such option, expected signal, castling, minDepth, /,
    ],
    [
      () => lookup({ minDepth: -1 }),
      /^minDepth: expected a number of at least/,
    ],
    [() => lookup({ san: "yes" }), /^san: expected true or false, found "yes"/],
    [() => lookup({ signal: 7 }), /^signal: expected an AbortSignal, found 7/],
    [() => lookup(7), /^lookup: expected options as an object, found 7/],
    [() => lookup({}, 7), /^lookup: expected a FEN as text, found 7/],
    [() => many(START), /^lookupMany: expected a list of FENs/],
    [() => many([START, null]), /^lookupMany: expected a FEN as text/],
    [
      () => database.prefetch([START], /** @type {any} */ ({ san: true })),
      /^san: prefetch has no such option/,
    ],
  ];
  for (const [call, message] of cases)
    assert.match((await rejects(call(), "usage")).message, message);
  for (const url of ["data:application/json,{}", "mailto:a@b"])
    await rejects(open({}, url), "network");
  assert.ok(await lookup(null), "null options are accepted");
});

test("lookups of a block share a request, and aborting a lookup does not affect the other lookups", async (t) => {
  const database = await opened(t);
  const abort = new AbortController();
  const answers = [
    database.lookup(START, { signal: abort.signal }),
    database.lookup(START),
    database.lookup(START),
  ];
  const aborted = rejects(
    /** @type {Promise<unknown>} */ (answers[0]),
    "aborted",
  );
  abort.abort(new Error("enough"));
  const error = await aborted;
  assert.deepEqual(
    [error.name, /** @type {Error} */ (error.cause).message],
    ["AbortError", "enough"],
  );
  assert.ok(await answers[1]);
  assert.deepEqual(await answers[1], await answers[2]);
  assert.ok(shelf.requests.length <= 3);
  await rejects(database.lookup(START, { signal: abort.signal }), "aborted");
  await rejects(openDatabase(shelf.url, { signal: abort.signal }), "aborted");
});

test("closing ends running lookups and frees memory", async (t) => {
  const database = await opened(t);
  shelf.fault = faults.hang;
  const waiting = rejects(database.lookup(START), "closed");
  database.close();
  database.close();
  await waiting;
  await rejects(database.lookup(START), "closed");
  assert.throws(() => database.stats(), { code: "closed" });
});

test("a game that is over differs from a missing position", async (t) => {
  const database = await opened(t);
  const [mate, stalemate] = [
    "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq -",
    "7k/5Q2/6K1/8/8/8/8/8 b - -",
  ];
  const checkmated = await rejects(database.lookup(mate), "over");
  assert.equal(checkmated.outcome, "checkmate");
  assert.match(checkmated.message, /checkmate/);
  assert.equal(
    (await rejects(database.lookup(stalemate), "over")).outcome,
    "stalemate",
  );
  const answers = await database.lookupMany([ABSENT, stalemate, START]);
  assert.equal(answers[0], null);
  assert.ok(
    answers[1] instanceof ShelfishError &&
      answers[1].code === "over" &&
      answers[1].outcome === "stalemate",
  );
  assert.ok(answers[2] && "pvs" in answers[2]);
});

test("a prefetched position takes no request until the cache is cleared", async (t) => {
  const database = await opened(t);
  const fens = [...known.keys()].slice(0, 60);
  assert.equal(await database.prefetch([...fens, "nonsense"]), undefined);
  const { requests } = database.stats();
  await database.lookupMany(fens);
  assert.equal(database.stats().requests, requests);
  await database.clear();
  await database.lookupMany(fens);
  assert.ok(database.stats().requests > requests);
});

test("each fetched range is reported", async (t) => {
  /** @type {import("shelfish").FetchedRange[]} */
  const seen = [];
  const database = await opened(t, {
    onRequest: (/** @type {import("shelfish").FetchedRange} */ request) => {
      seen.push(request);
      throw new Error("exceptions of a listener are ignored");
    },
  });
  await database.lookupMany([...known.keys()].slice(0, 60));
  const { requests, bytes } = database.stats();
  assert.deepEqual(
    [seen.length, seen.reduce((sum, request) => sum + request.bytes, 0)],
    [requests, bytes],
  );
  const [manifest, ...parts] = seen;
  assert.equal(manifest?.url, `${shelf.url}manifest.json`);
  for (const { url, start, end, bytes, from, ok } of parts) {
    assert.match(url, /^http:.*\.silo$/);
    assert.deepEqual([bytes, from, ok], [end - start, "network", true]);
  }
});

test("a custom fetch sends the requests, and all have the headers", async (t) => {
  await opened(t);
  /** @type {[string, string | null, string | null][]} */
  const sent = [];
  const database = await openDatabase("https://signed.example/evals/", {
    headers: { "x-key": "secret" },
    fetch: (url, init) => {
      const headers = new Headers(init.headers);
      sent.push([url, headers.get("x-key"), headers.get("range")]);
      return fetch(
        url.replace("https://signed.example/evals/", shelf.url),
        init,
      );
    },
  });
  t.after(() => database.close());
  assert.ok(await database.lookup(START));
  assert.equal(sent.length, database.stats().requests);
  assert.ok(
    sent.every(
      ([url, key]) =>
        url.startsWith("https://signed.example/evals/") && key === "secret",
    ),
  );
  assert.deepEqual(
    sent.map(([, , range]) => range !== null),
    [false, true],
  );
  const signing = () => Promise.reject(new Error("no key"));
  const failing = openDatabase("https://signed.example/", {
    fetch: signing,
  });
  assert.match((await rejects(failing, "network")).message, /no key/);
});

test("any object that reads files is a source", async (t) => {
  await opened(t);
  const folder = join(root, "db");
  /** @type {import("shelfish").Source} */
  const source = {
    url: "memory:/db/",
    whole: async (file) => readFileSync(join(folder, file)),
    range: async (file, start, end) =>
      readFileSync(join(folder, file)).subarray(start, end),
  };
  const database = await openDatabase(source);
  t.after(() => database.close());
  assert.ok(await database.lookup(START));
  /** @type {[Partial<import("shelfish").Source>, string, RegExp][]} */
  const bad = [
    [
      { range: async () => new Uint8Array(1) },
      "range",
      /expected \d+ bytes, found 1/,
    ],
    [
      { range: async (_, start, end) => new Uint8Array(end - start) },
      "corrupt",
      /memory:\/db\//,
    ],
    [
      { range: async () => assert.fail("disk on fire") },
      "network",
      /disk on fire/,
    ],
    [{ range: () => new Promise(() => {}) }, "timeout", /400 ms/],
  ];
  for (const [part, code, says] of bad) {
    const broken = await openDatabase(
      { ...source, ...part },
      { timeout: timeout([code]) },
    );
    t.after(() => broken.close());
    assert.match((await rejects(broken.lookup(START), code)).message, says);
  }
});

test("many lookups at once cause no warning about listeners, with or without a common signal", async (t) => {
  /** @type {string[]} */
  const warnings = [];
  const warn = (/** @type {Error} */ { name }) => void warnings.push(name);
  process.on("warning", warn);
  t.after(() => process.off("warning", warn));
  const database = await opened(t, { memoryBytes: 0 });
  const { signal } = new AbortController();
  const fens = [...known.keys()].slice(0, 40);
  await Promise.all(fens.map((fen) => database.lookup(fen)));
  await Promise.all(fens.map((fen) => database.lookup(fen, { signal })));
  // Node emits warnings in a later turn.
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(warnings, []);
});

test("the package names its home, has its changelog, and its source maps name no file outside of it", () => {
  const manifest = JSON.parse(
    readFileSync(join(PACKAGE, "package.json"), "utf8"),
  );
  for (const name of ["homepage", "bugs", "author"]) assert.ok(manifest[name]);
  for (const file of readdirSync(PACKAGE)) {
    if (!file.endsWith(".map")) continue;
    const map = JSON.parse(readFileSync(join(PACKAGE, file), "utf8"));
    assert.equal(map.sources.length, map.sourcesContent.length, file);
    for (const source of map.sources) assert.match(source, /^src\/[^.]/, file);
  }
  assert.match(
    readFileSync(join(PACKAGE, "CHANGELOG.md"), "utf8"),
    /^# Changelog/,
  );
});
