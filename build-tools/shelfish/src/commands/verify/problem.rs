//! Problems of a database.

use serde::Serialize;
use shelfish::position::Position;
use shelfish::reader::ReadError;
use shelfish::source::SourceErrorKind;
use shelfish::table::{Chunk, ChunkErrorKind, Manifest, TableError};

use crate::database::OpenError;
use crate::database::scan::ScanError;
use crate::games::InfoError;
use crate::terminal::report;

/// A problem and its location.
#[derive(Clone, Debug, Serialize)]
pub struct Problem {
    /// Name of the file.
    pub file: String,
    /// First and last byte of the block or page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<(u64, u64)>,
    /// Kind of the problem, in JSON as a text.
    #[serde(rename = "what", serialize_with = "report::as_text")]
    pub kind: ProblemKind,
}

/// Kinds of problems.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProblemKind {
    /// The database cannot be opened.
    #[error(transparent)]
    Open(OpenError),
    /// An entry of the manifest is malformed.
    #[error(transparent)]
    Info(InfoError),
    /// A file ends early.
    #[error("truncated: expected {expected} bytes, found {found}")]
    Short {
        /// Number of bytes in the manifest.
        expected: u64,
        /// Number of bytes of the file.
        found: u64,
    },
    /// The source cannot be read.
    #[error(transparent)]
    Source(SourceErrorKind),
    /// A file or a request failed.
    #[error(transparent)]
    Read(ReadError),
    /// The manifest, a page or a block contradicts the format.
    #[error(transparent)]
    Table(TableError),
    /// The bytes of a page or block are invalid.
    #[error("{0}")]
    Chunk(ChunkErrorKind),
    /// The positions of a block are not above those of the block before.
    #[error("its positions are not above those of the block before")]
    Order,
    /// The position is outside of the keys of its block, or after a higher key.
    #[error("no lookup can find {0} at this source")]
    Unreachable(Box<Position>),
    /// A record contradicts the manifest.
    #[error("{position}: {contradiction}")]
    Record {
        /// Position of the record.
        position: Box<Position>,
        /// Contradiction.
        contradiction: &'static str,
    },
    /// A total of the manifest differs from the total of the shards.
    #[error("the manifest says {expected} {name}, the shards contain {found}")]
    Total {
        /// Name of the total.
        name: &'static str,
        /// Number in the manifest.
        expected: u64,
        /// Number in the shards.
        found: u64,
    },
    /// The number of positions of a shard differs from the manifest.
    #[error("the manifest says {expected} positions, found {found}")]
    Positions {
        /// Number in the manifest.
        expected: u64,
        /// Number in the shard.
        found: u64,
    },
    /// A file is longer than the manifest says.
    #[error("longer than the {expected} bytes in the manifest")]
    Long {
        /// Length in the manifest, in bytes.
        expected: u64,
    },
    /// The manifest does not name the file.
    #[error("foreign: the manifest does not name it")]
    Foreign,
    /// The bytes belong to no block or to several blocks.
    #[error("bytes that belong to no block or to several blocks")]
    Layout,
    /// The inline page differs from this page.
    #[error("the inline page differs from {0}")]
    InlinePage(Chunk),
    /// The name of a shard does not match its content.
    #[error("its name does not match its content, whose SHA-256 begins with {found}")]
    Name {
        /// Beginning of the SHA-256 of the content.
        found: String,
    },
}

impl Problem {
    /// Creates a problem of a whole file.
    pub fn of_file(file: &str, kind: ProblemKind) -> Problem {
        Problem {
            file: file.to_owned(),
            bytes: None,
            kind,
        }
    }

    /// Creates a problem of a block or page.
    pub fn of_chunk(chunk: &Chunk, kind: ProblemKind) -> Problem {
        let bytes = Some((chunk.range.start, chunk.range.end.saturating_sub(1)));
        Problem {
            file: chunk.file.clone(),
            bytes,
            kind,
        }
    }

    /// Creates the problem of bytes that contradict the format. `file` is their file, if the error does not name it.
    pub fn of_table(error: &TableError, file: &str) -> Problem {
        match error {
            TableError::Chunk { chunk, kind } => {
                Problem::of_chunk(chunk, ProblemKind::Chunk(kind.clone()))
            }
            _ => Problem::of_file(file, ProblemKind::Table(error.clone())),
        }
    }

    /// Creates the problem of a failed read.
    pub fn of_read(error: &ReadError, file: &str) -> Problem {
        match error {
            ReadError::Table { error, .. } => Problem::of_table(error, file),
            ReadError::Source(error) => {
                let kind = match error.kind {
                    SourceErrorKind::Short { expected, found } => {
                        ProblemKind::Short { expected, found }
                    }
                    ref kind => ProblemKind::Source(kind.clone()),
                };
                Problem::of_file(file_name(&error.at), kind)
            }
            ReadError::Stale(error) => Problem::of_read(error, file),
            error => Problem::of_file(file, ProblemKind::Read(error.clone())),
        }
    }

    /// Creates the problem of a failed scan.
    pub fn of_scan(error: &ScanError) -> Problem {
        match error {
            ScanError::Read(error) => Problem::of_read(error, ""),
            ScanError::Layout { at, range } => Problem {
                file: file_name(at).to_owned(),
                bytes: Some((range.start, range.end.saturating_sub(1))),
                kind: ProblemKind::Layout,
            },
            ScanError::InlinePage(page) => {
                Problem::of_file(Manifest::FILE, ProblemKind::InlinePage(page.clone()))
            }
            ScanError::Name { at, found } => Problem::of_file(
                file_name(at),
                ProblemKind::Name {
                    found: found.clone(),
                },
            ),
        }
    }
}

/// Returns the last component of a path or URL.
fn file_name(at: &str) -> &str {
    at.rsplit(['/', '\\']).next().unwrap_or(at)
}
