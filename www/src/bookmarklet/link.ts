/** The bookmarklet as a link. */
import { dataUrl } from "../settings/data-urls";

/**
 * Returns the `javascript:` URL that calls a function, given as an expression, with the board's URL. Everything except letters and digits is
 * percent-encoded: quotes, bookmark editors and URL fields, which drop line breaks, do not change it.
 */
export function bookmarkletLink(code: string, board: string): string {
  return `javascript:${encodeURIComponent(`void ${code}(${JSON.stringify(board)})`)}`;
}

/** Returns the URL of the board next to a page, with the page's `?db=` if it is valid. */
export function boardBeside(page: string): string {
  const { search } = new URL(page);
  const database = new URLSearchParams(search).get("db");
  return new URL(
    database === null || !dataUrl(database, page)
      ? "./"
      : `./?db=${encodeURIComponent(database)}`,
    page,
  ).href;
}
