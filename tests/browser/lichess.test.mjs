// The service worker of `shelfish/lichess`: unchanged pages get the answers of Lichess' APIs from static databases. `lichessFetch` in pages.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { BLANK } from "./support/fixtures.mjs";
import { START } from "./support/chromium.mjs";
import * as shelf from "./support/shelf.mjs";
import { PACKAGE, ROOT } from "./support/paths.mjs";
import { serve } from "./support/serve.mjs";
import { until } from "./support/until.mjs";

const SCRIPT = "shelfish-lichess-sw.js";
const QUERY = "?database=db/&book=book/";
const PATHS = [
  `/api/cloud-eval?fen=${START}&multiPv=2`,
  "/api/cloud-eval?fen=8",
  "/api/cloud-eval?fen=8/8/8/3k4/8/8/3K4/N7 w - -",
  "/masters?play=e2e4",
  "/lichess?fen=8",
  "/lichess?speeds=blitz&moves=1",
];

/** @type {Awaited<ReturnType<typeof serve>>} */
let api;
/** @type {Awaited<ReturnType<typeof answersOf>>} The answers of the server. */
let expected;

before(async () => {
  const { root } = shelf;
  const details = join(ROOT, "tests/data/book-details/db");
  cpSync(details, join(root, "book"), { recursive: true });
  for (const file of [SCRIPT, "shelfish_bg.wasm"])
    cpSync(join(PACKAGE, file), join(root, file));
  // The only new line of the page registers the worker.
  writeFileSync(
    join(root, "old.html"),
    `${BLANK}<script>navigator.serviceWorker.register("/${SCRIPT}${QUERY}")</script>`,
  );
  writeFileSync(
    join(root, "combined.js"),
    `self.shelfishLichess = { database: "/db/" };\nimportScripts("/${SCRIPT}");\naddEventListener("fetch", (event) => {
    if (event.request.url.endsWith("/own")) event.respondWith(new Response("own"));
  });`,
  );
  const client = 'export { default } from "openapi-fetch";';
  execFileSync(
    join(ROOT, "crate/js/node_modules/.bin/esbuild"),
    [
      "--bundle",
      "--format=esm",
      `--outfile=${join(root, "client.js")}`,
      "--log-level=error",
    ],
    {
      input: client,
      cwd: join(ROOT, "tests"),
    },
  );
  api = await serve(join(root, "db"), "--api", "--book", details);
  expected = await answersOf(PATHS, api.url, api.url);
});
after(async () => {
  await api?.close();
});

/**
 * Runs in a page or in Node. Requests the paths as an old page does.
 * @param {string[]} paths
 */
async function answersOf(
  paths,
  cloud = "https://lichess.org",
  explorer = "https://explorer.lichess.ovh",
) {
  return Promise.all(
    paths.map(async (path) => {
      const response = await fetch(
        new URL(path, path.startsWith("/api") ? cloud : explorer),
      );
      return {
        path,
        status: response.status,
        type: response.headers.get("content-type"),
        answer: await response.json(),
      };
    }),
  );
}

/** Runs in a page. Waits until the worker answers requests of the page. */
async function controlled() {
  const { serviceWorker } = navigator;
  await new Promise((resolve) => {
    if (serviceWorker.controller) resolve(undefined);
    serviceWorker.addEventListener("controllerchange", resolve, { once: true });
  });
}

test("the first visit of an unchanged page gets the answers of the server", async (t) => {
  const page = await shelf.page(t, {
    path: "old.html",
    allow: /Failed to load resource/,
  });
  await page.evaluate(controlled);
  assert.deepEqual(await page.evaluate(answersOf, PATHS), expected);
  assert.deepEqual(
    expected.map(({ status }) => status),
    [200, 400, 404, 200, 400, 200],
  );
  // After a reload, the first request has an answer too.
  await page.reload();
  assert.deepEqual(await page.evaluate(answersOf, PATHS), expected);
  const modules = (await shelf.server.requests()).filter(({ path }) =>
    path.endsWith(".wasm"),
  );
  assert.ok(
    modules.every(({ path }) => /^\/shelfish_bg\.wasm/.test(path)) &&
      modules.length >= 1,
    JSON.stringify(modules),
  );
});

