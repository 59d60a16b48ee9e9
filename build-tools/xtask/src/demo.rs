//! `cargo xtask demo`: builds the site with a sample database and serves it on this machine.

use std::{net::TcpListener, path::PathBuf};

use anyhow::Result;

use crate::{
    shell::{relative, say},
    site,
};

/// Options of `cargo xtask demo`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask demo                             # build the site and serve it on http://localhost:8000
  cargo xtask demo --no-serve --out ~/site     # only build the folder, for any static host")]
pub struct Args {
    /// Folder to build: plain files, for any static host and any sub-path [default: dist]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Build the folder and exit
    #[arg(long)]
    no_serve: bool,
    /// Port of the server [default: 8000, or any free port if 8000 is in use]
    #[arg(long)]
    port: Option<u16>,
}

/// Builds everything that is not up to date and serves the site.
pub fn run(args: &Args) -> Result<()> {
    let here = |out: &PathBuf| std::env::current_dir().unwrap_or_default().join(out);
    let site = site::sample(&args.out.as_ref().map_or_else(site::default_out, here))?;
    if args.no_serve {
        say(format!("Done: copy {} to any static host", relative(&site)));
        return Ok(());
    }
    let free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = args
        .port
        .unwrap_or_else(|| [8000].into_iter().find(free).unwrap_or(0));
    site::serve(&site, port)
}
