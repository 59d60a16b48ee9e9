// The bookmarklet on copies of pages of Lichess, chess.com and other sites, and the page that installs it. The copies have the
// strictest Content-Security-Policy with Trusted Types. A test starts the navigation of a bookmark. Real pages may change: these tests
// cannot detect that.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, suite, test } from "node:test";
import { parsePgn } from "chessops/pgn";
import { played } from "./support/games.mjs";
import { ROOT } from "./support/paths.mjs";
import * as shelf from "./support/shelf.mjs";
import { equals, until, withLimit } from "./support/until.mjs";

const PAGE = "site/bookmarklet.html";
const board = shelf.url("site/");
const empty = shelf.url("/");

const OPERA =
  "e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5+ Nbd7 O-O-O Rd8 Rxd7 Rxd7 Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#";
const SHORT = "e4 d5 exd5 c6 dxc6 Nf6 cxb7 Nbd7 bxa8=Q";
const RUNNING =
  /This game is being played: only finished games are opened \(fair play\)/;
const UNCLEAR = /does not show whether this game is over: only finished games/;

/**
 * A page and the expected result of the bookmark: a game (moves and some tags), a game of Lichess, a position, or a message.
 * @typedef {{ url: string, moves?: string | string[], tags?: Record<string, string>, lichess?: string, fen?: string, says?: RegExp, select?: string }} Case
 */

