//! Inputs of builds: dumps of evaluations and games in files, on hosts or on standard input, plain or compressed.
//!
//! An input is read as lines, as rows of Parquet or as texts of games.

mod compression;
mod dump;
pub mod lines;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod remote;
pub mod rows;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use shelfish::source::redaction::redacted;
use thiserror::Error;

pub use compression::MEMORY;
pub use dump::{Dump, DumpKind, Dumps, is_sqlite};

use crate::system::url::scheme;

/// An input of a build, as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// A file on a host: `http://` or `https://`.
    Url(String),
    /// Standard input.
    Stdin,
}

impl Input {
    /// Returns the path, if the input is a file of this machine.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Input::File(path) => Some(path),
            Input::Url(_) | Input::Stdin => None,
        }
    }

    /// Returns the name of the file, without its folder.
    pub fn file_name(&self) -> Option<String> {
        match self {
            Input::File(path) => Some(path.file_name()?.to_string_lossy().into_owned()),
            Input::Url(url) => Some(file_name(url)),
            Input::Stdin => None,
        }
    }
}

/// Returns the name of the file at a URL.
fn file_name(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    percent_encoding::percent_decode_str(name)
        .decode_utf8_lossy()
        .into_owned()
}

impl From<&Path> for Input {
    fn from(path: &Path) -> Input {
        match path.to_str() {
            Some("-") => Input::Stdin,
            Some(url) if scheme(url).is_some() => Input::Url(url.to_owned()),
            _ => Input::File(path.to_owned()),
        }
    }
}

/// Formats the input without the secrets of a URL.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::File(path) => path.display().fmt(f),
            Input::Url(url) => f.write_str(&redacted(url)),
            Input::Stdin => f.write_str("standard input"),
        }
    }
}

/// An error of an input.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct InputError(String);

impl InputError {
    /// Returns the error of an input that cannot be opened, or cannot be read to its end.
    pub fn read(input: &Input) -> impl Fn(io::Error) -> InputError {
        move |error| InputError(format!("cannot read {input}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hosts_and_standard_input_are_recognised() {
        let input = |text: &str| Input::from(Path::new(text));
        assert_eq!(input("-"), Input::Stdin);
        assert_eq!(input("./-"), Input::File("./-".into()));
        for url in ["https://x/a.zst", "HTTP://x", "ftp://x/a"] {
            assert_eq!(input(url), Input::Url(url.to_owned()));
        }
        for (text, name) in [
            ("a/games.pgn.zst", Some("games.pgn.zst")),
            ("https://x/y/a%20b.pgn?c=/d#e/f", Some("a b.pgn")),
            ("https://x/", Some("")),
            ("-", None),
        ] {
            assert_eq!(input(text).file_name().as_deref(), name, "{text}");
        }
    }
}
