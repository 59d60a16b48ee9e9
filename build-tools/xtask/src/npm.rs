//! Builds the npm package: WebAssembly modules, JavaScript and types.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    databases,
    release::sha256,
    shell::{call, command, root, say, target_dir},
    shrink::{self, shrink},
    stamp::Stamp,
    tools,
};

/// Entries: name of the file, source, and whether the file is minified. Node shows the line of an error.
const ENTRIES: [(&str, &str, bool); 33] = [
    ("index", "database/browser.ts", true),
    ("inline", "database/inline.ts", true),
    ("node", "database/node.ts", false),
    ("workerd", "database/workerd.ts", false),
    ("worker", "worker/worker.ts", true),
    ("book", "book/browser.ts", true),
    ("book-inline", "book/inline.ts", true),
    ("book-node", "book/node.ts", false),
    ("book-workerd", "book/workerd.ts", false),
    ("explorer", "explorer/browser.ts", true),
    ("endgames", "endgames/browser.ts", true),
    ("endgames-inline", "endgames/inline.ts", true),
    ("endgames-node", "endgames/node.ts", false),
    ("endgames-workerd", "endgames/workerd.ts", false),
    ("game", "game/game.ts", true),
    ("openings", "openings/openings.ts", true),
    ("analysis", "analysis/browser.ts", true),
    ("analysis-inline", "analysis/inline.ts", false),
    ("analysis-workerd", "analysis/workerd.ts", false),
    ("engine", "engine/browser.ts", true),
    ("engine-inline", "engine/inline.ts", false),
    ("engine-worker", "engine/worker.ts", true),
    ("evaluator", "evaluator/evaluator.ts", true),
    ("uci", "uci/worker.ts", true),
    ("react", "react/react.ts", true),
    ("elements", "elements/elements.ts", true),
    ("lichess", "lichess/browser.ts", true),
    ("lichess-node", "lichess/server.ts", false),
    ("lichess-moves", "lichess/moves.ts", true),
    ("score", "score/index.ts", true),
    ("storage", "storage/indexed-db.ts", true),
    ("sample", "sample/sample.ts", false),
    ("cli", "cli/cli.ts", false),
];

/// Scripts of the package that are not bundled, because they only name other entries.
const NAMES: [(&str, &str); 3] = [
    ("explorer-inline.js", "explorer/inline.js"),
    ("explorer-node.js", "explorer/node.js"),
    ("explorer-workerd.js", "explorer/workerd.js"),
];

/// Entries that adapters and elements load when they need them.
const PARTS: [&str; 11] = [
    "index",
    "node",
    "book",
    "book-node",
    "explorer",
    "endgames",
    "engine",
    "evaluator",
    "analysis",
    "openings",
    "lichess-moves",
];

/// The service worker of the adapter for Lichess.
const SERVICE_WORKER: &str = "shelfish-lichess-sw.js";

/// A module of the package.
struct Wasm {
    /// Folder of the crate.
    source: &'static str,
    /// Name of its JavaScript.
    name: &'static str,
    /// Name of the module.
    file: &'static str,
    /// Name of the JavaScript that contains the module as text.
    text: Option<&'static str>,
    /// Profile of cargo.
    profile: &'static str,
    /// Whether the module uses SIMD.
    simd: bool,
    /// The import that may suspend the module, and a pattern of the functions that call the import.
    suspends: Option<(&'static str, &'static str)>,
}

const READER: Wasm = Wasm {
    source: "crate/wasm/evaluations",
    name: "shelfish",
    file: "shelfish_bg.wasm",
    text: Some("wasm.js"),
    profile: "wasm",
    simd: false,
    suspends: None,
};
const ENGINE: Wasm = Wasm {
    source: "crate/engine/wasm",
    name: "shelfish_engine",
    file: "shelfish_engine_bg.wasm",
    text: Some("engine-wasm.js"),
    profile: "wasm-engine",
    simd: true,
    suspends: Some(("./engine/host.js.pause", "*Search*poll*")),
};

