// Every snippet of the READMEs and of the guides is complete: it has correct types under `strict`, and runs as it is in Node.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { host } from "../browser/support/host.mjs";
import { PACKAGE, ROOT, SHELFISH } from "../browser/support/paths.mjs";
import { fencesOf, guides } from "./support/fences.mjs";

const READMES = [
  "README.md",
  "crate/js/README.md",
  "www/README.md",
  "static-shards/README.md",
];
const DATABASE = join(ROOT, "tests/data/database/db");
const BOOK = join(ROOT, "tests/data/book/db");
const TABLES = join(ROOT, "static-shards/endgames");

/** @type {{ name: string, file: string, code: string, isForPages: boolean }[]} */
const snippets = [...READMES, ...guides].flatMap((document) => {
  const scripts = fencesOf(document).filter(({ language }) =>
    ["js", "ts", "tsx"].includes(language),
  );
  return scripts.map(({ language, code }, n) => {
    const isForPages = language === "tsx" || /new Worker|serve\(/.test(code);
    const name = `${document.replaceAll("/", "-")}-${n + 1}`;
    return {
      name,
      file: `${name}.${language === "tsx" ? "tsx" : "ts"}`,
      code,
      isForPages,
    };
  });
});

/** @type {string} */
let root;
/** @type {Awaited<ReturnType<typeof host>>} */
let shelf;
/** @type {Awaited<ReturnType<typeof host>>} */
let book;
/** @type {Awaited<ReturnType<typeof host>>} */
let tables;
before(async () => {
  root = mkdtempSync(join(tmpdir(), "shelfish-readme-"));
  mkdirSync(join(root, "node_modules"));
  symlinkSync(PACKAGE, join(root, "node_modules/shelfish"), "junction");
  for (const name of ["@types", "csstype"])
    symlinkSync(
      join(ROOT, "tests/node_modules", name),
      join(root, "node_modules", name),
      "junction",
    );
  cpSync(DATABASE, join(root, "evals"), { recursive: true });
  [shelf, book, tables] = [
    await host(DATABASE),
    await host(BOOK),
    await host(TABLES),
  ];
  const stats = execFileSync(SHELFISH, ["stats", "-d", DATABASE, "--json"], {
    encoding: "utf8",
  });
  writeFileSync(join(root, "package.json"), '{ "type": "module" }');
  for (const { file, code } of snippets) {
    const local = code
      .replaceAll("https://example.org/evals/", shelf.url)
      .replaceAll("https://example.org/book/", book.url)
      .replaceAll("https://example.org/syzygy/", tables.url)
      .replaceAll("sha256-…", JSON.parse(stats).manifest.integrity);
    writeFileSync(join(root, file), `${local}\nexport {};\n`);
  }
});
after(async () => {
  await shelf.close();
  await book.close();
  await tables.close();
  rmSync(root, { recursive: true });
});

test("the snippets have valid types and compile for Node", () => {
  const words = [
    "--strict",
    "--target",
    "ES2022",
    "--lib",
    "ES2023,DOM,DOM.Iterable",
    "--types",
    "node",
    "--module",
    "NodeNext",
    "--jsx",
    "react-jsx",
  ];
  const tsc = join(ROOT, "tests/node_modules/typescript/bin/tsc");
  const names = snippets.map(({ file }) => file);
  try {
    execFileSync(process.execPath, [tsc, ...words, "--outDir", ".", ...names], {
      cwd: root,
      encoding: "utf8",
    });
  } catch (error) {
    assert.fail(/** @type {any} */ (error).stdout);
  }
});

for (const { name, code, isForPages } of snippets) {
  test(
    `${name} runs`,
    {
      skip:
        isForPages &&
        "for pages: tests/browser/{connect,docs,uci,react}.test.mjs",
    },
    async () => {
      const { stdout, stderr } = await promisify(execFile)(
        process.execPath,
        [`${name}.js`],
        { cwd: root, timeout: 60_000 },
      );
      assert.equal(stderr, "");
      // A score that a comment shows is the score of the sample.
      const [, score] =
        /console\.log.*\/\/.*?([+-]\d\.\d\d( \d+)?)/.exec(code) ?? [];
      if (score && code.includes("sample()"))
        assert.ok(stdout.startsWith(score), `${score}: ${stdout}`);
    },
  );
}

test("the evaluations that the snippet of own-database.md writes are a dump", () => {
  const summary = execFileSync(
    SHELFISH,
    ["build", "engine.jsonl", "-o", "own", "--json"],
    { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
  );
  assert.equal(JSON.parse(summary).positions, 5);
});
