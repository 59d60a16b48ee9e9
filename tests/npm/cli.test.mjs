// First steps with the packed package: the sample database, and the program of the platform's package.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { PACKAGE, ROOT, SHELFISH } from "../browser/support/paths.mjs";

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const { version } = JSON.parse(
  readFileSync(join(PACKAGE, "package.json"), "utf8"),
);

/** @type {string} */
let root;
before(() => void (root = mkdtempSync(join(tmpdir(), "shelfish-cli-"))));
after(() => rmSync(root, { recursive: true, force: true }));

const npm = (/** @type {string[]} */ words, /** @type {string} */ cwd) =>
  execFileSync("npm", words, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });

/** Packs a folder. Returns the path of the archive. */
const packed = (/** @type {string} */ folder) =>
  join(
    root,
    JSON.parse(
      npm(
        ["pack", "--json", "--loglevel=error", "--pack-destination", root],
        folder,
      ),
    )[0].filename,
  );

/** Creates a project with packed packages, and returns its folder. */
function project(/** @type {string} */ name, /** @type {string[]} */ archives) {
  const folder = join(root, name);
  mkdirSync(folder);
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name, private: true, type: "module" }),
  );
  npm(
    [
      "install",
      "--offline",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      ...archives,
    ],
    folder,
  );
  return folder;
}

/** Runs `shelfish` in a project, as `npx shelfish` does. npx itself would take `--version` and `--help`. */
const shelfish = (
  /** @type {string} */ cwd,
  /** @type {string[]} */ ...words
) =>
  spawnSync(join("node_modules", ".bin", "shelfish"), words, {
    cwd,
    encoding: "utf8",
  });

/** Makes the package of this platform, whose program is the tested program, from an archive as in a release. */
function platformPackage() {
  const { arch, platform } = process;
  const processor = arch === "x64" ? "x86_64" : "aarch64";
  const system = platform === "darwin" ? "apple-darwin" : "unknown-linux-musl";
  const target = `${processor}-${system}`;
  const name = `shelfish-${version}-${target}`;
  mkdirSync(join(root, name));
  for (const file of [SHELFISH, join(ROOT, "LICENSE")])
    cpSync(file, join(root, name, basename(file)));
  execFileSync("tar", ["-czf", `${name}.tar.gz`, name], { cwd: root });
  const words = ["xtask", "release", "platforms", root];
  words.push("--only", `${platform}-${arch}`);
  return (
    execFileSync("cargo", words, {
      cwd: ROOT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    })
      .trim()
      .split("\n")
      .at(-1) ?? ""
  );
}

test("npx shelfish copies the sample database and never overwrites files", () => {
  const folder = project("sample", [packed(PACKAGE)]);
  const copied = spawnSync(
    "npx",
    ["--no", "shelfish", "sample", "public/evals"],
    { cwd: folder, encoding: "utf8" },
  );
  assert.equal(copied.status, 0, copied.stderr);
  assert.match(
    copied.stdout,
    /public\/evals\/manifest\.json is the sample\. .*openDatabase/,
  );
  assert.deepEqual(
    readdirSync(join(folder, "public/evals")).sort(),
    readdirSync(join(PACKAGE, "sample")).sort(),
  );
  const files = { book: "manifest.json", endgames: "endgames.index" };
  for (const [kind, first] of Object.entries(files)) {
    const { status, stderr } = shelfish(folder, "sample", `--${kind}`);
    assert.equal(status, 0, stderr);
    assert.ok(readdirSync(join(folder, kind)).includes(first));
    assert.deepEqual(
      readdirSync(join(folder, kind)),
      readdirSync(join(PACKAGE, `sample-${kind}`)),
    );
  }
  assert.equal(
    shelfish(folder, "sample", "public/evals").status,
    0,
    "a second copy changes nothing",
  );
  writeFileSync(join(folder, "public/evals/own.txt"), "");
  const again = shelfish(folder, "sample", "public/evals");
  assert.deepEqual(
    [
      again.status,
      /contains other files, such as .*: name a new folder/.test(again.stderr),
    ],
    [1, true],
    again.stderr,
  );
  const missing = shelfish(folder, "build", "--help");
  assert.equal(missing.status, 1);
  assert.match(
    missing.stderr,
    /the package @shelfish\/\w+-\w+ with the program is not installed: .*cargo install --path build-tools\/shelfish/,
  );
});

test("npx shelfish runs the program of the platform's package, with its output and exit codes", () => {
  const folder = project("program", [
    packed(PACKAGE),
    packed(platformPackage()),
  ]);
  assert.equal(shelfish(folder, "--version").stdout, `shelfish ${version}\n`);
  assert.equal(shelfish(folder, "sample").status, 0);
  const found = shelfish(folder, "lookup", "-d", "evals", "--json", START);
  assert.equal(
    found.stdout,
    execFileSync(
      SHELFISH,
      ["lookup", "-d", join(folder, "evals"), "--json", START],
      { encoding: "utf8" },
    ),
  );
  const wrong = shelfish(folder, "no-such-command");
  assert.deepEqual(
    [wrong.status, /unrecognized subcommand/.test(wrong.stderr)],
    [2, true],
    wrong.stderr,
  );
});

test("the samples are small, and the entries open them", async () => {
  const at = (/** @type {string} */ name) => import(join(PACKAGE, name));
  const { openBook, openDatabase } = await at("node.js");
  const { openEndgames } = await at("endgames-node.js");
  const size = (/** @type {string} */ name) =>
    readdirSync(join(PACKAGE, name)).reduce(
      (sum, file) => sum + statSync(join(PACKAGE, name, file)).size,
      0,
    );
  assert.ok(
    size("sample") + size("sample-book") + size("sample-endgames") < 320_000,
  );
  const book = await openBook(join(PACKAGE, "sample-book"));
  const tables = await openEndgames(join(PACKAGE, "sample-endgames"));
  const database = await openDatabase(join(PACKAGE, "sample"));
  const { moves } = await book.explore(START, { database });
  assert.ok(moves[0].evaluation.depth > 10);
  assert.equal(
    (await tables.probe("8/8/8/4k3/8/8/8/4KQ2 w - -")).outcome,
    "win",
  );
  for (const each of [book, tables, database]) each.close();
});
