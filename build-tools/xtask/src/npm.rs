//! Builds the npm package: wasm-pack makes the modules and their bindings, `crate/js/build.mjs` the files of the package.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::Result;

use crate::{
    shell::{call, command, root, say, target_dir},
    stamp, tools,
};

/// Modules of the package: folder of the crate, its features, and name. The engine has its own profile and uses SIMD.
const MODULES: [(&str, &str, &str); 4] = [
    ("crate/wasm", "", "shelfish"),
    ("crate/wasm", "endgames", "shelfish_endgames"),
    ("crate/analysis/wasm", "", "shelfish_analysis"),
    ("crate/engine/wasm", "", "shelfish_engine"),
];

/// Builds the package unless it is up to date. Returns its directory.
pub fn build() -> Result<PathBuf> {
    let (package, built) = (root().join("crate/pkg"), target_dir().join("npm"));
    let inputs = [
        "crate/src",
        "crate/wasm",
        "crate/analysis",
        "crate/endgames",
        "crate/engine",
        "crate/Cargo.toml",
        "crate/js",
        "static-shards/package-sample",
        "static-shards/package-book",
        "static-shards/package-endgames",
        "build-tools/shelfish/openings",
        "Cargo.toml",
        "Cargo.lock",
        file!(),
    ]
    .map(|file| root().join(file));
    stamp::make(&package.join("index.js"), &inputs, || {
        tools::npm_ci("crate/js")?;
        say("Building the npm package");
        // Removes files of former builds.
        for directory in [&built, &package] {
            if directory.exists() {
                fs::remove_dir_all(directory)?;
            }
        }
        fs::create_dir_all(&package)?;
        for (source, features, name) in MODULES {
            let (profile, flags) = match name {
                "shelfish_engine" => ("wasm-engine", "-Ctarget-feature=+simd128"),
                _ => ("wasm", ""),
            };
            let options = ["--profile", profile, "--out-name", name];
            let features = ["--", "--features", features];
            wasm_pack(source, &built, flags, &[&options[..], &features].concat())?;
        }
        bundle(&built, &[])
    })?;
    Ok(package)
}

/// Checks the types of the package and writes its declarations. Builds the package only if it has never been built.
pub fn types() -> Result<()> {
    let built = target_dir().join("npm");
    if !root().join("crate/pkg/types").is_dir() || !built.is_dir() {
        return build().map(drop);
    }
    tools::npm_ci("crate/js")?;
    bundle(&built, &["--types"])
}

fn bundle(built: &Path, options: &[&str]) -> Result<()> {
    let mut bundle = command(tools::node()?);
    call(bundle.arg("crate/js/build.mjs").arg(built).args(options))
}

/// Builds the example of a web app in Rust unless it is up to date. Returns the folder to serve.
pub fn web_app() -> Result<PathBuf> {
    let (source, app) = ("crate/examples/web-app", target_dir().join("web-app"));
    let inputs = [
        "crate/src",
        "crate/Cargo.toml",
        "Cargo.toml",
        "Cargo.lock",
        source,
    ];
    stamp::make(&app, &inputs.map(|input| root().join(input)), || {
        let options = ["--profile", "wasm", "--no-typescript"];
        wasm_pack(source, &app.join("pkg"), "", &options)?;
        let page = root().join(source).join("index.html");
        fs::copy(page, app.join("index.html"))?;
        Ok(())
    })?;
    Ok(app)
}

/// Builds a module and its bindings.
fn wasm_pack(source: &str, out: &Path, flags: &str, options: &[&str]) -> Result<()> {
    let mut pack = command(tools::wasm_pack()?);
    pack.args([
        "build",
        source,
        "--target",
        "web",
        "--mode",
        "no-install",
        "--no-opt",
        "--no-pack",
        "--out-dir",
    ])
    .arg(out)
    .args(options);
    // Short paths in panics, compact hashes, and a small stack. Data follow the stack, and addresses below a megabyte take three
    // bytes in code instead of four.
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")));
    let registries = home.and_then(|home| fs::read_dir(home.join("registry/src")).ok());
    let paths: String = registries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .chain([root()])
        .map(|path| format!("--remap-path-prefix={}=. ", path.display()))
        .collect();
    let small = "--cfg=sha2_backend_soft=\"compact\" -Clink-arg=-zstack-size=524288";
    call(
        pack.env("PATH", tools::path())
            .env("RUSTFLAGS", format!("{paths}{small} {flags}").trim_end()),
    )
}
