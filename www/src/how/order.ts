/** Shows why keys begin with pawns: compares the order of a game's positions by key with an order by hash. */
import { plural, size } from "../text/units";
import { make } from "../shell/dom";
import { keyOf } from "./key";
import { coordinate, picture, svg } from "./svg";
import type { TracedDatabase } from "./trace";

/** Returns a hash of the key as a number from 0 to 1 (FNV-1a). */
function scattered(bytes: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  // The last bits are mixed best.
  hash ^= hash >>> 15;
  return (Math.imul(hash, 0x2c1b3c6d) >>> 0) / 2 ** 32;
}

/** Draws the positions of a game, and says how many blocks contain them. */
export async function show(
  host: HTMLElement,
  traced: TracedDatabase,
  fens: readonly string[],
  name: string,
): Promise<void> {
  const { database } = traced;
  if (!database) return;
  const { ranges, requests, milliseconds } = await traced.locate(fens);
  const { shards, bytes } = database.manifest;
  const before = new Map<string, number>();
  shards.reduce(
    (sum, shard) => (before.set(shard.file, sum), sum + shard.bytes),
    0,
  );
  const at = ranges.map(
    ({ file, start, end }) =>
      ((before.get(file) ?? 0) + (start + end) / 2) / bytes,
  );
  const touched = new Map(
    ranges.map((range) => [`${range.file}:${range.start}`, range]),
  );
  const average =
    [...touched.values()].reduce(
      (sum, { start, end }) => sum + end - start,
      0,
    ) / touched.size;
  const blocks = Math.max(1, Math.round(bytes / average));
  const other = fens.map((fen) => scattered(keyOf(fen).bytes));
  const would = new Set(other.map((place) => Math.floor(place * blocks))).size;
  const fetched = requests.reduce((sum, request) => sum + request.bytes, 0);
  const cost =
    requests.length === 0
      ? "all of them in memory"
      : `${plural(requests.length, "request")}, ${size(fetched)}, ${Math.round(milliseconds)} ms`;
  host.replaceChildren(
    chart(at, `${name} in the order of keys`, "ours"),
    make(
      "p",
      { className: "caption" },
      make("strong", {}, plural(touched.size, "block")),
      ` for ${plural(fens.length, "position")} in the order of keys: ${cost}.`,
    ),
    chart(other, `${name} in an order by hash`, "by-hash"),
    make(
      "p",
      { className: "caption" },
      make("strong", {}, plural(would, "block")),
      ", if a hash decided the order of the same positions. This is computed here, not read.",
    ),
  );
}

/** Draws the place of each ply in the database, the beginning of the database at the top. */
function chart(
  places: readonly number[],
  label: string,
  className: string,
): SVGElement {
  const [width, height] = [720, 150];
  const x = (ply: number) =>
    8 + (ply * (width - 16)) / Math.max(1, places.length - 1);
  const y = (place: number) => 6 + place * (height - 12);
  const path = places
    .map(
      (place, ply) =>
        `${ply === 0 ? "M" : "L"}${coordinate(x(ply))} ${coordinate(y(place))}`,
    )
    .join("");
  const dots = places.map((place, ply) =>
    svg("circle", { cx: coordinate(x(ply)), cy: coordinate(y(place)), r: 3 }),
  );
  const frame = svg("rect", {
    x: 0.5,
    y: 0.5,
    width: width - 1,
    height: height - 1,
    rx: 6,
    class: "files",
  });
  const element = picture(
    width,
    height,
    label,
    frame,
    svg("path", { d: path, class: "course" }),
    ...dots,
  );
  element.classList.add(className);
  return element;
}
