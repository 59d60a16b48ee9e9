/** Adds Stockfish to the site: two files of the npm package `stockfish`, whose archive has 161 MB. They are taken out of it once. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const VERSION = "19.0.0";

/** Files of the package, with their SHA-256. */
const FILES: Record<string, string> = {
  "Copying.txt":
    "0b383d5a63da644f628d99c33976ea6487ed89aaa59f0b3257992deac1171e6b",
  "bin/stockfish-19-lite-single.js":
    "d3344124ab067fb0b90ee77873bb8e9fbf5fc01bc525fe714b0f942581e889e6",
  "bin/stockfish-19-lite-single.wasm":
    "57ac2d72312aba346760e3f173f687a8c211208e97a87268436f7f0e10bb5387",
};

/** Returns the content of a file. Throws if the file is missing or not the pinned file. */
function read(folder: string, name: string): Buffer {
  const path = join(folder, "package", name);
  const content = readFileSync(path);
  const found = createHash("sha256").update(content).digest("hex");
  if (found !== FILES[name])
    throw new Error(
      `${path}: expected SHA-256 ${FILES[name]}, found ${found}; delete ${folder} and build again`,
    );
  return content;
}

/** Takes the files out of the package. */
function extract(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const run = (program: string, ...words: string[]) =>
    execFileSync(program, words, {
      cwd: folder,
      shell: process.platform === "win32",
    });
  run("npm", "pack", "--silent", `stockfish@${VERSION}`);
  const archive = `stockfish-${VERSION}.tgz`;
  run("tar", "-xzf", archive, ...Object.keys(FILES).map((n) => `package/${n}`));
  rmSync(join(folder, archive));
}

/** `folder` keeps the files between builds. Without a folder, the site has no Stockfish. */
export function stockfish(folder: string | undefined): Plugin {
  return {
    name: "shelfish-stockfish",
    apply: "build",
    config: () =>
      folder
        ? {
            define: {
              "import.meta.env.VITE_STOCKFISH": JSON.stringify(
                `stockfish/${VERSION}/stockfish-19-lite-single.js`,
              ),
            },
          }
        : {},
    generateBundle() {
      if (!folder) return;
      const names = Object.keys(FILES);
      if (!names.every((name) => existsSync(join(folder, "package", name))))
        extract(folder);
      for (const name of names)
        this.emitFile({
          type: "asset",
          fileName: `stockfish/${VERSION}/${name.replace("bin/", "")}`,
          source: read(folder, name),
        });
    },
  };
}
