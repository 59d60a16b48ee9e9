/**
 * The service worker: stores the site's own files for offline use. Files of a database do not pass through it: the package stores them in IndexedDB.
 *
 * A version is stored completely or not at all, because its files belong together. A page comes from the newest complete version. The names of
 * scripts contain a hash of their content, so that an open page keeps the scripts of its version.
 */
export {};

declare const self: ServiceWorkerGlobalScope;
/** The site's files with their hashes, and a hash of all: defined by build/offline.ts. */
declare const FILES: [path: string, integrity: string][];
declare const VERSION: string;

const SCOPE = new URL(self.registration.scope);
const PREFIX = `shelfish-site ${SCOPE.pathname} `;
const NAME = PREFIX + VERSION;
const PATHS = new Set(FILES.map(([path]) => path));
/** Folder of Stockfish. The names of its folders contain its version. */
const STOCKFISH = "stockfish/";

/**
 * Stores all files of this version. If a file cannot be fetched, no file remains stored. If the browser ends the installation, the stored
 * files remain for the next attempt.
 */
async function fill(): Promise<void> {
  const cache = await caches.open(NAME);
  const add = async ([path, integrity]: [string, string]) => {
    const url = new URL(path, SCOPE);
    if (await cache.match(url)) return;
    const answer = await fetch(url, { cache: "no-cache", integrity });
    if (!answer.ok) throw new Error(`${url.href}: status ${answer.status}`);
    // A copy of the response: a redirected response cannot answer a navigation, and its headers were meant for the network.
    const type = answer.headers.get("content-type") ?? "";
    await cache.put(
      url,
      new Response(await answer.blob(), { headers: { "content-type": type } }),
    );
  };
  const added = await Promise.allSettled(FILES.map(add));
  const failed = added.find((each) => each.status === "rejected");
  if (!failed) return;
  await caches.delete(NAME);
  throw failed.reason;
}

/** Deletes earlier versions, except the last one while open pages may use it. */
async function clean(): Promise<void> {
  const open = await self.clients.matchAll({
    type: "window",
    includeUncontrolled: true,
  });
  const older = (await caches.keys()).filter(
    (name) => name.startsWith(PREFIX) && name !== NAME,
  );
  await Promise.all(
    older
      .slice(0, open.length > 0 ? -1 : undefined)
      .map((name) => caches.delete(name)),
  );
}

/** Returns the file of the site for a URL. */
function fileOf(url: URL, isNavigation: boolean): string | undefined {
  if (url.origin !== SCOPE.origin || !url.pathname.startsWith(SCOPE.pathname))
    return undefined;
  const path = url.pathname.slice(SCOPE.pathname.length);
  if (!isNavigation)
    return PATHS.has(path) ||
      path.startsWith("assets/") ||
      path.startsWith(STOCKFISH)
      ? path
      : undefined;
  // Hosts accept URLs without index.html, some also without .html.
  return [path, `${path}.html`, `${path}index.html`].find((path) =>
    PATHS.has(path),
  );
}

async function answer(request: Request, path: string): Promise<Response> {
  const url = new URL(path, SCOPE);
  const kept =
    (await (await caches.open(NAME)).match(url)) ?? (await caches.match(url));
  if (kept || !path.startsWith(STOCKFISH)) return kept ?? fetch(request);
  // Stored when a game needs it, and kept by later versions of the site.
  const found = await fetch(request);
  const store = async () =>
    (await caches.open(`shelfish-${STOCKFISH}`)).put(url, found.clone());
  // A full disk loses only the copy.
  if (found.ok) await store().catch(() => {});
  return found;
}

const DOCS = new URL("docs/", SCOPE);
const docs = () => caches.open(`shelfish-docs ${SCOPE.pathname}`);

/** Stores the first page of the documentation with its style and pictures, if the site has it. */
async function keepDocs(): Promise<void> {
  const page = await fetch(DOCS);
  if (!page.ok) return;
  const html = await page.clone().text();
  const parts = html.matchAll(/(?:href|src)="([\w/-]+\.(?:css|png))"/g);
  const cache = await docs();
  await cache.put(DOCS, page);
  await cache.addAll(
    [...parts].map(([, path = ""]) => new URL(path, DOCS).href),
  );
}

/** Returns a file of the documentation; offline its last copy. */
async function documentation(request: Request): Promise<Response> {
  const cache = await docs();
  try {
    const found = await fetch(request);
    if (found.ok) await cache.put(request, found.clone()).catch(() => {});
    return found;
  } catch (error) {
    const kept = await cache.match(request);
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener("install", (event) =>
  event.waitUntil(fill().then(() => self.skipWaiting())),
);
self.addEventListener("activate", (event) =>
  event.waitUntil(
    clean()
      .then(() => self.clients.claim())
      .then(() => void keepDocs().catch(() => {})),
  ),
);
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || request.headers.has("range")) return;
  if (request.url.startsWith(DOCS.href))
    return event.respondWith(documentation(request));
  const path = fileOf(new URL(request.url), request.mode === "navigate");
  if (path !== undefined) event.respondWith(answer(request, path));
});
