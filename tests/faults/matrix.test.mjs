// The matrix of faults of a host and parts of a database, in Chromium and Node. Each cell is a right answer or a named error, within a
// number of requests, and the same reader answers when the fault has passed. The program has its own hosts: `cargo test hostile`.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { START, launch } from "../browser/support/chromium.mjs";
import { famous, renewed, serverRoot } from "../browser/support/fixtures.mjs";
import {
  faults,
  host,
  redirect,
  redirectOnce,
  refusal,
  rightly,
} from "../browser/support/host.mjs";
import { PACKAGE, ROOT } from "../browser/support/paths.mjs";
import { until, withLimit } from "../browser/support/until.mjs";

/**
 * @typedef {import("../browser/support/host.mjs").Fault} Fault
 * @typedef {{ key: string, kind: "evaluations" | "book", url: string, integrity: string, timeout: number }} Question
 * @typedef {{ answer?: string, error?: string }} Outcome
 */

/** The databases before and after a new build. */
const BUILDS = {
  evaluations: [famous(), renewed()],
  book: ["book", "book-details"].map((name) =>
    join(ROOT, "tests/data", name, "db"),
  ),
};

/** The parts of a database: what is asked, whether the database is pinned, and the number of the request of a lookup. */
const PARTS = /** @type {const} */ ([
  ["manifest", "evaluations", false, 0],
  ["leaf page", "evaluations", false, 1],
  ["block", "evaluations", false, 2],
  ["list of hashes", "evaluations", true, 2],
  ["block of a book", "book", false, 1],
]);

const after = (/** @type {number} */ seconds) =>
  new Date(Date.now() + 1000 * seconds).toUTCString();

/** Attempts of a request without an answer, or with a status that may pass. */
const RETRIED = 3;
/** Attempts of a part that contradicts the manifest, which is read again in between. */
const STALE = 2;
const ONCE = { times: 1 };
const RANGES = { only: "ranges" };
const ORIGINS = { only: "origins" };
const SLOW = { isSlow: true };
const PAUSE = { pause: 1000 };

/**
 * Faults, the accepted errors (none: an answer), and the maximum number of requests for the part. `times` is the number of answers with
 * the fault, `pause` the least milliseconds between two requests, `isSlow` whether a short time-out detects the fault, and `build`
 * whether a new build keeps the old files.
 * @type {[name: string, fault: () => Fault, codes: string, most: number, options?: { times?: number, pause?: number, isSlow?: boolean, only?: string, build?: "kept" | "gone" }][]}
 */
