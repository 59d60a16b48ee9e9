// My openings: repeated mistakes of a player and the player's moves next to the book.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { findings } from "./support/axe.mjs";
import { answer, at, withoutEngine } from "./support/page.mjs";
import { SHELFISH } from "./support/paths.mjs";
import * as shelf from "./support/shelf.mjs";
import { listed, useSites } from "./support/sites.mjs";
import { scoreOf } from "./support/truth.mjs";
import { equals, reads } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 1, 12);

/** Lines of games with their results, of Anna. The evaluations of the bad moves are from the famous games. */
const LINES = /** @type {const} */ ([
  // The database prefers 2. Nf3.
  [
    "white",
    "1. e4 e5 2. f4 exf4 3. Bc4 Qh4+ 4. Kf1",
    "1-0 1-0 1-0 1/2-1/2 1/2-1/2 1/2-1/2 0-1 0-1 0-1 0-1 0-1 0-1 0-1 0-1",
  ],
  ["white", "1. e4 e5 2. Nf3 Nc6", "1-0 1-0"],
  // The book does not have 2. h4.
  ["white", "1. e4 c5 2. h4 d6", "1/2-1/2 0-1 1-0"],
  // The database prefers 6… Qd7.
  [
    "black",
    "1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3",
    "1-0 1-0 0-1 1/2-1/2",
  ],
  // Left out: another start, and an illegal move.
  ["white", "1. e4 Kd7", "1-0"],
  ["white", "1. e4 e5 2. Ke3", "1-0"],
]);
const FROM_POSITION =
  '[Variant "From Position"]\n[SetUp "1"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n';

/** Positions before and after the bad moves. */
const GAMBIT = /** @type {const} */ ([
  "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -",
  "rnbqkbnr/pppp1ppp/8/4p3/4PP2/8/PPPP2PP/RNBQKBNR b KQkq -",
]);
const OPERA = /** @type {const} */ ([
  "rn1qkbnr/ppp2ppp/8/4p3/2B1P3/5Q2/PPP2PPP/RNB1K2R b KQkq -",
  "rn1qkb1r/ppp2ppp/5n2/4p3/2B1P3/5Q2/PPP2PPP/RNB1K2R w KQkq -",
]);

const anna = LINES.flatMap(([side, moves, results]) =>
  results.split(" ").map((result) => ({ side, moves, result })),
).map((game, n) =>
  listed("Anna", n, {
    ...game,
    createdAt: NOW - 90 * DAY + n * 3_600_000,
    tags: game.moves.includes("Kd7") ? FROM_POSITION : "",
  }),
);

await useSites(
  "openings.html",
  { players: { anna, busy: 429 } },
  {
    carla: {
      "2026/06": [
        {
          url: "https://www.chess.com/game/live/1000",
          pgn: '[White "Carla"]\n[Black "Rival"]\n\n1. d4 d5 2. c4 e6 1-0\n',
          end_time: NOW / 1000,
          rated: true,
          time_class: "blitz",
          rules: "chess",
          white: { rating: 2000, result: "win", username: "Carla" },
          black: { rating: 1990, result: "resigned", username: "Rival" },
        },
      ],
    },
  },
);

const openings = (
  /** @type {import("node:test").TestContext} */ t,
  fragment = "",
  more = {},
) =>
  shelf.page(t, {
    path: `site/openings.html${fragment}`,
    before: withoutEngine,
    ...more,
  });

/** Waits until all positions were looked up. */
const ready = (/** @type {Page} */ page) =>
  reads(
    page,
    "status",
    /\d games?, \d+ positions? looked up, \d+ requests?, [\d.]+ [kM]?B\./,
  );

/** Returns an answer of the native program. */
function native(
  /** @type {string} */ command,
  /** @type {string} */ folder,
  /** @type {string} */ fen,
) {
  const args = [command, "-d", join(shelf.root, "site", folder), "--json", fen];
  return JSON.parse(execFileSync(SHELFISH, args, { encoding: "utf8" }));
}

/** Returns the best line of a position. @returns {{ cp: number, san: string }} */
const evaluated = (/** @type {string} */ fen) =>
  native("lookup", "db", fen).evaluations[0].pvs[0];

/** Returns the loss of a mistake in pawns, and the better move, without the page. */
function expected(
  /** @type {readonly [string, string]} */ [from, to],
  /** @type {number} */ sign,
) {
  const [before, after] = [evaluated(from), evaluated(to)];
  return {
    loss: ((sign * (before.cp - after.cp)) / 100).toFixed(1),
    better: String(before.san.split(" ")[0]),
  };
}

