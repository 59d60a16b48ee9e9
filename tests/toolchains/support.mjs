// Projects like those of web developers: the packed package, a toolchain from the registry, and a few lines of code.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { extname, join, resolve } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { launch, watch } from "../browser/support/chromium.mjs";
import { host } from "../browser/support/host.mjs";
import { PACKAGE, ROOT } from "../browser/support/paths.mjs";

/** Folder of the projects. Installed packages are kept between runs. */
const PROJECTS = resolve(
  process.env.SHELFISH_TOOLCHAINS ?? join(ROOT, "target", "toolchains"),
);
const TEMPLATES = join(ROOT, "tests", "toolchains", "templates");
/** A small committed database. */
export const DATABASE = join(ROOT, "tests", "data", "database", "db");

/** Output that fails a test, except lines about the toolchain itself. */
const WARNING = /\bwarn(ing)?\b|⚠|critical dependency|deprecat|\berror\b/i;

/** @type {NodeJS.ProcessEnv} */
const ENVIRONMENT = {
  ...process.env,
  NO_COLOR: "1",
  CI: "1",
  BROWSER: "none",
  NEXT_TELEMETRY_DISABLED: "1",
  WRANGLER_SEND_METRICS: "false",
};
// Remove the variables of the test runner, and of npm if npm started the tests.
for (const name of Object.keys(ENVIRONMENT))
  if (/^(NODE_|npm_|FORCE_COLOR)/i.test(name)) delete ENVIRONMENT[name];

const npm = (/** @type {string[]} */ words, /** @type {string} */ cwd) =>
  execFileSync(process.platform === "win32" ? "npm.cmd" : "npm", words, {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });

/** @type {string | undefined} */
let packed;

/** Packs the package once. */
function tarball() {
  mkdirSync(PROJECTS, { recursive: true });
  const words = ["pack", "--json", "--loglevel=error", "--pack-destination"];
  packed ??= join(
    PROJECTS,
    JSON.parse(npm([...words, PROJECTS], PACKAGE))[0].filename,
  );
  return packed;
}

/**
 * Creates a project with these packages and `shelfish`.
 * @param {string} name
 * @param {Record<string, string>} packages exact versions
 * @param {string} template
 * @param {(text: string, file: string) => string} change changes the template's files
 */
export function project(name, packages, template, change = (text) => text) {
  const directory = join(PROJECTS, name);
  const modules = join(directory, "node_modules");
  const manifest = (/** @type {Record<string, string>} */ dependencies) =>
    writeFileSync(
      join(directory, "package.json"),
      JSON.stringify(
        { name, private: true, type: "module", dependencies },
        null,
        2,
      ),
    );
  // Written after the installation succeeded.
  const note = join(modules, ".installed.json");
  const isInstalled =
    existsSync(note) && readFileSync(note, "utf8") === JSON.stringify(packages);
  mkdirSync(directory, { recursive: true });
  for (const entry of readdirSync(directory)) {
    if (!isInstalled || entry !== "node_modules")
      rmSync(join(directory, entry), { recursive: true });
  }
  if (!isInstalled) {
    manifest(packages);
    npm(
      [
        "install",
        "--no-package-lock",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
      ],
      directory,
    );
    mkdirSync(modules, { recursive: true });
    writeFileSync(note, JSON.stringify(packages));
  }
  manifest({ ...packages, shelfish: "*" });
  // `shelfish` is unpacked without npm, which is faster. Caches that toolchains made of the previous version are removed.
  for (const cache of [".vite", ".cache", "shelfish"])
    rmSync(join(modules, cache), { recursive: true, force: true });
  mkdirSync(join(modules, "shelfish"), { recursive: true });
  execFileSync("tar", [
    "-xzf",
    tarball(),
    "--strip-components=1",
    "-C",
    join(modules, "shelfish"),
  ]);
  cpSync(join(TEMPLATES, "index.html"), join(directory, "index.html"));
  cpSync(join(TEMPLATES, template), directory, { recursive: true });
  for (const entry of [
    "index.html",
    ...readdirSync(join(TEMPLATES, template), {
      recursive: true,
      encoding: "utf8",
    }),
  ]) {
    const path = join(directory, entry);
    if (statSync(path).isFile())
      writeFileSync(path, change(readFileSync(path, "utf8"), entry));
  }
  return directory;
}

/** Returns the path of a package's program. */
const program = (
  /** @type {string} */ directory,
  /** @type {string} */ name,
) =>
  name === "node"
    ? process.execPath
    : join(
        directory,
        "node_modules",
        ".bin",
        process.platform === "win32" ? `${name}.cmd` : name,
      );

/** Returns the lines that a toolchain should not have printed. */
function warnings(
  /** @type {string} */ output,
  /** @type {RegExp | undefined} */ allow,
) {
  return stripVTControlCharacters(output)
    .split("\n")
    .filter((line) => WARNING.test(line) && !allow?.test(line));
}

/**
 * Runs a program of a project, which must succeed without warnings. Returns its output.
 * @param {string} directory
 * @param {string} name
 * @param {string[]} words
 * @param {{ allow?: RegExp, env?: Record<string, string> }} options
 */
