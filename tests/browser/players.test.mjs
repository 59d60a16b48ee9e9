// Games of a player at Lichess and Chess.com, and studies of Lichess.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chessCom } from "./support/chess-com.mjs";
import { lab } from "./support/lab.mjs";
import { lichess } from "./support/lichess.mjs";
import { at, open, says } from "./support/page.mjs";
import { useSites } from "./support/sites.mjs";
import { equals, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("./support/lichess.mjs").Listed} Listed */

const DAY = 86_400_000;
const START = Date.UTC(2026, 3, 1);
const OPENINGS = [
  { eco: "C50", name: "Italian Game", moves: "1. e4 e5 2. Nf3 Nc6 3. Bc4" },
  {
    eco: "B20",
    name: "Sicilian Defense",
    moves: "1. e4 c5 2. Nf3 d6 3. d4 cxd4",
  },
  {
    eco: "D02",
    name: "Queen's Pawn Game",
    moves: "1. d4 d5 2. Nf3 Nf6 3. Bf4",
  },
];

/**
 * A game of Lichess as the API lists it.
 * @param {string} name
 * @param {number} n
 * @returns {Listed}
 */
function listed(name, n, more = {}) {
  const opening = OPENINGS[n % OPENINGS.length] ?? OPENINGS[0];
  const [own, other] = [
    { user: { name, id: name.toLowerCase() }, rating: 1800 + n },
    { user: { name: `Opponent${n}`, id: `opponent${n}` }, rating: 1700 + n },
  ];
  const players =
    n % 2 ? { white: other, black: own } : { white: own, black: other };
  const winner = ["white", "black", undefined][n % 3];
  const result = ["1-0", "0-1", "1/2-1/2"][n % 3];
  const id = `game${String(n).padStart(4, "0")}`;
  const pgn = `[Event "rated blitz game"]\n[Site "https://lichess.org/${id}"]\n[White "${players.white.user.name}"]\n[Black "${players.black.user.name}"]\n[Result "${result}"]\n\n${opening?.moves} ${result}\n`;
  return {
    id,
    createdAt: START + n * DAY,
    lastMoveAt: START + n * DAY + 300_000,
    status: winner ? "resign" : "draw",
    players,
    ...(winner ? { winner } : {}),
    opening: { eco: opening?.eco, name: opening?.name, ply: 5 },
    pgn,
    ...more,
  };
}

/** A game of Chess.com as the API lists it. */
function published(
  /** @type {string} */ name,
  /** @type {number} */ n,
  /** @type {number} */ time,
) {
  const pgn = `[Event "Live Chess"]\n[Site "Chess.com"]\n[White "${name}"]\n[Black "Rival${n}"]\n[Result "1-0"]\n[ECOUrl "https://www.chess.com/openings/Italian-Game-3...Bc5"]\n\n1. e4 {[%clk 0:03:00]} 1... e5 {[%clk 0:03:00]} 2. Nf3 {[%clk 0:02:58]} 2... Nc6 3. Bc4 Bc5 1-0\n`;
  return {
    url: `https://www.chess.com/game/live/${1000 + n}`,
    pgn,
    time_control: "180",
    end_time: time / 1000,
    rated: true,
    time_class: "blitz",
    rules: "chess",
    white: { rating: 2000 + n, result: "win", username: name },
    black: { rating: 1990, result: "checkmated", username: `Rival${n}` },
    eco: "https://www.chess.com/openings/Italian-Game-3...Bc5",
  };
}

const ANNA = Array.from({ length: 150 }, (_, n) => listed("Anna", n));
const STUDY = `[Event "Traps: The first"]\n[Site "https://lichess.org/study/abcdefgh/ijklmnop"]\n\n1. e4 e5 { A comment } 2. Qh5 (2. Nf3) 2... Ke7 3. Qxe5# *\n\n\n[Event "Traps: The second"]\n[Site "https://lichess.org/study/abcdefgh/qrstuvwx"]\n\n1. d4 d5 *\n`;

