// A database inside an extension: Chromium answers a request for a byte range with status 200 and the requested bytes.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { chromium } from "playwright-core";
import { START } from "./support/chromium.mjs";
import { famous } from "./support/fixtures.mjs";
import { CHROMIUM, entry, PACKAGE } from "./support/paths.mjs";

/** Returns the id that Chromium gives to an unpacked extension. */
const idOf = (/** @type {string} */ folder) =>
  [...createHash("sha256").update(folder).digest("hex").slice(0, 32)]
    .map((digit) => String.fromCharCode(97 + parseInt(digit, 16)))
    .join("");

test("a page of an extension looks positions up in the extension's own database", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "shelfish-extension-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const extension = join(home, "extension");
  cpSync(PACKAGE, join(extension, "pkg"), { recursive: true });
  cpSync(famous(), join(extension, "db"), { recursive: true });
  const policy = "script-src 'self' 'wasm-unsafe-eval'; object-src 'self'";
  const manifest = {
    manifest_version: 3,
    name: "Shelfish",
    version: "1",
    content_security_policy: { extension_pages: policy },
  };
  writeFileSync(join(extension, "manifest.json"), JSON.stringify(manifest));
  writeFileSync(
    join(extension, "page.html"),
    "<!doctype html><title>Page</title>",
  );
  const context = await chromium.launchPersistentContext(
    join(home, "profile"),
    {
      executablePath: CHROMIUM,
      args: [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        `--disable-extensions-except=${extension}`,
        `--load-extension=${extension}`,
      ],
      ignoreDefaultArgs: ["--disable-extensions"],
    },
  );
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(`chrome-extension://${idOf(extension)}/page.html`);
  const found = await page.evaluate(
    async ([entry, start]) => {
      const { shards } = await (await fetch("db/manifest.json")).json();
      const headers = { range: "bytes=0-9" };
      const range = await fetch(`db/${shards[0].file}`, { headers });
      const { openDatabase } = await import(`/pkg/${entry}`);
      const database = await openDatabase("db/manifest.json");
      const answer = await database.lookup(start);
      return {
        status: range.status,
        bytes: (await range.arrayBuffer()).byteLength,
        best: answer.pvs[0].uci[0],
      };
    },
    [entry(), START],
  );
  assert.deepEqual(found, { status: 200, bytes: 10, best: "e2e4" });
});
