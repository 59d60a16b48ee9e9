// Tests the table of toolchains in crate/js/README.md. Without `SHELFISH_LONG`, only esbuild, Node and pages without a bundler.
import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  DATABASE,
  MATE,
  SAMPLE,
  ground,
  project,
  right,
  run,
  served,
  started,
} from "./support.mjs";

const slow = process.env.SHELFISH_LONG
  ? {}
  : { skip: "slow: cargo xtask test --all" };

/** @type {Awaited<ReturnType<typeof ground>>} */
let site;
before(async () => void (site = await ground()));
after(() => site.close());

/** Changes the entry that templates import. */
const from = (/** @type {string} */ entry) => (/** @type {string} */ text) =>
  text.replace('from "shelfish"', `from "${entry}"`);
const inline = from("shelfish/inline");
const imported = (/** @type {string} */ text) =>
  inline(text).startsWith("import")
    ? `import wasm from "shelfish/shelfish_bg.wasm";\n${inline(text).replace("sample())", "sample(), { wasm })")}`
    : text;

/** A policy that allows only the page's script and the database's host. */
const policy = () => ({
  "content-security-policy": `default-src 'none'; img-src data:; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ${new URL(site.database).origin}; require-trusted-types-for 'script'`,
});

const ESBUILD = { esbuild: "0.28.2" };
const esbuild = ["esbuild", "main.js", "--bundle", "--outdir=dist"];
const vite = ["vite", "build"];
const webpack = { webpack: "5.112.2", "webpack-cli": "7.3.1" };
const pack =
  "webpack --mode=production --entry=./main.js --output-filename=main.js --no-performance".split(
    " ",
  );
const parcel = ["parcel", "build", "index.html", "--no-cache"];
const rollup = {
  rollup: "4.68.7",
  "@rollup/plugin-node-resolve": "16.0.3",
};

/**
 * Builds for browsers: name, packages, template, command, change of the template.
 * @type {[string, Record<string, string>, string, string[], ((text: string) => string)?][]}
 */
const BUILDS = [
  ["esbuild", ESBUILD, "page", [...esbuild, "--format=esm"], inline],
  ["esbuild", ESBUILD, "page", [...esbuild, "--format=iife"], inline],
  ...["file", "binary"].map(
    (kind) =>
      /** @type {[string, Record<string, string>, string, string[], typeof imported]} */ ([
        "esbuild",
        ESBUILD,
        "page",
        [
          ...esbuild,
          "--format=esm",
          `--loader:.wasm=${kind}`,
          "--log-level=warning",
        ],
        imported,
      ]),
  ),
  ["webpack", webpack, "page", pack],
  ["webpack", webpack, "engine", pack],
  ["parcel", { parcel: "2.16.4" }, "page", parcel],
  ["parcel", { parcel: "2.16.4" }, "engine", parcel],
  [
    "rollup",
    rollup,
    "page",
    ["rollup", "main.js", "-p", "node-resolve", "-f", "es", "-d", "dist"],
    inline,
  ],
  ...["5.4.21", "8.3.8"].flatMap((version) =>
    ["page", "worker", "serve", "engine"].map(
      (template) =>
        /** @type {[string, Record<string, string>, string, string[]]} */ ([
          `vite${version[0]}`,
          { vite: version },
          template,
          vite,
        ]),
    ),
  ),
];

for (const [name, packages, template, [program, ...words], change] of BUILDS) {
  const options = name === "esbuild" ? {} : slow;
  test(`a build by ${name}: ${template}`, options, async (t) => {
    const directory = project(name, packages, template, change);
    await run(directory, /** @type {string} */ (program), words);
    const dist = join(directory, "dist");
    if (!["parcel", "vite"].includes(/** @type {string} */ (program)))
      cpSync(join(directory, "index.html"), join(dist, "index.html"));
    const url = await served(t, dist, name === "esbuild" ? policy() : {});
    if (template === "engine") assert.equal(await site.shown(url), MATE);
    else await site.answers(url, { hasSample: template === "page" });
  });
}

