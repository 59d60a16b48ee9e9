// Tests the table of toolchains in crate/js/README.md. `SHELFISH_LONG` also runs the slow toolchains.
import assert from "node:assert/strict";
import { cpSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  DATABASE,
  TEMPLATES,
  ground,
  project,
  right,
  run,
  served,
  started,
  tarball,
} from "./support.mjs";

const slow = process.env.SHELFISH_LONG
  ? {}
  : { skip: "slow: cargo xtask test --all" };

/** @type {Awaited<ReturnType<typeof ground>>} */
let site;
before(async () => void (site = await ground()));
after(() => site.close());

/** Changes the entry that templates import. */
const from = (/** @type {string} */ entry) => (/** @type {string} */ text) =>
  text.replace('from "shelfish"', `from "${entry}"`);
const inline = from("shelfish/inline");
const classic = (/** @type {string} */ text) =>
  inline(text).replace('type="module"', "defer");
/** Makes the template open its database with an imported module. */
const given = (/** @type {string} */ text) =>
  text
    .replace(
      /^(import .*)$/m,
      '$1\nimport wasm from "shelfish/shelfish_bg.wasm";',
    )
    .replace("openDatabase(url)", "openDatabase(url, { wasm })");

describe("esbuild", () => {
  const packages = { esbuild: "0.28.2" };
  const esbuild = (
    /** @type {string} */ directory,
    /** @type {string[]} */ ...words
  ) =>
    run(directory, "esbuild", [
      "main.js",
      "--bundle",
      "--minify",
      "--outdir=dist",
      "--log-level=info",
      ...words,
    ]);
  const made = (/** @type {string} */ directory) => {
    cpSync(
      join(directory, "index.html"),
      join(directory, "dist", "index.html"),
    );
    return join(directory, "dist");
  };

  for (const [format, change] of /** @type {const} */ ([
    ["esm", inline],
    ["iife", classic],
  ])) {
    test(`${format}, shelfish/inline`, async (t) => {
      const directory = project("esbuild", packages, "page", change);
      await esbuild(directory, `--format=${format}`);
      // Only the page's script and the database's host are allowed.
      const policy = `default-src 'none'; img-src data:; script-src 'self' 'wasm-unsafe-eval'; connect-src ${new URL(site.database).origin}`;
      const headers = {
        "content-security-policy": `${policy}; require-trusted-types-for 'script'`,
      };
      await site.answers(await served(t, made(directory), headers));
    });
  }

  test("esm, the module copied to its side", async (t) => {
    const directory = project("esbuild", packages, "page");
    await esbuild(directory, "--format=esm");
    cpSync(
      join(directory, "node_modules/shelfish/shelfish_bg.wasm"),
      join(directory, "dist/shelfish_bg.wasm"),
    );
    await site.answers(await served(t, made(directory)));
  });

  for (const [loader, format] of /** @type {const} */ ([
    ["file", "esm"],
    ["binary", "esm"],
    ["binary", "iife"],
  ])) {
    test(`${format}, the module imported by the loader "${loader}" and given to open`, async (t) => {
      const directory = project("esbuild", packages, "page", (text) =>
        given(inline(text)),
      );
      await esbuild(
        directory,
        `--format=${format}`,
        `--loader:.wasm=${loader}`,
      );
      await site.answers(await served(t, made(directory)));
    });
  }

  test("shelfish/worker, shelfish/inline in the Worker", async (t) => {
    const directory = project("esbuild", packages, "serve", inline);
    await esbuild(directory, "evals.js", "--format=esm");
    const { size } = statSync(join(directory, "dist/main.js"));
    assert.ok(
      size < 5000,
      `the page's script has none of the reader: ${size} bytes`,
    );
    await site.answers(await served(t, made(directory)));
  });

  test("iife, the module's URL given to open", async (t) => {
    const directory = project("esbuild", packages, "page", (text) =>
      classic(text).replace(
        "openDatabase(url)",
        'openDatabase(url, { wasm: "/shelfish_bg.wasm" })',
      ),
    );
    await esbuild(directory, "--format=iife");
    cpSync(
      join(directory, "node_modules/shelfish/shelfish_bg.wasm"),
      join(directory, "dist/shelfish_bg.wasm"),
    );
    await site.answers(await served(t, made(directory)));
  });

  test("esm, unchanged: the error contains the import to use", async (t) => {
    const directory = project("esbuild", packages, "page");
    await esbuild(directory, "--format=esm");
    const text = await site.shown(await served(t, made(directory)), {
      allow: /404/,
    });
    assert.match(
      text,
      /^ShelfishError network: .*shelfish_bg\.wasm was answered with status 404; .*"shelfish\/inline"/,
    );
  });

  for (const format of ["esm", "cjs"]) {
    test(`for Node, ${format}`, async () => {
      const directory = project("esbuild", packages, "node", (text) =>
        text.replace(/const shelf[^]*/, (body) => `(async () => {${body}})();`),
      );
      const file = format === "esm" ? "out.mjs" : "out.cjs";
      await run(directory, "esbuild", [
        "main.js",
        "--bundle",
        "--platform=node",
        `--format=${format}`,
        `--outfile=${file}`,
        "--log-level=info",
      ]);
      right(await run(directory, "node", [file, site.database]));
    });
  }
});

