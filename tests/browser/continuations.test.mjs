// "Moves from here": the engine evaluates the moves that the database does not know, in a Worker, marked, and only while the panel is shown.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findings } from "./support/axe.mjs";
import { lab } from "./support/lab.mjs";
import { reads, until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

/** A position with Black to move. The database knows few of its moves. */
const PATH = "site/#game=kasparov-topalov-1999&ply=47";
/** The analysis of the game needs little time. */
const fewNodes = () =>
  localStorage.settings ?? localStorage.setItem("settings", '{"nodes":400}');
const context = { viewport: { width: 1366, height: 768 } };

/** Records the positions and nodes of the searches of each Worker. Runs in the page. */
function watchWorkers() {
  localStorage.setItem("settings", '{"nodes":400}');
  const Original = Worker;
  /** @type {{ fens: string[], nodes: number[] }[]} */
  const workers = [];
  Object.assign(globalThis, {
    workers,
    Worker: class extends Original {
      log = /** @type {{ fens: string[], nodes: number[] }} */ ({
        fens: [],
        nodes: [],
      });
      /** @param {ConstructorParameters<typeof Original>} args */
      constructor(...args) {
        super(...args);
        workers.push(this.log);
      }
      /** @param {any} message @param {any} rest */
      postMessage(message, rest) {
        if (message.fen) {
          this.log.fens.push(message.fen);
          this.log.nodes.push(message.nodes);
        }
        return super.postMessage(message, rest);
      }
    },
  });
}

const rows = (/** @type {Page} */ page) =>
  page.$$eval("#continuations li", (all) =>
    all.map((row) => ({
      san: row.querySelector(".san")?.textContent ?? "",
      score: row.querySelector(".move-score")?.textContent ?? "",
      isHollow: row.querySelector(".provisional") !== null,
      facts: row.querySelector(".depth")?.textContent ?? "",
    })),
  );

/** Number of pawns, mates beyond all pawns. */
const value = (/** @type {string} */ score) =>
  score.startsWith("#")
    ? Math.sign(Number(score.slice(1))) * 1000 - Number(score.slice(1))
    : Number(score.replace("−", "-"));

const show = (/** @type {Page} */ page) =>
  page.getByRole("button", { name: "Moves from here" }).click();
const complete = (/** @type {Page} */ page) =>
  reads(page, "searched", /^\d+ of them by the engine, in frames$/);

test("moves that the database does not know have a marked score of the engine, sorted for the side to move", async (t) => {
  const page = await shelf.page(t, { path: PATH, context, before: fewNodes });
  await reads(page, "facts", /^(Depth|Engine)/);
  await show(page);
  await complete(page);
  const legal = Number(
    (await page.locator("#continuations .share").first().textContent())?.match(
      /of (\d+) legal moves/,
    )?.[1],
  );
  const all = await rows(page);
  assert.equal(all.length, legal, "every legal move has a score");
  const searched = all.filter(({ isHollow }) => isHollow);
  assert.ok(searched.length > 10);
  for (const { facts } of searched) assert.match(facts, /^d\d+ engine$/);
  for (const { facts } of all.filter(({ isHollow }) => !isHollow))
    assert.doesNotMatch(facts, /engine/);
  assert.match(
    String(await page.getByTestId("searched").textContent()),
    new RegExp(`^${searched.length} of them`),
  );
  // Black is to move: the lowest score is the first. Shallow scores, and with them those of the engine, come after deep scores.
  const shallow = all
    .slice(1)
    .filter(({ isHollow, facts }) => isHollow || /shallow/.test(facts))
    .map(({ score }) => value(score));
  assert.deepEqual(
    shallow,
    [...shallow].sort((a, b) => a - b),
  );
  const firstShallow = all.findIndex(({ isHollow }, at) => at > 0 && isHollow);
  assert.ok(
    all
      .slice(firstShallow)
      .every(({ isHollow, facts }) => isHollow || /shallow/.test(facts)),
  );
  assert.deepEqual(await findings(page), []);
  await page.locator("#continuations button").last().focus();
  await page.keyboard.press("Enter");
  await until(() =>
    page.evaluate(
      (san) =>
        document.querySelector("#moves [aria-current] .san")?.textContent ===
        san,
      all.at(-1)?.san,
    ),
  );
});

test("the engine searches moves only while the panel is shown, with few nodes, and a step ends the search", async (t) => {
  const page = await shelf.page(t, {
    path: PATH,
    context,
    before: watchWorkers,
  });
  const short = () =>
    page.evaluate(() =>
      /** @type {any} */ (globalThis).workers.flatMap(
        (/** @type {any} */ { fens, nodes }) =>
          fens.filter(
            (/** @type {string} */ _, /** @type {number} */ at) =>
              nodes[at] === 30_000,
          ),
      ),
    );
  await reads(page, "facts", /^(Depth|Engine)/);
  await reads(page, "filling", /Complete/);
  assert.deepEqual(await short(), [], "the panel is not shown");
  await show(page);
  await complete(page);
  const first = await short();
  assert.ok(
    first.length > 10 && first.length === new Set(first).size,
    "each position is searched once",
  );
  const from = await page.evaluate(() => location.hash);
  await page.keyboard.press("ArrowLeft");
  await until(
    async () =>
      (await page.getByTestId("searched").textContent()) ===
      "The engine searches the other moves…",
  );
  await page.keyboard.press("ArrowRight");
  await page.waitForURL((url) => url.hash === from);
  await complete(page);
  await until(async () => (await rows(page)).length > 10);
  const repeated = (await short()).filter((/** @type {string} */ fen) =>
    first.includes(fen),
  );
  assert.equal(
    repeated.length,
    first.length,
    "known moves are not searched again",
  );
});

test("without the engine only moves of the database are listed, and its setting adds the other moves at once", async (t) => {
  const page = await shelf.page(t, {
    path: PATH,
    context,
    before: () =>
      localStorage.settings ??
      localStorage.setItem(
        "settings",
        '{"engine":false,"panel":"continuations"}',
      ),
  });
  await page.locator("#continuations .share").first().waitFor();
  await until(async () =>
    /legal moves? (has|have) an evaluation$/.test(
      (await page.locator("#continuations .share").first().textContent()) ?? "",
    ),
  );
  const known = await rows(page);
  assert.ok(known.every(({ isHollow }) => !isHollow));
  assert.equal(await page.getByTestId("searched").textContent(), "");
  await page.evaluate(() => document.getElementById("settings")?.click());
  await page.getByTestId("set-engine").check();
  await page.keyboard.press("Escape");
  await complete(page);
  assert.ok((await rows(page)).length > known.length + 10);
});
