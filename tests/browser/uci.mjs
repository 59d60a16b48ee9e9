// Runs `shelfish/uci` in a headless Chromium as a UCI engine on standard input and output. `lab rate --chromium` plays with it.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { BLANK } from "./support/fixtures.mjs";
import { launch } from "./support/chromium.mjs";
import { PACKAGE } from "./support/paths.mjs";
import { serve } from "./support/serve.mjs";

const root = mkdtempSync(join(tmpdir(), "shelfish-uci-"));
writeFileSync(join(root, "index.html"), BLANK);
cpSync(PACKAGE, join(root, "pkg"), { recursive: true, dereference: true });
const server = await serve(root);
const browser = await launch();
const page = await browser.newPage();
await page.goto(server.url);
await page.exposeFunction("print", (/** @type {string} */ line) =>
  console.log(line),
);
const worker = await page.evaluateHandle(() => {
  const { print } =
    /** @type {{ print: (line: string) => void } & typeof globalThis} */ (
      globalThis
    );
  const worker = new Worker("/pkg/uci.js");
  worker.onmessage = ({ data }) => print(data);
  return worker;
});

try {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === "quit") break;
    await worker.evaluate((worker, line) => worker.postMessage(line), line);
  }
} finally {
  await browser.close();
  await server.close();
  rmSync(root, { recursive: true });
}