const ROWS = [
  ["the whole file, small", () => faults.whole, "", 1, RANGES],
  ["the whole file, large", () => faults.large, "range", 1, RANGES],
  ["half, with its length", () => faults.short, "range manifest", STALE],
  ["half, without a length", () => faults.ends, "range manifest", STALE],
  ["a body that breaks off", () => faults.cut, "network", RETRIED],
  ["a body that breaks off, once", () => faults.cut, "", 2, ONCE],
  ["a long body", () => faults.long, "range manifest", STALE],
  ["an empty body", () => faults.empty, "range manifest", STALE],
  ["another range, labelled", () => faults.another, "range", STALE, RANGES],
  [
    "bytes shifted by one",
    () => faults.shifted,
    "corrupt integrity manifest",
    STALE,
  ],
  [
    "one flipped bit",
    () => faults.flipped,
    "corrupt integrity manifest",
    STALE,
  ],
  ["one flipped bit, once", () => faults.flipped, "", 2, ONCE],
  ["the file, compressed", () => faults.compressed, "", 1],
  ["a compressed range", () => faults.compressedRange, "range", 1, RANGES],
  ["compressed, a range", () => faults.rangeOfCompressed, "range", 1, RANGES],
  ["decompressed by a proxy", () => faults.decompressed, "", 1],
  [
    "decompressed, with the old length",
    () => faults.compressedLength,
    "range network manifest",
    RETRIED,
  ],
  ["301", () => redirect(301), "", 2],
  ["307", () => redirect(307), "", 2],
  ["302, one use", () => redirectOnce({ isExpired: false }), "", 2],
  [
    "302, expired",
    () => redirectOnce({ isExpired: true }),
    "status",
    2 * STALE,
  ],
  ["403", () => refusal(403), "status", STALE],
  ["404", () => refusal(404), "status missing", STALE],
  ["404, once", () => refusal(404), "", 2, ONCE],
  ["416", () => refusal(416), "status", STALE],
  ["429", () => refusal(429, { "retry-after": 1 }), "status", RETRIED, PAUSE],
  [
    "429, once",
    () => refusal(429, { "retry-after": after(3) }),
    "",
    2,
    { ...ONCE, ...PAUSE },
  ],
  [
    "429, an hour",
    () => refusal(429, { "retry-after": 3600 }),
    "status",
    RETRIED,
  ],
  ["503", () => refusal(503), "status", RETRIED],
  ["503, once", () => refusal(503), "", 2, ONCE],
  ["silence", () => faults.hang, "timeout", 1, SLOW],
  ["silence inside the body", () => faults.stall, "timeout", 1, SLOW],
  ["a byte every 200 ms", () => faults.drip, "timeout", 1, SLOW],
  ["reset", () => faults.reset, "network", RETRIED],
  ["reset, once", () => faults.reset, "", 2, ONCE],
  ["no CORS", () => faults.foreign, "network", RETRIED, ORIGINS],
  ["CORS without headers", () => faults.hidden, "", 1, ORIGINS],
  ["another ETag each time", () => faults.tags, "", 1],
  ["a new build", () => rightly, "", 1, { build: "kept" }],
  ["a new build alone", () => rightly, "integrity", STALE, { build: "gone" }],
  [
    "a captive portal",
    () => faults.portal,
    "range corrupt manifest integrity",
    STALE,
  ],
  ["a captive portal, once", () => faults.portal, "", 2, ONCE],
];

/**
 * Asks by the npm package, in Node or in a page. The same `key` uses what the question before has opened.
 * @param {Question & { base: string, fen: string }} question
 * @returns {Promise<Outcome>}
 */
async function ask({ key, kind, base, url, integrity, timeout, fen }) {
  /** @type {any} */
  const world = globalThis;
  const open = (world.matrix ??= {});
  const options = { timeout, indexedDB: false, integrity };
  if (!integrity) delete (/** @type {any} */ (options).integrity);
  try {
    const { openBook, openDatabase } = await import(base);
    open[key] ??= await (kind === "book" ? openBook : openDatabase)(
      url,
      options,
    );
    const answer = await (kind === "book"
      ? open[key].moves(fen)
      : open[key].lookup(fen));
    return { answer: JSON.stringify(answer) };
  } catch (/** @type {any} */ error) {
    return { error: error.name === "ShelfishError" ? error.code : `${error}` };
  }
}

/** Starts each reader with the URL of the package. @type {Record<string, (home: string) => Promise<{ run: (question: Question) => Promise<Outcome>, close: () => Promise<void> }>>} */
const READERS = {
  Node: async () => ({
    run: (question) =>
      ask({
        ...question,
        base: pathToFileURL(join(PACKAGE, "node.js")).href,
        fen: START,
      }),
    close: async () => {},
  }),
  Chromium: async (home) => {
    const browser = await launch();
    const page = await withLimit(await browser.newContext()).newPage();
    await page.goto(`${home}index.html`);
    const base = `${home}pkg/index.js`;
    return {
      run: (question) => page.evaluate(ask, { ...question, base, fen: START }),
      close: () => browser.close(),
    };
  },
};

