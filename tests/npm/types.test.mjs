// The types of the package: misuse does not compile, and they need neither a recent TypeScript nor the types of browsers.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PACKAGE, ROOT } from "../browser/support/paths.mjs";

const MODULES = join(ROOT, "tests/node_modules");
/** The compilers by name, the oldest first. */
const COMPILERS = { oldest: "typescript-oldest", current: "typescript" };

/** Each line after `@ts-expect-error` is a mistake. */
const STRICT = `
import { openBook, openDatabase, type LookupOptions } from "shelfish";
import { openEngine, openEvaluator } from "shelfish/engine";
import * as engineEntry from "shelfish/engine";
import { lichessFetch } from "shelfish/lichess";
import { connect } from "shelfish/worker";

const fen = "8/8/8/4k3/8/4K3/8/8 w - -";
const database = await openDatabase("https://example.org/evals/");
const book = await openBook("https://example.org/book/");
const engine = await openEngine();
const evaluator = openEvaluator({ database, engine });
const remote = await connect({} as MessagePort, "https://example.org/evals/");

// @ts-expect-error
await database.lookup(fen, { san: true, minDept: 20 });
// @ts-expect-error
await database.lookupMany([fen], { san: true, minDept: 20 });
// @ts-expect-error
await database.lookup(fen, { san: "yes" });
// @ts-expect-error
await database.lookup();
// @ts-expect-error
await remote.lookup(fen, { san: true, minDept: 20 });
// @ts-expect-error
await book.moves(fen, { san: true });
// @ts-expect-error
await engine.analyse(fen, { dept: 3 });
// @ts-expect-error
await evaluator.evaluate(fen, { san: true, minDept: 3 });
// @ts-expect-error
lichessFetch({ databse: "https://example.org/evals/" });
// @ts-expect-error
lichessFetch({ database: book });
const own: typeof fetch = lichessFetch({ database, book });
own("https://example.org/").then(({ status }) => status);
// @ts-expect-error
await openDatabase("https://example.org/evals/", { cache: true });
// @ts-expect-error
engineEntry.workers;

// SAN is known to exist if it is requested.
const texts: (string[] | undefined)[] = [
  (await database.lookup(fen, { san: true }))?.pvs[0].san satisfies string[] | undefined,
  (await remote.lookup(fen, { san: true, minPvs: 2 }))?.pvs[0].san satisfies string[] | undefined,
  (await engine.analyse(fen, { depth: 3, san: true })).pvs[0].san satisfies string[],
  (await evaluator.evaluate(fen, { san: true, minPvs: 2 }))?.pvs[0].san satisfies string[] | undefined,
];
const [first] = await database.lookupMany([fen], { san: true });
if (first && "pvs" in first) first.pvs[0].san satisfies string[];
// @ts-expect-error
(await database.lookup(fen))!.pvs[0].san.length;
// @ts-expect-error
(await evaluator.evaluate(fen))!.pvs[0].san.length;
// Options may be a variable.
const options: LookupOptions = { minDepth: 20 };
await database.lookup(fen, options);
const wantsSan: boolean = texts.length > 3;
(await database.lookup(fen, { san: wantsSan }))?.pvs[0].san satisfies string[] | undefined;
export {};
`;

/** Every entry that works in Node. */
const NODE = `
import { openBook, openDatabase, sample, scoreText, ShelfishError, type OpenOptions } from "shelfish";
import { openDatabase as openInline } from "shelfish/inline";
import { openAnalysis } from "shelfish/analysis";
import { openEndgames } from "shelfish/endgames";
import { openEngine, openEvaluator, type EngineWorker } from "shelfish/engine";
import { lichessFetch, openingNames } from "shelfish/lichess";
import { connect, serve, type Port } from "shelfish/worker";
import "shelfish/engine-worker.js";
export const all = [openDatabase, ShelfishError, sample, openInline, openBook, openAnalysis, openEngine];
export const rest = [openEndgames, openEvaluator, lichessFetch, openingNames, scoreText, connect, serve];
export type Types = [OpenOptions, EngineWorker, Port];
`;

