// Endgame tables on the pages: exact results on the board, in the report and in Play, and a fallback without tables.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findings } from "./support/axe.mjs";
import * as shelf from "./support/shelf.mjs";
import { at, withoutEngine } from "./support/page.mjs";
import { equals, reads } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const fenPath = (/** @type {string} */ fen) =>
  `site/#fen=${fen.replaceAll(" ", "_")}`;

const BISHOP_AND_KNIGHT = "8/8/8/4k3/8/8/8/2B1KN2 w - - 0 1";

test("a position with few pieces and all its legal moves have exact results", async (t) => {
  const page = await shelf.page(t, { path: fenPath(BISHOP_AND_KNIGHT) });
  await reads(
    page,
    "facts",
    /^White wins by endgame tables, capture or pawn move in 56 half-moves$/,
  );
  const rows = await at(page, "line").allTextContents();
  assert.equal(rows.length, 15, "all legal moves");
  assert.match(String(rows[0]), /^Win 56/);
  assert.match(String(rows.at(-1)), /^Draw/);
  // Only the best move has an arrow.
  await equals(() => page.locator("#board .cg-shapes line").count(), 1);
  assert.deepEqual(await findings(page), []);
  // The result of the next position comes without a search.
  await at(page, "line-move").first().click();
  await reads(page, "facts", /^White wins by endgame tables/);
});

test("a move that spoils a won ending is a blunder in the report", async (t) => {
  const pgn =
    '[SetUp "1"]\n[FEN "8/8/3k4/8/3K4/8/3P4/8 w - - 0 1"]\n\n1. Kd3 Ke6 2. Ke4 Kd6 *';
  const page = await shelf.page(t, {
    path: `site/#pgn=${encodeURIComponent(pgn)}`,
    before: withoutEngine,
  });
  await reads(page, "white-blunder", /1/);
  await reads(page, "black-blunder", /1/);
  await at(page, "next").click();
  await reads(page, "judgment", /Gives away the win \(tables: draw\)/i);
});
