// The board as a person uses it: by clicks, drags, keys and pasted text. It is served under a sub-path.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseFen } from "chessops/fen";
import { AFTER_E4, START } from "./support/chromium.mjs";
import { played } from "./support/games.mjs";
import {
  at,
  clickSquares,
  current,
  open,
  square,
  withoutEngine,
} from "./support/page.mjs";
import { DUMPS, ROOT } from "./support/paths.mjs";
import * as shelf from "./support/shelf.mjs";
import { best, scoreOf, truth } from "./support/truth.mjs";
import { equals, reads, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** The site without the engine: the tests compare the page with the database. */
const SITE = { path: "site/", before: withoutEngine };
const DESK = { viewport: { width: 1366, height: 768 } };
const source = truth(...DUMPS);

/** Waits until the page shows the evaluation of a position in the dumps. */
async function shows(/** @type {Page} */ page, /** @type {string} */ fen) {
  const evaluation = best(source.get(fen) ?? []) ?? assert.fail(fen);
  await equals(
    async () => (await at(page, "score").textContent())?.replace("−", "-"),
    scoreOf(evaluation.pvs[0], "-"),
  );
  await reads(page, "facts", new RegExp(`^Depth ${evaluation.depth} `));
}

/** Opens a text in the dialog. */
async function paste(/** @type {Page} */ page, /** @type {string} */ text) {
  await open(page, text);
  // The dialog closes when the game is on the board.
  await at(page, "open-dialog").waitFor({ state: "hidden" });
}

test("the page opens with the starting position, its evaluation, its lines and the cost of the lookup, and requests no other host", async (t) => {
  const page = await shelf.page(t, SITE);
  /** @type {string[]} */
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.reload();
  await shows(page, START);
  const lines = best(source.get(START) ?? [])?.pvs ?? [];
  assert.equal(await at(page, "line").count(), lines.length);
  assert.match(await at(page, "line-move").first().innerText(), /^[a-hNBRQKO]/);
  await reads(page, "cost", /\d+ requests? · [\d.]+ k?B · [\d.]+ ms/);
  await page
    .locator("#board .cg-shapes g, #board .cg-custom-svgs g")
    .first()
    .waitFor({ state: "attached" });
  await reads(
    page,
    "database",
    new RegExp(`${source.size.toLocaleString("en")} positions`),
  );
  const isOwn = (/** @type {string} */ url) =>
    url.startsWith(shelf.server.url) || url.startsWith("data:");
  assert.deepEqual(
    asked.filter((url) => !isOwn(url)),
    [],
  );
});

test("each position of a famous game has its evaluation, by keys and buttons", async (t) => {
  const pgn = readFileSync(join(ROOT, "static-shards/famous.pgn"), "utf8")
    .split(/\n(?=\[Event )/)
    .find((pgn) => pgn.includes("Morphy"));
  const fens = played(String(pgn)).map(({ fen }) => fen);
  const page = await shelf.page(t, SITE);
  const game = page
    .locator("#games option", { hasText: "Morphy" })
    .filter({ hasText: "Opera" });
  await game.waitFor({ state: "attached" });
  await at(page, "games").selectOption(
    String(await game.getAttribute("value")),
  );
  await equals(() => at(page, "move").count(), fens.length - 1);
  // Leaves the menu, in which keys choose games.
  await page.locator("body").click({ position: { x: 2, y: 2 } });
  for (const fen of fens.slice(1, -1)) {
    await page.keyboard.press("ArrowRight");
    await shows(page, fen);
  }
  await page.keyboard.press("End");
  await reads(page, "score", /1-0/);
  await at(page, "previous").click();
  await shows(page, String(fens.at(-2)));
  await at(page, "first").click();
  await shows(page, START);
});

test("pieces move by clicks and by drags, and each position is looked up", async (t) => {
  const page = await shelf.page(t, SITE);
  await shows(page, START);
  await clickSquares(page, ["e2", "e4"]);
  await shows(page, AFTER_E4);
  const [e7, e5] = [await square(page, "e7"), await square(page, "e5")];
  await page.mouse.move(e7.x, e7.y);
  await page.mouse.down();
  await page.mouse.move(e5.x, e5.y, { steps: 5 });
  await page.mouse.up();
  await shows(page, "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -");
  await page.keyboard.press("ArrowLeft");
  await shows(page, AFTER_E4);
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
  await equals(arrows, 1);
  assert.equal(await picture(), placed, "the first move is an arrow");
  await at(page, "line-move").nth(1).hover();
  await page.locator(".board.previewing").waitFor();
  await until(
    async () => (await arrows()) === 1 && (await picture()) !== placed,
    "the second move is an arrow after the first move",
  );
  assert.deepEqual(await boxes(), before, "no element moves");
  await page.mouse.move(1, 1);
  await equals(picture, placed);
  // After the click the pointer rests on a move of the next line, which must not appear on the board.
  await at(page, "line-move").nth(1).click();
  await equals(() => at(page, "move").count(), 2);
  assert.equal(await page.locator(".board.previewing").count(), 0);
});

test("variations are chosen, entered, promoted and removed by keys and buttons", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  await paste(page, "1. e4 e5 (1... c5 2. Nf3) (1... e6 2. d4) 2. Nf3 Nc6 *");
  for (const [key, san] of /** @type {const} */ ([
    ["ArrowRight", "e4"],
    // The second of two variations.
    ["ArrowDown", ""],
    ["ArrowDown", ""],
    ["ArrowRight", "e6"],
    ["ArrowRight", "d4"],
    ["Shift+ArrowLeft", "e4"],
    ["Shift+ArrowRight", "c5"],
    ["Home", ""],
    ["End", "Nc6"],
  ])) {
    await page.keyboard.press(key);
    if (san) await equals(() => current(page), san);
  }
  const sans = (/** @type {string} */ id) =>
    page.locator(`#moves [data-testid=${id}] .san`).allTextContents();
  const variation = (/** @type {string} */ san) =>
    page.locator("#moves [data-testid=variation-move]", { hasText: san });
  await variation("d4").click();
  await at(page, "promote").click();
  assert.deepEqual(await sans("move"), ["e4", "e6", "d4"]);
  await variation("c5").click();
  await at(page, "remove").click();
  assert.deepEqual(await sans("variation-move"), ["e5", "Nf3", "Nc6"]);
  await page.keyboard.press("Control+z");
  assert.deepEqual(await sans("variation-move"), [
    ...["e5", "Nf3", "Nc6"],
    ...["c5", "Nf3"],
  ]);
  await page.keyboard.press("Control+y");
  assert.deepEqual(await sans("variation-move"), ["e5", "Nf3", "Nc6"]);
  await at(page, "start").click();
  assert.ok(await at(page, "first").isDisabled());
});

test("the menu of a move promotes, deletes and copies, by mouse and by keyboard", async (t) => {
  const page = await shelf.page(t, {
    path: "site/",
    context: { permissions: ["clipboard-read", "clipboard-write"] },
  });
  await paste(page, "1. e4 e5 (1... c5 2. Nf3 (2. c3 d5)) 2. d4 *");
  const sans = (/** @type {string} */ id) =>
    page.locator(`#moves [data-testid=${id}] .san`).allTextContents();
  const menu = async (/** @type {string} */ san, /** @type {string} */ id) => {
    await page
      .locator("#moves button", { hasText: san })
      .click({ button: "right" });
    await at(page, `move-menu-${id}`).click();
  };
  await menu("d5", "first");
  assert.deepEqual(await sans("variation-move"), ["c5", "c3", "Nf3", "d5"]);
  await menu("Nf3", "main");
  assert.deepEqual(await sans("move"), ["e4", "c5", "Nf3"]);
  await menu("c3", "pgn");
  await reads(page, "notice", /PGN copied/);
  assert.match(
    await page.evaluate(() => navigator.clipboard.readText()),
    /1\. e4 c5 2\. c3 \*/,
  );
  await page.locator("#moves button", { hasText: "c5" }).focus();
  await page.keyboard.press("Shift+F10");
  await at(page, "move-menu-dialog").waitFor();
  await page.keyboard.press("ArrowDown");
  await at(page, "move-menu-remove").press("Enter");
  assert.deepEqual(await sans("move"), ["e4", "e5", "d4"]);
});

test("the wheel over the board steps once for a turn and does not scroll, and swipes step unless they move a piece", async (t) => {
  const page = await shelf.page(t, {
    path: "site/#moves=e2e4,e7e5,g1f3,b8c6",
    context: { viewport: { width: 390, height: 844 }, hasTouch: true },
  });
  await at(page, "move").nth(3).waitFor();
  // A trackpad sends many small turns.
  await page.evaluate(() => {
    for (const deltaY of [120, ...Array(19).fill(5)])
      document
        .querySelector("#board")
        ?.dispatchEvent(new WheelEvent("wheel", { deltaY, cancelable: true }));
  });
  assert.equal(await current(page), "e4");
  const { x, y } = await square(page, "e5");
  await page.mouse.move(x, y);
  await until(async () => {
    await page.mouse.wheel(0, 120);
    return (await current(page)) === "Nc6";
  });
  assert.equal(await page.evaluate(() => scrollY), 0);
  const touch = await page.context().newCDPSession(page);
  const swipe = async (
    /** @type {{ x: number, y: number }} */ from,
    /** @type {number} */ by,
  ) => {
    const send = (/** @type {string} */ type, /** @type {number[]} */ ...xs) =>
      touch.send("Input.dispatchTouchEvent", {
        type: /** @type {"touchStart"} */ (type),
        touchPoints: xs.map((x) => ({ x, y: from.y })),
      });
    await send("touchStart", from.x);
    await send("touchMove", from.x + by / 2);
    await send("touchMove", from.x + by);
    await send("touchEnd");
  };
  await swipe(await square(page, "e3"), 90);
  await equals(() => current(page), "Nf3");
  const box = (await page.locator("#moves").boundingBox()) ?? assert.fail();
  await swipe({ x: box.x + 200, y: box.y + box.height - 8 }, -90);
  await equals(() => current(page), "Nc6");
  // A drag of a piece is no swipe.
  await swipe(await square(page, "f1"), -120);
  assert.equal(await current(page), "Nc6");
});

test("a dialog asks before Escape loses a text", async (t) => {
  const page = await shelf.page(t, SITE);
  await at(page, "open").click();
  const dialog = at(page, "open-dialog");
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  await at(page, "open").click();
  await at(page, "open-text").fill("1. e4");
  await page.keyboard.press("Escape");
  await at(page, "leave-keep").click();
  assert.equal(await at(page, "open-text").inputValue(), "1. e4");
  await page.keyboard.press("Escape");
  await at(page, "leave-close").click();
  await dialog.waitFor({ state: "hidden" });
});

test("an illegal typed move is reported at its field, and after a legal move the arrow keys step", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  await reads(page, "facts", /^Depth/);
  await page.keyboard.press("Enter");
  await page.keyboard.type("Nf6");
  await page.keyboard.press("Enter");
  await reads(page, "move-error", /Nf6 is not legal/);
  await at(page, "move-input").fill("e4");
  await page.keyboard.press("Enter");
  await equals(() => current(page), "e4");
  assert.equal(await at(page, "move-error").textContent(), "");
  await page.keyboard.press("ArrowLeft");
  await page.locator("#moves [aria-current][data-testid=start]").waitFor();
  await page.keyboard.press("ArrowRight");
  assert.equal(await current(page), "e4");
});

