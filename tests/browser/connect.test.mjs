// The Worker wrapper: `serve` in a Worker, `connect` on the page.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { BLANK } from "./support/fixtures.mjs";
import { START, lab } from "./support/lab.mjs";
import { PACKAGE } from "./support/paths.mjs";
import { until } from "./support/until.mjs";

const ABSENT = "8/8/8/3k4/8/8/3K4/N7 w - -";

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => {
  shelf = await lab({ own: true });
  const worker = `import { openDatabase } from "${shelf.entry}"; import { serve } from "/pkg/worker.js";`;
  writeFileSync(
    join(shelf.root, "evals.mjs"),
    `${worker} serve(openDatabase);`,
  );
  writeFileSync(
    join(shelf.root, "shared.mjs"),
    `${worker} onconnect = ({ ports: [port] }) => serve(openDatabase, port);`,
  );
});
after(() => shelf.close());

/** Opens a page with the wrapper as `remote` and a function that returns the error of a rejected promise. */
async function opened(
  /** @type {import("node:test").TestContext} */ t,
  options = {},
) {
  const page = await shelf.page(t, options);
  await page.evaluate(async () => {
    const entry = "/pkg/worker.js";
    Object.assign(globalThis, {
      remote: await import(entry),
      work: () => new Worker("/evals.mjs", { type: "module" }),
      told: (/** @type {Promise<unknown>} */ promise) =>
        promise.then(
          () => "an answer",
          (error) => {
            const { name, code, message, url, status, cause } = error;
            return {
              isOurs: error instanceof remote.ShelfishError,
              name,
              code,
              message,
              url,
              status,
              cause: cause?.message,
            };
          },
        ),
    });
  });
  await shelf.server.requests();
  return page;
}

test("connect gives the same answers as openDatabase, and the page loads no module", async (t) => {
  const page = await opened(t);
  const answers = await page.evaluate(
    async (fens) => {
      const database = await remote.connect(work(), "db/manifest.json", {
        indexedDB: false,
      });
      const one = await database.lookup(String(fens[0]), {
        san: true,
        castling: "chess960",
      });
      const many = await database.lookupMany(new Set(fens));
      await database.prefetch(fens);
      const [manifest, stats] = [
        await database.manifest,
        await database.stats(),
      ];
      await database.clear();
      database.close();
      const entry = many[1];
      const isOurs = entry instanceof remote.ShelfishError && entry.code;
      return {
        one,
        many: [many[0], isOurs, many[2]],
        manifest,
        stats,
        fromHere: performance
          .getEntriesByType("resource")
          .map(({ name }) => name),
      };
    },
    [START, "nonsense", ABSENT],
  );
  const here = await page.evaluate(async (fen) => {
    const database = await shelfish.openDatabase("db/manifest.json", {
      indexedDB: false,
    });
    return {
      one: await database.lookup(fen, { san: true, castling: "chess960" }),
      many: await database.lookup(fen),
      manifest: database.manifest,
    };
  }, START);
  assert.deepEqual(answers.one, here.one);
  assert.deepEqual(answers.many, [here.many, "fen", null]);
  assert.deepEqual(answers.manifest, here.manifest);
  assert.equal(answers.stats.lookups, 5);
  assert.ok(
    !answers.fromHere.some((name) => name.endsWith(".wasm")),
    answers.fromHere.join(" "),
  );
});