const REACT = `
import { useRef } from "react";
import { type ShelfishGame, type ShelfishGameAttributes } from "shelfish/elements";

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "shelfish-game": ShelfishGameAttributes;
    }
  }
}

export function Game({ pgn }: { pgn: string }) {
  const game = useRef<ShelfishGame>(null);
  return (
    <shelfish-game ref={game} key="game" id="game" className="wide" style={{ maxWidth: "40rem", ["--shelfish-accent" as string]: "red" }}
      aria-label="A game" data-round={3} title="A game" onClick={() => {}} pgn={pgn} ply={3} orientation="black" theme="dark" suppressHydrationWarning>
      1. e4
    </shelfish-game>
  );
}
// @ts-expect-error
export const wrong = <shelfish-game png="1. e4" />;
// @ts-expect-error
export const side = <shelfish-game orientation="green" />;
`;

let root = "";
before(() => {
  root = mkdtempSync(join(tmpdir(), "shelfish-types-"));
  mkdirSync(join(root, "node_modules"));
  symlinkSync(PACKAGE, join(root, "node_modules/shelfish"), "junction");
  symlinkSync(
    join(MODULES, "@types"),
    join(root, "node_modules/@types"),
    "junction",
  );
  symlinkSync(
    join(MODULES, "csstype"),
    join(root, "node_modules/csstype"),
    "junction",
  );
  symlinkSync(
    join(MODULES, "undici-types"),
    join(root, "node_modules/undici-types"),
    "junction",
  );
  writeFileSync(join(root, "package.json"), '{ "type": "module" }');
  for (const [name, text] of Object.entries({
    "strict.ts": STRICT,
    "node.ts": NODE,
    "react.tsx": REACT,
  }))
    writeFileSync(join(root, name), text);
});
after(() => rmSync(root, { recursive: true }));

/**
 * Returns the errors of a compiler.
 * @param {string} compiler
 * @param {string[]} words
 */
function errors(compiler, ...words) {
  const common = [
    "--noEmit",
    "--strict",
    "--exactOptionalPropertyTypes",
    "--target",
    "ES2022",
    "--module",
    "NodeNext",
  ];
  try {
    return execFileSync(
      process.execPath,
      [join(MODULES, compiler, "bin/tsc"), ...common, ...words],
      { cwd: root, encoding: "utf8" },
    );
  } catch (error) {
    return String(/** @type {any} */ (error).stdout);
  }
}

for (const [name, compiler] of Object.entries(COMPILERS)) {
  const browser = ["--lib", "ES2022,DOM,DOM.Iterable", "--skipLibCheck"];

  test(`options and constructors are strict with the ${name} TypeScript`, () => {
    assert.equal(
      errors(compiler, ...browser, "--types", "node", "strict.ts"),
      "",
    );
  });

  test(`the types compile in Node without the types of browsers, with the ${name} TypeScript`, () => {
    // The types of Node are not the subject: the oldest compiler cannot read all of them.
    const own = errors(
      compiler,
      "--lib",
      "ES2022",
      "--types",
      "node",
      "node.ts",
    )
      .split("\n")
      .filter((line) => /^(\S*shelfish|node\.ts|\.\.\/.*\/pkg)/.test(line));
    assert.deepEqual(own, []);
  });

  test(`React 19 accepts the element and its attributes with the ${name} TypeScript`, () => {
    assert.equal(
      errors(
        compiler,
        ...browser,
        "--types",
        "react",
        "--jsx",
        "react-jsx",
        "react.tsx",
      ),
      "",
    );
  });
}

const MAIN = [
  "Book",
  "Database",
  "ShelfishError",
  "openBook",
  "openDatabase",
  "sample",
  "scoreAfter",
  "scoreText",
  "winningChances",
];
const ENGINE = [
  "Engine",
  "Evaluator",
  "ShelfishError",
  "UciEngine",
  "engineName",
  "openEngine",
  "openEvaluator",
  "openUciEngine",
];

test("every entry exports only documented names", async () => {
  const names = async (/** @type {string} */ file) =>
    Object.keys(await import(join(PACKAGE, file))).sort();
  /** @type {Record<string, string[]>} */
  const expected = {
    "index.js": MAIN,
    "inline.js": MAIN,
    "node.js": MAIN,
    "analysis.js": ["ShelfishError", "openAnalysis"],
    "engine.js": ENGINE,
    "engine-inline.js": ENGINE,
    "worker.js": ["ShelfishError", "connect", "serve"],
    "lichess.js": ["lichessFetch", "openingNames"],
    "endgames.js": ["Endgames", "ShelfishError", "openEndgames"],
    "elements.js": ["ShelfishEval", "ShelfishExplorer", "ShelfishGame"],
  };
  for (const [file, list] of Object.entries(expected))
    assert.deepEqual(await names(file), list.sort(), file);
});
