/** Builds the bookmarklet into one JavaScript expression. The page that installs the bookmarklet imports it as a string. */
import { build, type Plugin } from "vite";

const NAME = "virtual:bookmarklet";
const ENTRY = decodeURIComponent(
  new URL("../src/bookmarklet/main.ts", import.meta.url).pathname,
);

export const bookmarklet: Plugin = {
  name: "bookmarklet",
  resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
  async load(id) {
    if (id !== `\0${NAME}`) return undefined;
    const result = await build({
      configFile: false,
      logLevel: "warn",
      publicDir: false,
      build: {
        write: false,
        minify: true,
        target: "es2022",
        lib: { entry: ENTRY, formats: ["iife"], name: "b" },
      },
    });
    const [chunk] = [result]
      .flat()
      .flatMap((built) => ("output" in built ? built.output : []));
    const code =
      chunk?.type === "chunk"
        ? /^var b=(.+);\s*$/s.exec(chunk.code)?.[1]
        : undefined;
    if (chunk?.type !== "chunk" || !code)
      throw new Error(
        "the bundler gave the bookmarklet another form than `var b=…;`",
      );
    for (const file of chunk.moduleIds) this.addWatchFile(file);
    return `export default ${JSON.stringify(code)}`;
  },
};
