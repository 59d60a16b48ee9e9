/** Records a lookup: the bytes that the package reads, and their meaning. */
import {
  type Database,
  type FetchedRange,
  openDatabase,
  type PositionEval,
  ShelfishError,
} from "shelfish";
import { fetchEarly } from "../loading/early-fetch";
import { type Frame, openFrame } from "./frame";
import { blocksOf, type IndexPage, pagesOf, type IndexedRange } from "./pages";
import { canonical, covering, type Key, keyOf } from "./key";

export interface Trace {
  given: string;
  fen: string;
  key: Key;
  /** The page that covers the key, its index, and the number of pages. */
  page: IndexPage;
  pageNumber: number;
  pages: number;
  /** The blocks that the page lists, and the index of the block that covers the key. */
  blocks: IndexedRange[];
  blockNumber: number;
  block: IndexedRange;
  frame: Frame;
  head: Uint8Array;
  /** Requests of this lookup; empty if everything was in memory. */
  requests: FetchedRange[];
  milliseconds: number;
  answer: PositionEval<true> | null;
  over: boolean;
}

/** The page and the block of a position. */
interface Found {
  page: IndexPage;
  pageNumber: number;
  blocks: IndexedRange[];
  blockNumber: number;
  block: IndexedRange;
}

/** Bytes of a file that were read. */
interface Captured {
  file: string;
  start: number;
  bytes: Uint8Array;
}

/** Maximum size of one answer. A manifest has at most 8 MiB, a request about 256 kB. */
const MOST = 16 << 20;

/** A database that records its requests. It has no cache in IndexedDB, so that each first lookup makes a request. */
export class TracedDatabase {
  database: Database | undefined;
  manifestBytes = 0;
  pages: IndexPage[] = [];
  readonly #captured: Captured[] = [];
  #requests: FetchedRange[] = [];

  constructor(
    private readonly url: URL,
    private readonly onRequest: (request: FetchedRange) => void,
  ) {}

  async open(): Promise<Database> {
    const database = await openDatabase(this.url, {
      indexedDB: false,
      fetch: (url, init) => this.#fetch(url, init),
      onRequest: (request) => {
        this.#requests.push(request);
        this.onRequest(request);
      },
    });
    const manifest = this.#captured.find(({ file }) => !file.endsWith(".silo"));
    if (!manifest) throw new Error("the manifest did not come by a request");
    this.manifestBytes = manifest.bytes.length;
    this.pages = pagesOf(manifest.bytes);
    this.database = database;
    return database;
  }

  /** Looks a position up and returns the steps. Throws if the position is invalid or the lookup fails. */
  async trace(given: string): Promise<Trace> {
    const { database } = this;
    if (!database) throw new Error("the database is not open");
    const fen = canonical(given);
    const key = keyOf(fen);
    this.#requests = [];
    const started = performance.now();
    let over = false;
    const answer = await database
      .lookup(fen, { san: true })
      .catch((error: unknown) => {
        over = error instanceof ShelfishError && error.code === "over";
        if (over) return null;
        throw error;
      });
    const milliseconds = performance.now() - started;
    const requests = this.#requests;
    const found = this.find(key);
    const bytes = found && this.#bytes(found.block);
    if (!found || !bytes)
      throw new Error(
        "the block of this position was not read by a request of this page",
      );
    const frame = openFrame(bytes);
    return {
      given: given.trim(),
      fen,
      key,
      ...found,
      pages: this.pages.length,
      frame,
      head: bytes.subarray(0, 64),
      requests,
      milliseconds,
      answer,
      over,
    };
  }

  /** Looks positions up and returns their blocks and the requests. */
  async locate(
    fens: readonly string[],
  ): Promise<{
    ranges: IndexedRange[];
    requests: FetchedRange[];
    milliseconds: number;
    known: number;
  }> {
    const { database } = this;
    if (!database) throw new Error("the database is not open");
    this.#requests = [];
    const started = performance.now();
    const answers = await database.lookupMany(fens);
    const milliseconds = performance.now() - started;
    const requests = this.#requests;
    const ranges = fens.flatMap(
      (fen) => this.find(keyOf(canonical(fen)))?.block ?? [],
    );
    const known = answers.filter(
      (answer) => answer && !(answer instanceof ShelfishError),
    ).length;
    return { ranges, requests, milliseconds, known };
  }

  /** Returns the page and the block of a key. */
  find(key: Key): Found | undefined {
    const pageNumber = covering(
      this.pages.map(({ separator }) => separator),
      key.bytes,
    );
    const page = this.pages[pageNumber];
    const bytes = page && (page.inline ?? this.#bytes(page));
    if (!page || !bytes) return undefined;
    const blocks = this.#blocks(page, bytes);
    const blockNumber = covering(
      blocks.map(({ separator }) => separator),
      key.bytes,
    );
    const block = blocks[blockNumber];
    return block && { page, pageNumber, blocks, blockNumber, block };
  }

  readonly #listed = new Map<IndexPage, IndexedRange[]>();

  #blocks(page: IndexPage, bytes: Uint8Array): IndexedRange[] {
    const blocks = this.#listed.get(page) ?? blocksOf(page.file, bytes);
    this.#listed.set(page, blocks);
    return blocks;
  }

  #bytes({ file, start, end }: IndexedRange): Uint8Array | undefined {
    const range = this.#captured.find(
      (range) =>
        range.file === file &&
        range.start <= start &&
        end <= range.start + range.bytes.length,
    );
    return range?.bytes.subarray(start - range.start, end - range.start);
  }

  /** Records the bytes of each answer before the package reads it. */
  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const response = await fetchEarly(url, init);
    if (!response.ok) return response;
    const bytes = await bounded(response);
    const range = new Headers(init.headers).get("Range");
    const file =
      new URL(url, document.baseURI).pathname.split("/").at(-1) ?? "";
    const start =
      response.status === 206
        ? Number(/=(\d+)/.exec(range ?? "")?.[1] ?? 0)
        : 0;
    this.#captured.push({ file, start, bytes });
    return new Response(bytes, {
      status: response.status,
      headers: response.headers,
    });
  }
}

/** Reads the body of an answer up to the maximum size. */
async function bounded(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (const reader = response.body?.getReader(); reader;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST) {
      await reader.cancel();
      throw new Error(`an answer of more than ${MOST} bytes`);
    }
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
