// The demo page, as a person uses it: by clicks, drags, keys and pasted text. It is served under a sub-path.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { makeFen } from "chessops/fen";
import { parsePgn, startingPosition } from "chessops/pgn";
import { parseSan } from "chessops/san";
import { START, kept, lab } from "./support/lab.mjs";
import { at, square, withoutEngine } from "./support/page.mjs";
import { DUMPS, ROOT } from "./support/paths.mjs";
import { best, truth } from "./support/truth.mjs";
import { equals, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

/** The site without the engine: the tests compare the page with the database. */
const SITE = { path: "site/", before: withoutEngine };
const source = truth(...DUMPS);

/** Returns the expected score and depth of a position. */
function expected(/** @type {string} */ fen) {
  const evaluation = best(source.get(fen) ?? []);
  assert.ok(evaluation, `${fen} is in the dumps`);
  const { cp, mate } = evaluation.pvs[0] ?? {};
  const score =
    mate !== undefined
      ? `#${mate}`
      : `${Number(cp) < 0 ? "-" : Number(cp) > 0 ? "+" : ""}${Math.abs(Number(cp) / 100).toFixed(2)}`;
  return { score, depth: evaluation.depth };
}

/** Waits until the page shows the evaluation of a position in the dumps. */
async function shows(/** @type {Page} */ page, /** @type {string} */ fen) {
  const { score, depth } = expected(fen);
  await until(() =>
    page.evaluate(([score, depth]) => {
      const text = (/** @type {string} */ id) =>
        document.querySelector(`[data-testid=${id}]`)?.textContent ?? "";
      return (
        text("score")
          .replace("−", "-")
          .replace(/^\+?(0\.00)$/, "$1") === score &&
        text("facts").startsWith(`Depth ${depth} `)
      );
    }, /** @type {const} */ ([score, depth])),
  );
}

/** Returns the positions of a famous game, before and after every move. */
function famous(/** @type {string} */ white) {
  const game = parsePgn(
    readFileSync(join(ROOT, "static-shards", "famous.pgn"), "utf8"),
  ).find(({ headers }) => headers.get("White")?.startsWith(white));
  assert.ok(game);
  const position = startingPosition(game.headers).unwrap();
  const fen = () => makeFen(position.toSetup(), { epd: true });
  const fens = [fen()];
  for (const { san } of game.moves.mainline()) {
    const move = parseSan(position, san);
    assert.ok(move, san);
    position.play(move);
    fens.push(fen());
  }
  return { fens, over: position.isEnd() };
}

const text = async (/** @type {Page} */ page, /** @type {string} */ id) =>
  (await at(page, id).textContent()) ?? "";

test("the page opens with the starting position, its evaluation, its lines and the cost of the lookup", async (t) => {
  const page = await shelf.page(t, SITE);
  await shows(page, START);
  const lines = best(source.get(START) ?? [])?.pvs ?? [];
  assert.equal(await at(page, "line").count(), lines.length);
  assert.match(await at(page, "line-move").first().innerText(), /^[a-hNBRQKO]/);
  await until(() =>
    page.evaluate(() =>
      /\d+ requests? · [\d.]+ k?B · \d+ ms/.test(
        document.querySelector("[data-testid=cost]")?.textContent ?? "",
      ),
    ),
  );
  assert.match(await text(page, "cost"), /network/);
  await page
    .locator("#board .cg-shapes g, #board .cg-custom-svgs g")
    .first()
    .waitFor({ state: "attached" });
  assert.match(
    await text(page, "database"),
    new RegExp(`${source.size.toLocaleString("en")} positions`),
  );
});

for (const [white, title] of /** @type {const} */ ([
  ["Paul Morphy", "Opera"],
])) {
  test(`stepping through a game of ${white} finds an evaluation at every move`, async (t) => {
    const { fens, over } = famous(white);
    const page = await shelf.page(t, SITE);
    await shows(page, START);
    await page
      .locator("#games optgroup option")
      .first()
      .waitFor({ state: "attached" });
    const labels = await page.locator("#games option").allInnerTexts();
    const label = labels.find(
      (label) =>
        label.includes(String(/\w{6,}/.exec(white)?.[0])) &&
        label.includes(title),
    );
    assert.ok(label, labels.join("; "));
    await at(page, "games").selectOption({ label });
    await equals(() => at(page, "move").count(), fens.length - 1);
    // Leaves the menu, in which keys choose games.
    await page.locator("body").click({ position: { x: 2, y: 2 } });
    for (const fen of fens.slice(1, over ? -1 : undefined)) {
      await page.keyboard.press("ArrowRight");
      await shows(page, fen);
    }
    if (over) {
      await page.keyboard.press("ArrowRight");
      await until(() =>
        page.evaluate(() =>
          /1-0/.test(
            document.querySelector("[data-testid=score]")?.textContent ?? "",
          ),
        ),
      );
    }
    await page.keyboard.press("Home");
    await shows(page, START);
    await page.keyboard.press("End");
    if (!over) await shows(page, String(fens.at(-1)));
    await at(page, "previous").click();
    await shows(page, String(fens.at(-2)));
    await at(page, "first").click();
    await shows(page, START);
  });
}

test("pieces move by clicks and by drags, and each position is looked up", async (t) => {
  const page = await shelf.page(t, SITE);
  await shows(page, START);
  const [e2, e4, e7, e5] = await Promise.all(
    ["e2", "e4", "e7", "e5"].map((name) => square(page, name)),
  );
  assert.ok(e2 && e4 && e7 && e5);
  await page.mouse.click(e2.x, e2.y);
  await page.mouse.click(e4.x, e4.y);
  await shows(page, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -");
  await page.mouse.move(e7.x, e7.y);
  await page.mouse.down();
  await page.mouse.move(e5.x, e5.y, { steps: 5 });
  await page.mouse.up();
  await shows(page, "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -");
  assert.equal(await at(page, "move").count(), 2);
  await page.keyboard.press("ArrowLeft");
  await shows(page, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -");
});

test("a move of a line is shown on the board while the mouse is on the move, no element moves, and a click plays the move", async (t) => {
  const page = await shelf.page(t, SITE);
  await shows(page, START);
  const picture = () =>
    page.$$eval("#board piece", (all) =>
      all
        .map(
          (each) =>
            `${each.className} ${/** @type {HTMLElement} */ (each).style.transform}`,
        )
        .sort()
        .join(),
    );
  const arrows = () => page.locator("#board .cg-shapes line").count();
  const boxes = () =>
    page.$$eval("#lines li, #lines button, #moves, #graph", (all) =>
      all.map((each) => JSON.stringify(each.getBoundingClientRect())),
    );
  const [before, placed] = [await boxes(), await picture()];
  await at(page, "line-move").nth(0).hover();
  await until(async () => (await arrows()) === 1);
  assert.equal(await picture(), placed, "the first move is an arrow");
  await at(page, "line-move").nth(1).hover();
  await page.locator(".board.previewing").waitFor();
  await until(
    async () => (await arrows()) === 1 && (await picture()) !== placed,
    "the second move is an arrow after the first move",
  );
  assert.deepEqual(await boxes(), before, "no element moves");
  assert.equal(
    await page.evaluate(() => {
      const { x, y } = /** @type {Element} */ (
        document.querySelector("#lines button:nth-child(1)")
      ).getBoundingClientRect();
      return (
        document.elementFromPoint(x + 2, y + 4)?.closest("#lines") !== null
      );
    }),
    true,
    "nothing covers the line",
  );
  await page.mouse.move(1, 1);
  await until(
    async () =>
      (await page.locator(".board.previewing").count()) === 0 &&
      (await picture()) === placed,
  );
  // After the click the pointer rests on a move of the next line, which must not appear on the board.
  await at(page, "line-move").nth(1).click();
  await until(() =>
    page.evaluate(
      () => document.querySelectorAll("[data-testid=move]").length === 2,
    ),
  );
  assert.equal(await page.locator(".board.previewing").count(), 0);
  await page.keyboard.press("Home");
  await at(page, "line-move").first().click();
  await until(() =>
    page.evaluate(
      () =>
        document.querySelector("[data-testid=move][aria-current]")
          ?.textContent ===
        document.querySelector("[data-testid=move]")?.textContent,
    ),
  );
});

test("the page reports that a position is not in the database", async (t) => {
  const page = await shelf.page(t, SITE);
  await shows(page, START);
  await page.keyboard.press("o");
  await at(page, "open-text").fill("8/8/8/3k4/8/8/3K4/N7 w - - 0 1");
  await at(page, "open-submit").click();
  await until(() =>
    page.evaluate(() =>
      /Not in this database/.test(
        document.querySelector("[data-testid=facts]")?.textContent ?? "",
      ),
    ),
  );
});

test("after a reload the page shows the same position and requests only the manifest", async (t) => {
  const page = await shelf.page(t, SITE);
  await shows(page, START);
  await kept(page, 2);
  await shelf.server.requests();
  await at(page, "move-input").fill("e4");
  await at(page, "move-input").press("Enter");
  const fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
  await shows(page, fen);
  const fetched = (await shelf.server.requests()).filter(({ range }) => range);
  await kept(page, 2 + fetched.length);
  // The address changes after the move.
  await until(() => page.evaluate(() => location.hash.includes("e2e4")));
  await page.reload();
  await shows(page, fen);
  await until(() =>
    page.evaluate(() =>
      /IndexedDB/.test(
        document.querySelector("[data-testid=cost]")?.textContent ?? "",
      ),
    ),
  );
  const asked = (await shelf.server.requests()).filter(({ path }) =>
    path.startsWith("/site/db/"),
  );
  assert.ok(
    asked.some(
      ({ status, path }) => path.endsWith("manifest.json") && status === 304,
    ),
  );
});

test("a missing database is explained, and can be tried again", async (t) => {
  const page = await shelf.page(t, {
    path: "site/?db=missing/manifest.json",
    allow: /404/,
  });
  await at(page, "error").waitFor();
  assert.match(await text(page, "error"), /no readable database/);
  await at(page, "retry").click();
  await at(page, "error").waitFor();
});

test("no other host is requested", async (t) => {
  const page = await shelf.page(t, SITE);
  /** @type {string[]} */
  const foreign = [];
  page.on(
    "request",
    (request) =>
      !request.url().startsWith(shelf.server.url) &&
      !request.url().startsWith("data:") &&
      foreign.push(request.url()),
  );
  await page.reload();
  await shows(page, START);
  assert.deepEqual(foreign, []);
});
