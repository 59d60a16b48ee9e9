import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const src = fileURLToPath(new URL("../src/", import.meta.url));
const files = readdirSync(src, { recursive: true }).map(String).filter((name) => name.endsWith(".ts")).map(normalize);

/** Returns the modules of the site that a file imports, also by `import type` and `import()`. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), "utf8");
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"?]*)"/g)].map(([, specifier = ""]) => specifier);
  return specifiers.map((specifier) => `${join(dirname(file), specifier)}.ts`).filter((name) => files.includes(name));
}

/** Returns a path from a node of the graph back to the node, if the graph has one. */
function circleIn(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>();
  const visit = (node: string, path: string[]): string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of graph.get(node) ?? []) {
      const circle = visit(next, [...path, node]);
      if (circle) return circle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of graph.keys()) {
    const circle = visit(node, []);
    if (circle) return circle;
  }
  return undefined;
}

describe("imports of the site", () => {
  const imports = new Map(files.map((file) => [file, new Set(importsOf(file))]));

  it("are found", () => {
    expect(imports.get(join("analysis", "main.ts"))?.size).toBeGreaterThan(20);
    expect(circleIn(new Map([["a", new Set(["b"])], ["b", new Set(["c"])], ["c", new Set(["b"])]]))).toEqual(["b", "c", "b"]);
  });

  it("form no circle between files", () => {
    expect(circleIn(imports)).toBeUndefined();
  });

  it("form no circle between folders", () => {
    const folders = new Map<string, Set<string>>();
    for (const [file, targets] of imports) {
      const folder = dirname(file);
      for (const target of targets) if (dirname(target) !== folder) folders.set(folder, (folders.get(folder) ?? new Set()).add(dirname(target)));
    }
    expect(circleIn(folders)).toBeUndefined();
  });

  it("leave no module in the source folder itself", () => {
    expect(files.filter((file) => dirname(file) === ".")).toEqual([]);
  });
});