describe("Rollup with node-resolve", () => {
  const packages = {
    rollup: "4.68.7",
    "@rollup/plugin-node-resolve": "16.0.3",
    "@web/rollup-plugin-import-meta-assets": "2.3.2",
  };
  const rollup = async (
    /** @type {string} */ directory,
    /** @type {string} */ format,
    /** @type {string[]} */ ...words
  ) => {
    await run(directory, "rollup", [
      "main.js",
      "-p",
      "node-resolve",
      ...words,
      "-f",
      format,
      "-o",
      "dist/main.js",
    ]);
    cpSync(
      join(directory, "index.html"),
      join(directory, "dist", "index.html"),
    );
    return join(directory, "dist");
  };

  for (const [format, change] of /** @type {const} */ ([
    ["es", inline],
    ["iife", classic],
  ])) {
    test(`${format}, shelfish/inline`, async (t) => {
      await site.answers(
        await served(
          t,
          await rollup(project("rollup", packages, "page", change), format),
        ),
      );
    });
  }

  test("es, with import-meta-assets", async (t) => {
    const directory = project("rollup", packages, "page");
    writeFileSync(
      join(directory, "assets.mjs"),
      'export { importMetaAssets as default } from "@web/rollup-plugin-import-meta-assets";',
    );
    await site.answers(
      await served(t, await rollup(directory, "es", "-p", "./assets.mjs")),
    );
  });

  test("es, unchanged: the error contains the import to use", async (t) => {
    const text = await site.shown(
      await served(t, await rollup(project("rollup", packages, "page"), "es")),
      { allow: /404/ },
    );
    assert.match(text, /^ShelfishError network: .*"shelfish\/inline"/);
  });
});

describe("no bundler", () => {
  test("an import map, under a strict policy", async (t) => {
    const map = '{"imports":{"shelfish":"./node_modules/shelfish/index.js"}}';
    const directory = project("bare", {}, "page", (text) =>
      text.replace(
        "<script ",
        `<script type="importmap" nonce="map">${map}</script>\n    <script `,
      ),
    );
    const policy = `default-src 'none'; img-src data:; script-src 'self' 'nonce-map' 'wasm-unsafe-eval'; connect-src 'self' ${new URL(site.database).origin}`;
    await site.answers(
      await served(t, directory, {
        "content-security-policy": `${policy}; require-trusted-types-for 'script'`,
      }),
    );
  });

  test("another origin", async (t) => {
    const other = await served(
      t,
      join(project("bare", {}, "page"), "node_modules/shelfish"),
      { "access-control-allow-origin": "*" },
    );
    await site.answers(
      await served(t, project("bare", {}, "page", from(`${other}index.js`))),
    );
  });

  test("a module Worker", async (t) => {
    await site.answers(
      await served(
        t,
        project("bare", {}, "worker", from("./node_modules/shelfish/index.js")),
      ),
    );
  });

  for (const kind of ["shared", "service"]) {
    test(`a ${kind} Worker`, async (t) => {
      const directory = project("bare", {}, "worker", (text) =>
        from("./node_modules/shelfish/index.js")(text).replace(
          'const kind = "module"',
          `const kind = "${kind}"`,
        ),
      );
      await site.answers(await served(t, directory));
    });
  }

  test("a policy that forbids WebAssembly: the error contains the missing source", async (t) => {
    const directory = project(
      "bare",
      {},
      "page",
      from("./node_modules/shelfish/inline.js"),
    );
    const policy = `script-src 'self'; connect-src 'self' ${new URL(site.database).origin}`;
    const text = await site.shown(
      await served(t, directory, { "content-security-policy": policy }),
      { allow: /Content Security Policy/ },
    );
    assert.match(text, /script-src 'wasm-unsafe-eval'/);
  });
});

