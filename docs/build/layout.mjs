// The HTML around the text of a page: header, menu, contents.
import { createHash } from "node:crypto";
import { escape } from "./markdown.mjs";

/** @typedef {import("./pages.mjs").Page} Page */
/** @typedef {import("./markdown.mjs").Rendered} Rendered */

/**
 * @typedef {object} Site
 * @property {Page[]} pages all pages, in the order of the menu
 * @property {string} [base] address of the site, with a slash at the end
 */

/** Sets the chosen theme before the first paint. */
const THEME =
  "try{const{theme}=localStorage;if(theme)document.documentElement.dataset.theme=theme}catch{}";

const POLICY = [
  "default-src 'none'",
  // Pagefind compiles WebAssembly.
  `script-src 'self' 'wasm-unsafe-eval' 'sha256-${createHash("sha256").update(THEME).digest("base64")}'`,
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const MARK =
  '<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M3 20.5h18M5 18V7.5h3.5V18M10.5 18V4H14v14M16.2 18.2 15 8.4l3.4-.5 1.3 10" /></svg>';
const LENS =
  '<svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="10.5" cy="10.5" r="6.5" /><path d="m15.5 15.5 5 5" /></svg>';
const BARS =
  '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 7h16M4 12h16M4 17h16" /></svg>';
const HALF =
  '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 4a8 8 0 1 0 0 16Z" class="solid" /><circle cx="12" cy="12" r="8" /></svg>';

/** Returns the path from a page to the root of the site: empty or `../`. */
export const upFrom = (/** @type {Page} */ page) =>
  "../".repeat(page.path.split("/").length - 1);

/** Returns the menu: a list of links for each heading. */
function menu(/** @type {Site} */ site, /** @type {Page} */ page) {
  const sections = [...new Set(site.pages.map(({ section }) => section))];
  return sections
    .map((section, n) => {
      const links = site.pages
        .filter((each) => each.section === section)
        .map(
          (each) =>
            `<li><a href="${upFrom(page)}${each.path}"${each === page ? ' aria-current="page"' : ""}>${escape(each.label)}</a></li>`,
        );
      return `<p id="section-${n}">${escape(section)}</p>\n<ul aria-labelledby="section-${n}">${links.join("\n")}</ul>`;
    })
    .join("\n");
}

/** Returns the contents of a page: its headings of the second level, and of the third if they are few. */
function contents(/** @type {Rendered} */ { headings }) {
  const deep = headings.filter(({ level }) => level === 2 || level === 3);
  const shown =
    deep.length <= 30 ? deep : headings.filter(({ level }) => level === 2);
  if (shown.length < 3) return "";
  const links = shown.map(
    ({ level, id, text }) =>
      `<li class="level-${level}"><a href="#${id}">${escape(text)}</a></li>`,
  );
  return `<details class="contents" id="contents"><summary>On this page</summary><nav aria-label="On this page"><ul>${links.join("\n")}</ul></nav></details>`;
}

/** Returns links to the pages before and after a page of the guides. */
function neighbours(/** @type {Site} */ { pages }, /** @type {Page} */ page) {
  const n = pages.indexOf(page);
  const link = (
    /** @type {Page | undefined} */ other,
    /** @type {string} */ rel,
  ) =>
    other
      ? `<a rel="${rel}" href="${upFrom(page)}${other.path}"><span>${rel === "prev" ? "Previous" : "Next"}</span>${escape(other.label === "Start here" ? other.section : other.label)}</a>`
      : "";
  return `<nav class="neighbours" aria-label="Previous and next page">${link(pages[n - 1], "prev")}${link(pages[n + 1], "next")}</nav>`;
}

/** Returns the document of a page. `demo` is the address of the board as the page names it. */
export function layout(
  /** @type {Site} */ site,
  /** @type {Page} */ page,
  /** @type {string} */ demo,
  /** @type {Rendered} */ text,
) {
  const up = upFrom(page);
  const title =
    page.path === "index.html"
      ? "Shelfish documentation"
      : `${text.title} · Shelfish`;
  const own = site.base
    ? new URL(page.path.replace(/(^|\/)index\.html$/, "$1"), site.base).href
    : undefined;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<script>${THEME}</script>
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<meta name="description" content="${escape(text.description || text.title)}">
<meta name="color-scheme" content="light dark">
<meta property="og:title" content="${escape(title)}">
${own ? `<link rel="canonical" href="${own}">\n` : ""}<link rel="icon" href="${up}assets/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${up}assets/docs.css">
<script type="module" src="${up}assets/docs.js"></script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header class="site-head">
<a class="home" href="${up}index.html">${MARK}Shelfish <span>docs</span></a>
<div class="tools">
<button type="button" id="search" hidden aria-haspopup="dialog">${LENS}<span>Search</span><kbd>/</kbd></button>
<a class="board" href="${demo}">Board</a>
<a class="board" href="https://github.com/shelfish/shelfish">GitHub</a>
<button type="button" class="icon" id="theme" hidden>${HALF}<span class="hidden">Light or dark</span></button>
<button type="button" class="icon only-narrow" popovertarget="menu" aria-label="Menu">${BARS}</button>
</div>
</header>
<div class="columns">
<nav id="menu" class="menu" popover aria-label="Documentation">
${menu(site, page)}
<p class="only-narrow">Elsewhere</p>
<ul class="only-narrow"><li><a href="${demo}">Board</a></li><li><a href="https://github.com/shelfish/shelfish">GitHub</a></li></ul>
</nav>
<main id="text" tabindex="-1">
${contents(text)}
<article data-pagefind-body${page.isApi ? ' data-pagefind-weight="0.3"' : ""}>
${text.html}</article>
${neighbours(site, page)}
</main>
</div>
<dialog id="search-dialog" aria-label="Search">
<div class="field"><input type="search" id="search_query" aria-label="Search the documentation" placeholder="Search" autocomplete="off" spellcheck="false" enterkeyhint="search"><button type="button" id="close-search">Close</button></div>
<p id="search_found" role="status"></p>
<ol id="search_results"></ol>
</dialog>
</body>
</html>
`;
}
