//! `cargo xtask site` builds the folder to deploy, for any static host and any sub-path. `cargo xtask demo` builds it without the
//! documentation and serves it.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    thread,
};

use anyhow::{Context, Result, anyhow, bail};

use crate::{
    databases,
    deployed::{base_url, may_replace, replace, serve, web_address},
    docs, npm,
    shell::{
        build_for_tests, call, command, npm as npm_command, program, relative, root, say,
        target_dir,
    },
    stamp::Stamp,
    tools,
};

/// Options of `cargo xtask site`.
#[derive(clap::Args, Clone, Default)]
#[command(after_help = "Examples:
  cargo xtask site                                             # with the sample database
  cargo xtask site --database evals                            # with a copy of a local database
  cargo xtask site --database https://evals.example.org/       # with a database on another host
  cargo xtask site --base-url https://me.github.io/shelfish/   # with a sitemap and addresses for previews")]
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

/// Origin of the evaluations of a site.
enum Database {
    /// A folder to copy to `db/`.
    Folder(PathBuf),
    /// The manifest of a database on another host.
    Elsewhere(String),
}

/// Builds the folder.
pub fn run(args: &Args) -> Result<()> {
    let out = std::env::current_dir().unwrap_or_default().join(&args.out);
    let base = args.base_url.as_deref().map(base_url).transpose()?;
    let database = args.database.as_deref().map(chosen).transpose()?;
    let docs = if args.crates {
        Docs::Crates
    } else {
        Docs::Guides
    };
    let site = assemble(&out, database, base.as_deref(), docs)?;
    say(format!("Done: copy {} to any static host", relative(&site)));
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
    let out = std::env::current_dir().unwrap_or_default().join(&args.out);
    assemble(&out, None, None, Docs::None)?;
    if args.no_serve {
        say(format!("Done: copy {} to any static host", relative(&out)));
        return Ok(());
    }
    let is_free = TcpListener::bind(("127.0.0.1", 8000)).is_ok();
    serve(&out, args.port.unwrap_or(if is_free { 8000 } else { 0 }))
}

/// Builds the site with the sample database and the documentation in a folder of `target`.
pub fn sample() -> Result<PathBuf> {
    assemble(&target_dir().join("site"), None, None, Docs::Guides)
}

/// Documentation in a site.
#[derive(Clone, Copy, PartialEq)]
enum Docs {
    None,
    Guides,
    /// Also of the crates.
    Crates,
}

fn assemble(
    out: &Path,
    database: Option<Database>,
    base: Option<&str>,
    docs: Docs,
) -> Result<PathBuf> {
    build_for_tests();
    may_replace(out)?;
    let (folder, elsewhere) = match database {
        None => (None, None),
        Some(Database::Folder(folder)) => (Some(folder), None),
        Some(Database::Elsewhere(manifest)) => (None, Some(manifest)),
    };
    tools::install_ahead(&["crate/js", "www"]);
    // The program and the modules share nothing: one fills the processor while the other links.
    let (program_built, pages) = thread::scope(|scope| {
        let program_built = scope.spawn(|| match (&folder, &elsewhere) {
            (None, None) => databases::sample().map(Some),
            _ => databases::cli().map(|()| folder.clone()),
        });
        let pages = pages(elsewhere.as_deref(), base);
        (program_built.join(), pages)
    });
    let (folder, pages) = (
        program_built.map_err(|_| anyhow!("the build of the program panicked"))??,
        pages?,
    );
    let docs = match docs {
        Docs::None => None,
        docs => Some(docs::pages(base, docs == Docs::Crates)?),
    };
    let [book, endgames] = ["book", "endgames"].map(|name| root().join("static-shards").join(name));
    let inputs = [
        Some(pages.clone()),
        docs.clone(),
        Some(book.clone()),
        Some(endgames.clone()),
        folder.clone(),
    ];
    let inputs: Vec<PathBuf> = inputs.into_iter().flatten().collect();
    let stamp = Stamp::new("assemble", out, &inputs)?;
    if stamp.fresh() && out.join("sw.js").is_file() {
        return Ok(out.to_path_buf());
    }
    say(format!("Assembling the site in {}", relative(out)));
    replace(out, |site| {
        copy(&pages, site)?;
        if let Some(docs) = &docs {
            copy(docs, &site.join("docs"))?;
        }
        if let Some(base) = base {
            let mut urls = Vec::new();
            for folder in ["", "docs/", "docs/api/"] {
                let pages = fs::read_dir(site.join(folder))
                    .into_iter()
                    .flatten()
                    .flatten();
                let names = pages.map(|page| page.file_name().to_string_lossy().into_owned());
                let names = names.filter(|name| name.ends_with(".html") && name != "404.html");
                let url = |name: String| {
                    format!("  <url><loc>{base}{folder}{name}</loc></url>\n")
                        .replace("index.html<", "<")
                };
                urls.extend(names.map(url));
            }
            urls.sort();
            let schema = "http://www.sitemaps.org/schemas/sitemap/0.9";
            let map = format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"{schema}\">\n{}</urlset>\n",
                urls.concat()
            );
            fs::write(site.join("sitemap.xml"), map)?;
            let robots = format!("User-agent: *\nAllow: /\nSitemap: {base}sitemap.xml\n");
            fs::write(site.join("robots.txt"), robots)?;
        }
        // Without this file, GitHub Pages runs Jekyll on the folder.
        fs::write(site.join(".nojekyll"), "")?;
        copy(&book, &site.join("book"))?;
        // GitHub Pages compresses files with unknown endings, which breaks ranges.
        let index = ["endgames", "index", "--copy-with", ".silo", "-o"];
        call(
            command(program("shelfish"))
                .args(index)
                .arg(site.join("endgames"))
                .arg(&endgames),
        )?;
        folder.map_or(Ok(()), |folder| copy(&folder, &site.join("db")))
    })?;
    stamp.set()?;
    Ok(out.to_path_buf())
}

/// Builds the pages, without a database.
pub fn pages(database: Option<&str>, base: Option<&str>) -> Result<PathBuf> {
    let package = npm::build()?;
    tools::npm_ci("www")?;
    let (www, pages) = (root().join("www"), root().join("www").join("dist"));
    let games = root().join("static-shards").join("famous.pgn");
    // The options of the pages are an input of the pages.
    let deployment = target_dir().join("deployment");
    fs::write(&deployment, format!("{database:?} {base:?}"))?;
    let stamp = Stamp::new("site", &pages, &[www.clone(), package, games, deployment])?;
    if !(stamp.fresh() && pages.join("sw.js").is_file()) {
        say("Building the site");
        let mut build = npm_command();
        build
            .args(["run", "build"])
            .current_dir(&www)
            .env_remove("VITE_DATABASE")
            .env_remove("SHELFISH_SITE_URL");
        build.envs(database.map(|database| ("VITE_DATABASE", database)));
        build.envs(base.map(|base| ("SHELFISH_SITE_URL", base)));
        call(&mut build)?;
        stamp.set()?;
    }
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
    let folder = std::env::current_dir().unwrap_or_default().join(name);
    if !folder.join("manifest.json").is_file() {
        bail!(
            "--database {name}: expected a folder with a manifest.json, or a URL; `shelfish build DUMP -o {name}` builds such a folder"
        );
    }
    Ok(Database::Folder(folder))
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
