//! The npm package: the WebAssembly module, its JavaScript in one small file, its types.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{
    places,
    shell::{call, command, root, say, target_dir},
    shrink::{self, shrink},
    stamp::Stamp,
    tools,
};

/// What is imported, what it is made of, and whether it is minified: Node shows the line in which an error was thrown.
const ENTRIES: [(&str, &str, bool); 9] = [
    ("index", "browser.ts", true),
    ("inline", "inline.ts", true),
    ("node", "node.ts", false),
    ("workerd", "workerd.ts", false),
    ("worker", "worker.ts", true),
    ("game", "game.ts", true),
    ("analysis", "analysis-browser.ts", true),
    ("analysis-inline", "analysis-inline.ts", false),
    ("analysis-workerd", "analysis-workerd.ts", false),
];

/// Declarations that come of the TypeScript.
const TYPES: [&str; 8] = [
    "index.d.ts",
    "inline.d.ts",
    "node.d.ts",
    "worker.d.ts",
    "game.d.ts",
    "analysis.d.ts",
    "errors.d.ts",
    "types.d.ts",
];

/// The modules: the crate of each, the name of what is made of it, and the file that has it as a text.
const MODULES: [(&str, &str, &str); 2] =
    [("crate/wasm", "shelfish", "wasm.js"), ("crate/analysis/wasm", "shelfish_analysis", "analysis-wasm.js")];

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
    let parts = ["src", "wasm", "analysis", "Cargo.toml"].map(|name| crate_dir.join(name));
    let rest =
        ["crate/js", "Cargo.toml", "Cargo.lock", file!(), places::FILE, shrink::FILE].map(|file| root().join(file));
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
    for (source, name, texts) in MODULES {
        let mut pack = command(&wasm_pack);
        pack.args(["build", source, "--target", "web", "--mode", "no-install", "--profile", "wasm"]);
        pack.args(["--no-opt", "--no-pack", "--out-name", name, "--out-dir"]).arg(&built);
        call(pack.env("PATH", tools::path()).env("RUSTFLAGS", flags()))?;
        let file = format!("{name}_bg.wasm");
        shrink(&built.join(&file), &built.join(format!("{name}.js")))?;
        for (ending, text) in START {
            append(&built.join(format!("{name}.{ending}")), text)?;
        }
        optimise(&built.join(&file), &package.join(&file))?;
        places::forget(&package.join(&file))?;
        let module = fs::read(package.join(&file))?;
        fs::write(package.join(texts), format!("export default \"{}\";\n", text(&module)))?;
    }

    let tool = |name: &str| command(js.join("node_modules/.bin").join(name));
    fs::create_dir_all(built.join("game"))?;
    for folder in ["", "game"] {
        for entry in fs::read_dir(js.join(folder))? {
            let path = entry?.path();
            if let Some(name) = path.file_name().filter(|name| name.to_string_lossy().ends_with(".ts")) {
                copy(&path, &built.join(folder).join(name))?;
            }
        }
    }
    // What the viewer of games is made with is not beside these copies.
    let modules = js.join("node_modules");
    for (name, source, minify) in ENTRIES {
        // Each entry is a file of its own, which one request loads. Names are kept for who reads stacks, but not those of
        // what wasm-bindgen makes, which comes in afterwards.
        let face = format!("{name}-face.js");
        let entry = format!("package/{name}.js");
        let steps = [
            (source, &face, vec!["--keep-names", "--external:./shelfish.js", "--external:./shelfish_analysis.js"]),
            (&face, &entry, minify.then_some("--minify").into_iter().collect()),
        ];
        for (from, to, options) in steps {
            let mut bundle = tool("esbuild");
            bundle.args([from, "--bundle", "--format=esm", "--target=es2022", "--sourcemap", "--log-level=warning"]);
            bundle.args(["--external:./*wasm.js", "--external:./*.wasm", "--external:node:*"]);
            if name == "game" {
                bundle.arg("--external:./index.js").env("NODE_PATH", &modules);
            }
            bundle.args(options);
            bundle.arg(format!("--outfile={to}"));
            call(bundle.current_dir(&built))?;
        }
        for file in [format!("{name}.js"), format!("{name}.js.map")] {
            copy(&built.join("package").join(&file), &package.join(&file))?;
        }
    }
    fs::write(built.join("package.json"), "{ \"type\": \"module\" }\n")?;
    copy(&js.join("tsconfig.json"), &built.join("tsconfig.json"))?;
    let chessops = modules.join("chessops/dist/types/*.d.ts");
    let paths = format!(r#"{{ "paths": {{ "chessops/*": [{chessops:?}] }} }}"#);
    let config = format!(r#"{{ "extends": "./tsconfig.json", "compilerOptions": {paths} }}"#);
    fs::write(built.join("tsconfig.build.json"), config)?;
    let mut types = tool("tsc");
    types.args(["--project", "tsconfig.build.json", "--typeRoots"]).arg(modules.join("@types"));
    call(types.current_dir(&built))?;
    for name in TYPES {
        copy(&built.join("types").join(name), &package.join(name))?;
    }
    for name in ["shelfish_bg.wasm.d.ts", "shelfish_analysis_bg.wasm.d.ts", "package.json", "README.md"] {
        copy(&js.join(name), &package.join(name))?;
    }
    copy(&root().join("LICENSE"), &package.join("LICENSE"))?;
    stamp.set()?;
    Ok(package)
}

/// Builds the cache in IndexedDB by itself, for its tests in Node; gives the directory of the module.
pub fn cache() -> Result<PathBuf> {
    let wasm_pack = tools::wasm_pack()?;
    let built = target_dir().join("npm-cache");
    let mut pack = command(wasm_pack);
    pack.args(["build", "crate/wasm", "--target", "nodejs", "--mode", "no-install", "--dev", "--no-pack"]);
    pack.args(["--no-typescript", "--out-name", "cache", "--out-dir"]).arg(&built).args(["--", "--features", "cache"]);
    call(pack.env("PATH", tools::path()))?;
    Ok(built)
}

/// Makes a module smaller and faster. `tools::npm_ci("crate/js")` brings what does it.
pub fn optimise(module: &Path, to: &Path) -> Result<()> {
    let mut optimise = command(root().join("crate/js/node_modules/.bin/wasm-opt"));
    // Packed memory and inlined functions compress worse; Rust leaves the lowest kilobyte alone; what tools say of
    // themselves is for nobody.
    optimise.args(["-O3", "--converge", "--skip-pass=memory-packing", "--one-caller-inline-max-function-size=0"]);
    optimise.args(["--low-memory-unused", "--strip-debug", "--strip-producers", "--strip-target-features"]);
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

fn append(path: &Path, text: &str) -> Result<()> {
    let former = fs::read_to_string(path).with_context(|| format!("{} could not be read", path.display()))?;
    fs::write(path, former + text)?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("{} could not be copied to {}", from.display(), to.display()))?;
    Ok(())
}
