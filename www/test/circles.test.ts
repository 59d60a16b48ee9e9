import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns the files of a folder of the repository whose names match, with their texts. */
function filesIn(path: string, pattern: RegExp): (readonly [string, string])[] {
  const root = fileURLToPath(new URL(`../../${path}/`, import.meta.url));
  return readdirSync(root, { recursive: true })
    .map((name) => normalize(String(name)))
    .filter((name) => pattern.test(name) && !/node_modules|examples/.test(name))
    .map((name) => [name, readFileSync(join(root, name), "utf8")] as const);
}

/** Reads the imports between the modules of a folder, also by `import type` and `import()`. */
function importsIn(path: string): Graph {
  const files = new Map(filesIn(path, /\.ts$/));
  const importsOf = (file: string, text: string) =>
    [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"?]*)"/g)]
      .map(([, name = ""]) => join(dirname(file), name).replace(/\.[jt]s$/, ""))
      .map((name) => `${name}.ts`)
      .filter((name) => files.has(name));
  return new Map(
    [...files].map(([file, text]) => [file, new Set(importsOf(file, text))]),
  );
}

/** Reads the imports between folders. The entries of the package are in its folder. */
function foldersOf(imports: Graph): Graph {
  const folders = new Map<string, Set<string>>();
  for (const [file, targets] of imports)
    for (const target of [...targets].map(dirname))
      if (![dirname(file), "."].includes(target))
        folders.set(
          dirname(file),
          (folders.get(dirname(file)) ?? new Set()).add(target),
        );
  return folders;
}

/**
 * Reads what the folders and files directly in the source folder of a crate use of each other, without their unit tests, and without files of
 * errors, which contain types of the code that returns them.
 */
function roomsIn(crate: string): Graph {
  const roomOf = (path: string) => path.split(/[\\/.]/)[0] ?? "";
  const files = filesIn(`${crate}/src`, /(?<!\btests)\.rs$/).filter(
    ([name]) => !/^(lib|main|error)\.rs$/.test(name),
  );
  const graph = new Map(
    files.map(([name]) => [roomOf(name), new Set<string>()]),
  );
  for (const [file, text] of files) {
    const [code = ""] = text.split("#[cfg(test)]");
    for (const [, group, name = ""] of code.matchAll(
      /crate::(?:\{([^;]*)\};|(\w+))/g,
    )) {
      const outer = (group ?? name).replace(/\{([^{}]|\{[^{}]*\})*\}/g, "");
      for (const path of outer.split(",")) {
        const used = roomOf(path.trim().replace("::", "."));
        if (graph.has(used) && used !== roomOf(file))
          graph.get(roomOf(file))?.add(used);
      }
    }
  }
  return graph;
}

/** Returns the nodes that lie on a circle or lead to one: what remains if nodes without targets are removed again and again. */
function circleIn(graph: Graph): string[] {
  const left = new Map([...graph].map(([node, to]) => [node, new Set(to)]));
  for (;;) {
    const ends = [...left.keys()].filter(
      (node) => ![...(left.get(node) ?? [])].some((to) => left.has(to)),
    );
    if (ends.length === 0) return [...left.keys()];
    for (const node of ends) left.delete(node);
  }
}

it.each([
  ["www/src", join("analysis", "main.ts"), 20],
  ["crate/js", join("engine", "evaluator.ts"), 3],
])("imports in %s form no circle", (path, file, count) => {
  const imports = importsIn(path);
  expect(imports.get(file)?.size).toBeGreaterThan(count);
  expect(circleIn(imports)).toEqual([]);
  expect(circleIn(foldersOf(imports))).toEqual([]);
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
  expect(circleIn(rooms)).toEqual([]);
});
