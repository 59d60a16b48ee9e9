/** The manifests that a page asked for before its scripts came: build/early.js. */

declare global {
  var early: Record<string, Promise<Response>> | undefined;
}

/** `fetch`, but what is under way already is not asked for again. A preload would do, were it not that Firefox asks twice. */
export function fetchOnce(url: string, init: RequestInit): Promise<Response> {
  const response = globalThis.early?.[url];
  delete globalThis.early?.[url];
  return response ?? fetch(url, init);
}
