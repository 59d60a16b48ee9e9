// Builds the documentation site. `cargo xtask docs` calls this script with its options.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import * as pagefind from "pagefind";
import { apiPages } from "./api.mjs";
import { layout, upFrom } from "./layout.mjs";
import { deadLinks } from "./links.mjs";
import { render } from "./markdown.mjs";
import { FILES, apiMenu } from "./pages.mjs";

/** @typedef {import("./pages.mjs").Page} Page */

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const REPOSITORY = "https://github.com/shelfish/shelfish";

const { values: options } = parseArgs({
  options: {
    /** Folder of the site, which is replaced. */
    out: { type: "string" },
    /** Folder of the npm package. */
    package: { type: "string", default: join(ROOT, "crate/pkg") },
    /** Address of the board: absolute, or relative to the site. */
    demo: { type: "string", default: "../" },
    /** Address of the site. */
    base: { type: "string" },
    /** Folder with the output of rustdoc. */
    rust: { type: "string" },
  },
});
if (!options.out) throw new Error("--out DIR: expected the folder of the site");
const out = resolve(options.out);

const api = await apiPages(
  resolve(options.package),
  join(ROOT, "crate/js/node_modules/@types/react"),
);
const pages = [
  ...FILES.filter(({ section }) => section !== "Reference"),
  ...apiMenu(api),
  ...FILES.filter(({ section }) => section === "Reference"),
];
const site = { pages, ...(options.base ? { base: options.base } : {}) };
const pageOf = new Map(
  pages.map((page) => [page.isApi ? `api:${page.source}` : page.source, page]),
);
/** Pictures that pages show: path in the repository. @type {Set<string>} */
const pictures = new Set();

/** Crates with documentation by rustdoc: the name of the crate by its folder. @type {Record<string, string>} */
const CRATES = {
  crate: "shelfish",
  "crate/analysis": "shelfish_analysis",
  "crate/endgames": "shelfish_endgames",
  "crate/engine": "shelfish_engine",
};

/**
 * Returns the target of a link of a page. Links between files of the repository become links between pages. A page of the board's site and the
 * folder of a crate become what the build makes of them.
 */
function resolved(/** @type {Page} */ page, /** @type {string} */ href) {
  if (/^[a-z]+:/.test(href)) return href;
  const [path = "", hash] = href.split("#");
  const anchor = hash === undefined ? "" : `#${hash}`;
  if (path === "") return href;
  const target = posix
    .normalize(posix.join(posix.dirname(page.source), path))
    .replace(/\/$/, "");
  const up = upFrom(page);
  const other = pageOf.get(page.isApi ? `api:${target}` : target);
  if (other) return up + other.path + anchor;
  const file = join(ROOT, target);
  if (page.isApi || !existsSync(file))
    throw new Error(`the link ${href} leads to no file of the repository`);
  if (/\.(png|svg)$/.test(target)) {
    pictures.add(target);
    return `${up}assets/${posix.basename(target)}`;
  }
  const [, built] = /^www\/(\w+\.html)$/.exec(target) ?? [];
  if (built)
    return demoFrom(page) + (built === "index.html" ? "" : built) + anchor;
  const crate = options.rust && CRATES[target];
  if (crate) return `${up}rust/${crate}/index.html`;
  return `${REPOSITORY}/${statSync(file).isDirectory() ? "tree" : "blob"}/main/${target}${anchor}`;
}

/** Returns the address of the board as a page names it. */
const demoFrom = (/** @type {Page} */ page) =>
  /^https?:/.test(options.demo) ? options.demo : upFrom(page) + options.demo;

/** Returns the size of a PNG file. */
function sizeOf(/** @type {string} */ file) {
  if (!file.endsWith(".png")) return {};
  const bytes = readFileSync(file);
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "assets"), { recursive: true });
for (const page of pages) {
  const text = page.isApi
    ? String(api.get(page.source))
    : readFileSync(join(ROOT, page.source), "utf8");
  const file = join(out, page.path);
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(
      file,
      layout(
        site,
        page,
        demoFrom(page),
        render(
          text,
          (href) => resolved(page, href),
          (href) => sizeOf(join(ROOT, posix.dirname(page.source), href)),
        ),
      ),
    );
  } catch (error) {
    throw new Error(
      `${page.source}: ${error instanceof Error ? error.message : error}`,
      { cause: error },
    );
  }
}
for (const picture of pictures)
  cpSync(join(ROOT, picture), join(out, "assets", posix.basename(picture)));
cpSync(join(ROOT, "www/public/favicon.svg"), join(out, "assets/favicon.svg"));
cpSync(join(ROOT, "docs/client/docs.js"), join(out, "assets/docs.js"));
// One style sheet: the colours and basics of the board, then the pages' own rules.
const styles = [
  "www/src/style/base.css",
  ...["page", "text", "code", "search"].map((name) => `docs/style/${name}.css`),
];
writeFileSync(
  join(out, "assets/docs.css"),
  styles.map((name) => readFileSync(join(ROOT, name), "utf8")).join("\n"),
);
if (options.rust)
  cpSync(resolve(options.rust), join(out, "rust"), { recursive: true });

// The search: an index of the pages' texts.
const { index, errors } = await pagefind.createIndex({});
if (!index) throw new Error(`Pagefind: ${errors.join(", ")}`);
const added = await index.addDirectory({ path: out, glob: "{*,api/*}.html" });
const written = await index.writeFiles({ outputPath: join(out, "pagefind") });
await pagefind.close();
if (added.errors.length + written.errors.length > 0)
  throw new Error(
    `Pagefind: ${[...added.errors, ...written.errors].join(", ")}`,
  );
// Pagefind's own dialogs, which the site does not use.
for (const name of readdirSync(join(out, "pagefind")))
  if (/ui|highlight|modular/.test(name)) rmSync(join(out, "pagefind", name));

const dead = deadLinks(out, { isSkipped: (path) => path.startsWith("rust/") });
if (dead.length > 0) throw new Error(`dead links:\n${dead.join("\n")}`);
console.log(
  `${pages.length} pages in ${out}, ${added.page_count} of them in the search`,
);
