//! The npm package: the WebAssembly module, its JavaScript in one small file, its types.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{
    shell::{call, command, root, say, target_dir},
    stamp::Stamp,
    tools,
};

/// Builds the package unless it is up to date; gives its directory.
pub fn build() -> Result<PathBuf> {
    let (crate_dir, js) = (root().join("crate"), root().join("crate/js"));
    let package = crate_dir.join("pkg");
    let inputs = [crate_dir.join("src"), crate_dir.join("wasm"), crate_dir.join("Cargo.toml"), js.clone()];
    let inputs = [&inputs[..], &["Cargo.toml", "Cargo.lock", file!()].map(|file| root().join(file))].concat();
    let stamp = Stamp::new("npm-package", &package, &inputs)?;
    if stamp.fresh() && package.join("index.js").is_file() {
        return Ok(package);
    }

    let wasm_pack = tools::wasm_pack()?;
    tools::npm_ci("crate/js")?;
    say("Building the npm package");
    let built = target_dir().join("npm");
    let mut pack = command(wasm_pack);
    pack.args(["build", "crate/wasm", "--target", "web", "--mode", "no-install", "--profile", "wasm"]);
    pack.args(["--no-opt", "--no-pack", "--no-typescript", "--out-name", "shelfish", "--out-dir"]).arg(&built);
    call(pack.env("PATH", tools::path()).env("RUSTFLAGS", short_paths()))?;

    let tool = |name: &str| command(js.join("node_modules/.bin").join(name));
    fs::create_dir_all(&package)?;
    let mut optimise = tool("wasm-opt");
    // Packed memory and inlined functions compress worse; Rust leaves the lowest kilobyte alone; what tools say of
    // themselves is for nobody.
    optimise.args(["-O3", "--converge", "--skip-pass=memory-packing", "--one-caller-inline-max-function-size=0"]);
    optimise.args(["--low-memory-unused", "--strip-debug", "--strip-producers", "--strip-target-features"]);
    optimise.arg(built.join("shelfish_bg.wasm"));
    call(optimise.arg("-o").arg(package.join("shelfish_bg.wasm")))?;
    for name in ["index.js", "database.js", "errors.js", "exchange.js", "integrity.js", "store.js"] {
        copy(&js.join(name), &built.join(name))?;
    }
    let mut bundle = tool("esbuild");
    bundle.arg(built.join("index.js")).args(["--bundle", "--minify", "--format=esm", "--target=es2022"]);
    call(bundle.arg("--log-level=warning").arg(format!("--outfile={}", package.join("index.js").display())))?;
    for name in ["index.d.ts", "package.json", "README.md"] {
        copy(&js.join(name), &package.join(name))?;
    }
    copy(&root().join("LICENSE"), &package.join("LICENSE"))?;
    stamp.set()?;
    Ok(package)
}

/// Panics name the files that they come from: without the path of this machine, and in few bytes.
fn short_paths() -> String {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let registries = home.and_then(|home| fs::read_dir(home.join("registry/src")).ok());
    let sources = registries.into_iter().flatten().flatten().map(|entry| entry.path()).chain([root()]);
    sources.map(|path| format!("--remap-path-prefix={}=.", path.display())).collect::<Vec<_>>().join(" ")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("{} could not be copied to {}", from.display(), to.display()))?;
    Ok(())
}