/** @type {Record<string, import("./support/lichess.mjs").Player>} */
const players = {
  anna: ANNA,
  busy: 429,
};
const [MARCH, APRIL] = [Date.UTC(2026, 2, 5), Date.UTC(2026, 3, 5)];
const months = {
  // The games 50 and 51 end in the same second. They are the games 101 and 100 of the list.
  "2026/02": Array.from({ length: 90 }, (_, n) =>
    published(
      "Carla",
      n,
      Date.UTC(2026, 1, 1) + (n === 50 ? 51 : n) * 3_600_000,
    ),
  ),
  "2026/03": Array.from({ length: 60 }, (_, n) =>
    published("Carla", 100 + n, MARCH + n * 3_600_000),
  ),
  "2026/04": [
    published("Carla", 200, APRIL),
    { ...published("Carla", 201, APRIL + 1000), rules: "crazyhouse" },
    { ...published("Carla", 202, APRIL + 2000), url: "javascript:alert(1)" },
  ],
};

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
/** @type {Awaited<ReturnType<typeof lichess>>} */
let server;
/** @type {Awaited<ReturnType<typeof chessCom>>} */
let other;
before(async () => {
  shelf = await lab({ own: true });
  server = await lichess(
    {},
    {
      players,
      studies: {
        abcdefgh: STUDY,
        "abcdefgh/qrstuvwx": STUDY.slice(STUDY.indexOf("\n\n\n") + 3),
      },
    },
  );
  other = await chessCom({ carla: months, empty: {} });
  useSites(join(shelf.root, "site", "index.html"), {
    lichess: server.url,
    "chess.com": other.url,
  });
});
after(async () => {
  await server.close();
  await other.close();
  await shelf.close();
});

const SITE = { path: "site/" };

/** Enters a text in the field of the first page. */
async function enter(/** @type {Page} */ page, /** @type {string} */ text) {
  await at(page, "quick-text").fill(text);
  await at(page, "quick-submit").click();
}

/** Waits until the request of the dialog has ended. */
const fetched = (/** @type {Page} */ page) =>
  says(page, "player-status", /only in this browser/);

