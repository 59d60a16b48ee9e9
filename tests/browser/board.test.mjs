// The analysis board as a player uses it: variations, typed moves, unknown positions, settings, copies and downloads.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parseFen } from "chessops/fen";
import { lab } from "./support/lab.mjs";
import { at, open, withoutEngine } from "./support/page.mjs";
import { reads, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

/** Returns the current move in the list of moves. */
const current = (/** @type {Page} */ page) =>
  page.locator("#moves [aria-current] .san").textContent();

/** Opens a text in the dialog. */
async function paste(/** @type {Page} */ page, /** @type {string} */ text) {
  await open(page, text);
  // The dialog closes when the game is on the board.
  await at(page, "open-dialog").waitFor({ state: "hidden" });
}

test("variations are chosen, entered and left by keys", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  await paste(page, "1. e4 e5 (1... c5 2. Nf3) (1... e6 2. d4) 2. Nf3 Nc6 *");
  await page.keyboard.press("ArrowRight");
  assert.equal(await current(page), "e4");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator("#moves .chosen .san").textContent(), "c5");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  assert.equal(await current(page), "e6");
  await page.keyboard.press("ArrowRight");
  assert.equal(await current(page), "d4");
  await page.keyboard.press("Shift+ArrowLeft");
  assert.equal(await current(page), "e4");
  await page.keyboard.press("Shift+ArrowRight");
  assert.equal(await current(page), "c5");
  await page.keyboard.press("Home");
  await page.locator("#moves [aria-current][data-testid=start]").waitFor();
  await page.keyboard.press("End");
  assert.equal(await current(page), "Nc6");
  await page.keyboard.press("Shift+ArrowLeft");
  await page
    .locator("#moves [data-testid=variation-move]", { hasText: "d4" })
    .click();
  await at(page, "promote").click();
  assert.deepEqual(
    await page.locator("#moves [data-testid=move] .san").allTextContents(),
    ["e4", "e6", "d4"],
  );
  await page
    .locator("#moves [data-testid=variation-move]", { hasText: "c5" })
    .click();
  await at(page, "remove").click();
  assert.deepEqual(
    await page
      .locator("#moves [data-testid=variation-move] .san")
      .allTextContents(),
    ["e5", "Nf3", "Nc6"],
  );
  await at(page, "start").click();
  assert.ok(
    await at(page, "first").isDisabled(),
    "the list leads back to the start",
  );
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
  assert.equal(await at(page, "move-error").textContent(), "");
  assert.equal(await current(page), "e4");
  await page.keyboard.press("ArrowLeft");
  assert.equal(
    await page.locator("#moves [aria-current]").getAttribute("data-testid"),
    "start",
  );
  await page.keyboard.press("ArrowRight");
  assert.equal(await current(page), "e4");
});

test("the list of continuations is sorted by score, and a click plays a continuation", async (t) => {
  const page = await shelf.page(t, {
    path: "site/",
    before: withoutEngine,
    context: { viewport: { width: 1366, height: 768 } },
  });
  await page.getByRole("button", { name: "Moves from here" }).click();
  await at(page, "continuation").first().waitFor();
  const scores = await page
    .locator("#continuations .move-score")
    .allTextContents();
  assert.ok(scores.length > 1);
  // The best move of the position's own evaluation is the first, then other moves by score, then moves with shallow evaluations.
  const rows = await page.locator("#continuations li").evaluateAll((rows) =>
    rows.map((row) => ({
      score: Number(row.querySelector(".move-score")?.textContent),
      isShallow: /shallow/.test(row.textContent ?? ""),
    })),
  );
  const others = rows.slice(1);
  assert.deepEqual(
    others,
    [...others].sort(
      (a, b) => Number(a.isShallow) - Number(b.isShallow) || b.score - a.score,
    ),
  );
  await reads(
    page,
    "continuations",
    new RegExp(`${scores.length} of 20 legal moves`),
  );
  const san = await page.locator("#continuations .san").first().textContent();
  assert.equal(
    san,
    await page.locator("#lines ol > li .line button").first().textContent(),
    "the headline has the same best move",
  );
  await at(page, "continuation").first().hover();
  await page.locator("#board .cg-shapes line").waitFor({ state: "attached" });
  await at(page, "continuation").first().click();
  assert.equal(await current(page), san);
});

