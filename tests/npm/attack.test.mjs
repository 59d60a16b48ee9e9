// Hostile blocks and manifests with valid seals: each is answered or refused, and the module still works afterwards.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { host } from "../browser/support/host.mjs";
import { ATTACK, PACKAGE } from "../browser/support/paths.mjs";
import { attacks } from "./support/attacks.mjs";

/** @type {typeof import("shelfish")} */
const { openBook, openDatabase, ShelfishError } = await import(
  pathToFileURL(join(PACKAGE, "index.js")).href
);
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

/** @type {string} */
let dir;
/** @type {Awaited<ReturnType<typeof host>>} */
let shelf;

before(async () => {
  dir = mkdtempSync(join(tmpdir(), "shelfish-attack-"));
  execFileSync(ATTACK, ["write", dir]);
  shelf = await host(dir);
});
after(async () => {
  await shelf.close();
  rmSync(dir, { recursive: true });
});

/** Checks that the module still works: an honest database answers. */
async function checkModule() {
  const database = await openDatabase(
    new URL("honest/manifest.json", shelf.url),
  );
  assert.equal((await database.lookup(START))?.pvs[0]?.score, "+5.20");
  database.close();
}

/** Returns the hash of the manifest of a database of the attacks. */
const integrityOf = (/** @type {string} */ name) =>
  `sha256-${createHash("sha256")
    .update(readFileSync(join(dir, name, "manifest.json")))
    .digest("base64")}`;

test("a pinned database answers with no forged evaluation, and a pinned book with no forged count", async () => {
  const at = (/** @type {string} */ name) =>
    new URL(`${name}/manifest.json`, shelf.url);
  const trusting = await openDatabase(at("forged"));
  assert.notEqual(
    (await trusting.lookup(START))?.pvs[0]?.score,
    "+5.20",
    "the checksums of the forged database are valid",
  );
  const integrity = integrityOf("honest");
  const pinned = await openDatabase(at("forged"), { integrity });
  await assert.rejects(pinned.lookup(START), {
    code: "integrity",
    message: /not the bytes of this database/,
  });
  const honest = await openDatabase(at("honest"), { integrity });
  assert.equal((await honest.lookup(START))?.pvs[0]?.score, "+5.20");
  const book = await openBook(at("forged-book"), {
    integrity: integrityOf("honest-book"),
  });
  await assert.rejects(book.moves(START), { code: "integrity" });
  for (const open of [trusting, pinned, honest, book]) open.close();
});

test("every hostile block with a valid checksum has the expected outcome", async () => {
  const { blocks } = attacks(dir);
  assert.ok(
    blocks.some(({ isAnswered }) => isAnswered) &&
      blocks.some(({ isAnswered }) => !isAnswered),
  );
  for (const { name, fen, isAnswered, url } of blocks) {
    const database = await openDatabase(new URL(url, shelf.url));
    const answer = await database
      .lookup(fen, { san: true })
      .catch((error) => error);
    if (isAnswered) assert.equal(answer.fen, fen, name);
    else
      assert.ok(
        answer instanceof ShelfishError && answer.code === "corrupt",
        `${name}: ${answer}`,
      );
    database.close();
  }
  await checkModule();
});

test("every hostile block of moves with a valid checksum has the expected outcome", async () => {
  const all = attacks(dir).books;
  assert.ok(
    all.some(({ isAnswered }) => isAnswered) &&
      all.some(({ isAnswered }) => !isAnswered),
  );
  for (const { name, fen, isAnswered, url } of all) {
    const book = await openBook(new URL(url, shelf.url));
    const answer = await book.moves(fen).catch((error) => error);
    if (isAnswered)
      assert.ok(answer.white + answer.draws + answer.black > 0, name);
    else
      assert.ok(
        answer instanceof ShelfishError && answer.code === "corrupt",
        `${name}: ${answer}`,
      );
    book.close();
  }
});

test("a hostile manifest with a valid checksum is opened or an error", async () => {
  for (const { name, url } of attacks(dir).manifests) {
    const database = await openDatabase(new URL(url, shelf.url)).catch(
      (error) => error,
    );
    if (database instanceof Error)
      assert.ok(
        database instanceof ShelfishError && database.code === "manifest",
        `${name}: ${database}`,
      );
    else database.close();
  }
  await checkModule();
});
