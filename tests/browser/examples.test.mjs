// The examples of crate/js/examples as copies outside of this repository: types, builds, answers.
import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parseComment, parsePgn, startingPosition } from "chessops/pgn";
import { makeFen } from "chessops/fen";
import { parseSan } from "chessops/san";
import { chromium } from "playwright-core";
import { project, run, served } from "../toolchains/support.mjs";
import { famous } from "./support/fixtures.mjs";
import { games } from "./support/games.mjs";
import { host } from "./support/host.mjs";
import { FLAGS, START, watch } from "./support/lab.mjs";
import { CHROMIUM, DUMPS, ROOT } from "./support/paths.mjs";
import { best, truth } from "./support/truth.mjs";
import { withLimit } from "./support/until.mjs";

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
  browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
});
after(async () => {
  await browser?.close();
  await shelf?.close();
});

/** Creates a project from an example and checks its types. */
async function example(/** @type {string} */ name, change = (/** @type {string} */ text) => text, isChecked = true) {
  const { dependencies, devDependencies, scripts } = JSON.parse(readFileSync(join(ROOT, "crate/js/examples", name, "package.json"), "utf8"));
  const { shelfish, ...packages } = { ...dependencies, ...devDependencies };
  assert.ok(shelfish);
  const directory = project(`example-${name}`, packages, `${EXAMPLES}/${name}`, change);
  const call = (/** @type {string} */ script) => run(directory, scripts[script].split(" ")[0], scripts[script].split(" ").slice(1));
  if (isChecked) await call("check");
  return { directory, call };
}

/** Opens the built page with the database. The test fails if its console is not empty. */
async function opened(/** @type {import("node:test").TestContext} */ t, /** @type {string} */ directory) {
  const context = withLimit(await browser.newContext());
  const page = /** @type {import("./support/lab.mjs").Page} */ (await context.newPage());
  watch(page);
  t.after(async () => {
    await context.close();
    assert.deepEqual(page.console, [], "the console is empty");
  });
  shelf.requests.length = 0;
  await page.goto(`${await served(t, directory)}?db=${encodeURIComponent(shelf.url)}`);
  return page;
}

/** Returns the score of a position in the dump, formatted as by the package. */
function score(/** @type {string} */ fen) {
  const { cp = 0, mate } = best(known.get(fen) ?? [])?.pvs[0] ?? assert.fail(fen);
  if (mate !== undefined) return `#${mate}`;
  return `${cp > 0 ? "+" : ""}${(cp / 100).toFixed(2)}`;
}

test("annotate-pgn adds the evaluations of the source and does not change the games", async () => {
  const { directory } = await example("annotate-pgn");
  const plain = readFileSync(GAMES, "utf8");
  const output = await run(directory, "node", ["annotate.mjs", GAMES, famous()]);
  const annotated = parsePgn(output);
  const originals = parsePgn(plain);
  assert.equal(annotated.length, originals.length);
  let evals = 0;
  annotated.forEach((game, n) => {
    const original = originals[n] ?? assert.fail();
    assert.deepEqual([...game.headers], [...original.headers]);
    const before = [...original.moves.mainline()].map(({ san }) => san);
    assert.deepEqual([...game.moves.mainline()].map(({ san }) => san), before);
    const position = startingPosition(game.headers).unwrap();
    for (const { san, comments } of game.moves.mainline()) {
      position.play(parseSan(position, san) ?? assert.fail(san));
      const fen = makeFen(position.toSetup(), { epd: true });
      const source = best(known.get(fen) ?? []);
      const { evaluation } = parseComment(comments?.join(" ") ?? "");
      if (!source) {
        assert.equal(evaluation, undefined, fen);
        continue;
      }
      const { cp, mate } = source.pvs[0] ?? assert.fail();
      const expected = mate === undefined ? { pawns: (cp ?? 0) / 100 } : { mate };
      assert.deepEqual(evaluation, { ...expected, depth: source.depth }, fen);
      evals++;
    }
  });
  assert.ok(evals > 1400, `${evals} evaluations`);
  assert.equal(await run(directory, "node", ["annotate.mjs", GAMES, shelf.url]), output, "by HTTP, too");
});

test("worker: the page shows what the Worker finds", async (t) => {
  const { directory, call } = await example("worker");
  await call("build");
  const page = await opened(t, join(directory, "dist"));
  const output = page.locator("output");
  await output.filter({ hasText: ` at depth ${best(known.get(START) ?? [])?.depth}: ` }).waitFor();
  await page.getByLabel("FEN").fill("8/8/8/3k4/8/8/3K4/N7 w - -");
  await page.getByRole("button").click();
  await output.filter({ hasText: "not in the database" }).waitFor();
  await page.getByLabel("FEN").fill("8/8");
  await page.getByRole("button").click();
  await output.filter({ hasNotText: /in the database|^$/ }).waitFor();
});

/** The evaluation bar without its aborts. */
const patient = (/** @type {string} */ text) =>
  text
    .replace(/const abort = new AbortController\(\);\n( +)database\.lookup\(fen, \{ signal: abort\.signal \}\)/, "let isOver = false;\n$1database.lookup(fen)")
    .replaceAll("abort.signal.aborted ||", "isOver ||")
    .replace(/return \(\) => abort\.abort\(\);/, "return () => void (isOver = true);");

test("react-eval-bar shows the last of 80 positions, with no more requests than without aborting", async (t) => {
  const [game = []] = await games(GAMES, 1, 1);
  const fens = game.slice(1, 81).filter((fen) => known.has(fen));
  assert.equal(fens.length, 80);
  /** @type {number[]} */
  const counts = [];
  for (const change of [undefined, patient]) {
    const { directory, call } = await example("react-eval-bar", change, !change);
    await call("build");
    cpSync(join(directory, "index.html"), join(directory, "dist/index.html"));
    assert.equal(/isOver/.test(readFileSync(join(directory, "EvalBar.tsx"), "utf8")), change === patient);
    const page = await opened(t, join(directory, "dist"));
    const bar = page.getByRole("meter", { name: "Evaluation" });
    await bar.filter({ hasText: score(START) }).waitFor();
    // The host is slow: steps are faster than answers.
    let underWay = 0;
    shelf.fault = ({ response, headers, body }) => {
      underWay++;
      response.on("close", () => underWay--);
      setTimeout(() => response.writeHead(206, { ...headers, "content-length": body.length }).end(body), 50);
    };
    t.after(() => void (shelf.fault = undefined));
    await page.evaluate(async (fens) => {
      const input = document.querySelector("input");
      const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
      for (const fen of fens) {
        set?.call(input, fen);
        input?.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((done) => requestAnimationFrame(done));
      }
    }, fens);
    await bar.filter({ hasText: score(String(fens.at(-1))) }).waitFor();
    assert.equal(await bar.getAttribute("aria-valuetext"), score(String(fens.at(-1))));
    assert.equal(await bar.getAttribute("aria-busy"), "false");
    while (underWay > 0) await page.evaluate(() => new Promise(requestAnimationFrame));
    counts.push(shelf.requests.length);
  }
  t.diagnostic(`${counts[0]} requests, without aborting ${counts[1]}`);
  assert.ok(Number(counts[0]) <= Number(counts[1]), counts.join(" "));
});
