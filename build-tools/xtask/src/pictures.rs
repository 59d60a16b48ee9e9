//! `cargo xtask pictures`: draws the pictures of the site that cannot be SVG. They are committed, because fonts differ between machines.

use anyhow::Result;

use crate::{
    shell::{call, command},
    tools,
};

/// Draws the pictures into `www/public`.
pub fn draw() -> Result<()> {
    let chromium = tools::chromium()?;
    tools::npm_ci("www")?;
    tools::npm_ci("tests")?;
    call(
        command(tools::node()?)
            .arg("tests/browser/draw.mjs")
            .env("CHROMIUM", chromium),
    )
}
