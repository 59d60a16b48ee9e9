/**
 * The service worker: keeps the site's own files for visits without a connection. Nothing of a database passes through
 * here: the package keeps what it read in IndexedDB.
 *
 * A version is kept whole or not at all, because each file must be the one that was built with the others. A page comes
 * from the newest version that is whole; its scripts have names that change with what is in them, so that a page which
 * stays open goes on with those of its own version.
 */
export {};

declare const self: ServiceWorkerGlobalScope;
/** The site's files and their hashes, and a hash of both: filled in by build/offline.ts. */
declare const FILES: [path: string, integrity: string][];
declare const VERSION: string;

const SCOPE = new URL(self.registration.scope);
const PREFIX = `shelfish-site ${SCOPE.pathname} `;
const NAME = PREFIX + VERSION;
const PATHS = new Set(FILES.map(([path]) => path));

/** Gets all files of this version, or leaves nothing. */
async function fill(): Promise<void> {
  const cache = await caches.open(NAME);
  const add = async ([path, integrity]: [string, string]) => {
    const url = new URL(path, SCOPE);
    const answer = await fetch(url, { cache: "no-cache", integrity });
    if (!answer.ok) throw new Error(`${url.href}: status ${answer.status}`);
    // Made anew: one that was redirected could not answer a navigation, and the headers were for the network.
    const type = answer.headers.get("content-type") ?? "";
    await cache.put(url, new Response(await answer.blob(), { headers: { "content-type": type } }));
  };
  const added = await Promise.allSettled(FILES.map(add));
  const failed = added.find((each) => each.status === "rejected");
  if (!failed) return;
  await caches.delete(NAME);
  throw failed.reason;
}

/** Versions before this one go; the last of them stays while pages are open that may be of it. */
async function clean(): Promise<void> {
  const open = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const older = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== NAME);
  await Promise.all(older.slice(0, open.length > 0 ? -1 : undefined).map((name) => caches.delete(name)));
}

/** The file of the site that an address stands for. */
function fileOf(url: URL, isNavigation: boolean): string | undefined {
  if (url.origin !== SCOPE.origin || !url.pathname.startsWith(SCOPE.pathname)) return undefined;
  const path = url.pathname.slice(SCOPE.pathname.length);
  if (!isNavigation) return PATHS.has(path) || path.startsWith("assets/") ? path : undefined;
  // Hosts leave out index.html, and some any .html.
  return [path, `${path}.html`, `${path}index.html`].find((path) => PATHS.has(path));
}

async function answer(request: Request, path: string): Promise<Response> {
  const url = new URL(path, SCOPE);
  const kept = (await (await caches.open(NAME)).match(url)) ?? (await caches.match(url));
  return kept ?? fetch(request);
}

self.addEventListener("install", (event) => event.waitUntil(fill().then(() => self.skipWaiting())));
self.addEventListener("activate", (event) => event.waitUntil(clean().then(() => self.clients.claim())));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || request.headers.has("range")) return;
  const path = fileOf(new URL(request.url), request.mode === "navigate");
  if (path !== undefined) event.respondWith(answer(request, path));
});
