// Measures this product against its peers: the same positions, games, network and browser. `cargo xtask bench-peers` calls it.
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { cpus } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { games, neighbours } from "../browser/support/games.mjs";
import * as options from "../browser/support/bench.mjs";
import { launch } from "../browser/support/chromium.mjs";
import { BLANK } from "../browser/support/fixtures.mjs";
import { PACKAGE } from "../browser/support/paths.mjs";
import { compact, distinct, records, runs } from "./dump.mjs";
import { host } from "./host.mjs";
import { report } from "./report.mjs";

const { count, dumps: evals } = options;
const files = String(options.files);
const network = {
  latency: Number(options.latency),
  mbit: Number(options.mbit),
};
const made = JSON.parse(readFileSync(join(files, "made.json"), "utf8"));

const here = fileURLToPath(new URL(".", import.meta.url));
const modules = join(here, "node_modules");
const version = (name) =>
  JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")).version;
const duckdb = join(modules, "@duckdb/duckdb-wasm/dist");
const sqlite = join(modules, "sql.js-httpvfs/dist");
const ours = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));

/** Measured systems: name, files of the page besides its script, and a description of the settings. */
const SYSTEMS = {
  shelfish: {
    name: `shelfish ${ours.version}`,
    assets: [join(PACKAGE, "shelfish_bg.wasm")],
    settings: "default settings, IndexedDB off; a game by `lookupMany`",
  },
  hyparquet: {
    name: `hyparquet ${version("hyparquet")}`,
    assets: [],
    settings:
      "Parquet sorted by FEN, FEN in DELTA_BYTE_ARRAY, GZIP 9; row groups of 36,864, pages of 16 KiB before compression; statistics of 40 characters, " +
      "column and offset index (`usePageIndex`), lengths of file and footer known beforehand, `cachedAsyncBuffer`, `no-store`; a game by lookups side by side. " +
      "No Bloom filters: in sorted files the statistics already leave one row group, so a filter is one round trip more",
  },
  hyparquetFresh: {
    name: `hyparquet ${version("hyparquet")}, length unknown`,
    entry: "hyparquet",
    assets: [],
    settings:
      "the same file by a page that must bear its replacement, as ours does by its manifest: it asks for the length first",
  },
  sqlite: {
    name: `sql.js-httpvfs ${version("sql.js-httpvfs")}`,
    assets: ["sqlite.worker.js", "sql-wasm.wasm"].map((name) =>
      join(sqlite, name),
    ),
    settings:
      `SQLite, primary key on FEN WITHOUT ROWID, compact JSON rows, pages of ${made.big.sqlite.pageSize / 1024} KiB fetched one by one ` +
      "with its own read-ahead and cache, vacuumed; a game by one `IN`",
  },
  duckdb: {
    name: `DuckDB-WASM ${version("@duckdb/duckdb-wasm")}`,
    assets: ["duckdb-browser-eh.worker.js", "duckdb-eh.wasm"].map((name) =>
      join(duckdb, name),
    ),
    settings:
      "the Parquet reader built in (later versions fetch it from a third party); Parquet as above but for row groups of 2,048, which it reads whole; " +
      "statistics on FEN alone, so that the footer is small; `enable_object_cache`; prepared statement; a game position by position",
  },
};

const site = join(files, "site");
rmSync(site, { recursive: true, force: true });
for (const [id, { assets, entry = id }] of Object.entries(SYSTEMS)) {
  const directory = join(site, id);
  mkdirSync(directory, { recursive: true });
  for (const asset of assets) cpSync(asset, join(directory, basename(asset)));
  writeFileSync(join(directory, "index.html"), BLANK);
  await build({
    entryPoints: [join(here, "systems", `${entry}.mjs`)],
    outfile: join(directory, "system.js"),
    // Each library is a part of the page's script, as a bundler makes it.
    alias: { shelfish: join(PACKAGE, "index.js") },
    ...{
      bundle: true,
      minify: true,
      format: "esm",
      target: "es2022",
      logLevel: "error",
    },
  });
}

const pairs = await neighbours(
  evals[0],
  count,
  Math.max(2, Math.floor(made.positions / (count + 1))),
);
const small = made.positions < 1_000_000;
const replay = await games(
  String(options.games),
  Math.max(1, count >> 1),
  small ? 1 : 2_300,
);
// Games that the database contains almost completely, as a large database does.
const known = await runs(
  evals,
  Math.max(1, count >> 2),
  62,
  Math.max(62, Math.floor(made.positions / (count >> 2 || 1))),
);

