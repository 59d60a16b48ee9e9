// Builds the documentation site: TypeDoc makes pages of the guides and of the package's declarations. `cargo xtask docs` calls this script.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Application, PageEvent, StructureRouter } from "typedoc";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const REPOSITORY = "https://github.com/shelfish/shelfish";

const { values: options } = parseArgs({
  options: {
    /** Folder of the site, which is replaced. */
    out: { type: "string", default: join(ROOT, "target/docs-pages") },
    /** Address of the site. */
    base: { type: "string" },
    /** Folder with the output of rustdoc. */
    rust: { type: "string" },
  },
});

/** Files of the repository that are pages: the group in the menu, then path of the file, name of the page and label. */
const GROUPS = /** @type {const} */ ({
  "For web developers": [
    ["docs/guides/web-developer.md", "web-developer", "Start here"],
    [
      "docs/guides/ten-minutes.md",
      "ten-minutes",
      "Evaluations on my page in ten minutes",
    ],
    [
      "docs/guides/replace.md",
      "replace",
      "Replace stockfish.js, cloud-eval, the explorer",
    ],
    ["crate/js/README.md", "package", "The npm package"],
  ],
  "For operators": [
    ["docs/guides/operator.md", "operator", "Commands"],
    ["docs/guides/own-database.md", "own-database", "My own database"],
    ["docs/guides/host.md", "host", "Host 400 million positions"],
    ["docs/guides/fresh.md", "fresh", "Keep it fresh"],
  ],
  "For players": [["docs/guides/player.md", "player", "The board"]],
  "For contributors": [
    ["docs/guides/contributor.md", "contributor", "Start here"],
    ["CONTRIBUTING.md", "contributing", "Contributing"],
    ["ARCHITECTURE.md", "architecture", "Architecture"],
    ["www/README.md", "site", "The site"],
    ["static-shards/README.md", "sample", "The sample data"],
  ],
  Reference: [
    ["FORMAT.md", "format", "The file format"],
    ["docs/guides/crates.md", "crates", "The Rust crates"],
    ["docs/measurements.md", "measurements", "Measurements"],
    ["docs/guides/engine.md", "engine", "The engine"],
    ["crate/engine/MATCHES.md", "matches", "Matches of the engine"],
    ["docs/guides/licence.md", "licence", "Licence"],
    ["SECURITY.md", "security", "Security"],
    ["CHANGELOG.md", "changelog", "Changelog"],
  ],
});
const HOME = "docs/guides/index.md";

const pages = Object.entries(GROUPS).flatMap(([group, files]) =>
  files.map(([source, name, title]) => ({ source, name, title, group })),
);
/** Crates with documentation by rustdoc: the name of the crate by its folder. @type {Record<string, string>} */
const CRATES = {
  crate: "shelfish",
  "crate/analysis": "shelfish_analysis",
  "crate/endgames": "shelfish_endgames",
  "crate/engine": "shelfish_engine",
};

const work = mkdtempSync(join(tmpdir(), "shelfish-docs-"));
const board = "../";

/** Returns the target of a link of a document: another page, a page of the board, the documentation of a crate, or a file on GitHub. */
function resolved(/** @type {string} */ source, /** @type {string} */ href) {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [path = "", hash] = href.split("#");
  const anchor = hash === undefined ? "" : `#${hash}`;
  const target = posix
    .normalize(posix.join(posix.dirname(source), path))
    .replace(/\/$/, "");
  if (target === HOME) return `index.html${anchor}`;
  const page = pages.find((each) => each.source === target);
  if (page) return `./${page.name}.md${anchor}`;
  const file = join(ROOT, target);
  if (!existsSync(file))
    throw new Error(`${source}: the link ${href} leads to no file`);
  if (/\.(png|svg)$/.test(target)) {
    copyFileSync(file, join(work, posix.basename(target)));
    return `./${posix.basename(target)}`;
  }
  const [, built] = /^www\/(\w+\.html)$/.exec(target) ?? [];
  if (built) return board + built + anchor;
  if (options.rust && CRATES[target])
    return `rust/${CRATES[target]}/index.html`;
  return `${REPOSITORY}/${statSync(file).isDirectory() ? "tree" : "blob"}/main/${target}${anchor}`;
}

/** Copies a document with its links, and with a head for TypeDoc. */
function copy(
  /** @type {string} */ source,
  /** @type {string} */ name,
  head = "",
) {
  const text = readFileSync(join(ROOT, source), "utf8").replace(
    /(\]\()([^)\s]+)(?=\))/g,
    (_, open, href) => open + resolved(source, href),
  );
  writeFileSync(join(work, `${name}.md`), head + text);
}

