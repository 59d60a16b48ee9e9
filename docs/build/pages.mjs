// The pages of the site, in the order of its menu.

/**
 * @typedef {object} Page
 * @property {string} path path of the page in the site
 * @property {string} label name in the menu
 * @property {string} section heading in the menu
 * @property {string} source path of the Markdown file in the repository; of a page of the API, the name that TypeDoc chose
 * @property {boolean} isApi whether TypeDoc wrote the Markdown
 */

/** Files of the repository that are pages: section, then path of the file, path of the page and label. */
const MENU = /** @type {const} */ ([
  ["Start", [["docs/guides/index.md", "index.html", "Overview"]]],
  [
    "For web developers",
    [
      ["docs/guides/web-developer.md", "web-developer.html", "Start here"],
      [
        "docs/guides/ten-minutes.md",
        "ten-minutes.html",
        "Evaluations on my page in ten minutes",
      ],
      [
        "docs/guides/replace.md",
        "replace.html",
        "Replace stockfish.js, cloud-eval, the explorer",
      ],
      ["crate/js/README.md", "package.html", "The npm package"],
    ],
  ],
  [
    "For operators",
    [
      ["docs/guides/operator.md", "operator.html", "Start here"],
      ["docs/guides/own-database.md", "own-database.html", "My own database"],
      ["docs/guides/host.md", "host.html", "Host 400 million positions"],
      ["docs/guides/fresh.md", "fresh.html", "Keep it fresh"],
    ],
  ],
  ["For players", [["docs/guides/player.md", "player.html", "Start here"]]],
  [
    "For contributors",
    [
      ["docs/guides/contributor.md", "contributor.html", "Start here"],
      ["CONTRIBUTING.md", "contributing.html", "Contributing"],
      ["ARCHITECTURE.md", "architecture.html", "Architecture"],
      ["www/README.md", "site.html", "The site"],
      ["static-shards/README.md", "sample.html", "The sample data"],
    ],
  ],
  [
    "Reference",
    [
      ["FORMAT.md", "format.html", "The file format"],
      ["docs/guides/crates.md", "crates.html", "The Rust crates"],
      ["docs/measurements.md", "measurements.html", "Measurements"],
      ["docs/guides/engine.md", "engine.html", "The engine"],
      ["crate/engine/MATCHES.md", "matches.html", "Matches of the engine"],
      ["docs/guides/licence.md", "licence.html", "Licence"],
      ["SECURITY.md", "security.html", "Security"],
      ["CHANGELOG.md", "changelog.html", "Changelog"],
    ],
  ],
]);

/** Heading of the pages that TypeDoc writes. */
export const API = "API of the npm package";

/** The pages of the repository's files. @type {Page[]} */
export const FILES = MENU.flatMap(([section, pages]) =>
  pages.map(([source, path, label]) => ({
    source,
    path,
    label,
    section,
    isApi: false,
  })),
);

/**
 * Returns the pages of the API, sorted by name.
 * @param {Map<string, string>} texts Markdown by the name that TypeDoc chose
 * @returns {Page[]}
 */
export function apiMenu(texts) {
  const pages = [...texts].map(([source, text]) => {
    const title = /^# (.+)$/m.exec(text)?.[1];
    if (!title) throw new Error(`${source}: TypeDoc wrote no title`);
    const path =
      source === "README.md"
        ? "api/index.html"
        : `api/${title.replace(/^shelfish\//, "")}.html`;
    return {
      source,
      path,
      label: source === "README.md" ? "All entries" : title,
      section: API,
      isApi: true,
    };
  });
  return pages.sort(
    (a, b) =>
      Number(a.path !== "api/index.html") -
        Number(b.path !== "api/index.html") || (a.label < b.label ? -1 : 1),
  );
}
