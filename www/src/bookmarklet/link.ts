/** The bookmarklet as a link. */

/**
 * The `javascript:` address that calls a function, given as an expression, with the board's address. Everything but letters and digits is
 * percent-encoded, so that it survives quotes, editors of bookmarks and fields for addresses, which drop line breaks.
 */
export function bookmarkletLink(code: string, board: string): string {
  return `javascript:${encodeURIComponent(`void ${code}(${JSON.stringify(board)})`)}`;
}

/** The board beside a page, with the database that the page's address names. */
export function boardBeside(page: string): string {
  const { search } = new URL(page);
  const database = new URLSearchParams(search).get("db");
  return new URL(database === null ? "./" : `./?db=${encodeURIComponent(database)}`, page).href;
}
