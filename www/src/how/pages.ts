/** Reads the index of a database: the pages in its manifest, and the blocks that a page lists. */
import { BitReader, octave, openFrame, Reader } from "./frame";

/** A byte range of a file, with the first key that it may contain. */
export interface IndexedRange {
  file: string;
  start: number;
  end: number;
  separator: number[];
}

/** A page of the index. */
export interface IndexPage extends IndexedRange {
  /** The page's bytes, if the manifest contains them. */
  inline: Uint8Array | undefined;
  /** Index of the page's shard. */
  shard: number;
}

interface ManifestFile {
  shards: {
    file: string;
    bytes: number;
    positions: number;
    pages: [string, number, string][];
    carried?: string;
  }[];
}

/** Returns the pages of a manifest in the order of their keys. */
export function pagesOf(manifest: Uint8Array): IndexPage[] {
  const { shards } = JSON.parse(
    new TextDecoder().decode(manifest),
  ) as ManifestFile;
  return shards.flatMap(({ file, bytes, pages, carried }, shard) => {
    const inline =
      carried === undefined
        ? undefined
        : Uint8Array.from(atob(carried), (letter) => letter.charCodeAt(0));
    const first = bytes - pages.reduce((sum, [, length]) => sum + length, 0);
    let start = first;
    return pages.map(([separator, length]) => {
      const place = {
        file,
        start,
        end: start + length,
        separator: (separator.match(/../g) ?? []).map((byte) =>
          Number.parseInt(byte, 16),
        ),
        shard,
      };
      start += length;
      return {
        ...place,
        inline: inline?.subarray(place.start - first, place.end - first),
      };
    });
  });
}

/** Returns the name of the shard whose content has this hash. */
function shardName(hash: Uint8Array): string {
  return `${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}.silo`;
}

/** Returns the blocks that a page lists, in the order of their keys. */
export function blocksOf(file: string, page: Uint8Array): IndexedRange[] {
  const [shared, lengths, rest, sizes, low, counts, numbers, gaps, files] =
    openFrame(page).columns.map(({ bytes }) => bytes);
  if (
    !shared ||
    !lengths ||
    !rest ||
    !sizes ||
    !low ||
    !counts ||
    !numbers ||
    !gaps ||
    !files
  )
    throw new Error("a page has ten columns");
  const [symbols, bits] = [new Reader(sizes), new BitReader(low)];
  const runs = [counts, numbers, gaps].map((column) => new Reader(column));
  const names = [
    file,
    ...Array.from({ length: files.length / 16 }, (_, n) =>
      shardName(files.subarray(16 * n, 16 * n + 16)),
    ),
  ];
  // The end of the last run in each file.
  const ends = names.map(() => 0);
  let [left, run] = [0, 0];
  let at = 0;
  let separator: number[] = [];
  return Array.from(shared, (common, n) => {
    if (left === 0) {
      const [blocks = 0, number = 0, gap = 0] = runs.map((column) =>
        column.leb128(),
      );
      [left, run] = [blocks, number];
      ends[run] = (ends[run] ?? 0) + gap;
    }
    left -= 1;
    const start = ends[run] ?? 0;
    const length = lengths[n] ?? 0;
    separator = [
      ...separator.slice(0, common),
      ...rest.subarray(at, at + length),
    ];
    at += length;
    const end = start + octave(symbols.byte(), bits, 5, 3);
    ends[run] = end;
    return { file: names[run] ?? file, start, end, separator };
  });
}

/** Returns the index of each position's parent in a block, or −1 for a root (FORMAT.md, "Blocks: positions"). */
export function parentsOf(links: Uint8Array): number[] {
  const path: number[] = [];
  return Array.from(links, (link, n) => {
    const parent = link === 0 ? -1 : (path[path.length - link] ?? -1);
    path.length = link === 0 ? 0 : path.length - link + 1;
    path.push(n);
    return parent;
  });
}
