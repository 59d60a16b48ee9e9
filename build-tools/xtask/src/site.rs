//! `cargo xtask site` builds the folder to deploy, for any static host and any sub-path. `cargo xtask demo` builds it without the
//! documentation and serves it.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    thread,
};

use anyhow::{Context, Result, anyhow, bail};

use crate::{
    deployed::{base_url, may_replace, replace, serve, web_address},
    docs, npm,
    shell::{
        build_for_tests, call, command, npm as npm_command, program, programs, relative, root, say,
        target_dir,
    },
    stamp, tools,
};

/// Options of `cargo xtask site`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask site                                             # with the sample database
  cargo xtask site --database evals                            # with a copy of a local database
  cargo xtask site --database https://evals.example.org/       # with a database on another host
  cargo xtask site --base-url https://me.github.io/shelfish/   # with addresses for previews")]
pub struct Args {
    /// Database: a folder to copy, or the URL of a database that the pages read from its host, which must allow CORS
    /// [default: the sample of this repository]
    #[arg(long, value_name = "URL|DIR")]
    database: Option<String>,
    /// Folder to build
    #[arg(long, value_name = "DIR", default_value = "dist")]
    out: PathBuf,
    /// Address of the site, for search engines and previews of links
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Include the documentation of the crates in the pages of `docs/`
    #[arg(long)]
    crates: bool,
}

/// Evaluations of a site.
enum Database {
    /// A folder to copy to `db/`; without one, the sample.
    Folder(Option<PathBuf>),
    /// The manifest of a database on another host.
    Elsewhere(String),
}

/// Builds the folder.
pub fn run(args: &Args) -> Result<()> {
    let base = args.base_url.as_deref().map(base_url).transpose()?;
    let database = args.database.as_deref().map(chosen).transpose()?;
    assemble(
        &absolute(&args.out),
        database.unwrap_or(Database::Folder(None)),
        base.as_deref(),
        Some(args.crates),
    )?;
    done(&args.out)
}

/// Returns a path relative to the current folder as an absolute path.
fn absolute(path: &Path) -> PathBuf {
    std::env::current_dir().unwrap_or_default().join(path)
}

fn done(out: &Path) -> Result<()> {
    say(format!("Done: copy {} to any static host", out.display()));
    Ok(())
}

/// Options of `cargo xtask demo`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask demo                             # build the site and serve it on http://localhost:8000
  cargo xtask demo --no-serve --out ~/site     # only build the folder, for any static host

The pages have no documentation: `cargo xtask docs` builds it, and `cargo xtask site` builds both.")]
pub struct DemoArgs {
    /// Folder to build: plain files, for any static host and any sub-path
    #[arg(long, value_name = "DIR", default_value = "dist")]
    out: PathBuf,
    /// Build the folder and exit
    #[arg(long)]
    no_serve: bool,
    /// Port of the server [default: 8000, or any free port if 8000 is in use]
    #[arg(long)]
    port: Option<u16>,
}

/// Builds everything that is not up to date and serves the site.
pub fn demo(args: &DemoArgs) -> Result<()> {
    let out = absolute(&args.out);
    assemble(&out, Database::Folder(None), None, None)?;
    if args.no_serve {
        return done(&out);
    }
    serve(&out, args.port)
}

/// Builds the site with the sample database and the documentation in a folder of `target`.
pub fn sample() -> Result<PathBuf> {
    let out = target_dir().join("site");
    assemble(&out, Database::Folder(None), None, Some(false))?;
    Ok(out)
}

/// Builds a site. `crates` says whether its documentation contains that of the crates; without it, the site has no documentation.
fn assemble(
    out: &Path,
    database: Database,
    base: Option<&str>,
    crates: Option<bool>,
) -> Result<()> {
    build_for_tests();
    may_replace(out)?;
    tools::install_ahead(&["crate/js", "www"]);
    let elsewhere = match &database {
        Database::Elsewhere(manifest) => Some(manifest.as_str()),
        _ => None,
    };
    // The program and the modules share nothing: one fills the processor while the other links.
    let (folder, pages) = thread::scope(|scope| {
        let folder = scope.spawn(|| {
            programs(&["shelfish-cli"])?;
            match &database {
                Database::Folder(Some(folder)) => Ok(Some(folder.clone())),
                Database::Folder(None) => sample_database().map(Some),
                Database::Elsewhere(_) => Ok(None),
            }
        });
        // The demo does not load an archive of 161 MB.
        let stockfish = target_dir().join("tools/stockfish");
        let stockfish = (crates.is_some() || stockfish.is_dir()).then_some(stockfish);
        let pages = pages(elsewhere, base, stockfish.as_deref());
        (folder.join(), pages)
    });
    let folder = folder.map_err(|_| anyhow!("the build of the program panicked"))??;
    let pages = pages?;
    let docs = crates.map(|crates| docs::pages(base, crates)).transpose()?;
    let [book, endgames] = ["book", "endgames"].map(|name| root().join("static-shards").join(name));
    let mut inputs = vec![pages.clone(), book.clone(), endgames.clone()];
    inputs.extend(docs.iter().chain(&folder).cloned());
    stamp::make(out, &inputs, || {
        say(format!("Assembling the site in {}", relative(out)));
        replace(out, |site| {
            copy(&pages, site)?;
            // Without this file, GitHub Pages runs Jekyll on the folder.
            fs::write(site.join(".nojekyll"), "")?;
            copy(&book, &site.join("book"))?;
            for (folder, name) in [(&docs, "docs"), (&folder, "db")] {
                if let Some(folder) = folder {
                    copy(folder, &site.join(name))?;
                }
            }
            // GitHub Pages compresses files with unknown endings, which breaks ranges.
            call(
                command(program("shelfish"))
                    .args(["endgames", "index", "--copy-with", ".silo", "-o"])
                    .arg(site.join("endgames"))
                    .arg(&endgames),
            )
        })
    })
}

