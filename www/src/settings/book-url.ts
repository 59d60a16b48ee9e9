/** Where the book of the page is. */

/** The book that the address names (`?book=`), else the site's own. */
export function bookUrl(): URL {
  const named = new URLSearchParams(location.search).get("book") ?? "book/manifest.json";
  // An address that cannot be read is a book that cannot be found: it says so in its place.
  return URL.canParse(named, document.baseURI) ? new URL(named, document.baseURI) : new URL(encodeURIComponent(named), document.baseURI);
}
