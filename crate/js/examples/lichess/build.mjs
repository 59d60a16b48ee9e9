// Copies the page, the service worker and its modules into `dist`, which any static host can serve.

import { copyFileSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

mkdirSync("dist", { recursive: true });
for (const file of ["index.html", "page.js"])
  copyFileSync(file, `dist/${file}`);
for (const file of ["shelfish-lichess-sw.js", "shelfish_bg.wasm"]) {
  copyFileSync(
    fileURLToPath(import.meta.resolve(`shelfish/${file}`)),
    `dist/${file}`,
  );
}
