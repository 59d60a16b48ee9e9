// The table of Content-Security-Policies in the README of the package: each row suffices for its entries under Trusted Types, and
// each of its sources is needed.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { BLANK } from "./support/fixtures.mjs";
import { host } from "./support/host.mjs";
import { START, launch } from "./support/chromium.mjs";
import { PACKAGE, ROOT } from "./support/paths.mjs";
import { withLimit } from "./support/until.mjs";

const DIRECTIVES = /** @type {const} */ ([
  "script-src",
  "connect-src",
  "worker-src",
  "trusted-types",
]);

/** @typedef {Record<string, string[]>} Policy the sources of each directive */

/** Returns the policy of each entry in the table. @returns {Map<string, Policy>} */
function table() {
  const readme = readFileSync(join(PACKAGE, "README.md"), "utf8");
  const [, text = ""] =
    /^\| entry \| `script-src`.*\n\|.*\n((?:\|.*\n)+)/m.exec(readme) ?? [];
  const rows = text
    .trim()
    .split("\n")
    .map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) =>
          [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => String(code)),
        ),
    );
  return new Map(
    rows.flatMap(([entries = [], ...cells]) =>
      entries.map((entry) => [
        entry,
        Object.fromEntries(
          DIRECTIVES.map((name, n) => [
            name,
            (cells[n] ?? []).flatMap((code) => code.split(" ")),
          ]),
        ),
      ]),
    ),
  );
}

/** The use of each entry by a page. Runs in the page. @type {Record<string, (database: string, book: string, fen: string, tables: string) => Promise<unknown>>} */
const USES = {
  shelfish: async (database, _, fen) =>
    (
      await (
        await import(/** @type {any} */ ("/pkg/index.js"))
      ).openDatabase(database, { indexedDB: false })
    ).lookup(fen),
  "shelfish/inline": async (database, _, fen) =>
    (
      await (
        await import(/** @type {any} */ ("/pkg/inline.js"))
      ).openDatabase(database, { indexedDB: false })
    ).lookup(fen),
  "shelfish/lichess": async (database, _, fen) => {
    const { lichessFetch } = await import(
      /** @type {any} */ ("/pkg/lichess.js")
    );
    const answer = await lichessFetch({ database })(
      `https://lichess.org/api/cloud-eval?fen=${fen}`,
    );
    return answer.ok
      ? answer.json()
      : Promise.reject(new Error(await answer.text()));
  },
  "shelfish/endgames": async (_, __, ___, tables) =>
    (
      await (
        await import(/** @type {any} */ ("/pkg/endgames.js"))
      ).openEndgames(tables, { indexedDB: false })
    ).probe("8/8/8/8/3k4/8/3P4/3K4 w - -"),
  "shelfish/analysis": async () =>
    (
      await (
        await import(/** @type {any} */ ("/pkg/analysis.js"))
      ).openAnalysis()
    ).read("1. e4"),
  "shelfish/engine": async (_, __, fen) =>
    (
      await (await import(/** @type {any} */ ("/pkg/engine.js"))).openEngine()
    ).analyse(fen, { depth: 2 }),
  "shelfish/worker": async (database, _, fen) => {
    const { connect } = await import(/** @type {any} */ ("/pkg/worker.js"));
    const policy = /** @type {any} */ (globalThis).trustedTypes.createPolicy(
      "yours",
      { createScriptURL: (/** @type {string} */ url) => url },
    );
    return (
      await connect(
        () =>
          new Worker(policy.createScriptURL("/evals.js"), { type: "module" }),
        database,
        { indexedDB: false },
      )
    ).lookup(fen);
  },
  "shelfish/elements": async (database) => {
    await import(/** @type {any} */ ("/pkg/elements.js"));
    const game = document.createElement("shelfish-game");
    game.pgn = "1. e4 e5";
    game.database = database;
    const found = new Promise((resolve, reject) => {
      game.addEventListener(
        "ply",
        ({ detail: { evaluation } }) => evaluation && resolve(evaluation),
      );
      game.addEventListener("error", ({ detail }) => reject(new Error(detail)));
    });
    document.body.append(game);
    return found;
  },
};

