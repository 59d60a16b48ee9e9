// The readers of the matrix. Each reader asks one question of a database on a host, and repeats it in the same process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { START, launch } from "../../browser/support/chromium.mjs";
import { PACKAGE, ROOT, SHELFISH } from "../../browser/support/paths.mjs";
import { plain } from "../../browser/support/truth.mjs";
import { until, withLimit } from "../../browser/support/until.mjs";

/** Milliseconds after which a question without an outcome counts as a hang. Every time-out of the matrix is shorter. */
export const HANG = 60_000;

/**
 * @typedef {"evaluations" | "book"} Kind what is asked
 *
 * @typedef {object} Question
 * @property {Kind} kind
 * @property {string} url URL of the folder of the database
 * @property {string} page URL of the folder of the page, which contains the package
 * @property {string | undefined} integrity hash of the manifest
 * @property {number} timeout in seconds
 *
 * The result of a question: an answer as a text, or an error.
 * @typedef {{ answer: string } | { error: string, says: string }} Outcome
 *
 * @typedef {{ ask: () => Promise<Outcome>, close: () => Promise<void> }} Session
 *
 * @typedef {object} Reader
 * @property {string} name
 * @property {boolean} isBrowser
 * @property {() => Promise<{ begin: (question: Question) => Promise<Session>, close: () => Promise<void> }>} start
 */

const fen = `${START} 0 1`;

/** The result of a question that does not end. */
const HUNG = { error: "HANG", says: `no outcome within ${HANG / 1000} s` };

/** Returns the result of some work, or that it does not end. */
async function within(/** @type {Promise<Outcome>} */ work) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const end = new Promise(
    (resolve) => void (timer = setTimeout(() => resolve(HUNG), HANG)),
  );
  return /** @type {Promise<Outcome>} */ (Promise.race([work, end])).finally(
    () => clearTimeout(timer),
  );
}

/**
 * Asks by the npm package, in Node or in a page. The same `key` uses what the question before has opened.
 * @param {{ key: string, kind: Kind, base: string, url: string, integrity?: string | undefined, timeout: number, fen: string, hang: number }} question
 */
async function askPackage({
  key,
  kind,
  base,
  url,
  integrity,
  timeout,
  fen,
  hang,
}) {
  /** @type {any} */
  const world = globalThis;
  const isNode = typeof world.document === "undefined";
  /** @type {{ open: any, stray: string[] }} what is open, and errors that nobody caught */
  const scope = (world.matrix ??= { open: {}, stray: [] });
  // Node's test runner reports these itself.
  if (!isNode) {
    world.onunhandledrejection = (/** @type {any} */ { reason }) =>
      void scope.stray.push(String(reason));
    world.onerror = (/** @type {unknown} */ message) =>
      void scope.stray.push(String(message));
  }
  const work = async () => {
    const load = (/** @type {string} */ name) => import(`${base}${name}.js`);
    const options = {
      timeout,
      indexedDB: false,
      ...(integrity === undefined ? {} : { integrity }),
    };
    const { openBook, openDatabase } = await load(isNode ? "node" : "index");
    if (kind === "book") {
      scope.open[key] ??= await openBook(url, options);
      return scope.open[key].moves(fen);
    }
    scope.open[key] ??= await openDatabase(url, options);
    return scope.open[key].lookup(fen, { castling: "chess960" });
  };
  /** @type {any} */
  let timer;
  const hung = new Promise(
    (resolve) =>
      void (timer = setTimeout(
        () => resolve({ code: "HANG", message: "no outcome" }),
        hang,
      )),
  );
  /** @type {any} */
  let found;
  try {
    const answer = await Promise.race([work(), hung]);
    found =
      answer?.code === "HANG"
        ? { error: answer.code, says: answer.message }
        : { answer };
  } catch (/** @type {any} */ error) {
    found = {
      error:
        error.name === "ShelfishError" ? error.code : `UNNAMED ${error.name}`,
      says: String(error.message),
    };
  }
  clearTimeout(timer);
  if (scope.stray.length > 0)
    found = { error: "UNHANDLED", says: scope.stray.splice(0).join("; ") };
  return found;
}

