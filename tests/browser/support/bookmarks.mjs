// Browsers in which a test presses bookmarks on pages of any host.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { Builder, By } from "selenium-webdriver";
import firefox from "selenium-webdriver/firefox.js";
import { program } from "./engines.mjs";
import { FLAGS } from "./lab.mjs";
import { CHROMIUM, ROOT } from "./paths.mjs";
import { withLimit, until } from "./until.mjs";

/**
 * Result of a pressed bookmark: the address of a new tab, the new address of the same tab, or a message.
 * @typedef {{ tab?: string, here?: string, said?: string }} Outcome
 */

/**
 * @typedef {object} Presser
 * @property {string} name
 * @property {(url: string) => Promise<void>} visit opens a page of `stage`
 * @property {(script: string) => Promise<any>} run runs a script in the page by the browser's tools, which the page's policy does not restrict
 * @property {(selector: string) => Promise<void>} click
 * @property {(bookmark: string) => Promise<Outcome>} press presses the bookmark of this name
 * @property {(read: string) => Promise<any>} inTab evaluates an expression in the tab that was opened last
 * @property {() => Promise<void>} closeTab
 * @property {() => Promise<void>} close
 */

const FIXTURES = join(ROOT, "tests", "data", "bookmarklet");
const HOSTS = ["lichess.org", "www.chess.com", "blog.test"];

/** The strictest policy of a page. It only allows the scripts with which some fixtures build their content. */
export const STRICT =
  "default-src 'none'; script-src 'nonce-fixture'; style-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Serves the fixtures at any address of their hosts. The address `http://lichess.org/abcd1234?lichess-finished` returns the
 * fixture `lichess-finished` with the strictest policy. `&policy=…` sets another policy.
 */
