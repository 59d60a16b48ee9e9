//! `cargo xtask site`: the folder that is deployed, for any static host and any sub-path.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::{
    npm,
    shell::{call, command, npm as npm_command, program, programs, relative, root, say, target_dir},
    stamp::Stamp,
    tools,
};

/// Options of `cargo xtask site`.
#[derive(clap::Args, Clone, Default)]
#[command(after_help = "Examples:
  cargo xtask site                                             # with the sample database
  cargo xtask site --database evals                            # with a copy of a database of this machine
  cargo xtask site --database https://evals.example.org/       # whose pages read a database elsewhere
  cargo xtask site --base-url https://me.github.io/shelfish/   # whose addresses search engines and previews know")]
pub struct Args {
    /// The database: a folder that is copied, or the URL of one that the pages then read there (its host must allow CORS)
    /// [default: the sample of this repository]
    #[arg(long, value_name = "URL|DIR")]
    database: Option<String>,
    /// The folder to make
    #[arg(long, value_name = "DIR", default_value = "dist")]
    out: PathBuf,
    /// Where the site will be: names it to search engines and in previews of links
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
}

/// Where the evaluations of a site come from.
enum Database {
    /// A folder, which becomes `db/`.
    Folder(PathBuf),
    /// The manifest of a database elsewhere.
    Elsewhere(String),
}

/// What says of a folder that it is a site, made by this chore, and may be replaced by the next one.
const MARK: &str = ".shelfish-site";

/// Makes the folder.
pub fn run(args: &Args) -> Result<()> {
    let out = std::env::current_dir().unwrap_or_default().join(&args.out);
    let base = args.base_url.as_deref().map(base_url).transpose()?;
    let database = args.database.as_deref().map(chosen).transpose()?;
    let site = assemble(&out, database, base.as_deref())?;
    say(format!("Done: put {} on any static host", relative(&site)));
    Ok(())
}

/// Where the site goes unless told otherwise.
pub fn default_out() -> PathBuf {
    root().join("dist")
}

/// The site with the sample database.
pub fn sample(out: &Path) -> Result<PathBuf> {
    assemble(out, None, None)
}

fn assemble(out: &Path, database: Option<Database>, base: Option<&str>) -> Result<PathBuf> {
    let (folder, elsewhere) = match database {
        None => (Some(sample_database()?), None),
        Some(Database::Folder(folder)) => (Some(folder), None),
        Some(Database::Elsewhere(manifest)) => (None, Some(manifest)),
    };
    may_replace(out)?;
    let pages = pages(elsewhere.as_deref(), base)?;
    let book = root().join("static-shards").join("book");
    let inputs: Vec<PathBuf> =
        [Some(pages.clone()), Some(book.clone()), folder.clone()].into_iter().flatten().collect();
    let stamp = Stamp::new("assemble", out, &inputs)?;
    if stamp.fresh() && out.join("sw.js").is_file() {
        return Ok(out.to_path_buf());
    }
    say(format!("Putting the site together in {}", relative(out)));
    replace(out, |site| {
        copy(&pages, site)?;
        if let Some(base) = base {
            let names = page_names(&pages)?;
            fs::write(site.join("sitemap.xml"), sitemap(base, &names))?;
            fs::write(site.join("robots.txt"), format!("User-agent: *\nAllow: /\nSitemap: {base}sitemap.xml\n"))?;
        }
        // GitHub Pages would otherwise run the folder through Jekyll.
        fs::write(site.join(".nojekyll"), "")?;
        copy(&book, &site.join("book"))?;
        folder.map_or(Ok(()), |folder| copy(&folder, &site.join("db")))
    })?;
    stamp.set()?;
    Ok(out.to_path_buf())
}

