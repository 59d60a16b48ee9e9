// Addresses of databases: pins, queries, variables that are not set; values of other realms, and hosts that forbid shared requests.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { host } from "../browser/support/host.mjs";
import { PACKAGE, ROOT } from "../browser/support/paths.mjs";

const at = (/** @type {string} */ file) =>
  pathToFileURL(join(PACKAGE, file)).href;
/** @type {typeof import("shelfish")} */
const browser = await import(at("index.js"));
/** @type {typeof import("shelfish")} */
const node = await import(at("node.js"));
/** @type {typeof import("shelfish/endgames")} */
const { openEndgames } = await import(at("endgames.js"));
/** @type {typeof import("shelfish/lichess")} */
const { lichessFetch } = await import(at("lichess.js"));
/** @type {typeof import("shelfish/worker")} */
const { connect } = await import(at("worker.js"));
const { openDatabase, openBook, scoreText, winningChances, scoreAfter } =
  browser;

const DATABASE = join(ROOT, "tests/data/database/db");
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
const AFTER = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
const PIN = `sha256-${createHash("sha256")
  .update(readFileSync(join(DATABASE, "manifest.json")))
  .digest("base64")}`;
const OTHER = `sha256-${"A".repeat(43)}=`;

/** @type {Awaited<ReturnType<typeof host>>} */
let shelf;
before(async () => void (shelf = await host(DATABASE)));
after(() => shelf.close());

/** Opens a database and looks the starting position up. */
async function answers(
  /** @type {Promise<import("shelfish").Database>} */ opening,
) {
  const database = await opening;
  assert.equal((await database.lookup(START))?.depth, 20);
  database.close();
}

test("a variable that is not set is a usage error of every entry", async () => {
  /** @type {any[]} */
  const wrong = [undefined, null, "", "  ", "undefined", "null/evals/", {}, 7];
  for (const url of wrong) {
    for (const open of [
      () => openDatabase(url),
      () => openBook(url),
      () => openEndgames(url),
      () => node.openDatabase(url),
      () => connect(/** @type {any} */ (new EventTarget()), url),
      async () => lichessFetch({ database: url || "" }),
    ].slice(0, typeof url === "object" || url === 7 ? 4 : 6))
      await assert.rejects(async () => open(), {
        code: "usage",
        message: /is a variable not set\?$/,
      });
  }
  assert.throws(() => lichessFetch({}), /is a variable not set\?$/);
  for (const score of /** @type {any[]} */ ([undefined, null, {}, { cp: NaN }]))
    for (const call of [scoreText, winningChances, scoreAfter])
      assert.throws(() => call(score, 1, "white"), { code: "usage" });
});

test("a hash after the address pins the database, and every other fragment is an error", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "shelfish#"));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = join(root, "db");
  cpSync(DATABASE, folder, { recursive: true });
  const file = pathToFileURL(`${folder}/`).href;
  for (const address of [shelf.url, `${shelf.url}manifest.json?a=b`]) {
    await answers(openDatabase(`${address}#${PIN}`));
    await answers(openDatabase(`${address}#${PIN}`, { integrity: PIN }));
    await answers(openDatabase(new URL(`${address}#${PIN}`)));
  }
  for (const address of [folder, file, `${folder}/manifest.json`])
    await answers(node.openDatabase(`${address}#${PIN}`));
  const digits = PIN.slice(7);
  for (const address of [shelf.url, folder, file]) {
    await assert.rejects(node.openDatabase(`${address}#${OTHER}`), {
      code: "integrity",
    });
    for (const fragment of [
      "",
      "top",
      `SHA256-${digits}`,
      `sha256=${digits}`,
      `sha384-${digits}`,
      ` ${PIN}`,
      `${PIN}a`,
      PIN.slice(0, -1),
    ])
      for (const open of [node.openDatabase, node.openBook])
        await assert.rejects(open(`${address}#${fragment}`), {
          code: "usage",
          message: /expected #sha256-…/,
        });
  }
  for (const integrity of ["", "sha256", `${PIN} x`, PIN.toUpperCase()])
    await assert.rejects(openDatabase(shelf.url, { integrity }), {
      code: "usage",
    });
  await assert.rejects(
    openDatabase(`${shelf.url}#${PIN}`, { integrity: OTHER }),
    { code: "usage" },
  );
  for (const [hash, integrity] of [[`#${PIN}`], ["", PIN], ["#top"]])
    await assert.rejects(
      openEndgames(shelf.url + hash, /** @type {any} */ ({ integrity })),
      { code: "usage" },
    );
});

