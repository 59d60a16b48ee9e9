// Measures "My openings" with the last games of a player: seconds, requests and bytes until all positions are looked up, and the tasks
// that keep the page from reacting. The games come from a local server at once.
// node tests/browser/bench-openings.mjs GAMES.pgn NAME [COUNT] [DATABASE] (after `cargo xtask site`)
import { createReadStream, cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { lab } from "./support/lab.mjs";
import { lichess } from "./support/lichess.mjs";
import { useSites } from "./support/sites.mjs";

const [path, name, count = "1000", database] = process.argv.slice(2);
if (!path || !name)
  throw new Error("expected the path of a PGN and the name of a player");

/** Yields the texts of the games of a file. */
async function* gamesOf(/** @type {string} */ path) {
  /** @type {string[]} */
  let lines = [];
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (line.startsWith("[Event ") && lines.length > 0) {
      yield lines.join("\n");
      lines = [];
    }
    lines.push(line);
  }
  yield lines.join("\n");
}

/** @type {import("./support/lichess.mjs").Listed[]} */
const listed = [];
for await (const pgn of gamesOf(path)) {
  const tag = (/** @type {string} */ tag) =>
    new RegExp(`^\\[${tag} "(.*)"\\]`, "m").exec(pgn)?.[1] ?? "";
  const [white, black, result] = ["White", "Black", "Result"].map(tag);
  if (
    (white !== name && black !== name) ||
    !/^(1-0|0-1|1\/2-1\/2)$/.test(String(result))
  )
    continue;
  const n = listed.length;
  const player = (/** @type {string | undefined} */ each) => ({
    user: { name: each === name ? "Player" : String(each) },
  });
  const winner = { "1-0": "white", "0-1": "black" }[String(result)];
  listed.push({
    id: String(n).padStart(8, "0"),
    createdAt: 1.5e12 + n * 3_600_000,
    status: "resign",
    players: { white: player(white), black: player(black) },
    ...(winner ? { winner } : {}),
    pgn,
  });
}

const server = await lichess({}, { players: { player: listed } });
const shelf = await lab({
  own: true,
  serve: ["--latency-ms", "50", "--bandwidth-mbit", "20"],
});
try {
  const site = join(shelf.root, "site");
  useSites(join(site, "openings.html"), { lichess: server.url });
  if (database) {
    rmSync(join(site, "db"), { recursive: true });
    cpSync(database, join(site, "db"), { recursive: true });
  }
  const page = await (
    await shelf.browser.newContext({ serviceWorkers: "block" })
  ).newPage();
  await page.addInitScript(() => {
    /** @type {number[]} */
    const tasks = [];
    Object.assign(globalThis, { tasks });
    new PerformanceObserver(
      (list) =>
        void tasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({ type: "longtask", buffered: true });
  });
  const start = performance.now();
  await page.goto(
    new URL(
      `site/openings.html#lichess=player&games=${count}`,
      shelf.server.url,
    ).href,
  );
  await page.waitForFunction(
    () =>
      /looked up,/.test(document.querySelector("#status")?.textContent ?? ""),
    undefined,
    { timeout: 600_000 },
  );
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const tasks = await page.evaluate(
    () => /** @type {any} */ (globalThis).tasks,
  );
  console.log(
    `${await page.textContent("#status")} ${seconds} s. ${tasks.length} long tasks, the longest ${Math.round(Math.max(0, ...tasks))} ms.`,
  );
} finally {
  await shelf.close();
  await server.close();
}