describe("Node", () => {
  test("a URL", async () =>
    right(
      await run(project("node", {}, "node"), "node", [
        "main.js",
        site.database,
      ]),
    ));

  for (const [name, path] of /** @type {const} */ ([
    ["a directory", () => DATABASE],
    [
      "a relative path",
      (/** @type {string} */ directory) => relative(directory, DATABASE),
    ],
    ["a manifest's path", () => join(DATABASE, "manifest.json")],
    ["a file: URL", () => pathToFileURL(`${DATABASE}/`).href],
  ])) {
    test(name, async () => {
      const directory = project("node", {}, "node");
      right(await run(directory, "node", ["main.js", path(directory)]));
    });
  }
});

describe("workerd", () => {
  const packages = { miniflare: "4.20251217.0", esbuild: "0.28.2" };
  const script = `
    import { Miniflare } from "miniflare";
    const [, , root, database] = process.argv;
    const worker = new Miniflare({
      modulesRoot: root, scriptPath: root + "/worker.js", modules: true, compatibilityDate: "2025-11-01",
      modulesRules: [{ type: "ESModule", include: ["**/*.js"] }, { type: "CompiledWasm", include: ["**/*.wasm"] }],
    });
    const answer = await worker.dispatchFetch("http://worker/?db=" + encodeURIComponent(database));
    console.log(await answer.text());
    await worker.dispose();`;

  for (const [name, change] of /** @type {const} */ ([
    ["as it is", (/** @type {string} */ text) => text],
    [
      "shelfish/inline and the module given",
      (/** @type {string} */ text) => given(inline(text)),
    ],
  ])) {
    test(name, async () => {
      const directory = project("workerd", packages, "workerd", change);
      writeFileSync(join(directory, "run.mjs"), script);
      // Wrangler does the same.
      const words = [
        "worker.js",
        "--bundle",
        "--format=esm",
        "--conditions=workerd,worker,browser",
        "--loader:.wasm=copy",
        "--outdir=dist",
      ];
      await run(directory, "esbuild", [...words, "--log-level=info"]);
      right(
        await run(directory, "node", [
          "run.mjs",
          join(directory, "dist"),
          site.database,
        ]),
      );
    });
  }
});

describe("the published package", () => {
  test("publint", async () => {
    const directory = project("publint", { publint: "0.3.25" }, "node");
    const output = await run(directory, "publint", [
      "run",
      "node_modules/shelfish",
      "--strict",
      "--pack=false",
    ]);
    assert.match(output, /All good/);
  });

  for (const lib of ["ES2022", "ES2022,DOM"]) {
    for (const [module, resolution] of /** @type {const} */ ([
      ["NodeNext", "NodeNext"],
      ["ESNext", "Bundler"],
    ])) {
      test(`types, ${lib}, ${module}`, async () => {
        const directory = project(
          "types",
          { typescript: "7.0.2", "@types/node": "20.19.0" },
          "types",
        );
        await run(directory, "tsc", [
          "--strict",
          "--noEmit",
          "--target",
          "ES2022",
          "--lib",
          lib,
          "--types",
          "node",
          "--module",
          module,
          "--moduleResolution",
          resolution,
          "main.ts",
        ]);
      });
    }
  }

  test("are the types wrong?", async () => {
    const directory = project(
      "attw",
      { "@arethetypeswrong/cli": "0.18.5" },
      "node",
    );
    const output = await run(
      directory,
      "attw",
      [tarball(), "--profile", "esm-only", "--no-emoji"],
      { allow: /^\(ignored per resolution\)/ },
    );
    // The program fails if it finds any.
    assert.match(output, /"shelfish\/inline"/);
  });
});

