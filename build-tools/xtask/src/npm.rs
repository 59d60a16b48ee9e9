//! The npm package: the WebAssembly module, its JavaScript in one small file, its types.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    shell::{call, command, root, say, target_dir},
    shrink::{self, shrink},
    stamp::Stamp,
    tools,
};

/// What is imported, what it is made of, and whether it is minified: Node shows the line in which an error was thrown.
const ENTRIES: [(&str, &str, bool); 18] = [
    ("index", "browser.ts", true),
    ("inline", "inline.ts", true),
    ("node", "node.ts", false),
    ("workerd", "workerd.ts", false),
    ("worker", "worker.ts", true),
    ("book", "book-browser.ts", true),
    ("book-inline", "book-inline.ts", true),
    ("book-node", "book-node.ts", false),
    ("book-workerd", "book-workerd.ts", false),
    ("game", "game.ts", true),
    ("openings", "openings.ts", true),
    ("analysis", "analysis-browser.ts", true),
    ("analysis-inline", "analysis-inline.ts", false),
    ("analysis-workerd", "analysis-workerd.ts", false),
    ("engine", "engine-browser.ts", true),
    ("engine-inline", "engine-inline.ts", false),
    ("engine-worker", "engine-worker.ts", true),
    ("evaluator", "evaluator.ts", true),
];

/// Declarations that come of the TypeScript.
const TYPES: [&str; 18] = [
    "index.d.ts",
    "inline.d.ts",
    "node.d.ts",
    "worker.d.ts",
    "game.d.ts",
    "directory.d.ts",
    "book.d.ts",
    "openings.d.ts",
    "analysis.d.ts",
    "engine.d.ts",
    "engine-messages.d.ts",
    "engine-worker.d.ts",
    "evaluator.d.ts",
    "kept.d.ts",
    "options.d.ts",
    "uci.d.ts",
    "errors.d.ts",
    "types.d.ts",
];

/// A module of the package.
struct Wasm {
    /// Its crate, the name of what is made of it, and that of its file.
    source: &'static str,
    name: &'static str,
    file: &'static str,
    /// The file that has it as a text.
    text: Option<&'static str>,
    profile: &'static str,
    /// Features of the crate.
    features: &'static str,
    simd: bool,
    /// The import within which it may be suspended, and the function that calls it, by a pattern.
    suspends: Option<(&'static str, &'static str)>,
}

const READER: Wasm = Wasm {
    source: "crate/wasm",
    name: "shelfish",
    file: "shelfish_bg.wasm",
    text: Some("wasm.js"),
    profile: "wasm",
    features: "",
    simd: false,
    suspends: None,
};
const ENGINE: Wasm = Wasm {
    source: "crate/engine/wasm",
    name: "shelfish_engine",
    file: "shelfish_engine_bg.wasm",
    text: Some("engine-wasm.js"),
    profile: "wasm-engine",
    features: "",
    simd: true,
    suspends: Some(("./engine-host.js.pause", "*Search*poll*")),
};

const MODULES: [Wasm; 5] = [
    READER,
    Wasm {
        name: "shelfish_book",
        file: "shelfish_book_bg.wasm",
        text: Some("book-wasm.js"),
        features: "moves",
        ..READER
    },
    Wasm {
        source: "crate/analysis/wasm",
        name: "shelfish_analysis",
        file: "shelfish_analysis_bg.wasm",
        text: Some("analysis-wasm.js"),
        ..READER
    },
    ENGINE,
    // For browsers without SIMD: Safari before 16.4, others before 2021.
    Wasm { file: "shelfish_engine_scalar_bg.wasm", text: None, simd: false, ..ENGINE },
];

/// How a module is started once it is compiled, which wasm-bindgen has but does not export.
const START: [(&str, &str); 2] = [
    ("js", "export { __wbg_get_imports as imports, __wbg_finalize_init as start };\n"),
    (
        "d.ts",
        "export function imports(): WebAssembly.Imports;\n\
         export function start(instance: WebAssembly.Instance, module: WebAssembly.Module): void;\n",
    ),
];

/// Letters that stand for bytes in the texts of modules, which `crate/js/text.ts` reads: what neither charsets nor quotes
/// change. The last two begin what takes two letters.
const LETTERS: &[u8] = b" !#%&'()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~";

