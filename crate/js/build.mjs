// Builds the npm package `crate/pkg` from the modules and bindings that wasm-pack has written into a folder: node build.mjs FOLDER.
// With `--types` it only checks the types and writes the declarations.
import { createHash } from "node:crypto";
import { execFile, execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker, isMainThread, workerData } from "node:worker_threads";
import binaryen from "binaryen";
import { build } from "esbuild";

/**
 * Files of the package by name: the source at the top of this folder, and where the file finds its module. `url`: next to the
 * JavaScript, by an expression that bundlers recognise. `text`: in the file itself, because bundles of servers omit files. `compiled`:
 * Cloudflare's Workers only run modules that were compiled at the upload. Files of servers are not minified, because Node shows the
 * lines of an error.
 */
const FILES = {
  index: ["index", "shelfish", "url"],
  inline: ["index", "shelfish", "text"],
  node: ["index", "shelfish", "text", "directory"],
  workerd: ["index", "shelfish", "compiled"],
  endgames: ["endgames", "shelfish_endgames", "url"],
  "endgames-node": ["endgames", "shelfish_endgames", "text", "directory"],
  "endgames-workerd": ["endgames", "shelfish_endgames", "compiled"],
  analysis: ["analysis", "shelfish_analysis", "url"],
  "analysis-inline": ["analysis", "shelfish_analysis", "text"],
  "analysis-workerd": ["analysis", "shelfish_analysis", "compiled"],
  engine: ["engine", "shelfish_engine", "url"],
  "engine-inline": ["engine-inline", "shelfish_engine", "text"],
  lichess: ["lichess"],
  "lichess-moves": ["lichess-moves"],
  "lichess-node": ["lichess"],
  "engine-worker": ["engine-worker"],
  worker: ["worker"],
  openings: ["openings"],
  uci: ["uci"],
  react: ["react"],
  elements: ["elements"],
  cli: ["cli"],
};

/** Returns the entry point of a file, with the place of its module. */
function entryOf([source, module, place, directory], hash, resolveDir) {
  if (!module) return { entryPoints: [`${source}.ts`] };
  const lines = {
    url: `platform.wasm = () => ({ url: new URL("${module}_bg.wasm", import.meta.url), sha256: "${hash(module)}" });`,
    text: `import text from "./${MODULES[module]}"; import { decodeModule } from "./shared/decode-module.ts"; platform.wasm = () => decodeModule(text);`,
    compiled: `import wasm from "./${module}_bg.wasm"; platform.wasm = () => wasm;`,
  };
  const folders = directory
    ? 'import { namedDirectory } from "./shared/directory.ts"; platform.source = namedDirectory;'
    : "";
  const contents = `import { platform } from "./shared/load.ts"; ${lines[place]} ${folders} export * from "./${source}.ts";`;
  return { stdin: { contents, resolveDir, loader: "ts" } };
}

/** The service worker of the adapter for Lichess: a classic script, which cannot import modules. */
const SERVICE_WORKER = "shelfish-lichess-sw";

/** Files that other files load when they need them. */
const PARTS = [
  "index",
  "endgames",
  "engine",
  "analysis",
  "openings",
  "lichess-moves",
];

/** Parts for Node and for workerd, by the ending of the file that imports them. */
const NODE = {
  index: "node",
  endgames: "endgames-node",
  engine: "engine-inline",
};
const VARIANTS = {
  node: NODE,
  "-inline": NODE,
  workerd: { index: "workerd", endgames: "endgames-workerd" },
};

/** Modules, and the JavaScript that contains their bytes as text. */
const MODULES = {
  shelfish: "wasm.js",
  shelfish_endgames: "endgames-wasm.js",
  shelfish_analysis: "analysis-wasm.js",
  shelfish_engine: "engine-wasm.js",
};

/** Parts of the names of functions that panic. A browser does not show their messages, only the trap. */
const PANICS =
  /\bcore(\[\w+\])?::panicking::|_fail\b|::assert_failed|::expect_failed|::handle_error|::panic_|::unwrap_failed|::capacity_overflow/;