const MODULES: [Wasm; 7] = [
    READER,
    Wasm {
        source: "crate/wasm/book",
        name: "shelfish_book",
        file: "shelfish_book_bg.wasm",
        text: Some("book-wasm.js"),
        ..READER
    },
    Wasm {
        source: "crate/wasm/explorer",
        name: "shelfish_explorer",
        file: "shelfish_explorer_bg.wasm",
        text: None,
        ..READER
    },
    Wasm {
        source: "crate/wasm/endgames",
        name: "shelfish_endgames",
        file: "shelfish_endgames_bg.wasm",
        text: Some("endgames-wasm.js"),
        profile: "wasm-small",
        ..READER
    },
    Wasm {
        source: "crate/analysis/wasm",
        name: "shelfish_analysis",
        file: "shelfish_analysis_bg.wasm",
        text: Some("analysis-wasm.js"),
        profile: "wasm-small",
        ..READER
    },
    ENGINE,
    // For browsers without SIMD: Safari before 16.4, others before 2021.
    Wasm {
        file: "shelfish_engine_scalar_bg.wasm",
        text: None,
        simd: false,
        ..ENGINE
    },
];

/// Exports of the functions that start a compiled module, which wasm-bindgen does not export.
const START: [(&str, &str); 2] = [
    (
        "js",
        "export { __wbg_get_imports as imports, __wbg_finalize_init as start };\n",
    ),
    (
        "d.ts",
        "export function imports(): WebAssembly.Imports;\n\
         export function start(instance: WebAssembly.Instance, module: WebAssembly.Module): void;\n",
    ),
];

/// Letters that encode the bytes of modules as text, as in `crate/js/shared/decode-module.ts`. Charsets and quotes do not change
/// them. The last two start codes of two letters.
const LETTERS: &[u8] =
    b" !#%&'()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~";

