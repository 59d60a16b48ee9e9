/** URLs of the database and of the book. */

/** Returns the URL of the database's manifest: from `?db=`, from the settings, or the site's own database. */
export const manifestUrl = (set?: string): URL => named("db") ?? resolved(set ?? import.meta.env.VITE_DATABASE ?? "db/manifest.json");

/** Returns the URL of the book's manifest: from `?book=`, or the site's own book. */
export const bookUrl = (): URL => named("book") ?? resolved("book/manifest.json");

function named(parameter: string): URL | undefined {
  const value = new URLSearchParams(location.search).get(parameter);
  return value === null ? undefined : resolved(value);
}

/** Resolves a URL. An invalid URL becomes a missing file: the page then shows its usual error message. */
const resolved = (url: string): URL => new URL(URL.canParse(url, document.baseURI) ? url : encodeURIComponent(url), document.baseURI);
