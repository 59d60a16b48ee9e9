
/** Returns the URL of the book: from `?book=`, or the site's own book. */
export function bookUrl(): URL {
  const named = new URLSearchParams(location.search).get("book") ?? "book/manifest.json";
  // An invalid address leads to an error message about a missing book.
  return URL.canParse(named, document.baseURI) ? new URL(named, document.baseURI) : new URL(encodeURIComponent(named), document.baseURI);
}