/// Builds the package unless it is up to date. Returns its directory.
pub fn build() -> Result<PathBuf> {
    let (crate_dir, js) = (root().join("crate"), root().join("crate/js"));
    let package = crate_dir.join("pkg");
    let parts = [
        "src",
        "wasm",
        "analysis",
        "endgames",
        "engine",
        "Cargo.toml",
    ]
    .map(|name| crate_dir.join(name));
    let rest = [
        "crate/js",
        "static-shards/package-sample",
        "build-tools/shelfish/openings",
        "Cargo.toml",
        "Cargo.lock",
        file!(),
        shrink::FILE,
    ]
    .map(|file| root().join(file));
    let inputs = [&parts[..], &rest].concat();
    let stamp = Stamp::new("npm-package", &package, &inputs)?;
    if stamp.fresh() && package.join("index.js").is_file() {
        return Ok(package);
    }

    let wasm_pack = tools::wasm_pack()?;
    tools::npm_ci("crate/js")?;
    say("Building the npm package");
    let built = target_dir().join("npm");
    // Removes files of former builds.
    for directory in [&built, &package]
        .into_iter()
        .filter(|directory| directory.exists())
    {
        fs::remove_dir_all(directory)?;
    }
    fs::create_dir_all(&package)?;
    for module in MODULES {
        let name = module.name;
        let file = format!("{name}_bg.wasm");
        // The scalar module uses the JavaScript of the other module.
        let made = if file == module.file {
            built.clone()
        } else {
            built.join("scalar")
        };
        let mut pack = command(&wasm_pack);
        pack.args([
            "build",
            module.source,
            "--target",
            "web",
            "--mode",
            "no-install",
            "--profile",
            module.profile,
        ]);
        pack.args(["--no-opt", "--no-pack", "--out-name", name, "--out-dir"])
            .arg(&made);
        let simd = if module.simd {
            " -Ctarget-feature=+simd128"
        } else {
            ""
        };
        call(
            pack.env("PATH", tools::path())
                .env("RUSTFLAGS", flags() + simd),
        )?;
        shrink(&made.join(&file), &made.join(format!("{name}.js")))?;
        for (ending, text) in START {
            append(&made.join(format!("{name}.{ending}")), text)?;
        }
        if let Some((import, caller)) = module.suspends {
            suspendable(&made.join(&file), import, caller)?;
        }
        optimise(&made.join(&file), &package.join(module.file))?;
        if let Some(texts) = module.text {
            let module = fs::read(package.join(module.file))?;
            fs::write(
                package.join(texts),
                format!("export default \"{}\";\n", text(&module)),
            )?;
        }
    }
    let [simd, scalar] = ["", "scalar"]
        .map(|folder| fs::read_to_string(built.join(folder).join("shelfish_engine.js")));
    ensure!(
        simd? == scalar?,
        "the engine's modules need different scripts"
    );

    let tool = |name: &str| command(js.join("node_modules/.bin").join(name));
    copy_sources(&js, &built)?;
    call(
        command(tools::node()?)
            .arg(js.join("openings/table.mjs"))
            .arg(built.join("openings/table.js")),
    )?;
    // The module of the engine imports this file.
    let mut host = tool("esbuild");
    host.args([
        "engine/host.ts",
        "--outfile=engine/host.js",
        "--log-level=warning",
    ]);
    call(host.current_dir(&built))?;
    // The copies cannot resolve chessops by their own folder.
    let modules = js.join("node_modules");
    let hashes = hashes(&package)?;
    for (name, source, minify) in ENTRIES {
        // Bundles each entry into a single file. The first step keeps names for stack traces; the second step adds the
        // JavaScript of wasm-bindgen without names.
        let face = format!("{name}-face.js");
        let entry = format!("package/{name}.js");
        // The errors of the adapter for UCI are lines without a stack.
        let names = (name != "uci").then_some("--keep-names");
        let own = ["--external:./shelfish*.js", "--external:./engine/host.js"];
        let steps = [
            (
                source,
                &face,
                names.into_iter().chain(own).collect::<Vec<_>>(),
            ),
            (
                &face,
                &entry,
                minify.then_some("--minify").into_iter().collect(),
            ),
        ];
        for (from, to, options) in steps {
            let mut bundle = tool("esbuild");
            bundle.args([
                from,
                "--bundle",
                "--format=esm",
                "--target=es2022",
                "--sourcemap",
                "--log-level=warning",
            ]);
            bundle.args([
                "--external:./*wasm.js",
                "--external:./*-text.js",
                "--external:./*.wasm",
                "--external:node:*",
            ]);
            if ["game", "lichess-moves"].contains(&name) {
                bundle
                    .arg("--external:./index.js")
                    .env("NODE_PATH", &modules);
            }
            // These entries load other entries when they need them.
            if ["uci", "react", "elements", "lichess", "lichess-node"].contains(&name) {
                bundle
                    .args(PARTS.map(|part| format!("--external:./{part}.js")))
                    .arg("--external:react");
            }
            bundle.args(&hashes);
            // wasm-bindgen repeats the key of a module for each import.
            bundle
                .arg("--log-override:duplicate-object-key=silent")
                .args(options);
            bundle.arg(format!("--outfile={to}"));
            call(bundle.current_dir(&built))?;
        }
        for file in [format!("{name}.js"), format!("{name}.js.map")] {
            copy(&built.join("package").join(&file), &package.join(&file))?;
        }
    }
    for (name, source) in NAMES {
        copy(&js.join(source), &package.join(name))?;
    }
    bundle_service_worker(&built, &package, &hashes)?;
    // The Worker of the engine as a classic script: a script from text cannot import modules.
    let mut script = tool("esbuild");
    script.args([
        "engine-worker-face.js",
        "--bundle",
        "--format=iife",
        "--target=es2022",
        "--minify",
    ]);
    call(
        script
            .args(["--log-level=error", "--outfile=engine-worker-classic.js"])
            .current_dir(&built),
    )?;
    let script = fs::read_to_string(built.join("engine-worker-classic.js"))?;
    fs::write(
        package.join("engine-worker-text.js"),
        format!("export default {};\n", quoted(&script)),
    )?;
    declare(&js, &built, &package)?;
    for module in MODULES {
        let name = format!("{}.d.ts", module.file);
        copy(&js.join("module.wasm.d.ts"), &package.join(&name))?;
    }
    for name in ["package.json", "README.md"] {
        copy(&js.join(name), &package.join(name))?;
    }
    copy(&root().join("LICENSE"), &package.join("LICENSE"))?;
    // The package contains the committed files, so that a build of the package needs no native program.
    copy_all(&databases::package_sample_folder(), &package.join("sample"))?;
    stamp.set()?;
    Ok(package)
}