/** @type {[name: string, expected: Case][]} */
const CASES = [
  [
    "a finished game at Lichess is opened by its id",
    { url: "lichess.org/abcd1234?lichess-finished", lichess: "abcd1234" },
  ],
  [
    "an own finished game at Lichess is opened by the public part of the address, from the same side",
    {
      url: "lichess.org/abcd1234WXYZ?lichess-finished-black",
      lichess: "abcd1234/black",
    },
  ],
  [
    "a finished game on the analysis board of Lichess is opened by its id",
    { url: "lichess.org/abcd1234/black?lichess-game", lichess: "abcd1234" },
  ],
  [
    "a game that is being played at Lichess is not opened",
    { url: "lichess.org/abcd1234?lichess-running", says: RUNNING },
  ],
  [
    "a running game on Lichess TV is not opened",
    { url: "lichess.org/tv?lichess-running", says: RUNNING },
  ],
  [
    "an aborted game at Lichess is not opened",
    { url: "lichess.org/abcd1234?lichess-aborted", says: /aborted/ },
  ],
  [
    "the analysis of an own running correspondence game is not opened",
    {
      url: "lichess.org/abcd1234/white/analysis?lichess-correspondence",
      says: RUNNING,
    },
  ],
  [
    "the analysis of a correspondence game of unknown state is not opened",
    {
      url: "lichess.org/abcd1234/white/analysis?lichess-correspondence-bare",
      says: UNCLEAR,
    },
  ],
  [
    "a finished game on Lichess TV is read from the page, regardless of the names of elements",
    {
      url: "lichess.org/tv?lichess-tv",
      moves: SHORT,
      tags: { Result: "1/2-1/2" },
    },
  ],
  [
    "a game of a variant is not opened, with a reason",
    { url: "lichess.org/tv?lichess-tv-variant", says: /Variants/ },
  ],
  [
    "the PGN of the analysis board of Lichess is opened",
    {
      url: "lichess.org/analysis?lichess-analysis",
      moves: "e4 e5 Nf3 Nc6",
      tags: { White: "Ann & Bob" },
    },
  ],
  [
    "a study is read without variations, from the start of the chapter",
    {
      url: "lichess.org/study/study123/chapter1?lichess-study",
      moves: "Kd3 Kd5 e4+",
      tags: {
        FEN: "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1",
        White: "White, W.",
        Black: "Black, B.",
      },
    },
  ],
  [
    "a chapter that was chosen later is not opened from the start of another chapter",
    {
      url: "lichess.org/study/study123/chapter2?lichess-study",
      says: /where this game starts/,
    },
  ],
  [
    "a broadcast with its result is opened",
    {
      url: "lichess.org/broadcast/a/b/c/chapter1?lichess-broadcast",
      moves: "Kd3 Kd5 e4+",
    },
  ],
  [
    "a broadcast without a result is not opened",
    {
      url: "lichess.org/broadcast/a/b/c/chapter1?lichess-study",
      says: UNCLEAR,
    },
  ],
  [
    "a puzzle is opened with the game that led to it",
    {
      url: "lichess.org/training/abcde?lichess-training",
      moves: OPERA.split(" ").slice(0, 24).join(" "),
    },
  ],
  [
    "a page of Lichess without a game is an error",
    {
      url: "lichess.org/tournament/abcd1234?lichess-tournament",
      says: /No game/,
    },
  ],

  [
    "a finished game at chess.com is read with its pieces and its players",
    {
      url: "www.chess.com/game/live/123456789?chess-com-finished",
      moves: OPERA,
      tags: { White: "AnnW", Black: "BobB", Result: "1-0" },
    },
  ],
  [
    "a promotion at chess.com is read",
    {
      url: "www.chess.com/game/daily/1?chess-com-promotion",
      moves: SHORT,
      tags: { Result: "1/2-1/2" },
    },
  ],
  [
    "a game at chess.com is read with its tags",
    {
      url: "www.chess.com/game/live/1?chess-com-own",
      moves: SHORT,
      tags: {
        Date: "2024.05.06",
        White: "AnnW",
        Result: "1-0",
        Event: "Live Chess",
      },
    },
  ],
  [
    "the analysis of a game at chess.com is read without variations",
    {
      url: "www.chess.com/analysis/game/live/1/review?chess-com-review",
      moves: SHORT,
      tags: { White: "AnnW" },
    },
  ],
  [
    "a game on the analysis board of chess.com is read without a result",
    { url: "www.chess.com/analysis?chess-com-analysis", moves: SHORT },
  ],
  [
    "an older layout of chess.com is read from Black's side",
    {
      url: "www.chess.com/live/game/1?chess-com-vertical",
      moves: OPERA,
      tags: { White: "AnnW", Black: "BobB" },
    },
  ],
  [
    "the oldest layout of chess.com is read",
    {
      url: "www.chess.com/live/game/1?chess-com-oldest",
      moves: SHORT,
      tags: { Result: "1-0" },
    },
  ],
  [
    "a game that is being played at chess.com is not opened",
    { url: "www.chess.com/game/live/1?chess-com-running", says: RUNNING },
  ],
  [
    "a game at chess.com with a result and the buttons of a running game is not opened",
    { url: "www.chess.com/play/online?chess-com-rematch", says: RUNNING },
  ],
  [
    "a game at chess.com that the board marks as running is not opened",
    { url: "www.chess.com/game/1?chess-com-own-running", says: RUNNING },
  ],
  [
    "a game at chess.com of unknown state is not opened",
    { url: "www.chess.com/game/daily/1?chess-com-unclear", says: UNCLEAR },
  ],
  [
    "the analysis of a game at chess.com of unknown state is not opened",
    {
      url: "www.chess.com/analysis/game/daily/1?chess-com-unclear",
      says: UNCLEAR,
    },
  ],
  [
    "a list of moves with a gap is not opened",
    {
      url: "www.chess.com/games/view/1?chess-com-gap",
      says: /Moves are missing/,
    },
  ],
  [
    "the error of an invalid move contains the move",
    {
      url: "www.chess.com/games/view/1?chess-com-nonsense",
      says: /“Castle” is no move/,
    },
  ],
  [
    "a post at chess.com is read like a page of any other site",
    {
      url: "www.chess.com/blog/x/y?chess-com-blog",
      moves: "e4 c5 Nf3 d6 d4 cxd4",
    },
  ],

  [
    "a PGN in preformatted text keeps quotes, percents, line breaks, letters and comments",
    {
      url: "blog.test/?any-pre",
      moves: "e4 e5 Qh5 Ke7 Qxe5#",
      tags: {
        Event: 'Say "hi" & 100% + more; #1',
        White: "Łukasz Ü. “Q”",
        Result: "1-0",
      },
    },
  ],
  [
    "a PGN in a text field is opened, and password fields are ignored",
    { url: "blog.test/?any-textarea", moves: "d4 d5 c4 e6 Nc3" },
  ],
  [
    "the games of all viewers on a page are opened",
    {
      url: "blog.test/?any-viewers",
      moves: ["e4 e5 Nf3", "d4 d5"],
      tags: { White: "A" },
    },
  ],
  [
    "the main line of a rendered viewer is opened",
    { url: "blog.test/?any-viewer", moves: "e4 e5 Nf3" },
  ],
  [
    "a game of Lichess in a frame is opened by its id",
    { url: "blog.test/?any-embed", lichess: "abcd1234/black" },
  ],
  [
    "a FEN in a text is opened",
    {
      url: "blog.test/?any-fen",
      fen: "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR_w_KQkq_-_4_4",
    },
  ],
  [
    "a FEN of a diagram is opened",
    {
      url: "blog.test/?any-fen-attribute",
      fen: "8/8/8/4k3/8/4K3/4P3/8_b_-_-_3_40",
    },
  ],
  [
    "moves in other languages are passed to the board unchanged",
    { url: "blog.test/?any-german", moves: "e4 e5 Sf3 Sc6 ♗b5 a6" },
  ],
  [
    "a selected text has priority",
    {
      url: "blog.test/?any-selection",
      select: "#selected",
      moves: "d4 Nf6 c4 g6",
    },
  ],
  [
    "a page without a game is an error with advice",
    {
      url: "blog.test/?any-nothing",
      says: /No game was found here.*select it/,
    },
  ],
];