/// Whether a folder is new, empty or an older site, which the site may take the place of.
fn may_replace(out: &Path) -> Result<()> {
    if out.join(".git").exists() {
        bail!("{} is a git repository: name another folder, and copy the site from there", out.display());
    }
    if out.exists() && !out.join(MARK).is_file() && fs::read_dir(out)?.next().is_some() {
        bail!("{} has other files in it, and no {MARK}: name a folder that is new, or an older site", out.display());
    }
    Ok(())
}

/// Puts a site that is made beside it in the place of an older one, which stays if that fails.
fn replace(out: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    may_replace(out)?;
    let parent = out.parent().context("--out: a folder with a name is needed")?;
    fs::create_dir_all(parent)?;
    let beside = tempfile::Builder::new().prefix(".shelfish-site-").tempdir_in(parent)?;
    let (new, old) = (beside.path().join("new"), beside.path().join("old"));
    fs::create_dir(&new)?;
    make(&new)?;
    fs::write(new.join(MARK), "")?;
    let replaced = || format!("{} could not be replaced", out.display());
    if out.exists() {
        fs::rename(out, &old).with_context(replaced)?;
    }
    fs::rename(&new, out).with_context(replaced).inspect_err(|_| drop(fs::rename(&old, out)))
}

/// The native program.
pub fn cli() -> Result<()> {
    say("Building the shelfish program");
    programs(&["shelfish-cli"])
}

/// The sample database, from the dumps in `static-shards`.
fn sample_database() -> Result<PathBuf> {
    cli()?;
    let (dumps, database) = (root().join("static-shards"), target_dir().join("demo").join("db"));
    let [sample, famous] = ["sample.jsonl.zst", "famous.jsonl.zst"].map(|name| dumps.join(name));
    let shelfish = program("shelfish");
    let stamp = Stamp::new("database", &database, &[sample.clone(), famous.clone(), shelfish.clone()])?;
    if !(stamp.fresh() && database.join("manifest.json").is_file()) {
        say("Building the sample database");
        fs::create_dir_all(&database)?;
        call(command(shelfish).arg("build").args([sample, famous]).arg("-o").arg(&database))?;
        stamp.set()?;
    }
    Ok(database)
}

/// The built pages, without a database beside them.
pub fn pages(database: Option<&str>, base: Option<&str>) -> Result<PathBuf> {
    let package = npm::build()?;
    tools::npm_ci("www")?;
    let (www, pages) = (root().join("www"), root().join("www").join("dist"));
    let games = root().join("static-shards").join("famous.pgn");
    // What the pages are built for is a part of what they are built from.
    let deployment = target_dir().join("deployment");
    fs::write(&deployment, format!("{database:?} {base:?}"))?;
    let stamp = Stamp::new("site", &pages, &[www.clone(), package, games, deployment])?;
    if !(stamp.fresh() && pages.join("sw.js").is_file()) {
        say("Building the site");
        let mut build = npm_command();
        build.args(["run", "build"]).current_dir(&www).env_remove("VITE_DATABASE").env_remove("SHELFISH_SITE_URL");
        build.envs(database.map(|database| ("VITE_DATABASE", database)));
        build.envs(base.map(|base| ("SHELFISH_SITE_URL", base)));
        call(&mut build)?;
        stamp.set()?;
    }
    Ok(pages)
}

/// What `--database` names.
fn chosen(name: &str) -> Result<Database> {
    if name.contains("://") {
        let url = web_address(name).context("--database")?;
        let is_manifest = url.split(['?', '#']).next().is_some_and(|path| path.ends_with(".json"));
        return Ok(Database::Elsewhere(if is_manifest {
            url.to_owned()
        } else {
            format!("{}/manifest.json", url.trim_end_matches('/'))
        }));
    }
    let folder = std::env::current_dir().unwrap_or_default().join(name);
    if !folder.join("manifest.json").is_file() {
        bail!(
            "--database {name}: a folder with a manifest.json, or a URL, is needed; `shelfish build DUMP -o {name}` makes such a folder"
        );
    }
    Ok(Database::Folder(folder))
}

