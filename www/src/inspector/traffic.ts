/** Collects the reads of a database from the package's reports. */
import type { FetchedRange, Manifest, Stats } from "shelfish";

/** Bytes of a file that were read. */
export interface Read extends FetchedRange {
  /** Number of the read, from 1. */
  number: number;
  file: string;
  /** Content of the bytes: the manifest, pages of the index, or blocks of positions. */
  kind: "manifest" | "page" | "block";
}

/** Number of reads that are kept for the list. */
const KEPT = 50;
/** Number of ranges that are kept for the strip; a day's session has some thousands. */
const DRAWN = 20_000;

export class Traffic {
  /** The last reads, newest first. */
  readonly last: Read[] = [];
  readonly ranges = new Map<string, Read>();
  /** The largest block that was read alone. */
  largest: Read | undefined;
  stats: Stats | undefined;
  manifest: Manifest | undefined;
  #count = 0;
  #bytes = 0;
  #requests = 0;

  /** Bytes from the host. */
  get bytes(): number {
    return this.stats?.bytes ?? this.#bytes;
  }

  get requests(): number {
    return this.stats?.requests ?? this.#requests;
  }

  add(request: FetchedRange): Read {
    const file = decodeURIComponent(
      request.url.slice(request.url.lastIndexOf("/") + 1),
    );
    const shard = this.manifest?.shards.find((shard) => shard.file === file);
    const isPage = shard && request.start >= shard.bytes - shard.pageBytes;
    const kind = request.parts === 0 ? "manifest" : isPage ? "page" : "block";
    const read: Read = { ...request, file, kind, number: ++this.#count };
    if (request.from === "network") {
      this.#requests++;
      this.#bytes += request.bytes;
    }
    this.last.unshift(read);
    if (this.last.length > KEPT) this.last.pop();
    const key = `${file}:${read.start}-${read.end}`;
    const isWorse = this.ranges.get(key)?.ok && !read.ok;
    if (!isWorse && (this.ranges.has(key) || this.ranges.size < DRAWN))
      this.ranges.set(key, read);
    const isBlock = kind === "block" && read.parts === 1 && read.ok;
    if (isBlock && read.bytes > (this.largest?.bytes ?? 0)) this.largest = read;
    return read;
  }
}
