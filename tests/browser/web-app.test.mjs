// The example of a web app in Rust, which uses the crate and not the JavaScript package.
import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { parseFen } from "chessops/fen";
import { Chess } from "chessops/chess";
import { makeSanAndPlay } from "chessops/san";
import { parseUci } from "chessops/util";
import { host } from "./support/host.mjs";
import { START } from "./support/chromium.mjs";
import * as shelf from "./support/shelf.mjs";
import { DUMPS, WEB_APP } from "./support/paths.mjs";
import { best, truth } from "./support/truth.mjs";
import { equals } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

before(async () => {
  cpSync(WEB_APP, join(shelf.root, "app"), { recursive: true });
});

const APP = { path: "app/?database=../db/manifest.json" };
const ABSENT = "8/8/8/3k4/8/8/3K4/N7 w - - 0 1";

const field = (/** @type {Page} */ page, /** @type {string} */ name) =>
  page.getByRole("textbox", { name });
const answer = (/** @type {Page} */ page) => page.getByRole("status");

/** Types a position and waits for the new text of the live region. */
async function ask(
  /** @type {Page} */ page,
  /** @type {string} */ fen,
  /** @type {RegExp | string} */ expected,
) {
  await field(page, "Position (FEN)").fill(fen);
  await field(page, "Position (FEN)").press("Enter");
  await answer(page).filter({ hasText: expected }).waitFor();
}

/** Returns the requests for the database since the last call: `manifest` or a range. */
async function requests() {
  const served = (await shelf.server.requests()).filter(({ path }) =>
    path.startsWith("/db/"),
  );
  return served.map(({ path, range }) =>
    path === "/db/manifest.json" ? "manifest" : range,
  );
}

/** Returns the expected text for the starting position. */
function expected() {
  const { depth, pvs } = best(truth(...DUMPS).get(START) ?? []) ?? {};
  const { cp = 0, line = "" } = pvs?.[0] ?? {};
  const board = Chess.fromSetup(parseFen(START).unwrap()).unwrap();
  const moves = line.split(" ").map((uci) => {
    const move = parseUci(uci);
    assert.ok(move);
    return makeSanAndPlay(board, move);
  });
  assert.ok(cp > 0 && moves.length > 1);
  return [
    "Score, for White",
    `+${(cp / 100).toFixed(2)}`,
    "Depth",
    String(depth),
    "Best line",
    moves.join(" "),
  ];
}

/** Returns the items of the answer. */
const items = (/** @type {Page} */ page) =>
  answer(page).locator("dt, dd").allInnerTexts();

test("the web app in Rust finds a position and reports an absent position, with one request each", async (t) => {
  const page = await shelf.page(t, APP);
  await equals(
    () => field(page, "Database (URL of its manifest)").inputValue(),
    "../db/manifest.json",
  );
  assert.equal(await answer(page).innerText(), "");
  assert.deepEqual(
    await requests(),
    [],
    "no file is fetched before the first lookup",
  );
  await page.getByRole("button", { name: "Look up" }).click();
  await answer(page).filter({ hasText: "Depth" }).waitFor();
  assert.deepEqual(await items(page), expected());
  const [manifest, ...ranges] = await requests();
  assert.equal(manifest, "manifest");
  assert.equal(ranges.length, 1);
  assert.match(String(ranges[0]), /^bytes=\d+-\d+$/);

  await ask(page, ABSENT, "The position is not in the database.");
  const further = await requests();
  assert.equal(further.length, 1, "the database is still open");
  assert.match(String(further[0]), /^bytes=/);
  await ask(page, START, "Depth");
  assert.deepEqual(await items(page), expected());
  assert.deepEqual(await requests(), [], "the block is in memory");
});

test("a new position in the web app in Rust aborts the earlier lookup, and the earlier answer never appears", async (t) => {
  const far = await host(join(shelf.root, "db"));
  t.after(() => far.close());
  const page = await shelf.page(t, {
    path: `app/?database=${encodeURIComponent(`${far.url}manifest.json`)}`,
  });
  const asked = new Promise(
    (resolve) => (far.fault = ({ response }) => resolve(response)),
  );
  await ask(page, START, "Looking it up …");
  const response = /** @type {import("node:http").ServerResponse} */ (
    await asked
  );
  const given = once(response, "close");
  far.fault = undefined;
  await ask(page, START, "Depth");
  assert.deepEqual(await items(page), expected());
  await given;
});
