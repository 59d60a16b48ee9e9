//! Problems of a database.

use std::fmt::Display;

use serde::Serialize;
use shelfish::reader::ReadError;
use shelfish::source::SourceErrorKind;
use shelfish::table::{Chunk, Manifest, TableError};

use crate::database::scan::ScanError;

/// A problem and its location.
#[derive(Clone, Debug, Serialize)]
pub struct Problem {
    /// Name of the file.
    pub file: String,
    /// First and last byte of the block or page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<(u64, u64)>,
    /// Description of the problem.
    pub what: String,
}

impl Problem {
    /// Creates a problem of a whole file.
    pub fn of_file(file: &str, what: impl Display) -> Problem {
        Problem {
            file: file.to_owned(),
            bytes: None,
            what: what.to_string(),
        }
    }

    /// Creates a problem of a block or page.
    pub fn of_chunk(chunk: &Chunk, what: impl Display) -> Problem {
        Problem {
            bytes: Some((chunk.range.start, chunk.range.end.saturating_sub(1))),
            ..Problem::of_file(&chunk.file, what)
        }
    }

    /// Creates the problem of bytes that contradict the format. `file` is their file, if the error does not name it.
    pub fn of_table(error: &TableError, file: &str) -> Problem {
        match error {
            TableError::Chunk { chunk, kind } => Problem::of_chunk(chunk, kind),
            _ => Problem::of_file(file, error),
        }
    }

    /// Creates the problem of a failed read.
    pub fn of_read(error: &ReadError, file: &str) -> Problem {
        match error {
            ReadError::Table { error, .. } => Problem::of_table(error, file),
            ReadError::Source(error) => Problem::of_file(
                file_name(&error.at),
                match &error.kind {
                    SourceErrorKind::Short { expected, found } => {
                        format!("truncated: expected {expected} bytes, found {found}")
                    }
                    SourceErrorKind::Network(_) | SourceErrorKind::Timeout(_) => error.to_string(),
                    kind => kind.to_string(),
                },
            ),
            ReadError::Stale(error) => Problem::of_read(error, file),
            error => Problem::of_file(file, error),
        }
    }

    /// Creates the problem of a failed scan.
    pub fn of_scan(error: &ScanError) -> Problem {
        match error {
            ScanError::Read(error) => Problem::of_read(error, ""),
            ScanError::Layout { at, range } => Problem {
                bytes: Some((range.start, range.end.saturating_sub(1))),
                ..Problem::of_file(
                    file_name(at),
                    "bytes that belong to no block or to several blocks",
                )
            },
            ScanError::InlinePage(page) => Problem::of_file(
                Manifest::FILE,
                format_args!("the inline page differs from {page}"),
            ),
            ScanError::Name { at, found } => Problem::of_file(
                file_name(at),
                format_args!(
                    "its name does not match its content, whose SHA-256 begins with {found}"
                ),
            ),
        }
    }
}

/// Returns the last component of a path or URL.
fn file_name(at: &str) -> &str {
    at.rsplit(['/', '\\']).next().unwrap_or(at)
}
