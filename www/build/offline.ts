/** Writes the files of the site and their hashes into the service worker. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import type { Plugin } from "vite";

/** Files that no page needs: pictures for other sites, source maps, files for old browsers, and the sample of the package. */
const LEFT_OUT =
  /(\.map|\/sample-text-.*|^card\.png|^favicon\.ico|^sw\.js|^404\.html|^icon-\d+(-maskable)?\.png)$/;

const sha256 = (bytes: string | Buffer) =>
  createHash("sha256").update(bytes).digest("base64");

/** Defines `FILES` and `VERSION` of src/worker/sw.ts, which the bundler writes to `sw.js`. */
export function offline(): Plugin {
  let folder = "";
  return {
    name: "shelfish-offline",
    apply: "build",
    configResolved: (config) =>
      void (folder = resolve(config.root, config.build.outDir)),
    closeBundle() {
      const files = readdirSync(folder, {
        recursive: true,
        withFileTypes: true,
      })
        .filter((entry) => entry.isFile())
        .map((entry) =>
          relative(folder, join(entry.parentPath, entry.name)).replaceAll(
            sep,
            "/",
          ),
        )
        .filter(
          (path) => !LEFT_OUT.test(path) && !/^(db|stockfish)\//.test(path),
        )
        .sort()
        .map(
          (path) =>
            [
              path,
              `sha256-${sha256(readFileSync(join(folder, path)))}`,
            ] as const,
        );
      const code = readFileSync(join(folder, "sw.js"), "utf8");
      const version = sha256(code + JSON.stringify(files)).slice(0, 12);
      const constants = `const FILES=${JSON.stringify(files)},VERSION=${JSON.stringify(version)};\n`;
      writeFileSync(join(folder, "sw.js"), constants + code);
    },
  };
}
