//! The npm package: the WebAssembly module, its JavaScript and its types.

use std::path::PathBuf;

use anyhow::Result;

use crate::{
    shell::{call, command, root, say},
    tools,
};

/// Builds the package unless it is up to date; gives its directory.
pub fn build() -> Result<PathBuf> {
    let wasm_pack = tools::wasm_pack()?;
    say("Building the WebAssembly module");
    let build = ["build", "crate", "--target", "web", "--mode", "no-install", "--profile", "wasm"];
    call(command(wasm_pack).args(build).env("PATH", tools::path()))?;
    Ok(root().join("crate").join("pkg"))
}
