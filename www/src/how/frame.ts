/** Sealed frames of columns: pages and blocks as they are stored (FORMAT.md, "Sealed frames of columns"). */
import { Decompress } from "fzstd";

/** A column, and what it takes in the file. */
export interface Column {
  bytes: Uint8Array;
  /** Bytes of the zstd blocks that hold it, with their headers; `undefined` if a zstd block holds parts of several. */
  stored: number | undefined;
}

export interface Frame {
  /** Bytes in the file, seal included. */
  stored: number;
  /** Bytes of the content. */
  content: number;
  columns: Column[];
}

/** The most content that a frame may have. */
const MAX_CONTENT = 256 * 1024;

/** Opens a frame. What it is given was checked by the package, which read it. */
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
  // One zstd block at a time, so that it is known what each holds.
  const header = headerLength(bytes);
  decoder.push(bytes.subarray(0, header));
  for (let at = header; ; ) {
    const head = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
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
  return { stored: bytes.length, content: length, columns: columns(content.subarray(0, length), blocks) };
}

/** Bytes of a zstd frame's header (RFC 8878, 3.1.1.1). */
function headerLength(bytes: Uint8Array): number {
  const descriptor = bytes[4] ?? 0;
  const isSingle = (descriptor & 0x20) !== 0;
  const size = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  return 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]! + size;
}

function columns(content: Uint8Array, blocks: readonly { stored: number; content: number }[]): Column[] {
  const numbers = new Reader(content);
  const lengths = Array.from({ length: numbers.leb128() }, () => numbers.leb128());
  // Where zstd blocks begin, and the bytes of the file up to there.
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
    return { bytes, stored: length === 0 ? 0 : from === undefined || to === undefined ? undefined : to - from };
  });
}

/** Reads numbers one after another. */
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

/** Reads bits, the least significant first. */
export class BitReader {
  #at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  bits(count: number): number {
    let value = 0;
    for (let bit = 0; bit < count; bit++, this.#at++) {
      value += (((this.bytes[this.#at >> 3] ?? 0) >> (this.#at & 7)) & 1) * 2 ** bit;
    }
    return value;
  }
}

/** A number in octaves with parameters `d` and `l`, from its symbol and its low bits. */
export function octave(symbol: number, low: BitReader, d: number, l: number): number {
  if (symbol < 2 ** d) return symbol;
  const rest = symbol - 2 ** d;
  const bits = d + (rest >> l) - l;
  return (2 ** l + (rest & (2 ** l - 1))) * 2 ** bits + low.bits(bits);
}
