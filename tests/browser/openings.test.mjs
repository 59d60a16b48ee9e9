// My openings: repeated mistakes of a player and the player's moves next to the book.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { findings } from "./support/axe.mjs";
import { chessCom } from "./support/chess-com.mjs";
import { lab } from "./support/lab.mjs";
import { lichess } from "./support/lichess.mjs";
import { at, withoutEngine } from "./support/page.mjs";
import { SHELFISH } from "./support/paths.mjs";
import { useSites } from "./support/sites.mjs";
import { equals, reads, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("./support/lichess.mjs").Listed} Listed */

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 1, 12);

/** Lines of games with their results, each for several games of Anna. The evaluations of the bad moves are from the famous games. */
const LINES = {
  // The database prefers 2. Nf3.
  gambit: {
    side: "white",
    moves: "1. e4 e5 2. f4 exf4 3. Bc4 Qh4+ 4. Kf1",
    results: [
      "1-0",
      "1-0",
      "1-0",
      "1/2-1/2",
      "1/2-1/2",
      "1/2-1/2",
      ...Array(8).fill("0-1"),
    ],
  },
  knight: {
    side: "white",
    moves: "1. e4 e5 2. Nf3 Nc6",
    results: ["1-0", "1-0"],
  },
  // The book does not have 2. h4.
  edge: {
    side: "white",
    moves: "1. e4 c5 2. h4 d6",
    results: ["1/2-1/2", "0-1", "1-0"],
  },
  // The database prefers 6… Qd7.
  opera: {
    side: "black",
    moves:
      "1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3",
    results: ["1-0", "1-0", "0-1", "1/2-1/2"],
  },
};

/** Positions before and after the bad moves. */
const GAMBIT = [
  "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -",
  "rnbqkbnr/pppp1ppp/8/4p3/4PP2/8/PPPP2PP/RNBQKBNR b KQkq -",
];
const OPERA = [
  "rn1qkbnr/ppp2ppp/8/4p3/2B1P3/5Q2/PPP2PPP/RNB1K2R b KQkq -",
  "rn1qkb1r/ppp2ppp/5n2/4p3/2B1P3/5Q2/PPP2PPP/RNB1K2R w KQkq -",
];

/**
 * A game of Lichess as the API lists it.
 * @param {number} n
 * @param {string} name
 * @param {string} side
 * @param {string} moves
 * @param {string} result
 * @returns {Listed}
 */
function listed(n, name, side, moves, result, headers = "") {
  const [own, other] = [
    { user: { name, id: name.toLowerCase() }, rating: 1800 },
    { user: { name: `Opponent${n}`, id: `opponent${n}` }, rating: 1700 + n },
  ];
  const players =
    side === "white"
      ? { white: own, black: other }
      : { white: other, black: own };
  const winner = { "1-0": "white", "0-1": "black" }[result];
  const id = `${name.slice(0, 4).padEnd(4, "x")}${String(n).padStart(4, "0")}`;
  const pgn = `[Event "rated blitz game"]\n[Site "https://lichess.org/${id}"]\n[White "${players.white.user.name}"]\n[Black "${players.black.user.name}"]\n[Result "${result}"]\n${headers}\n${moves} ${result}\n`;
  return {
    id,
    createdAt: NOW - 90 * DAY + n * 3_600_000,
    status: winner ? "resign" : "draw",
    players,
    ...(winner ? { winner } : {}),
    pgn,
  };
}

const games = Object.values(LINES).flatMap(({ side, moves, results }) =>
  results.map((result) => /** @type {const} */ ([side, moves, result])),
);
const anna = games.map(([side, moves, result], n) =>
  listed(n, "Anna", side, moves, result),
);
const STRANGE =
  '[Variant "From Position"]\n[SetUp "1"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n';
anna.push(
  listed(100, "Anna", "white", "1. e4 Kd7", "1-0", STRANGE),
  listed(101, "Anna", "white", "1. e4 e5 2. Ke3", "1-0"),
);

/** @type {Record<string, import("./support/lichess.mjs").Player>} */
const players = {
  anna,
  busy: 429,
  // Many games, so that the reading can be cancelled.
  many: Array.from({ length: 600 }, (_, n) =>
    listed(
      n,
      "Many",
      n % 2 ? "white" : "black",
      `1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O ${n % 3 ? "9. h3" : "9. d4"}`,
      "1-0",
    ),
  ),
};

const archive = [
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
];

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
/** @type {Awaited<ReturnType<typeof lichess>>} */
let server;
/** @type {Awaited<ReturnType<typeof chessCom>>} */
let other;
before(async () => {
  shelf = await lab({ own: true });
  server = await lichess({}, { players });
  other = await chessCom({ carla: { "2026/06": archive } });
  useSites(join(shelf.root, "site", "openings.html"), {
    lichess: server.url,
    "chess.com": other.url,
  });
});
after(async () => {
  await server.close();
  await other.close();
  await shelf.close();
});

