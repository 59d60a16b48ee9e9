// The analysis board as a player uses it: variations, typed moves, unknown positions, settings, copies and downloads.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parseFen } from "chessops/fen";
import { lab } from "./support/lab.mjs";
import { longGame } from "./support/long.mjs";
import { at, clickSquares, open, withoutEngine } from "./support/page.mjs";
import { equals, reads, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

/** Returns the current move in the list of moves. */
const current = (/** @type {Page} */ page) =>
  page.locator("#moves [aria-current] .san").textContent();

/** Opens a text in the dialog. */
async function paste(/** @type {Page} */ page, /** @type {string} */ text) {
  await open(page, text);
  // The dialog closes when the game is on the board.
  await at(page, "open-dialog").waitFor({ state: "hidden" });
}

test("the score of a line remains when the line leaves the database, with its origin", async (t) => {
  const page = await shelf.page(t, {
    path: "site/#game=kasparov-topalov-1999&ply=20",
  });
  await reads(page, "facts", /^Depth/);
  // Plays the moves of the best line until the database lacks the position.
  for (let plies = 0; plies < 20; plies++) {
    if (
      /^From the line, depth \d+/.test(
        (await at(page, "facts").textContent()) ?? "",
      )
    )
      break;
    const before = await at(page, "moves").innerHTML();
    await page.keyboard.press("Space");
    await until(() =>
      page.evaluate(
        (before) => document.querySelector("#moves")?.innerHTML !== before,
        before,
      ),
    );
    await reads(page, "facts", /^(Depth|From the line)/);
  }
  await reads(page, "facts", /^From the line, depth \d+/);
  assert.match(
    (await at(page, "score").textContent()) ?? "",
    /^[+-]?\d+\.\d\d$/,
  );
  assert.ok(
    await page.locator("#evaluation.borrowed, #bar.borrowed").count(),
    "the score does not look like a score of the database",
  );
  await reads(page, "lines", /does not have this position/);
});

test("a score of the PGN is shown during the lookup and after it fails", async (t) => {
  const context = { serviceWorkers: /** @type {const} */ ("block") };
  const page = await shelf.page(t, {
    before: withoutEngine,
    allow: /Failed to load|registration blocked by Playwright/,
    context,
  });
  /** @type {(() => void)[]} */
  const held = [];
  await page.route(
    /\/site\/db\//,
    (route) =>
      new Promise((done) =>
        held.push(() => done(route.fulfill({ status: 404 }))),
      ),
  );
  await page.goto(
    new URL(
      `site/#pgn=${encodeURIComponent("1. a4 { [%eval 0.25] } a5 { [%eval 0.5] } *")}&ply=1`,
      shelf.server.url,
    ).href,
  );
  await reads(page, "lines", /^The database is being asked…$/);
  await reads(page, "score", /^\+?0\.25$/);
  for (const release of held) release();
  await reads(
    page,
    "lines",
    /From the PGN: \+?0\.25\. The database could not be asked\.$/,
  );
  await at(page, "error").waitFor();
  await page.unroute(/\/site\/db\//);
  await at(page, "retry").click();
  await until(() =>
    page.evaluate(() => !document.querySelector("[data-testid=error]")),
  );
  await reads(page, "facts", /^(Depth|From the PGN)/);
});

test("the page reports a part that cannot be loaded, and continues to work", async (t) => {
  const context = { serviceWorkers: /** @type {const} */ ("block") };
  const page = await shelf.page(t, {
    allow: /Failed to load|ERR_FAILED|registration blocked by Playwright/,
    context,
  });
  await page.route(/\/(deflate|help-dialog)-/, (route) => route.abort());
  for (const name of ["explorer.html", ""]) {
    await page.goto(
      new URL(`site/${name}#pgnz=q1bKTS1W0lFKTiwoBgA`, shelf.server.url).href,
    );
    await until(() =>
      page.evaluate(
        (id) =>
          /A part of this page cannot be loaded/.test(
            document.getElementById(id)?.textContent ?? "",
          ),
        name ? "status" : "notice",
      ),
    );
    await page.locator("#board piece").first().waitFor();
  }
  await page.goto(new URL("site/#moves=e2e4&ply=1", shelf.server.url).href);
  await until(() =>
    page.evaluate(() => document.querySelector("#notice")?.textContent === ""),
  );
  await page.keyboard.press("?");
  await reads(page, "notice", /^A part of this page cannot be loaded/);
});

test("the focus moves on when a button becomes disabled", async (t) => {
  const page = await shelf.page(t, { path: "site/#moves=e2e4,e7e5&ply=1" });
  const focus = () => page.evaluate(() => document.activeElement?.id);
  await at(page, "next").press("Enter");
  assert.equal(await focus(), "previous");
  await at(page, "first").press("Enter");
  assert.equal(await focus(), "next");
  await page.goto(
    new URL("site/explorer.html#moves=e2e4,e7e5&ply=2", shelf.server.url).href,
  );
  await page.locator("#line button").nth(1).press("Enter");
  assert.equal(
    await page.evaluate(() => document.activeElement?.textContent),
    "1. e4",
  );
  await page.locator("#line button").first().press("Enter");
  assert.equal(
    await page.evaluate(() => document.activeElement?.textContent),
    "Start",
  );
});

for (const by of ["mouse", "keys"]) {
  test(`after a dialog that was opened by ${by}, the keys of the board do not open the dialog again`, async (t) => {
    const page = await shelf.page(t, { path: "site/", before: withoutEngine });
    await reads(page, "facts", /^Depth/);
    const isClosed = async () =>
      assert.equal(await page.locator("dialog[open]").count(), 0);
    const press = (/** @type {string} */ id) =>
      by === "mouse" ? at(page, id).click() : at(page, id).press("Enter");
    await press("open");
    await at(page, "open-text").fill("1. e4 *");
    await press("open-submit");
    await at(page, "open-dialog").waitFor({ state: "hidden" });
    // Space plays the best move.
    await reads(page, "facts", /^Depth/);
    await page.keyboard.press("Space");
    await until(async () => (await current(page)) === "e4");
    await isClosed();
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "move");
    await page.keyboard.press("Escape");
    await press("stored");
    await press("stored-game");
    await at(page, "games-dialog").waitFor({ state: "hidden" });
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Space");
    await isClosed();
    // A dialog that changed nothing leaves the focus of the keyboard where it was.
    for (const id of ["open", "settings", "help"]) {
      await press(id);
      await page.locator("dialog[open]").waitFor();
      await page.keyboard.press("Escape");
      await page.locator("dialog[open]").waitFor({ state: "detached" });
      await until(
        async () =>
          (await page.evaluate(() => document.activeElement?.id)) ===
          (by === "keys" ? id : ""),
      );
      if (by === "keys") continue;
      await page.keyboard.press("Space");
      await isClosed();
    }
  });
}

for (const [width, height] of /** @type {const} */ ([
  [1366, 768],
  [390, 844],
  [844, 390],
])) {
  test(`help begins with its title at ${width} by ${height}`, async (t) => {
    const page = await shelf.page(t, {
      path: "site/",
      context: { viewport: { width, height } },
    });
    await reads(page, "facts", /^Depth/);
    await page.keyboard.press("?");
    await at(page, "help-dialog").waitFor();
    const found = await at(page, "help-dialog").evaluate((dialog) => {
      const isSeen = (/** @type {Element | null} */ element) => {
        const { top = -1, bottom = Infinity } =
          element?.getBoundingClientRect() ?? {};
        return top >= 0 && bottom <= innerHeight;
      };
      return {
        top: dialog.scrollTop,
        title: isSeen(dialog.querySelector("h2")),
        focus:
          dialog.contains(document.activeElement) &&
          isSeen(document.activeElement),
      };
    });
    assert.deepEqual(found, { top: 0, title: true, focus: true });
    await page.keyboard.press("Escape");
    await at(page, "help-dialog").waitFor({ state: "detached" });
  });
}

test("variations are chosen, entered and left by keys", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  await paste(page, "1. e4 e5 (1... c5 2. Nf3) (1... e6 2. d4) 2. Nf3 Nc6 *");
  await page.keyboard.press("ArrowRight");
  assert.equal(await current(page), "e4");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator("#moves .chosen .san").textContent(), "c5");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  assert.equal(await current(page), "e6");
  await page.keyboard.press("ArrowRight");
  assert.equal(await current(page), "d4");
  await page.keyboard.press("Shift+ArrowLeft");
  assert.equal(await current(page), "e4");
  await page.keyboard.press("Shift+ArrowRight");
  assert.equal(await current(page), "c5");
  await page.keyboard.press("Home");
  await page.locator("#moves [aria-current][data-testid=start]").waitFor();
  await page.keyboard.press("End");
  assert.equal(await current(page), "Nc6");
  await page.keyboard.press("Shift+ArrowLeft");
  await page
    .locator("#moves [data-testid=variation-move]", { hasText: "d4" })
    .click();
  await at(page, "promote").click();
  assert.deepEqual(
    await page.locator("#moves [data-testid=move] .san").allTextContents(),
    ["e4", "e6", "d4"],
  );
  await page
    .locator("#moves [data-testid=variation-move]", { hasText: "c5" })
    .click();
  await at(page, "remove").click();
  assert.deepEqual(
    await page
      .locator("#moves [data-testid=variation-move] .san")
      .allTextContents(),
    ["e5", "Nf3", "Nc6"],
  );
  await at(page, "start").click();
  assert.ok(
    await at(page, "first").isDisabled(),
    "the list leads back to the start",
  );
});

