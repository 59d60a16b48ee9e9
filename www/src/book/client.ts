/** Access to a book of played moves, and the status line of a page that looks it up. */
import { type Book, type Explored, openBook, type Played } from "shelfish";
import { byId, make, makeButton } from "../shell/dom";
import {
  type DatabaseClient,
  explain as explainDatabase,
  type Explanation,
  OPEN_OPTIONS,
} from "../database/client";
import { loadOnce } from "../loading/loading";
import { followLinks } from "../link/link";
import type { State } from "../state/state";

export class BookClient {
  /** The book's manifest, once the book is open. */
  manifest: Book["manifest"] | undefined;

  /** `opener` is the function of the package that opens the book. */
  constructor(
    readonly url: URL,
    private readonly evals: DatabaseClient,
  ) {}

  /** Opens the book. After a failure the next call tries again. */
  readonly open = loadOnce(async () => {
    const book = await openBook(this.url, OPEN_OPTIONS);
    this.manifest = book.manifest;
    return book;
  });

  /** Returns the moves that were played from a position. */
  async moves(
    fen: string,
    signal: AbortSignal,
    buckets?: string[],
  ): Promise<Played> {
    return (await this.open()).moves(fen, {
      signal,
      buckets,
      castling: "chess960",
    });
  }

  /** Returns the played moves with evaluations. */
  async explore(
    fen: string,
    signal: AbortSignal,
    buckets?: string[],
  ): Promise<Explored> {
    const [book, evals] = await Promise.all([this.open(), this.evals.open()]);
    return book.explore(fen, {
      database: evals,
      signal,
      buckets,
      castling: "chess960",
    });
  }
}

/** Explains an error of the book, with advice for the reader of the page. */
export function explain(error: unknown): Explanation {
  const { title, advice } = explainDatabase(error);
  const { code, message } = error as { code?: string; message?: string };
  if (code !== "status" && code !== "manifest")
    return {
      title: title.replaceAll("database", "book"),
      advice: advice.replaceAll("database", "book"),
    };
  return {
    title: "There is no readable book here.",
    advice: `${message}. Build one with “shelfish book build GAMES.pgn -o book” and put it next to this page as book/, or name the manifest of another with ?book=URL.`,
  };
}

/** Milliseconds before a lookup is shown as slow. */
const SLOW = 400;

export class StatusLine {
  readonly #line = byId("status");
  /** The error of the address, shown until the position changes. */
  #linkError = "";

  /** `panel` is busy until the first answer. */
  constructor(
    private readonly state: State,
    private readonly panel = byId("panel"),
  ) {
    state.on(({ node }) => node && (this.#linkError = ""));
  }

  /** Shows the positions of the address bar. */
  followLinks(): void {
    followLinks(this.state, (message) => {
      this.#linkError = message;
      this.show("");
    });
  }

  show(text: string): void {
    this.#line.textContent = [this.#linkError, text].filter(Boolean).join(" ");
  }

  /** Waits for a lookup, and shows that it is slow. */
  async waitFor<T>(lookup: Promise<T>): Promise<T> {
    const timer = window.setTimeout(() => this.show("Looking it up…"), SLOW);
    try {
      return await lookup;
    } finally {
      window.clearTimeout(timer);
    }
  }

  /** Says that the first answer is shown. */
  ready(): void {
    this.panel.ariaBusy = "false";
  }

  /** Shows why a lookup failed, with a button to try again. */
  showError(error: unknown, retry: () => void): void {
    const { title, advice } = explain(error);
    this.ready();
    this.#line.replaceChildren(
      this.#linkError && `${this.#linkError} `,
      make("strong", {}, title),
      ` ${advice} `,
      makeButton("retry", retry, "Try again"),
    );
  }
}
