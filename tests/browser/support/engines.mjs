// Firefox and WebKit by WebDriver, if they are installed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { Builder } from "selenium-webdriver";
import firefox from "selenium-webdriver/firefox.js";
import { until } from "./until.mjs";

/** @typedef {import("selenium-webdriver").WebDriver} WebDriver */
/** @typedef {{ driver: WebDriver, close: () => Promise<void> }} Session */

/**
 * A browser engine: its missing programs, and a function that starts it.
 * @typedef {{ name: string, missing: string[], launch: () => Promise<Session> }} Engine
 */

/** Returns the first of these files that exists. */
const first = (/** @type {string[]} */ paths) => paths.find(existsSync);

/** Returns the path of the first of these programs in the folders of `PATH`. */
const program = (/** @type {string[]} */ ...names) =>
  first(
    (process.env.PATH ?? "")
      .split(delimiter)
      .flatMap((folder) => names.map((name) => join(folder, name))),
  );

/** Returns the internal program of Debian's WebKitGTK. */
function miniBrowser() {
  const list = (/** @type {string} */ folder) =>
    existsSync(folder)
      ? readdirSync(folder).map((name) => join(folder, name))
      : [];
  return first(
    list("/usr/lib")
      .filter((folder) => folder.endsWith("-gnu"))
      .flatMap(list)
      .map((folder) => join(folder, "MiniBrowser")),
  );
}

/**
 * @param {string} name
 * @param {Record<string, string | undefined>} parts by name
 * @param {(parts: Record<string, string>) => Promise<Session>} launch
 * @returns {Engine}
 */
function engine(name, parts, launch) {
  const missing = Object.keys(parts).filter(
    (part) => parts[part] === undefined,
  );
  return {
    name,
    missing,
    launch: () => launch(/** @type {Record<string, string>} */ (parts)),
  };
}

/** @type {Engine[]} */
export const ENGINES = [
  engine(
    "Firefox",
    {
      firefox: program("firefox-esr", "firefox"),
      geckodriver: program("geckodriver"),
    },
    async ({ firefox: binary, geckodriver }) => {
      const options = new firefox.Options()
        .setBinary(String(binary))
        .addArguments("-headless");
      const driver = await new Builder()
        .forBrowser("firefox")
        .setFirefoxOptions(options)
        .setFirefoxService(new firefox.ServiceBuilder(geckodriver))
        .build();
      return { driver, close: () => driver.quit() };
    },
  ),
  engine(
    "WebKit",
    {
      WebKitWebDriver: program("WebKitWebDriver"),
      MiniBrowser: miniBrowser(),
      Xvfb: program("Xvfb"),
    },
    async ({ WebKitWebDriver, MiniBrowser, Xvfb }) => {
      const screen = spawn(
        String(Xvfb),
        ["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        {
          stdio: ["ignore", "pipe", "ignore"],
        },
      );
      const [display] = await once(createInterface(screen.stdout), "line");
      const port = await freePort();
      const service = spawn(
        String(WebKitWebDriver),
        ["--host=127.0.0.1", `--port=${port}`],
        {
          // Containers lack the features that its sandbox needs.
          env: {
            ...process.env,
            DISPLAY: `:${display}`,
            WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
          },
          stdio: "ignore",
        },
      );
      const stop = () => [service, screen].forEach((child) => child.kill());
      try {
        const url = `http://127.0.0.1:${port}`;
        await until(() => fetch(`${url}/status`), `${url} answers`);
        const browser = {
          browserName: "MiniBrowser",
          "webkitgtk:browserOptions": {
            binary: MiniBrowser,
            args: ["--automation"],
          },
        };
        const driver = await new Builder()
          .usingServer(url)
          .withCapabilities(browser)
          .build();
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
  const { port } = /** @type {import("node:net").AddressInfo} */ (
    server.address()
  );
  server.close();
  await once(server, "close");
  return port;
}

/**
 * Runs a function in the page and returns its result, like playwright's `evaluate`. Firefox isolates a driver's scripts from the
 * page. Therefore this function adds a script element to the page, which returns its result as text.
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
  const { value, error } = JSON.parse(
    await driver.executeAsyncScript(script, code),
  );
  if (error) throw new Error(error);
  return value;
}
