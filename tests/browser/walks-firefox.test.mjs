// One short walk in Firefox for each newer part of the pages. Their tests in Chromium cover the details.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { By, Key } from "selenium-webdriver";
import { suiteIn } from "./support/engines.mjs";
import { shelf } from "./support/lab.mjs";
import { lichess } from "./support/lichess.mjs";
import { useSites } from "./support/sites.mjs";
import { equals, readsIn, until } from "./support/until.mjs";

/** @type {Awaited<ReturnType<typeof shelf>>} */
let ground;
/** @type {Awaited<ReturnType<typeof lichess>>} */
let server;
before(async () => {
  ground = await shelf({ own: true });
  const [anna, opponent] = [
    { user: { name: "Anna", id: "anna" }, rating: 1800 },
    { user: { name: "Opponent", id: "opponent" }, rating: 1700 },
  ];
  const game = {
    id: "game0001",
    createdAt: Date.UTC(2026, 3, 1),
    lastMoveAt: Date.UTC(2026, 3, 1),
    status: "resign",
    winner: "black",
    players: { white: opponent, black: anna },
  };
  server = await lichess(
    {},
    {
      players: {
        anna: [
          {
            ...game,
            pgn: '[White "Opponent"]\n[Black "Anna"]\n[Result "0-1"]\n\n1. e4 e5 2. Nf3 0-1\n',
          },
        ],
      },
    },
  );
  useSites(join(ground.root, "site", "index.html"), { lichess: server.url });
});
after(async () => {
  await server.close();
  await ground.close();
});

const CLOCKS = `[TimeControl "300+5"]\n\n1. e4 {[%clk 0:05:00]} e5 {[%clk 0:05:00]} 2. Nf3 {[%clk 0:04:50]} Nc6 {[%clk 0:05:03]} 3. Bc4 {[%clk 0:03:30]} Bc5 {[%clk 0:05:00]} *`;

suiteIn(["Firefox"], (session) => {
  const find = (/** @type {string} */ id) =>
    session.driver.findElement(By.css(`[data-testid=${id}]`));
  /** Clicks an element as soon as that is possible. */
  const click = (/** @type {string} */ id) =>
    until(
      () =>
        find(id)
          .click()
          .then(() => true),
      `${id} is clicked`,
    );
  const reads = (/** @type {string} */ id, /** @type {RegExp} */ pattern) =>
    readsIn(session.driver, id, pattern);
  const press = (/** @type {string} */ key) =>
    session.driver.actions().sendKeys(key).perform();
  /** Runs a function in the page. */
  const evaluate = (/** @type {() => any} */ body) =>
    session.driver.executeScript(`return (${body})();`);
  const current = () =>
    evaluate(
      () => document.querySelector("#moves [aria-current] .san")?.textContent,
    );

  /** Opens a page with these settings. No walk continues the visit of another walk. */
  async function visit(/** @type {string} */ path, settings = {}) {
    const { driver } = session;
    await driver.get(`${ground.server.url}site/favicon.svg`);
    await driver.executeScript(
      "localStorage.clear(); localStorage.setItem('settings', arguments[0]);",
      JSON.stringify(settings),
    );
    await driver.get(`${ground.server.url}site/${path}`);
    await evaluate(() =>
      addEventListener(
        "error",
        ({ message }) => (document.documentElement.dataset.error = message),
      ),
    );
  }

  /** @type {Record<string, () => Promise<void>>} */
  const walks = {
    "a user name lists the last games, and a key opens a game from the player's side":
      async () => {
        await visit("", { engine: false });
        await reads("facts", /^Depth/);
        await find("quick-text").sendKeys("Anna", Key.ENTER);
        await reads("player-status", /only in this browser/);
        await reads("stored-game", /^Won against Opponent \(1700\)/);
        await press(Key.ARROW_DOWN);
        await press(Key.ENTER);
        await until(() =>
          evaluate(
            () =>
              location.hash.startsWith("#lichess=game0001") &&
              document.querySelector("#board.orientation-black") !== null,
          ),
        );
      },

    "a comment is written, and evaluations are hidden": async () => {
      await visit("#moves=e2e4,e7e5,g1f3&ply=3", { engine: false });
      await equals(current, "Nf3");
      await press("e");
      await (
        await until(() => find("annotate-text"))
      ).sendKeys("A comment of Firefox");
      await click("annotate-save");
      await reads("moves", /A comment of Firefox/);
      await press("h");
      await until(() =>
        evaluate(
          () => document.documentElement.dataset.evaluations === "hidden",
        ),
      );
    },

    "a mate ends a game against the engine with a verdict, and the board analyses it":
      async () => {
        await visit("play.html#fen=6k1/5ppp/8/8/8/8/5PPP/R5K1_w_-_-_0_1");
        await click("start");
        await reads("status", /^Your move/);
        await find("move-input").sendKeys("Ra8", Key.ENTER);
        // The key must not press the link that gets the focus.
        await reads("verdict", /^You wonCheckmate after 1 move\./);
        await click("analyse");
        await reads("moves", /Ra8#/);
      },

    "a mistake is a question with a hint and an answer": async () => {
      await visit("#game=kasparov-topalov-1999", { engine: false });
      await click("learn-start");
      await reads("learn-words", /Find a better move for White\.$/);
      await click("learn-hint");
      await reads(
        "learn-words",
        /^A better move is with the \w+ on [a-h][1-8]\.$/,
      );
      await click("learn-show");
      await reads("learn-words", /^The best line: /);
    },

    "the report shows the times of the moves and leads to the longest":
      async () => {
        await visit(`#pgn=${encodeURIComponent(CLOCKS)}`, { engine: false });
        await reads("report", /Time1 min 40 s10 s/);
        await session.driver
          .findElement(By.css("[data-testid=longest] button"))
          .click();
        await equals(current, "Bc4");
      },

    "an ending has an exact result, and its moves have results too":
      async () => {
        await visit("#fen=8/8/8/4k3/8/8/8/2B1KN2_w_-_-_0_1", {
          panel: "continuations",
        });
        await reads(
          "facts",
          /^White wins by endgame tables, capture or pawn move in 56 half-moves$/,
        );
        await reads("continuations", /15 of 15 legal moves have an evaluation/);
      },

    "the explorer shows the moves of the book, and a digit plays a move":
      async () => {
        await visit("", { engine: false });
        await reads("facts", /^Depth/);
        await press("t");
        await reads("reached", /games reached this position$/);
        await press("1");
        await equals(current, "e4");
      },

    "the engine evaluates the moves that the database does not know":
      async () => {
        await visit("#game=kasparov-topalov-1999&ply=47", {
          nodes: 400,
          panel: "continuations",
        });
        await reads("searched", /^\d+ of them by the engine, in frames$/);
      },
  };

  for (const [name, walk] of Object.entries(walks)) {
    test(name, async () => {
      await walk();
      assert.equal(
        await evaluate(() => document.documentElement.dataset.error ?? null),
        null,
      );
    });
  }
});
