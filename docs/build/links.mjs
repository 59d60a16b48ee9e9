// Links of a folder with HTML files: every target and every anchor must exist.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";

const decode = (/** @type {string} */ text) =>
  text
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

/** Returns the values of attributes of a document. */
const values = (/** @type {string} */ html, /** @type {string} */ names) =>
  [...html.matchAll(new RegExp(`\\s(?:${names})="([^"]*)"`, "g"))].map(
    ([, value]) => decode(String(value)),
  );

/**
 * Returns the dead links of the HTML files below a folder, each with its page. Links to other hosts are only parsed.
 * @param {string} folder
 * @param {{ isSkipped?: (path: string) => boolean, root?: string }} options `isSkipped`: whether the links of a page, named by its path, are
 * ignored; `root`: the site that contains the folder. Without it, links that leave the folder are only parsed.
 */
export function deadLinks(folder, { isSkipped = () => false, root } = {}) {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".html"))
    .map((name) => name.replaceAll(sep, "/"));
  /** @type {Map<string, Set<string>>} */
  const anchors = new Map();
  const idsOf = (/** @type {string} */ file) => {
    const known =
      anchors.get(file) ?? new Set(values(readFileSync(file, "utf8"), "id"));
    anchors.set(file, known);
    return known;
  };
  // The URL parser resolves paths, and needs a host.
  const path =
    root === undefined ? "folder" : relative(root, folder).replaceAll(sep, "/");
  const base = new URL(path === "" ? "/" : `/${path}/`, "http://site.invalid");

  const reason = (/** @type {URL} */ page, /** @type {string} */ href) => {
    if (!URL.canParse(href, page)) return "not a URL";
    const url = new URL(href, page);
    if (url.host !== page.host)
      return ["https:", "http:", "mailto:", "data:"].includes(url.protocol)
        ? undefined
        : `the protocol ${url.protocol}`;
    const isInside = url.pathname.startsWith(base.pathname);
    if (root === undefined && !isInside) return undefined;
    const target =
      root === undefined
        ? join(
            folder,
            decodeURIComponent(url.pathname.slice(base.pathname.length)),
          )
        : join(root, decodeURIComponent(url.pathname));
    const file =
      existsSync(target) && statSync(target).isDirectory()
        ? join(target, "index.html")
        : target;
    if (!existsSync(file)) return "no such file";
    const id = decodeURIComponent(url.hash.slice(1));
    return id === "" || !file.endsWith(".html") || idsOf(file).has(id)
      ? undefined
      : "no such anchor";
  };
  return files
    .filter((name) => !isSkipped(name))
    .flatMap((name) => {
      const html = readFileSync(join(folder, name), "utf8").replace(
        /<!--.*?-->/gs,
        "",
      );
      return values(html, "href|src").flatMap((href) => {
        const why = reason(new URL(name, base), href);
        return why ? [`${name}: ${href}: ${why}`] : [];
      });
    });
}
