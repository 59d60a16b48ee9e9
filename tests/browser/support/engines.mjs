// Firefox and WebKit, where they are at hand, by WebDriver.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, suite } from "node:test";
import { Builder } from "selenium-webdriver";
import firefox from "selenium-webdriver/firefox.js";
import { LIMIT, until } from "./until.mjs";

/** @typedef {import("selenium-webdriver").WebDriver} WebDriver */
/** @typedef {{ driver: WebDriver, close: () => Promise<void> }} Session */

/**
 * An engine: what it takes, which of that is not here, and how it is started.
 * @typedef {{ name: string, missing: string[], launch: () => Promise<Session> }} Engine
 */

/** The first of some programs that is in one of some folders, those of `PATH` unless told otherwise. */
export function program(/** @type {string[]} */ names, folders = (process.env.PATH ?? "").split(delimiter)) {
  const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Folders in which Debian's WebKitGTK has what is not for the shell. */
function webkitFolders() {
  const libraries = "/usr/lib";
  const list = (/** @type {string} */ folder) => {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  };
  return list(libraries).flatMap((architecture) => {
    const folder = join(libraries, architecture);
    return list(folder).filter((name) => name.startsWith("webkit2gtk-")).map((name) => join(folder, name));
  });
}

/**
 * @param {string} name
 * @param {Record<string, string | undefined>} parts by name
 * @param {(parts: Record<string, string>) => Promise<Session>} launch
 * @returns {Engine}
 */
function engine(name, parts, launch) {
  const missing = Object.keys(parts).filter((part) => parts[part] === undefined);
  return { name, missing, launch: () => launch(/** @type {Record<string, string>} */ (parts)) };
}

/** @type {Engine[]} */
export const ENGINES = [
  engine(
    "Firefox",
    { firefox: program(["firefox-esr", "firefox"]), geckodriver: program(["geckodriver"]) },
    async ({ firefox: binary, geckodriver }) => {
      const options = new firefox.Options().setBinary(String(binary)).addArguments("-headless");
      const service = new firefox.ServiceBuilder(geckodriver);
      const driver = await new Builder().forBrowser("firefox").setFirefoxOptions(options).setFirefoxService(service).build();
      return { driver, close: () => driver.quit() };
    },
  ),
  engine(
    "WebKit",
    { WebKitWebDriver: program(["WebKitWebDriver"]), MiniBrowser: program(["MiniBrowser"], webkitFolders()), Xvfb: program(["Xvfb"]) },
    async ({ WebKitWebDriver, MiniBrowser, Xvfb }) => {
      const screen = spawn(String(Xvfb), ["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      const [display] = await once(createInterface(screen.stdout), "line");
      const port = await freePort();
      const service = spawn(String(WebKitWebDriver), ["--host=127.0.0.1", `--port=${port}`], {
        // Its sandbox needs what containers do not give.
        env: { ...process.env, DISPLAY: `:${display}`, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" },
        stdio: "ignore",
      });
      const stop = () => [service, screen].forEach((child) => child.kill());
      try {
        const url = `http://127.0.0.1:${port}`;
        await until(() => fetch(`${url}/status`), `${url} answers`);
        const browser = { browserName: "MiniBrowser", "webkitgtk:browserOptions": { binary: MiniBrowser, args: ["--automation"] } };
        const driver = await new Builder().usingServer(url).withCapabilities(browser).build();
        return { driver, close: () => driver.quit().finally(stop) };
      } catch (error) {
        stop();
        throw error;
      }
    },
  ),
];

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  server.close();
  await once(server, "close");
  return port;
}

/**
 * What a function gives in the page, as playwright's `evaluate`. Firefox runs a driver's scripts in a world of their own,
 * so the function goes into the page as an element, and what it gives comes back as text.
 * @template {readonly unknown[]} A
 * @template R
 * @param {WebDriver} driver
 * @param {(...args: A) => R | Promise<R>} body
 * @param {A} args
 * @returns {Promise<R>}
 */
export async function evaluate(driver, body, ...args) {
  const code = `(async () => (${body})(...${JSON.stringify(args)}))()
    .then((value) => ({ value }), (error) => ({ error: String(error) }))
    .then((answer) => {
      document.documentElement.dataset.answer = JSON.stringify(answer);
      dispatchEvent(new Event("answer"));
    });`;
  const script = `
    const [code, done] = arguments;
    addEventListener("answer", () => done(document.documentElement.dataset.answer), { once: true });
    const element = document.createElement("script");
    element.textContent = code;
    document.head.append(element);
    element.remove();`;
  const { value, error } = JSON.parse(await driver.executeAsyncScript(script, code));
  if (error) throw new Error(error);
  return value;
}

/**
 * A suite of tests in each engine of these names, in a browser of its own. An engine that is not at hand is said.
 * @param {string[]} names
 * @param {(session: { driver: WebDriver }) => void} body
 */
export function suiteIn(names, body) {
  for (const { name, missing, launch } of ENGINES.filter(({ name }) => names.includes(name))) {
    const skip = missing.length > 0 && `NOT TESTED in ${name}: ${missing.join(", ")} not found`;
    if (skip) console.error(skip);
    suite(name, { skip }, () => {
      /** @type {Session} */
      let session;
      before(async () => {
        session = await launch();
        await session.driver.manage().setTimeouts({ script: LIMIT, pageLoad: LIMIT });
      });
      after(() => session?.close());
      body({
        get driver() {
          return session.driver;
        },
      });
    });
  }
}
