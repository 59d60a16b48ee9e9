// A service worker that answers requests of unchanged pages to the APIs of Lichess. A classic script, alone or by `importScripts`.

import { openBook, openDatabase } from "./index.js";
import { adapter } from "./lichess/adapter.js";

interface Extendable extends Event {
  waitUntil(promise: Promise<unknown>): void;
}

interface Fetching extends Extendable {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

/** The hash of the module. The build defines it. */
declare const SHA256: string;

declare const self: {
  location: { href: string };
  clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: string, listener: (event: any) => void): void;
  /** Parameters of a worker that imports this script. */
  shelfishLichess?: Record<string, string> | undefined;
};

const { shelfishLichess } = self;
const parameters = new URLSearchParams(
  shelfishLichess ?? new URL(self.location.href).searchParams,
);
const value = (name: string) => parameters.get(name) || undefined;
const [database, book, masters] = ["database", "book", "masters"].map(value);
if (!database && !book && !masters)
  throw new Error(
    "shelfish-lichess-sw.js: expected ?database=URL or ?book=URL",
  );

/** URL of the module. An old module in a cache has another URL. */
const wasm = new URL(
  `shelfish_bg.wasm?${SHA256}`,
  new URL(value("wasm") ?? ".", self.location.href),
);

const lichessFetch = adapter(
  async () => ({
    openDatabase: (url) => openDatabase(url, { wasm }),
    openBook: (url) => openBook(url, { wasm }),
    openEndgames: () => Promise.reject(new Error("no tables")),
  }),
  { database, book, masters, fallback: !!value("fallback") },
);

self.addEventListener("fetch", (event: Fetching) => {
  if (lichessFetch.answers(event.request))
    event.respondWith(lichessFetch(event.request));
});

// A worker that imports this script decides itself when it takes over.
if (!shelfishLichess) {
  self.addEventListener("install", (event: Extendable) =>
    event.waitUntil(self.skipWaiting()),
  );
  self.addEventListener("activate", (event: Extendable) =>
    event.waitUntil(self.clients.claim()),
  );
}
