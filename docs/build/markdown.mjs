// Markdown to HTML: headings with anchors, coloured code, and links that lead to pages of the site.
import Slugger from "github-slugger";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import ini from "highlight.js/lib/languages/ini";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import rust from "highlight.js/lib/languages/rust";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import markdownIt from "markdown-it";

/** Languages of fences. The empty language is plain text. */
const LANGUAGES = { bash, ini, javascript, json, rust, typescript, xml };
const NAMES = /** @type {Record<string, keyof typeof LANGUAGES>} */ ({
  js: "javascript",
  ts: "typescript",
  tsx: "typescript",
  html: "xml",
  sh: "bash",
  toml: "ini",
  json: "json",
  jsonl: "json",
  rust: "rust",
});
const PLAIN = new Set(["", "text"]);

for (const [name, language] of Object.entries(LANGUAGES))
  hljs.registerLanguage(name, language);

/**
 * @typedef {object} Heading
 * @property {number} level
 * @property {string} id
 * @property {string} text
 */

/** A document as HTML. @typedef {{ html: string, title: string, description: string, headings: Heading[] }} Rendered */

const escape = (/** @type {string} */ text) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
export { escape };

/** Returns the words of inline content without its marks. */
const plain = (/** @type {import("markdown-it").Token | undefined} */ token) =>
  (token?.children ?? [])
    .map((child) =>
      child.type === "softbreak"
        ? " "
        : child.type === "image"
          ? ""
          : child.type === "html_inline"
            ? ""
            : child.content,
    )
    .join("")
    .trim();

/**
 * Renders a document.
 * @param {string} text
 * @param {(href: string) => string} resolve returns the target of a link or image on the page
 * @param {(href: string) => { width?: number, height?: number }} sizeOf returns the size of an image, so that its place is reserved
 * @returns {Rendered}
 */
export function render(text, resolve, sizeOf = () => ({})) {
  const slugger = new Slugger();
  /** @type {Heading[]} */
  const headings = [];
  const markdown = markdownIt({ html: true, highlight: colour });
  const { rules } = markdown.renderer;
  const tokens = markdown.parse(text, {});
  for (const [n, token] of tokens.entries()) {
    const inline = tokens[n + 1];
    if (token.type === "heading_open") {
      const heading = {
        level: Number(token.tag.slice(1)),
        text: plain(inline),
        id: slugger.slug(plain(inline)),
      };
      headings.push(heading);
      token.attrSet("id", heading.id);
    }
    // A class instead of a style, which the policy of the pages forbids.
    const align = /^text-align:(\w+)$/.exec(
      String(token.attrGet("style")),
    )?.[1];
    if (align) token.attrs = [["class", align]];
    for (const child of token.children ?? []) {
      const name =
        child.type === "link_open"
          ? "href"
          : child.type === "image"
            ? "src"
            : undefined;
      const source = name && child.attrGet(name);
      if (name) child.attrSet(name, resolve(String(source)));
      if (child.type === "image")
        for (const [side, length] of Object.entries(sizeOf(String(source))))
          child.attrSet(side, String(length));
    }
  }
  nameRows(tokens);
  // The text of a heading links to itself, unless it contains a link.
  const isPlain = (/** @type {number} */ n) =>
    !(tokens[n]?.children ?? []).some(({ type }) => type === "link_open");
  rules.heading_open = (all, n, options, _, self) =>
    self.renderToken(all, n, options) +
    (isPlain(n + 1) ? `<a class="self" href="#${all[n]?.attrGet("id")}">` : "");
  rules.heading_close = (all, n, options, _, self) =>
    (isPlain(n - 1) ? "</a>" : "") + self.renderToken(all, n, options);
  // A wide table scrolls by itself. The script of the page makes it reachable by keyboard.
  rules.table_open = () => '<div class="wide"><table>';
  rules.table_close = () => "</table></div>";
  rules.code_block = (all, n) =>
    `<pre tabindex="0"><code>${escape(all[n]?.content ?? "")}</code></pre>\n`;
  const html = markdown.renderer.render(tokens, markdown.options, {});
  const paragraph = tokens.findIndex(({ type }) => type === "paragraph_open");
  const description = plain(tokens[paragraph + 1]).replace(/\s+/g, " ");
  return {
    html,
    title: headings[0]?.text ?? "",
    description:
      description.length > 160
        ? `${description.slice(0, 157).replace(/\s\S*$/, "")} …`
        : description,
    headings,
  };
}

/** Makes cells of empty headers. If the first header of a table is empty, makes headers of the first cells of its rows. */
function nameRows(/** @type {import("markdown-it").Token[]} */ tokens) {
  let isNamed = false;
  for (const [n, token] of tokens.entries()) {
    const [inline, close] = [tokens[n + 1], tokens[n + 2]];
    const isFirst = tokens[n - 1]?.type === "tr_open";
    if (token.type === "table_open") isNamed = false;
    if (token.type === "th_open" && inline?.content === "" && close) {
      isNamed ||= isFirst;
      token.tag = close.tag = "td";
    } else if (token.type === "td_open" && isFirst && isNamed && close) {
      token.tag = close.tag = "th";
      token.attrSet("scope", "row");
    }
  }
}

/** Returns the block of a fence. The words after the language are notes for tests. */
function colour(/** @type {string} */ code, /** @type {string} */ language) {
  const name = NAMES[language];
  if (!name && !PLAIN.has(language))
    throw new Error(
      `a fence has the unknown language ${language}; known are ${Object.keys(NAMES).join(", ")}, text`,
    );
  const inner = name
    ? hljs.highlight(code, { language: name }).value
    : escape(code);
  return `<pre tabindex="0"><code>${inner}</code></pre>`;
}
