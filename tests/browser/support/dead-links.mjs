// Links of pages: every target and every anchor must exist.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Returns the values of attributes of a document. */
const values = (/** @type {string} */ html, /** @type {string} */ names) =>
  [...html.matchAll(new RegExp(`\\s(?:${names})="([^"]*)"`, "g"))].map(
    ([, value = ""]) => value.replaceAll("&amp;", "&"),
  );

/** Returns the dead links of pages of a site, each with its page. Links to other hosts are only parsed. */
export function deadLinks(
  /** @type {string} */ site,
  /** @type {string[]} */ pages,
) {
  const isDead = (/** @type {string} */ page, /** @type {string} */ href) => {
    const base = new URL(page, "http://site.invalid");
    if (!URL.canParse(href, base)) return true;
    const { host, pathname, hash } = new URL(href, base);
    if (host !== base.host) return false;
    const target = join(site, decodeURIComponent(pathname));
    const file =
      existsSync(target) && statSync(target).isDirectory()
        ? join(target, "index.html")
        : target;
    if (!existsSync(file)) return true;
    const id = decodeURIComponent(hash.slice(1));
    return id !== "" && !values(readFileSync(file, "utf8"), "id").includes(id);
  };
  return pages.flatMap((page) =>
    [...new Set(values(readFileSync(join(site, page), "utf8"), "href|src"))]
      .filter((href) => isDead(page, href))
      .map((href) => `${page}: ${href}`),
  );
}