test("an illegal typed move is reported at its field, and after a legal move the arrow keys step", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  await reads(page, "facts", /^Depth/);
  await page.keyboard.press("Enter");
  await page.keyboard.type("Nf6");
  await page.keyboard.press("Enter");
  await reads(page, "move-error", /Nf6 is not legal/);
  await at(page, "move-input").fill("e4");
  await page.keyboard.press("Enter");
  assert.equal(await at(page, "move-error").textContent(), "");
  assert.equal(await current(page), "e4");
  await page.keyboard.press("ArrowLeft");
  assert.equal(
    await page.locator("#moves [aria-current]").getAttribute("data-testid"),
    "start",
  );
  await page.keyboard.press("ArrowRight");
  assert.equal(await current(page), "e4");
});

test("moves that are entered before the first is read are played in their order", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  await reads(page, "facts", /^Depth/);
  await at(page, "move-input").evaluate((field) => {
    for (const san of ["e4", "e5", "Nf3"]) {
      /** @type {HTMLInputElement} */ (field).value = san;
      field.dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", bubbles: true }),
      );
    }
  });
  await until(async () => (await current(page)) === "Nf3");
  assert.deepEqual(
    await page.locator("[data-testid=move] .san").allTextContents(),
    ["e4", "e5", "Nf3"],
  );
  assert.equal(await at(page, "move-error").textContent(), "");
});

