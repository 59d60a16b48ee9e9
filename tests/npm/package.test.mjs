// The package in Node: answers, typed errors on every kind of bad host, cancelling.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  readFileSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { faults, host } from "../browser/support/host.mjs";
import { DUMPS, PACKAGE, ROOT, SHELFISH } from "../browser/support/paths.mjs";
import { best, plain, truth } from "../browser/support/truth.mjs";
import { until } from "../browser/support/until.mjs";

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
    assert.equal(plain(answer.best), plain(best(evaluations) ?? assert.fail()));
    for (const { pvs } of answer.evaluations) {
      for (const { uci, san } of pvs) assert.equal(san?.length, uci.length);
    }
  });
});

test("a first lookup takes at most three requests, and a second lookup no request", async (t) => {
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
  /** @type {[import("shelfish").LookupOptions, (evaluation: import("shelfish").Evaluation) => boolean][]} */
  const cases = [
    [{ minDepth: 20 }, ({ depth }) => depth >= 20],
    [{ minKnodes: 1500 }, ({ knodes }) => knodes >= 1500],
    [
      { minDepth: 18, minKnodes: 1000 },
      ({ depth, knodes }) => depth >= 18 && knodes >= 1000,
    ],
    [{ minDepth: 1e9 }, () => false],
  ];
  for (const [options, isLeft] of cases) {
    const some = await database.lookupMany(fens, options);
    let left = 0;
    for (const [n, answer] of all.entries()) {
      assert.ok(answer && "evaluations" in answer);
      const evaluations = answer.evaluations.filter(isLeft);
      const expected =
        evaluations.length > 0
          ? { ...answer, evaluations, best: evaluations[0] }
          : null;
      assert.deepEqual(some[n], expected);
      assert.deepEqual(
        await database.lookup(String(fens[n]), options),
        expected,
      );
      left += evaluations.length;
    }
    assert.ok(left > 0 || options.minDepth === 1e9, JSON.stringify(options));
  }
  for (const minDepth of [NaN, -1, "20"])
    await rejects(
      database.lookup(START, /** @type {any} */ ({ minDepth })),
      "usage",
    );
});

test("a malformed FEN is the error of its position, and the other positions are answered", async (t) => {
  const database = await opened(t);
  const error = await rejects(
    database.lookup("8/8/8/8/8/8/8/8 w - - 0 1"),
    "fen",
  );
  assert.match(error.message, /empty/);
  const answers = await database.lookupMany([START, "nonsense", ABSENT]);
  assert.ok(answers[0] && "best" in answers[0]);
  assert.ok(answers[1] instanceof ShelfishError && answers[1].code === "fen");
  assert.equal(answers[2], null);
  const rows = readFileSync(join(ROOT, "tests/data/fen-bad.tsv"), "utf8").split(
    "\n",
  );
  for (const row of rows.filter((row) => row !== "" && !row.startsWith("#"))) {
    await rejects(database.lookup(row.split("\t")[0] ?? ""), "fen");
  }
});

