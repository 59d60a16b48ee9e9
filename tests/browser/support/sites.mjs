// Replaces Lichess and Chess.com by other servers.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";

/**
 * Changes the addresses of the sites in a page.
 * @param {string} page the file of the page
 * @param {{ lichess?: string, "chess.com"?: string }} urls
 */
export function useSites(page, urls) {
  let html = readFileSync(page, "utf8");
  for (const [name, url] of Object.entries(urls)) {
    const meta = new RegExp(
      `(<meta name="${name.replace(".", "\\.")}" content=")[^"]*`,
    );
    assert.match(html, meta);
    html = html.replace(meta, `$1${url}`);
  }
  writeFileSync(page, html);
}