describe("the engine", () => {
  const inside = (/** @type {string} */ text) =>
    text.replace('"shelfish/engine"', '"shelfish/engine/inline"');
  const found = async (/** @type {string} */ url, options = {}) =>
    assert.equal(await site.shown(url, options), "engine #1 Ra8#");
  /** Text that replaces the Worker's script if a toolchain omits it. */
  const told = async (/** @type {string} */ url) =>
    assert.match(
      await site.shown(url, { allow: /404/ }),
      /^ShelfishError network: .*"shelfish\/engine\/inline"/,
    );
  const built = (/** @type {string} */ directory) => {
    cpSync(
      join(directory, "index.html"),
      join(directory, "dist", "index.html"),
    );
    return join(directory, "dist");
  };

  test("no bundler, an import map", async (t) => {
    const map =
      '<script type="importmap">{"imports":{"shelfish/engine":"./node_modules/shelfish/engine.js"}}</script>';
    await found(
      await served(
        t,
        project("bare", {}, "engine", (text) =>
          text.replace("<script ", `${map}<script `),
        ),
      ),
    );
  });

  for (const format of ["esm", "iife"]) {
    test(`esbuild, ${format}, shelfish/engine/inline`, async (t) => {
      const directory = project(
        "esbuild",
        { esbuild: "0.28.2" },
        "engine",
        format === "esm"
          ? inside
          : (text) => inside(text).replace('type="module"', "defer"),
      );
      await run(directory, "esbuild", [
        "main.js",
        "--bundle",
        "--minify",
        "--outdir=dist",
        `--format=${format}`,
      ]);
      await found(await served(t, built(directory)));
    });
  }

  test("esbuild, unchanged: the error contains the import to use", async (t) => {
    const directory = project("esbuild", { esbuild: "0.28.2" }, "engine");
    await run(directory, "esbuild", [
      "main.js",
      "--bundle",
      "--outdir=dist",
      "--format=esm",
    ]);
    await told(await served(t, built(directory)));
    // The module exists, but the Worker's script does not.
    cpSync(
      join(directory, "node_modules/shelfish/shelfish_engine_bg.wasm"),
      join(directory, "dist/shelfish_engine_bg.wasm"),
    );
    await told(await served(t, join(directory, "dist")));
  });

  test("Rollup, shelfish/engine/inline", async (t) => {
    const packages = {
      rollup: "4.68.7",
      "@rollup/plugin-node-resolve": "16.0.3",
      "@web/rollup-plugin-import-meta-assets": "2.3.2",
    };
    const directory = project("rollup", packages, "engine", inside);
    await run(directory, "rollup", [
      "main.js",
      "-p",
      "node-resolve",
      "-f",
      "es",
      "-o",
      "dist/main.js",
    ]);
    await found(await served(t, built(directory)));
  });

  for (const version of ["5.4.21", "6.4.6", "7.3.8", "8.3.8"]) {
    const make = () =>
      project(`vite${version[0]}`, { vite: version }, "engine");

    test(`Vite ${version}, build`, slow, async (t) => {
      const directory = make();
      await run(directory, "vite", ["build"]);
      await found(await served(t, join(directory, "dist")));
    });

    for (const isExcluded of [false, true])
      test(
        `Vite ${version}, dev${isExcluded ? ", with optimizeDeps.exclude" : ""}`,
        slow,
        async (t) => {
          const directory = make();
          if (isExcluded)
            writeFileSync(
              join(directory, "vite.config.js"),
              'export default { optimizeDeps: { exclude: ["shelfish"] } };',
            );
          const url = await started(t, directory, "vite", (port) => [
            "--host",
            "127.0.0.1",
            "--port",
            port,
            "--strictPort",
          ]);
          if (isExcluded || version.startsWith("8")) await found(url);
          // Before version 8, Vite omits Workers when it prepares a package.
          else
            assert.match(
              await site.shown(url, { allow: /404/ }),
              /Worker could not be started.*optimizeDeps: { exclude: \["shelfish"\] }/,
            );
        },
      );
  }

  test("webpack, build", slow, async (t) => {
    const directory = project(
      "webpack",
      { webpack: "5.112.2", "webpack-cli": "7.3.1" },
      "engine",
    );
    cpSync(join(TEMPLATES, "webpack"), directory, { recursive: true });
    await run(directory, "webpack", []);
    await found(await served(t, built(directory)));
  });

  test("Parcel, build", slow, async (t) => {
    const directory = project("parcel", { parcel: "2.16.4" }, "engine");
    await run(directory, "parcel", ["build", "index.html", "--no-cache"]);
    await found(await served(t, join(directory, "dist")));
  });
});