/// Returns options that define the hashes of the modules.
fn hashes(package: &Path) -> Result<Vec<String>> {
    let hash = |module: &Wasm| -> Result<String> {
        let hash = sha256(&fs::read(package.join(module.file))?);
        Ok(format!(
            "--define:SHA256.{}=\"{}\"",
            module.file.trim_end_matches(".wasm"),
            &hash[..32]
        ))
    };
    MODULES.iter().map(hash).collect()
}

/// Bundles the service worker with the entries that it uses, because a service worker cannot import modules. The entries are bundled
/// already: each entry has its own WebAssembly module.
fn bundle_service_worker(built: &Path, package: &Path, hashes: &[String]) -> Result<()> {
    let bundle = |from: &str, to: &str, format: &str| {
        let mut bundle = command(root().join("crate/js/node_modules/.bin/esbuild"));
        bundle.args([
            from,
            "--bundle",
            "--target=es2022",
            "--sourcemap",
            "--log-level=warning",
        ]);
        bundle
            .args([format!("--format={format}"), format!("--outfile={to}")])
            .current_dir(built);
        bundle
    };
    let face = "package/service-worker-face.js";
    let parts = PARTS.map(|part| format!("--external:./{part}.js"));
    call(
        bundle("lichess/service-worker.ts", face, "esm")
            .args(parts)
            .args(hashes),
    )?;
    let mut whole = bundle(face, &format!("package/{SERVICE_WORKER}"), "iife");
    // The URLs of the modules are options.
    whole.args(["--minify", "--log-override:empty-import-meta=silent"]);
    call(&mut whole)?;
    for file in [SERVICE_WORKER.to_owned(), format!("{SERVICE_WORKER}.map")] {
        copy(&built.join("package").join(&file), &package.join(&file))?;
    }
    Ok(())
}

/// Checks the types of the package and writes its declarations. Builds the package only if it has never been built.
pub fn types() -> Result<()> {
    let (js, built, package) = (
        root().join("crate/js"),
        target_dir().join("npm"),
        root().join("crate/pkg"),
    );
    if !(built.join("openings/table.js").is_file() && package.join("index.js").is_file()) {
        return build().map(drop);
    }
    tools::npm_ci("crate/js")?;
    copy_sources(&js, &built)?;
    declare(&js, &built, &package)
}

