// A page that imports the pinned package from another origin, as from jsDelivr, unpkg or esm.sh.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { BLANK } from "./support/fixtures.mjs";
import { PACKAGE, ROOT } from "./support/paths.mjs";
import * as shelf from "./support/shelf.mjs";

const guide = readFileSync(join(ROOT, "docs/guides/web-developer.md"), "utf8");
const { version } = JSON.parse(
  readFileSync(join(PACKAGE, "package.json"), "utf8"),
);

/** Hosts the package as a CDN does: any origin may read it. */
const cdn = createServer(({ url }, response) => {
  const path = String(url).replace(/^.*\/shelfish@[\d.]+\//, "");
  const type =
    { ".js": "text/javascript", ".wasm": "application/wasm" }[extname(path)] ??
    "application/octet-stream";
  response.writeHead(200, {
    "access-control-allow-origin": "*",
    "content-type": type,
  });
  response.end(readFileSync(join(PACKAGE, path)));
});
let origin = "";
before(async () => {
  await once(cdn.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (
    cdn.address()
  );
  origin = `http://127.0.0.1:${port}`;
});
after(() => (cdn.closeAllConnections(), cdn.close()));

/** Returns a snippet of the guide, whose addresses are those of the tests. */
const snippet = (/** @type {string} */ language, /** @type {RegExp} */ part) =>
  [...guide.matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
    .flatMap(([, found, code = ""]) =>
      found === language && part.test(code) ? [code] : [],
    )
    .join("")
    .replaceAll("https://cdn.jsdelivr.net", origin)
    .replaceAll("https://example.org/evals/", shelf.url("db/manifest.json"));

test("the guide pins the version of the package on each host", () => {
  for (const host of ["cdn.jsdelivr.net/npm", "unpkg.com", "raw.esm.sh"])
    assert.ok(guide.includes(`https://${host}/shelfish@${version}/`), host);
});

test("an import map: lookups, the engine and elements work from another origin", async (t) => {
  writeFileSync(
    join(shelf.root, "cdn.html"),
    `${BLANK}<body>${snippet("html", /importmap/)}`,
  );
  const page = await shelf.page(t, { path: "cdn.html", allow: /^log: / });
  await page.locator("shelfish-eval .facts", { hasText: /engine/ }).waitFor();
  const found = await page.evaluate(async () => {
    const entry = "shelfish/engine";
    const { openEngine } = await import(entry);
    const engine = await openEngine();
    const { pvs } = await engine.analyse("7k/8/5KQ1/8/8/8/8/8 w - -", {
      depth: 3,
    });
    engine.close();
    return pvs[0].score;
  });
  assert.equal(found, "#1");
});

test("a Worker of UCI from another origin answers", async (t) => {
  const page = await shelf.page(t, { allow: /^log: / });
  const line = await page.evaluate(`new Promise((done) => {
    const console = { log: (line) => line.startsWith("bestmove") && done(line) };
    ${snippet("js", /uci\.js/)}
  })`);
  assert.match(String(line), /^bestmove [a-h][1-8]/);
});
