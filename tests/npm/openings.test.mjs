// Names of openings equal those of the list, for positions that a different reader of its moves reaches.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Chess } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { parseSan } from "chessops/san";
import { PACKAGE, ROOT } from "../browser/support/paths.mjs";

/** @type {typeof import("shelfish/openings.js")} */
const { openingOf, openingPlies } = await import(
  pathToFileURL(join(PACKAGE, "openings.js")).href
);

/** The list, with the position of each opening. */
const list = ["a", "b", "c", "d", "e"].flatMap((volume) =>
  readFileSync(
    join(ROOT, `build-tools/shelfish/openings/${volume}.tsv`),
    "utf8",
  )
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => {
      const [eco = "", name = "", pgn = ""] = line.split("\t");
      const chess = Chess.default();
      const words = pgn.split(" ").filter((word) => !word.endsWith("."));
      for (const word of words)
        chess.play(parseSan(chess, word) ?? assert.fail(word));
      return { eco, name, plies: words.length, fen: makeFen(chess.toSetup()) };
    }),
);

test("every opening of the list is found by its position", () => {
  assert.ok(list.length > 3_500);
  for (const { eco, name, fen } of list) {
    assert.deepEqual(openingOf(fen), { eco, name }, fen);
    assert.deepEqual(
      openingOf(fen.split(" ").slice(0, 4).join(" ")),
      { eco, name },
      fen,
    );
  }
  assert.equal(openingPlies(), Math.max(...list.map(({ plies }) => plies)));
});

test("an en-passant square without a legal capture does not change the name", () => {
  assert.equal(
    openingOf("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1")
      ?.name,
    "King's Pawn Game",
  );
});
