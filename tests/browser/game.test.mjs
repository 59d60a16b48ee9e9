// <shelfish-game> on other pages: its content, its steps, and the files that it loads.
import assert from "node:assert/strict";
import { once } from "node:events";
import {
  cpSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { makeFen } from "chessops/fen";
import { parsePgn, startingPosition } from "chessops/pgn";
import { parseSan } from "chessops/san";
import { lab } from "./support/lab.mjs";
import { DUMPS, ROOT } from "./support/paths.mjs";
import { best, truth } from "./support/truth.mjs";
import { until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

const PGN = String(
  readFileSync(join(ROOT, "static-shards/famous.pgn"), "utf8")
    .split(/\n(?=\[Event )/)
    .find((pgn) => pgn.includes("Morphy")),
);
/** A game that leaves the database after some moves. */
const STRANGE =
  "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 h5 5. a3 h4 6. b4 Rh5 7. Bb2 Rg5 8. O-O";

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => {
  shelf = await lab({ own: true });
  cpSync(
    join(ROOT, "static-shards/famous.pgn"),
    join(shelf.root, "famous.pgn"),
  );
  const page = (/** @type {string} */ body) =>
    `<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>Games</title><script type="module" src="pkg/elements.js"></script><body style="margin:0">${body}</body></html>`;
  writeFileSync(
    join(shelf.root, "text.html"),
    page(`<shelfish-game database="db/">${PGN}</shelfish-game>`),
  );
  writeFileSync(
    join(shelf.root, "below.html"),
    page(
      `<div style="height:3000px"></div><shelfish-game database="db/" pgn="${STRANGE}"></shelfish-game>`,
    ),
  );
});
after(() => shelf.close());

/** Returns the positions and moves of a game by chessops. */
function played(/** @type {string} */ pgn) {
  const [game] = parsePgn(pgn);
  assert.ok(game);
  const position = startingPosition(game.headers).unwrap();
  const plies = [{ san: "", fen: makeFen(position.toSetup(), { epd: true }) }];
  for (const { san } of game.moves.mainline()) {
    const move = parseSan(position, san);
    assert.ok(move);
    position.play(move);
    plies.push({ san, fen: makeFen(position.toSetup(), { epd: true }) });
  }
  return plies;
}

const source = truth(...DUMPS);
/** Returns the score in the dumps, formatted as by the element. Empty if the dumps lack the position. */
function score(/** @type {string} */ fen) {
  const { cp = 0, mate } = best(source.get(fen) ?? [])?.pvs[0] ?? {};
  if (!source.has(fen)) return "";
  if (mate !== undefined) return `#${mate}`.replace("-", "−");
  return `${cp > 0 ? "+" : cp < 0 ? "−" : ""}${Math.abs(cp / 100).toFixed(2)}`;
}

/** Opens a page with elements of these attributes. The first element is `game`. */
async function show(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {Record<string, string>[]} */ elements,
  options = {},
) {
  const page = await shelf.page(t, options);
  await page.evaluate(async (elements) => {
    await import(String(new URL("pkg/elements.js", document.baseURI)));
    for (const attributes of elements) {
      const element = document.createElement("shelfish-game");
      for (const [name, value] of Object.entries(attributes))
        element.setAttribute(name, value);
      document.body.append(element);
    }
  }, elements);
  return page;
}

const facts = (/** @type {Page} */ page) =>
  page.locator("shelfish-game .facts").first();
/** Waits until the database has answered. */
const answered = (/** @type {Page} */ page) =>
  until(() =>
    page.evaluate(() =>
      /Depth|database|mate/i.test(
        document
          .querySelector("shelfish-game")
          ?.shadowRoot?.querySelector(".facts")?.textContent ?? "",
      ),
    ),
  );
const ply = (/** @type {Page} */ page) =>
  page.evaluate(() => document.querySelector("shelfish-game")?.ply);

test("the element shows the moves of a game with scores of the database, and each position during steps", async (t) => {
  const page = await show(t, [{ pgn: PGN, database: "db/" }]);
  await answered(page);
  const plies = played(PGN);
  const shown = await page
    .locator("shelfish-game .moves button")
    .evaluateAll((buttons) =>
      buttons.map(({ childNodes }) => [
        childNodes[0]?.textContent,
        childNodes[1]?.textContent,
      ]),
    );
  assert.deepEqual(
    shown,
    plies.slice(1).map(({ san, fen }) => [san, score(fen)]),
  );
  assert.equal(
    await page.evaluate(() => document.querySelector("shelfish-game")?.plies),
    plies.length - 1,
  );
  await page.evaluate(() => {
    Object.assign(globalThis, { heard: [] });
    document.addEventListener("ply", (event) =>
      /** @type {any} */ (globalThis).heard.push(
        /** @type {CustomEvent} */ (event).detail,
      ),
    );
  });
  await page.locator("shelfish-game .graph").focus();
  for (const _ of plies.slice(1)) await page.keyboard.press("ArrowRight");
  const heard = await page.evaluate(
    () => /** @type {any} */ (globalThis).heard,
  );
  assert.deepEqual(
    heard.map((/** @type {any} */ { ply, fen, san }) => ({ ply, fen, san })),
    plies.slice(1).map((each, n) => ({ ply: n + 1, ...each })),
  );
  assert.match(await facts(page).innerText(), /Checkmate/);
  assert.equal(await page.locator("shelfish-game .score").innerText(), "1–0");
  // One white king, and the texts for screen readers.
  assert.match(
    String(
      await page.locator("shelfish-game .squares").getAttribute("aria-label"),
    ),
    /White: king c1.*Black: .*king e8/,
  );
  assert.match(
    await page.locator("shelfish-game .said").innerText(),
    /17\. Rd8#, checkmate/,
  );
});

test("keys, buttons, moves, the graph and taps step through the game", async (t) => {
  const context = {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  };
  const page = await show(t, [{ pgn: PGN, database: "db/", ply: "4" }], {
    context,
  });
  await answered(page);
  assert.equal(await ply(page), 4);
  await page.getByLabel("Next move").click();
  assert.equal(await ply(page), 5);
  await page.keyboard.press("Home");
  assert.equal(await ply(page), 0);
  assert.ok(await page.getByLabel("Previous move").isDisabled());
  await page.keyboard.press("End");
  assert.equal(await ply(page), 33);
  await page.locator("shelfish-game .moves button").nth(2).click();
  assert.equal(await ply(page), 3);
  const board = await page.locator("shelfish-game .place").boundingBox();
  const graph = await page.locator("shelfish-game .graph").boundingBox();
  assert.ok(board && graph);
  await page.touchscreen.tap(board.x + 0.8 * board.width, board.y + 20);
  assert.equal(await ply(page), 4);
  await page.touchscreen.tap(board.x + 0.2 * board.width, board.y + 20);
  assert.equal(await ply(page), 3);
  await page.mouse.click(graph.x + graph.width - 1, graph.y + 10);
  assert.equal(await ply(page), 33);
  assert.equal(
    await page.locator("shelfish-game .graph").getAttribute("aria-valuetext"),
    "17. Rd8#, checkmate",
  );
  assert.equal(
    await page.evaluate(
      () => document.documentElement.scrollWidth <= innerWidth,
    ),
    true,
  );
});

test("an unknown position is named, hatched, and interrupts the graph", async (t) => {
  const page = await show(t, [{ pgn: STRANGE, database: "db/", ply: "12" }]);
  await answered(page);
  assert.equal(await facts(page).innerText(), "Not in the database");
  assert.ok(
    await page
      .locator("shelfish-game .bar")
      .evaluate((bar) => bar.classList.contains("unknown")),
  );
  const known = played(STRANGE).map(({ fen }) => source.has(fen));
  const runs = known.filter((is, n) => is && !known[n - 1]).length;
  assert.ok(runs > 0 && known.includes(false));
  assert.equal(await page.locator("shelfish-game .white-share").count(), runs);
  const drawn = await page
    .locator("shelfish-game .black-share")
    .evaluateAll((shares) =>
      shares.reduce(
        (sum, share) => sum + Number(share.getAttribute("width")),
        0,
      ),
    );
  assert.ok(drawn <= (600 * known.filter(Boolean).length) / (known.length - 1));
});

test("a failed lookup differs from a position that is not in the database", async (t) => {
  const steps = async (/** @type {Page} */ page) => {
    const told = [];
    await page.locator("shelfish-game .graph").focus();
    for (const _ of played(PGN)) {
      told.push(await facts(page).innerText());
      await page.keyboard.press("ArrowRight");
    }
    return told;
  };
  const whole = await show(t, [{ pgn: PGN, database: "db/" }]);
  await answered(whole);
  const page = await show(t, [{ pgn: PGN }], { allow: /404/ });
  const folder = join(shelf.root, "db");
  const middle =
    Math.max(
      ...readdirSync(folder).map((file) => statSync(join(folder, file)).size),
    ) / 2;
  // The host lacks the first half of the file: the pages of the index are at its end.
  await page.route(/\/db\/.*\.silo$/, (route) => {
    const [, start] =
      /(\d+)-/.exec(route.request().headers().range ?? "") ?? [];
    return Number(start) < middle
      ? route.fulfill({ status: 404 })
      : route.continue();
  });
  await page
    .locator("shelfish-game")
    .evaluate((game) => game.setAttribute("database", "db/"));
  await until(() =>
    page.evaluate(() =>
      /Depth|not in|could not/i.test(
        document
          .querySelector("shelfish-game")
          ?.shadowRoot?.querySelector(".facts")?.textContent ?? "",
      ),
    ),
  );
  const [all, some] = [await steps(whole), await steps(page)];
  const failed = some.filter(
    (words) => words === "Could not be looked up",
  ).length;
  assert.ok(failed > 0 && failed < some.length, some.join("\n"));
  assert.deepEqual(
    some,
    all.map((words, ply) =>
      some[ply] === "Could not be looked up" ? some[ply] : words,
    ),
  );
});

test("several elements on a page share one open database", async (t) => {
  const page = await show(
    t,
    [
      { pgn: PGN, database: "db/" },
      { pgn: STRANGE, database: "db/manifest.json" },
      { fen: played(PGN)[1]?.fen ?? "", database: "db/" },
    ],
    { context: { viewport: { width: 600, height: 3000 } } },
  );
  await until(() =>
    page.evaluate(() =>
      [...document.querySelectorAll("shelfish-game")].every((game) =>
        /Depth|database/.test(
          game.shadowRoot?.querySelector(".facts")?.textContent ?? "",
        ),
      ),
    ),
  );
  const manifests = (await shelf.server.requests()).filter(
    ({ path }) => path === "/db/manifest.json",
  );
  assert.equal(manifests.length, 1);
});

test("the element loads the package and the database when scrolled into view", async (t) => {
  const page = await shelf.page(t, { path: "below.html" });
  await until(() =>
    page.evaluate(() => customElements.get("shelfish-game") !== undefined),
  );
  await page.waitForLoadState("networkidle");
  const loaded = () =>
    page.evaluate(() =>
      performance
        .getEntriesByType("resource")
        .map(({ name }) => new URL(name).pathname)
        .filter((path) => path.includes("/")),
    );
  assert.deepEqual((await loaded()).sort(), ["/pkg/elements.js"]);
  await page.evaluate(() =>
    document.querySelector("shelfish-game")?.scrollIntoView(),
  );
  await answered(page);
  assert.ok((await loaded()).includes("/pkg/index.js"));
});

test("the game can be the text of the element or a file at a URL", async (t) => {
  const page = await shelf.page(t, { path: "text.html" });
  await answered(page);
  assert.equal(await page.locator("shelfish-game .moves button").count(), 33);
  assert.match(
    await page.locator("shelfish-game .player.below").innerText(),
    /Morphy/,
  );
  const other = await show(t, [{ src: "famous.pgn", database: "db/" }]);
  await until(() =>
    other.evaluate(
      () => Number(document.querySelector("shelfish-game")?.plies) > 10,
    ),
  );
});

test("a change of attributes is shown", async (t) => {
  const page = await show(t, [{ pgn: PGN, database: "db/" }]);
  await answered(page);
  await page.evaluate((pgn) => {
    const game = document.querySelector("shelfish-game");
    if (!game) return;
    game.pgn = pgn;
    game.orientation = "black";
    game.setAttribute("theme", "dark");
  }, STRANGE);
  await until(() =>
    page.evaluate(() => document.querySelector("shelfish-game")?.plies === 15),
  );
  assert.ok(
    await page
      .locator("shelfish-game .bar")
      .evaluate((bar) => bar.classList.contains("flipped")),
  );
  assert.equal(
    await page
      .locator("shelfish-game")
      .evaluate((game) => getComputedStyle(game).colorScheme),
    "dark",
  );
  await page.evaluate(() => {
    const game = document.querySelector("shelfish-game");
    if (game) game.ply = 99;
  });
  assert.equal(await ply(page), 15);
});

test("without a database, evaluations of the PGN are shown and marked", async (t) => {
  const page = await show(t, [
    {
      pgn: "1. e4 { [%eval 0.3,20] } e5 { best by test [%eval #-3] } 2. Nf3",
      ply: "1",
    },
  ]);
  await answered(page);
  assert.equal(await page.locator("shelfish-game .score").innerText(), "+0.30");
  assert.equal(await facts(page).innerText(), "Depth 20, from the PGN");
  await page.locator("shelfish-game .graph").press("ArrowRight");
  assert.equal(await page.locator("shelfish-game .score").innerText(), "#−3");
  assert.equal(
    await page.locator("shelfish-game .comment").innerText(),
    "best by test",
  );
});

for (const [what, attributes, plies, words] of /** @type {const} */ ([
  [
    "a move that is not legal",
    { pgn: "1. e4 e5 2. Ke3 Nc6" },
    2,
    /Ke3 is not a legal move after 2 moves/,
  ],
  [
    "a word that is not a move",
    { pgn: "1. e4 e9" },
    1,
    /expected a move, found e9/,
  ],
  [
    "an impossible square before a good move",
    { pgn: "1. e4 e5 2. Qh9 Nc6" },
    2,
    /found Qh9/,
  ],
  ["a text that is not a game", { pgn: "hello" }, 0, /there is no game/],
  [
    "a page instead of a PGN",
    { pgn: "<!doctype html><title>404</title>" },
    0,
    /expected a move, found html/,
  ],
  ["a null move", { pgn: "1. e4 -- 2. d4" }, 1, /-- is not a legal move/],
  [
    "a variant",
    { pgn: '[Variant "Atomic"]\n\n1. e4 e5' },
    0,
    /variant is Atomic/,
  ],
  ["an invalid FEN", { fen: "8/8/8/8 w - -" }, 0, /fen: .*expected 8 ranks/],
  ["a missing database", { pgn: STRANGE, database: "missing/" }, 15, /404/],
  [
    "a missing PGN",
    { src: "missing.pgn" },
    0,
    /missing\.pgn was answered with status 404/,
  ],
])) {
  test(`${what} is an error, and the valid part of the game is shown`, async (t) => {
    const page = await show(t, [attributes], { allow: /404/ });
    await page.locator("shelfish-game .error:not([hidden])").waitFor();
    assert.match(await page.locator("shelfish-game .error").innerText(), words);
    assert.equal(
      await page.evaluate(() => document.querySelector("shelfish-game")?.plies),
      plies,
    );
    // The same game on another element, whose event is heard.
    const heard = page.evaluate(
      (attributes) =>
        new Promise((resolve) => {
          const game = document.createElement("shelfish-game");
          for (const [name, value] of Object.entries(attributes))
            game.setAttribute(name, value);
          game.addEventListener("error", ({ detail }) => resolve(detail));
          document.body.prepend(game);
        }),
      attributes,
    );
    assert.match(String(await heard), words);
  });
}

test("annotation symbols, figurines and castling with zeros are accepted", async (t) => {
  const pgn =
    "1.e4 e5 2.Nf3 Nc6 +- 3. Bb5 a6 = 4. Ba4 Nf6 N 5. 0-0 Be7 $14 ⩲ (5... hello) 6. Re1 b5 7. Bb3 d6 8. c3 0-0 1/2";
  const page = await show(t, [{ pgn }]);
  await until(() =>
    page.evaluate(() => document.querySelector("shelfish-game")?.plies === 16),
  );
  assert.equal(await page.locator("shelfish-game .error").isHidden(), true);
});

test("an endless PGN is read up to a limit", async (t) => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "access-control-allow-origin": "*" });
    const write = () => {
      while (
        !response.destroyed &&
        response.write(
          "; A line that is followed by another one.\n".repeat(1_000),
        )
      );
    };
    response.on("drain", write);
    write();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => void server.close().closeAllConnections());
  const { port } = /** @type {import("node:net").AddressInfo} */ (
    server.address()
  );
  const page = await show(t, [{ src: `http://127.0.0.1:${port}/` }]);
  await page.locator("shelfish-game .error:not([hidden])").waitFor();
  assert.match(
    await page.locator("shelfish-game .error").innerText(),
    /has more than 1048576 characters/,
  );
});

