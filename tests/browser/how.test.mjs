// The page that explains lookups: it shows the bytes that were read.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ENGINES } from "./support/engines.mjs";
import { START, lab } from "./support/lab.mjs";
import { DUMPS, ROOT } from "./support/paths.mjs";
import { best, truth } from "./support/truth.mjs";
import { until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

const steps = (/** @type {Page} */ page) =>
  page.getByTestId("steps").locator("li");

/** Requests a position and waits for its seven steps. */
async function ask(/** @type {Page} */ page, /** @type {string} */ fen) {
  await page.evaluate(() =>
    document.querySelector("[data-testid=steps]")?.replaceChildren(),
  );
  await page.getByTestId("fen").fill(fen);
  await page.getByTestId("fen").press("Enter");
  await steps(page).nth(6).waitFor();
}

/** Opens the page and waits for its first position and its first game. */
async function how(
  /** @type {import("node:test").TestContext} */ t,
  query = "",
) {
  const page = await shelf.page(t, { path: "" });
  await page.goto(new URL(`site/how.html${query}`, shelf.server.url).href);
  await page.getByTestId("order").locator("svg").nth(1).waitFor();
  return page;
}

test("the figures describe the open database", async (t) => {
  const page = await how(t);
  const manifest = JSON.parse(
    readFileSync(join(shelf.root, "site/db/manifest.json"), "utf8"),
  );
  const facts = await page.getByTestId("facts").innerText();
  const bytes = manifest.shards.reduce(
    (/** @type {number} */ sum, /** @type {any} */ shard) => sum + shard.bytes,
    0,
  );
  const { size } = statSync(join(shelf.root, "site/db/manifest.json"));
  for (const figure of [
    manifest.positions.toLocaleString("en"),
    (bytes / manifest.positions).toFixed(1),
    `${(size / 1000).toFixed(1)} kB`,
  ]) {
    assert.ok(facts.includes(figure), `${figure} in ${facts}`);
  }
});

test("the key of a position agrees with the format's test vectors, and the answer with the dumps", async (t) => {
  const page = await how(t);
  const [, , key = ""] =
    readFileSync(join(ROOT, "tests/data/keys.tsv"), "utf8")
      .split("\n")
      .find((line) => line.includes(START))
      ?.split("\t") ?? [];
  const shown = await steps(page).nth(1).locator("code").allInnerTexts();
  assert.equal(shown.join("").replaceAll(" ", ""), key);
  const score =
    Number(best(truth(...DUMPS).get(START) ?? [])?.pvs[0]?.cp) / 100;
  assert.equal(
    Number(
      (await steps(page).nth(6).locator("strong").innerText()).replace(
        "−",
        "-",
      ),
    ),
    score,
  );
});

test("the shown request is in the log of the host, and the shown bytes are in the file", async (t) => {
  const page = await how(t);
  await shelf.server.requests();
  await ask(page, "8/8/8/3k4/8/8/3K4/N7 w - - 0 1");
  const ranges = (await shelf.server.requests()).flatMap(({ path, range }) =>
    range ? [{ path, range }] : [],
  );
  assert.equal(ranges.length, 1);
  const text = await steps(page).nth(4).locator("pre").innerText();
  assert.ok(
    text.includes(`GET ${ranges[0]?.path}`) &&
      text.includes(`Range: ${ranges[0]?.range}`),
    text,
  );
  const [start = 0] = (ranges[0]?.range.match(/\d+/g) ?? []).map(Number);
  const [file = ""] = readdirSync(join(shelf.root, "site/db")).filter((name) =>
    name.endsWith(".silo"),
  );
  const bytes = readFileSync(join(shelf.root, "site/db", file)).subarray(
    start,
    start + 24,
  );
  assert.ok(
    text.includes(
      bytes
        .toString("hex")
        .replace(/(..)(?=.)/g, "$1 ")
        .slice(0, 40),
    ),
    text,
  );
  assert.match(await steps(page).nth(6).innerText(), /not in the database/);
  // The bytes are in memory now.
  await ask(page, "8/8/8/3k4/8/8/3K4/N7 b - - 0 1");
  assert.deepEqual(
    (await shelf.server.requests()).filter(({ range }) => range),
    [],
  );
  assert.match(await steps(page).nth(4).innerText(), /no request/);
});

test("pages of the index that are not in the manifest are fetched and shown", async (t) => {
  const page = await how(t, "?db=../famous/manifest.json");
  await ask(page, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
  assert.match(
    await steps(page).nth(2).innerText(),
    /in memory|The page is fetched/,
  );
  assert.match(await steps(page).nth(3).innerText(), /lists \d+ blocks?/);
});

test("a game touches fewer blocks in the order of keys than in the order of a hash", async (t) => {
  const page = await how(t);
  for (const game of ["4", "11", "20"]) {
    await page
      .getByTestId("order")
      .evaluate((order) => order.replaceChildren());
    await page.getByTestId("game").selectOption(game);
    await page.getByTestId("order").locator("strong").nth(1).waitFor();
    const [ours = 0, byHash = 0] = (
      await page.getByTestId("order").locator("strong").allInnerTexts()
    ).map((text) => Number.parseInt(text));
    assert.ok(ours > 0 && ours < byHash, `${ours} and ${byHash}`);
  }
});

test("an invalid position is an error with a reason, and a finished game is reported", async (t) => {
  const page = await how(t);
  await page.getByTestId("fen").fill("8/8/8/8/8/8/8/8 w - - 0 1");
  await page.getByTestId("fen").press("Enter");
  await until(() =>
    page.evaluate(() =>
      /not a position/.test(
        document.querySelector("#fen-error")?.textContent ?? "",
      ),
    ),
  );
  await ask(
    page,
    "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",
  );
  assert.match(await steps(page).nth(6).innerText(), /over/);
  assert.equal(await page.locator("#fen-error").innerText(), "");
});

test("the page fits a phone", async (t) => {
  const page = await shelf.page(t, {
    path: "site/how.html",
    context: {
      viewport: { width: 360, height: 740 },
      isMobile: true,
      hasTouch: true,
    },
  });
  await steps(page).nth(6).waitFor();
  await page.getByTestId("order").locator("svg").nth(1).waitFor();
  assert.ok(
    await page.evaluate(
      () => document.documentElement.scrollWidth <= innerWidth,
    ),
    "nothing to scroll sideways",
  );
});

test("a missing database is explained", async (t) => {
  const page = await shelf.page(t, {
    path: "site/how.html?db=missing/manifest.json",
    allow: /404/,
  });
  await until(() =>
    page.evaluate(() =>
      /no readable database/.test(
        document.querySelector("[data-testid=facts]")?.textContent ?? "",
      ),
    ),
  );
});

for (const { name, missing, launch } of ENGINES) {
  test(
    `${name} explains a lookup`,
    { skip: missing.length > 0 && `${name}: no ${missing.join(", ")}` },
    async (t) => {
      const { driver, close } = await launch();
      t.after(close);
      await driver.get(new URL("site/how.html", shelf.server.url).href);
      // The page's policy forbids other scripts, but a driver may read the document.
      const read = (/** @type {string} */ script) =>
        driver.executeScript(`return ${script}`);
      const dots =
        "document.querySelectorAll('[data-testid=order] circle').length";
      await until(async () => Number(await read(dots)) > 0);
      const shown = {
        steps: await read(
          "document.querySelectorAll('[data-testid=steps] li').length",
        ),
        request: await read("document.querySelector('.http').textContent"),
        dots: Number(await read(dots)),
      };
      assert.equal(shown.steps, 7);
      assert.match(String(shown.request), /Range: bytes=\d+-\d+/);
      assert.equal(shown.dots % 2, 0);
    },
  );
}
