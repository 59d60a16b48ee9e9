// <shelfish-eval> and <shelfish-explorer> on other pages: their answers, their events, and the files that they load.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findings } from "./support/axe.mjs";
import { AFTER_E4, START } from "./support/chromium.mjs";
import { BLANK } from "./support/fixtures.mjs";
import { DUMPS, SHELFISH } from "./support/paths.mjs";
import * as shelf from "./support/shelf.mjs";
import { best, scoreOf, truth } from "./support/truth.mjs";
import { equals, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** White mates in one. The sample lacks the position. */
const MATE = "6k1/5ppp/8/8/8/8/8/R3K2R w - - 0 1";
const ATTRIBUTES = { database: "db/", book: "site/book/" };

writeFileSync(
  join(shelf.root, "elements.html"),
  `${BLANK}<meta name="viewport" content="width=device-width"><script type="module" src="pkg/elements.js"></script><body><main><h1>Elements</h1><shelfish-eval fen="${START}" database="db/" lines="3"></shelfish-eval><shelfish-explorer book="site/book/" database="db/"></shelfish-explorer></main>`,
);

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

/** Waits for a number of events of a type. Returns their details. */
async function heard(
  /** @type {Page} */ page,
  /** @type {string} */ type,
  count = 1,
) {
  return until(async () => {
    const details = await page.evaluate(
      (type) =>
        /** @type {any} */ (globalThis).heard
          .filter((/** @type {any} */ [each]) => each === type)
          .map((/** @type {any} */ [, detail]) => detail),
      type,
    );
    return details.length === count && details;
  });
}

/** Waits until a part of the element matches. */
const reads = (
  /** @type {Page} */ page,
  /** @type {string} */ part,
  /** @type {RegExp} */ text,
) =>
  page
    .locator(`shelfish-eval ${part}, shelfish-explorer ${part}`)
    .filter({ hasText: text })
    .first()
    .waitFor();

test("<shelfish-eval> shows the score, the depth and the lines of the database, and loads no engine", async (t) => {
  const page = await show(t, "shelfish-eval", {
    fen: START,
    database: "db/",
    lines: "3",
  });
  const [answer] = await heard(page, "evaluation");
  const expected = best(source.get(START) ?? []);
  const { from, depth, pvs } = answer;
  assert.deepEqual(
    [from, depth, pvs[0].cp],
    ["database", expected?.depth, expected?.pvs[0]?.cp],
  );
  const text = (/** @type {string} */ part) =>
    page.locator(`shelfish-eval ${part}`).innerText();
  assert.equal(await text(".facts"), `Depth ${depth}, database`);
  assert.equal(await text(".score"), scoreOf(pvs[0]));
  const lines = await page
    .locator("shelfish-eval li")
    .evaluateAll((all) =>
      all.map((line) =>
        [...line.children].map(({ textContent }) => textContent),
      ),
    );
  assert.deepEqual(
    lines,
    [0, 1, 2].map((n) =>
      pvs[n] ? [scoreOf(pvs[n]), pvs[n].san.join(" ")] : [],
    ),
  );
  assert.match(await text(".said"), /^[+−]?\d.*, Depth \d+, database$/);
  const names = (await shelf.server.requests()).map(({ path }) => path);
  assert.ok(
    !names.some((path) => /engine-worker|engine_bg|endgames/.test(path)),
    names.join(),
  );
});

test("<shelfish-eval> reports unknown positions, ended games, invalid FENs and a missing database, and the engine evaluates unknown positions on request", async (t) => {
  const page = await show(
    t,
    "shelfish-eval",
    { fen: MATE, database: "nowhere/" },
    { allow: /404/ },
  );
  await reads(page, ".error", /nowhere\/manifest\.json/);
  await set(page, { database: "db/" });
  await reads(page, ".facts", /^Not in the database$/);
  assert.deepEqual(await heard(page, "evaluation"), [null]);
  await set(page, { engine: "" });
  await reads(page, ".facts", /^Depth \d+, engine$/);
  await reads(page, ".score", /^#1$/);
  await reads(page, "li", /Ra8#/);
  await set(page, { fen: "R5k1/5ppp/8/8/8/8/8/4K2R b - - 1 1" });
  await reads(page, ".facts", /^Checkmate$/);
  await set(page, { fen: "8/8/8 w" });
  await heard(page, "error", 2);
  await reads(page, ".error", /FEN/);
  await set(page, { fen: START });
  await reads(page, ".facts", /^Depth \d+, database$/);
  assert.equal(await page.locator("shelfish-eval .error").isVisible(), false);
});

/** Waits until the element has the moves of the native program, with their numbers of games and their scores. */
async function shows(/** @type {Page} */ page, /** @type {string} */ fen) {
  const folder = (/** @type {string} */ name) => join(shelf.root, name);
  const options = ["-d", folder("site/book"), "--evals", folder("db")];
  const { moves } = JSON.parse(
    execFileSync(SHELFISH, ["explore", ...options, "--json", fen], {
      encoding: "utf8",
    }),
  );
  const expected = moves
    .slice(0, 12)
    .map((/** @type {any} */ { san, white, draws, black, evaluation }) => [
      san,
      (white + draws + black).toLocaleString("en"),
      scoreOf(evaluation),
    ]);
  const rows = () =>
    page
      .locator("shelfish-explorer tbody tr")
      .evaluateAll((all) =>
        all.map(({ children }) => [
          children[0]?.textContent,
          children[1]?.firstChild?.textContent,
          children[3]?.textContent,
        ]),
      );
  await equals(rows, expected);
}

test("<shelfish-explorer> shows moves, numbers of games and evaluations as the native program, and a click shows the next position", async (t) => {
  const page = await show(t, "shelfish-explorer", ATTRIBUTES);
  await shows(page, START);
  await page
    .locator("shelfish-explorer")
    .getByRole("button", { name: "e4", exact: true })
    .click();
  await shows(page, AFTER_E4);
  const [{ san, uci, fen }] = await heard(page, "move");
  assert.deepEqual([san, uci, fen], ["e4", "e2e4", AFTER_E4]);
  // The path leads back, also by keys.
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await shows(page, START);
});

test("<shelfish-explorer> reports a missing book, a position without games and a database instead of a book", async (t) => {
  const page = await show(t, "shelfish-explorer", {}, { allow: /404/ });
  await reads(page, ".error", /needs the attribute book/);
  await set(page, { book: "site/book/", fen: MATE });
  await reads(page, ".facts", /^No game of the book reached this position\.$/);
  await set(page, { book: "db/" });
  await reads(page, ".error", /database of evaluations, not a book/);
});

for (const [colorScheme, width] of /** @type {const} */ ([
  ["light", 360],
  ["dark", 1280],
])) {
  test(`axe finds nothing in ${colorScheme} mode at ${width} pixels, and the page does not scroll sideways`, async (t) => {
    const page = await shelf.page(t, {
      path: "elements.html",
      context: { colorScheme, viewport: { width, height: 900 } },
    });
    await shows(page, START);
    await reads(page, ".facts", /database$/);
    assert.deepEqual(await findings(page), []);
    assert.ok(
      await page.evaluate(
        () => document.documentElement.scrollWidth <= innerWidth,
      ),
    );
  });
}
