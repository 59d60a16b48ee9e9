/** Reads sealed frames of columns: pages and blocks as they are stored (FORMAT.md, "Sealed frames of columns"). */
import { Decompress } from "fzstd";

/** A column of a frame. */
export interface Column {
  bytes: Uint8Array;
  /** Size of the column's zstd blocks, with their headers; `undefined` if a zstd block also contains other columns. */
  stored: number | undefined;
}

export interface Frame {
  /** Size in the file, including the seal. */
  stored: number;
  content: number;
  columns: Column[];
}

const MAX_CONTENT = 256 * 1024;

/** Decompresses a frame. The package has checked the bytes before. */
export function openFrame(bytes: Uint8Array): Frame {
  const blocks: { stored: number; content: number }[] = [];
  const content = new Uint8Array(MAX_CONTENT);
  let length = 0;
  let made = 0;
  const decoder = new Decompress((chunk) => {
    content.set(chunk, length);
    length += chunk.length;
    made += chunk.length;
  });
  // Decompresses one zstd block at a time to measure each block.
  const header = headerLength(bytes);
  decoder.push(bytes.subarray(0, header));
  for (let at = header; ;) {
    const head =
      (bytes[at] ?? 0) |
      ((bytes[at + 1] ?? 0) << 8) |
      ((bytes[at + 2] ?? 0) << 16);
    const isLast = (head & 1) === 1;
    const isRun = ((head >> 1) & 3) === 1;
    const stored = 3 + (isRun ? 1 : head >> 3);
    if (at + stored > bytes.length) throw new Error("a frame ends too early");
    made = 0;
    decoder.push(bytes.subarray(at, at + stored), isLast);
    blocks.push({ stored, content: made });
    at += stored;
    if (isLast) break;
  }
  return {
    stored: bytes.length,
    content: length,
    columns: columns(content.subarray(0, length), blocks),
  };
}

/** Returns the size of a zstd frame's header (RFC 8878, 3.1.1.1). */
function headerLength(bytes: Uint8Array): number {
  const descriptor = bytes[4] ?? 0;
  const isSingle = (descriptor & 0x20) !== 0;
  const size = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  return 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]! + size;
}

function columns(
  content: Uint8Array,
  blocks: readonly { stored: number; content: number }[],
): Column[] {
  const numbers = new Reader(content);
  const lengths = Array.from({ length: numbers.leb128() }, () =>
    numbers.leb128(),
  );
  // Start of each zstd block in the content, with its offset in the file.
  const starts = new Map([[0, 0]]);
  let [at, stored] = [0, 0];
  for (const block of blocks) {
    at += block.content;
    stored += block.stored;
    starts.set(at, stored);
  }
  let start = numbers.at;
  return lengths.map((length) => {
    const [from, to] = [starts.get(start), starts.get(start + length)];
    const bytes = content.subarray(start, start + length);
    start += length;
    return {
      bytes,
      stored:
        length === 0
          ? 0
          : from === undefined || to === undefined
            ? undefined
            : to - from,
    };
  });
}

/** Reads bytes and numbers in sequence. */
export class Reader {
  at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  byte(): number {
    return this.bytes[this.at++] ?? 0;
  }

  leb128(): number {
    let [value, scale] = [0, 1];
    for (let read = 0; read < 8; read++) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) break;
      scale *= 128;
    }
    return value;
  }
}

/** Reads bits, the least significant bit first. */
export class BitReader {
  #at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  bits(count: number): number {
    let value = 0;
    for (let bit = 0; bit < count; bit++, this.#at++) {
      value +=
        (((this.bytes[this.#at >> 3] ?? 0) >> (this.#at & 7)) & 1) * 2 ** bit;
    }
    return value;
  }
}

/** Decodes a number in octaves with parameters `d` and `l`, from its symbol and its low bits. */
export function octave(
  symbol: number,
  low: BitReader,
  d: number,
  l: number,
): number {
  if (symbol < 2 ** d) return symbol;
  const rest = symbol - 2 ** d;
  const bits = d + (rest >> l) - l;
  return (2 ** l + (rest & (2 ** l - 1))) * 2 ** bits + low.bits(bits);
}