/** The evaluations of every requested position in the dumps. Empty if the dumps lack the position. */
const truth = new Map();
{
  const wanted = new Set([...pairs.flat(), ...replay.flat(), ...known.flat()]);
  for await (const record of records(evals)) {
    if (wanted.has(record.fen))
      truth.set(
        record.fen,
        distinct([...(truth.get(record.fen) ?? []), ...record.evals]),
      );
  }
}
const first = JSON.parse(
  readFileSync(join(files, "tiny", "tiny.jsonl"), "utf8").split("\n")[0] ?? "",
).fen;

/** The same file with an unknown length. The guessed length of the footer is a little too large. */
for (const size of ["tiny", "big"]) {
  const { file, footer } = made[size].hyparquet;
  made[size].hyparquetFresh = { file, footer: footer + 2_048 };
}

const data = await options.slow(files);
const cache = join(files, "brotli");
const [slow, fast] = [
  await options.spoken(await host(site, cache, network)),
  await host(site, cache),
];
const browser = await launch();

const source = (size) => {
  const urls = Object.entries(made[size]).map(([id, { file, ...details }]) => [
    id,
    { url: `${data.url}${file}`, ...details },
  ]);
  return {
    ...Object.fromEntries(urls),
    shelfish: { url: `${data.url}${size}/shelfish/manifest.json` },
  };
};
const sources = { tiny: source("tiny"), big: source("big") };

// Pages that request a position as soon as possible.
for (const id of Object.keys(SYSTEMS)) {
  const ask = `import { lookup, open } from "./system.js";
    await open(${JSON.stringify(sources.big[id])});
    const answer = await lookup(decodeURIComponent(location.search.slice(1)));
    globalThis.first = { answer, ms: performance.now() };`;
  writeFileSync(
    join(site, id, "first.html"),
    `${BLANK}<script type="module">${ask}</script>`,
  );
}

/** Requests to the host of the databases since the last call, their number, and the bytes of the answers' bodies. */
async function traffic() {
  const served = await data.requests();
  const bytes = served.map(({ method, status, path, range }) => {
    if (method !== "GET" || status >= 300) return 0;
    const size = statSync(join(files, decodeURIComponent(path))).size;
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? [];
    return from === undefined || status !== 206
      ? size
      : Math.min(to ? Number(to) + 1 : size, size) - Number(from);
  });
  return {
    requests: served.length,
    bytes: bytes.reduce((sum, size) => sum + size, 0),
  };
}

let [checked, wrong] = [0, 0];
/** Returns whether an answer has the evaluations of the dumps, in any order. */
function check(id, fen, answer) {
  const told =
    answer &&
    (Array.isArray(answer) ? answer : answer.evaluations.map(compact));
  const plain = (evals) =>
    evals
      ? evals
          .map((evaluation) => JSON.stringify(evaluation))
          .sort()
          .join()
      : "none";
  checked++;
  if (plain(told) === plain(truth.get(fen))) return;
  wrong++;
  console.error(
    `WRONG: ${id} on ${fen}\n  says ${plain(told)}\n  not  ${plain(truth.get(fen))}`,
  );
}

/**
 * Measures in a new page of a new browser profile.
 * @template T
 * @param {string} id
 * @param {string} url
 * @param {(page: import("playwright-core").Page) => Promise<T>} body
 */
async function visit(id, url, body) {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.on("pageerror", (error) => console.error(`${id}: ${error.message}`));
  await page.goto(`${url}${id}/`);
  const measured = await body(page);
  await context.close();
  await traffic();
  return measured;
}

/** Runs a function in a page that has, or has not, loaded and compiled its library. */
const prepare = (id, page) =>
  page.evaluate(
    async ([sources, fen]) => {
      globalThis.system = await import(
        new URL("system.js", location.href).href
      );
      await globalThis.system.prepare(sources, fen);
    },
    [{ tiny: sources.tiny[id], big: sources.big[id] }, first],
  );

/**
 * Measures a lookup of one position or of many, and optionally the opening of the database.
 * @param {string} id
 * @param {import("playwright-core").Page} page
 * @param {string | string[]} asked
 * @param {{ open?: boolean }} what
 */