test("the graph is a slider for keys and clicks with a text for each position, and unknown positions are hatched", async (t) => {
  const page = await shelf.page(t, SITE);
  // The sample contains only the opening.
  await paste(
    page,
    "1. e4 e5 2. Nf3 Nc6 3. a3 a6 4. Ra2 Ra7 5. Ra1 Ra8 6. h3 h6 *",
  );
  await page.locator("#graph .area[d^=M]").waitFor({ state: "attached" });
  const graph = page.getByRole("slider", { name: "Position of the game" });
  const box = (await graph.boundingBox()) ?? assert.fail("no graph");
  await until(async () => {
    const widths = await page.$$eval("#graph .gap", (all) =>
      all.map((gap) => gap.getBoundingClientRect().width),
    );
    const hatched = widths.reduce((sum, width) => sum + width, 0) / box.width;
    return hatched > 0.4 && hatched < 1;
  });
  const text = () => graph.getAttribute("aria-valuetext");
  await graph.focus();
  await page.keyboard.press("ArrowRight");
  await until(async () => /^1\. e4, [+-]?\d/.test(String(await text())));
  await reads(page, "graph-tip", /^1\. e4, [+-]?\d/);
  assert.equal(
    await page.locator("#graph .axis").innerText(),
    "White better\n0\nBlack better",
  );
  await page.locator("#graph .gap", { hasText: "no score yet" }).waitFor();
  await page.mouse.click(box.x + box.width - 2, box.y + box.height / 2);
  assert.equal(await text(), "6… h6, no score yet");
  assert.equal(await current(page), "h6");
});