export async function run(directory, name, words, { allow, env } = {}) {
  const options = {
    cwd: directory,
    env: { ...ENVIRONMENT, ...env },
    maxBuffer: 2 ** 26,
  };
  const { stdout, stderr } = await promisify(execFile)(
    program(directory, name),
    words,
    options,
  ).catch((error) => {
    throw new Error(
      short(`${name} ${words.join(" ")}: ${error.message}\n${error.stdout}`),
    );
  });
  assert.deepEqual(
    warnings(`${stdout}\n${stderr}`, allow),
    [],
    short(`${name} has nothing to warn of:\n${stdout}\n${stderr}`),
  );
  return stdout;
}

/** Removes long lines of minified code from the output of a program. */
const short = (/** @type {string} */ text) =>
  text.replace(/^(.{400}).+$/gm, "$1…");

/** Returns an unused port. */
async function port() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (
    server.address()
  );
  await new Promise((done) => server.close(done));
  return port;
}

/**
 * Starts a server of a project, which ends after the test. Returns its URL once it answers.
 * @param {import("node:test").TestContext} t
 * @param {string} directory
 * @param {string} name
 * @param {(port: string) => string[]} words
 * @param {{ allow?: RegExp, ready?: RegExp }} options
 */
export async function started(
  t,
  directory,
  name,
  words,
  { allow, ready = /https?:\/\// } = {},
) {
  const free = await port();
  const child = spawn(program(directory, name), words(String(free)), {
    cwd: directory,
    env: ENVIRONMENT,
    detached: true,
  });
  const ended = once(child, "exit");
  let output = "";
  /** @type {() => void} */
  let see = () => {};
  const isReady = new Promise((resolve) => {
    see = () =>
      void (ready.test(stripVTControlCharacters(output)) && resolve(undefined));
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      see();
    });
  }
  t.after(async () => {
    // Also ends the processes that the server started.
    if (child.exitCode === null && child.pid)
      process.kill(-child.pid, "SIGTERM");
    await ended;
    assert.deepEqual(
      warnings(output, allow),
      [],
      short(`${name} has nothing to warn of:\n${output}`),
    );
  });
  await Promise.race([
    isReady,
    ended.then(() => assert.fail(`${name} ended at once:\n${output}`)),
  ]);
  return `http://127.0.0.1:${free}/`;
}

const TYPES = /** @type {Record<string, string>} */ ({
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
});

/**
 * Serves the built files like a static host, and closes the server after the test.
 * @param {import("node:test").TestContext} t
 * @param {string} directory
 * @param {Record<string, string>} headers
 */
export async function served(t, directory, headers = {}) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://host");
    const path = join(
      directory,
      pathname.endsWith("/") ? `${pathname}index.html` : pathname,
    );
    if (!existsSync(path)) return void response.writeHead(404, headers).end();
    response
      .writeHead(200, {
        ...headers,
        "content-type": TYPES[extname(path)] ?? "application/octet-stream",
      })
      .end(readFileSync(path));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}/`;
}

/** Provides a browser, and a database on a separate origin. */
export async function ground() {
  const database = await host(DATABASE);
  const given = `?db=${encodeURIComponent(`${database.url}manifest.json`)}`;
  /** @type {Promise<import("playwright-core").Browser> | undefined} */
  let browser;

  return {
    /** URL of the database. */
    database: `${database.url}manifest.json`,

    /**
     * Returns the text of a page, whose console must be empty.
     * @param {string} url
     * @param {{ allow?: RegExp, loads?: number, query?: string }} options
     * @returns {Promise<string>}
     */
    async shown(url, { allow, loads = 1, query = given } = {}) {
      browser ??= launch();
      const context = await (await browser).newContext();
      try {
        const page =
          /** @type {import("../browser/support/chromium.mjs").Page} */ (
            await context.newPage()
          );
        watch(page);
        /** @type {string[]} */
        const modules = [];
        page.on(
          "response",
          (response) =>
            void (
              /wasm/.test(response.headers()["content-type"] ?? "") &&
              modules.push(response.url())
            ),
        );
        await page.goto(url + query);
        const shown = await page
          .waitForFunction(
            () => document.querySelector("#answer")?.textContent,
            undefined,
            { timeout: 60_000 },
          )
          .catch((error) =>
            assert.fail(`${error.message}\n${page.console.join("\n")}`),
          );
        const text = String(await shown.jsonValue());
        const said = page.console.filter(
          (line) =>
            !/^(debug|info): |^log: \[HMR\]/.test(line) && !allow?.test(line),
        );
        assert.deepEqual(
          said,
          [],
          `the console is empty; the page shows ${text}`,
        );
        assert.ok(
          modules.length <= loads,
          `the module is requested once: ${modules.join(", ")}`,
        );
        return text;
      } finally {
        await context.close();
      }
    },

    /**
     * Checks that a page shows the answer of the database, and without a database that of the sample, unless its code has no sample.
     * @param {string} url
     * @param {{ allow?: RegExp, loads?: number, hasSample?: boolean }} options
     */
    async answers(url, { hasSample = true, ...options } = {}) {
      right(await this.shown(url, options));
      if (hasSample)
        right(await this.shown(url, { ...options, query: "" }), SAMPLE);
    },

    async close() {
      await (await browser)?.close();
      await database.close();
    },
  };
}

/** Checks an answer in the form of all templates: depth, score and first move of the starting position. */
export function right(/** @type {string} */ text, expected = "20 +0.36 d4") {
  assert.equal(text.trim().split("\n").at(-1), expected);
}

/** The answer of the sample. */
export const SAMPLE = "24 +0.36 e4";

/** The answer of the engine. */
export const MATE = "engine #1 Ra8#";
