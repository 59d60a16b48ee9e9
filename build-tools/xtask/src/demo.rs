//! `cargo xtask demo`: from a fresh clone to a site with a sample database, served on this machine.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{
    npm,
    shell::{call, cargo, command, npm as npm_command, relative, release_binary, root, say, take_over, target_dir},
    stamp::Stamp,
    tools,
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
    let out = args.out.as_ref().map_or_else(default_out, |out| std::env::current_dir().unwrap_or_default().join(out));
    let site = assemble(&out)?;
    if args.no_serve {
        say(format!("Done: put {} on any static host", relative(&site)));
        return Ok(());
    }
    let free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = args.port.unwrap_or_else(|| [8000].into_iter().find(free).unwrap_or(0));
    say(format!("Serving {}", relative(&site)));
    take_over(command(release_binary("shelfish")).arg("serve").arg(&site).args(["--port", &port.to_string()]))
}

/// Where the site goes unless told otherwise.
pub fn default_out() -> PathBuf {
    root().join("dist")
}

/// Makes the folder of the site with its database in `db/`.
pub fn assemble(out: &Path) -> Result<PathBuf> {
    cli()?;
    let database = database()?;
    let pages = site()?;
    let stamp = Stamp::new("assemble", out, &[database.clone(), pages.clone()])?;
    if !(stamp.fresh() && out.join("db").is_dir()) {
        say(format!("Putting the site together in {}", relative(out)));
        copy(&pages, out)?;
        // The manifest goes last: it names the others.
        copy(&database, &out.join("db"))?;
        // GitHub Pages would otherwise run the folder through Jekyll.
        fs::write(out.join(".nojekyll"), "")?;
        stamp.set()?;
    }
    Ok(out.to_path_buf())
}

/// The native program.
pub fn cli() -> Result<()> {
    say("Building the shelfish program");
    call(cargo().args(["build", "--release", "--package", "shelfish-cli"]))
}

/// The sample database, from the dumps in `static-shards`.
fn database() -> Result<PathBuf> {
    let (dumps, database) = (root().join("static-shards"), target_dir().join("demo").join("db"));
    let [sample, famous] = ["sample.jsonl.zst", "famous.jsonl.zst"].map(|name| dumps.join(name));
    let shelfish = release_binary("shelfish");
    let stamp = Stamp::new("database", &database, &[sample.clone(), famous.clone(), shelfish.clone()])?;
    if !(stamp.fresh() && database.join("manifest.json").is_file()) {
        say("Building the sample database");
        fs::create_dir_all(&database)?;
        call(command(shelfish).arg("build").args([sample, famous]).arg("-o").arg(&database))?;
        stamp.set()?;
    }
    Ok(database)
}

/// The site without a database.
pub fn site() -> Result<PathBuf> {
    let package = npm::build()?;
    tools::npm_ci("www")?;
    let (www, pages) = (root().join("www"), root().join("www").join("dist"));
    let games = root().join("static-shards").join("famous.pgn");
    let stamp = Stamp::new("site", &pages, &[www.clone(), package, games])?;
    if !(stamp.fresh() && pages.join("index.html").is_file()) {
        say("Building the site");
        call(npm_command().args(["run", "build"]).current_dir(&www))?;
        stamp.set()?;
    }
    Ok(pages)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("{} could not be replaced", to.display()))?;
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("{} could not be read", from.display()))? {
        let (source, target) = {
            let entry = entry?;
            (entry.path(), to.join(entry.file_name()))
        };
        if source.is_dir() {
            copy(&source, &target)?;
        } else {
            fs::copy(&source, &target).with_context(|| format!("{} could not be copied", source.display()))?;
        }
    }
    Ok(())
}