test("the query of an address is on every request and in no message", async () => {
  for (const address of ["?sig=p/w", "manifest.json?sig=p/w"]) {
    /** @type {string[]} */
    const asked = [];
    /** @type {string[]} */
    const told = [];
    const database = await openDatabase(shelf.url + address, {
      fetch: (url, init) => {
        asked.push(url);
        return fetch(url, init);
      },
      onRequest: ({ url }) => told.push(url),
    });
    await database.lookup(START);
    assert.ok(
      asked.length > 1 && asked.every((url) => url.endsWith("?sig=p/w")),
    );
    assert.ok(told.length > 1 && !told.join().includes("sig"), `${told}`);
    database.close();
  }
  for (const url of ["nowhere", "manifest.json", ""].map(
    (name) => `http://127.0.0.1:1/${name}?sig=pw`,
  ))
    await assert.rejects(openDatabase(url), (error) => {
      assert.doesNotMatch(JSON.stringify(error), /pw/);
      return true;
    });
  await assert.rejects(openDatabase("evals/?sig=pw"), (error) => {
    assert.doesNotMatch(JSON.stringify(error), /pw/);
    return true;
  });
});

test("exactly the requested bytes with status 200 are a range, and the error of another length says so", async (t) => {
  t.after(() => void (shelf.fault = undefined));
  shelf.fault = ({ response, shared, body }) =>
    void response.writeHead(200, shared).end(body);
  await answers(openDatabase(shelf.url, { indexedDB: false }));
  shelf.fault = ({ response, shared, body, range }) =>
    void response
      .writeHead(200, shared)
      .end(range ? body.subarray(0, -1) : body);
  await assert.rejects(
    openDatabase(shelf.url).then((database) => database.lookup(START)),
    { code: "range", message: /sent status 200 and \d+ bytes; expected .*206/ },
  );
});

test("bytes and errors of another realm are bytes and errors", async () => {
  const Bytes = runInNewContext("Uint8Array");
  const gone = runInNewContext('Object.assign(Error("x"), { code: "ENOENT" })');
  const read = async (/** @type {string} */ file) =>
    readFileSync(join(DATABASE, file));
  const source = {
    url: "memory:/",
    whole: async (/** @type {string} */ file) => new Bytes(await read(file)),
    range: async (
      /** @type {string} */ file,
      /** @type {number} */ start,
      /** @type {number} */ end,
    ) => new Bytes((await read(file)).subarray(start, end)),
  };
  await answers(openDatabase(source));
  const failing = { ...source, range: () => Promise.reject(gone) };
  const database = await openDatabase(failing);
  await assert.rejects(database.lookup(START), { code: "missing" });
  for (const value of [new DataView(new ArrayBuffer(9)), [1], "bytes", null])
    await assert.rejects(
      openDatabase({
        ...source,
        whole: async () => /** @type {any} */ (value),
      }),
      /whole returned no Uint8Array/,
    );
});

test("where requests may not be shared, each call sends its own", async (t) => {
  let requests = 0;
  const open = () =>
    openDatabase(shelf.url, {
      concurrency: 1,
      fetch: (url, init) => {
        requests++;
        return fetch(url, init);
      },
    });
  const lookups = async (
    /** @type {import("shelfish").Database} */ database,
  ) => {
    requests = 0;
    await Promise.all([START, START, AFTER].map((fen) => database.lookup(fen)));
    return requests;
  };
  const shared = await lookups(await open());
  const own = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  t.after(() =>
    own
      ? Object.defineProperty(globalThis, "navigator", own)
      : Reflect.deleteProperty(globalThis, "navigator"),
  );
  Object.defineProperty(globalThis, "navigator", {
    value: { userAgent: "Cloudflare-Workers" },
    configurable: true,
  });
  assert.ok((await lookups(await open())) > shared);
});
