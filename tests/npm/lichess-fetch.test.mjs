// `shelfish/lichess` in Node: its answers equal those of `shelfish serve --api`, also for an unchanged client of the APIs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { PACKAGE, ROOT, SHELFISH } from "../browser/support/paths.mjs";
import { serve } from "../browser/support/serve.mjs";

/** @type {typeof import("shelfish/lichess")} */
const { lichessFetch } = await import(
  pathToFileURL(join(PACKAGE, "lichess-node.js")).href
);
/** @type {typeof import("shelfish")} */
const { openDatabase } = await import(
  pathToFileURL(join(PACKAGE, "node.js")).href
);

const DATABASE = join(ROOT, "tests/data/database");
const DETAILS = join(ROOT, "tests/data/book-details");
const FAMOUS = join(ROOT, "static-shards/famous.pgn");
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const CLOUD = "https://lichess.org/api/cloud-eval";
const EXPLORER = "https://explorer.lichess.org";

/** @type {string} */
let root;
before(() => {
  root = mkdtempSync(join(tmpdir(), "shelfish-lichess-"));
  const years = [
    "--buckets",
    "since1900,since1950",
    "--average-ratings",
    "--game-ids",
    "3",
  ];
  execFileSync(SHELFISH, [
    "book",
    "build",
    FAMOUS,
    "-o",
    join(root, "years"),
    "--max-plies",
    "40",
    ...years,
    "--quiet",
  ]);
});
after(() => rmSync(root, { recursive: true }));

const lines = (/** @type {string} */ file) =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const unexpected = () => assert.fail("a request to the network");

/** Opens the adapter, and closes it after the test. */
function adapter(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {import("shelfish/lichess").LichessOptions} */ options,
) {
  const own = lichessFetch({ fetch: unexpected, ...options });
  t.after(() => own.close());
  return own;
}

/** Returns the parts of an answer that clients see. */
async function seen(/** @type {Response} */ response) {
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    inexact: response.headers.get("shelfish-inexact"),
    text: await response.json(),
  };
}

/** Compares answers with those of the server. Returns the number of answers by status. */
async function compare(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {string[]} */ options,
  /** @type {typeof fetch} */ own,
  /** @type {string[]} */ paths,
) {
  const api = await serve(join(DATABASE, "db"), "--api", ...options);
  t.after(() => api.close());
  /** @type {Record<number, number>} */
  const counts = {};
  for (const path of paths) {
    const expected = await seen(await fetch(new URL(path, api.url)));
    const found = await seen(
      await own(
        path.startsWith("/api")
          ? `https://lichess.org${path}`
          : EXPLORER + path,
      ),
    );
    assert.deepEqual(found, expected, path);
    counts[found.status] = (counts[found.status] ?? 0) + 1;
  }
  return counts;
}

const query = (/** @type {Record<string, string>} */ parameters) =>
  new URLSearchParams(parameters);

test("evaluations equal those of the server, also for invalid questions", async (t) => {
  const own = adapter(t, { database: join(DATABASE, "db") });
  const paths = lines(join(DATABASE, "records.jsonl")).flatMap(({ fen }) =>
    ["1", "3", "9"].map(
      (multiPv) => `/api/cloud-eval?${query({ fen, multiPv })}`,
    ),
  );
  const fens = [
    START,
    START.replaceAll(" ", "_"),
    "8/8/8/3k4/8/8/3K4/N7 w - -",
    "7k/5Q2/6K1/8/8/8/8/8 b - -",
    "8",
    "",
    `${START} 1`,
    "é".repeat(200),
  ];
  for (const fen of fens) paths.push(`/api/cloud-eval?${query({ fen })}`);
  for (const [name, values] of Object.entries({
    multiPv: ["0", "256", "257", "x", "1.5", "-1"],
    variant: ["", "standard", "chess960", "fromPosition", "atomic"],
  })) {
    for (const value of values)
      paths.push(`/api/cloud-eval?${query({ fen: START, [name]: value })}`);
  }
  paths.push(
    "/api/cloud-eval",
    `/api/cloud-eval?fen=8&fen=${START.replaceAll(" ", "+")}&other=1`,
  );
  const counts = await compare(t, [], own, paths);
  assert.ok(
    Number(counts[200]) >= 100 &&
      Number(counts[400]) >= 10 &&
      Number(counts[404]) >= 2,
    JSON.stringify(counts),
  );
});

