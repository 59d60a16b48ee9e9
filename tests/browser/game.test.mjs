// <shelfish-game> on other pages: its content, its steps, and the files that it loads.
import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BLANK } from "./support/fixtures.mjs";
import { played } from "./support/games.mjs";
import { DUMPS, ROOT } from "./support/paths.mjs";
import * as shelf from "./support/shelf.mjs";
import { best, scoreOf, truth } from "./support/truth.mjs";
import { equals } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const FAMOUS = join(ROOT, "static-shards/famous.pgn");
const PGN = String(
  readFileSync(FAMOUS, "utf8")
    .split(/\n(?=\[Event )/)
    .find((pgn) => pgn.includes("Morphy")),
);
const PLIES = played(PGN);
/** A game that leaves the database after some moves. */
const STRANGE =
  "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 h5 5. a3 h4 6. b4 Rh5 7. Bb2 Rg5 8. O-O";

cpSync(FAMOUS, join(shelf.root, "famous.pgn"));
const write = (/** @type {string} */ name, /** @type {string} */ body) =>
  writeFileSync(join(shelf.root, name), `${BLANK}<body>${body}`);
const SCRIPT = '<script type="module" src="pkg/elements.js"></script>';
write(
  "below.html",
  `${SCRIPT}<div style="height:3000px"></div><shelfish-game database="db/">${PGN}</shelfish-game>`,
);

const source = truth(...DUMPS);
/** Returns the score in the dumps as the element shows it. Empty if the dumps lack the position. */
const score = (/** @type {string} */ fen) =>
  scoreOf(best(source.get(fen) ?? [])?.pvs[0]);

/** Opens a page with elements of these attributes. The first element is the global `game`. */
async function show(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {Record<string, string>[]} */ elements,
  options = {},
) {
  const page = await shelf.page(t, options);
  await page.evaluate(async (elements) => {
    await import(String(new URL("pkg/elements.js", document.baseURI)));
    /** @type {unknown[]} */
    const heard = [];
    const games = elements.map((attributes) => {
      const game = document.createElement("shelfish-game");
      for (const [name, value] of Object.entries(attributes))
        game.setAttribute(name, value);
      for (const type of /** @type {const} */ (["ply", "error"]))
        game.addEventListener(type, ({ detail }) => heard.push(detail));
      document.body.append(game);
      return game;
    });
    Object.assign(globalThis, { game: games[0], heard });
  }, elements);
  return page;
}

const part = (/** @type {Page} */ page, /** @type {string} */ name) =>
  page.locator(`shelfish-game ${name}`).first();
/** Waits until the database has answered. */
const answered = (/** @type {Page} */ page) =>
  part(page, ".facts")
    .filter({ hasText: /Depth|database|mate/i })
    .waitFor();
/** Returns a property of the first element. */
const property = (
  /** @type {Page} */ page,
  /** @type {"ply" | "plies"} */ name,
) =>
  page.evaluate(
    (name) => document.querySelector("shelfish-game")?.[name],
    name,
  );

test("the element shows the moves of a game with scores of the database, and each position during steps", async (t) => {
  const page = await show(t, [{ pgn: PGN, database: "db/" }]);
  await answered(page);
  const moves = PLIES.slice(1);
  const shown = await page
    .locator("shelfish-game .moves button")
    .evaluateAll((buttons) =>
      buttons.map(({ childNodes }) => [
        childNodes[0]?.textContent,
        childNodes[1]?.textContent,
      ]),
    );
  assert.deepEqual(
    shown,
    moves.map(({ san, fen }) => [san, score(fen)]),
  );
  await page.evaluate(() => {
    /** @type {any} */ (globalThis).heard.length = 0;
  });
  await part(page, ".graph").focus();
  for (const _ of moves) await page.keyboard.press("ArrowRight");
  const heard = await page.evaluate(
    () => /** @type {any} */ (globalThis).heard,
  );
  assert.deepEqual(
    heard.map((/** @type {any} */ { ply, fen, san }) => ({ ply, fen, san })),
    moves.map((each, n) => ({ ply: n + 1, ...each })),
  );
  assert.match(await part(page, ".facts").innerText(), /Checkmate/);
  assert.equal(await part(page, ".score").innerText(), "1–0");
  // One white king, and the texts for screen readers.
  assert.match(
    String(await part(page, ".squares").getAttribute("aria-label")),
    /White: king c1.*Black: .*king e8/,
  );
  assert.match(await part(page, ".said").innerText(), /17\. Rd8#, checkmate/);
});

test("keys, buttons, moves, the graph and taps step through the game, on a phone", async (t) => {
  const context = {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  };
  const page = await show(t, [{ pgn: PGN, database: "db/", ply: "4" }], {
    context,
  });
  await answered(page);
  const isAt = (/** @type {number} */ ply) =>
    equals(() => property(page, "ply"), ply);
  await isAt(4);
  await page.getByLabel("Next move").click();
  await isAt(5);
  await page.keyboard.press("Home");
  await isAt(0);
  assert.ok(await page.getByLabel("Previous move").isDisabled());
  await page.keyboard.press("End");
  await isAt(33);
  await page.locator("shelfish-game .moves button").nth(2).click();
  await isAt(3);
  const board = await part(page, ".place").boundingBox();
  const graph = await part(page, ".graph").boundingBox();
  assert.ok(board && graph);
  await page.touchscreen.tap(board.x + 0.8 * board.width, board.y + 20);
  await isAt(4);
  await page.touchscreen.tap(board.x + 0.2 * board.width, board.y + 20);
  await isAt(3);
  await page.mouse.click(graph.x + graph.width - 1, graph.y + 10);
  await isAt(33);
  assert.ok(
    await page.evaluate(
      () => document.documentElement.scrollWidth <= innerWidth,
    ),
  );
});

test("an unknown position is named, hatched, and interrupts the graph", async (t) => {
  const page = await show(t, [{ pgn: STRANGE, database: "db/", ply: "12" }]);
  await answered(page);
  assert.equal(await part(page, ".facts").innerText(), "Not in the database");
  assert.match(
    String(await part(page, ".bar").getAttribute("class")),
    /unknown/,
  );
  const known = played(STRANGE).map(({ fen }) => source.has(fen));
  const runs = known.filter((is, n) => is && !known[n - 1]).length;
  assert.ok(runs > 0 && known.includes(false));
  assert.equal(await page.locator("shelfish-game .white-share").count(), runs);
});

test("several elements on a page share one open database, and positions are shown too", async (t) => {
  const page = await show(
    t,
    [
      { fen: PLIES[1]?.fen ?? "", database: "db/" },
      { pgn: STRANGE, database: "db/manifest.json" },
    ],
    { context: { viewport: { width: 600, height: 3000 } } },
  );
  await answered(page);
  await page
    .locator("shelfish-game .facts")
    .nth(1)
    .filter({ hasText: /Depth/ })
    .waitFor();
  const manifests = (await shelf.server.requests()).filter(
    ({ path }) => path === "/db/manifest.json",
  );
  assert.equal(manifests.length, 1);
});

test("the game can be the text of the element, which loads the package and the database when scrolled into view", async (t) => {
  const page = await shelf.page(t, { path: "below.html" });
  await page.waitForFunction(() => customElements.get("shelfish-game"));
  await page.waitForLoadState("networkidle");
  const loaded = () =>
    page.evaluate(() =>
      performance
        .getEntriesByType("resource")
        .map(({ name }) => new URL(name).pathname)
        .filter((path) => path.includes("/")),
    );
  assert.deepEqual(await loaded(), ["/pkg/elements.js"]);
  await page.evaluate(() =>
    document.querySelector("shelfish-game")?.scrollIntoView(),
  );
  await answered(page);
  assert.ok((await loaded()).includes("/pkg/index.js"));
  assert.equal(await property(page, "plies"), 33);
  assert.match(await part(page, ".player.below").innerText(), /Morphy/);
});

test("a change of attributes is shown, and the element fits the available width", async (t) => {
  const page = await show(t, [{ src: "famous.pgn", database: "db/" }], {
    context: { viewport: { width: 1000, height: 900 } },
  });
  await answered(page);
  assert.ok(Number(await property(page, "plies")) > 15);
  const isBeside = () =>
    page.evaluate(() => {
      const place = (/** @type {string} */ name) =>
        document
          .querySelector("shelfish-game")
          ?.shadowRoot?.querySelector(name)
          ?.getBoundingClientRect();
      return Number(place(".moves")?.left) >= Number(place(".place")?.right);
    });
  assert.equal(await isBeside(), true);
  await page.evaluate((pgn) => {
    const { game } = /** @type {any} */ (globalThis);
    Object.assign(game, { pgn, orientation: "black" });
    game.setAttribute("theme", "dark");
    game.style.width = "320px";
  }, STRANGE);
  await equals(() => property(page, "plies"), 15);
  await page.evaluate(() => {
    /** @type {any} */ (globalThis).game.ply = 99;
  });
  await equals(() => property(page, "ply"), 15);
  await equals(isBeside, false);
  assert.match(
    String(await part(page, ".bar").getAttribute("class")),
    /flipped/,
  );
  assert.equal(
    await page
      .locator("shelfish-game")
      .evaluate((game) => getComputedStyle(game).colorScheme),
    "dark",
  );
});

test("without a database, evaluations of the PGN are shown and marked", async (t) => {
  const page = await show(t, [
    {
      pgn: "1. e4 { [%eval 0.3,20] } e5 { best by test [%eval #-3] } 2. Nf3",
      ply: "1",
    },
  ]);
  await answered(page);
  assert.equal(await part(page, ".score").innerText(), "+0.30");
  assert.equal(
    await part(page, ".facts").innerText(),
    "Depth 20, from the PGN",
  );
  await part(page, ".graph").press("ArrowRight");
  assert.equal(await part(page, ".score").innerText(), "#−3");
  assert.equal(await part(page, ".comment").innerText(), "best by test");
});

for (const [what, attributes, plies, words] of /** @type {const} */ ([
  [
    "a move that is not legal",
    { pgn: "1. e4 e5 2. Ke3 Nc6" },
    2,
    /2. Ke3 is not a legal move/,
  ],
  ["an invalid FEN", { fen: "8/8/8/8 w - -" }, 0, /fen: .*expected 8 ranks/],
  ["a missing database", { pgn: STRANGE, database: "missing/" }, 15, /404/],
  [
    "a missing PGN",
    { src: "missing.pgn" },
    0,
    /missing\.pgn was answered with status 404/,
  ],
  [
    "a PGN without an end",
    { src: "endless.pgn" },
    0,
    /has more than 1048576 characters/,
  ],
])) {
  test(`${what} is an error with an event, and the valid part of the game is shown`, async (t) => {
    const page = await shelf.page(t, { allow: /404/ });
    await page.route("**/endless.pgn", (route) =>
      route.fulfill({ body: "; A line and another.\n".repeat(60_000) }),
    );
    const heard = page.evaluate(async (attributes) => {
      await import(String(new URL("pkg/elements.js", document.baseURI)));
      const game = document.createElement("shelfish-game");
      for (const [name, value] of Object.entries(attributes))
        game.setAttribute(name, value);
      document.body.append(game);
      return new Promise((resolve) =>
        game.addEventListener("error", ({ detail }) => resolve(detail)),
      );
    }, attributes);
    assert.match(String(await heard), words);
    await page.locator("shelfish-game .error:not([hidden])").waitFor();
    assert.match(await part(page, ".error").innerText(), words);
    assert.equal(await property(page, "plies"), plies);
  });
}

test("a lookup that fails differs from a position that is not in the database", async (t) => {
  const page = await shelf.page(t, { allow: /404/ });
  // The host lacks the first blocks of the file.
  await page.route(/\.silo$/, (route) => {
    const { range = "" } = route.request().headers();
    return Number(/\d+/.exec(range)) < 400_000
      ? route.fulfill({ status: 404 })
      : route.continue();
  });
  await page.evaluate(async (pgn) => {
    await import(String(new URL("pkg/elements.js", document.baseURI)));
    const game = document.createElement("shelfish-game");
    Object.assign(game, { pgn, database: "db/" });
    document.body.append(game);
  }, PGN);
  await part(page, ".facts")
    .filter({ hasText: /Depth|not in|could not/i })
    .waitFor();
  const told = [];
  await part(page, ".graph").focus();
  for (const _ of PLIES) {
    told.push((await part(page, ".facts").innerText()).replace(/^Depth.*/, ""));
    await page.keyboard.press("ArrowRight");
  }
  assert.deepEqual([...new Set(told.slice(0, -1))].sort(), [
    "",
    "Could not be looked up",
  ]);
});
