// The origin of the WASM module, and the errors if it does not load.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { PACKAGE, ROOT } from "../browser/support/paths.mjs";
import { host } from "../browser/support/host.mjs";

const MODULE = readFileSync(join(PACKAGE, "shelfish_bg.wasm"));
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

let copies = 0;

/**
 * Imports the package again, without a module.
 * @returns {Promise<typeof import("shelfish")>}
 */
const fresh = (entry = "index.js") =>
  import(`${pathToFileURL(join(PACKAGE, entry)).href}?${copies++}`);

/** @type {Awaited<ReturnType<typeof host>>} */
let shelf;
/** @type {import("node:http").Server} */
let server;
let url = "";
let requests = 0;
/** Without an answer, the server is silent. @type {(path: string) => [status: number, type: string | undefined, body: string | Buffer] | undefined} */
let answer = () => [404, "text/plain", ""];

before(async () => {
  shelf = await host(join(ROOT, "tests/data/database/db"));
  server = createServer((request, response) => {
    requests += 1;
    const found = answer(request.url ?? "");
    if (!found) return;
    const [status, type, body] = found;
    response
      .writeHead(status, type === undefined ? {} : { "content-type": type })
      .end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}/`;
});
after(async () => {
  server.closeAllConnections();
  server.close();
  await shelf.close();
});

/** Opens the database and looks up a position. */
async function works(
  /** @type {typeof import("shelfish")} */ { openDatabase },
  /** @type {any} */ wasm,
) {
  const database = await openDatabase(shelf.url, { wasm });
  assert.equal((await database.lookup(START))?.depth, 20);
  database.close();
}

/**
 * Returns the error of a module.
 * @param {any} wasm
 */
async function fails(wasm) {
  const { openDatabase, ShelfishError } = await fresh();
  const error = await openDatabase(shelf.url, { wasm }).then(
    () => assert.fail("it was opened"),
    (error) => error,
  );
  assert.ok(error instanceof ShelfishError, `${error}`);
  return error;
}

test("a module is accepted in every form", async () => {
  answer = () => [200, "application/wasm", MODULE];
  const copy = Uint8Array.from(MODULE);
  /** @type {[string, () => any][]} */
  const forms = [
    ["a URL as a text", () => `${url}a.wasm`],
    ["a URL", () => new URL("a.wasm", url)],
    ["a URL of a file", () => pathToFileURL(join(PACKAGE, "shelfish_bg.wasm"))],
    ["an ArrayBuffer", () => copy.buffer],
    ["bytes", () => copy],
    [
      "a part of a buffer",
      () => Buffer.concat([Buffer.alloc(7), MODULE]).subarray(7),
    ],
    ["a response", () => fetch(url)],
    [
      "a response that is here",
      async () => new Response(await (await fetch(url)).arrayBuffer()),
    ],
    ["a module", () => new WebAssembly.Module(copy)],
    ["a promise of a module", () => WebAssembly.compile(copy)],
    ["null", () => null],
  ];
  for (const [name, make] of forms) {
    await works(await fresh(), make()).catch((error) =>
      assert.fail(`${name}: ${error}`),
    );
  }
});

test("the first module is used and fetched once, and later modules are ignored", async () => {
  const shelfish = await fresh();
  answer = () => [200, "application/wasm", MODULE];
  requests = 0;
  await Promise.all([
    works(shelfish, url),
    works(shelfish, `${url}other`),
    works(shelfish, undefined),
  ]);
  await works(shelfish, 7);
  await works(shelfish, Promise.reject(new Error("nobody looks at it")));
  assert.equal(requests, 1);
});

test("the error of a wrong module contains its URL, its content and advice, and the next call tries again", async () => {
  answer = () => [200, "text/html; charset=utf-8", "<!doctype html><html>"];
  const shelfish = await fresh();
  await assert.rejects(works(shelfish, `${url}assets/a.wasm`), {
    code: "network",
    url: `${url}assets/a.wasm`,
    message:
      /assets\/a\.wasm .*text\/html; charset=utf-8, "<!doctype html><html>".*"shelfish\/inline".*README/,
  });
  answer = () => [404, "text/html", "<h1>404</h1>"];
  assert.match((await fails(url)).message, /status 404.*"shelfish\/inline"/);
  answer = () => [200, "application/wasm", MODULE.subarray(0, 1000)];
  assert.match((await fails(url)).message, /WASM module cannot be loaded/);
  const unreachable = await fails("http://127.0.0.1:1/a.wasm");
  assert.match(unreachable.message, /127\.0\.0\.1:1\/a\.wasm/);
  assert.equal((await fails(7)).code, "usage");
  answer = () => [200, "application/wasm", MODULE];
  await works(shelfish, url);
});

/** Imports a copy of the package whose module next to the scripts is `module`. */
async function copyWith(
  /** @type {import("node:test").TestContext} */ t,
  /** @type {Buffer} */ module,
) {
  const folder = mkdtempSync(join(tmpdir(), "shelfish-load-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const file of ["index.js", "package.json"])
    copyFileSync(join(PACKAGE, file), join(folder, file));
  writeFileSync(join(folder, "shelfish_bg.wasm"), module);
  return /** @type {Promise<typeof import("shelfish")>} */ (
    import(pathToFileURL(join(folder, "index.js")).href)
  );
}

test("a damaged module, or the module of another version, is an error with its hash and the remedy", async (t) => {
  await works(await copyWith(t, MODULE), undefined);
  const damaged = Buffer.from(MODULE);
  damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] ?? 0) ^ 1;
  for (const module of [
    damaged,
    Buffer.concat([MODULE, Buffer.from([0, 2, 1, 0x78])]),
  ]) {
    const { openDatabase } = await copyWith(t, module);
    const hash = createHash("sha256").update(MODULE).digest("hex").slice(0, 32);
    await assert.rejects(openDatabase(shelf.url), {
      code: "corrupt",
      message: new RegExp(
        `the SHA-256 of file:.*shelfish_bg\\.wasm does not begin with ${hash}: copy the file`,
      ),
    });
  }
});
