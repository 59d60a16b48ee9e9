// The examples of crate/js/examples as copies outside of this repository: types, builds, answers.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { project, run, served, started } from "../toolchains/support.mjs";
import { famous } from "./support/fixtures.mjs";
import { games } from "./support/games.mjs";
import { host } from "./support/host.mjs";
import { START, launch, watch } from "./support/chromium.mjs";
import { DUMPS, ROOT, SHELFISH } from "./support/paths.mjs";
import { best, truth } from "./support/truth.mjs";
import { equals, withLimit } from "./support/until.mjs";

const EXAMPLES = "../../../crate/js/examples";
const FAMOUS = String(DUMPS.find((dump) => dump.includes("famous")));
const GAMES = join(ROOT, "static-shards/famous.pgn");
const known = truth(FAMOUS);

/** @type {Awaited<ReturnType<typeof host>>} */
let shelf;
/** @type {import("playwright-core").Browser} */
let browser;

before(async () => {
  shelf = await host(famous());
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

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

/** Opens the built page with the database of the famous games. */
const built = async (
  /** @type {import("node:test").TestContext} */ t,
  /** @type {string} */ directory,
) =>
  opened(
    t,
    `${await served(t, directory)}?db=${encodeURIComponent(shelf.url)}`,
  );

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
  shelf.requests.length = 0;
  await page.goto(url);
  return page;
}

/** Returns the score of a position in the dump, formatted as by the package. */
function score(/** @type {string} */ fen) {
  const { cp = 0, mate } =
    best(known.get(fen) ?? [])?.pvs[0] ?? assert.fail(fen);
  if (mate !== undefined) return `#${mate}`;
  return `${cp > 0 ? "+" : ""}${(cp / 100).toFixed(2)}`;
}

test("lichess: an unchanged page gets evaluations and moves from the databases at its first visit", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "shelfish-example-"));
  t.after(() => rmSync(folder, { recursive: true }));
  execFileSync(SHELFISH, ["book", "build", GAMES, "-o", folder, "--quiet"]);
  const book = await host(folder);
  t.after(() => book.close());
  const { directory, call } = await example("lichess");
  await call("build");
  // An answer with status 404 is a line in the console.
  const url = `${await served(t, join(directory, "dist"))}?db=${encodeURIComponent(shelf.url)}&book=${encodeURIComponent(book.url)}`;
  const page = await opened(t, url, /status of 404/);
  const explored = (/** @type {string} */ fen) =>
    JSON.parse(
      execFileSync(SHELFISH, ["explore", "-d", folder, fen, "--json"], {
        encoding: "utf8",
      }),
    );
  const shows = async (/** @type {string} */ fen) => {
    const evaluation = best(known.get(fen) ?? []);
    const { cp = 0, mate } = evaluation?.pvs[0] ?? {};
    const text = evaluation
      ? `${mate === undefined ? cp / 100 : `#${mate}`} at depth ${evaluation.depth}`
      : "No cloud evaluation available for that position";
    await page.locator("output", { hasText: text }).waitFor();
    const moves = explored(fen)
      .moves.slice(0, 12)
      .map(
        (/** @type {any} */ { san, white, draws, black }) =>
          `${san}: ${white} + ${draws} + ${black}`,
      );
    assert.deepEqual(await page.locator("li").allTextContents(), moves);
    return moves.length;
  };
  assert.ok((await shows(START)) > 3);
  for (const fen of [
    "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -",
    "8/8/8/3k4/8/8/3K4/N7 w - -",
  ]) {
    await page.getByLabel("FEN").fill(fen);
    await page.getByRole("button").click();
    await shows(fen);
  }
});

test("react: the bar shows the last of 80 positions while answers are slower than steps", async (t) => {
  const [game = []] = await games(GAMES, 1, 1);
  const fens = game.slice(1, 81).filter((fen) => known.has(fen));
  assert.equal(fens.length, 80);
  const { directory, call } = await example("react");
  await call("build");
  const page = await built(t, join(directory, "dist"));
  const bar = page.getByRole("meter", { name: "Evaluation" });
  await bar.filter({ hasText: score(START) }).waitFor();
  shelf.fault = ({ response, headers, body }) =>
    void setTimeout(
      () =>
        response
          .writeHead(206, { ...headers, "content-length": body.length })
          .end(body),
      50,
    );
  t.after(() => void (shelf.fault = undefined));
  await page.evaluate(async (fens) => {
    const input = document.querySelector("input");
    const set = Object.getOwnPropertyDescriptor(
      HTMLInputElement.prototype,
      "value",
    )?.set;
    for (const fen of fens) {
      set?.call(input, fen);
      input?.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((done) => requestAnimationFrame(done));
    }
  }, fens);
  await bar.filter({ hasText: score(String(fens.at(-1))) }).waitFor();
  await equals(() => bar.getAttribute("aria-busy"), "false");
  assert.equal(
    await bar.getAttribute("aria-valuetext"),
    score(String(fens.at(-1))),
  );
  // The database lacks the position, until the engine may answer.
  await page.getByLabel("FEN").fill("6k1/5ppp/8/8/8/8/8/R3K2R w - - 0 1");
  await bar.filter({ hasText: "not in the database" }).waitFor();
  await page.getByLabel("Engine").check();
  await bar.filter({ hasText: "#1" }).waitFor();
});

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