test("esbuild, unchanged: the error contains the import to use", async (t) => {
  const directory = project("esbuild", ESBUILD, "page");
  await run(directory, "esbuild", [...esbuild.slice(1), "--format=esm"]);
  cpSync(join(directory, "index.html"), join(directory, "dist/index.html"));
  const url = await served(t, join(directory, "dist"));
  assert.match(
    await site.shown(url, { allow: /404/ }),
    /^ShelfishError network: .*shelfish_bg\.wasm was answered with status 404; .*"shelfish\/inline"/,
  );
});

for (const [entry, code] of /** @type {const} */ ([
  [
    "shelfish/elements",
    `const element = document.createElement("shelfish-eval");
    element.addEventListener("error", ({ detail }) => show(detail));
    element.fen = fen;
    element.setAttribute("database", db);
    document.body.append(element);`,
  ],
  [
    "shelfish/lichess",
    `lichessFetch({ database: db })("https://lichess.org/api/cloud-eval?fen=" + fen).then(async (answer) => show(await answer.text()));`,
  ],
]))
  test(`esbuild, unchanged, ${entry}: the error names only what the page imports`, async (t) => {
    const directory = project("esbuild", ESBUILD, "page", (text, file) =>
      file !== "main.js"
        ? text
        : `import * as entry from "${entry}";
          const { lichessFetch } = entry;
          const db = new URLSearchParams(location.search).get("db");
          const fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
          const show = (text) => (document.querySelector("#answer").textContent = text);
          ${code}`,
    );
    // The elements have no such name, of which esbuild warns.
    const words = [...esbuild.slice(1), "--format=esm", "--log-level=error"];
    await run(directory, "esbuild", words);
    cpSync(join(directory, "index.html"), join(directory, "dist/index.html"));
    const url = await served(t, join(directory, "dist"));
    const message = await site.shown(url, { allow: /404/ });
    assert.match(message, new RegExp(`${entry} needs a bundle that is an ES`));
    assert.doesNotMatch(message, /inline|openDatabase/);
    cpSync(
      join(directory, "node_modules/shelfish/shelfish_bg.wasm"),
      join(directory, "dist/shelfish_bg.wasm"),
    );
    if (entry === "shelfish/lichess")
      assert.match(await site.shown(url), /"depth":20/);
  });

for (const template of ["page", "worker", "engine"])
  test(`no bundler: ${template}`, async (t) => {
    const directory = project("bare", {}, template, (text) =>
      text.replace(
        /from "shelfish(\/engine)?"/,
        (_, engine) =>
          `from "./node_modules/shelfish/${engine ? "engine" : "index"}.js"`,
      ),
    );
    const url = await served(t, directory, template === "page" ? policy() : {});
    if (template === "engine") assert.equal(await site.shown(url), MATE);
    else await site.answers(url, { hasSample: template === "page" });
  });

test("Node: a URL, a directory and the sample", async () => {
  const directory = project("node", {}, "node");
  for (const database of [site.database, DATABASE])
    right(await run(directory, "node", ["main.js", database]));
  right(await run(directory, "node", ["main.js"]), SAMPLE);
  right(await run(directory, "node", ["engine.js"]), MATE);
});

test("types", async () => {
  const packages = { typescript: "7.0.2", "@types/node": "20.19.0" };
  const directory = project("types", packages, "types");
  // With the resolution of bundlers, TypeScript sees the types of Node only by this condition.
  for (const [module, resolution] of [
    ["NodeNext", "NodeNext"],
    ["ESNext", "Bundler --customConditions node"],
  ])
    await run(
      directory,
      "tsc",
      `--strict --noEmit --target ES2022 --lib ES2022 --types node --module ${module} --moduleResolution ${resolution} main.ts`.split(
        " ",
      ),
    );
});

test("publint", slow, async () => {
  const directory = project("publint", { publint: "0.3.25" }, "node");
  const words = ["run", "node_modules/shelfish", "--strict", "--pack=false"];
  assert.match(await run(directory, "publint", words), /All good/);
});

const onPort =
  (/** @type {string[]} */ ...words) =>
  (/** @type {string} */ port) => [...words, port];

test("Vite 8, dev", slow, async (t) => {
  const directory = project("vite8", { vite: "8.3.8" }, "page");
  const words = onPort("--host", "127.0.0.1", "--strictPort", "--port");
  await site.answers(await started(t, directory, "vite", words));
});

