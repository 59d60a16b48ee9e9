let asked = false;

/** Has the site's files kept for visits without a connection: loadOnce, and when the page has nothing more urgent to load. */
export function keepForOffline(): void {
  if (asked || import.meta.env.DEV || !("serviceWorker" in navigator)) return;
  asked = true;
  const keep = () => {
    // Storage may be forbidden: the page then needs its host each time.
    navigator.serviceWorker.register(new URL("sw.js", document.baseURI), { updateViaCache: "none" }).catch(() => {});
  };
  if (document.readyState === "complete") keep();
  else addEventListener("load", keep, { once: true });
}
