// The opening explorer: it shows the answers of the native program, by mouse, touch and keys, online and offline.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { By, Key } from "selenium-webdriver";
import { suiteIn } from "./support/engines.mjs";
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

test("the board and the keys play moves too", async (t) => {
  const page = await explorer(t);
  await shows(page, START);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const second = (await rows(page))[1]?.[0];
  assert.equal(
    await page.evaluate(() => document.activeElement?.textContent),
    second,
  );
  await page.locator("#board .cg-shapes line").waitFor({ state: "attached" });
  await page.keyboard.press("Enter");
  await page
    .getByRole("button", { name: `1. ${second}`, exact: true })
    .waitFor();
  await page.keyboard.press("ArrowLeft");
  await shows(page, START);
  const box =
    (await page.locator("#board").boundingBox()) ?? assert.fail("no board");
  const at = (/** @type {number} */ file, /** @type {number} */ rank) =>
    /** @type {const} */ ([
      box.x + (box.width * (file + 0.5)) / 8,
      box.y + (box.height * (7.5 - rank)) / 8,
    ]);
  await page.mouse.click(...at(4, 1));
  await page.mouse.click(...at(4, 3));
  await shows(page, AFTER_E4);
  await page.keyboard.press("1");
  await until(() =>
    page.evaluate(() => document.querySelectorAll("#line button").length === 3),
  );
  await page.keyboard.press("Home");
  await shows(page, START);
});

test("a move under the mouse is an arrow on the board, which covers no row, and a click leaves no arrow", async (t) => {
  const page = await explorer(t, "", {
    viewport: { width: 1366, height: 768 },
  });
  await shows(page, START);
  const arrows = page.locator("#board .cg-shapes line");
  await page.locator("#played-moves tr").nth(1).hover();
  await arrows.waitFor({ state: "attached" });
  const covered = () =>
    page.$$eval(
      "#played-moves tr:not([hidden])",
      (all) =>
        all.filter((row) => {
          const { x, y, width, height } = row.getBoundingClientRect();
          return (
            y + height < innerHeight &&
            !row.contains(
              document.elementFromPoint(x + width / 2, y + height / 2),
            )
          );
        }).length,
    );
  assert.equal(await covered(), 0);
  await page
    .locator("#played-moves tr", { has: page.getByText("e4", { exact: true }) })
    .click();
  await shows(page, AFTER_E4);
  assert.equal(await covered(), 0);
  // The new row under the pointer shows no arrow.
  await equals(() => arrows.count(), 0);
  await page.mouse.move(2, 2);
  await page.locator("#played-moves tr").first().hover();
  await arrows.waitFor({ state: "attached" });
  await page.mouse.move(2, 2);
  await arrows.waitFor({ state: "detached" });
});

test("a share below a thousandth is shown as <0.1 %, neither as 0 % nor as 0.1 %", async (t) => {
  for (const [path, share] of [
    ["explorer.html", ".share"],
    ["precedent.html", ".share"],
  ]) {
    const page = await shelf.page(t, { path: `site/${path}` });
    const games =
      path === "explorer.html" ? "#played-moves .games" : "#moves .games";
    await page.locator(games).nth(19).waitFor({ state: "attached" });
    const rows = await page.$$eval(
      games,
      (all, share) =>
        all.map((each) => [
          each.firstChild?.textContent,
          (
            each.querySelector(share) ??
            each.parentElement?.querySelector(share)
          )?.textContent,
        ]),
      String(share),
    );
    assert.deepEqual(
      rows.find(([games]) => games === "1"),
      ["1", "<0.1 %"],
    );
    assert.deepEqual(
      rows.find(([games]) => games === "1,596"),
      ["1,596", "0.6 %"],
    );
  }
});

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

const RATINGS = [
  "Below 2200",
  "2200–2399",
  "2400–2599",
  "2600 and more",
  "No rating",
];
const YEARS = [
  "Before 1970",
  "1970–1989",
  "1990–2009",
  "Since 2010",
  "No date",
];

for (const [name, viewport] of Object.entries(SIZES)) {
  test(`the site's book can be filtered by rating and year, as by the program, on ${name}`, async (t) => {
    const page = await explorer(t, "", {
      viewport,
      hasTouch: name === "a phone",
    });
    await shows(page, START);
    const filters = page.getByTestId("filters");
    const { y, height } =
      (await filters.boundingBox()) ?? assert.fail("no filters");
    assert.ok(
      y + height <= viewport.height,
      "the filters are in view at first sight",
    );
    assert.equal(
      await page.getByTestId("chosen").innerText(),
      "Filters: all games",
    );
    assert.equal(
      await filters.evaluate(
        (each) => /** @type {HTMLDetailsElement} */ (each).open,
      ),
      name === "a desk",
    );
    if (name === "a phone") await page.getByTestId("chosen").tap();
    assert.deepEqual(await page.locator("#buckets button").allTextContents(), [
      ...RATINGS,
      ...YEARS,
    ]);
    const press = (/** @type {string} */ label) => {
      const button = page.getByRole("button", { name: label, exact: true });
      return name === "a phone" ? button.tap() : button.press("Space");
    };
    for (const label of [
      ...RATINGS.filter((label) => label !== "2600 and more"),
      ...YEARS.filter((label) => label !== "Since 2010"),
    ])
      await press(label);
    assert.equal(
      await page.getByTestId("chosen").innerText(),
      "Filters: Rating: 2600 and more. Years: Since 2010",
    );
    await shows(page, START, "2600-, years 2010-");
    await press("1990–2009");
    await shows(page, START, "2600-, years 1990-2009", "2600-, years 2010-");
    await page.keyboard.press("1");
    await shows(page, AFTER_E4, "2600-, years 1990-2009", "2600-, years 2010-");
  });
}

