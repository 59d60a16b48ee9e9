// The opening explorer: it shows the answers of the native program, by mouse, touch and keys, online and offline.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { START, lab } from "./support/lab.mjs";
import { ROOT, SHELFISH } from "./support/paths.mjs";
import { equals, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab({ own: true })));
after(() => shelf.close());

const SIZES = {
  "a phone": { width: 390, height: 844 },
  "a desk": { width: 1366, height: 768 },
};

/** Returns the answer of the native program for a position of the sample, of all games or of some buckets. */
function told(/** @type {string} */ fen, /** @type {string[]} */ ...buckets) {
  const [book, evals] = ["book", "db"].map((name) =>
    join(shelf.root, "site", name),
  );
  const options = buckets.flatMap((bucket) => ["--buckets", bucket]);
  return JSON.parse(
    execFileSync(
      SHELFISH,
      [
        "explore",
        "-d",
        String(book),
        "--evals",
        String(evals),
        "--json",
        ...options,
        fen,
      ],
      { encoding: "utf8" },
    ),
  );
}

/** The rows of the table: move, games, evaluation. */
const rows = (/** @type {Page} */ page) =>
  page.$$eval("#played-moves tr", (all) =>
    all.map((row) =>
      [
        row.querySelector(".san"),
        row.querySelector(".games")?.firstChild,
        row.querySelector(".score"),
      ].map((part) => part?.textContent ?? ""),
    ),
  );

/** Waits until the table shows a position, including its evaluations. */
async function shows(
  /** @type {Page} */ page,
  /** @type {string} */ fen,
  /** @type {string[]} */ ...buckets
) {
  const { moves } = told(fen, ...buckets);
  const expected = moves.map(
    (/** @type {any} */ { san, white, draws, black, evaluation: e }) => [
      san,
      (white + draws + black).toLocaleString("en"),
      !e
        ? ""
        : e.mate !== undefined
          ? `#${e.mate}`
          : `${e.cp > 0 ? "+" : ""}${(e.cp / 100).toFixed(2)}`,
    ],
  );
  await until(() =>
    page.evaluate(
      (count) =>
        document.querySelectorAll("#played-moves tr").length === count &&
        !document.querySelector("#played.stale"),
      expected.length,
    ),
  );
  await equals(() => rows(page), expected);
}

const explorer = (
  /** @type {import("node:test").TestContext} */ t,
  query = "",
  context = {},
) => shelf.page(t, { path: `site/explorer.html${query}`, context });
const AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";

