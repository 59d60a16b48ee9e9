// The package and the page in Firefox, in private windows too, and in WebKit.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { evaluate, suiteIn } from "./support/engines.mjs";
import { START, shelf } from "./support/lab.mjs";
import { DUMPS } from "./support/paths.mjs";
import { plain, truth } from "./support/truth.mjs";
import { until } from "./support/until.mjs";

/** @type {Awaited<ReturnType<typeof shelf>>} */
let ground;
before(async () => void (ground = await shelf()));
after(() => ground.close());

suiteIn(["Firefox", "Firefox, private windows", "WebKit"], (session) => {
  /** Opens the blank page again. The global `shelfish` is the module. */
  async function visit() {
    await session.driver.get(ground.server.url);
    await evaluate(
      session.driver,
      async (entry) =>
        void Object.assign(globalThis, { shelfish: await import(entry) }),
      ground.entry,
    );
    await ground.server.requests();
  }

  /** Opens a database and looks positions up. Returns answers or error codes, and the statistics. */
  async function ask(
    /** @type {string} */ manifest,
    /** @type {string[]} */ fens,
    indexedDB = true,
  ) {
    const body = async (
      /** @type {string} */ manifest,
      /** @type {string[]} */ fens,
      /** @type {boolean} */ indexedDB,
    ) => {
      try {
        const database = await shelfish.openDatabase(manifest, { indexedDB });
        const answers = await database.lookupMany(fens, {
          castling: "chess960",
        });
        const stats = database.stats();
        database.close();
        return {
          answers: answers.map((answer) =>
            answer instanceof Error ? answer.code : answer,
          ),
          stats,
        };
      } catch (error) {
        return { code: /** @type {any} */ (error).code };
      }
    };
    return evaluate(session.driver, body, manifest, fens, indexedDB);
  }

  test("every position of the famous games has the answer of its source", async () => {
    await visit();
    const source = truth(String(DUMPS[1]));
    const fens = [...source.keys()];
    const { answers = [] } = await ask("famous/manifest.json", fens);
    fens.forEach((fen, i) => {
      const answer = answers[i];
      assert.ok(answer && typeof answer === "object", `${fen}: ${answer}`);
      assert.deepEqual(
        answer.evaluations.map(plain).sort(),
        source.get(fen)?.map(plain).sort(),
        fen,
      );
    });
  });

  test("a first lookup takes two requests, and a lookup after a reload only the manifest's revalidation", async () => {
    await visit();
    const { answers, stats } = await ask("db/manifest.json", [START]);
    const answer = answers?.[0];
    assert.ok(answer && typeof answer === "object" && answer.fen === START);
    assert.equal(stats?.requests, 2);
    const again = async () => {
      await visit();
      const { stats } = await ask("db/manifest.json", [START]);
      return stats?.requests === 1 && stats.indexedDBHits === 1;
    };
    // No event reports that IndexedDB has stored a block.
    await until(again, "the block comes from IndexedDB");
    const asked = (await ground.server.requests()).filter(({ path }) =>
      path.startsWith("/db/"),
    );
    assert.deepEqual(
      asked.map(({ path, range }) => [path, range]),
      [["/db/manifest.json", null]],
    );
  });
});