for (const version of ["5.4.21", "6.4.6", "7.3.8", "8.3.8"]) {
  describe(`Vite ${version}`, slow, () => {
    const make = () => project(`vite${version[0]}`, { vite: version }, "page");
    const dev = (
      /** @type {import("node:test").TestContext} */ t,
      /** @type {string} */ directory,
    ) =>
      started(t, directory, "vite", (port) => [
        "--host",
        "127.0.0.1",
        "--port",
        port,
        "--strictPort",
      ]);

    test("dev", async (t) => site.answers(await dev(t, make())));

    test("dev, in a workspace", async (t) => {
      const directory = make();
      const app = join(directory, "packages", "app");
      for (const name of ["index.html", "main.js"])
        cpSync(join(directory, name), join(app, name));
      const manifest = JSON.parse(
        readFileSync(join(directory, "package.json"), "utf8"),
      );
      writeFileSync(
        join(app, "package.json"),
        JSON.stringify({ ...manifest, name: "app" }),
      );
      writeFileSync(
        join(directory, "package.json"),
        JSON.stringify({ ...manifest, workspaces: ["packages/*"] }),
      );
      const words = (/** @type {string} */ port) => [
        "packages/app",
        "--host",
        "127.0.0.1",
        "--port",
        port,
        "--strictPort",
      ];
      await site.answers(await started(t, directory, "vite", words));
    });

    test("dev, with optimizeDeps.exclude", async (t) => {
      const directory = make();
      writeFileSync(
        join(directory, "vite.config.js"),
        'export default { optimizeDeps: { exclude: ["shelfish"] } };',
      );
      await site.answers(await dev(t, directory));
    });

    test("dev, in a Worker", async (t) =>
      site.answers(
        await dev(t, project(`vite${version[0]}`, { vite: version }, "worker")),
      ));

    // Vite discovers `shelfish` when the Worker imports it, and reloads the page.
    test("dev, shelfish/worker", async (t) =>
      site.answers(
        await dev(t, project(`vite${version[0]}`, { vite: version }, "serve")),
        { loads: 2 },
      ));

    for (const template of ["worker", "serve"])
      test(`build, in a Worker: ${template}`, async (t) => {
        const directory = project(
          `vite${version[0]}`,
          { vite: version },
          template,
        );
        await run(directory, "vite", ["build"]);
        await site.answers(await served(t, join(directory, "dist")));
      });

    test("build", async (t) => {
      const directory = make();
      await run(directory, "vite", ["build"]);
      await site.answers(await served(t, join(directory, "dist")));
    });
  });
}

describe("webpack", slow, () => {
  for (const template of ["page", "worker", "serve"])
    test(`build, ${template}`, async (t) => {
      const directory = project(
        "webpack",
        { webpack: "5.112.2", "webpack-cli": "7.3.1" },
        template,
      );
      cpSync(join(TEMPLATES, "webpack"), directory, { recursive: true });
      await run(directory, "webpack", []);
      cpSync(
        join(directory, "index.html"),
        join(directory, "dist", "index.html"),
      );
      await site.answers(await served(t, join(directory, "dist")));
    });
});

