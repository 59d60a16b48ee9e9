// The cost of a pinned manifest: the time to decode a block, whose hash is compared before, against the same database without a pin.
// Files are read from the disk once, so that requests take no time.
//
//     SHELFISH_PACKAGE=target/npm/package node tests/npm/bench-pinned.mjs DIRECTORY FENS
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PACKAGE } from "../browser/support/paths.mjs";

/** @type {typeof import("shelfish")} */
const { openDatabase } = await import(
  pathToFileURL(join(PACKAGE, "index.js")).href
);

const ROUNDS = 9;
/** Room for a list of hashes, but not for a decoded block. */
const MEMORY = 24 << 10;

const [directory = "", list = ""] = process.argv.slice(2);
const fens = readFileSync(list, "utf8").split("\n").filter(Boolean);
const files = new Map(
  readdirSync(directory).map((name) => [
    name,
    readFileSync(join(directory, name)),
  ]),
);
const manifest = files.get("manifest.json");
if (!manifest) throw new Error(`${directory} has no manifest.json`);
const integrity = `sha256-${createHash("sha256").update(manifest).digest("base64")}`;

const fetch = (
  /** @type {string} */ url,
  /** @type {RequestInit} */ { headers },
) => {
  const bytes = files.get(new URL(url).pathname.slice(1)) ?? Buffer.alloc(0);
  const range = /bytes=(\d+)-(\d+)/.exec(
    new Headers(headers).get("range") ?? "",
  );
  if (!range) return new Response(bytes);
  const [start, end] = [Number(range[1]), Number(range[2]) + 1];
  return new Response(bytes.subarray(start, end), {
    status: 206,
    headers: { "Content-Range": `bytes ${start}-${end - 1}/${bytes.length}` },
  });
};

async function time(/** @type {string | undefined} */ pin) {
  const database = await openDatabase("https://localhost/manifest.json", {
    fetch,
    memoryBytes: MEMORY,
    ...(pin && { integrity: pin }),
  });
  await database.lookup(fens[0] ?? "");
  const started = performance.now();
  for (const fen of fens) await database.lookup(fen);
  const milliseconds = performance.now() - started;
  database.close();
  return milliseconds / fens.length;
}

const median = (/** @type {number[]} */ values) =>
  values.sort((a, b) => a - b)[values.length >> 1] ?? NaN;
/** @type {[number[], number[]]} */
const times = [[], []];
for (let n = 0; n < ROUNDS; n += 1) {
  times[0].push(await time(undefined));
  times[1].push(await time(integrity));
}
const [plain, pinned] = [median(times[0]), median(times[1])];
console.log(
  `${fens.length} lookups, each decodes a block: ${plain.toFixed(3)} ms without a pin, ${pinned.toFixed(3)} ms with a pin, ratio ${(pinned / plain).toFixed(3)}`,
);
