// The lines of crate/js/README.md for preloading: they save round trips, and no file is downloaded twice.
// SHELFISH_ROUNDS=15 measures the savings.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { host } from "./support/host.mjs";
import { START, lab } from "./support/lab.mjs";
import { ROOT } from "./support/paths.mjs";
import { until } from "./support/until.mjs";

const ROUNDS = Number(process.env.SHELFISH_ROUNDS ?? 1);

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(
  async () =>
    void (shelf = await lab({ own: true, serve: ["--latency-ms", "50"] })),
);
after(() => shelf.close());

/** Returns the lines of the README for the script, the module and the manifest, with the paths of the test server. */
function documented(/** @type {string} */ manifest) {
  const readme = readFileSync(join(ROOT, "crate/js/README.md"), "utf8");
  const lines = [...readme.matchAll(/^ *<link .*$/gm)].map(([line]) =>
    line.trim(),
  );
  assert.equal(lines.length, 3);
  return lines.map((line) =>
    line
      .replace("https://example.org/evals/manifest.json", manifest)
      .replace(/"[^"]*\/(index\.js|shelfish_bg\.wasm)"/, '"/pkg/$1"'),
  );
}

/** Loads a page. Returns the milliseconds from its navigation to the first answer. */
async function load(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {string[]} */ links,
  /** @type {string} */ manifest,
) {
  const script = `import { openDatabase } from "/pkg/index.js";
    const database = await openDatabase("${manifest}", { indexedDB: false });
    const { best } = await database.lookup("${START}");
    globalThis.took = performance.now();`;
  const icon = '<link rel="icon" href="data:,">';
  writeFileSync(join(shelf.root, "app.mjs"), script);
  writeFileSync(
    join(shelf.root, "preload.html"),
    `<!doctype html><meta charset="utf-8">${icon}${links.join("\n")}<script type="module" src="app.mjs"></script>`,
  );
  const page = await shelf.page(t, { path: "about:blank" });
  await page.goto(`${shelf.server.url}preload.html`);
  const milliseconds = await until(() =>
    page.evaluate(() => Number(/** @type {any} */ (globalThis).took)),
  );
  await page.context().close();
  return milliseconds;
}

const names = (/** @type {{ path: string }[]} */ requests) =>
  requests.map(({ path }) => path.replace(/^.*[./]/, "")).sort();

test("each file is requested once", async (t) => {
  await load(t, documented("/db/manifest.json"), "/db/manifest.json");
  assert.deepEqual(names(await shelf.server.requests()), [
    "html",
    "js",
    "json",
    "mjs",
    "silo",
    "wasm",
  ]);
});

test("each file is requested once if the database is on another origin", async (t) => {
  const other = await host(join(shelf.root, "db"));
  t.after(() => other.close());
  await load(
    t,
    documented(`${other.url}manifest.json`),
    `${other.url}manifest.json`,
  );
  assert.deepEqual(names(await shelf.server.requests()), [
    "html",
    "js",
    "mjs",
    "wasm",
  ]);
  assert.deepEqual(names(other.requests), ["json", "silo"]);
});

test("the first answer arrives earlier", async (t) => {
  const manifest = "/db/manifest.json";
  const [script = "", wasm = "", json = ""] = documented(manifest);
  const cases = {
    "no links": [],
    "the script": [script],
    "the module": [wasm],
    "the script and the module": [script, wasm],
    "all three": [script, wasm, json],
  };
  /** @type {Record<string, number[]>} */
  const times = {};
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, links] of Object.entries(cases))
      (times[name] ??= []).push(await load(t, links, manifest));
  }
  for (const [name, all] of Object.entries(times)) {
    all.sort((a, b) => a - b);
    t.diagnostic(
      `${name}: median ${Math.round(all[ROUNDS >> 1] ?? NaN)} ms, least ${Math.round(all[0] ?? NaN)} ms`,
    );
  }
});