/** Letters that encode the bytes of modules as text, as in `shared/decode-module.ts`. Charsets and quotes do not change them. The
 * last two start codes of two letters. */
const LETTERS =
  " !#%&'()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~";

const js = fileURLToPath(new URL(".", import.meta.url));
const root = join(js, "../..");
const pkg = join(root, "crate/pkg");

/** Paths of Rust's sources in the data of a module. */
const SOURCES =
  /(?:\/rustc\/\w{40}\/|\/rust\/deps\/|\.\/|crate\/)[-\w./]+?\.rs/g;

/**
 * Clears the paths and the places of panics: pointer and length of the path, line and column. Nothing reads them, because a panic is
 * only a trap.
 */
function clearPlaces(bytes) {
  const module = binaryen.readBinary(bytes);
  for (let n = 0; n < module.getNumDataSegments(); n++) {
    const { offset, data } = module.getDataSegmentInfo(
      module.getDataSegmentByIndex(n),
    );
    const content = Buffer.from(data);
    const at = bytes.indexOf(content);
    const lengths = new Map();
    for (const { index, 0: path } of content
      .toString("latin1")
      .matchAll(SOURCES)) {
      lengths.set(offset + index, path.length);
      bytes.fill(0, at + index, at + index + path.length);
    }
    for (let place = -offset & 3; place + 16 <= content.length; place += 4) {
      const [pointer, length] = [0, 4].map((n) =>
        content.readUInt32LE(place + n),
      );
      if (length && lengths.get(pointer) === length)
        bytes.fill(0, at + place, at + place + 16);
    }
  }
  return bytes;
}

/** Makes a module smaller and faster, in a thread of its own. */
function optimise(from, to) {
  const module = binaryen.readBinary(clearPlaces(readFileSync(from)));
  for (let n = 0; n < module.getNumFunctions(); n++) {
    const {
      name,
      body,
      module: imported,
    } = binaryen.getFunctionInfo(module.getFunctionByIndex(n));
    const panics = !imported && PANICS.test(name);
    if (
      panics &&
      binaryen.getExpressionInfo(body).type === binaryen.unreachable &&
      !binaryen.emitText(body).includes("(return")
    )
      binaryen.Function.setBody(module.getFunction(name), module.unreachable());
  }
  const isEngine = basename(from) === "shelfish_engine_bg.wasm";
  binaryen.setOptimizeLevel(3);
  binaryen.setShrinkLevel(isEngine ? 0 : 1);
  if (isEngine) {
    // The host can suspend and resume the search. It calls the host through a trait, and Asyncify would otherwise instrument all
    // indirect calls. The module is optimised first, because Asyncify adds code for each call and local.
    module.optimize();
    const asyncify = {
      "asyncify-ignore-indirect": "",
      "asyncify-imports": "./engine/host.js.pause",
      "asyncify-addlist": "*Search*poll*",
      "asyncify-propagate-addlist": "",
    };
    for (const [key, value] of Object.entries(asyncify))
      binaryen.setPassArgument(key, value);
    module.runPasses(["asyncify"]);
  }
  // Packed memory and inlined functions compress worse. Rust does not use the lowest kilobyte. Current processors ignore alignments,
  // and equal alignments compress better.
  binaryen.addPassToSkip("memory-packing");
  binaryen.setOneCallerInlineMaxSize(0);
  binaryen.setAlwaysInlineMaxSize(isEngine ? 2 : 4);
  binaryen.setLowMemoryUnused(true);
  module.optimize();
  module.runPasses([
    "dealign",
    "strip-debug",
    "strip-producers",
    "strip-target-features",
  ]);
  writeFileSync(to, module.emitBinary());
}

if (isMainThread) await main();
else optimise(workerData.from, workerData.to);

