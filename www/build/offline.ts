/** Tells the service worker which files the site is made of, and what their bytes are. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import type { Plugin } from "vite";

/** Files that no page needs by itself: for other sites, for who looks into the code, for browsers of old. */
const LEFT_OUT = /(\.map|^card\.png|^sw\.js|^404\.html|^icon-\d+(-maskable)?\.png|^assets\/shelfish_engine_scalar.*)$/;

const sha256 = (bytes: string | Buffer) => createHash("sha256").update(bytes).digest("base64");

/** Fills in `FILES` and `VERSION` of src/worker/sw.ts, which the bundler has put into `sw.js`. */
export function offline(): Plugin {
  let folder = "";
  return {
    name: "shelfish-offline",
    apply: "build",
    configResolved: (config) => void (folder = resolve(config.root, config.build.outDir)),
    closeBundle() {
      const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/"))
        .filter((path) => !LEFT_OUT.test(path) && !path.startsWith("db/"))
        .sort()
        .map((path) => [path, `sha256-${sha256(readFileSync(join(folder, path)))}`] as const);
      const code = readFileSync(join(folder, "sw.js"), "utf8");
      const version = sha256(code + JSON.stringify(files)).slice(0, 12);
      const constants = `const FILES=${JSON.stringify(files)},VERSION=${JSON.stringify(version)};\n`;
      writeFileSync(join(folder, "sw.js"), constants + code);
    },
  };
}