/// Builds the package unless it is up to date; gives its directory.
pub fn build() -> Result<PathBuf> {
    let (crate_dir, js) = (root().join("crate"), root().join("crate/js"));
    let package = crate_dir.join("pkg");
    let parts = ["src", "wasm", "analysis", "engine", "Cargo.toml"].map(|name| crate_dir.join(name));
    let rest = ["crate/js", "build-tools/shelfish/openings", "Cargo.toml", "Cargo.lock", file!(), shrink::FILE]
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
    // What is gone must be neither found nor packed.
    for directory in [&built, &package].into_iter().filter(|directory| directory.exists()) {
        fs::remove_dir_all(directory)?;
    }
    fs::create_dir_all(&package)?;
    for module in MODULES {
        let name = module.name;
        let file = format!("{name}_bg.wasm");
        // One that has its script from another is made aside.
        let made = if file == module.file { built.clone() } else { built.join("aside") };
        let mut pack = command(&wasm_pack);
        pack.args(["build", module.source, "--target", "web", "--mode", "no-install", "--profile", module.profile]);
        pack.args(["--no-opt", "--no-pack", "--out-name", name, "--out-dir"]).arg(&made);
        pack.args(["--", "--features", module.features]);
        let simd = if module.simd { " -Ctarget-feature=+simd128" } else { "" };
        call(pack.env("PATH", tools::path()).env("RUSTFLAGS", flags() + simd))?;
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
            fs::write(package.join(texts), format!("export default \"{}\";\n", text(&module)))?;
        }
    }
    let [simd, scalar] = ["", "aside"].map(|folder| fs::read_to_string(built.join(folder).join("shelfish_engine.js")));
    ensure!(simd? == scalar?, "the engine's modules need different scripts");

    call(command(tools::node()?).arg(js.join("openings-table.mjs")).arg(built.join("openings-table.js")))?;
    let tool = |name: &str| command(js.join("node_modules/.bin").join(name));
    copy_sources(&js, &built)?;
    // What the engine's module imports, as it is.
    call(
        tool("esbuild").args(["engine-host.ts", "--outfile=engine-host.js", "--log-level=warning"]).current_dir(&built),
    )?;
    // What the viewer of games is made with is not beside these copies.
    let modules = js.join("node_modules");
    for (name, source, minify) in ENTRIES {
        // Each entry is a file of its own, which one request loads. Names are kept for who reads stacks, but not those of
        // what wasm-bindgen makes, which comes in afterwards.
        let face = format!("{name}-face.js");
        let entry = format!("package/{name}.js");
        let steps = [
            (source, &face, vec!["--keep-names", "--external:./shelfish*.js", "--external:./engine-host.js"]),
            (&face, &entry, minify.then_some("--minify").into_iter().collect()),
        ];
        for (from, to, options) in steps {
            let mut bundle = tool("esbuild");
            bundle.args([from, "--bundle", "--format=esm", "--target=es2022", "--sourcemap", "--log-level=warning"]);
            bundle.args([
                "--external:./*wasm.js",
                "--external:./*-text.js",
                "--external:./*.wasm",
                "--external:node:*",
            ]);
            if name == "game" {
                bundle.arg("--external:./index.js").env("NODE_PATH", &modules);
            }
            // wasm-bindgen names what is imported from once for each function.
            bundle.arg("--log-override:duplicate-object-key=silent").args(options);
            bundle.arg(format!("--outfile={to}"));
            call(bundle.current_dir(&built))?;
        }
        for file in [format!("{name}.js"), format!("{name}.js.map")] {
            copy(&built.join("package").join(&file), &package.join(&file))?;
        }
    }
    // The engine's Worker as a text, a classic script: what is made of a text cannot import anything.
    let mut script = tool("esbuild");
    script.args(["engine-worker-face.js", "--bundle", "--format=iife", "--target=es2022", "--minify"]);
    call(script.args(["--log-level=error", "--outfile=engine-worker-classic.js"]).current_dir(&built))?;
    let script = fs::read_to_string(built.join("engine-worker-classic.js"))?;
    fs::write(package.join("engine-worker-text.js"), format!("export default {};\n", quoted(&script)))?;
    declare(&js, &built, &package)?;
    for module in MODULES {
        let name = format!("{}.d.ts", module.file);
        copy(&js.join(&name), &package.join(&name))?;
    }
    for name in ["package.json", "README.md"] {
        copy(&js.join(name), &package.join(name))?;
    }
    copy(&root().join("LICENSE"), &package.join("LICENSE"))?;
    stamp.set()?;
    Ok(package)
}

/// Checks the types of the package and writes its declarations. Builds the package only if it has never been built.
pub fn types() -> Result<()> {
    let (js, built, package) = (root().join("crate/js"), target_dir().join("npm"), root().join("crate/pkg"));
    if !(built.join("openings-table.js").is_file() && package.join("index.js").is_file()) {
        return build().map(drop);
    }
    tools::npm_ci("crate/js")?;
    copy_sources(&js, &built)?;
    declare(&js, &built, &package)
}

