/** Access to the book and to the evaluations beside it: each is opened when first needed, and again after a failure. */
import { type Book, type Explored, openBook, type Played } from "shelfish/book";
import type { DatabaseClient, Explanation } from "../database/client";
import { explain as explainDatabase } from "../database/client";
import { fetchEarly } from "../loading/early-fetch";
import { loadOnce } from "../loading/load-once";

/** A client of one book. */
export class BookClient {
  /** What the book says of itself, once it is open. */
  manifest: Book["manifest"] | undefined;

  /** The cache in IndexedDB may take some megabytes, 0: there is none. */
  constructor(
    readonly url: URL,
    private readonly evals: DatabaseClient,
    private readonly cache: number,
  ) {}

  /** Opens the book, once; a failed attempt is forgotten, so that the next call tries again. */
  readonly open = loadOnce(async () => {
    const book = await openBook(this.url, { fetch: fetchEarly, indexedDB: this.cache > 0 && { bytes: this.cache * 2 ** 20 } });
    this.manifest = book.manifest;
    return book;
  });

  /** What was played from a position. */
  async moves(fen: string, signal: AbortSignal, buckets?: string[]): Promise<Played> {
    return (await this.open()).moves(fen, { signal, buckets, castling: "chess960" });
  }

  /** The same with evaluations beside the moves. */
  async explore(fen: string, signal: AbortSignal, buckets?: string[]): Promise<Explored> {
    const [book, evals] = await Promise.all([this.open(), this.evals.open()]);
    return book.explore(fen, { database: evals, signal, buckets, castling: "chess960" });
  }
}

/** Says what went wrong with the book, and what the reader of the page can do. */
export function explain(error: unknown): Explanation {
  const { title, advice } = explainDatabase(error);
  const { code, message } = error as { code?: string; message?: string };
  if (code !== "status" && code !== "manifest") return { title: title.replaceAll("database", "book"), advice: advice.replaceAll("database", "book") };
  return {
    title: "There is no readable book here.",
    advice: `${message}. Build one with “shelfish build GAMES.pgn -o book” and put it next to this page as book/, or name the manifest of another with ?book=URL.`,
  };
}