test("aborting, errors and closing are the same as without a Worker", async (t) => {
  const page = await opened(t, { allow: /404|Failed to load resource/ });
  const all = await page.evaluate(async (fen) => {
    const worker = work();
    const database = await remote.connect(worker, "db/", { indexedDB: false });
    const abort = new AbortController();
    const aborting = told(database.lookup(fen, { signal: abort.signal }));
    abort.abort(new Error("enough"));
    const found = {
      aborted: await aborting,
      again: await told(database.lookup(fen, { signal: abort.signal })),
      opening: await told(
        remote.connect(worker, "db/", { signal: abort.signal }),
      ),
      status: await told(remote.connect(worker, "none/")),
      usage: await told(database.lookupMany(/** @type {any} */ (fen))),
      depth: await told(database.lookup(fen, { minDepth: NaN })),
      fetch: await told(
        remote.connect(worker, "db/", /** @type {any} */ ({ fetch: () => {} })),
      ),
      source: await told(
        remote.connect(
          worker,
          /** @type {any} */ ({ url: "x", whole() {}, range() {} }),
        ),
      ),
    };
    const closing = [told(database.lookup(fen)), told(database.stats())];
    database.close();
    database.close();
    return {
      ...found,
      closed: [
        ...(await Promise.all(closing)),
        await told(database.lookup(fen)),
      ],
    };
  }, START);
  const isOurs = { isOurs: true, name: "ShelfishError" };
  for (const error of [all.aborted, all.again, all.opening]) {
    assert.deepEqual(
      [error.isOurs, error.name, error.code, error.cause],
      [true, "AbortError", "aborted", "enough"],
    );
  }
  const { status } = all;
  assert.deepEqual(
    [status.isOurs, status.code, status.status, status.url],
    [true, "status", 404, new URL("none/manifest.json", shelf.server.url).href],
  );
  for (const name of /** @type {const} */ ([
    "usage",
    "depth",
    "fetch",
    "source",
  ])) {
    const { isOurs, name: error, code } = all[name];
    assert.deepEqual(
      { isOurs, name: error, code },
      { isOurs: true, name: "ShelfishError", code: "usage" },
      name,
    );
  }
  for (const { message, ...error } of all.closed)
    assert.deepEqual(
      { isOurs: error.isOurs, name: error.name, code: error.code },
      { ...isOurs, code: "closed" },
    );
});

test("a Worker that connect created ends when the database closes, and after a failed opening", async (t) => {
  const page = await opened(t, { allow: /404|Failed to load resource/ });
  for (const folder of ["db/", "none/"]) {
    const ended = page
      .waitForEvent("worker")
      .then((worker) => worker.waitForEvent("close"));
    const code = await page.evaluate(
      async ([folder, fen]) => {
        try {
          const database = await remote.connect(work, String(folder), {
            indexedDB: false,
          });
          await database.lookup(String(fen));
          database.close();
        } catch (error) {
          return /** @type {{ code: string }} */ (error).code;
        }
      },
      [folder, START],
    );
    assert.equal(code, folder === "db/" ? undefined : "status");
    await ended;
  }
});

test("a SharedWorker serves several pages and databases", async (t) => {
  const page = await opened(t);
  const fens = await page.evaluate(async (fen) => {
    const ask = async (/** @type {string} */ folder) => {
      const { port } = new SharedWorker("/shared.mjs", { type: "module" });
      const database = await remote.connect(port, folder, { indexedDB: false });
      return [
        (await database.lookup(fen))?.fen,
        (await database.manifest).positions,
      ];
    };
    return Promise.all([ask("db/"), ask("famous/")]);
  }, START);
  assert.deepEqual(
    fens.map(([fen]) => fen),
    [START, START],
  );
  assert.notEqual(fens[0]?.[1], fens[1]?.[1]);
});

test("the snippets of the README run in a page", async (t) => {
  const readme = readFileSync(join(PACKAGE, "README.md"), "utf8");
  const snippet = (/** @type {RegExp} */ part, language = "js") =>
    [
      ...readme.matchAll(
        new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"),
      ),
    ]
      .map(([, code]) => String(code))
      .find((code) => part.test(code)) ?? assert.fail(String(part));
  const local = (/** @type {string} */ code) =>
    code
      .replace(
        /https:\/\/example\.org\/evals\/(manifest\.json)?/g,
        new URL("db/manifest.json", shelf.server.url).href,
      )
      .replaceAll(
        "https://example.org/book/",
        new URL("site/book/", shelf.server.url).href,
      )
      .replaceAll('"shelfish/worker"', '"/pkg/worker.js"')
      .replaceAll('"shelfish"', '"/pkg/index.js"')
      .replaceAll("/shelfish/", "/pkg/");
  writeFileSync(join(shelf.root, "evals.js"), local(snippet(/^serve\(/m)));
  writeFileSync(join(shelf.root, "page.js"), local(snippet(/connect\(worker/)));
  const game = local(snippet(/<shelfish-game/, "html"));
  writeFileSync(
    join(shelf.root, "pasted.html"),
    `${BLANK}<body><script type="module" src="/page.js"></script>${game}`,
  );
  const page = await shelf.page(t, { path: "pasted.html", allow: /^log: / });
  await until(
    () => page.console.some((line) => line.startsWith("log: ")),
    "the Worker answers",
  );
  assert.match(page.console.join(), /evaluations/);
  await until(
    () =>
      page.evaluate(() =>
        /[Dd]epth/.test(
          document
            .querySelector("shelfish-game")
            ?.shadowRoot?.querySelector(".facts")?.textContent ?? "",
        ),
      ),
    "the element shows a depth",
  );
});