async function time(id, page, asked, { open = false }) {
  await traffic();
  const { ms, answer } = await page.evaluate(
    async ([big, asked, open]) => {
      const start = performance.now();
      const { system } = globalThis;
      if (open) await system.open(big);
      const answer = await (Array.isArray(asked)
        ? system.many(asked)
        : system.lookup(asked));
      return { ms: performance.now() - start, answer };
    },
    [sources.big[id], asked, open],
  );
  if (Array.isArray(asked))
    asked.forEach((fen, index) => check(id, fen, answer[index]));
  else check(id, asked, answer);
  return { ms, ...(await traffic()) };
}

/**
 * Measures the time from the navigation to a page to its first answer.
 * @param {string} id
 * @param {string} fen
 */
async function load(id, fen) {
  const page = await (await browser.newContext()).newPage();
  page.on("pageerror", (error) => console.error(`${id}: ${error.message}`));
  slow.taken();
  await page.goto(`${slow.url}${id}/first.html?${encodeURIComponent(fen)}`);
  const first = await page.waitForFunction(() => globalThis.first);
  const { answer, ms } = await first.jsonValue();
  await page.context().close();
  await traffic();
  check(id, fen, answer);
  return {
    ms,
    library: slow.taken().filter(({ path }) => !path.endsWith(".html")),
  };
}

const ids = Object.keys(SYSTEMS);
const results = Object.fromEntries(
  ids.map((id) => [
    id,
    {
      ...SYSTEMS[id],
      library: { raw: 0, sent: 0 },
      first: [],
      cold: [],
      near: [],
      again: [],
      game: [],
      known: [],
    },
  ]),
);
const say = (text) => process.stderr.write(`${text}\n`);

for (const [index, [fen, next]] of pairs.entries()) {
  // Each round begins with another system, so that quiet moments favour no system.
  for (const id of ids.map((_, at) => ids[(at + index) % ids.length])) {
    const result = results[id];
    await visit(id, fast.url, async (page) => {
      await prepare(id, page);
      result.cold.push(await time(id, page, fen, { open: true }));
      result.near.push(await time(id, page, next, {}));
      result.again.push(await time(id, page, next, {}));
    });
    if (index % 2) continue;
    const { ms, library } = await load(id, fen);
    result.first.push({ ms });
    for (const key of ["raw", "sent"])
      result.library[key] = library.reduce((sum, file) => sum + file[key], 0);
  }
  if (index % 10 === 9) say(`${index + 1} of ${pairs.length} positions`);
}
for (const [index, [key, fens]] of [
  ...replay.map((fens) => ["game", fens]),
  ...known.map((fens) => ["known", fens]),
].entries()) {
  for (const id of ids.map((_, at) => ids[(at + index) % ids.length])) {
    await visit(id, fast.url, async (page) => {
      await prepare(id, page);
      results[id][key].push(await time(id, page, fens, { open: true }));
    });
  }
  if (index % 5 === 4)
    say(`${index + 1} of ${replay.length + known.length} games`);
}

for (const id of ids) {
  const directory = join(files, "big", id);
  const size =
    id === "shelfish"
      ? readdirSync(directory).map((name) => statSync(join(directory, name)))
      : [statSync(join(files, made.big[id].file))];
  results[id].bytesAPosition =
    size.reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0) /
    made.positions;
}
const chromiumVersion = browser.version();
await browser.close();
await data.close();
slow.close();
fast.close();

const markdown = report(results, {
  date: new Date().toISOString().slice(0, 10),
  chromium: chromiumVersion,
  node: process.version,
  cores: cpus().length,
  command: options.command,
  positions: made.positions,
  lookups: pairs.length,
  known: known.length,
  games: replay.map((fens) => fens.length),
  present: replay.flat().filter((fen) => truth.has(fen)).length,
  checked,
  wrong,
  network: options.network,
});
const saved = join(files, `peers-http${options.http}`);
writeFileSync(`${saved}.md`, markdown);
const machine = {
  date: new Date().toISOString(),
  command: options.command,
  network: options.network,
  chromium: chromiumVersion,
  checked,
  wrong,
  results,
};
writeFileSync(`${saved}.json`, JSON.stringify(machine, null, 2));
console.log(markdown);
if (wrong) {
  console.error(`${wrong} of ${checked} answers were wrong`);
  process.exit(1);
}
