// Faults of real hosts that the matrix in `tests/faults` does not have: each fault causes a clear error, not a wrong answer.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { faults, host } from "./support/host.mjs";
import { START, lab } from "./support/lab.mjs";
import { DUMPS } from "./support/paths.mjs";
import { best, plain, truth } from "./support/truth.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

// Chromium reports every failed request in the console.
const allow = /Failed to load resource|net::ERR_|CORS/;

/** Opens a database and looks up a position. Returns the FEN of the answer, or the code and the message of the error. */
function attempt(
  /** @type {Page} */ page,
  /** @type {string} */ url,
  options = {},
) {
  return page.evaluate(async ([url, fen, options]) => {
    try {
      const database = await shelfish.openDatabase(url, {
        timeout: 60_000,
        indexedDB: false,
        ...options,
      });
      return { fen: (await database.lookup(fen))?.fen };
    } catch (error) {
      const { name, code, message, url } = /** @type {any} */ (error);
      return {
        name,
        code,
        message,
        url,
        typed: error instanceof shelfish.ShelfishError,
      };
    }
  }, /** @type {const} */ ([url, START, options]));
}

test("a host without CORS is an error with its remedy, after a single request", async (t) => {
  const bad = await host(join(shelf.root, "db"));
  t.after(() => bad.close());
  bad.manifestFault = ({ response, body }) =>
    void response.writeHead(200).end(body);
  const page = await shelf.page(t, { allow });
  const failed = await attempt(page, `${bad.url}manifest.json`);
  assert.equal(failed.code, "network");
  assert.match(
    String(failed.message),
    /Access-Control-Allow-Origin.*connect-src/,
  );
  assert.equal(bad.requests.length, 1);
  // A host that has answered may recover.
  bad.manifestFault = undefined;
  const { requests } = bad;
  requests.length = 0;
  bad.fault = faults.reset;
  const lost = await attempt(page, `${bad.url}manifest.json`);
  assert.equal(lost.code, "network");
  assert.doesNotMatch(String(lost.message), /Access-Control/);
  // Chromium itself also repeats a request on a connection that was open.
  assert.ok(requests.filter(({ range }) => range).length >= 3);
});

test("a Content-Security-Policy that forbids the host is an error with its remedy, after a single attempt", async (t) => {
  const good = await host(join(shelf.root, "db"));
  t.after(() => good.close());
  const page = await shelf.page(t, {
    allow: /Content Security Policy|violates/,
  });
  const { failed, violations } = await page.evaluate(async (url) => {
    const policy = document.createElement("meta");
    policy.httpEquiv = "Content-Security-Policy";
    policy.content = "connect-src 'self'";
    document.head.append(policy);
    /** @type {string[]} */
    const violations = [];
    document.addEventListener(
      "securitypolicyviolation",
      ({ blockedURI }) => void violations.push(blockedURI),
    );
    const failed = await shelfish
      .openDatabase(url, { indexedDB: false })
      .catch((/** @type {any} */ error) => `${error.code}: ${error.message}`);
    return { failed: String(failed), violations };
  }, good.url);
  assert.match(failed, /^network: .*connect-src/);
  assert.deepEqual([violations.length, good.requests.length], [1, 0]);
});

test("without a connection the error names that reason, not CORS or a policy", async (t) => {
  const good = await host(join(shelf.root, "db"));
  t.after(() => good.close());
  const page = await shelf.page(t, { allow });
  await page.evaluate(
    async (url) =>
      void (globalThis.database = await shelfish.openDatabase(url, {
        indexedDB: false,
      })),
    good.url,
  );
  await page.context().setOffline(true);
  const opened = await attempt(page, `${good.url}manifest.json`);
  const lookup = await page.evaluate(
    (fen) =>
      database.lookup(fen).catch((/** @type {any} */ error) => error.message),
    START,
  );
  for (const message of [opened.message, lookup]) {
    assert.match(String(message), /the device is offline/);
    assert.doesNotMatch(String(message), /Access-Control|Content-Security/);
  }
});

test("an error that no code catches is reported with its message and the line of the caller", async (t) => {
  const page = await shelf.page(t, { allow: /^uncaught: / });
  const reported = page.waitForEvent("pageerror");
  await page.evaluate(async () => {
    const script = document.createElement("script");
    script.textContent =
      "async function theCaller() { const d = await shelfish.openDatabase('db/', { indexedDB: false }); await d.lookup('nonsense'); }\ntheCaller();";
    document.body.append(script);
  });
  const error = await reported;
  assert.match(error.message, /FEN has 1 field/);
  assert.equal(error.name, "ShelfishError");
  assert.match(String(error.stack), /theCaller/);
  assert.doesNotMatch(String(error.stack), /wasm/);
});

test("a new build can replace the old build while a page has the old build open", async (t) => {
  const renewed = await host(join(shelf.root, "famous"));
  t.after(() => renewed.close());
  const page = await shelf.page(t, { allow });
  await page.evaluate(
    async (url) =>
      void (globalThis.database = await shelfish.openDatabase(url, {
        indexedDB: false,
        memoryBytes: 0,
      })),
    `${renewed.url}manifest.json`,
  );
  assert.ok(
    await page.evaluate(
      (fen) => database.lookup(fen, { castling: "chess960" }),
      START,
    ),
  );
  renewed.directory = join(shelf.root, "db");
  renewed.requests.length = 0;
  const source = truth(...DUMPS);
  const answer = await page.evaluate(
    (fen) => database.lookup(fen, { castling: "chess960" }),
    START,
  );
  assert.deepEqual(
    answer?.evaluations.map(plain).sort(),
    source.get(START)?.map(plain).sort(),
  );
  assert.equal(answer?.best.depth, best(source.get(START) ?? [])?.depth);
  assert.equal(
    renewed.requests.filter(({ path }) => path === "/manifest.json").length,
    1,
    "the manifest is reloaded once",
  );
  // Many lookups at once after another build: still one reload.
  renewed.directory = join(shelf.root, "famous");
  renewed.requests.length = 0;
  const fens = [...truth(String(DUMPS[1])).keys()].slice(0, 60);
  const answers = await page.evaluate(
    (fens) => Promise.all(fens.map((fen) => database.lookup(fen))),
    fens,
  );
  assert.ok(answers.every((answer) => answer));
  assert.equal(
    renewed.requests.filter(({ path }) => path === "/manifest.json").length,
    1,
    "concurrent lookups reload the manifest once",
  );
});
