// Browsers in which a test presses bookmarks on pages of any host.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { chromium } from "playwright-core";
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