/** Closes what a question has opened. */
async function closePackage(/** @type {string} */ key) {
  const { matrix } = /** @type {any} */ (globalThis);
  matrix?.open[key]?.close();
  if (matrix) delete matrix.open[key];
}

/** Converts an answer of the package to a text. */
function textOf(/** @type {Kind} */ kind, /** @type {any} */ answer) {
  if (kind === "book") return JSON.stringify(answer);
  return JSON.stringify(answer?.evaluations.map(plain).sort() ?? null);
}

let sessions = 0;

/**
 * Starts sessions of the package.
 * @param {(question: Parameters<typeof askPackage>[0]) => Promise<any>} ask
 * @param {(key: string) => Promise<unknown>} forget
 * @param {(question: Question) => string | Promise<string>} baseOf returns the URL of the package's folder
 */
function ofPackage(ask, forget, baseOf) {
  return async (/** @type {Question} */ question) => {
    const { kind, url, integrity, timeout } = question;
    const [key, base] = [`${sessions++}`, await baseOf(question)];
    const asked = {
      key,
      kind,
      base,
      url: `${url}manifest.json`,
      integrity,
      timeout: timeout * 1000,
      fen,
      hang: HANG,
    };
    return {
      ask: async () => {
        const found = await ask(asked);
        return "answer" in found
          ? { answer: textOf(kind, found.answer) }
          : found;
      },
      close: async () => void (await forget(key)),
    };
  };
}

/**
 * Opens the page of a question, and returns the URL of its package.
 * @param {(url: string) => Promise<unknown>} visit
 */
function pageOf(visit) {
  let place = "";
  return async (/** @type {Question} */ { page }) => {
    if (place !== page) await visit(`${page}index.html`);
    place = page;
    return `${page}pkg/`;
  };
}

/** @type {Reader} */
const inChromium = {
  name: "Chromium",
  isBrowser: true,
  start: async () => {
    const browser = await launch();
    const page = await withLimit(await browser.newContext()).newPage();
    const begin = ofPackage(
      (question) => page.evaluate(askPackage, question),
      (key) => page.evaluate(closePackage, key),
      pageOf((url) => page.goto(url)),
    );
    return { begin, close: () => browser.close() };
  },
};

/** @type {Reader} */
const inNode = {
  name: "Node",
  isBrowser: false,
  start: async () => {
    const base = pathToFileURL(join(PACKAGE, "/")).href;
    return {
      begin: ofPackage(askPackage, closePackage, () => base),
      close: async () => {},
    };
  },
};

/** The environment of the program without settings of the user. */
const clean = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(AWS|GOOGLE|AZURE|SHELFISH)_|proxy$/i.test(name),
  ),
);

/** Starts the program. */
function program(/** @type {string[]} */ args, /** @type {number} */ timeout) {
  return spawn(SHELFISH, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...clean, SHELFISH_TIMEOUT: String(timeout) },
  });
}

/** Collects the output of a stream. */
function collected(/** @type {import("node:stream").Readable} */ stream) {
  const output = { text: "" };
  stream.setEncoding("utf8").on("data", (text) => void (output.text += text));
  return output;
}

/** @type {Reader} Runs the program once for each question. */
const eachTime = {
  name: "program",
  isBrowser: false,
  start: async () => ({
    begin: async ({ kind, url, integrity, timeout }) => {
      const command =
        kind === "book" ? ["explore"] : ["lookup", "--all", "--chess960"];
      const database = integrity === undefined ? url : `${url}#${integrity}`;
      const options = ["-d", database, "--json"];
      const ask = async () => {
        const child = program([...command, ...options, fen], timeout);
        const [out, err] = [collected(child.stdout), collected(child.stderr)];
        const ended = once(child, "close").then(([code]) =>
          code === 0
            ? { answer: programText(kind, out.text) }
            : failure(err.text + out.text),
        );
        return within(ended).finally(() => child.kill("SIGKILL"));
      };
      return { ask, close: async () => {} };
    },
    close: async () => {},
  }),
};