test("the element fits the available width", async (t) => {
  const page = await show(t, [{ pgn: PGN, database: "db/" }], {
    context: { viewport: { width: 1000, height: 900 } },
  });
  await answered(page);
  const isBeside = () =>
    page.evaluate(() => {
      const part = (/** @type {string} */ name) =>
        document
          .querySelector("shelfish-game")
          ?.shadowRoot?.querySelector(name)
          ?.getBoundingClientRect();
      return Number(part(".moves")?.left) >= Number(part(".place")?.right);
    });
  assert.equal(await isBeside(), true);
  await page.evaluate(() => {
    const game = document.querySelector("shelfish-game");
    if (game) game.style.width = "320px";
  });
  await until(() =>
    page.evaluate(
      () =>
        Number(
          document
            .querySelector("shelfish-game")
            ?.shadowRoot?.querySelector(".place")
            ?.getBoundingClientRect().width,
        ) < 320,
    ),
  );
  assert.equal(await isBeside(), false);
});

test("no other host is requested, under a strict policy", async (t) => {
  const page = await shelf.page(t);
  /** @type {string[]} */
  const foreign = [];
  page.on(
    "request",
    (request) =>
      !request.url().startsWith(shelf.server.url) &&
      !request.url().startsWith("data:") &&
      foreign.push(request.url()),
  );
  await page.evaluate(() => {
    const policy = document.createElement("meta");
    policy.httpEquiv = "Content-Security-Policy";
    policy.content =
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; require-trusted-types-for 'script'";
    document.head.append(policy);
  });
  await page.evaluate(async (pgn) => {
    await import(String(new URL("pkg/elements.js", document.baseURI)));
    const game = document.createElement("shelfish-game");
    game.pgn = pgn;
    game.database = "db/";
    document.body.append(game);
  }, PGN);
  await answered(page);
  assert.deepEqual(foreign, []);
});
