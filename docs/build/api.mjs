// The API of the npm package as Markdown: TypeDoc reads the declarations of the package.
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, posix, sep } from "node:path";
import { Application, LogLevel } from "typedoc";
import { render } from "./markdown.mjs";

/** @typedef {{ types?: string, browser?: { types?: string } }} Target */

/** Entries that repeat the types of another entry, and scripts that export nothing. */
const ASIDE = /\/(inline|node|engine-worker|uci|package\.json)$|\.(wasm|js)$/;

const require = createRequire(import.meta.url);

/** Returns the entries of the package with their declarations: name, file. */
function entriesOf(/** @type {string} */ folder) {
  /** @type {{ name: string, exports: Record<string, Target> }} */
  const { name, exports } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  return Object.entries(exports).flatMap(([path, target]) => {
    const types = target.types ?? target.browser?.types;
    return ASIDE.test(path) || types === undefined
      ? []
      : [{ entry: name + path.slice(1), types }];
  });
}

/** Returns a page without the names of classes that the package does not export. */
const shortened = (/** @type {string} */ text) =>
  text
    .replace(/^#+ Extends\n\n- `OpenTable`.*\n\n?/gm, "")
    .replace(/^#+ Get Signature\n\n/gm, "")
    .replace(/^#+ Inherited from\n\n`OpenTable\.[^`]*`\n\n?/gm, "");

/** Returns the pages with links to headings that exist: TypeDoc's plugin adds `-1` to anchors of interfaces that extend others. */
function mended(/** @type {Map<string, string>} */ pages) {
  const ids = new Map(
    [...pages].map(([name, text]) => [
      name,
      new Set(render(text, (href) => href).headings.map(({ id }) => id)),
    ]),
  );
  const mend = (
    /** @type {string} */ name,
    /** @type {string} */ link,
    /** @type {string} */ path,
    /** @type {string} */ id,
  ) => {
    const known = ids.get(
      path === "" ? name : posix.join(posix.dirname(name), path),
    );
    return known?.has(`${id}-1`) || !known?.has(id) ? link : `(${path}#${id})`;
  };
  return new Map(
    [...pages].map(([name, text]) => [
      name,
      text.replace(/\(([\w./-]*)#([\w-]+)-1\)/g, (link, path, id) =>
        mend(name, link, path, id),
      ),
    ]),
  );
}

/**
 * Returns the pages of the API: the text of each Markdown file by its name.
 * @param {string} folder the npm package
 * @param {string} types the folder of `@types/react`, which the declarations of `shelfish/react` import
 * @returns {Promise<Map<string, string>>}
 */
export async function apiPages(folder, types) {
  // A copy: TypeScript finds the types of React next to the declarations.
  const work = mkdtempSync(join(tmpdir(), "shelfish-api-"));
  try {
    cpSync(join(folder, "types"), join(work, "types"), { recursive: true });
    cpSync(types, join(work, "node_modules/@types/react"), { recursive: true });
    cpSync(
      dirname(require.resolve("csstype/package.json", { paths: [types] })),
      join(work, "node_modules/csstype"),
      { recursive: true },
    );
    const entries = entriesOf(folder);
    const files = entries.map(({ types }) => join(work, types));
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
      JSON.stringify({ compilerOptions, files }),
    );
    writeFileSync(join(work, "package.json"), '{ "type": "module" }');
    const options = {
      tsconfig: join(work, "tsconfig.json"),
      entryPoints: files,
      plugin: ["typedoc-plugin-markdown"],
      out: join(work, "out"),
      readme: "none",
      name: "API",
      logLevel: LogLevel.Warn,
      outputFileStrategy: "modules",
      hidePageHeader: true,
      hideBreadcrumbs: true,
      disableSources: true,
      excludeInternal: true,
      excludePrivate: true,
      excludeExternals: true,
      parametersFormat: "table",
      interfacePropertiesFormat: "table",
      typeAliasPropertiesFormat: "table",
      propertyMembersFormat: "table",
      typeDeclarationFormat: "table",
      expandObjects: true,
      useCodeBlocks: true,
      groupOrder: ["Functions", "Classes", "*"],
      tableColumnSettings: { hideInherited: true },
      validation: { notExported: false },
    };
    const app = await Application.bootstrapWithPlugins(
      /** @type {Partial<import("typedoc").TypeDocOptions>} */ (options),
    );
    const project = await app.convert();
    if (!project || app.logger.hasErrors())
      throw new Error("TypeDoc could not read the declarations of the package");
    for (const child of project.children ?? []) {
      const found = entries.find(
        ({ types }) =>
          types.replace(/^\.\/types\/|(\/index)?\.d\.ts$/g, "") === child.name,
      );
      if (!found)
        throw new Error(
          `TypeDoc: no entry of the package has the declarations ${child.name}`,
        );
      child.name = found.entry;
    }
    await app.generateOutputs(project);
    const names = readdirSync(join(work, "out"), {
      recursive: true,
      encoding: "utf8",
    }).filter((name) => name.endsWith(".md"));
    return mended(
      new Map(
        names.map((name) => [
          name.replaceAll(sep, "/"),
          shortened(readFileSync(join(work, "out", name), "utf8")),
        ]),
      ),
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