test("an unchanged client gets answers, streams and errors; other requests reach their host", async (t) => {
  const page = await shelf.page(t, {
    path: "old.html",
    allow: /Failed to load resource/,
  });
  await page.evaluate(controlled);
  await page.context().route("https://lichess.org/**", (route) =>
    route.fulfill({
      status: 200,
      json: { real: true },
      headers: { "access-control-allow-origin": "*" },
    }),
  );
  const found = await page.evaluate(async (fen) => {
    const entry = "/client.js";
    const { default: createClient } =
      /** @type {typeof import("openapi-fetch")} */ (await import(entry));
    const lichess =
      /** @type {import("openapi-fetch").Client<import("@lichess-org/types").paths>} */ (
        createClient({ baseUrl: "https://lichess.org" })
      );
    const explorer = /** @type {typeof lichess} */ (
      createClient({ baseUrl: "https://explorer.lichess.org" })
    );
    const evaluation = await lichess.GET("/api/cloud-eval", {
      params: { query: { fen, multiPv: 1 } },
    });
    const masters = await explorer.GET("/masters", {
      params: { query: { play: "e2e4" } },
    });
    const invalid = await lichess.GET("/api/cloud-eval", {
      params: { query: { fen: "8" } },
    });
    const other = await lichess.GET("/api/puzzle/daily");
    return {
      depth: evaluation.data?.depth,
      moves: masters.data?.moves.length,
      error: invalid.error,
      other: other.data,
    };
  }, START);
  const [evaluation, , , masters] = expected;
  assert.equal(found.depth, evaluation?.answer.depth);
  assert.equal(found.moves, masters?.answer.moves.length);
  assert.match(JSON.stringify(found.error), /FEN has 1 field/);
  assert.deepEqual(found.other, { real: true });
});

test("a new version takes over in an open page, and loads its own modules", async (t) => {
  const { root } = shelf;
  const script = readFileSync(join(PACKAGE, SCRIPT), "utf8");
  t.after(() => writeFileSync(join(root, SCRIPT), script));
  const page = await shelf.page(t, { path: "old.html" });
  await page.evaluate(controlled);
  await page.evaluate(answersOf, PATHS.slice(0, 1));
  await shelf.server.requests();
  const OTHER = "0123456789abcdef0123456789abcdef";
  const [, hash] =
    /shelfish_bg\.wasm\?(\w{32})"/.exec(script) ??
    assert.fail("a hash of the module");
  writeFileSync(join(root, SCRIPT), script.replaceAll(String(hash), OTHER));
  /** @type {string[]} */
  const modules = [];
  page
    .context()
    .on(
      "request",
      (request) =>
        void (
          request.url().includes(".wasm") &&
          modules.push(new URL(request.url()).search)
        ),
    );
  await page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    const changed = new Promise((resolve) =>
      navigator.serviceWorker.addEventListener("controllerchange", resolve, {
        once: true,
      }),
    );
    await registration.update();
    await changed;
  });
  const [answer] = await page.evaluate(answersOf, PATHS.slice(0, 1));
  assert.equal(answer?.status, 200);
  await until(
    async () =>
      (await shelf.server.requests()).some(
        ({ path }) => path === "/shelfish_bg.wasm",
      ),
    "the module is requested again",
  );
  assert.ok(
    modules.every((search) => search === `?${OTHER}`),
    modules.join(" "),
  );
});

test("lichessFetch of a page answers without a service worker", async (t) => {
  const page = await shelf.page(t, { path: "index.html" });
  const found = await page.evaluate(
    async ([fen]) => {
      const entry = "/pkg/lichess.js";
      const { lichessFetch } =
        /** @type {typeof import("shelfish/lichess")} */ (await import(entry));
      globalThis.fetch = lichessFetch({ database: "/db/", book: "/book/" });
      const evaluation = await (
        await fetch(`https://lichess.org/api/cloud-eval?fen=${fen}&multiPv=2`)
      ).json();
      const masters = await (
        await fetch(new URL("https://explorer.lichess.ovh/masters?play=e2e4"))
      ).json();
      return [evaluation, masters, (await fetch("/index.html")).status];
    },
    [START],
  );
  assert.deepEqual(found, [expected[0]?.answer, expected[3]?.answer, 200]);
});