test("keys choose a promotion and do not step the game", async (t) => {
  const page = await shelf.page(t, {
    path: "site/#fen=8/4P1k1/8/8/8/8/6K1/8_w_-_-_0_1&moves=g2g3,g7g6",
  });
  await reads(page, "facts", /\w/);
  await page.keyboard.press("End");
  await clickSquares(page, ["e7", "e8"]);
  await at(page, "promote-queen").waitFor();
  await page.keyboard.press("ArrowDown");
  assert.equal(await current(page), "Kg6", "the keys do not step the game");
  assert.equal(
    await page.evaluate(() =>
      document.activeElement?.getAttribute("data-testid"),
    ),
    "promote-knight",
  );
  await page.keyboard.press("Enter");
  assert.equal(await current(page), "e8=N");
});

test("the list of continuations is sorted by score, and a click plays a continuation", async (t) => {
  const page = await shelf.page(t, {
    path: "site/",
    before: withoutEngine,
    context: { viewport: { width: 1920, height: 1080 } },
  });
  await at(page, "continuation").first().waitFor();
  const scores = await page
    .locator("#continuations .move-score")
    .allTextContents();
  assert.ok(scores.length > 1);
  // The best move of the position's own evaluation is the first, then other moves by score, then moves with shallow evaluations.
  const rows = await page
    .locator("#continuations li")
    .evaluateAll((rows) =>
      rows.map((row) => ({
        score: Number(row.querySelector(".move-score")?.textContent),
        isShallow: /shallow/.test(row.textContent ?? ""),
      })),
    );
  const others = rows.slice(1);
  assert.deepEqual(
    others,
    [...others].sort(
      (a, b) => Number(a.isShallow) - Number(b.isShallow) || b.score - a.score,
    ),
  );
  await reads(
    page,
    "continuations",
    new RegExp(`${scores.length} of 20 legal moves`),
  );
  const san = await page.locator("#continuations .san").first().textContent();
  assert.equal(
    san,
    await page.locator("#lines ol > li .line button").first().textContent(),
    "the headline has the same best move",
  );
  await at(page, "continuation").first().hover();
  await page.locator("#board .cg-shapes line").waitFor({ state: "attached" });
  await at(page, "continuation").first().click();
  assert.equal(await current(page), san);
});