test("repeated mistakes have their games, loss, better move and score, as computed from the database and the games", async (t) => {
  const page = await openings(t, "#lichess=Anna");
  await ready(page);
  await reads(
    page,
    "status",
    /^25 games, .* 2 games with other start positions or unreadable moves are left out\.$/,
  );
  const mistakes = () => at(page, "mistake").allTextContents();
  const gambit = expected(GAMBIT, 1);
  await equals(mistakes, [
    `Played 2. f4 in 14 games. It loses ${gambit.loss} against 2. ${gambit.better}. Score: 32 %.`,
  ]);
  // Games of the mistake are links to the board, from the player's side and at the move.
  await at(page, "mistakes").getByText("Games", { exact: true }).click();
  const links = at(page, "mistakes").locator("a");
  await equals(() => links.count(), 14);
  assert.deepEqual(
    [
      await links.first().getAttribute("href"),
      await links.first().textContent(),
    ],
    [
      "./#lichess=Anna0013/white&ply=3",
      "Lost against Opponent13 (1713), 2026-03-04",
    ],
  );
  // A click shows the position and the table with the same loss.
  await at(page, "mistake").click();
  await page.waitForURL(/line=e2e4,e7e5$/);
  const row = page.locator("#played-moves tr", { hasText: "f4" });
  await equals(() => row.locator(".loss").textContent(), `−${gambit.loss}`);
  const { white, draws, black } = native(
    "explore",
    "book",
    GAMBIT[0],
  ).moves.find((/** @type {any} */ { san }) => san === "f4");
  await equals(
    () =>
      row
        .locator(".games div")
        .evaluateAll((all) => all.map((each) => each.firstChild?.textContent)),
    ["14", (white + draws + black).toLocaleString("en")],
  );
  assert.match(
    (await row.locator(".results").first().getAttribute("aria-label")) ?? "",
    /^Own games: White 21 %, draws 21 %, Black 57 %$/,
  );
  await equals(
    () => row.locator(".score span").first().textContent(),
    scoreOf(evaluated(GAMBIT[1]), "-"),
  );
  // The other colour.
  const opera = expected(OPERA, -1);
  await at(page, "black").click();
  await equals(mistakes, [
    `Played 6… Nf6 in 4 games. It loses ${opera.loss} against 6… ${opera.better}. Score: 38 %.`,
  ]);
  await page.waitForURL(/color=black/);
  await page.locator(".cg-wrap.orientation-black").waitFor();
});

test("the tree counts own moves and moves of opponents, names moves that are not in the book, and fits a phone", async (t) => {
  const page = await openings(t, "#lichess=anna&color=white&line=e2e4", {
    context: {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      reducedMotion: "reduce",
    },
  });
  await ready(page);
  await reads(
    page,
    "reached",
    /^19 games with a move by the opponents, score 42 %\.$/,
  );
  await equals(
    () =>
      page.$$eval("#played-moves tr:not(.unplayed)", (all) =>
        all.map((each) => [
          each.querySelector(".san")?.textContent,
          each.querySelector(".own")?.firstChild?.textContent,
        ]),
      ),
    [
      ["e5", "16"],
      ["c5", "3"],
    ],
  );
  assert.deepEqual(await findings(page), []);
  assert.ok(
    await page.evaluate(
      () => document.documentElement.scrollWidth <= innerWidth,
    ),
  );
  await page.locator("#played-moves tr", { hasText: "c5" }).click();
  await page
    .locator("#played-moves tr", { hasText: /h4.*not in book/ })
    .waitFor();
  // Keys step back, and a digit plays a move.
  await page.keyboard.press("Home");
  await reads(page, "reached", /^19 games with a move by the player/);
  await page.keyboard.press("1");
  await page.waitForURL(/line=e2e4$/);
});

test("a repeated mistake is trained: after a wrong answer it is asked again after a day, then after three days", async (t) => {
  const page = await openings(t);
  const visit = async (/** @type {number} */ day) => {
    await page.clock.setFixedTime(NOW + day * DAY);
    await page.goto(shelf.url("site/openings.html#lichess=anna"));
    await page.reload();
    await ready(page);
  };
  const train = () =>
    at(page, "train")
      .filter({ hasText: /^Train 1 question$/ })
      .click();
  const words = (/** @type {RegExp} */ pattern) =>
    reads(page, "learn-words", pattern);
  const { better } = expected(GAMBIT, 1);
  await visit(0);
  await train();
  await words(
    /^2\. f4 was played in 14 games\. Find a better move for White\.$/,
  );
  // Nothing on the page gives the answer away.
  for (const id of ["played", "mistakes", "line"])
    assert.ok(await page.locator(`#${id}`).isHidden(), id);
  await answer(page, "f4");
  await words(
    /^f4 is the move of the game\. Try again\. The answer to it is 2… ?\S+/,
  );
  await answer(page, better);
  await words(
    /is right\. The line: 2\. ?.*\. The question is asked again in 1 day\.$/,
  );
  await at(page, "learn-next").click();
  await words(/^You found 1 of 1 better move\.$/);
  await at(page, "learn-close").click();
  await reads(page, "train", /^Train again from 2026-06-02$/);
  await visit(1);
  await train();
  await answer(page, better);
  await words(/is asked again in 3 days\.$/);
  await visit(2);
  await reads(page, "train", /^Train again from 2026-06-05$/);
});

test("errors of a site, a wrong name and a player without mistakes are reported", async (t) => {
  const page = await openings(t, "", { allow: /404|429/ });
  const show = async (/** @type {string} */ name) => {
    await at(page, "name").fill(name);
    await at(page, "name").press("Enter");
  };
  for (const [name, error] of /** @type {const} */ ([
    ["not a name", /2 to 30 letters/],
    ["missing", /^Lichess has no player missing\.$/],
    ["busy", /too many requests.*Wait a minute/],
  ])) {
    await show(name);
    await reads(page, "error", error);
  }
  await at(page, "site").selectOption("chess.com");
  await show("Carla");
  await ready(page);
  await page.waitForURL(/#chess\.com=Carla$/);
  await reads(page, "mistakes-note", /No move that was played at least twice/);
});