/** Returns the moves in the text of a game. */
const movesIn = (/** @type {string} */ pgn) =>
  pgn
    .replace(/\[[^\]]*"\]|\{[^}]*\}|\([^)]*\)/g, " ")
    .split(/\s+/)
    .filter((word) => /^[^\d[*]/u.test(word))
    .map((word) => word.replace(/[?!]+$/, ""))
    .join(" ");

/** Checks that an address of the board at `empty` opens the expected game or position. */
function holds(/** @type {string} */ address, /** @type {Case} */ expected) {
  const { hash, href } = new URL(address);
  assert.equal(href.slice(0, href.indexOf("#")), empty);
  if (expected.lichess)
    return assert.equal(hash, `#lichess=${expected.lichess}`);
  if (expected.fen) return assert.equal(hash, `#fen=${expected.fen}`);
  assert.match(
    hash,
    /^#pgn=[\w\-.!~*'()%]+$/,
    "all special characters in the fragment are encoded",
  );
  const text = decodeURIComponent(hash.slice("#pgn=".length));
  const games = parsePgn(text);
  const lines = [expected.moves ?? []].flat();
  assert.equal(games.length, lines.length);
  if (games.length === 1) assert.equal(movesIn(text), lines[0]);
  for (const [name, value] of Object.entries(expected.tags ?? {}))
    assert.equal(games[0]?.headers.get(name), value, name);
  // The moves of these games are legal.
  if (/^www\.chess|^lichess/.test(expected.url))
    assert.equal(
      played(text).length - 1,
      [...(games[0]?.moves.mainline() ?? [])].length,
    );
}

/** The strictest policy of a page. It only allows the scripts with which some copies build their content. */
const STRICT =
  "default-src 'none'; script-src 'nonce-fixture'; style-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

suite("the bookmarklet", () => {
  /** The link of the page, which opens the board, and the same link to an empty page, which loads faster. */
  let [link, emptyLink] = ["", ""];
  /** @type {import("playwright-core").Page} */
  let page;
  /** @type {import("playwright-core").Page | undefined} */
  let tab;
  /** @type {import("playwright-core").CDPSession} */
  let tools;
  before(async () => {
    const context = withLimit(await (await shelf.browser()).newContext());
    page = await context.newPage();
    await page.goto(shelf.url(PAGE));
    link = String(await page.getAttribute("#bookmarklet", "href"));
    emptyLink = link.replace(
      encodeURIComponent(board),
      encodeURIComponent(empty),
    );
    assert.notEqual(emptyLink, link);
    tools = await context.newCDPSession(page);
    // The address `http://lichess.org/abcd1234?lichess-finished` has the copy `lichess-finished`. `&policy=…` sets a policy.
    await context.route(
      /^http:\/\/(lichess\.org|www\.chess\.com|blog\.test)\//,
      (route) => {
        const { search, searchParams } = new URL(route.request().url());
        const [name] = search.slice(1).split("&");
        const copy = join(ROOT, "tests/data/bookmarklet", `${name}.html`);
        return route.fulfill({
          body: readFileSync(copy),
          headers: {
            "content-type": "text/html; charset=utf-8",
            "content-security-policy": searchParams.get("policy") ?? STRICT,
          },
        });
      },
    );
  });
  afterEach(() => tab?.close().catch(() => {}));
  after(() => page?.context().close());

  /**
   * Presses a bookmark: a navigation to a `javascript:` address that the browser starts, not the page. The command `Page.navigate` of
   * the browser's tools does the same. Returns the address of a new tab, the new address of the same tab, or a message.
   * @param {string} bookmark
   */
  async function press(bookmark) {
    const before = page.url();
    /** @type {{ tab?: string, here?: string, said?: string }} */
    const outcome = {};
    page.context().once("page", async (opened) => {
      tab = opened;
      await opened.waitForURL(/^http/);
      outcome.tab = opened.url();
    });
    page.once("dialog", async (dialog) => {
      await dialog.accept();
      outcome.said = dialog.message();
    });
    page.on("framenavigated", () => {
      if (page.url() !== before) outcome.here = page.url();
    });
    // This command answers at once if the script loads no page, and after the page is loaded if it does.
    const navigation = tools
      .send("Page.navigate", { url: bookmark })
      .catch(() => {});
    await until(
      () => Object.keys(outcome).length > 0,
      "the bookmark opens a tab, a message or another address",
    );
    await navigation;
    page.context().removeAllListeners("page");
    page.removeAllListeners("dialog");
    page.removeAllListeners("framenavigated");
    return outcome;
  }

  for (const [what, expected] of CASES) {
    test(what, async () => {
      await page.goto(`http://${expected.url}`);
      if (expected.select)
        await page.evaluate(
          `getSelection().selectAllChildren(document.querySelector("${expected.select}"))`,
        );
      const { tab, here, said } = await press(emptyLink);
      assert.equal(here, undefined);
      if (expected.says) {
        assert.match(String(said), expected.says);
        assert.match(String(said), /^Shelfish: /);
        assert.equal(tab, undefined, "no tab is opened");
      } else {
        assert.equal(said, undefined);
        holds(String(tab), expected);
      }
    });
  }

  test("the board that is opened shows the game", async () => {
    await page.goto(
      "http://www.chess.com/game/live/123456789?chess-com-finished",
    );
    await press(link);
    await equals(
      async () =>
        tab?.locator("[data-testid=move] .san").allTextContents() ?? [],
      OPERA.split(" "),
    );
    assert.match(String(await tab?.title()), /AnnW – BobB/);
  });

  test("if a page may not open windows, the board replaces the page", async () => {
    await page.goto(
      `http://blog.test/?any-textarea&policy=${encodeURIComponent("sandbox allow-scripts allow-same-origin; script-src 'none'")}`,
    );
    const { here } = await press(emptyLink);
    holds(String(here), { url: "blog.test", moves: "d4 d5 c4 e6 Nc3" });
  });
});

test("a drag of the button contains the link, and a click explains the button", async (t) => {
  const page = await shelf.page(t, { path: PAGE });
  const button = page.getByTestId("bookmarklet");
  await button.click();
  assert.match(
    String(await page.getByTestId("installed").textContent()),
    /This is the button to drag/,
  );
  const dragged = page.evaluate(
    () =>
      new Promise((done) =>
        addEventListener(
          "dragstart",
          ({ dataTransfer }) =>
            done([
              dataTransfer?.getData("text/uri-list"),
              dataTransfer?.getData("text/html").replace(/<[^>]*>/g, ""),
            ]),
          { once: true },
        ),
      ),
  );
  await button.hover();
  await page.mouse.down();
  await page.mouse.move(300, 60, { steps: 5 });
  assert.deepEqual(
    await dragged,
    [await button.getAttribute("href"), "Open in Shelfish"],
    "the bookmark takes the button's name",
  );
  await page.mouse.up();
});

test("the link names the database of the page's address", async (t) => {
  const page = await shelf.page(t, {
    path: `${PAGE}?db=https://example.org/d/manifest.json`,
  });
  const href = decodeURIComponent(
    String(await page.getByTestId("bookmarklet").getAttribute("href")),
  );
  assert.ok(
    href.endsWith(
      `("${board}?db=https%3A%2F%2Fexample.org%2Fd%2Fmanifest.json")`,
    ),
    href.slice(-120),
  );
});