/// What `--base-url` names, with a slash at its end.
fn base_url(url: &str) -> Result<String> {
    let url = web_address(url).context("--base-url")?;
    if url.contains(['?', '#']) {
        bail!("--base-url {url}: an address without ? and # is needed");
    }
    Ok(format!("{}/", url.trim_end_matches('/')))
}

/// An address that can stand in HTML and XML as it is.
fn web_address(url: &str) -> Result<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/:%?#[]@!$()*+,;=".contains(c);
    match rest {
        Some(rest) if !rest.starts_with('/') && !rest.is_empty() && url.chars().all(is_plain) => Ok(url),
        _ => bail!("{url}: an address such as https://example.org/shelfish/ is needed"),
    }
}

/// The names of the pages that people may come to, in order; the empty one is the front page.
fn page_names(pages: &Path) -> Result<Vec<String>> {
    let names = fs::read_dir(pages)?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".html") && name != "404.html").collect();
    names.iter_mut().filter(|name| *name == "index.html").for_each(String::clear);
    names.sort();
    Ok(names)
}

fn sitemap(base: &str, names: &[String]) -> String {
    let urls: String = names.iter().map(|name| format!("  <url><loc>{base}{name}</loc></url>\n")).collect();
    let schema = "http://www.sitemaps.org/schemas/sitemap/0.9";
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"{schema}\">\n{urls}</urlset>\n")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_ends_in_a_slash_and_holds_nothing_that_html_would_read() {
        assert_eq!(base_url("https://example.org/shelf").unwrap(), "https://example.org/shelf/");
        assert_eq!(base_url("https://example.org//").unwrap(), "https://example.org/");
        for bad in [
            "example.org",
            "https://",
            "https:///x",
            "ftp://example.org",
            "https://a/\"",
            "https://a/<b>",
            "https://a/?x",
        ] {
            assert!(base_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_database_elsewhere_is_its_folder_or_its_manifest() {
        for url in
            ["https://example.org/evals", "https://example.org/evals/", "https://example.org/evals/manifest.json"]
        {
            let Database::Elsewhere(manifest) = chosen(url).unwrap() else { panic!("{url}") };
            assert_eq!(manifest, "https://example.org/evals/manifest.json");
        }
        assert!(chosen("no such folder").is_err());
    }

    #[test]
    fn a_site_takes_the_place_of_an_older_one_and_of_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("site");
        let make = |text: &'static str| move |site: &Path| Ok(fs::write(site.join("index.html"), text)?);
        for text in ["new", "newer"] {
            replace(&out, make(text)).unwrap();
            assert_eq!(fs::read_to_string(out.join("index.html")).unwrap(), text);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");

        // A checkout of the branch that GitHub Pages shows has this file, too.
        for (name, file) in [("checkout", ".nojekyll"), ("pictures", "cat.png"), ("repository", ".git")] {
            let other = folder.path().join(name);
            fs::create_dir(&other).unwrap();
            fs::write(other.join(file), "kept").unwrap();
            assert!(replace(&other, make("site")).is_err(), "{name}");
            assert_eq!(fs::read_to_string(other.join(file)).unwrap(), "kept");
        }
        fs::create_dir(out.join(".git")).unwrap();
        assert!(replace(&out, make("site")).is_err(), "a site that became a repository is not replaced");
        assert!(out.join(".git").is_dir());
    }

    #[test]
    fn a_run_that_fails_leaves_the_older_site() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("site");
        replace(&out, |site| Ok(fs::write(site.join("index.html"), "old")?)).unwrap();
        let failed = replace(&out, |site| {
            fs::write(site.join("index.html"), "half")?;
            bail!("the disk is full")
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(out.join("index.html")).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn the_sitemap_names_each_page() {
        let map = sitemap("https://example.org/", &[String::new(), "how.html".into()]);
        assert!(
            map.contains("<loc>https://example.org/</loc>") && map.contains("<loc>https://example.org/how.html</loc>")
        );
    }
}