for (const [name, viewport] of Object.entries(SIZES)) {
  test(`the table has the answer of the program, and a click plays a move, on ${name}`, async (t) => {
    const page = await explorer(t, "", {
      viewport,
      hasTouch: name === "a phone",
    });
    await shows(page, START);
    const row = page.locator("#played-moves tr", {
      has: page.getByText("e4", { exact: true }),
    });
    await (name === "a phone" ? row.tap() : row.click());
    await shows(page, AFTER_E4);
    await until(() =>
      page.evaluate(
        () =>
          document.querySelector("#opening")?.textContent ===
          "B00 King's Pawn Game",
      ),
    );
    await page.waitForURL(/#moves=e2e4/);
    assert.match(
      (await page.getByTestId("analyse").getAttribute("href")) ?? "",
      /^\.\/#moves=e2e4/,
    );
    await page.getByTestId("previous").click();
    await shows(page, START);
    const outside = await page.evaluate(
      () =>
        [
          ...document.querySelectorAll(
            "#board, #played-moves tr:not([hidden]), .controls button",
          ),
        ].filter((part) => {
          const box = part.getBoundingClientRect();
          return box.width < 4 || box.left < 0 || box.right > innerWidth + 0.5;
        }).length,
    );
    assert.equal(outside, 0);
  });
}

test("buckets can be chosen, moves have ratings, games are links", async (t) => {
  cpSync(
    join(ROOT, "tests/data/book-details/db"),
    join(shelf.root, "details"),
    { recursive: true },
  );
  const page = await explorer(t, "?book=../details/manifest.json");
  const table = () =>
    page.$$eval("#played-moves tr", (all) =>
      all.map((row) =>
        [".san", ".rating"]
          .map((part) => row.querySelector(part)?.textContent)
          .concat(row.querySelector(".games")?.firstChild?.textContent ?? ""),
      ),
    );
  await page.getByTestId("buckets").waitFor();
  assert.deepEqual(await table(), [
    ["e4", "1856", "5"],
    ["Nf3", "2050", "1"],
  ]);
  assert.ok(
    await page
      .getByTestId("played")
      .getByText("Rating", { exact: true })
      .isVisible(),
  );
  const link = page
    .getByTestId("references")
    .getByRole("link", { name: "Lichess Ab3xYz09" });
  assert.equal(await link.getAttribute("href"), "./#lichess=Ab3xYz09");
  assert.match(
    await page.getByTestId("references").innerText(),
    /e4 0–1 \(2675\) games\.pgn, game 4/,
  );
  const shows = (/** @type {string[][]} */ rows) =>
    until(() =>
      page.evaluate(
        (rows) =>
          JSON.stringify(
            [...document.querySelectorAll("#played-moves tr")].map((row) => [
              row.querySelector(".san")?.textContent,
              row.querySelector(".games")?.firstChild?.textContent,
            ]),
          ) === rows,
        JSON.stringify(rows),
      ),
    );
  const rapid = page.getByRole("button", { name: "Rapid" });
  await rapid.click();
  assert.equal(await rapid.getAttribute("aria-pressed"), "false");
  await shows([["e4", "4"]]);
  await page.getByRole("button", { name: "2000 and more" }).focus();
  await page.keyboard.press("Space");
  await shows([["e4", "2"]]);
  for (const name of ["Blitz", "Correspondence", "No time control"])
    await page.getByRole("button", { name }).click();
  await until(() =>
    page.evaluate(
      () =>
        document.querySelector("#status")?.textContent ===
        "This position has no game of the selected groups in this book.",
    ),
  );
  await page.getByRole("button", { name: "Blitz" }).click();
  await shows([["e4", "1"]]);
});

test("a game of the book opens on the board in the position", async (t) => {
  const page = await explorer(
    t,
    "#moves=e2e4,e7e5,g1f3,d7d6,d2d4,c8g4,d4e5,g4f3,d1f3,d6e5,f1c4&ply=11",
  );
  await page.locator("#references a", { hasText: "Isouard" }).click();
  await page.waitForURL(/\/site\/#game=morphy-isouard-1858&ply=11$/);
  await until(() =>
    page.evaluate(
      () =>
        document.querySelector("#moves [aria-current] .san")?.textContent ===
        "Bc4",
    ),
  );
});

test("a position that is not in the book, with the limits of the book, and a finished game are reported", async (t) => {
  const page = await explorer(t, "#fen=8/8/8/3k4/8/8/3K4/N7_w_-_-_0_1");
  await until(() =>
    page.evaluate(() =>
      /^This position is not in the book, which has the first 24 half-moves of each game and only positions that at least 5 games reached\.$/.test(
        document.querySelector("#status")?.textContent ?? "",
      ),
    ),
  );
  assert.equal(await page.getByTestId("played").isVisible(), false);
  await page.goto(
    new URL(
      "site/explorer.html?2#moves=f2f3,e7e5,g2g4,d8h4&ply=4",
      shelf.server.url,
    ).href,
  );
  await until(() =>
    page.evaluate(
      () => document.querySelector("#status")?.textContent === "Checkmate.",
    ),
  );
});

test("the error of an unreadable book names a remedy, and a button tries again", async (t) => {
  const page = await shelf.page(t, {
    path: "site/explorer.html?book=db/manifest.json",
    allow: /./,
  });
  await page.getByTestId("retry").waitFor();
  assert.match(
    await page.getByTestId("status").innerText(),
    /no readable book[^]*database of evaluations[^]*shelfish book build GAMES\.pgn/,
  );
  const other = await shelf.page(t, {
    path: "site/explorer.html?db=book/manifest.json",
    allow: /./,
  });
  await until(() =>
    other.evaluate(
      () =>
        document.querySelector("#status")?.textContent ===
        "The evaluations cannot be looked up now.",
    ),
  );
  assert.ok((await rows(other)).length > 10, "the counts are there");
});
