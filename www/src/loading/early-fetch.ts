/** The manifests that build/early.js requests before the scripts of the page are loaded. */

declare global {
  var early: Record<string, Promise<Response>> | undefined;
}

/** Fetches a URL, by its early request if the page has sent it. A preload link is not enough: Firefox would request the manifest twice. */
export function fetchEarly(url: string, init: RequestInit): Promise<Response> {
  const response = globalThis.early?.[url];
  delete globalThis.early?.[url];
  return response ?? fetch(url, init);
}
