// The tools of the board: hidden evaluations, the editor of positions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findings } from "./support/axe.mjs";
import { at, clickSquares, says } from "./support/page.mjs";
import * as shelf from "./support/shelf.mjs";
import { equals, reads, until } from "./support/until.mjs";

/** The board of the editor. */
const EDITOR = { board: ".editor-board > .cg-wrap" };
const GAME = "site/#moves=e2e4,e7e5,g1f3,b8c6&ply=4";

test("evaluations and arrows are hidden on request, also after a reload", async (t) => {
  const page = await shelf.page(t, { path: GAME });
  const arrows = () => page.locator(".cg-shapes line").count();
  const seen = async () =>
    Promise.all(["score", "lines"].map((id) => at(page, id).isVisible()));
  await until(async () => (await arrows()) > 0);
  assert.deepEqual(await seen(), [true, true]);
  await page.locator("body").press("h");
  assert.deepEqual(await seen(), [false, false]);
  // The board draws arrows in its next frame.
  await equals(arrows, 0);
  assert.equal(await page.locator(".move-score:visible").count(), 0);
  await page.reload();
  await page.locator("[data-testid=move]").first().waitFor();
  await until(async () => (await at(page, "score").textContent()) !== "");
  assert.deepEqual([await seen(), await arrows()], [[false, false], 0]);
  await page.locator("body").press("h");
  await until(async () => (await arrows()) > 0);
  assert.deepEqual(await seen(), [true, true]);
});

test("a position is set up by pieces, and errors name the reason", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  const fen = () => at(page, "editor-fen").inputValue();
  await page.locator("body").press("s");
  await at(page, "editor-clear").click();
  await says(page, "editor-error", /board is empty/);
  assert.ok(await at(page, "editor-use").isDisabled());
  for (const [piece, ...squares] of [
    ["white-king", "e1"],
    ["white-rook", "h1", "a1"],
    ["black-king", "e8"],
    ["black-pawn", "a2"],
  ]) {
    await at(page, `editor-${piece}`).click();
    await clickSquares(page, squares, EDITOR);
  }
  await until(
    async () => (await fen()) === "4k3/8/8/8/8/8/p7/R3K2R w - - 0 1",
    fen,
  );
  // A second click removes the piece.
  await clickSquares(page, ["a2"], EDITOR);
  await until(
    async () => (await fen()) === "4k3/8/8/8/8/8/8/R3K2R w - - 0 1",
    fen,
  );
  await at(page, "editor-castling-K").check();
  await at(page, "editor-turn-black").check();
  await at(page, "editor-remove-pieces").click();
  await clickSquares(page, ["a1"], EDITOR);
  await until(
    async () => (await fen()) === "4k3/8/8/8/8/8/8/4K2R b K - 0 1",
    fen,
  );
  await at(page, "editor-use").click();
  await at(page, "editor-dialog").waitFor({ state: "detached" });
  await until(() =>
    page.evaluate(() =>
      decodeURIComponent(location.hash)
        .replaceAll("_", " ")
        .includes("4k3/8/8/8/8/8/8/4K2R b K - 0 1"),
    ),
  );
  await until(
    async () =>
      /King|king/.test((await at(page, "position-text").textContent()) ?? "") &&
      /White: king e1, rook h1\. Black: king e8\./.test(
        (await at(page, "position-text").textContent()) ?? "",
      ),
  );
});

for (const [width, height, colorScheme] of /** @type {const} */ ([
  [390, 844, "dark"],
  [1366, 768, "light"],
])) {
  test(`the editor fits ${width}×${height} without violations of accessibility`, async (t) => {
    const page = await shelf.page(t, {
      path: GAME,
      context: { viewport: { width, height }, colorScheme },
    });
    await page
      .locator("[data-testid=move]")
      .first()
      .waitFor({ state: "attached" });
    if (await at(page, "menu").isVisible()) await at(page, "menu").click();
    await at(page, "set-up").click();
    await at(page, "editor-dialog").waitFor();
    const box = await at(page, "editor-dialog").boundingBox();
    assert.ok(
      box &&
        box.x >= 0 &&
        box.y >= 0 &&
        box.x + box.width <= width &&
        box.y + box.height <= height,
      JSON.stringify(box),
    );
    assert.deepEqual(await findings(page), []);
  });
}

for (const colorScheme of /** @type {const} */ (["light", "dark"]))
  for (const set of ["cburnett", "merida"])
    test(`the pieces ${set} stand out from their squares and from each other, ${colorScheme}`, async (t) => {
      const page = await shelf.page(t, {
        path: "site/",
        context: { viewport: { width: 1366, height: 768 }, colorScheme },
      });
      await reads(page, "facts", /^Depth/);
      await at(page, "settings").click();
      await at(page, "set-pieces").selectOption(set);
      await page.keyboard.press("Escape");
      await at(page, "settings-dialog").waitFor({ state: "detached" });
      await page.reload();
      await reads(page, "facts", /^Depth/);
      // Without arrows.
      await page.keyboard.press("h");
      const pictures = () =>
        page.$$eval("#board cg-board piece", (all) =>
          all.map((piece) => getComputedStyle(piece).backgroundImage),
        );
      await until(async () =>
        (await pictures()).every(
          (picture) =>
            /0 0 50 50/.test(decodeURIComponent(picture)) ===
            (set === "merida"),
        ),
      );
      assert.equal(new Set(await pictures()).size, 12);
      const picture = await page.locator("#board cg-board").screenshot();
      /** Of each square: the share of its pixels that are not its colour, and the mean lightness of these. */
      const squares = await page.evaluate(async (data) => {
        const image = new Image();
        image.src = `data:image/png;base64,${data}`;
        await image.decode();
        const side = Math.floor(image.width / 8);
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext("2d", { willReadFrequently: true });
        if (!context) throw new Error("no canvas");
        context.drawImage(image, 0, 0);
        return Array.from({ length: 64 }, (_, n) => {
          const [x, y] = [(n % 8) * side, Math.floor(n / 8) * side];
          const inset = Math.round(side / 8);
          const { data } = context.getImageData(
            x + inset,
            y + inset,
            side - 2 * inset,
            side - 2 * inset,
          );
          const [red = 0, , blue = 0] = context.getImageData(
            x + 3,
            y + Math.round(side / 2),
            1,
            1,
          ).data;
          const lights = [];
          for (let i = 0; i < data.length; i += 4)
            if (
              Math.abs((data[i] ?? 0) - red) > 40 ||
              Math.abs((data[i + 2] ?? 0) - blue) > 40
            )
              lights.push(data[i] ?? 0);
          return [
            (4 * lights.length) / data.length,
            lights.reduce((sum, light) => sum + light, 0) / lights.length,
          ];
        });
      }, picture.toString("base64"));
      for (const [n, [share = 0]] of squares.entries())
        assert.ok(
          n > 15 && n < 48 ? share < 0.03 : share > 0.1,
          `${n}: ${share}`,
        );
      // A white piece is lighter than the black piece of its file.
      for (const n of [...Array(16).keys()]) {
        const [black, white] = [squares[n], squares[n < 8 ? 56 + n : 40 + n]];
        assert.ok(Number(white?.[1]) > Number(black?.[1]) + 20, `${n}`);
      }
    });