/** The policy of the current page. */
let policy = "";
/** @type {import("node:http").Server} */
let server;
/** @type {import("playwright-core").Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof host>>} */
let shelf;
/** @type {Awaited<ReturnType<typeof host>>} */
let book;
/** @type {Awaited<ReturnType<typeof host>>} */
let tables;
let url = "";
before(async () => {
  [shelf, book, tables] = [
    await host(join(ROOT, "tests/data/database/db")),
    await host(join(ROOT, "tests/data/book/db")),
    await host(join(ROOT, "static-shards/endgames")),
  ];
  server = createServer((request, response) => {
    const path = String(request.url);
    const file = join(PACKAGE, path.replace(/^\/pkg\//, ""));
    if (path === "/evals.js") {
      // The response of a Worker's script has the Worker's policy.
      const own = `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ${new URL(shelf.url).origin}`;
      const text =
        'import { openDatabase } from "/pkg/index.js"; import { serve } from "/pkg/worker.js"; serve(openDatabase);';
      response
        .writeHead(200, {
          "content-type": "text/javascript",
          "content-security-policy": own,
        })
        .end(text);
    } else if (path.startsWith("/pkg/") && existsSync(file)) {
      const type = path.endsWith(".wasm")
        ? "application/wasm"
        : "text/javascript";
      response
        .writeHead(200, {
          "content-type": type,
          "content-security-policy": policy,
        })
        .end(readFileSync(file));
    } else {
      response
        .writeHead(path === "/" ? 200 : 404, {
          "content-type": "text/html",
          "content-security-policy": policy,
        })
        .end(path === "/" ? BLANK : "");
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}/`;
  browser = await launch();
});
after(async () => {
  await browser.close();
  server.closeAllConnections();
  server.close();
  await shelf.close();
  await book.close();
  await tables.close();
});

/**
 * Uses an entry on a page with a policy. Returns the message of the error, or `undefined`.
 * @param {string} entry
 * @param {Policy} sources
 * @returns {Promise<string | undefined>}
 */
async function failure(entry, sources) {
  const local = (/** @type {string} */ source) =>
    source === "https://example.org"
      ? `${[shelf, book, tables].map(({ url }) => new URL(url).origin).join(" ")}`
      : source;
  const directives = DIRECTIVES.map(
    (name) =>
      `${name} ${(sources[name] ?? []).map(local).join(" ") || "'none'"}`,
  );
  policy = [
    "default-src 'none'",
    "img-src data:",
    "require-trusted-types-for 'script'",
    ...directives,
  ].join("; ");
  const context = withLimit(await browser.newContext());
  try {
    const page = await context.newPage();
    await page.goto(url);
    const words = [shelf.url, book.url, START, tables.url]
      .map((word) => JSON.stringify(word))
      .join(", ");
    // The browser's tools run this expression, which the policy does not restrict.
    return await page.evaluate(
      `(${USES[entry]})(${words}).then((answer) => (answer ? undefined : "an empty answer"), (error) => error.message)`,
    );
  } finally {
    await context.close();
  }
}

test("the table contains every entry", () => {
  assert.deepEqual([...table().keys()].sort(), Object.keys(USES).sort());
});

for (const entry of Object.keys(USES)) {
  test(`${entry} works with its policy, and fails without any source of the policy`, async () => {
    const sources = table().get(entry);
    assert.ok(sources, "a row of the table");
    assert.equal(await failure(entry, sources), undefined);
    for (const name of DIRECTIVES) {
      for (const source of sources[name] ?? []) {
        // Without it the script of the entry itself is forbidden.
        if (name === "script-src" && source === "'self'") continue;
        const less = {
          ...sources,
          [name]: (sources[name] ?? []).filter((other) => other !== source),
        };
        const message = await failure(entry, less);
        assert.ok(message, `${entry} works without ${name} ${source}`);
        if (source === "'wasm-unsafe-eval'" && !/worker|elements/.test(entry))
          assert.match(message, /wasm-unsafe-eval/);
      }
    }
  });
}
