// The examples of crate/js/examples as copies outside of this repository: types, builds, answers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { project, run, started } from "../toolchains/support.mjs";
import { START, launch, watch } from "./support/chromium.mjs";
import { DUMPS, ROOT } from "./support/paths.mjs";
import { best, truth } from "./support/truth.mjs";
import { withLimit } from "./support/until.mjs";

const EXAMPLES = "../../../crate/js/examples";
/** @type {import("playwright-core").Browser} */
let browser;

before(async () => void (browser = await launch()));
after(() => browser?.close());

/** Creates a project from an example and checks its types. */
async function example(
  /** @type {string} */ name,
  change = (/** @type {string} */ text) => text,
  isChecked = true,
) {
  const { dependencies, devDependencies, scripts } = JSON.parse(
    readFileSync(join(ROOT, "crate/js/examples", name, "package.json"), "utf8"),
  );
  const { shelfish, ...packages } = { ...dependencies, ...devDependencies };
  assert.ok(shelfish);
  const directory = project(
    `example-${name}`,
    packages,
    `${EXAMPLES}/${name}`,
    change,
  );
  const call = (/** @type {string} */ script) =>
    run(
      directory,
      scripts[script].split(" ")[0],
      scripts[script].split(" ").slice(1),
    );
  if (isChecked) await call("check");
  return { directory, call };
}

/** Opens a page. The test fails if its console is not empty. */
async function opened(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {string} */ url,
  /** @type {RegExp} */ allow = /^$/,
) {
  const context = withLimit(await browser.newContext());
  const page = /** @type {import("./support/chromium.mjs").Page} */ (
    await context.newPage()
  );
  watch(page);
  t.after(async () => {
    await context.close();
    assert.deepEqual(
      page.console.filter((line) => !allow.test(line)),
      [],
      "the console is empty",
    );
  });
  await page.goto(url);
  return page;
}

test("vite-typescript and the command `shelfish sample`: the page lists the scores of a game from the sample", async (t) => {
  const { directory, call } = await example("vite-typescript");
  // The project has no links to programs of the package.
  await run(directory, "node", [
    "node_modules/shelfish/cli.js",
    "sample",
    "public/evals",
  ]);
  await call("build");
  const page = await opened(
    t,
    await started(t, directory, "vite", (port) => [
      "--host",
      "127.0.0.1",
      "--port",
      port,
      "--strictPort",
    ]),
    /^(debug|log): \[vite\]/,
  );
  await page
    .getByRole("status")
    .filter({ hasText: /^\d+ requests, \d+ bytes$/ })
    .waitFor();
  const plies = await page.getByRole("listitem").allTextContents();
  assert.equal(plies.length, 18);
  const all = truth(...DUMPS);
  const { cp = 0 } =
    best(
      all.get("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -") ?? [],
    )?.pvs[0] ?? {};
  assert.equal(plies[0], `e2e4 +${(cp / 100).toFixed(2)}`);
  assert.ok(
    plies.every((ply) =>
      /^[a-h][1-8][a-h][1-8] ([+-]?\d+\.\d\d|#-?\d+)$/.test(ply),
    ),
    plies.join("; "),
  );
});

test("plain-html: the page shows evaluations of the sample without a bundler", async (t) => {
  const { directory } = await example("plain-html", undefined, false);
  const page = await opened(
    t,
    await started(t, directory, "sirv", (port) => [
      ".",
      "--dev",
      "--host",
      "127.0.0.1",
      "--port",
      port,
    ]),
  );
  const facts = page.locator("shelfish-eval .facts");
  const all = truth(...DUMPS);
  await facts
    .filter({ hasText: `Depth ${best(all.get(START) ?? [])?.depth}, database` })
    .waitFor();
  await page.getByLabel("FEN").fill("8/8/8/3k4/8/8/3K4/N7 w - -");
  await page.getByRole("button").click();
  await facts.filter({ hasText: "Not in the database" }).waitFor();
});