async function main() {
  const [folder, option] = process.argv.slice(2);
  const built = resolve(folder);
  cpSync(js, built, {
    recursive: true,
    filter: (path) =>
      !path.includes("node_modules") &&
      (/\.ts$|pieces\.json$/.test(path) || statSync(path).isDirectory()),
  });
  cpSync(join(js, "tsconfig.json"), join(built, "tsconfig.json"));
  writeFileSync(join(built, "package.json"), '{ "type": "module" }\n');
  if (!existsSync(join(built, "node_modules")))
    symlinkSync(
      join(js, "node_modules"),
      join(built, "node_modules"),
      "junction",
    );
  const openings = join(built, "openings-table.ts");
  execFileSync(process.execPath, [join(js, "openings-table.mjs"), openings]);
  const types = declare(built);
  if (option !== "--types") await Promise.all([types, bundles(built)]);
  await types;
}

/** Checks the types of the TypeScript and writes the declarations of the package. */
async function declare(built) {
  const tsc = join(js, "node_modules/typescript/bin/tsc");
  await promisify(execFile)(process.execPath, [tsc], { cwd: built }).catch(
    ({ stdout, stderr }) => {
      throw new Error(`types of the package:\n${stdout}${stderr}`);
    },
  );
  rmSync(join(pkg, "types"), { recursive: true, force: true });
  cpSync(join(built, "types"), join(pkg, "types"), { recursive: true });
}