test("the FEN and the PGN are copied, and the PGN is downloaded, also with evaluations", async (t) => {
  const page = await shelf.page(t, {
    path: "site/#game=morphy-isouard-1858&ply=3",
    context: { permissions: ["clipboard-read", "clipboard-write"] },
  });
  await at(page, "report-share").waitFor({ state: "attached" });
  await at(page, "share").click();
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await at(page, "copy-fen").click();
  await reads(page, "share-status", /FEN copied/);
  assert.ok(parseFen(await clipboard()).isOk);
  await at(page, "copy-pgn").click();
  await reads(page, "share-status", /PGN copied/);
  const game = /\[White "Paul Morphy"\][^]*1\. e4 e5 2\. Nf3 d6/;
  assert.match(await clipboard(), game);
  const download = async (/** @type {string} */ id) => {
    const file = page.waitForEvent("download");
    await at(page, id).click();
    return file;
  };
  assert.equal(
    (await download("download-pgn")).suggestedFilename(),
    "morphy-isouard-1858.pgn",
  );
  const file = await download("download-annotated");
  assert.equal(file.suggestedFilename(), "morphy-isouard-1858-annotated.pgn");
  const text = readFileSync(await file.path(), "utf8");
  assert.match(text, /\[White "Paul Morphy"\]/);
  assert.ok((text.match(/\[%eval /g) ?? []).length > 20, text);
});

test("the report counts bad moves, links to these moves, and shows the number of known positions", async (t) => {
  const page = await shelf.page(t, { ...SITE, context: DESK });
  // Only the PGN has evaluations: White loses a queen, Black a pawn, and a position between them has no evaluation.
  await paste(
    page,
    '[White "Ann"]\n[Black "Bob"]\n\n1. a4 { [%eval 0.0] } a5 { [%eval 0.1] } 2. h4 { [%eval 0.0] } h5 { [%eval 0.1] } 3. Rh3 { [%eval -4.5] } Ra6 { [%eval -2.9] } 4. Rg3 Rb6 { [%eval -3.0] } 5. b3 { [%eval -3.1] } *',
  );
  await reads(
    page,
    "report-share",
    /Based on \d of 9 moves; \d+ of 10 positions are known/,
  );
  const glyph = () =>
    page.locator("#moves [aria-current] .glyph").textContent();
  await at(page, "white-blunder").click();
  assert.equal(await current(page), "Rh3");
  assert.equal(await glyph(), "??");
  await reads(page, "judgment", /^Blunder\./);
  assert.equal(await page.locator("#graph .bad.blunder").count(), 1);
  await page.keyboard.press("Home");
  await page.keyboard.press("b");
  assert.equal(await current(page), "Rh3");
  await page.keyboard.press("Home");
  await page.keyboard.press("i");
  assert.equal(await glyph(), "?!");
});

test("a missing database is explained, and can be tried again", async (t) => {
  const page = await shelf.page(t, {
    path: "site/?db=missing/manifest.json",
    allow: /404/,
  });
  await reads(page, "error", /no readable database/);
  await at(page, "retry").click();
  await at(page, "error").waitFor();
});