test("the graph is a slider for keys and clicks with a text for each position, and unknown positions are hatched", async (t) => {
  const page = await shelf.page(t, { path: "site/", before: withoutEngine });
  // The game leaves every database of good games after a few moves.
  await paste(
    page,
    "1. e4 e5 2. Nf3 Nc6 3. a3 a6 4. Ra2 Ra7 5. Ra1 Ra8 6. h3 h6 *",
  );
  // The sample contains only the opening. The answers arrive block by block.
  await reads(page, "coverage", /^([4-9]|1[0-2]) of 13 positions known/);
  await until(() =>
    page.evaluate(() => {
      const width = (/** @type {Element} */ element) =>
        element.getBoundingClientRect().width;
      const [graph, gaps] = [
        document.getElementById("graph"),
        [...document.querySelectorAll("#graph .gap")],
      ];
      const hatched =
        gaps.reduce((sum, gap) => sum + width(gap), 0) /
        (graph ? width(graph) : 0);
      return hatched > 0.4 && hatched < 1;
    }),
  );
  const box = await at(page, "graph").boundingBox();
  assert.ok(box);
  const graph = page.getByRole("slider", { name: "Position of the game" });
  await graph.focus();
  await page.keyboard.press("ArrowRight");
  await until(() =>
    page.evaluate(() =>
      /^1\. e4, [+-]?\d/.test(
        document
          .querySelector("[role=slider]")
          ?.getAttribute("aria-valuetext") ?? "",
      ),
    ),
  );
  assert.equal(await graph.getAttribute("aria-valuenow"), "1");
  await page.mouse.click(box.x + box.width - 2, box.y + box.height / 2);
  assert.equal(await graph.getAttribute("aria-valuetext"), "6… h6, not known");
  assert.equal(await current(page), "h6");
});

test("settings are kept, and the cache is cleared", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  await at(page, "settings").click();
  await at(page, "set-board").selectOption({ label: "Green" });
  await page.reload();
  assert.deepEqual(
    await page.evaluate(() => ({ ...document.documentElement.dataset })),
    { board: "green", evaluations: "shown" },
  );
  await at(page, "settings").click();
  await at(page, "clear-cache").click();
  await reads(page, "cache-use", /^Cleared/);
});

test("the FEN and the PGN are copied, and the PGN is downloaded", async (t) => {
  const page = await shelf.page(t, {
    path: "site/#game=morphy-isouard-1858&ply=3",
    context: { permissions: ["clipboard-read", "clipboard-write"] },
  });
  await reads(page, "facts", /^Depth/);
  await at(page, "share").click();
  await at(page, "copy-fen").click();
  await reads(page, "share-status", /FEN copied/);
  const fen = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(parseFen(fen).isOk);
  await at(page, "copy-pgn").click();
  await reads(page, "share-status", /PGN copied/);
  assert.match(
    await page.evaluate(() => navigator.clipboard.readText()),
    /\[White "Paul Morphy"\][^]*1\. e4 e5 2\. Nf3 d6/,
  );
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    at(page, "download-pgn").click(),
  ]);
  assert.equal(file.suggestedFilename(), "morphy-isouard-1858.pgn");
});

test("the report counts bad moves, links to these moves, and shows the number of known positions", async (t) => {
  const page = await shelf.page(t, {
    path: "site/",
    before: withoutEngine,
    context: { viewport: { width: 1366, height: 768 } },
  });
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
  await at(page, "white-blunder").click();
  assert.equal(await current(page), "Rh3");
  assert.equal(
    await page.locator("#moves [aria-current] .glyph").textContent(),
    "??",
  );
  await reads(page, "judgment", /^Blunder\./);
  assert.ok((await page.locator("#graph .bad.blunder").count()) === 1);
  await page.keyboard.press("Home");
  await page.keyboard.press("b");
  assert.equal(await current(page), "Rh3");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Home");
  await page.keyboard.press("i");
  assert.equal(
    await page.locator("#moves [aria-current] .glyph").textContent(),
    "?!",
  );
});

test("the PGN is downloaded with evaluations", async (t) => {
  const page = await shelf.page(t, {
    path: "site/#game=morphy-isouard-1858&ply=3",
  });
  await page.getByTestId("report-share").waitFor({ state: "attached" });
  await at(page, "share").click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    at(page, "download-annotated").click(),
  ]);
  assert.equal(file.suggestedFilename(), "morphy-isouard-1858-annotated.pgn");
  let text = "";
  for await (const part of await file.createReadStream()) text += part;
  assert.match(text, /\[White "Paul Morphy"\]/);
  assert.ok((text.match(/\[%eval /g) ?? []).length > 20, text);
});
