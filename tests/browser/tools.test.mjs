// The tools of the board: comments and glyphs, threats, hidden evaluations, scores of variations.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findings } from "./support/axe.mjs";
import { lab } from "./support/lab.mjs";
import { stores } from "./support/stored-games.mjs";
import { until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => {
  shelf = await lab();
});
after(() => shelf.close());

const at = (/** @type {Page} */ page, /** @type {string} */ id) => page.getByTestId(id);
const says = (/** @type {Page} */ page, /** @type {string} */ id, /** @type {RegExp} */ expected) => at(page, id).filter({ hasText: expected }).waitFor();

const PGN = '[White "Anna"]\n[Black "Bert"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 { Old } *';
/** White threatens mate on f7; Black is to move. */
const SCHOLAR = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR b KQkq - 3 3";
const CHECK = "rnb1kbnr/pppp1ppp/8/4p3/4P2q/5P2/PPPP2PP/RNBQKBNR w KQkq - 1 3";

/** Games whose links name them in different ways. */
const GAMES = {
  "a game of a link": `site/#pgn=${encodeURIComponent(PGN)}&ply=4`,
  "a famous game": "site/#game=morphy-isouard-1858&ply=4",
  "a game of the board": "site/#moves=e2e4,e7e5,g1f3,b8c6&ply=4",
};

for (const [name, path] of Object.entries(GAMES)) {
  test(`a comment and a glyph of ${name} survive a reload, and can be undone`, async (t) => {
    const page = await shelf.page(t, { path });
    const move = page.locator('[data-testid=move][aria-current="true"]');
    await move.waitFor();
    const san = await move.locator(".san").innerText();
    const { hash } = new URL(page.url());
    await page.locator("body").press("e");
    await at(page, "annotate-text").fill("The <b>first</b> idea } of the opening");
    await at(page, "glyph-5").check();
    await at(page, "annotate-save").click();
    await page.locator(".comment", { hasText: "The <b>first</b> idea" }).waitFor();
    assert.equal(await move.locator(".glyph").innerText(), "!?");
    if (hash.startsWith("#game=")) await stores(page, /idea/);
    else await until(() => new URL(page.url()).hash !== hash, "the link has the comment");
    await page.reload();
    await move.filter({ hasText: san }).waitFor();
    await page.locator(".comment", { hasText: "idea" }).waitFor();
    assert.equal(await move.locator(".glyph").innerText(), "!?");
    await page.locator("body").press("e");
    await at(page, "annotate-text").fill("");
    await at(page, "glyph-0").check();
    await at(page, "annotate-text").press("Control+Enter");
    await page.locator(".comment", { hasText: "idea" }).waitFor({ state: "detached" });
    await at(page, "notice-action").click();
    await page.locator(".comment", { hasText: "idea" }).waitFor();
    assert.equal(await move.locator(".glyph").innerText(), "!?");
  });
}

test("the copied PGN has the comment and the glyph", async (t) => {
  const page = await shelf.page(t, { path: GAMES["a game of a link"], context: { permissions: ["clipboard-read", "clipboard-write"] } });
  await at(page, "next").click();
  await page.locator("body").press("e");
  assert.equal(await at(page, "annotate-text").inputValue(), "Old");
  await at(page, "annotate-text").fill("New");
  await at(page, "glyph-3").check();
  await at(page, "annotate-save").click();
  await page.locator(".comment", { hasText: "New" }).waitFor();
  await page.locator("body").press("p");
  await says(page, "notice", /PGN copied/);
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /3\. Bc4!! \{ New \}|3\. Bc4 \$3 \{ New \}/);
});

test("the threat of the other side is an arrow with its score, until the tool is turned off", async (t) => {
  const page = await shelf.page(t, { path: `site/#fen=${SCHOLAR.replaceAll(" ", "_")}` });
  const arrows = () => page.locator('.cg-shapes [stroke="#882020"]').count();
  assert.equal(await arrows(), 0);
  await page.locator("body").press("x");
  await says(page, "notice", /^Threat: Qxf7# \(#1\)\.$/);
  await until(async () => (await arrows()) > 0);
  // After Black's defence White has no mate in one.
  await at(page, "move-input").fill("g6");
  await at(page, "move-input").press("Enter");
  await at(page, "move-input").blur();
  await until(async () => !/#1/.test((await at(page, "notice").textContent()) ?? "#1"));
  await at(page, "tools").click();
  assert.equal(await at(page, "tool-threat").getAttribute("aria-pressed"), "true");
  await at(page, "tool-threat").click();
  await at(page, "notice").waitFor({ state: "hidden" });
  assert.equal(await arrows(), 0);
});

test("a side in check has no threat against it but the check", async (t) => {
  const page = await shelf.page(t, { path: `site/#fen=${CHECK.replaceAll(" ", "_")}` });
  await page.locator("body").press("x");
  await says(page, "notice", /The check is the threat/);
});

test("evaluations and arrows are hidden on request, also after a reload", async (t) => {
  const page = await shelf.page(t, { path: GAMES["a famous game"] });
  const arrows = () => page.locator(".cg-shapes line").count();
  const seen = async () => Promise.all(["score", "lines"].map((id) => at(page, id).isVisible()));
  await until(async () => (await arrows()) > 0);
  assert.deepEqual(await seen(), [true, true]);
  await page.locator("body").press("h");
  assert.deepEqual([await seen(), await arrows()], [[false, false], 0]);
  assert.equal(await page.locator(".move-score:visible").count(), 0);
  await page.reload();
  await page.locator("[data-testid=move]").first().waitFor();
  await until(async () => (await at(page, "score").textContent()) !== "");
  assert.deepEqual([await seen(), await arrows()], [[false, false], 0]);
  await page.locator("body").press("h");
  await until(async () => (await arrows()) > 0);
  assert.deepEqual(await seen(), [true, true]);
});

test("moves of a variation have the scores of their own evaluations", async (t) => {
  const page = await shelf.page(t, { path: "site/#pgn=" + encodeURIComponent("1. e4 e5 (1... f6 2. d4) 2. Nf3 *"), context: { viewport: { width: 1366, height: 768 } } });
  await page.locator("[data-testid=variation-move]", { hasText: "f6" }).click();
  await until(async () => /^[+−-]\d/.test((await page.locator("[data-testid=variation-move]", { hasText: "f6" }).locator(".move-score").textContent()) ?? ""));
});

for (const [width, height, colorScheme] of /** @type {const} */ ([
  [390, 844, "dark"],
  [844, 390, "light"],
  [1366, 768, "light"],
])) {
  test(`the tools and the comment dialog fit ${width}×${height} without faults of accessibility`, async (t) => {
    const page = await shelf.page(t, { path: GAMES["a famous game"], context: { viewport: { width, height }, colorScheme } });
    await page.locator("[data-testid=move]").first().waitFor({ state: "attached" });
    if (await at(page, "menu").isVisible()) await at(page, "menu").click();
    await at(page, "tools").click();
    for (const id of ["tools-dialog", "annotate-dialog"]) {
      await at(page, id).waitFor();
      const box = await at(page, id).boundingBox();
      assert.ok(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height, `${id} ${JSON.stringify(box)}`);
      assert.deepEqual(await findings(page), [], id);
      if (id === "tools-dialog") await at(page, "tool-annotate").click();
    }
  });
}