/** A short time-out only for tests of time-outs, because a busy machine may be silent for that long. */
const timeout = (/** @type {readonly string[]} */ codes) =>
  codes.includes("timeout") ? 400 : 20_000;

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
  test(`a host with the fault "${name}" is a clear error, and a later lookup succeeds`, async (t) => {
    const database = await opened(t, { timeout: timeout(codes) });
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
 * Returns a fault that ends after some requests.
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
  return (
    /** @type {import("../browser/support/host.mjs").Exchange} */ { response },
  ) => void response.writeHead(code, headers).end();
};

for (const [name, fault] of /** @type {const} */ ([
  ["no connection", faults.reset],
  ["a body that breaks off", faults.cut],
  ...[429, 500, 502, 503, 504].map(
    (code) => /** @type {const} */ ([String(code), status(code)]),
  ),
])) {
  test(`a transient error (${name}) is retried at most twice`, async (t) => {
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

test("a database that is open for an hour finds a new build although the old files stay", async (t) => {
  const folder = join(root, "long");
  const [first = "", ...rest] = execFileSync(
    SHELFISH,
    ["export", "-d", join(root, "db")],
    { encoding: "utf8" },
  ).split("\n");
  writeFileSync(join(root, "one.jsonl"), `${first}\n`);
  execFileSync(SHELFISH, [
    "build",
    join(root, "one.jsonl"),
    "-o",
    folder,
    "--quiet",
  ]);
  const server = await host(folder);
  t.after(() => server.close());
  const database = await openDatabase(`${server.url}manifest.json`, {
    indexedDB: false,
  });
  t.after(() => database.close());
  const { fen } = JSON.parse(rest[0] ?? "");
  assert.equal(await database.lookup(fen), null);

  cpSync(join(root, "db"), folder, { recursive: true });
  assert.equal(
    await database.lookup(fen),
    null,
    "no file is missing, so the new build is not found",
  );
  const { requests } = database.stats();
  const now = performance.now.bind(performance);
  t.after(() => void (performance.now = now));
  performance.now = () => now() + 3_600_000;
  await until(
    async () => await database.lookup(fen),
    "the new build is in use",
  );
  assert.equal(database.manifest.positions, known.size);
  for (let n = 0; n < 5; n += 1) await database.lookup(fen);
  assert.ok(
    database.stats().requests - requests <= 3,
    "the manifest once, a page and a block",
  );
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

  // A different build at the same URL is not used.
  const pinned = await openDatabase(shelf.url, { integrity, memoryBytes: 0 });
  t.after(() => pinned.close());
  const next = join(root, "pinned-next");
  execFileSync(SHELFISH, [
    "build",
    ...FAMOUS,
    "--best-only",
    "-o",
    next,
    "--quiet",
  ]);
  shelf.directory = next;
  t.after(() => void (shelf.directory = join(root, "db")));
  await rejects(pinned.lookup(START), "integrity");
});

test("an error names the wrong argument", async (t) => {
  const database = await opened(t);
  const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);
  for (const [name, value] of [
    ["concurrency", NaN],
    ["concurrency", 0],
    ["concurrency", "many"],
    ["timeout", -1],
    ["timeout", 0],
    ["timeout", NaN],
    ["memoryBytes", "16 MB"],
    ["indexedDB.bytes", { bytes: NaN }],
    ["indexedDB.name", { name: 7 }],
  ]) {
    const error = await rejects(
      openDatabase(
        shelf.url,
        any({ [String(String(name).split(".")[0])]: value }),
      ),
      "usage",
    );
    assert.ok(error.message.startsWith(`${name}:`), error.message);
  }
  for (const castling of ["Chess960", "", 7]) {
    const error = await rejects(
      database.lookup(START, any({ castling })),
      "usage",
    );
    assert.match(
      error.message,
      /^castling: expected "standard" or "chess960", found /,
    );
  }
  for (const list of [null, undefined, 7, START, {}])
    await rejects(database.lookupMany(any(list)), "usage");
  for (const fen of [null, undefined, 7, {}]) {
    assert.match(
      (await rejects(database.lookup(any(fen)), "usage")).message,
      /^lookup: expected a FEN as text, found /,
    );
    assert.match(
      (await rejects(database.lookupMany(any([START, fen])), "usage")).message,
      /^lookupMany: expected a FEN as text/,
    );
  }
  /** @type {[unknown, RegExp][]} */
  const wrong = [
    [
      { minDept: 20 },
      /^minDept: lookup has no such option, expected signal, castling, minDepth, /,
    ],
    [{ san: "yes" }, /^san: expected true or false, found "yes"/],
    [{ signal: 7 }, /^signal: expected an AbortSignal, found 7/],
    [{ minPvs: -1 }, /^minPvs: expected a number of at least 0/],
    [7, /^lookup: expected options as an object, found 7/],
  ];
  for (const [options, message] of wrong)
    assert.match(
      (await rejects(database.lookup(START, any(options)), "usage")).message,
      message,
    );
  assert.match(
    (await rejects(database.prefetch([START], any({ san: true })), "usage"))
      .message,
    /^san: prefetch has no such option/,
  );
  assert.match(
    (await rejects(openDatabase(shelf.url, any({ cache: true })), "usage"))
      .message,
    /^cache: openDatabase has no such option/,
  );
  assert.match(
    (await rejects(openDatabase(shelf.url, any({ indexedDB: "yes" })), "usage"))
      .message,
    /^indexedDB: expected true, false or an object/,
  );
  assert.match(
    (
      await rejects(
        openDatabase(shelf.url, any({ indexedDB: { byte: 1 } })),
        "usage",
      )
    ).message,
    /^indexedDB\.byte: openDatabase has no such option, expected name, bytes/,
  );
  for (const url of [
    "data:application/json,{}",
    "blob:x",
    "mailto:a@b",
    "",
    null,
  ])
    await rejects(openDatabase(any(url)), "network");
  assert.ok(
    await database.lookup(START, any(null)),
    "null options are accepted",
  );
  assert.deepEqual(await database.lookupMany([], any(null)), []);
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
  assert.ok(answers[2] && "best" in answers[2]);
});

test("a prefetched position takes no request until the cache is cleared", async (t) => {
  const database = await opened(t);
  const fens = [...known.keys()].slice(0, 60);
  assert.equal(await database.prefetch([...fens, "nonsense"]), undefined);
  const { requests } = database.stats();
  assert.ok(
    (await database.lookupMany(fens)).every(
      (answer) => answer && "best" in answer,
    ),
  );
  assert.equal(database.stats().requests, requests);
  await database.clear();
  assert.ok(
    (await database.lookupMany(fens)).every(
      (answer) => answer && "best" in answer,
    ),
  );
  assert.ok(database.stats().requests > requests);
  await rejects(database.prefetch(/** @type {any} */ (START)), "usage");
});

test("each fetched range is reported", async (t) => {
  /** @type {import("shelfish").FetchedRange[]} */
  const seen = [];
  const database = await opened(t, {
    onRequest: (/** @type {import("shelfish").FetchedRange} */ request) => {
      seen.push(request);
      // A listener may look up positions, and its exceptions are ignored.
      void database?.lookup(START).catch(() => {});
      throw new Error("of the listener");
    },
  });
  await database.lookupMany([...known.keys()].slice(0, 60));
  const { requests, bytes } = database.stats();
  assert.deepEqual(
    [seen.length, seen.reduce((sum, request) => sum + request.bytes, 0)],
    [requests, bytes],
  );
  assert.deepEqual(
    [seen[0]?.url, seen[0]?.start, seen[0]?.parts],
    [`${shelf.url}manifest.json`, 0, 0],
  );
  for (const {
    url,
    start,
    end,
    bytes,
    parts,
    from,
    ok,
    milliseconds,
  } of seen.slice(1)) {
    assert.match(url, /^http:.*\.silo$/);
    assert.deepEqual([bytes, from, ok], [end - start, "network", true]);
    assert.ok(parts > 0 && milliseconds >= 0);
  }
  seen.length = 0;
  shelf.fault = faults.notFound;
  await database.clear();
  await rejects(database.lookup(START), "status");
  assert.ok(
    seen.some(
      ({ ok, bytes, url }) => !ok && bytes === 0 && url.endsWith(".silo"),
    ),
  );
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
  for (const fetch of [
    () => "text",
    () => Promise.reject(new Error("no key")),
    () => {
      throw new TypeError("no fetch");
    },
  ]) {
    const error = await rejects(
      openDatabase("https://signed.example/", /** @type {any} */ ({ fetch })),
      "network",
    );
    assert.match(error.message, /no Response|no key|no fetch/);
  }
  await rejects(
    openDatabase(shelf.url, /** @type {any} */ ({ fetch: 7 })),
    "usage",
  );
  await rejects(
    openDatabase(shelf.url, { headers: { "no name": "x" } }),
    "usage",
    "network",
  );
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
      { range: async (_, start, end) => new Uint8Array(end - start + 1) },
      "range",
      /found more/,
    ],
    [
      { range: async (_, start, end) => new Uint8Array(end - start) },
      "corrupt",
      /memory:\/db\//,
    ],
    [
      { range: async () => /** @type {any} */ ("text") },
      "network",
      /no Uint8Array/,
    ],
    [
      { range: async () => assert.fail("disk on fire") },
      "network",
      /disk on fire/,
    ],
    [
      { range: () => Promise.reject({ status: 403, message: "no" }) },
      "status",
      /403/,
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