const openings = (
  /** @type {import("node:test").TestContext} */ t,
  fragment = "",
  more = {},
) =>
  shelf.page(t, {
    path: `site/openings.html${fragment && `#${fragment}`}`,
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

/**
 * The best score of a position, by the native program.
 * @param {string | undefined} fen
 * @returns {{ cp: number, san: string }}
 */
function evaluated(fen) {
  const { evaluations } = JSON.parse(
    execFileSync(
      SHELFISH,
      ["lookup", "-d", join(shelf.root, "site", "db"), "--json", String(fen)],
      { encoding: "utf8" },
    ),
  );
  const [{ cp, san }] = evaluations[0].pvs;
  return { cp, san: san.split(" ")[0] };
}

/** Winning chances by the formula of Lichess. */
const chances = (/** @type {number} */ cp) =>
  2 / (1 + Math.exp(-0.00368208 * cp)) - 1;

/** Computes the facts of a mistake without the page: the loss in pawns, the better move, and the cost. */
function expected(
  /** @type {string[]} */ [from, to],
  /** @type {number} */ sign,
  /** @type {number} */ count,
) {
  const [before, after] = [evaluated(from), evaluated(to)];
  const lost = sign * (chances(before.cp) - chances(after.cp));
  assert.ok(lost >= 0.1, "the move of the test is a mistake");
  return {
    loss: ((sign * (before.cp - after.cp)) / 100).toFixed(1),
    better: before.san,
    cost: lost * count,
  };
}

test("repeated mistakes have their games, loss, better move and score, as computed from the database and the games", async (t) => {
  const page = await openings(t, "lichess=Anna");
  await ready(page);
  assert.match(
    (await at(page, "status").textContent()) ?? "",
    /^25 games, .* 2 games with other start positions or unreadable moves are left out\.$/,
  );
  const { results } = LINES.gambit;
  const score = Math.round(
    (100 *
      results.reduce(
        (sum, result) =>
          sum + ({ "1-0": 1, "1/2-1/2": 0.5 }[String(result)] ?? 0),
        0,
      )) /
      results.length,
  );
  assert.equal(score, 32);
  const gambit = expected(GAMBIT, 1, results.length);
  await equals(
    () => at(page, "mistake").allTextContents(),
    [
      `Played 2. f4 in 14 games. It loses ${gambit.loss} against 2. ${gambit.better}. Score: 32 %.`,
    ],
  );
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
      `./#lichess=Anna0013/white&ply=3`,
      "Lost against Opponent13 (1713), 2026-03-04",
    ],
  );
  // A click shows the position and the table with the same loss.
  await at(page, "mistake").click();
  await page.waitForURL(/line=e2e4,e7e5$/);
  const row = page.locator("#played-moves tr", { hasText: "f4" });
  await until(
    async () =>
      (await row.locator(".loss").textContent()) === `−${gambit.loss}`,
  );
  const { moves } = JSON.parse(
    execFileSync(
      SHELFISH,
      [
        "explore",
        "-d",
        join(shelf.root, "site", "book"),
        "--json",
        String(GAMBIT[0]),
      ],
      { encoding: "utf8" },
    ),
  );
  const ofBook = moves.find((/** @type {any} */ { san }) => san === "f4");
  await equals(
    () =>
      row
        .locator(".games div")
        .evaluateAll((all) => all.map((each) => each.firstChild?.textContent)),
    ["14", (ofBook.white + ofBook.draws + ofBook.black).toLocaleString("en")],
  );
  assert.match(
    (await row.locator(".results").first().getAttribute("aria-label")) ?? "",
    /^Own games: White 21 %, draws 21 %, Black 57 %$/,
  );
  await until(
    async () =>
      (await row.locator(".score span").first().textContent()) ===
      `${evaluated(GAMBIT[1]).cp > 0 ? "+" : ""}${(evaluated(GAMBIT[1]).cp / 100).toFixed(2)}`,
  );
  // The other colour.
  const opera = expected(OPERA, -1, 4);
  await at(page, "black").click();
  await equals(
    () => at(page, "mistake").allTextContents(),
    [
      `Played 6… Nf6 in 4 games. It loses ${opera.loss} against 6… ${opera.better}. Score: 38 %.`,
    ],
  );
  await page.waitForURL(/color=black/);
  await page.locator(".cg-wrap.orientation-black").waitFor();
});