for (const [width, height] of /** @type {const} */ ([
  [360, 640],
  [390, 844],
  [430, 932],
  [844, 390],
])) {
  test(`a tap shows all lines and the controls of the engine at ${width} by ${height}, a move of the second line can be tapped, and another tap hides the lines`, async (t) => {
    const context = {
      viewport: { width, height },
      hasTouch: true,
      isMobile: true,
    };
    // The database has three lines of this position.
    const page = await shelf.page(t, {
      path: "site/#moves=f2f3,e7e5&ply=2",
      before: withoutEngine,
      context,
    });
    await reads(page, "facts", /^Depth/);
    // Playwright taps only an element that no other element covers.
    const second = page.locator("#lines li:nth-child(2) button").first();
    for (const expanded of [true, false, true]) {
      await at(page, "unfold").tap();
      assert.equal(
        await at(page, "unfold").getAttribute("aria-expanded"),
        String(expanded),
      );
      assert.equal(await second.isVisible(), expanded);
      assert.equal(
        await at(page, "go-deeper").evaluate((button) => {
          const { x, y, width, height } = button.getBoundingClientRect();
          return button.contains(
            document.elementFromPoint(x + width / 2, y + height / 2),
          );
        }),
        expanded,
      );
    }
    const san = await second.textContent();
    await second.tap();
    await until(async () => (await current(page)) === san);
  });
}

test("names, ratings, clocks and the result are next to the board and turn with the board", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  await paste(
    page,
    '[White "Ann"]\n[Black "Bob"]\n[WhiteElo "2000"]\n[Result "0-1"]\n\n1. e4 { [%clk 0:03:00] } e5 { [%clk 0:02:58] } 2. Nf3 { [%clk 1:02:09] } 0-1',
  );
  await page.keyboard.press("End");
  await reads(page, "player-below", /Ann.*2000.*1:02:09.*0/);
  await reads(page, "player-above", /Bob.*2:58.*1/);
  await page.keyboard.press("f");
  await reads(page, "player-above", /Ann/);
});

test("the graph is a slider for keys and clicks with a text for each position, and unknown positions are hatched", async (t) => {
  const page = await shelf.page(t, { path: "site/", before: withoutEngine });
  // The game leaves every database of good games after a few moves.
  await paste(
    page,
    "1. e4 e5 2. Nf3 Nc6 3. a3 a6 4. Ra2 Ra7 5. Ra1 Ra8 6. h3 h6 *",
  );
  // The sample contains only the opening. The answers arrive block by block.
  await reads(page, "coverage", /^([4-9]|1[0-2]) of 13 positions known/);
  await until(() =>
    page.evaluate(() => {
      const width = (/** @type {Element} */ element) =>
        element.getBoundingClientRect().width;
      const [graph, gaps] = [
        document.getElementById("graph"),
        [...document.querySelectorAll("#graph .gap")],
      ];
      const hatched =
        gaps.reduce((sum, gap) => sum + width(gap), 0) /
        (graph ? width(graph) : 0);
      return hatched > 0.4 && hatched < 1;
    }),
  );
  const box = await at(page, "graph").boundingBox();
  assert.ok(box);
  const graph = page.getByRole("slider", { name: "Position of the game" });
  await graph.focus();
  await page.keyboard.press("ArrowRight");
  await until(() =>
    page.evaluate(() =>
      /^1\. e4, [+-]?\d/.test(
        document
          .querySelector("[role=slider]")
          ?.getAttribute("aria-valuetext") ?? "",
      ),
    ),
  );
  assert.equal(await graph.getAttribute("aria-valuenow"), "1");
  await page.mouse.click(box.x + box.width - 2, box.y + box.height / 2);
  assert.equal(await graph.getAttribute("aria-valuetext"), "6… h6, not known");
  assert.equal(await current(page), "h6");
});

test("comments and evaluations of the PGN are marked as such", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  await paste(
    page,
    "1. a4 { Odd. } a5 2. h4 h5 3. Rh3 { [%eval -1.5,21] Odder. } *",
  );
  await page.keyboard.press("End");
  await reads(page, "facts", /^From the PGN, depth 21/);
  await reads(page, "score", /^-1\.50$/);
  await reads(page, "moves", /Odder\./);
  await reads(page, "coverage", /1 from the PGN/);
});