suite(
  "every fault is a right answer or a named error",
  { concurrency: true },
  () => {
    for (const [name, start] of Object.entries(READERS))
      test(`in ${name}`, async (t) => {
        const isBrowser = name === "Chromium";
        const [home, bad] = [await host(serverRoot()), await host("")];
        bad.shared["access-control-expose-headers"] =
          "content-encoding, content-length, content-range, etag, retry-after";
        const reader = await start(home.url);
        t.after(async () => {
          await reader.close();
          await home.close();
          await bad.close();
        });
        // A path of its own for each cell, because browsers keep answers and redirects.
        bad.rewrite = (path) => path.slice(path.lastIndexOf("/"));
        let cells = 0;
        const wrong = [];
        for (const [part, kind, isPinned, number] of PARTS) {
          const builds = BUILDS[kind];
          const pin = createHash("sha256").update(
            readFileSync(join(String(builds[0]), "manifest.json")),
          );
          const integrity = isPinned ? `sha256-${pin.digest("base64")}` : "";
          const begin = (timeout = 20_000) => {
            const key = `${cells++}`;
            const url = `${bad.url}shelf/${key}/manifest.json`;
            const question = { key, kind, url, integrity, timeout };
            return () => reader.run(question);
          };
          const nameOf = (
            /** @type {{ path: string, range: string | null }} */ {
              path,
              range,
            },
          ) => `${path.slice(path.lastIndexOf("/"))} ${range}`;
          // Without a fault: the answers, the names of the part, and the number of requests.
          const answers = new Set();
          const names = new Set();
          let usual = 0;
          for (const directory of isPinned ? builds.slice(0, 1) : builds) {
            Object.assign(bad, { directory, older: [] });
            bad.requests.length = 0;
            const { answer } = await begin()();
            assert.ok(answer, `${part} without a fault`);
            answers.add(answer);
            names.add(nameOf(bad.requests[number] ?? assert.fail(part)));
            usual = bad.requests.length;
          }
          for (const [what, fault, codes, least, options = {}] of ROWS) {
            const {
              times = Infinity,
              pause = 0,
              isSlow,
              only,
              build,
            } = options;
            if (only === "ranges" && number === 0) continue;
            if (only === "origins" && !isBrowser) continue;
            // Chromium decodes no answer to a request for a range, and itself repeats a request whose connection is reset.
            const isUndecoded =
              isBrowser &&
              number > 0 &&
              /^(a |the file, )?compressed/.test(what);
            const isReset = isBrowser && what.startsWith("reset");
            const most = isUndecoded ? RETRIED : isReset ? 2 * least : least;
            const errors = isUndecoded
              ? "network"
              : isPinned || build !== "gone"
                ? codes
                : "";
            const run = begin(isSlow ? 1000 : undefined);
            Object.assign(bad, { directory: builds[0], older: [] });
            bad.requests.length = 0;
            /** @type {number[]} */
            const asked = [];
            const act = fault();
            bad.heard = (request) => {
              if (!names.has(nameOf(request))) return;
              asked.push(performance.now());
              if (build) {
                bad.directory = String(builds[1]);
                bad.older = build === "kept" ? [String(builds[0])] : [];
              }
            };
            let faulty = 0;
            bad.fault = bad.manifestFault = (exchange) => {
              const { path, range } = exchange;
              const name = nameOf({
                path,
                range: range && `bytes=${range.start}-${range.end - 1}`,
              });
              (names.has(name) && faulty++ < times ? act : rightly)(exchange);
            };
            const outcome = await run();
            const requests = bad.requests.length;
            bad.fault = bad.manifestFault = undefined;
            bad.heard = () => {};
            const { answer, error = "" } = outcome;
            // The manifest may be read again, and a new build has other pages.
            const total = build ? 2 * usual : usual + most;
            const pauses = asked
              .slice(1)
              .map((time, n) => time - (asked[n] ?? 0));
            const isRight = answer
              ? answers.has(answer) && (!errors || build)
              : errors.split(" ").includes(error) ||
                (number === 0 && times === 1);
            const recovers = async () => answers.has((await run()).answer);
            const isGone = build && isPinned;
            if (
              !isRight ||
              asked.length === 0 ||
              asked.length > most ||
              requests > total ||
              pauses.some((each) => each < pause - 20) ||
              // A busy machine may exceed a short time-out.
              !(isGone || (isSlow ? await until(recovers) : await recovers()))
            )
              wrong.push(
                `${part}, ${what}: ${JSON.stringify(outcome).slice(0, 300)}, ${asked.length} of ${requests} requests, expected ${errors || "an answer"}, ${most} of ${total}`,
              );
          }
        }
        assert.equal(wrong.join("\n"), "");
      });
  },
);
