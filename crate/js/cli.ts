#!/usr/bin/env node
// The command `shelfish` of the package: copies the sample database, and runs the native program for everything else.

import { spawn } from "node:child_process";
import { cp, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [command, ...rest] = process.argv.slice(2);

const SAMPLE_HELP = `Copy a sample of this package to a folder

Usage: npx shelfish sample [--book | --endgames] [DIR]

Arguments:
  [DIR]  New folder, empty folder, or folder with the sample [default: evals, book or endgames]

Options:
  --book      A book of 22 famous games, instead of evaluations
  --endgames  Tables of endings with three pieces, instead of evaluations

Examples:
  npx shelfish sample public/evals          # then openDatabase("/evals/") on the page
  npx shelfish sample --book public/book    # then openBook("/book/")

The sample has openings up to 14 plies and famous games. \`npx shelfish build --help\` makes larger databases.
`;

/** Samples by their option: the folder in the package, the default folder, the first file, and the function that opens it. */
const SAMPLES: Record<string, [string, string, string, string]> = {
  "": ["sample", "evals", "manifest.json", "openDatabase"],
  "--book": ["sample-book", "book", "manifest.json", "openBook"],
  "--endgames": [
    "sample-endgames",
    "endgames",
    "endgames.index",
    "openEndgames",
  ],
};

/** Ends the process with an error. Exit code 2 is wrong usage. */
function fail(message: string, code = 1): never {
  process.stderr.write(`shelfish: ${message}\n`);
  process.exit(code);
}

/** Copies a sample. */
async function copySample(words: string[]): Promise<void> {
  if (words.some((word) => word === "-h" || word === "--help"))
    return void process.stdout.write(SAMPLE_HELP);
  const option = words.find((word) => SAMPLES[word]) ?? "";
  const [sample, folder, first, call] = SAMPLES[option]!;
  const [name = folder, ...more] = words.filter((word) => word !== option);
  if (more.length > 0 || name.startsWith("-"))
    fail(
      `sample: expected one folder, found ${JSON.stringify([name, ...more].join(" "))}; see npx shelfish sample --help`,
      2,
    );
  const to = resolve(name);
  const found = await readdir(to).catch((error: NodeJS.ErrnoException) =>
    error.code === "ENOENT" ? [] : fail(`${name}: ${error.message}`),
  );
  const from = join(dirname(fileURLToPath(import.meta.url)), sample);
  const files = new Set(await readdir(from));
  const other = found.find((file) => !files.has(file));
  if (other !== undefined)
    fail(`${name} contains other files, such as ${other}: name a new folder`);
  await cp(from, to, { recursive: true }).catch((error: Error) =>
    fail(`${name}: ${error.message}`),
  );
  const path = relative("", to) || ".";
  process.stdout.write(
    `${path}/${first} is the sample. In Node: ${call}(${JSON.stringify(path)}). On a page: ${call} with the URL of the folder, such as "/${folder}/"\n`,
  );
}

const require = createRequire(import.meta.url);

/** Returns the path of the native program. */
function program(): string {
  const platform = `@shelfish/${process.platform}-${process.arch}`;
  const name = process.platform === "win32" ? "shelfish.exe" : "shelfish";
  try {
    return join(dirname(require.resolve(`${platform}/package.json`)), name);
  } catch {
    // Only a release has packages with the program.
    const { optionalDependencies } = require("./package.json");
    const remedy = optionalDependencies
      ? "install shelfish with its optional dependencies"
      : "this package was built locally; in its repository, cargo install --path build-tools/shelfish";
    fail(
      `the package ${platform} with the program is not installed: ${remedy}`,
    );
  }
}

/** Runs the native program with the same input and output, and ends with its exit code. */
function run(args: string[]): void {
  const path = program();
  const child = spawn(path, args, { stdio: "inherit" });
  // A terminal sends its signals to the program too. The program decides when to end.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("error", (error) => fail(`${path}: ${error.message}`));
  child.on("exit", (code, signal) =>
    process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)),
  );
}

if (command === "sample") await copySample(rest);
else run(process.argv.slice(2));