test("the tree counts own moves and moves of opponents, and names moves that are not in the book", async (t) => {
  const page = await openings(t, "lichess=anna&color=white&line=e2e4");
  await ready(page);
  await reads(
    page,
    "reached",
    /^19 games with a move by the opponents, score 42 %\.$/,
  );
  const rows = () =>
    page.$$eval("#played-moves tr:not(.unplayed)", (all) =>
      all.map((each) => [
        each.querySelector(".san")?.textContent,
        each.querySelector(".own")?.firstChild?.textContent,
      ]),
    );
  await equals(rows, [
    ["e5", "16"],
    ["c5", "3"],
  ]);
  await page.locator("#played-moves tr", { hasText: "c5" }).click();
  await until(async () =>
    /not in book/.test(
      (await page
        .locator("#played-moves tr", { hasText: "h4" })
        .textContent()) ?? "",
    ),
  );
  // Keys step back, and a digit plays a move.
  await page.keyboard.press("Home");
  await reads(page, "reached", /^19 games with a move by the player/);
  await page.keyboard.press("1");
  await page.waitForURL(/line=e2e4$/);
  assert.match(
    (await at(page, "analyse").getAttribute("href")) ?? "",
    /^\.\/#moves=e2e4,/,
  );
});

test("a repeated mistake is trained: after a wrong answer it is asked again after a day, then after three days", async (t) => {
  const page = await openings(t);
  const visit = async (/** @type {number} */ day) => {
    await page.clock.setFixedTime(NOW + day * DAY);
    await page.goto(
      new URL("site/openings.html#lichess=anna", shelf.server.url).href,
    );
    await page.reload();
    await ready(page);
  };
  const answer = async (/** @type {string} */ san) => {
    await at(page, "move-input").fill(san);
    await at(page, "move-input").press("Enter");
  };
  const { better } = expected(GAMBIT, 1, 14);
  await visit(0);
  await at(page, "train")
    .filter({ hasText: /^Train 1 question$/ })
    .click();
  await reads(
    page,
    "learn-words",
    /^2\. f4 was played in 14 games\. Find a better move for White\.$/,
  );
  // Nothing on the page gives the answer away.
  for (const id of ["played", "mistakes", "line"])
    assert.ok(await page.locator(`#${id}`).isHidden(), id);
  assert.deepEqual(await findings(page), []);
  await answer("f4");
  await reads(
    page,
    "learn-words",
    /^f4 is the move of the game\. Try again\. The answer to it is 2… ?\S+/,
  );
  await answer(better);
  await reads(
    page,
    "learn-words",
    /is right\. The line: 2\. ?.*\. The question is asked again in 1 day\.$/,
  );
  await at(page, "learn-next").click();
  await reads(page, "learn-words", /^You found 1 of 1 better move\.$/);
  await at(page, "learn-close").click();
  await reads(page, "train", /^Train again from 2026-06-02$/);
  await visit(1);
  await at(page, "train")
    .filter({ hasText: /^Train 1 question$/ })
    .click();
  await answer(better);
  await reads(page, "learn-words", /is asked again in 3 days\.$/);
  await visit(2);
  await reads(page, "train", /^Train again from 2026-06-05$/);
});

test("errors of a site, a wrong name and a player without games are reported", async (t) => {
  const page = await openings(t, "", { allow: /404|429/ });
  const show = async (/** @type {string} */ name) => {
    await at(page, "name").fill(name);
    await at(page, "name").press("Enter");
  };
  await show("not a name");
  await reads(page, "error", /2 to 30 letters/);
  await show("missing");
  await reads(page, "error", /^Lichess has no player missing\.$/);
  await show("busy");
  await reads(page, "error", /too many requests.*Wait a minute/);
  assert.ok(await at(page, "white").isHidden());
  await at(page, "site").selectOption("chess.com");
  await show("Carla");
  await ready(page);
  await reads(page, "white", /^White: 1 game$/);
  await page.waitForURL(/#chess\.com=Carla$/);
  await reads(page, "mistakes-note", /No move that was played at least twice/);
});

for (const [width, height, colorScheme] of /** @type {const} */ ([
  [390, 844, "light"],
  [1366, 768, "dark"],
])) {
  test(`the page fits ${width}×${height} without violations of accessibility, ${colorScheme}`, async (t) => {
    const page = await openings(t, "lichess=anna", {
      context: {
        viewport: { width, height },
        colorScheme,
        hasTouch: width < 1000,
        reducedMotion: "reduce",
      },
    });
    await ready(page);
    await page.locator("#played-moves .score span").first().waitFor();
    const clipped = () =>
      page.evaluate(() => [
        ...(document.documentElement.scrollWidth > innerWidth
          ? ["the page"]
          : []),
        ...[
          ...document.querySelectorAll(
            ".openings button, .openings input, .openings select, .openings td, .openings th, #board",
          ),
        ]
          .filter((each) => {
            const { left, right, width } = each.getBoundingClientRect();
            return (
              width > 0 &&
              (left < 0 ||
                right > innerWidth + 0.5 ||
                each.scrollWidth > each.clientWidth + 1)
            );
          })
          .map((each) => each.outerHTML.slice(0, 80)),
      ]);
    assert.deepEqual(await clipped(), []);
    assert.deepEqual(await findings(page), []);
  });
}