test("a user name of Lichess lists the last games, and a click opens a game from the player's side", async (t) => {
  const page = await shelf.page(t, SITE);
  server.asked.length = 0;
  await enter(page, "Anna");
  await fetched(page);
  await says(page, "games-count", /^100 games$/);
  assert.equal(server.asked.length, 1);
  assert.match(String(server.asked[0]), /^\/api\/games\/user\/Anna\?.*max=100/);
  assert.equal(
    await at(page, "player-openings").getAttribute("href"),
    "./openings.html#lichess=Anna",
  );
  const first = await at(page, "stored-game").first().innerText();
  assert.match(
    first,
    /^Drew against Opponent149 \(1849\)\s+Black · 1949 · blitz · 2026-08-28 · D02 Queen's Pawn Game$/,
  );
  // The colours of the outcome follow from the player's side.
  assert.match(
    await at(page, "stored-game").nth(1).innerText(),
    /^Lost against Opponent148 .*\s+White/,
  );
  assert.match(
    await at(page, "stored-game").nth(2).innerText(),
    /^Lost against Opponent147 .*\s+Black/,
  );
  await page.keyboard.type("won sicilian");
  await says(page, "games-count", /^16 of 100 games$/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await at(page, "player-dialog").waitFor({ state: "hidden" });
  await until(
    async () => /Opponent145 – Anna/.test(await page.title()),
    () => page.title(),
  );
  assert.ok(await page.locator("#board.orientation-black").count());
  await until(() =>
    page.evaluate(() => location.hash.startsWith("#lichess=game0145")),
  );
  await until(
    async () =>
      /Complete/.test((await at(page, "filling").textContent()) ?? ""),
    "the game is analysed",
  );
});

test("older games follow on request, and the next visit fetches only newer games", async (t) => {
  const page = await shelf.page(t, SITE);
  await enter(page, "@anna");
  await fetched(page);
  server.asked.length = 0;
  await at(page, "player-older").click();
  await says(page, "games-count", /^150 games$/);
  assert.deepEqual(
    server.asked.map((path) => /until=(\d+)/.exec(path)?.[1]),
    [String(START + 50 * DAY - 1)],
  );
  await at(page, "player-older").click();
  await fetched(page);
  await at(page, "player-older").waitFor({ state: "hidden" });
  await page.reload();
  const added = listed("Anna", 150);
  ANNA.push(added);
  t.after(() => ANNA.splice(ANNA.indexOf(added), 1));
  server.asked.length = 0;
  // The first page names the last player.
  await at(page, "last-player").filter({ hasText: "anna" }).click();
  await says(page, "games-count", /^151 games$/);
  await fetched(page);
  assert.deepEqual(
    server.asked.map((path) => /since=(\d+)/.exec(path)?.[1]),
    [String(START + 149 * DAY + 1)],
  );
});

test("a name without games at Lichess is looked up at Chess.com, a month after the other", async (t) => {
  const page = await shelf.page(t, { ...SITE, allow: /404/ });
  other.asked.length = 0;
  await enter(page, "Carla");
  await fetched(page);
  await says(page, "games-count", /^101 games$/);
  assert.deepEqual(
    other.asked,
    ["archives", "2026/04", "2026/03", "2026/02"].map(
      (path) => `/pub/player/carla/games/${path}`,
    ),
  );
  assert.ok(await at(page, "player-site-chess.com").isChecked());
  assert.match(
    await at(page, "stored-game").first().innerText(),
    /^Won against Rival200 \(1990\)\s+White · 2200 · blitz · 2026-04-05 · Italian Game$/,
  );
  await at(page, "player-older").click();
  await says(page, "games-count", /^151 games$/);
  await at(page, "stored-game").first().click();
  await until(
    async () => /Carla – Rival200/.test(await page.title()),
    () => page.title(),
  );
  // The next visit asks for the last month only.
  await at(page, "open").click();
  await at(page, "open-text").fill("chess.com/member/carla");
  other.asked.length = 0;
  await at(page, "open-submit").click();
  // The dialog shows the stored games at once.
  const asked = ["archives", "2026/04"].map(
    (path) => `/pub/player/carla/games/${path}`,
  );
  await equals(async () => other.asked, asked);
  await fetched(page);
  assert.deepEqual(other.asked, asked);
});

test("a player that neither site has is reported, and so is an invalid name", async (t) => {
  const page = await shelf.page(t, { ...SITE, allow: /404/ });
  await enter(page, "Nobody99x");
  await says(page, "player-error", /Chess\.com has no player Nobody99x/);
  await at(page, "player-name").fill("not a name");
  await at(page, "player-submit").click();
  await says(page, "player-error", /2 to 30 letters/);
});

test("a study of Lichess and a chapter of a study open by their address", async (t) => {
  const page = await shelf.page(t, { ...SITE, allow: /404/ });
  await enter(page, "https://lichess.org/study/abcdefgh");
  await says(page, "notice", /2 games opened/);
  await until(() =>
    page.evaluate(() =>
      document
        .querySelector("[data-testid=variation-move]")
        ?.textContent?.includes("Nf3"),
    ),
  );
  await open(page, "lichess.org/study/abcdefgh/qrstuvwx");
  await until(() =>
    page.evaluate(
      () =>
        [...document.querySelectorAll("[data-testid=move] .san")]
          .map((each) => each.textContent?.trim())
          .join(" ") === "d4 d5",
    ),
  );
  await open(page, "lichess.org/study/missing0");
  await says(page, "open-error", /no public study/);
});