/// Builds the sample database of the site. Returns its folder.
fn sample_database() -> Result<PathBuf> {
    let (shelfish, folder) = (program("shelfish"), target_dir().join("demo/db"));
    let [sample, famous] = ["sample.jsonl.zst", "famous.jsonl.zst"]
        .map(|name| root().join("static-shards").join(name));
    let inputs = [sample, famous, shelfish];
    stamp::make(&folder, &inputs, || {
        say("Building the sample database");
        build_database(&inputs[..2], &folder)
    })?;
    Ok(folder)
}

/// Builds a database from dumps, in the place of a database of any format.
pub fn build_database(dumps: &[PathBuf], folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let mut build = command(program("shelfish"));
    call(build.arg("build").args(dumps).arg("-o").arg(folder))
}

/// Builds the pages, without a database. `stockfish` is the folder that keeps the files of Stockfish between builds.
fn pages(database: Option<&str>, base: Option<&str>, stockfish: Option<&Path>) -> Result<PathBuf> {
    let package = npm::build()?;
    tools::npm_ci("www")?;
    let (www, pages) = (root().join("www"), root().join("www/dist"));
    let games = root().join("static-shards/famous.pgn");
    // The options of the pages are an input of the pages.
    let deployment = target_dir().join("deployment");
    fs::write(&deployment, format!("{database:?} {base:?} {stockfish:?}"))?;
    stamp::make(&pages, &[www.clone(), package, games, deployment], || {
        say("Building the site");
        let mut build = npm_command();
        build.args(["run", "build"]).current_dir(&www);
        let options = [
            ("VITE_DATABASE", database.map(OsStr::new)),
            ("SHELFISH_SITE_URL", base.map(OsStr::new)),
            ("SHELFISH_STOCKFISH", stockfish.map(Path::as_os_str)),
        ];
        for (name, value) in options {
            match value {
                Some(value) => build.env(name, value),
                None => build.env_remove(name),
            };
        }
        call(&mut build)
    })?;
    Ok(pages)
}

/// Parses the value of `--database`.
fn chosen(name: &str) -> Result<Database> {
    if name.contains("://") {
        let url = web_address(name).context("--database")?;
        let is_manifest = url
            .split(['?', '#'])
            .next()
            .is_some_and(|path| path.ends_with(".json"));
        return Ok(Database::Elsewhere(if is_manifest {
            url.to_owned()
        } else {
            format!("{}/manifest.json", url.trim_end_matches('/'))
        }));
    }
    let folder = absolute(Path::new(name));
    if !folder.join("manifest.json").is_file() {
        bail!(
            "--database {name}: expected a folder with a manifest.json, or a URL; `shelfish build DUMP -o {name}` builds such a folder"
        );
    }
    Ok(Database::Folder(Some(folder)))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in
        fs::read_dir(from).with_context(|| format!("{} could not be read", from.display()))?
    {
        let (source, target) = {
            let entry = entry?;
            (entry.path(), to.join(entry.file_name()))
        };
        if source.is_dir() {
            copy(&source, &target)?;
        } else {
            fs::copy(&source, &target)
                .with_context(|| format!("{} could not be copied", source.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_database_on_another_host_is_named_by_its_folder_or_its_manifest() {
        for url in [
            "https://example.org/evals",
            "https://example.org/evals/",
            "https://example.org/evals/manifest.json",
        ] {
            let Database::Elsewhere(manifest) = chosen(url).unwrap() else {
                panic!("{url}")
            };
            assert_eq!(manifest, "https://example.org/evals/manifest.json");
        }
        assert!(chosen("no such folder").is_err());
    }
}
