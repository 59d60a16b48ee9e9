/** Returns the URL of the database's manifest: from `?db=`, from the settings, or the site's own database. */
export function manifestUrl(set?: string): URL {
  const named = new URLSearchParams(location.search).get("db") ?? set ?? import.meta.env.VITE_DATABASE ?? "db/manifest.json";
  // An invalid address leads to an error message about a missing database.
  return URL.canParse(named, document.baseURI) ? new URL(named, document.baseURI) : new URL(encodeURIComponent(named), document.baseURI);
}
