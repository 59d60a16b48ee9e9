//! Problems of a database.

use std::fmt;

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
#[derive(Clone, Debug)]
pub enum ProblemKind {
    /// The database cannot be opened.
    Open(OpenError),
    /// An entry of the manifest is malformed.
    Info(InfoError),
    /// The source cannot be read.
    Source(SourceErrorKind),
    /// A file or a request failed.
    Read(ReadError),
    /// The manifest, a page or a block contradicts the format.
    Table(TableError),
    /// The bytes of a page or block are invalid.
    Chunk(ChunkErrorKind),
    /// The positions of a block are not above those of the block before.
    Order,
    /// The position is outside of the keys of its block, or after a higher key.
    Unreachable(Box<Position>),
    /// A record contradicts the manifest.
    Record {
        /// Position of the record.
        position: Box<Position>,
        /// Contradiction.
        contradiction: &'static str,
    },
    /// A total of the manifest differs from the total of the shards.
    Total {
        /// Name of the total.
        name: &'static str,
        /// Number in the manifest.
        expected: u64,
        /// Number in the shards.
        found: u64,
    },
    /// The number of positions of a shard differs from the manifest.
    Positions {
        /// Number in the manifest.
        expected: u64,
        /// Number in the shard.
        found: u64,
    },
    /// A file is longer than the manifest says.
    Long {
        /// Length in the manifest, in bytes.
        expected: u64,
    },
    /// The manifest does not name the file.
    Foreign,
    /// The bytes belong to no block or to several blocks.
    Layout,
    /// The inline page differs from this page.
    InlinePage(Chunk),
    /// The name of a shard does not match its content.
    Name {
        /// Beginning of the SHA-256 of the content.
        found: String,
    },
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProblemKind::Open(error) => error.fmt(f),
            ProblemKind::Info(error) => error.fmt(f),
            ProblemKind::Source(SourceErrorKind::Short { expected, found }) => {
                write!(f, "truncated: expected {expected} bytes, found {found}")
            }
            ProblemKind::Source(error) => error.fmt(f),
            ProblemKind::Read(error) => error.fmt(f),
            ProblemKind::Table(error) => error.fmt(f),
            ProblemKind::Chunk(error) => error.fmt(f),
            ProblemKind::Order => {
                f.write_str("its positions are not above those of the block before")
            }
            ProblemKind::Unreachable(position) => {
                write!(f, "no lookup can find {position} at this source")
            }
            ProblemKind::Record {
                position,
                contradiction,
            } => write!(f, "{position}: {contradiction}"),
            ProblemKind::Total {
                name,
                expected,
                found,
            } => {
                let name = if *name == "pvs" { "PV rows" } else { name };
                write!(
                    f,
                    "the manifest says {expected} {name}, the shards contain {found}"
                )
            }
            ProblemKind::Positions { expected, found } => {
                write!(f, "the manifest says {expected} positions, found {found}")
            }
            ProblemKind::Long { expected } => {
                write!(f, "longer than the {expected} bytes in the manifest")
            }
            ProblemKind::Foreign => f.write_str("foreign: the manifest does not name it"),
            ProblemKind::Layout => {
                f.write_str("bytes that belong to no block or to several blocks")
            }
            ProblemKind::InlinePage(page) => write!(f, "the inline page differs from {page}"),
            ProblemKind::Name { found } => {
                write!(
                    f,
                    "its name does not match its content, whose SHA-256 begins with {found}"
                )
            }
        }
    }
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
            ReadError::Source(error) => Problem::of_file(
                file_name(&error.at),
                ProblemKind::Source(error.kind.clone()),
            ),
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
