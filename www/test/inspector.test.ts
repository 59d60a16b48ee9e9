import type { FetchedRange, Manifest } from "shelfish";
import { describe, expect, it } from "vitest";
import { size } from "../src/text/units";
import { layout, pixelsOf, surroundings } from "../src/inspector/layout";
import { Traffic } from "../src/inspector/traffic";

const shards = [
  { file: "a.silo", bytes: 600, pageBytes: 60, positions: 30 },
  { file: "b.silo", bytes: 400, pageBytes: 40, positions: 20 },
];
const manifest: Manifest = {
  format: 2,
  positions: 50,
  evaluations: 50,
  pvs: 50,
  bytes: 1000,
  shards,
  info: {},
};

describe("the strip of files", () => {
  it("shows every file to scale and fills its width", () => {
    const boxes = layout(shards, 102);
    expect(boxes.map(({ x, width }) => [x, width])).toEqual([
      [0, 60],
      [62, 40],
    ]);
  });

  it("has no gaps if files are hardly wider than gaps", () => {
    const many = Array.from({ length: 200 }, (_, n) => ({
      ...shards[0]!,
      file: `${n}.silo`,
    }));
    const last = layout(many, 300).at(-1)!;
    expect(last.x + last.width).toBeCloseTo(300);
    expect(last.width).toBeCloseTo(1.5);
  });

  it("shows a range at its position, with a minimum width, inside its file", () => {
    const boxes = layout(shards, 102);
    expect(pixelsOf(boxes, { file: "b.silo", start: 100, end: 200 })).toEqual({
      x: 72,
      width: 10,
    });
    expect(pixelsOf(boxes, { file: "a.silo", start: 0, end: 1 }, 4)).toEqual({
      x: 0,
      width: 4,
    });
    expect(
      pixelsOf(boxes, { file: "b.silo", start: 399, end: 400 }, 4),
    ).toEqual({ x: 98, width: 4 });
    expect(
      pixelsOf(boxes, { file: "c.silo", start: 0, end: 1 }),
    ).toBeUndefined();
  });

  it("enlarges the surroundings of a range inside its file", () => {
    const file = "a.silo";
    expect(surroundings(shards[0]!, { file, start: 300, end: 310 })).toEqual({
      file,
      start: 265,
      end: 345,
    });
    expect(surroundings(shards[0]!, { file, start: 0, end: 10 })).toEqual({
      file,
      start: 0,
      end: 80,
    });
    expect(surroundings(shards[0]!, { file, start: 590, end: 600 })).toEqual({
      file,
      start: 520,
      end: 600,
    });
    expect(surroundings(shards[0]!, { file, start: 0, end: 500 })).toEqual({
      file,
      start: 0,
      end: 600,
    });
  });
});

describe("a read", () => {
  const request = (request: Partial<FetchedRange>): FetchedRange => ({
    ...{
      url: "https://example.org/db/a.silo",
      start: 0,
      end: 50,
      bytes: 50,
      parts: 1,
      milliseconds: 3,
      from: "network",
      ok: true,
    },
    ...request,
  });

  it("from the host is added to the totals", () => {
    const traffic = new Traffic();
    traffic.add(
      request({
        url: "https://example.org/db/manifest.json",
        end: 30,
        bytes: 30,
        parts: 0,
      }),
    );
    traffic.add(request({}));
    traffic.add(request({ start: 50, end: 70, bytes: 20, from: "indexedDB" }));
    traffic.add(request({ start: 70, end: 90, bytes: 0, ok: false }));
    expect([traffic.requests, traffic.bytes, traffic.ranges.size]).toEqual([
      3, 80, 4,
    ]);
  });

  it("is classified as manifest, pages at the end of a file, or blocks", () => {
    const traffic = new Traffic();
    traffic.manifest = manifest;
    const kinds = [
      request({ url: "https://example.org/db/manifest.json", parts: 0 }),
      request({ start: 540, end: 600 }),
      request({ start: 490, end: 540 }),
    ].map((each) => traffic.add(each).kind);
    expect(kinds).toEqual(["manifest", "page", "block"]);
  });

  it("can be the largest block that was read alone", () => {
    const traffic = new Traffic();
    traffic.manifest = manifest;
    traffic.add(request({ start: 0, end: 20, bytes: 20 }));
    traffic.add(request({ start: 20, end: 120, bytes: 100, parts: 3 }));
    traffic.add(request({ start: 540, end: 600, bytes: 60 }));
    traffic.add(
      request({ start: 200, end: 240, bytes: 40, from: "indexedDB" }),
    );
    expect(traffic.largest?.start).toBe(200);
  });

  it("that failed does not hide an earlier successful read", () => {
    const traffic = new Traffic();
    traffic.add(request({}));
    traffic.add(request({ bytes: 0, ok: false }));
    expect([...traffic.ranges.values()].map(({ ok }) => ok)).toEqual([true]);
  });

  it("is kept within bounds", () => {
    const traffic = new Traffic();
    for (let start = 0; start < 30_000; start++)
      traffic.add(request({ start, end: start + 1 }));
    expect([
      traffic.last.length,
      traffic.ranges.size,
      traffic.last[0]?.number,
    ]).toEqual([50, 20_000, 30_000]);
  });
});

it("sizes that round to a thousand use the next unit", () => {
  expect(
    [999, 1000, 99_940, 99_960, 999_499, 999_500, 999_499_999, 999_500_000].map(
      size,
    ),
  ).toEqual([
    "999 B",
    "1.0 kB",
    "99.9 kB",
    "100 kB",
    "999 kB",
    "1.0 MB",
    "999 MB",
    "1.0 GB",
  ]);
});