export async function stage() {
  const server = createServer((request, response) => {
    const { search, searchParams } = new URL(String(request.url), "http://any");
    const [name = ""] = search.slice(1).split("&");
    const policy = searchParams.get("policy") ?? STRICT;
    const isolated = searchParams.has("isolated");
    try {
      const page = readFileSync(
        join(FIXTURES, `${name.replace(/[^\w-]/g, "")}.html`),
      );
      response.writeHead(200, {
        "content-type": "text/html; charset=utf-8",
        ...(policy ? { "content-security-policy": policy } : {}),
        ...(isolated
          ? {
              "cross-origin-opener-policy": "same-origin",
              "cross-origin-embedder-policy": "require-corp",
            }
          : {}),
      });
      response.end(page);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (
    server.address()
  );
  return {
    port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Starts Chromium. A bookmark is a navigation to a `javascript:` address that the browser starts, not the page. The command
 * `Page.navigate` of the browser's tools does the same.
 * @param {{ bookmarks: Record<string, string>, port: number }} options
 * @returns {Promise<Presser>}
 */
export async function chromiumWith({ bookmarks, port }) {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: FLAGS,
  });
  const context = withLimit(await browser.newContext());
  // Not by the resolver: current browsers request these hosts only by HTTPS.
  await context.route(
    ({ hostname }) => HOSTS.includes(hostname),
    async (route) => {
      const { pathname, search } = new URL(route.request().url());
      await route.fulfill({
        response: await route.fetch({
          url: `http://127.0.0.1:${port}${pathname}${search}`,
        }),
      });
    },
  );
  const page = await context.newPage();
  const tools = await context.newCDPSession(page);
  /** @type {import("playwright-core").Page | undefined} */
  let tab;
  return {
    name: "Chromium",
    visit: async (url) => void (await page.goto(url)),
    run: (script) => page.evaluate(script),
    click: (selector) => page.click(selector),
    async press(bookmark) {
      const before = page.url();
      /** @type {Outcome} */
      const outcome = {};
      const isSettled = () => Object.keys(outcome).length > 0;
      context.once("page", async (opened) => {
        tab = opened;
        await opened.waitForURL(/^http/);
        outcome.tab = opened.url();
      });
      page.once("dialog", async (dialog) => {
        await dialog.accept();
        outcome.said = dialog.message();
      });
      page.on("framenavigated", () => {
        if (page.url() !== before) outcome.here = page.url();
      });
      // This command answers at once if the script loads no page, and after the page is loaded if it does.
      const navigation = tools
        .send("Page.navigate", { url: String(bookmarks[bookmark]) })
        .catch(() => {});
      await until(
        isSettled,
        "the bookmark opens a tab, a message or another address",
      );
      await navigation;
      context.removeAllListeners("page");
      page.removeAllListeners("dialog");
      page.removeAllListeners("framenavigated");
      return outcome;
    },
    inTab: async (read) => tab?.evaluate(read),
    closeTab: async () => void (await tab?.close().catch(() => {})),
    close: () => browser.close(),
  };
}

/**
 * Starts Firefox with the bookmarks in its bar. The mouse clicks them.
 * @param {{ bookmarks: Record<string, string>, port: number }} options
 * @returns {Promise<Presser>}
 */
export async function firefoxWith({ bookmarks, port }) {
  const options = new firefox.Options()
    .setBinary(String(program(["firefox-esr", "firefox"])))
    .addArguments("-headless");
  options.setPreference("network.dns.localDomains", HOSTS.join(","));
  options.setPreference("dom.security.https_first", false);
  options.setPreference("network.stricttransportsecurity.preloadlist", false);
  options.setPreference("browser.toolbars.bookmarks.visibility", "always");
  // The default for people. By default, a browser with a driver lets every page open windows.
  options.setPreference("dom.disable_open_during_load", true);
  options.setAlertBehavior("ignore");
  const service = new firefox.ServiceBuilder(
    program(["geckodriver"]),
  ).addArguments("--allow-system-access");
  const driver = /** @type {firefox.Driver} */ (
    await new Builder()
      .forBrowser("firefox")
      .setFirefoxOptions(options)
      .setFirefoxService(service)
      .build()
  );
  const first = await driver.getWindowHandle();
  const { Context } = firefox;

  await driver.setContext(Context.CHROME);
  await driver.executeAsyncScript(
    `const [bookmarks, done] = arguments;
     const { PlacesUtils } = ChromeUtils.importESModule("resource://gre/modules/PlacesUtils.sys.mjs");
     const parentGuid = PlacesUtils.bookmarks.toolbarGuid;
     const all = Object.entries(bookmarks).map(([title, url]) => PlacesUtils.bookmarks.insert({ parentGuid, title, url }));
     Promise.all(all).then(() => done());`,
    bookmarks,
  );
  await driver.setContext(Context.CONTENT);

  /** Returns true if the page of this address is loaded. An earlier navigation can end after the driver requested the next page. */
  const isLoaded = (/** @type {string} */ address) =>
    driver.executeScript(
      "return location.href === arguments[0] && document.readyState === 'complete'",
      address,
    );
  const other = async () =>
    (await driver.getAllWindowHandles()).find((handle) => handle !== first);

  return {
    name: "Firefox",
    async visit(url) {
      const address = new URL(url.replace(/^(http:\/\/[^/]+)/, `$1:${port}`))
        .href;
      await driver.get(address);
      await until(() => isLoaded(address), `the page is ${address}`);
    },
    run: (script) => driver.executeScript(`return ${script}`),
    click: (selector) => driver.findElement(By.css(selector)).click(),
    async press(bookmark) {
      const before = await driver.getCurrentUrl();
      await driver.setContext(Context.CHROME);
      await driver
        .findElement(
          By.css(`#PlacesToolbarItems toolbarbutton[label="${bookmark}"]`),
        )
        .click();
      await driver.setContext(Context.CONTENT);
      return (
        (await until(async () => {
          const dialog = await driver
            .switchTo()
            .alert()
            .then(
              (alert) => alert,
              () => undefined,
            );
          if (dialog) {
            const said = await dialog.getText();
            await dialog.accept();
            return { said };
          }
          const handle = await other();
          if (handle) {
            await driver.switchTo().window(handle);
            const tab = await until(async () => {
              const url = await driver.getCurrentUrl();
              return /^http/.test(url) ? url : undefined;
            }, "the new tab has an address");
            await driver.switchTo().window(first);
            return { tab };
          }
          const here = await driver.getCurrentUrl();
          return here !== before && (await isLoaded(here))
            ? { here }
            : undefined;
        })) ?? {}
      );
    },
    async inTab(read) {
      await driver.switchTo().window(String(await other()));
      try {
        return await driver.executeScript(`return ${read}`);
      } finally {
        await driver.switchTo().window(first);
      }
    },
    async closeTab() {
      const handle = await other();
      if (!handle) return;
      await driver.switchTo().window(handle);
      await driver.close();
      await driver.switchTo().window(first);
    },
    close: () => driver.quit(),
  };
}

/** Names of the missing programs for Firefox. */
export const missing = [["firefox-esr", "firefox"], ["geckodriver"]]
  .filter((names) => !program(names))
  .map(([name]) => String(name));
