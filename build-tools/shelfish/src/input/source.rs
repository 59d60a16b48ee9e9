//! Where a dump comes from, as a person names it.

use std::fmt;
use std::path::{Path, PathBuf};

use super::remote::Checksum;
use crate::database::scheme;

/// Where a dump comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// A file of a host: `http://` or `https://`.
    Url(String),
    /// A file of a host that a list names, with its checksum.
    Listed {
        /// Its URL.
        url: String,
        /// Its checksum.
        checksum: Box<Checksum>,
    },
    /// Standard input.
    Stdin,
}

impl Source {
    /// The file, unless it is standard input or a host's.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Source::File(path) => Some(path),
            Source::Url(_) | Source::Listed { .. } | Source::Stdin => None,
        }
    }

    /// Its checksum, if it is known before it is read.
    pub fn checksum(&self) -> Option<&Checksum> {
        match self {
            Source::Listed { checksum, .. } => Some(checksum),
            Source::File(_) | Source::Url(_) | Source::Stdin => None,
        }
    }

    /// The name of the file, wherever it is.
    pub fn file_name(&self) -> Option<String> {
        match self {
            Source::File(path) => Some(path.file_name()?.to_string_lossy().into_owned()),
            Source::Url(url) | Source::Listed { url, .. } => Some(file_name(url)),
            Source::Stdin => None,
        }
    }
}

/// The name of the file that a URL leads to.
pub(super) fn file_name(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned()
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Source {
        match path.to_str() {
            Some("-") => Source::Stdin,
            Some(url) if scheme(url).is_some() => Source::Url(url.to_owned()),
            _ => Source::File(path.to_owned()),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File(path) => path.display().fmt(f),
            Source::Url(url) | Source::Listed { url, .. } => f.write_str(url),
            Source::Stdin => f.write_str("standard input"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hosts_and_standard_input_are_told_apart() {
        let source = |text: &str| Source::from(Path::new(text));
        assert_eq!(source("-"), Source::Stdin);
        assert_eq!(source("./-"), Source::File("./-".into()));
        for url in ["https://x/a.zst", "HTTP://x", "ftp://x/a"] {
            assert_eq!(source(url), Source::Url(url.to_owned()));
        }
        for (text, name) in [
            ("a/games.pgn.zst", Some("games.pgn.zst")),
            ("https://x/y/a%20b.pgn?c=/d#e/f", Some("a b.pgn")),
            ("https://x/", Some("")),
            ("-", None),
        ] {
            assert_eq!(source(text).file_name().as_deref(), name, "{text}");
        }
    }
}