/** Filters and limits, valid and not. */
const PARAMETERS = [
  { speeds: "blitz" },
  { speeds: "blitz,rapid,classical,correspondence,bullet,ultraBullet" },
  { speeds: "fast" },
  { speeds: "" },
  { speeds: "bullet,," },
  { ratings: "2000,2200,2500" },
  { ratings: "1600" },
  { ratings: "0,1000,1200,1400,1600,1800,2000,2200,2500" },
  { ratings: "1700" },
  { since: "1900" },
  { since: "1890", until: "1949" },
  { since: "1900-02", until: "1949-12" },
  { until: "1899" },
  { since: "1950" },
  { since: "190" },
  { until: "1999-13" },
  { moves: "0" },
  { moves: "1" },
  { moves: "99" },
  { moves: "x" },
  { topGames: "0" },
  { topGames: "2" },
  { topGames: "99" },
  { recentGames: "1" },
  { recentGames: "-1" },
  { history: "true" },
  { history: "false" },
  {
    history: "true",
    speeds: "blitz,rapid",
    ratings: "1600,2000",
    since: "1920-05",
    until: "1960",
  },
  { modes: "rated" },
  { modes: "casual,rated" },
  { variant: "antichess" },
  { variant: "standard" },
  { other: "1" },
  { play: "e2e4" },
  { play: "e2e4,e7e5,g1f3,b8c6" },
  { play: "e2e4,e7e5,e1e2,e8e7,e2e3" },
  { play: "e2e5" },
  { play: "e2e4,x" },
  { play: "," },
  { play: "e2e4,e7e5,g1f3,b8c6,f1c4,f8c5,e1g1" },
  { play: "e2e4,e7e5,g1f3,b8c6,f1c4,f8c5,e1h1" },
  { play: "e2e4", fen: "8" },
  { fen: "8" },
  { play: "a7a8", fen: "4k3/P6p/8/8/8/8/7p/4K3 w - -" },
  { play: "a7a8q", fen: "4k3/P6p/8/8/8/8/7p/4K3 w - -" },
  { fen: "4k3/P6p/8/8/8/8/7p/4K3_w - -" },
];

test("answers of the explorer equal those of the server, for every parameter", async (t) => {
  for (const book of [
    join(DETAILS, "db"),
    join(ROOT, "tests/data/book/db"),
    join(root, "years"),
  ]) {
    const own = adapter(t, { book });
    const fens = [
      ...lines(join(DETAILS, "moves.jsonl")),
      ...lines(join(ROOT, "tests/data/book/moves.jsonl")),
    ].map(({ fen }) => fen);
    const paths = fens.flatMap((fen) =>
      ["/masters", "/lichess"].map((path) => `${path}?${query({ fen })}`),
    );
    for (const parameters of PARAMETERS) {
      for (const path of ["/masters", "/lichess"])
        paths.push(`${path}?${query(/** @type {any} */ (parameters))}`);
    }
    const counts = await compare(t, ["--book", book], own, paths);
    assert.ok(
      Number(counts[200]) >= 150 && Number(counts[400]) >= 20,
      JSON.stringify(counts),
    );
  }
});