test("drawings of a PGN appear at their move, and a comment before a variation is shown", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  await paste(
    page,
    "1. e4 { Look. [%cal Ge4e5,Rd1h5] [%csl Yd5] } ( { Or rather } 1. d4 d5 ) 1... c5 *",
  );
  await page.keyboard.press("Home");
  const drawings = (/** @type {string} */ color) =>
    page.locator(`#board svg [stroke="${color}"]`);
  await reads(page, "moves", /Or rather/);
  assert.equal(await drawings("#882020").count(), 0);
  await page.keyboard.press("ArrowRight");
  await drawings("#882020").waitFor({ state: "attached" });
  assert.deepEqual(
    await Promise.all(
      ["#15781B", "#882020", "#e68f00"].map((color) => drawings(color).count()),
    ),
    [1, 1, 1],
  );
  assert.equal(
    await page.locator('#board svg circle[stroke="#e68f00"]').count(),
    1,
  );
  await page.keyboard.press("ArrowRight");
  await drawings("#882020").waitFor({ state: "detached" });
});

test("settings are kept: colours, pieces, the database", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  await at(page, "settings").click();
  await at(page, "set-board").selectOption({ label: "Green" });
  await page.getByRole("radio", { name: "Letters", exact: true }).check();
  await at(page, "set-database").fill("ftp://example.org/");
  await at(page, "use-database").click();
  await reads(page, "database-status", /expected https/);
  await at(page, "set-database").fill("../famous/");
  await at(page, "use-database").click();
  await page.waitForURL(/famous%2Fmanifest\.json|famous\/manifest\.json/);
  await reads(page, "database", /^1,\d\d\d positions/);
  assert.deepEqual(
    await page.evaluate(() => ({ ...document.documentElement.dataset })),
    { board: "green", evaluations: "shown", pieces: "letters" },
  );
  await at(page, "settings").click();
  await at(page, "clear-cache").click();
  await reads(page, "cache-use", /^Cleared/);
  await at(page, "usual-database").click();
  await reads(page, "database", /^6\d,\d\d\d positions/);
});

test("the settings show pieces of each set, load the pictures when opened, and the board shows the chosen set", async (t) => {
  const page = await shelf.page(t, { path: "site/" });
  /** @type {string[]} */
  const loaded = [];
  page.on(
    "response",
    (response) =>
      /\/assets\/(geometric|tokens)-.*\.svg$/.test(response.url()) &&
      loaded.push(
        `${/geometric|tokens/.exec(response.url())} ${response.status()}`,
      ),
  );
  const picture = () =>
    page.evaluate(() => {
      const { backgroundImage, backgroundPosition } = getComputedStyle(
        document.querySelector("#board piece.black.queen") ?? document.body,
      );
      return `${/geometric|tokens/.exec(backgroundImage)} ${backgroundPosition}`;
    });
  await reads(page, "facts", /^Depth/);
  assert.equal(loaded.length, 0);
  await at(page, "settings").click();
  const samples = () =>
    page.locator(".piece-set").evaluateAll((sets) =>
      sets.map((set) => {
        const piece = /** @type {Element} */ (
          set.querySelector("piece.black.queen")
        );
        return /geometric|tokens|data:image|Q/.exec(
          `${getComputedStyle(piece).backgroundImage} ${getComputedStyle(piece, "::before").content}`,
        )?.[0];
      }),
    );
  await equals(samples, ["data:image", "geometric", "tokens", "Q"]);
  for (const set of ["geometric", "tokens"]) {
    await at(page, `set-pieces-${set}`).check();
    await until(async () => (await picture()) === `${set} 20% 100%`, picture);
    await equals(samples, ["data:image", "geometric", "tokens", "Q"]);
    await until(
      () => loaded.includes(`${set} 200`),
      () => loaded.join(),
    );
  }
  await page.reload();
  await until(async () => (await picture()) === "tokens 20% 100%", picture);
  await at(page, "settings").click();
  await at(page, "set-pieces-cburnett").check();
  await until(async () => (await picture()).startsWith("null"), picture);
});

