//! Folders to deploy and their addresses.

use std::{fs, net::TcpListener, path::Path};

use anyhow::{Context, Result, bail};

use crate::shell::{command, program, relative, say, take_over};

/// File that marks a folder as a site of this command, which the next site may replace.
const MARK: &str = ".shelfish-site";

/// Returns an error unless the folder is new, empty or an older site.
pub fn may_replace(out: &Path) -> Result<()> {
    if out.join(".git").exists() {
        bail!(
            "{} is a git repository: name another folder, and copy the site from there",
            out.display()
        );
    }
    if out.exists() && !out.join(MARK).is_file() && fs::read_dir(out)?.next().is_some() {
        bail!(
            "{} contains other files and no {MARK}: name a new folder or an older site",
            out.display()
        );
    }
    Ok(())
}

/// Serves a site on this machine, by the program shelfish, which has been built. Without a port it takes 8000, or any free port
/// if 8000 is in use.
pub fn serve(site: &Path, port: Option<u16>) -> Result<()> {
    let is_free = TcpListener::bind(("127.0.0.1", 8000)).is_ok();
    let port = port.unwrap_or(if is_free { 8000 } else { 0 });
    say(format!("Serving {}", relative(site)));
    take_over(
        command(program("shelfish"))
            .arg("serve")
            .arg(site)
            .args(["--port", &port.to_string()]),
    )
}

/// Replaces an older site by a new site, which is built next to it. The older site remains if the build fails.
pub fn replace(out: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    may_replace(out)?;
    let parent = out
        .parent()
        .context("--out: expected a folder with a name")?;
    fs::create_dir_all(parent)?;
    let beside = tempfile::tempdir_in(parent)?;
    let new = beside.path().join("site");
    fs::create_dir(&new)?;
    make(&new)?;
    fs::write(new.join(MARK), "")?;
    if out.exists() {
        fs::remove_dir_all(out)?;
    }
    fs::rename(&new, out).with_context(|| format!("{} could not be replaced", out.display()))
}

/// Parses the value of `--base-url`. The result ends in a slash.
pub fn base_url(url: &str) -> Result<String> {
    let url = web_address(url).context("--base-url")?;
    if url.contains(['?', '#']) {
        bail!("--base-url {url}: expected an address without ? and #");
    }
    Ok(format!("{}/", url.trim_end_matches('/')))
}

/// Checks that an address needs no escapes in HTML and XML.
pub fn web_address(url: &str) -> Result<&str> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/:%?#[]@!$()*+,;=".contains(c);
    match rest {
        Some(rest) if !rest.starts_with('/') && !rest.is_empty() && url.chars().all(is_plain) => {
            Ok(url)
        }
        _ => bail!("{url}: expected an address such as https://example.org/shelfish/"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_ends_in_a_slash_and_needs_no_escapes_in_html() {
        assert_eq!(
            base_url("https://example.org/shelf").unwrap(),
            "https://example.org/shelf/"
        );
        assert_eq!(
            base_url("https://example.org//").unwrap(),
            "https://example.org/"
        );
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
    fn a_site_replaces_only_an_older_site() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("site");
        let page = out.join("index.html");
        for text in ["new", "newer"] {
            replace(&out, |site| Ok(fs::write(site.join("index.html"), text)?)).unwrap();
            assert_eq!(fs::read_to_string(&page).unwrap(), text);
        }
        // A checkout of the branch of GitHub Pages also has the file .nojekyll.
        for file in [".git", ".nojekyll"] {
            fs::write(out.join(file), "").unwrap();
            assert!(replace(&out, |_| Ok(())).is_err(), "{file}");
            assert!(page.is_file());
            fs::remove_file(out.join(MARK)).unwrap_or_default();
            fs::remove_file(out.join(".git")).unwrap_or_default();
        }
    }
}
