//! Builds the example of a web app in Rust as its README does, but smaller.

use std::{fs, path::PathBuf};

use anyhow::Result;

use crate::{
    npm,
    shell::{call, command, root, say, target_dir},
    stamp::Stamp,
    tools,
};

/// Builds the app unless it is up to date. Returns the folder to serve.
pub fn build() -> Result<PathBuf> {
    let (source, app) = (
        root().join("crate/examples/web-app"),
        target_dir().join("web-app"),
    );
    let inputs = [
        "crate/src",
        "crate/Cargo.toml",
        "crate/js/package-lock.json",
        "Cargo.toml",
        "Cargo.lock",
        file!(),
    ];
    let inputs = [
        vec![source.clone()],
        inputs.map(|input| root().join(input)).to_vec(),
    ]
    .concat();
    let stamp = Stamp::new("web-app", &app, &inputs)?;
    if stamp.fresh() && app.join("pkg").is_dir() {
        return Ok(app);
    }

    let wasm_pack = tools::wasm_pack()?;
    tools::npm_ci("crate/js")?;
    say("Building the web app in Rust");
    if app.exists() {
        fs::remove_dir_all(&app)?;
    }
    let mut pack = command(wasm_pack);
    pack.arg("build").arg(&source).args([
        "--target",
        "web",
        "--mode",
        "no-install",
        "--profile",
        "wasm",
    ]);
    pack.args(["--no-opt", "--no-pack", "--no-typescript", "--out-dir"])
        .arg(app.join("pkg"));
    call(
        pack.env("PATH", tools::path())
            .env("RUSTFLAGS", npm::flags()),
    )?;
    let module = app.join("pkg/shelfish_web_app_bg.wasm");
    npm::optimise(&module, &module)?;
    fs::copy(source.join("index.html"), app.join("index.html"))?;
    stamp.set()?;
    Ok(app)
}
