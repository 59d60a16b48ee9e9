/** Computes the layout of a strip: the files of a database next to each other, to scale. */
import type { Shard } from "shelfish";

export interface Box extends Shard {
  x: number;
  width: number;
}

/** A byte range of a file; `end` is exclusive. */
export interface ByteRange {
  file: string;
  start: number;
  end: number;
}

/** Places files in a strip of `width` pixels, with gaps if there is room. */
export function layout(shards: readonly Shard[], width: number): Box[] {
  const room = width / Math.max(1, shards.length);
  const gap = room > 12 ? 2 : room > 5 ? 1 : 0;
  const scale =
    (width - gap * (shards.length - 1)) /
    Math.max(
      1,
      shards.reduce((sum, { bytes }) => sum + bytes, 0),
    );
  let x = 0;
  return shards.map((shard) => {
    const box = { ...shard, x, width: shard.bytes * scale };
    x += box.width + gap;
    return box;
  });
}

/** Returns the pixels of a byte range, with a minimum width; `undefined` if the strip does not contain the file. */
export function pixelsOf(
  boxes: readonly Box[],
  { file, start, end }: ByteRange,
  least = 2,
): { x: number; width: number } | undefined {
  const box = boxes.find((box) => box.file === file);
  if (!box) return undefined;
  const scale = box.width / box.bytes;
  const width = Math.max(least, (end - start) * scale);
  const middle = box.x + ((start + end) / 2) * scale;
  const most = Math.max(box.x, box.x + box.width - width);
  return { x: Math.min(Math.max(box.x, middle - width / 2), most), width };
}

/** Returns the range around a byte range, `times` as long, inside the file. */
export function surroundings(
  box: Shard,
  { file, start, end }: ByteRange,
  times = 8,
): ByteRange {
  const length = Math.min(box.bytes, (end - start) * times);
  const from = Math.min(
    Math.max(0, Math.round((start + end - length) / 2)),
    box.bytes - length,
  );
  return { file, start: from, end: from + length };
}
