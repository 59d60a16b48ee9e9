//! Folders to deploy and their addresses.

use std::{fs, path::Path};

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

/// Serves a site on this machine, by the program of [`cli`].
pub fn serve(site: &Path, port: u16) -> Result<()> {
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
    let beside = tempfile::Builder::new()
        .prefix(".shelfish-site-")
        .tempdir_in(parent)?;
    let (new, old) = (beside.path().join("new"), beside.path().join("old"));
    fs::create_dir(&new)?;
    make(&new)?;
    fs::write(new.join(MARK), "")?;
    let replaced = || format!("{} could not be replaced", out.display());
    if out.exists() {
        fs::rename(out, &old).with_context(replaced)?;
    }
    fs::rename(&new, out)
        .with_context(replaced)
        .inspect_err(|_| drop(fs::rename(&old, out)))
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
        let make =
            |text: &'static str| move |site: &Path| Ok(fs::write(site.join("index.html"), text)?);
        for text in ["new", "newer"] {
            replace(&out, make(text)).unwrap();
            assert_eq!(fs::read_to_string(out.join("index.html")).unwrap(), text);
        }
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "no other file is left"
        );

        // A checkout of the branch of GitHub Pages also has the file .nojekyll.
        for (name, file) in [
            ("checkout", ".nojekyll"),
            ("pictures", "cat.png"),
            ("repository", ".git"),
        ] {
            let other = folder.path().join(name);
            fs::create_dir(&other).unwrap();
            fs::write(other.join(file), "kept").unwrap();
            assert!(replace(&other, make("site")).is_err(), "{name}");
            assert_eq!(fs::read_to_string(other.join(file)).unwrap(), "kept");
        }
        fs::create_dir(out.join(".git")).unwrap();
        assert!(
            replace(&out, make("site")).is_err(),
            "a site that became a repository is not replaced"
        );
        assert!(out.join(".git").is_dir());
    }
}
