let asked = false;

/** Registers the service worker, once, after the page is loaded. */
export function keepForOffline(): void {
  if (asked || import.meta.env.DEV || !("serviceWorker" in navigator)) return;
  asked = true;
  // Storage may be forbidden: the page then always needs its host.
  const keep = () =>
    void navigator.serviceWorker
      .register(new URL("sw.js", document.baseURI), { updateViaCache: "none" })
      .catch(() => {});
  if (document.readyState === "complete") keep();
  else addEventListener("load", keep, { once: true });
}
