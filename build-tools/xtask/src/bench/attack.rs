//! `cargo xtask bench-attack`: measures the cost of hostile blocks and manifests for a reader, natively and in WebAssembly.

use anyhow::Result;

use crate::{
    npm,
    shell::{call, command, program, programs, say, target_dir},
    tools,
};

/// Measures and prints two tables in Markdown.
pub fn run() -> Result<()> {
    npm::build()?;
    tools::npm_ci("tests")?;
    programs(&["shelfish-attack"])?;
    let attacks = target_dir().join("attacks");
    if attacks.exists() {
        std::fs::remove_dir_all(&attacks)?;
    }
    call(command(program("attack")).arg("write").arg(&attacks))?;
    say("Measuring");
    call(command(program("attack")).arg("measure"))?;
    call(
        command(tools::node()?)
            .arg("tests/npm/attack-cost.mjs")
            .arg(&attacks),
    )
}
