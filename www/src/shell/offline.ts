let asked = false;

/** Registers the service worker, once, after the page is loaded. */
export function keepForOffline(): void {
  if (asked || import.meta.env.DEV || !("serviceWorker" in navigator)) return;
  asked = true;
  // Storage may be forbidden: the page then always needs its host.
  const keep = () => void install().catch(() => {});
  if (document.readyState === "complete") keep();
  else addEventListener("load", keep, { once: true });
}

/** Returns the number of files that service workers have stored. */
async function storedFiles(): Promise<number> {
  const counts = (await caches.keys()).map(
    async (name) => (await (await caches.open(name)).keys()).length,
  );
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/**
 * Installs the service worker. Firefox ends an installation after a minute, which slow devices and networks exceed. The next attempt
 * continues it. Attempts end when an attempt stores no file.
 */
async function install(): Promise<void> {
  const before = await storedFiles();
  const { installing } = await navigator.serviceWorker.register(
    new URL("sw.js", document.baseURI),
    { updateViaCache: "none" },
  );
  installing?.addEventListener("statechange", async () => {
    if (installing.state === "redundant" && (await storedFiles()) > before)
      await install().catch(() => {});
  });
}
