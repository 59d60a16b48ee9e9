/** The manifest of the database: the one that the address names (`?db=`), else the one that was set, else the site's own. */
export function manifestUrl(set?: string): URL {
  const named = new URLSearchParams(location.search).get("db") ?? set ?? import.meta.env.VITE_DATABASE ?? "db/manifest.json";
  // An address that cannot be read is a manifest that cannot be found: it says so in its place.
  return URL.canParse(named, document.baseURI) ? new URL(named, document.baseURI) : new URL(encodeURIComponent(named), document.baseURI);
}
