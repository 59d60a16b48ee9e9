import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads the imports between the modules of a folder, also by `import type` and `import()`. */
function importsIn(path: string): Graph {
  const root = fileURLToPath(new URL(path, import.meta.url));
  const isModule = (name: string) =>
    name.endsWith(".ts") && !/(^|[\\/])(node_modules|examples)[\\/]/.test(name);
  const files = readdirSync(root, { recursive: true })
    .map(String)
    .filter(isModule)
    .map(normalize);
  const importsOf = (file: string) => {
    const text = readFileSync(join(root, file), "utf8");
    const specifiers = [
      ...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"?]*)"/g),
    ].map(([, specifier = ""]) => specifier);
    return specifiers
      .map(
        (specifier) =>
          `${join(dirname(file), specifier.replace(/\.js$/, ""))}.ts`,
      )
      .filter((name) => files.includes(name));
  };
  return new Map(files.map((file) => [file, new Set(importsOf(file))]));
}

/** Reads what the folders and files directly in the source folder of a crate use of each other, without their unit tests, and without
 * files of errors, which contain types of the code that returns them. */
function roomsIn(crate: string): Graph {
  const src = fileURLToPath(new URL(`../../${crate}/src/`, import.meta.url));
  const roomOf = (path: string) => path.split(/[\\/.]/)[0] ?? "";
  const files = readdirSync(src, { recursive: true })
    .map(String)
    .filter((name) => /(?<!\btests)\.rs$/.test(name))
    .filter((name) => !/^(lib|main|error)\.rs$/.test(name));
  const graph = new Map(files.map((file) => [roomOf(file), new Set<string>()]));
  for (const file of files) {
    const room = roomOf(file);
    const text = readFileSync(join(src, file), "utf8");
    const [code = ""] = text.split("#[cfg(test)]");
    for (const [, group, name = ""] of code.matchAll(
      /crate::(?:\{([^;]*)\};|(\w+))/g,
    )) {
      const outer = (group ?? name).replace(/\{([^{}]|\{[^{}]*\})*\}/g, "");
      for (const used of outer
        .split(",")
        .map((path) => roomOf(path.trim().replace("::", "."))))
        if (graph.has(used) && used !== room) graph.get(room)?.add(used);
    }
  }
  return graph;
}

/** Returns a path from a node of the graph back to the node, if the graph has one. */
function circleIn(graph: Graph): string[] | undefined {
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

describe.each([
  ["the site", "../src/", join("analysis", "main.ts"), 20],
  ["the package", "../../crate/js/", join("engine", "evaluator.ts"), 3],
] as const)("imports of %s", (_, path, file, count) => {
  const imports = importsIn(path);

  it("are found", () => {
    expect(imports.get(file)?.size).toBeGreaterThan(count);
    expect(
      circleIn(
        new Map([
          ["a", new Set(["b"])],
          ["b", new Set(["c"])],
          ["c", new Set(["b"])],
        ]),
      ),
    ).toEqual(["b", "c", "b"]);
  });

  it("form no circle between files", () => {
    expect(circleIn(imports)).toBeUndefined();
  });

  it("form no circle between folders", () => {
    const folders = new Map<string, Set<string>>();
    for (const [file, targets] of imports) {
      const folder = dirname(file);
      for (const target of targets)
        // The entries of the package are in its folder.
        if (![folder, "."].includes(dirname(target)))
          folders.set(
            folder,
            (folders.get(folder) ?? new Set()).add(dirname(target)),
          );
    }
    expect(circleIn(folders)).toBeUndefined();
  });
});

describe("the site", () => {
  it("has no module in the source folder itself", () => {
    expect(
      [...importsIn("../src/").keys()].filter((file) => dirname(file) === "."),
    ).toEqual([]);
  });
});

it.each([
  ["crate", "reader", "table"],
  ["crate/analysis", "report", "judgment"],
  ["crate/engine", "search", "position"],
  ["build-tools/shelfish", "commands", "database"],
  ["build-tools/xtask", "bench", "tools"],
])("folders of %s form no circle", (crate, room, used) => {
  const rooms = roomsIn(crate);
  expect([...(rooms.get(room) ?? [])]).toContain(used);
  expect(circleIn(rooms)).toBeUndefined();
});