test("games of the book are in view without scrolling, and open on the board in the position", async (t) => {
  const page = await explorer(t, "", {
    viewport: { width: 1366, height: 768 },
  });
  await shows(page, START);
  const box =
    (await page.getByTestId("references").boundingBox()) ??
    assert.fail("no games");
  assert.ok(box.y + 48 < 768, "a heading and a game are in view");
  assert.equal(
    await page.locator("#references a").count(),
    8,
    "every game can be opened",
  );
  await page.goto(
    new URL(
      "site/explorer.html#moves=e2e4,e7e5,g1f3,d7d6,d2d4,c8g4,d4e5,g4f3,d1f3,d6e5,f1c4&ply=11",
      shelf.server.url,
    ).href,
  );
  await page.reload();
  const link = page.locator("#references a", { hasText: "Isouard" });
  await link.click();
  await page.waitForURL(/\/site\/#game=morphy-isouard-1858&ply=11$/);
  await until(() =>
    page.evaluate(
      () =>
        document.querySelector("#moves [aria-current] .san")?.textContent ===
        "Bc4",
    ),
  );
});

test("a button shows rare moves, and the next position keeps the choice", async (t) => {
  const page = await explorer(t);
  await shows(page, START);
  const visible = () => page.locator("#played-moves tr:visible").count();
  assert.equal(await visible(), 8);
  await page.getByRole("button", { name: "12 more moves" }).press("Enter");
  assert.equal(await visible(), 20);
  await page.keyboard.press("1");
  await shows(page, AFTER_E4);
  assert.ok((await visible()) > 10);
  await page.getByRole("button", { name: "Fewer moves" }).click();
  assert.equal(await visible(), 8);
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

test("the message about a link stays when the lookup answers or fails, until another position is shown", async (t) => {
  const message = /^The link contains an illegal move: e2e5\./;
  const page = await explorer(t, "#moves=e2e5");
  await shows(page, START);
  assert.match(await page.getByTestId("status").innerText(), message);
  await page.locator("#played-moves tr").first().click();
  await until(() =>
    page.evaluate(
      () =>
        document.querySelector("#status")?.textContent === "" &&
        !document.querySelector("#played.stale"),
    ),
  );
  const broken = await shelf.page(t, {
    path: "site/explorer.html?book=db/manifest.json#moves=e2e5",
    allow: /./,
  });
  await broken.getByTestId("retry").waitFor();
  assert.match(await broken.getByTestId("status").innerText(), message);
  assert.match(
    await broken.getByTestId("status").innerText(),
    /no readable book/,
  );
});

test("visited positions are shown offline", async (t) => {
  const page = await shelf.page(t, {
    path: "site/explorer.html",
    allow: /ERR_INTERNET_DISCONNECTED/,
  });
  await shows(page, START);
  await page.locator("#played-moves tr").first().click();
  await until(() =>
    page.evaluate(
      () =>
        document.querySelectorAll("#line button").length === 2 &&
        !document.querySelector("#played.stale"),
    ),
  );
  await until(() =>
    page.evaluate(
      () => navigator.serviceWorker.controller?.state === "activated",
    ),
  );
  const seen = await rows(page);
  await page.context().setOffline(true);
  await page.reload();
  await until(() =>
    page.evaluate(
      (count) => document.querySelectorAll("#played-moves tr").length === count,
      seen.length,
    ),
  );
  await page.keyboard.press("Home");
  await until(() =>
    page.evaluate(
      () =>
        document.querySelectorAll("#played-moves tr").length > 10 &&
        !document.querySelector("#played.stale"),
    ),
  );
});

suiteIn(["Firefox"], (session) => {
  test("counts, clicks and keys work as in Chromium", async () => {
    const { driver } = session;
    const moves = () =>
      driver.executeScript(
        `return [...document.querySelectorAll("#played-moves tr")].map((row) => row.querySelector(".san").textContent + " " + row.querySelector(".games").firstChild.textContent)`,
      );
    const shown = async (/** @type {string} */ fen) => {
      const expected = told(fen).moves.map(
        (/** @type {any} */ { san, white, draws, black }) =>
          `${san} ${(white + draws + black).toLocaleString("en")}`,
      );
      await until(
        async () => JSON.stringify(await moves()) === JSON.stringify(expected),
        fen,
      );
    };
    await driver.get(`${shelf.server.url}site/explorer.html`);
    await shown(START);
    await driver
      .findElement(
        By.xpath("//tbody/tr[.//span[@class='san' and text()='e4']]//button"),
      )
      .click();
    await shown(AFTER_E4);
    await driver.actions().sendKeys(Key.ARROW_LEFT).perform();
    await shown(START);
  });
});
