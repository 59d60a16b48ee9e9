// The site without a connection: its own files come from the service worker, positions from IndexedDB. The tests stop the server,
// so that the browser does not know in advance that it is offline.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as shelf from "./support/shelf.mjs";
import { SITE } from "./support/paths.mjs";
import { serve } from "./support/serve.mjs";
import { reads, until, withLimit } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** Copies the site and starts a server with options, which a test can stop and start again at the same address. */
async function host(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {string[]} */ ...options
) {
  const root = mkdtempSync(join(tmpdir(), "shelfish-offline-"));
  cpSync(SITE, root, { recursive: true });
  let server = await serve(root, ...options);
  const { url } = server;
  t.after(async () => {
    await server.close();
    rmSync(root, { recursive: true });
  });
  return {
    root,
    url,
    requests: () => server.requests(),
    leave: () => server.close(),
    comeBack: async () =>
      void (server = await serve(root, "--port", new URL(url).port)),
  };
}

async function visit(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {string} */ url,
) {
  const context = withLimit(await (await shelf.browser()).newContext());
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

/** Waits until the page shows an evaluation. */
const answered = (/** @type {Page} */ page) =>
  reads(page, "facts", /^Depth \d/);

/** Waits until the service worker has all files and the page. */
const controlled = (/** @type {Page} */ page) =>
  until(() =>
    page.evaluate(
      () => navigator.serviceWorker.controller?.state === "activated",
    ),
  );

/**
 * Waits until a version has taken over. Requests to the service worker would delay its update, so this function sends none.
 * @param {Page} page
 * @param {string} title
 */
async function renewed(page, title) {
  const taken = async (/** @type {string} */ title) => {
    const isKept = (await caches.keys()).some((name) =>
      name.endsWith(` ${title}`),
    );
    const registration = await navigator.serviceWorker.getRegistration();
    return (
      isKept &&
      !registration?.installing &&
      !registration?.waiting &&
      registration?.active?.state === "activated"
    );
  };
  await until(
    () => page.evaluate(taken, title),
    `the version ${title} has taken over`,
  );
}

/** Returns the names of the caches with versions of the site. */
const siteCaches = async (/** @type {Page} */ page) =>
  (await page.evaluate(() => caches.keys())).filter((name) =>
    name.startsWith("shelfish-site"),
  );

const integrity = (/** @type {string} */ file) =>
  `sha256-${createHash("sha256").update(readFileSync(file)).digest("base64")}`;

/** Changes the site to another version as a build does: another page, another name of its script, and their hashes. */
function publish(/** @type {string} */ root, /** @type {string} */ title) {
  const page = join(root, "index.html");
  const html = readFileSync(page, "utf8");
  const script = String(/assets\/index-[^"]*\.js/.exec(html)?.[0]);
  const next = `assets/index-${title}.js`;
  renameSync(join(root, script), join(root, next));
  writeFileSync(
    page,
    html
      .replace(script, next)
      .replace(/<title>.*?<\/title>/, `<title>${title}</title>`)
      .replace("<head>", `<head><meta name="version" content="${title}">`),
  );
  const worker = join(root, "sw.js");
  const [constants = "", ...code] = readFileSync(worker, "utf8").split("\n");
  const list = /** @type {[string, string][]} */ (
    JSON.parse(String(/FILES=(\[.*\]),VERSION/.exec(constants)?.[1]))
  );
  const files = list
    .map(([path]) => (path === script ? next : path))
    .map((path) => [path, integrity(join(root, path))]);
  writeFileSync(
    worker,
    [
      `const FILES=${JSON.stringify(files)},VERSION=${JSON.stringify(title)};`,
      ...code,
    ].join("\n"),
  );
  return { script, next };
}

const version = (/** @type {Page} */ page) =>
  page.evaluate(
    () =>
      document.querySelector("meta[name=version]")?.getAttribute("content") ??
      null,
  );

test("after a visit the page opens offline and shows visited positions", async (t) => {
  const site = await host(t);
  const page = await visit(t, site.url);
  await answered(page);
  const score = await page.getByTestId("score").textContent();
  await shelf.kept(page, 2);
  await controlled(page);
  await until(async () =>
    (await page.evaluate(storedFiles)).some((path) =>
      path.endsWith("/docs/media/demo.png"),
    ),
  );
  await site.leave();

  await page.reload();
  await answered(page);
  assert.equal(await page.getByTestId("score").textContent(), score);
  assert.ok(
    (await page.locator("#board piece").count()) >= 32,
    "the board is drawn",
  );
  const styled = await page.evaluate(
    () => getComputedStyle(document.body).backgroundColor,
  );
  assert.notEqual(styled, "rgba(0, 0, 0, 0)");

  // A position in a block that was not read.
  await page.goto(`${site.url}#fen=8/8/8/4k3/8/4K3/4P3/8_w_-_-_0_1`);
  await page.getByTestId("error").waitFor();
  const said = await page.getByTestId("error").textContent();
  assert.match(String(said), /cannot be reached/);
  assert.match(
    String(said),
    /positions that you have seen before are still available/i,
  );
  await page.goto(site.url);
  await answered(page);
  // The first page of the documentation, which was not visited.
  await page.goto(`${site.url}docs/`);
  await page.waitForFunction(() =>
    [...document.images].some(({ naturalWidth }) => naturalWidth > 1000),
  );

  await site.comeBack();
  await page.goto(`${site.url}#moves=e2e4,e7e5,g1f3&ply=3`);
  await answered(page);
});

/** Runs in a page. Returns the paths of the files that the service worker has stored. */
async function storedFiles() {
  const all = await Promise.all(
    (await caches.keys()).map(async (name) => (await caches.open(name)).keys()),
  );
  return all.flat().map(({ url }) => new URL(url).pathname);
}

test("requests for the database do not pass through the service worker", async (t) => {
  const site = await host(t);
  const page = await visit(t, site.url);
  await answered(page);
  await controlled(page);
  await page.reload();
  await answered(page);
  await site.requests();
  await page.goto(`${site.url}#game=kasparov-topalov-1999&ply=30`);
  await page.reload();
  await answered(page);
  const asked = await site.requests();
  assert.ok(
    asked.some(({ path, status }) => path.startsWith("/db/") && status === 206),
    "ranges come from the host",
  );
  const own = asked.filter(({ path }) => !path.startsWith("/db/"));
  assert.ok(
    own.every(({ path }) => path === "/sw.js"),
    own.map(({ path }) => path).join(" "),
  );
  const stored = await page.evaluate(storedFiles);
  assert.ok(
    stored.includes("/index.html") &&
      !stored.some((path) => path.startsWith("/db/")),
    stored.join(" "),
  );
});

test("a new version takes over at the next navigation, and an open page keeps its own scripts", async (t) => {
  const site = await host(t);
  const page = await visit(t, site.url);
  await answered(page);
  await controlled(page);
  const { script, next } = publish(site.root, "second");

  await page.reload();
  assert.equal(
    await version(page),
    null,
    "a page that was kept is shown at once",
  );
  await renewed(page, "second");
  const lazy = (/** @type {string} */ path) =>
    page.evaluate(async (path) => (await fetch(path)).status, path);
  assert.equal(
    await lazy(script),
    200,
    "a removed file of this page's version comes from the cache",
  );
  for (const ply of [2, 4]) {
    await page.evaluate(
      (ply) => void (location.hash = `game=morphy-isouard-1858&ply=${ply}`),
      ply,
    );
    await until(async () => page.url().endsWith(`ply=${ply}`));
    await answered(page);
  }

  await page.reload();
  await answered(page);
  assert.equal(await version(page), "second");
  assert.equal(
    await page.evaluate(() =>
      document.querySelector("script[src]")?.getAttribute("src"),
    ),
    `./${next}`,
  );

  publish(site.root, "third");
  await page.reload();
  await renewed(page, "third");
  await page.reload();
  assert.equal(await version(page), "third");
  assert.ok((await siteCaches(page)).length <= 2, "old versions are removed");
});

test("a version that is only partly uploaded is not shown", async (t) => {
  const site = await host(t);
  const page = await visit(t, site.url);
  await answered(page);
  await controlled(page);
  const { next } = publish(site.root, "second");
  const whole = readFileSync(join(site.root, next));
  writeFileSync(join(site.root, next), "throw new Error('half a file");

  const refused = page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    return new Promise((resolve) => {
      registration.addEventListener("updatefound", () => {
        const worker = registration.installing;
        worker?.addEventListener(
          "statechange",
          () => worker.state === "redundant" && resolve(true),
        );
      });
      void registration.update();
    });
  });
  assert.equal(await refused, true);
  assert.equal(
    (await siteCaches(page)).length,
    1,
    "only the cache of the old version remains",
  );
  await page.reload();
  await answered(page);
  assert.equal(await version(page), null);

  writeFileSync(join(site.root, next), whole);
  await page.reload();
  await renewed(page, "second");
  await page.reload();
  await answered(page);
  assert.equal(await version(page), "second");
});
