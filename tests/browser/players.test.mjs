// Games of a player at Lichess and Chess.com, and studies of Lichess.
import assert from "node:assert/strict";
import { test } from "node:test";
import { at, open, says } from "./support/page.mjs";
import * as shelf from "./support/shelf.mjs";
import { listed, useSites } from "./support/sites.mjs";
import { equals, reads, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const DAY = 86_400_000;
const START = Date.UTC(2026, 3, 1);
const OPENINGS = [
  { eco: "C50", name: "Italian Game", moves: "1. e4 e5 2. Nf3 Nc6 3. Bc4" },
  { eco: "B20", name: "Sicilian Defense", moves: "1. e4 c5 2. Nf3 d6" },
  { eco: "D02", name: "Queen's Pawn Game", moves: "1. d4 d5 2. Nf3 Nf6" },
];

/** Returns a game of Anna at Lichess, one each day. */
function ofAnna(/** @type {number} */ n) {
  const { eco, name, moves = "" } = OPENINGS[n % 3] ?? {};
  return listed("Anna", n, {
    side: n % 2 ? "black" : "white",
    moves,
    result: String(["1-0", "0-1", "1/2-1/2"][n % 3]),
    createdAt: START + n * DAY,
    opening: { eco, name, ply: 5 },
  });
}

/** Returns a game of Carla at Chess.com. */
function ofCarla(
  /** @type {number} */ n,
  /** @type {number} */ time,
  more = {},
) {
  const eco = "https://www.chess.com/openings/Italian-Game-3...Bc5";
  return {
    url: `https://www.chess.com/game/live/${1000 + n}`,
    pgn: `[White "Carla"]\n[Black "Rival${n}"]\n[Result "1-0"]\n[ECOUrl "${eco}"]\n\n1. e4 {[%clk 0:03:00]} 1... e5 2. Nf3 Nc6 3. Bc4 Bc5 1-0\n`,
    end_time: time / 1000,
    rated: true,
    time_class: "blitz",
    rules: "chess",
    white: { rating: 2000 + n, result: "win", username: "Carla" },
    black: { rating: 1990, result: "checkmated", username: `Rival${n}` },
    eco,
    ...more,
  };
}

const anna = Array.from({ length: 150 }, (_, n) => ofAnna(n));
const STUDY = `[Event "Traps: The first"]\n[Site "https://lichess.org/study/abcdefgh/ijklmnop"]\n\n1. e4 e5 { A comment } 2. Qh5 (2. Nf3) 2... Ke7 3. Qxe5# *\n\n\n[Event "Traps: The second"]\n[Site "https://lichess.org/study/abcdefgh/qrstuvwx"]\n\n1. d4 d5 *\n`;
const HOUR = 3_600_000;
const APRIL = Date.UTC(2026, 3, 5);
const month = (/** @type {number} */ month, /** @type {number} */ games) =>
  Array.from({ length: games }, (_, n) =>
    // The games 50 and 51 end in the same second.
    ofCarla(
      100 * month + n,
      Date.UTC(2026, month, 1) + (n === 50 ? 51 : n) * HOUR,
    ),
  );

const asked = await useSites(
  "index.html",
  {
    players: { anna },
    studies: {
      abcdefgh: STUDY,
      "abcdefgh/qrstuvwx": STUDY.slice(STUDY.indexOf("\n\n\n") + 3),
    },
  },
  {
    carla: {
      "2026/02": month(1, 90),
      "2026/03": month(2, 60),
      "2026/04": [
        ofCarla(400, APRIL),
        ofCarla(401, APRIL, { rules: "crazyhouse" }),
        ofCarla(402, APRIL, { url: "javascript:alert(1)" }),
      ],
    },
  },
);

const SITE = { path: "site/", allow: /404/ };

/** Enters a text in the field of the first page. */
async function enter(/** @type {Page} */ page, /** @type {string} */ text) {
  await at(page, "quick-text").fill(text);
  await at(page, "quick-submit").click();
}

/** Waits until the request of the dialog has ended. */
const fetched = (/** @type {Page} */ page) =>
  says(page, "player-status", /only in this browser/);

const titled = (/** @type {Page} */ page, /** @type {string} */ names) =>
  until(async () => (await page.title()).includes(names));

test("a user name of Lichess lists the last games, and a click opens a game from the player's side", async (t) => {
  const page = await shelf.page(t, SITE);
  asked.lichess.length = 0;
  await enter(page, "Anna");
  await fetched(page);
  await says(page, "games-count", /^100 games$/);
  assert.match(
    asked.lichess.join(" "),
    /^\/api\/games\/user\/Anna\?\S*max=100\S*$/,
  );
  assert.equal(
    await at(page, "player-openings").getAttribute("href"),
    "./openings.html#lichess=Anna",
  );
  const games = at(page, "stored-game");
  assert.match(
    await games.first().innerText(),
    /^Drew against Opponent149 \(1849\)\s+Black · 1949 · blitz · 2026-08-28 · D02 Queen's Pawn Game$/,
  );
  // The colours of the outcome follow from the player's side.
  assert.match(
    await games.nth(1).innerText(),
    /^Lost against Opponent148 .*\s+White/,
  );
  await page.keyboard.type("won sicilian");
  await says(page, "games-count", /^16 of 100 games$/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await at(page, "player-dialog").waitFor({ state: "hidden" });
  await titled(page, "Opponent145 – Anna");
  assert.ok(await page.locator("#board.orientation-black").count());
  await page.waitForURL(/#lichess=Anna0145/);
  await reads(page, "filling", /Complete/);
});

test("older games follow on request, and the next visit fetches only newer games", async (t) => {
  const page = await shelf.page(t, SITE);
  const bounds = () =>
    asked.lichess.map((path) => /(?:until|since)=\d+/.exec(path)?.[0]);
  await enter(page, "@anna");
  await fetched(page);
  asked.lichess.length = 0;
  await at(page, "player-older").click();
  await says(page, "games-count", /^150 games$/);
  assert.deepEqual(bounds(), [`until=${START + 50 * DAY - 1}`]);
  await at(page, "player-older").click();
  await at(page, "player-older").waitFor({ state: "hidden" });
  await page.reload();
  anna.push(ofAnna(150));
  t.after(() => anna.pop());
  asked.lichess.length = 0;
  // The first page names the last player.
  await at(page, "last-player").filter({ hasText: "anna" }).click();
  await says(page, "games-count", /^151 games$/);
  await fetched(page);
  assert.deepEqual(bounds(), [`since=${START + 149 * DAY + 1}`]);
});

test("a name without games at Lichess is looked up at Chess.com, a month after the other", async (t) => {
  const page = await shelf.page(t, SITE);
  const paths = (/** @type {string[]} */ ...parts) =>
    parts.map((part) => `/pub/player/carla/games/${part}`);
  asked.chessCom.length = 0;
  await enter(page, "Carla");
  await fetched(page);
  await says(page, "games-count", /^101 games$/);
  assert.deepEqual(
    asked.chessCom,
    paths("archives", "2026/04", "2026/03", "2026/02"),
  );
  assert.ok(await at(page, "player-site-chess.com").isChecked());
  const first = at(page, "stored-game").first();
  assert.match(
    await first.innerText(),
    /^Won against Rival400 \(1990\)\s+White · 2400 · blitz · 2026-04-05 · Italian Game$/,
  );
  await at(page, "player-older").click();
  await says(page, "games-count", /^151 games$/);
  await first.click();
  await titled(page, "Carla – Rival400");
  // The next visit shows the stored games at once, and asks for the last month only.
  asked.chessCom.length = 0;
  await open(page, "chess.com/member/carla");
  await equals(async () => asked.chessCom, paths("archives", "2026/04"));
  await fetched(page);
});

test("a player that neither site has is reported, and so is an invalid name", async (t) => {
  const page = await shelf.page(t, SITE);
  await enter(page, "Nobody99x");
  await says(page, "player-error", /Chess\.com has no player Nobody99x/);
  await at(page, "player-name").fill("not a name");
  await at(page, "player-submit").click();
  await says(page, "player-error", /2 to 30 letters/);
});

test("a study of Lichess and a chapter of a study open by their address", async (t) => {
  const page = await shelf.page(t, SITE);
  const sans = (/** @type {string} */ id) =>
    page.locator(`[data-testid=${id}] .san`).allTextContents();
  await enter(page, "https://lichess.org/study/abcdefgh");
  await says(page, "notice", /2 games opened/);
  await equals(() => sans("variation-move"), ["Nf3"]);
  await open(page, "lichess.org/study/abcdefgh/qrstuvwx");
  await equals(() => sans("move"), ["d4", "d5"]);
  await open(page, "lichess.org/study/missing0");
  await says(page, "open-error", /no public study/);
});
