// <shelfish-eval> and <shelfish-explorer> on other pages: their answers, their events, and the files that they load.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { findings } from "./support/axe.mjs";
import { START } from "./support/chromium.mjs";
import * as shelf from "./support/shelf.mjs";
import { DUMPS, SHELFISH } from "./support/paths.mjs";
import { best, truth } from "./support/truth.mjs";
import { equals, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
/** White mates in one. The sample lacks the position. */
const MATE = "6k1/5ppp/8/8/8/8/8/R3K2R w - - 0 1";
const ATTRIBUTES = { database: "db/", book: "site/book/" };

before(async () => {
  const elements = `<main><h1>Elements</h1><shelfish-eval fen="${START}" database="db/" lines="3"></shelfish-eval><shelfish-explorer book="site/book/" database="db/"></shelfish-explorer></main>`;
  writeFileSync(
    join(shelf.root, "elements.html"),
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>Elements</title><script type="module" src="pkg/elements.js"></script><body>${elements}`,
  );
});

const source = truth(...DUMPS);

/** Opens a page with an element, which records its events. */
async function show(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {string} */ name,
  /** @type {Record<string, string>} */ attributes,
  options = {},
) {
  const page = await shelf.page(t, options);
  await page.evaluate(async ([name, attributes]) => {
    await import(String(new URL("pkg/elements.js", document.baseURI)));
    const element = document.createElement(/** @type {string} */ (name));
    Object.assign(globalThis, { element, heard: [] });
    for (const type of ["evaluation", "explored", "move", "error"])
      element.addEventListener(type, (event) =>
        /** @type {any} */ (globalThis).heard.push([
          type,
          /** @type {CustomEvent} */ (event).detail,
        ]),
      );
    for (const [name, value] of Object.entries(attributes))
      element.setAttribute(name, value);
    document.body.append(element);
  }, /** @type {const} */ ([name, attributes]));
  return page;
}

const set = (
  /** @type {Page} */ page,
  /** @type {Record<string, string>} */ attributes,
) =>
  page.evaluate(
    (attributes) =>
      Object.entries(attributes).forEach(([name, value]) =>
        /** @type {any} */ (globalThis).element.setAttribute(name, value),
      ),
    attributes,
  );
/** Returns the details of the events of a type. */
const heard = (/** @type {Page} */ page, /** @type {string} */ type) =>
  page.evaluate(
    (type) =>
      /** @type {any} */ (globalThis).heard
        .filter((/** @type {any} */ [each]) => each === type)
        .map((/** @type {any} */ [, detail]) => detail),
    type,
  );
const text = (/** @type {Page} */ page, /** @type {string} */ selector) =>
  page.locator(selector).first().innerText();
const lines = (/** @type {Page} */ page) =>
  page
    .locator("shelfish-eval li")
    .evaluateAll((all) =>
      all.map((line) =>
        [...line.children].map(({ textContent }) => textContent),
      ),
    );

test("<shelfish-eval> shows the score, the depth and the lines of the database, and loads no engine", async (t) => {
  const page = await show(t, "shelfish-eval", {
    fen: START,
    database: "db/",
    lines: "3",
  });
  await until(async () => (await heard(page, "evaluation")).length === 1);
  const expected = best(source.get(START) ?? []);
  const [answer] = await heard(page, "evaluation");
  assert.deepEqual(
    [answer.from, answer.depth, answer.pvs[0].cp],
    ["database", expected?.depth, expected?.pvs[0]?.cp],
  );
  assert.equal(
    await text(page, "shelfish-eval .facts"),
    `Depth ${expected?.depth}, database`,
  );
  assert.equal(
    await text(page, "shelfish-eval .score"),
    answer.pvs[0].score.replace("-", "−"),
  );
  assert.deepEqual(
    await lines(page),
    Array.from({ length: 3 }, (_, n) =>
      answer.pvs[n]
        ? [answer.pvs[n].score.replace("-", "−"), answer.pvs[n].san.join(" ")]
        : [],
    ),
  );
  assert.match(
    await text(page, "shelfish-eval .said"),
    /^[+−]?\d.*, Depth \d+, database$/,
  );
  const names = (await shelf.server.requests()).map(({ path }) => path);
  assert.ok(
    !names.some((path) => /engine-worker|engine_bg|endgames/.test(path)),
    names.join(),
  );
});

test("<shelfish-eval> reports unknown positions, ended games and invalid FENs, and the engine evaluates unknown positions on request", async (t) => {
  const page = await show(t, "shelfish-eval", { fen: MATE, database: "db/" });
  await until(
    async () =>
      (await text(page, "shelfish-eval .facts")) === "Not in the database",
  );
  assert.deepEqual(await heard(page, "evaluation"), [null]);
  await set(page, { engine: "" });
  await until(
    async () =>
      /^Depth \d+, engine$/.test(await text(page, "shelfish-eval .facts")) &&
      (await heard(page, "evaluation")).length === 2,
  );
  assert.equal(await text(page, "shelfish-eval .score"), "#1");
  assert.match(await text(page, "shelfish-eval li"), /Ra8#/);
  await set(page, { fen: "R5k1/5ppp/8/8/8/8/8/4K2R b - - 1 1" });
  await until(
    async () => (await text(page, "shelfish-eval .facts")) === "Checkmate",
  );
  await set(page, { fen: "8/8/8 w" });
  await until(async () => (await heard(page, "error")).length === 1);
  assert.match(await text(page, "shelfish-eval .error"), /FEN/);
  assert.equal(await text(page, "shelfish-eval .score"), "");
  await set(page, { fen: START });
  await until(async () =>
    /^Depth \d+, database$/.test(await text(page, "shelfish-eval .facts")),
  );
  assert.equal(await page.locator("shelfish-eval .error").isVisible(), false);
});

test("<shelfish-eval> reports the unreachable database, and tries again after a change", async (t) => {
  const page = await show(
    t,
    "shelfish-eval",
    { fen: START, database: "nowhere/" },
    { allow: /404/ },
  );
  await until(async () => (await heard(page, "error")).length === 1);
  assert.match(
    await text(page, "shelfish-eval .error"),
    /nowhere\/manifest\.json/,
  );
  await set(page, { database: "db/" });
  await until(async () => (await heard(page, "evaluation")).length === 1);
});

/** Returns the text of a score. */
function scoreOf(
  /** @type {{ cp?: number, mate?: number } | undefined} */ evaluation,
) {
  if (!evaluation) return "";
  const { cp = 0, mate } = evaluation;
  if (mate !== undefined) return `#${mate}`.replace("-", "−");
  return `${cp > 0 ? "+" : cp < 0 ? "−" : ""}${Math.abs(cp / 100).toFixed(2)}`;
}

/** Returns the moves by the native program, with their numbers of games and their scores. */
function explored(/** @type {string} */ fen) {
  const folder = (/** @type {string} */ name) => join(shelf.root, name);
  const { moves } = JSON.parse(
    execFileSync(
      SHELFISH,
      [
        "explore",
        "-d",
        folder("site/book"),
        "--evals",
        folder("db"),
        "--json",
        fen,
      ],
      { encoding: "utf8" },
    ),
  );
  return moves
    .slice(0, 12)
    .map((/** @type {any} */ { san, white, draws, black, evaluation }) => [
      san,
      (white + draws + black).toLocaleString("en"),
      scoreOf(evaluation),
    ]);
}

const rows = (/** @type {Page} */ page) =>
  page
    .locator("shelfish-explorer tbody tr")
    .evaluateAll((all) =>
      all.map(({ children }) => [
        children[0]?.textContent,
        children[1]?.firstChild?.textContent,
        children[3]?.textContent,
      ]),
    );

test("<shelfish-explorer> shows moves, numbers of games and evaluations as the native program, and a click shows the next position", async (t) => {
  const page = await show(t, "shelfish-explorer", ATTRIBUTES);
  await equals(() => rows(page), explored(START));
  await page
    .locator("shelfish-explorer")
    .getByRole("button", { name: "e4", exact: true })
    .click();
  await equals(() => rows(page), explored(AFTER_E4));
  assert.deepEqual(
    (await heard(page, "move")).map((/** @type {any} */ { san, uci, fen }) => [
      san,
      uci,
      fen,
    ]),
    [["e4", "e2e4", AFTER_E4]],
  );
  // The path leads back, also by keys.
  assert.equal(
    await page.evaluate(
      () =>
        document.querySelector("shelfish-explorer")?.shadowRoot?.activeElement
          ?.textContent,
    ),
    "e4",
  );
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await equals(() => rows(page), explored(START));
});

test("<shelfish-explorer> reports a missing book, a position without games and a database instead of a book", async (t) => {
  const page = await show(t, "shelfish-explorer", {}, { allow: /404/ });
  await until(async () =>
    /needs the attribute book/.test(
      await text(page, "shelfish-explorer .error"),
    ),
  );
  await set(page, { book: "site/book/", fen: MATE });
  await until(
    async () =>
      (await text(page, "shelfish-explorer .facts")) ===
      "No game of the book reached this position.",
  );
  await set(page, { book: "db/" });
  await until(async () =>
    /database of evaluations, not a book/.test(
      await text(page, "shelfish-explorer .error"),
    ),
  );
});

for (const scheme of /** @type {const} */ (["light", "dark"])) {
  for (const width of [360, 1280]) {
    test(`axe finds nothing in ${scheme} mode at ${width} pixels, and the page does not scroll sideways`, async (t) => {
      const page = await shelf.page(t, {
        path: "elements.html",
        context: { colorScheme: scheme, viewport: { width, height: 900 } },
      });
      await equals(() => rows(page), explored(START));
      await until(async () =>
        /database$/.test(await text(page, "shelfish-eval .facts")),
      );
      assert.deepEqual(await findings(page), []);
      assert.ok(
        await page.evaluate(
          () => document.documentElement.scrollWidth <= innerWidth,
        ),
      );
    });
  }
}