test("the FEN and the PGN are copied, and the PGN is downloaded", async (t) => {
  const page = await shelf.page(t, {
    path: "site/#game=morphy-isouard-1858&ply=3",
    context: { permissions: ["clipboard-read", "clipboard-write"] },
  });
  await reads(page, "facts", /^Depth/);
  await at(page, "share").click();
  await at(page, "copy-fen").click();
  await reads(page, "share-status", /FEN copied/);
  const fen = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(parseFen(fen).isOk);
  await at(page, "copy-pgn").click();
  await reads(page, "share-status", /PGN copied/);
  assert.match(
    await page.evaluate(() => navigator.clipboard.readText()),
    /\[White "Paul Morphy"\][^]*1\. e4 e5 2\. Nf3 d6/,
  );
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    at(page, "download-pgn").click(),
  ]);
  assert.equal(file.suggestedFilename(), "morphy-isouard-1858.pgn");
  await at(page, "embed-link").click();
  await reads(
    page,
    "code",
    /<shelfish-game[^]*\[White "Paul Morphy"\][^]*1\. e4 e5 2\. Nf3 d6/,
  );
  await page
    .locator("shelfish-game#shown [part=board], shelfish-game#shown cg-board")
    .first()
    .waitFor();
});

test("a step changes no more elements in a game of 300 moves than in a game of 20 moves", async (t) => {
  const touched = [];
  for (const moves of [20, 300]) {
    const page = await shelf.page(t, { path: "site/", before: withoutEngine });
    await paste(page, longGame(moves));
    await reads(page, "coverage", /^\d+ of \d+ positions/);
    await page.getByTestId("report-share").waitFor({ state: "attached" });
    await page.keyboard.press("ArrowRight");
    touched.push(
      await page.evaluate(async () => {
        let count = 0;
        const observer = new MutationObserver(
          (records) =>
            (count += records.reduce(
              (sum, { addedNodes, removedNodes }) =>
                sum + 1 + addedNodes.length + removedNodes.length,
              0,
            )),
        );
        for (const id of ["moves", "graph", "report"])
          observer.observe(document.getElementById(id) ?? document.body, {
            subtree: true,
            childList: true,
            attributes: true,
            characterData: true,
          });
        for (let step = 0; step < 10; step++) {
          document.dispatchEvent(
            new KeyboardEvent("keydown", { key: "ArrowRight" }),
          );
          await new Promise((done) => requestAnimationFrame(done));
        }
        return count;
      }),
    );
  }
  const [short = 0, long = 0] = touched;
  assert.ok(short > 20 && short < 200, `${short} changes in ten steps`);
  assert.equal(long, short);
});

test("the report counts bad moves, links to these moves, and shows the number of known positions", async (t) => {
  const page = await shelf.page(t, {
    path: "site/",
    before: withoutEngine,
    context: { viewport: { width: 1366, height: 768 } },
  });
  // Only the PGN has evaluations: White loses a queen, Black a pawn, and a position between them has no evaluation.
  await paste(
    page,
    '[White "Ann"]\n[Black "Bob"]\n\n1. a4 { [%eval 0.0] } a5 { [%eval 0.1] } 2. h4 { [%eval 0.0] } h5 { [%eval 0.1] } 3. Rh3 { [%eval -4.5] } Ra6 { [%eval -2.9] } 4. Rg3 Rb6 { [%eval -3.0] } 5. b3 { [%eval -3.1] } *',
  );
  await reads(
    page,
    "report-share",
    /Based on \d of 9 moves; \d+ of 10 positions are known/,
  );
  await at(page, "white-blunder").click();
  assert.equal(await current(page), "Rh3");
  assert.equal(
    await page.locator("#moves [aria-current] .glyph").textContent(),
    "??",
  );
  await reads(page, "judgment", /^Blunder\./);
  assert.ok((await page.locator("#graph .bad.blunder").count()) === 1);
  await page.keyboard.press("Home");
  await page.keyboard.press("b");
  assert.equal(await current(page), "Rh3");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Home");
  await page.keyboard.press("i");
  assert.equal(
    await page.locator("#moves [aria-current] .glyph").textContent(),
    "?!",
  );
});

test("the PGN is downloaded with evaluations", async (t) => {
  const page = await shelf.page(t, {
    path: "site/#game=morphy-isouard-1858&ply=3",
  });
  await page.getByTestId("report-share").waitFor({ state: "attached" });
  await at(page, "share").click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    at(page, "download-annotated").click(),
  ]);
  assert.equal(file.suggestedFilename(), "morphy-isouard-1858-annotated.pgn");
  let text = "";
  for await (const part of await file.createReadStream()) text += part;
  assert.match(text, /\[White "Paul Morphy"\]/);
  assert.ok((text.match(/\[%eval /g) ?? []).length > 20, text);
});