test("texts, URLs and requests are questions; other requests reach the real fetch unchanged", async (t) => {
  /** @type {unknown[][]} */
  const sent = [];
  const send = async (/** @type {unknown[]} */ ...words) => {
    sent.push(words);
    return new Response("real");
  };
  const own = adapter(t, {
    database: await openDatabase(join(DATABASE, "db")),
    fetch: send,
  });
  const url = `${CLOUD}?${query({ fen: START })}`;
  for (const question of [
    url,
    new URL(url),
    new Request(url),
    `${url}#part`,
    ` HTTPS://LICHESS.ORG:443${url.slice(19)}`,
  ]) {
    assert.ok(own.answers(question));
    assert.equal((await (await own(question)).json()).fen, START);
  }
  const old = adapter(t, { masters: join(DETAILS, "db") });
  for (const path of ["/masters", "/masters/"])
    assert.equal(
      (await old(`https://explorer.lichess.ovh${path}?topGames=0`)).status,
      200,
    );
  assert.equal(sent.length, 0);
  /** @type {[input: RequestInfo, init?: RequestInit][]} */
  const others = [
    ["https://lichess.org/api/account"],
    ["https://lichess.org/api/cloud-eval/more?fen=x"],
    ["https://example.org/api/cloud-eval?fen=x"],
    ["https://lichess.org.example.org/api/cloud-eval?fen=x"],
    ["https://explorer.lichess.org/masters"],
    ["https://explorer.lichess.org/lichess/history"],
    [url, { method: "POST" }],
    [new Request(url, { method: "HEAD" })],
    ["/relative"],
  ];
  for (const [input, init] of others) {
    assert.equal(own.answers(input, init), false, String(input));
    assert.equal(await (await own(input, init)).text(), "real");
  }
  assert.deepEqual(
    sent.map(([input, init]) => (init === undefined ? [input] : [input, init])),
    others,
  );
});

test("answers of the tablebase equal those of the server, also for positions without tables", async (t) => {
  const tables = join(ROOT, "static-shards/endgames");
  const own = adapter(t, { endgames: tables });
  const fens = [
    "8/8/8/4k3/8/8/8/2B1KN2 w - -",
    "4k3/8/8/8/8/8/3p4/4K3 w - - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - -",
    "7k/6Q1/6K1/8/8/8/8/8 b - -",
    "8/8/8/8/8/5k2/8/5K1N w - -",
    "8/2P5/8/8/8/5k2/8/5K2 w - - 99 80",
    START,
    "4k3/8/8/8/8/8/8/4K2R w K -",
    "8",
  ];
  const paths = fens.map((fen) => `/standard?${query({ fen })}`);
  const counts = await compare(t, ["--endgames", tables], own, [
    ...paths,
    "/standard",
  ]);
  assert.deepEqual(counts, { 200: 6, 404: 2, 400: 2 });
  const address = `https://tablebase.lichess.ovh${paths[0]}`;
  assert.equal((await (await own(address)).json()).category, "win");
});

test("with `fallback`, Lichess answers what files lack, and what cannot be read", async (t) => {
  const send = async (/** @type {unknown} */ input) =>
    Response.json({ real: String(input) });
  const files = {
    database: join(DATABASE, "db"),
    book: join(DETAILS, "db"),
    endgames: join(ROOT, "static-shards/endgames"),
  };
  const lost = "8/8/8/3k4/8/8/3K4/N7 w - -";
  const cloud = (/** @type {string} */ fen) => `${CLOUD}?${query({ fen })}`;
  const masters = `${EXPLORER}/masters?${query({ fen: lost })}`;
  const standard = `https://tablebase.lichess.org/standard?${query({ fen: START })}`;
  const own = adapter(t, { ...files, fallback: true, fetch: send });
  for (const url of [cloud(lost), masters, standard])
    assert.equal((await (await own(url)).json()).real, url);
  assert.equal((await (await own(cloud(START))).json()).fen, START);
  const broken = { database: join(root, "none"), fallback: true, fetch: send };
  const down = await adapter(t, broken)(cloud(START));
  assert.equal((await down.json()).real, cloud(START));
  const strict = adapter(t, files);
  assert.equal((await strict(cloud(lost))).status, 404);
});