try {
  copy(HOME, "index");
  for (const { source, name, title, group } of pages)
    copy(
      source,
      name,
      `---\ntitle: ${JSON.stringify(title)}\ngroup: ${JSON.stringify(group)}\npath: ${name}\n---\n`,
    );

  // A copy of the declarations, because TypeScript finds the types of React next to them.
  const require = createRequire(join(ROOT, "crate/js/package.json"));
  const modules = join(work, "node_modules");
  const typesOf = (/** @type {string} */ name) =>
    dirname(require.resolve(`${name}/package.json`));
  cpSync(join(ROOT, "crate/pkg/types"), join(work, "types"), {
    recursive: true,
  });
  cpSync(typesOf("@types/react"), join(modules, "@types/react"), {
    recursive: true,
  });
  cpSync(typesOf("csstype"), join(modules, "csstype"), { recursive: true });
  /** @type {{ exports: Record<string, { types?: string, browser?: { types?: string } }> }} */
  const { exports } = JSON.parse(
    readFileSync(join(ROOT, "crate/pkg/package.json"), "utf8"),
  );
  /** The entries by file of declarations, without those that repeat the types of another entry. */
  const entries = new Map(
    Object.entries(exports).flatMap(([path, target]) => {
      const types = target.types ?? target.browser?.types;
      return !types || /\/(inline|node|engine-worker|uci)$|\.\w+$/.test(path)
        ? []
        : [[join(work, types), `shelfish${path.slice(1)}`]];
    }),
  );
  const compilerOptions = {
    module: "NodeNext",
    target: "ES2022",
    lib: ["ES2023", "ESNext.Disposable", "DOM", "DOM.Iterable"],
    types: [],
    strict: true,
    skipLibCheck: true,
  };
  writeFileSync(
    join(work, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: [...entries.keys()] }),
  );
  writeFileSync(join(work, "package.json"), '{ "type": "module" }');

  const app = await Application.bootstrap({
    tsconfig: join(work, "tsconfig.json"),
    entryPoints: [...entries.keys()],
    projectDocuments: pages.map(({ name }) => join(work, `${name}.md`)),
    readme: join(work, "index.md"),
    name: "Shelfish",
    router: "flat",
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeExternals: true,
    disableGit: true,
    hideGenerator: true,
    headings: { readme: false },
    navigation: { includeGroups: true },
    navigationLeaves: [...entries.values()],
    sort: ["source-order"],
    groupOrder: [...Object.keys(GROUPS), "Modules"],
    customCss: join(ROOT, "docs/docs.css"),
    searchInDocuments: true,
    searchInComments: true,
    favicon: join(ROOT, "www/public/favicon.svg"),
    navigationLinks: { Board: board, GitHub: REPOSITORY },
    highlightLanguages: [
      "bash",
      "html",
      "ini",
      "javascript",
      "json",
      "jsonl",
      "rust",
      "toml",
      "tsx",
      "typescript",
    ],
    validation: { notExported: false, invalidPath: false },
    ...(options.base && { hostedBaseUrl: options.base }),
  });
  app.renderer.defineRouter(
    "flat",
    class extends StructureRouter {
      /** @override @returns {string} */
      getIdealBaseName(/** @type {import("typedoc").Reflection} */ item) {
        return item.isDocument()
          ? String(item.frontmatter["path"])
          : super.getIdealBaseName(item).replaceAll("/", "-");
      }
    },
  );
  // Landmarks, and tables that scroll by the keyboard.
  app.renderer.on(PageEvent.END, (page) => {
    let tables = 0;
    page.contents = page.contents
      ?.replaceAll(
        /<table.*?<\/table>/gs,
        (table) =>
          `<div class="wide" role="region" aria-label="Table ${++tables}" tabindex="0">${table}</div>`,
      )
      .replaceAll(/<th[^>]*><\/th>/g, "<td></td>")
      .replace('class="col-content"', '$& role="main"')
      .replace(
        'class="col-sidebar"',
        '$& role="complementary" aria-label="Menu"',
      )
      .replace('id="tsd-sidebar-links"', '$& aria-label="Elsewhere"')
      .replaceAll("<pre>", '<pre tabindex="0">');
  });
  const project = await app.convert();
  if (!project) throw new Error("TypeDoc could not read the declarations");
  for (const child of project.children ?? [])
    child.name =
      entries.get(join(work, "types", `${child.name}.d.ts`)) ??
      entries.get(join(work, "types", child.name, "index.d.ts")) ??
      child.name;
  const out = resolve(options.out);
  await app.generateDocs(project, out);
  if (app.logger.hasErrors() || app.logger.hasWarnings())
    throw new Error("TypeDoc warns");
  if (options.rust)
    cpSync(options.rust, join(out, "rust"), { recursive: true });
} finally {
  rmSync(work, { recursive: true, force: true });
}
