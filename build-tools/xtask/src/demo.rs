//! `cargo xtask demo`: from a fresh clone to a site with a sample database, served on this machine.

use std::{net::TcpListener, path::PathBuf};

use anyhow::Result;

use crate::{
    shell::{command, program, relative, say, take_over},
    site,
};

/// Options of `cargo xtask demo`.
#[derive(clap::Args)]
pub struct Args {
    /// The folder to make: plain files, for any static host and any sub-path
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Make the folder and stop
    #[arg(long)]
    no_serve: bool,
    /// Serve on this port rather than on 8000 or, if that is taken, any free one
    #[arg(long)]
    port: Option<u16>,
}

/// Builds what is not built yet and serves it.
pub fn run(args: &Args) -> Result<()> {
    let here = |out: &PathBuf| std::env::current_dir().unwrap_or_default().join(out);
    let site = site::sample(&args.out.as_ref().map_or_else(site::default_out, here))?;
    if args.no_serve {
        say(format!("Done: put {} on any static host", relative(&site)));
        return Ok(());
    }
    let free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = args.port.unwrap_or_else(|| [8000].into_iter().find(free).unwrap_or(0));
    say(format!("Serving {}", relative(&site)));
    take_over(command(program("shelfish")).arg("serve").arg(&site).args(["--port", &port.to_string()]))
}
