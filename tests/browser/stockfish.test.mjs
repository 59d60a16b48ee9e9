// Stockfish judges the games of the site, if the build added it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { at } from "./support/page.mjs";
import { entry, PACKAGE, ROOT, SHELFISH, SITE } from "./support/paths.mjs";
import * as shelf from "./support/shelf.mjs";
import { reads } from "./support/until.mjs";

const GAME =
  "1. e4 e5 2. Nf3 d6 3. Bc4 Bg4 4. Nc3 g6 5. Nxe5 Bxd1 6. Bxf7+ Ke7 7. Nd5# 1-0";
const PATH = `site/#pgn=${encodeURIComponent(GAME)}`;

const folder = join(SITE, "stockfish");
const skip = !existsSync(folder) && "the site has no Stockfish";
const script = () =>
  join(folder, String(readdirSync(folder)[0]), "stockfish-19-lite-single.js");

const uci = () => `${process.execPath} ${script()} Hash=16`;

const fewNodes = () => localStorage.setItem("settings", '{"nodes":20000}');

const requested = async () =>
  (await shelf.server.requests()).filter(({ path }) =>
    path.includes("stockfish"),
  ).length;

test(
  "the site and `shelfish analyse --uci` judge a game alike",
  { skip },
  async (t) => {
    const page = await shelf.page(t, { path: PATH, before: fewNodes });
    await reads(page, "report-share", /Stockfish 19 lite judged\./);
    await reads(page, "filling", /Complete/);
    assert.ok((await requested()) > 0);
    const cells = await page.$$eval("#report tbody td", (all) =>
      all.map((each) => each.textContent),
    );
    const words = ["analyse", join(SITE, "db"), "-", "--uci", uci()];
    const more = ["--nodes", "20000", "--json", "--quiet"];
    const output = execFileSync(SHELFISH, [...words, ...more], { input: GAME });
    const { white, black } = JSON.parse(String(output));
    const figures = [
      ...[white, black].map(({ accuracy }) => `${accuracy.toFixed(1)} %`),
      ...[white, black].map((side) => side.averageCentipawnLoss.toFixed(0)),
      ...[
        "inaccuracies",
        "mistakes",
        "blunders",
        "greatMoves",
        "onlyMoves",
      ].flatMap((name) => [white, black].map((side) => String(side[name]))),
    ];
    assert.deepEqual(cells.slice(0, figures.length), figures);
  },
);

test(
  "a visitor who saves data, or turns Stockfish off, does not load it",
  { skip },
  async (t) => {
    for (const before of [
      () =>
        localStorage.setItem("settings", '{"nodes":2000,"stockfish":false}'),
      () => {
        localStorage.setItem("settings", '{"nodes":2000}');
        Object.defineProperty(navigator, "connection", {
          value: { saveData: true },
        });
      },
    ]) {
      const page = await shelf.page(t, { path: PATH, before });
      await reads(page, "report-share", /The engine of Shelfish judged\./);
      await reads(page, "filling", /Complete/);
      assert.equal(await requested(), 0);
    }
  },
);

test(
  "the engine of the site goes on if Stockfish cannot be loaded",
  { skip },
  async (t) => {
    const page = await shelf.page(t, { before: fewNodes, allow: /./ });
    await page.context().route(/stockfish/, (route) => route.abort());
    await page.goto(shelf.url(PATH));
    await reads(page, "filling", /Complete/);
    await reads(page, "report-share", /The engine of Shelfish judged\./);
    assert.equal(await at(page, "white-blunder").count(), 0);
  },
);

test(
  "the scores of both engines are on the scale of the database",
  { skip },
  async (t) => {
    const { winningChances } = await import(join(PACKAGE, entry()));
    const all = readFileSync(join(ROOT, "static-shards/famous.pgn"), "utf8");
    const input = all.split(/(?=\[Event )/, 15).join("");
    /** Returns the winning chances of the positions of 15 famous games. */
    const chances = (/** @type {string[]} */ ...words) =>
      String(
        execFileSync(SHELFISH, ["analyse", ...words, "--json", "--quiet"], {
          input,
        }),
      )
        .trim()
        .split("\n")
        .flatMap((line) => JSON.parse(line).evaluations)
        .map((found) => found && winningChances(found));
    const nodes = ["--nodes", "8000"];
    const known = chances(join(SITE, "db"), "-");
    for (const engine of [["--engine"], ["--uci", uci()]]) {
      const found = chances("-", ...engine, ...nodes);
      const pairs = known.flatMap((first, n) =>
        first === null || found[n] === null ? [] : [[first, found[n]]],
      );
      const size = (/** @type {number} */ of) =>
        Math.hypot(...pairs.map((pair) => pair[of]));
      const ratio = size(1) / size(0);
      const told = `${engine[0]}: ${ratio.toFixed(2)} times, ${pairs.length} positions`;
      t.diagnostic(told);
      assert.ok(pairs.length >= 1_000 && ratio > 0.8 && ratio < 1.2, told);
    }
  },
);
