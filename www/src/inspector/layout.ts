/** Where the bytes of a database stand in a strip: its files one after another, to scale. */
import type { Shard } from "shelfish";

/** A file in a strip. */
export interface Box extends Shard {
  x: number;
  width: number;
}

/** A stretch of a file's bytes, `end` not among them. */
export interface Stretch {
  file: string;
  start: number;
  end: number;
}

/** Files side by side in a strip of so many pixels, with gaps between them as long as there is room for gaps. */
export function layout(shards: readonly Shard[], width: number): Box[] {
  const room = width / Math.max(1, shards.length);
  const gap = room > 12 ? 2 : room > 5 ? 1 : 0;
  const scale = (width - gap * (shards.length - 1)) / Math.max(1, shards.reduce((sum, { bytes }) => sum + bytes, 0));
  let x = 0;
  return shards.map((shard) => {
    const box = { ...shard, x, width: shard.bytes * scale };
    x += box.width + gap;
    return box;
  });
}

/** The pixels of a stretch, at least so many that it can be seen; `undefined` if the strip has no such file. */
export function place(boxes: readonly Box[], { file, start, end }: Stretch, least = 2): { x: number; width: number } | undefined {
  const box = boxes.find((box) => box.file === file);
  if (!box) return undefined;
  const scale = box.width / box.bytes;
  const width = Math.max(least, (end - start) * scale);
  const middle = box.x + ((start + end) / 2) * scale;
  const most = Math.max(box.x, box.x + box.width - width);
  return { x: Math.min(Math.max(box.x, middle - width / 2), most), width };
}

/** The surroundings of a stretch in its file: so many times as long, and inside of the file. */
export function surroundings(box: Shard, { file, start, end }: Stretch, times = 8): Stretch {
  const length = Math.min(box.bytes, (end - start) * times);
  const from = Math.min(Math.max(0, Math.round((start + end - length) / 2)), box.bytes - length);
  return { file, start: from, end: from + length };
}