/** Writes all files of the package except its types. */
async function bundles(built) {
  const modules = Object.keys(MODULES);
  await Promise.all(modules.map((name) => wasm(built, name)));
  const bytes = (name) => readFileSync(join(pkg, `${name}_bg.wasm`));
  for (const [name, file] of Object.entries(MODULES))
    writeFileSync(
      join(pkg, file),
      `export default "${asText(bytes(name))}";\n`,
    );
  const hash = (name) =>
    createHash("sha256").update(bytes(name)).digest("hex").slice(0, 32);
  const common = {
    absWorkingDir: built,
    bundle: true,
    format: "esm",
    target: "es2022",
    sourcemap: true,
    logLevel: "warning",
    // wasm-bindgen repeats the key of a module for each import. The URLs of the modules are options of the service worker.
    logOverride: {
      "duplicate-object-key": "silent",
      "empty-import-meta": "silent",
    },
    define: { SHA256: `"${hash("shelfish")}"` },
    external: [
      "./*wasm.js",
      "./engine-worker-text.js",
      "./sample-text.js",
      "./*.wasm",
      "node:*",
      "react",
    ],
  };
  // The module of the engine imports this file.
  await build({
    ...common,
    bundle: false,
    sourcemap: false,
    external: undefined,
    entryPoints: ["engine/host.ts"],
    outfile: "engine/host.js",
  });
  /** Leaves the parts out of a file, which imports their variant for the same host. */
  const parts = (file) => ({
    name: "parts",
    setup: (build) =>
      build.onResolve({ filter: /^\.\.?\/.*\.js$/ }, (found) => {
        const path = join(found.resolveDir, found.path);
        const part = PARTS.find((name) => path === join(built, `${name}.js`));
        const name =
          VARIANTS[/node|workerd|-inline/.exec(file)]?.[part] ?? part;
        return part && { path: `./${name}.js`, external: true };
      }),
  });
  const bundle = ([name, file]) =>
    build({
      ...common,
      ...entryOf(file, hash, built),
      outfile: join(pkg, `${name}.js`),
      minify: !/node|workerd|-inline|cli/.test(name),
      plugins: [parts(name)],
    });
  await Promise.all(Object.entries(FILES).map(bundle));
  // The Worker of the engine as a classic script: a script from text cannot import modules.
  const { outputFiles } = await build({
    ...common,
    entryPoints: ["engine-worker.ts"],
    format: "iife",
    minify: true,
    sourcemap: false,
    write: false,
    logLevel: "error",
  });
  writeFileSync(
    join(pkg, "engine-worker-text.js"),
    `export default ${JSON.stringify(outputFiles[0].text)};\n`,
  );
  // The service worker is a classic script. Its entries are bundled already: each has its own module.
  const worker = join(pkg, `${SERVICE_WORKER}.js`);
  await build({
    ...common,
    entryPoints: [`${SERVICE_WORKER}.ts`],
    outfile: worker,
    plugins: [parts()],
  });
  await build({
    ...common,
    entryPoints: [worker],
    format: "iife",
    minify: true,
    outfile: worker,
    allowOverwrite: true,
  });
  for (const name of ["package.json", "README.md"])
    cpSync(join(js, name), join(pkg, name));
  for (const name of ["LICENSE", "CHANGELOG.md"])
    cpSync(join(root, name), join(pkg, name));
  // The maps contain the sources, whose names must not lead out of the package.
  for (const file of readdirSync(pkg).filter((name) => name.endsWith(".map"))) {
    const map = JSON.parse(readFileSync(join(pkg, file), "utf8"));
    const inside = (source) =>
      relative(built, join(pkg, source)).replace(/^.*\.\.\//, "");
    map.sources = map.sources.map((source) => `src/${inside(source)}`);
    writeFileSync(join(pkg, file), JSON.stringify(map));
  }
  // Committed files, so that a build of the package needs no native program.
  const shards = join(root, "static-shards");
  const sample = join(shards, "package-sample");
  for (const [from, to] of [
    ["sample", "sample"],
    ["book", "sample-book"],
    ["endgames", "sample-endgames"],
  ])
    cpSync(join(shards, `package-${from}`), join(pkg, to), { recursive: true });
  for (const table of readdirSync(join(shards, "endgames")))
    if (/^K.vK\./.test(table))
      cpSync(
        join(shards, "endgames", table),
        join(pkg, "sample-endgames", table),
      );
  const files = readdirSync(sample).map((file) => [
    file,
    readFileSync(join(sample, file), "base64"),
  ]);
  writeFileSync(
    join(pkg, "sample-text.js"),
    `export default ${JSON.stringify(Object.fromEntries(files))};\n`,
  );
}

/** Writes a module into the package, and completes its bindings. */
async function wasm(built, name) {
  const [from, script] = [`${name}_bg.wasm`, `${name}.js`].map((file) =>
    join(built, file),
  );
  // Only these two files use wasm-bindgen's long names, which end in hashes. Numbers of the same length compress better.
  const numbers = new Map();
  for (const file of [script, from]) {
    const text = readFileSync(file, "latin1").replace(
      /(__wbg|wasm_bindgen__convert__closures)_\w*?_h?[0-9a-f]{16}/g,
      (name) => {
        if (!numbers.has(name)) numbers.set(name, `i${numbers.size}`);
        return numbers.get(name).padEnd(name.length, "_");
      },
    );
    writeFileSync(file, text, "latin1");
  }
  // The functions that start a compiled module, which wasm-bindgen does not export.
  appendFileSync(
    script,
    "export { __wbg_get_imports as imports, __wbg_finalize_init as start };\n",
  );
  appendFileSync(
    join(built, `${name}.d.ts`),
    "export function imports(): WebAssembly.Imports;\nexport function start(instance: WebAssembly.Instance, module: WebAssembly.Module): void;\n",
  );
  writeFileSync(
    join(pkg, `${name}_bg.wasm.d.ts`),
    `/** The module as the toolchain imports it: compiled, its bytes or its URL. The option \`wasm\` of its entry takes it. */
declare const wasm: object | string;
export default wasm;
`,
  );
  const workerData = { from, to: join(pkg, `${name}_bg.wasm`) };
  await new Promise((done, fail) =>
    new Worker(new URL(import.meta.url), { workerData })
      .on("error", fail)
      .on("exit", done),
  );
}

/** Encodes a module as text. A byte has the same one or two letters everywhere, so that repetitions remain. In Brotli the text is 4 %
 * longer than the module; Base64 would be 31 % longer. */
function asText(module) {
  const single = LETTERS.length - 2;
  const letters = (byte) => {
    const more = byte - single;
    if (more < 0) return LETTERS[byte];
    return (
      LETTERS[single + Math.floor(more / LETTERS.length)] +
      LETTERS[more % LETTERS.length]
    );
  };
  return Array.from(module, letters).join("");
}