/** Converts an answer of the program to the text of the package's answer, as far as both have the same form. */
function programText(/** @type {Kind} */ kind, /** @type {string} */ output) {
  const found = JSON.parse(output);
  if (kind === "book") return JSON.stringify(found);
  const pvs = (/** @type {any[]} */ pvs) =>
    pvs.map(({ uci, ...rest }) => ({ ...rest, line: uci }));
  return JSON.stringify(
    found.evaluations
      ?.map((/** @type {any} */ found) =>
        plain({ ...found, pvs: pvs(found.pvs) }),
      )
      .sort() ?? null,
  );
}

/** Names of the errors of the program, by its messages. */
const MESSAGES = /** @type {const} */ ([
  ["timeout", /no complete answer within \d+ ms/],
  ["status", /status \d{3}|no database in .* \(status/],
  ["missing", /no database in|there is no such file/],
  ["integrity", /expected sha256-|not the bytes of the pinned database/],
  ["corrupt", /the bytes were changed|another page or block was found/],
  ["manifest", /is not a manifest/],
  [
    "range",
    /ignores range requests|the host sent Content-(Range|Length)|compresses ranges|expected (at most )?\d+ bytes, found/,
  ],
  ["network", /no answer \(/],
]);

/** Returns the error of a program with its name. */
function failure(/** @type {string} */ text) {
  const says = text.trim();
  return {
    error: MESSAGES.find(([, pattern]) => pattern.test(says))?.[0] ?? "UNNAMED",
    says,
  };
}

/** @type {Reader} */
const served = {
  name: "serve --api",
  isBrowser: false,
  start: async () => ({
    begin: async ({ kind, url, integrity, timeout }) => {
      const isBook = kind === "book";
      const pin = integrity === undefined ? "" : `#${integrity}`;
      const database = isBook
        ? [join(ROOT, "tests/data/database/db"), "--book", url]
        : [url + pin];
      const args = ["serve", ...database, "--api", "--port", "0"];
      /** @type {{ child: ReturnType<typeof program>, err: { text: string }, url: string } | undefined} */
      let server;
      /** Starts the server, again if it could not be started. @returns {Promise<Outcome | undefined>} */
      const open = async () => {
        const child = program(args, timeout);
        const err = collected(child.stderr);
        const lines = createInterface(child.stdout);
        const first = once(lines, "line").then(([line]) => String(line));
        const end = once(child, "close").then(() => undefined);
        const started = within(
          Promise.race([first, end]).then((url) => ({ answer: url ?? "" })),
        );
        const found = await started;
        if ("answer" in found && found.answer)
          server = { child, err, url: found.answer };
        else {
          child.kill("SIGKILL");
          return "answer" in found ? failure(err.text) : found;
        }
        return undefined;
      };
      const ask = async () => {
        const failed = server ? undefined : await open();
        if (failed || !server) return failed ?? HUNG;
        const { url, err } = server;
        const path = isBook ? "lichess" : "api/cloud-eval";
        const before = err.text.length;
        const asked = fetch(
          new URL(`${path}?fen=${encodeURIComponent(fen)}`, url),
        ).then(async (answer) => {
          const text = await answer.text();
          if (answer.ok) return { answer: text };
          // The log comes through a pipe.
          await until(() => err.text.length > before, "the log has the error");
          return failure(err.text.slice(before));
        });
        return within(asked);
      };
      return {
        ask,
        close: async () => {
          const child = server?.child;
          child?.kill("SIGTERM");
          if (child && child.exitCode === null && child.signalCode === null)
            await once(child, "exit");
        },
      };
    },
    close: async () => {},
  }),
};

/** @type {Reader[]} */
export const READERS = [inChromium, inNode, eachTime, served];