for (const cached of [false, true])
  test(
    `Next: a client component, a server component and a route handler, cacheComponents: ${cached}`,
    slow,
    async (t) => {
      const packages = {
        next: "16.4.6",
        react: "19.3.1",
        "react-dom": "19.3.1",
      };
      const directory = project("next", packages, "next", (text) =>
        text.replace(
          "cacheComponents: false",
          `cacheComponents: ${cached}, partialPrefetching: ${cached}`,
        ),
      );
      await run(directory, "next", ["build"], {
        allow: /No build cache found/,
      });
      const words = onPort("start", "--hostname", "127.0.0.1", "--port");
      const url = await started(t, directory, "next", words);
      const database = encodeURIComponent(site.database);
      right(await (await fetch(`${url}api?db=${database}`)).text());
      right(await (await fetch(`${url}api`)).text(), SAMPLE);
      await site.answers(`${url}server`);
      await site.answers(url);
    },
  );

test("workerd", slow, async () => {
  const packages = { miniflare: "4.20251217.0", ...ESBUILD };
  const directory = project("workerd", packages, "workerd");
  writeFileSync(
    join(directory, "run.mjs"),
    `import { Miniflare } from "miniflare";
    const [, , root, database] = process.argv;
    const worker = new Miniflare({
      modulesRoot: root, scriptPath: root + "/worker.js", modules: true, compatibilityDate: "2025-11-01",
      modulesRules: [{ type: "ESModule", include: ["**/*.js"] }, { type: "CompiledWasm", include: ["**/*.wasm"] }],
    });
    const url = database ? "?db=" + encodeURIComponent(database) : "";
    const ask = async (method) => (await worker.dispatchFetch("http://worker/" + url, { method })).text();
    await ask("HEAD");
    // The requests share an open database, but none waits for the request of another.
    console.log(...new Set(await Promise.all(["GET", "GET", "GET"].map(ask))));
    await worker.dispose();`,
  );
  // Wrangler does the same.
  const words = ["--bundle", "--format=esm", "--loader:.wasm=copy"];
  const conditions = "--conditions=workerd,worker,browser";
  await run(directory, "esbuild", [
    "worker.js",
    ...words,
    conditions,
    "--outdir=dist",
  ]);
  const worker = ["run.mjs", join(directory, "dist")];
  right(await run(directory, "node", [...worker, site.database]));
  right(await run(directory, "node", worker), SAMPLE);
});

for (const [name, version, ...words] of /** @type {const} */ ([
  ["bun", "1.4.5", "main.js"],
  [
    "deno",
    "2.9.6",
    "run",
    "--node-modules-dir=manual",
    "--allow-net",
    "main.js",
  ],
]))
  // These packages download binaries, which needs network access.
  test(name, slow, async (t) => {
    const directory = project(name, { [name]: version }, "node");
    const can = await run(directory, name, ["--version"]).catch(() => "");
    if (!can) return t.skip(`NOT TESTED in ${name}, which cannot be had`);
    right(await run(directory, name, [...words, site.database]));
    right(await run(directory, name, [...words]), SAMPLE);
    // A module Worker reads its script.
    /** @type {string[]} */
    const engine = words.map((word) =>
      word === "main.js" ? "engine.js" : word,
    );
    engine.splice(-1, 0, ...(name === "deno" ? ["--allow-read"] : []));
    right(await run(directory, name, engine), MATE);
  });

test("Vitest, also with jsdom", slow, async () => {
  const packages = { vitest: "4.1.0", vite: "8.3.8", jsdom: "26.1.0" };
  const directory = project("vitest", packages, "vitest");
  for (const database of [site.database, DATABASE])
    for (const words of [[], ["--environment=jsdom"]])
      await run(directory, "vitest", ["run", ...words], {
        env: { DATABASE: database },
      });
});

test("Jest, ES modules", slow, async () => {
  const env = {
    DATABASE: site.database,
    NODE_OPTIONS: "--experimental-vm-modules",
  };
  const allow = /VM Modules is an experimental|trace-warnings/;
  const directory = project("jest", { jest: "30.5.2" }, "jest");
  await run(directory, "jest", [], { env, allow });
});
