/** URLs of the database and of the book. */

/** Returns the URL of the database's manifest: from `?db=`, from the settings, or the site's own database. */
export const manifestUrl = (set?: string): URL =>
  named("db") ??
  resolved(set ?? import.meta.env.VITE_DATABASE ?? "db/manifest.json");

/** Returns the URL of the book's manifest: from `?book=`, or the site's own book. */
export const bookUrl = (): URL =>
  named("book") ?? resolved("book/manifest.json");

/** Returns the URL of the index of endgame tables: from `?endgames=`, or the site's own tables. */
export const endgamesUrl = (): URL =>
  named("endgames") ?? resolved(SITE_ENDGAMES);

const SITE_ENDGAMES = "endgames/endgames.index";

/** Maximum number of pieces of the site's own endgame tables. */
const SITE_PIECES = 4;

/** Returns the maximum number of pieces of the tables of a URL; `undefined` if it is not known. */
export const endgamePieces = (url: URL): number | undefined =>
  url.href === resolved(SITE_ENDGAMES).href ? SITE_PIECES : undefined;

function named(parameter: string): URL | undefined {
  const value = new URLSearchParams(location.search).get(parameter);
  return value === null ? undefined : resolved(value);
}

/** Resolves a URL. An invalid URL becomes a missing file: the page then shows its usual error message. */
const resolved = (text: string): URL =>
  dataUrl(text, document.baseURI) ??
  new URL(encodeURIComponent(text), document.baseURI);

/**
 * Returns the URL of a database or a book, absolute or relative to `base`. Returns `undefined` if the protocol is not http or https, if the URL
 * contains a user name, or if the host contains unusual characters. Some characters, such as ";", have a meaning in a Content-Security-Policy.
 */
export function dataUrl(text: string, base: string): URL | undefined {
  if (!URL.canParse(text, base)) return undefined;
  const url = new URL(text, base);
  const isUsual =
    /^https?:$/.test(url.protocol) &&
    /^([\w.-]+|\[[\da-f:]+\])$/.test(url.hostname) &&
    !url.username &&
    !url.password;
  return isUsual ? url : undefined;
}