/// Copies the TypeScript next to the bindings that it imports.
fn copy_sources(js: &Path, built: &Path) -> Result<()> {
    let names = |folder: &Path| -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>();
        entries.with_context(|| format!("{} could not be listed", folder.display()))
    };
    for folder in names(js)?
        .into_iter()
        .filter(|path| path.is_dir())
        .chain([js.to_path_buf()])
    {
        let to = built.join(folder.strip_prefix(js)?);
        for file in names(&folder)?
            .iter()
            .filter(|path| path.extension().is_some_and(|ending| ending == "ts"))
        {
            fs::create_dir_all(&to)?;
            copy(file, &to.join(file.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}

/// Checks the types of the TypeScript and writes the declarations of the package.
fn declare(js: &Path, built: &Path, package: &Path) -> Result<()> {
    let modules = js.join("node_modules");
    fs::write(built.join("package.json"), "{ \"type\": \"module\" }\n")?;
    copy(&js.join("tsconfig.json"), &built.join("tsconfig.json"))?;
    let chessops = modules.join("chessops/dist/types/*.d.ts");
    let paths = format!(r#"{{ "paths": {{ "chessops/*": [{chessops:?}] }} }}"#);
    let config = format!(r#"{{ "extends": "./tsconfig.json", "compilerOptions": {paths} }}"#);
    fs::write(built.join("tsconfig.build.json"), config)?;
    let mut types = command(modules.join(".bin/tsc"));
    types
        .args(["--project", "tsconfig.build.json", "--typeRoots"])
        .arg(modules.join("@types"));
    call(types.current_dir(built))?;
    copy_all(&built.join("types"), &package.join("types"))
}

/// Builds a module of only the cache in IndexedDB, for its tests in Node. Returns the directory of the module.
pub fn cache() -> Result<PathBuf> {
    let wasm_pack = tools::wasm_pack()?;
    let built = target_dir().join("npm-cache");
    let mut pack = command(wasm_pack);
    pack.args([
        "build",
        READER.source,
        "--target",
        "nodejs",
        "--mode",
        "no-install",
        "--profile",
        READER.profile,
    ]);
    // The same profile as the reader, so that its dependencies are already built.
    pack.args([
        "--no-opt",
        "--no-pack",
        "--no-typescript",
        "--out-name",
        "cache",
        "--out-dir",
    ])
    .arg(&built);
    pack.args(["--", "--features", "cache"]);
    call(pack.env("PATH", tools::path()).env("RUSTFLAGS", flags()))?;
    Ok(built)
}

/// Makes a module that an import can suspend and resume.
fn suspendable(module: &Path, import: &str, caller: &str) -> Result<()> {
    let mut asyncify = command(root().join("crate/js/node_modules/.bin/wasm-opt"));
    // Optimises first, because Asyncify adds code for each call and local. The search calls the import through a trait, and
    // Asyncify would otherwise instrument all indirect calls.
    asyncify.args(["-O3", "--asyncify", "--pass-arg=asyncify-ignore-indirect"]);
    asyncify.arg(format!("--pass-arg=asyncify-imports@{import}"));
    asyncify
        .arg(format!("--pass-arg=asyncify-addlist@{caller}"))
        .arg("--pass-arg=asyncify-propagate-addlist");
    call(
        asyncify
            .arg("--debuginfo")
            .arg(module)
            .arg("-o")
            .arg(module),
    )
}

/// Makes a module smaller and faster. `tools::npm_ci("crate/js")` installs the optimiser.
pub fn optimise(module: &Path, to: &Path) -> Result<()> {
    let mut optimise = command(root().join("crate/js/node_modules/.bin/wasm-opt"));
    // Packed memory and inlined functions compress worse. Rust does not use the lowest kilobyte. Current processors ignore
    // alignments, and equal alignments compress better.
    optimise.args([
        "-O3",
        "--converge",
        "--skip-pass=memory-packing",
        "--one-caller-inline-max-function-size=0",
    ]);
    optimise.args(["--low-memory-unused", "--dealign"]);
    optimise.args([
        "--strip-debug",
        "--strip-producers",
        "--strip-target-features",
    ]);
    call(optimise.arg(module).arg("-o").arg(to))
}

/// Encodes a module as text. A byte has the same one or two letters everywhere, so that repetitions remain. In Brotli the text
/// is 4 % longer than the module; Base64 would be 31 % longer.
fn text(module: &[u8]) -> String {
    let single = LETTERS.len() - 2;
    let mut text = String::new();
    for byte in module.iter().map(|byte| usize::from(*byte)) {
        if let Some(more) = byte.checked_sub(single) {
            text.push(char::from(LETTERS[single + more / LETTERS.len()]));
            text.push(char::from(LETTERS[more % LETTERS.len()]));
        } else {
            text.push(char::from(LETTERS[byte]));
        }
    }
    text
}

/// Returns flags of the compiler: short paths in panics, compact hashes, and a small stack. Data follow the stack, and
/// addresses below a megabyte take three bytes in code instead of four.
pub fn flags() -> String {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")));
    let registries = home.and_then(|home| fs::read_dir(home.join("registry/src")).ok());
    let sources = registries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .chain([root()]);
    let paths = sources.map(|path| format!("--remap-path-prefix={}=.", path.display()));
    let small = [
        "--cfg=sha2_backend_soft=\"compact\"",
        "-Clink-arg=-zstack-size=524288",
    ]
    .map(str::to_string);
    paths.chain(small).collect::<Vec<_>>().join(" ")
}

/// Quotes a text for JavaScript.
fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}

fn append(path: &Path, text: &str) -> Result<()> {
    let former = fs::read_to_string(path)
        .with_context(|| format!("{} could not be read", path.display()))?;
    fs::write(path, former + text)?;
    Ok(())
}

/// Copies a folder with its subfolders.
fn copy_all(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_all(&entry.path(), &target)?
        } else {
            copy(&entry.path(), &target)?
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)
        .with_context(|| format!("{} could not be copied to {}", from.display(), to.display()))?;
    Ok(())
}