/// Copies the TypeScript next to the bindings that it imports.
fn copy_sources(js: &Path, built: &Path) -> Result<()> {
    fs::create_dir_all(built.join("game"))?;
    for folder in ["", "game"] {
        for entry in fs::read_dir(js.join(folder))? {
            let path = entry?.path();
            if let Some(name) = path.file_name().filter(|name| name.to_string_lossy().ends_with(".ts")) {
                copy(&path, &built.join(folder).join(name))?;
            }
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
    types.args(["--project", "tsconfig.build.json", "--typeRoots"]).arg(modules.join("@types"));
    call(types.current_dir(built))?;
    for name in TYPES {
        copy(&built.join("types").join(name), &package.join(name))?;
    }
    Ok(())
}

/// Builds the cache in IndexedDB by itself, for its tests in Node; gives the directory of the module.
pub fn cache() -> Result<PathBuf> {
    let wasm_pack = tools::wasm_pack()?;
    let built = target_dir().join("npm-cache");
    let mut pack = command(wasm_pack);
    pack.args(["build", "crate/wasm", "--target", "nodejs", "--mode", "no-install", "--profile", READER.profile]);
    // Built as the reader's module is, so that what it depends on is there.
    pack.args(["--no-opt", "--no-pack", "--no-typescript", "--out-name", "cache", "--out-dir"]).arg(&built);
    pack.args(["--", "--features", "cache"]);
    call(pack.env("PATH", tools::path()).env("RUSTFLAGS", flags()))?;
    Ok(built)
}

/// Makes a module that goes on where it was when one of its imports had it suspended.
fn suspendable(module: &Path, import: &str, caller: &str) -> Result<()> {
    let mut asyncify = command(root().join("crate/js/node_modules/.bin/wasm-opt"));
    // Optimised before: the fewer calls and locals a function has, the less is added to it. The search asks through a
    // trait, whose calls would be taken for those of anything.
    asyncify.args(["-O3", "--asyncify", "--pass-arg=asyncify-ignore-indirect"]);
    asyncify.arg(format!("--pass-arg=asyncify-imports@{import}"));
    asyncify.arg(format!("--pass-arg=asyncify-addlist@{caller}")).arg("--pass-arg=asyncify-propagate-addlist");
    call(asyncify.arg("--debuginfo").arg(module).arg("-o").arg(module))
}

/// Makes a module smaller and faster. `tools::npm_ci("crate/js")` brings what does it.
pub fn optimise(module: &Path, to: &Path) -> Result<()> {
    let mut optimise = command(root().join("crate/js/node_modules/.bin/wasm-opt"));
    // Packed memory and inlined functions compress worse; Rust leaves the lowest kilobyte alone; what tools say of
    // themselves is for nobody. Alignments are hints that engines for today's processors ignore; all alike they compress
    // better.
    optimise.args(["-O3", "--converge", "--skip-pass=memory-packing", "--one-caller-inline-max-function-size=0"]);
    optimise.args(["--low-memory-unused", "--dealign"]);
    optimise.args(["--strip-debug", "--strip-producers", "--strip-target-features"]);
    call(optimise.arg(module).arg("-o").arg(to))
}

/// The module as a text: a byte takes a letter or two, the same ones wherever it stands, which leaves repetitions for
/// compression to find. In Brotli it is 4 % longer than the module; in Base64 it were 31 %.
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

/// Flags of the compiler. Panics name the files that they come from: without the path of this machine, and in few bytes.
/// Hashes take few, too. Data come after the stack: below a megabyte an address takes three bytes in code and not four.
pub fn flags() -> String {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let registries = home.and_then(|home| fs::read_dir(home.join("registry/src")).ok());
    let sources = registries.into_iter().flatten().flatten().map(|entry| entry.path()).chain([root()]);
    let paths = sources.map(|path| format!("--remap-path-prefix={}=.", path.display()));
    let small = ["--cfg=sha2_backend_soft=\"compact\"", "-Clink-arg=-zstack-size=524288"].map(str::to_string);
    paths.chain(small).collect::<Vec<_>>().join(" ")
}

/// A text as JavaScript has it in quotes.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

fn append(path: &Path, text: &str) -> Result<()> {
    let former = fs::read_to_string(path).with_context(|| format!("{} could not be read", path.display()))?;
    fs::write(path, former + text)?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("{} could not be copied to {}", from.display(), to.display()))?;
    Ok(())
}
