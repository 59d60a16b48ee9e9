//! Errors of opening a database.

use std::io::ErrorKind;

use shelfish::eval::PositionEval;
use shelfish::played::Played;
use shelfish::reader::ReadError;
use shelfish::source::{SourceError, SourceErrorKind};
use shelfish::table::{Manifest, Record as _, TableError};

/// An error that prevents a database from being opened.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder has no manifest.
    #[error("no database in {folder}{}: name the folder that contains {}", shown(*status), Manifest::FILE)]
    Missing {
        /// Path or URL of the folder.
        folder: String,
        /// Status of the answer, if a host answered.
        status: Option<u16>,
    },
    /// The database contains another kind of records.
    #[error("{folder} {}", expectation(found, expected))]
    Kind {
        /// Path or URL of the folder.
        folder: String,
        /// Kind of the records, as the manifest names it.
        found: String,
        /// Kind of the records that the command reads.
        expected: &'static str,
    },
    /// The manifest cannot be read, or is not valid.
    #[error("{0}")]
    Read(#[source] ReadError),
}

fn shown(status: Option<u16>) -> String {
    status.map_or_else(String::new, |status| format!(" (status {status})"))
}

fn expectation(found: &str, expected: &str) -> String {
    if found == Played::KIND {
        "is a book of played moves, expected evaluations; `shelfish explore` reads books".to_owned()
    } else if found == PositionEval::KIND {
        "is a database of evaluations, expected a book; `shelfish lookup` reads evaluations"
            .to_owned()
    } else {
        format!("contains {found:?}, expected {expected:?}: use a newer shelfish")
    }
}

impl OpenError {
    /// Returns the error of a manifest at a path or URL.
    pub fn of_table(at: String, error: TableError) -> OpenError {
        ReadError::Table { at, error }.into()
    }
}

impl From<ReadError> for OpenError {
    fn from(error: ReadError) -> OpenError {
        let folder = |at: &str| at.strip_suffix(Manifest::FILE).map(short);
        match error {
            ReadError::Source(SourceError {
                ref at, ref kind, ..
            }) => {
                let status = match kind {
                    SourceErrorKind::Io(ErrorKind::NotFound | ErrorKind::NotADirectory, _) => None,
                    SourceErrorKind::Status(status @ (404 | 410)) => Some(*status),
                    _ => return OpenError::Read(error),
                };
                match folder(at) {
                    Some(folder) => OpenError::Missing { folder, status },
                    None => OpenError::Read(error),
                }
            }
            ReadError::Table {
                at,
                error: TableError::Kind { expected, found },
            } => OpenError::Kind {
                folder: folder(&at).unwrap_or(at),
                found,
                expected,
            },
            error => OpenError::Read(error),
        }
    }
}

impl From<SourceError> for OpenError {
    fn from(error: SourceError) -> OpenError {
        ReadError::from(error).into()
    }
}

/// Removes the separator at the end of a folder.
fn short(folder: &str) -> String {
    let short = folder.trim_end_matches(['/', std::path::MAIN_SEPARATOR]);
    if short.is_empty() {
        folder.to_owned()
    } else {
        short.to_owned()
    }
}