describe("Parcel", slow, () => {
  test("dev", async (t) => {
    const words = (/** @type {string} */ port) => [
      "serve",
      "index.html",
      "--no-cache",
      "--host",
      "127.0.0.1",
      "--port",
      port,
    ];
    await site.answers(
      await started(
        t,
        project("parcel", { parcel: "2.16.4" }, "page"),
        "parcel",
        words,
        { ready: /Built in/ },
      ),
    );
  });

  for (const template of ["page", "worker", "serve"])
    test(`build, ${template}`, async (t) => {
      const directory = project("parcel", { parcel: "2.16.4" }, template);
      await run(directory, "parcel", ["build", "index.html", "--no-cache"]);
      await site.answers(await served(t, join(directory, "dist")));
    });
});

for (const bundler of ["webpack", "turbopack"]) {
  describe(`Next, ${bundler}`, slow, () => {
    const packages = { next: "16.4.6", react: "19.3.1", "react-dom": "19.3.1" };

    test("a client component, a server component and a route handler", async (t) => {
      const directory = project("next", packages, "next");
      await run(directory, "next", ["build", `--${bundler}`], {
        allow: /No build cache found/,
      });
      const url = await started(t, directory, "next", (port) => [
        "start",
        "--hostname",
        "127.0.0.1",
        "--port",
        port,
      ]);
      const api = await fetch(
        `${url}api?db=${encodeURIComponent(site.database)}`,
      );
      right(await api.text());
      await site.answers(`${url}server`);
      await site.answers(url);
    });

    test("dev", async (t) => {
      const directory = project("next", packages, "next");
      const words = (/** @type {string} */ port) => [
        "dev",
        `--${bundler}`,
        "--hostname",
        "127.0.0.1",
        "--port",
        port,
      ];
      // This warning appears on a busy machine.
      const url = await started(t, directory, "next", words, {
        allow: /Slow filesystem/,
      });
      const api = await fetch(
        `${url}api?db=${encodeURIComponent(site.database)}`,
      );
      right(await api.text());
      for (const page of [`${url}server`, url]) {
        // Compiles the page, without a time limit.
        await (
          await fetch(`${page}?db=${encodeURIComponent(site.database)}`)
        ).text();
        await site.answers(page, { allow: /\[Fast Refresh\]/ });
      }
    });
  });
}

describe("Wrangler", slow, () => {
  test("dev", async (t) => {
    const directory = project("wrangler", { wrangler: "4.56.0" }, "workerd");
    const words = (/** @type {string} */ port) => [
      "dev",
      "--ip",
      "127.0.0.1",
      "--port",
      port,
    ];
    const url = await started(t, directory, "wrangler", words, {
      ready: /Ready on/,
      allow: /update available|Request\.cf|workers\.cloudflare\.com/,
    });
    const answer = await fetch(
      `${url}?db=${encodeURIComponent(site.database)}`,
    );
    right(await answer.text());
  });
});

describe("other runtimes", slow, () => {
  /** These toolchains download binaries, which needs network access. */
  const had = async (
    /** @type {import("node:test").TestContext} */ t,
    /** @type {string} */ name,
    /** @type {string} */ version,
  ) => {
    try {
      const directory = project(name, { [name]: version }, "node");
      await run(directory, name, ["--version"]);
      return directory;
    } catch (error) {
      t.skip(`NOT TESTED in ${name}, which cannot be had: ${error}`);
      return undefined;
    }
  };

  test("Bun", async (t) => {
    const directory = await had(t, "bun", "1.4.5");
    if (directory)
      right(await run(directory, "bun", ["main.js", site.database]));
  });

  test("Deno", async (t) => {
    const directory = await had(t, "deno", "2.9.6");
    if (directory)
      right(
        await run(directory, "deno", [
          "run",
          "--node-modules-dir=manual",
          "--allow-net",
          "main.js",
          site.database,
        ]),
      );
  });
});

describe("test runners", slow, () => {
  test("Vitest", async () => {
    await run(
      project("vitest", { vitest: "4.1.0", vite: "8.3.8" }, "vitest"),
      "vitest",
      ["run"],
      { env: { DATABASE: site.database } },
    );
  });

  test("Jest, ES modules", async () => {
    const env = {
      DATABASE: site.database,
      NODE_OPTIONS: "--experimental-vm-modules",
    };
    await run(project("jest", { jest: "30.5.2" }, "jest"), "jest", [], {
      env,
      allow: /VM Modules is an experimental|trace-warnings/,
    });
  });
});
