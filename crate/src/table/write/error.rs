//! Errors of writing a table.

use core::fmt;
use std::path::PathBuf;

use crate::table::{ColumnError, ManifestError, TableError};

/// Reasons why a table cannot be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// A file or folder of the database could not be written.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// A page cannot be compressed, or is larger than the format allows.
    Compress(ColumnError),
    /// A block cannot be compressed, or is beyond the limits of the format: a record is too large or invalid, or there
    /// are too many.
    Block {
        /// Four-field FEN of its first position.
        first: String,
        /// Four-field FEN of its last position.
        last: String,
        /// Error of the block.
        error: ColumnError,
    },
    /// The manifest would be too large, or is inconsistent.
    Manifest(ManifestError),
    /// The manifest cannot be encoded as JSON.
    Json(serde_json::Error),
    /// A file of the folder is in the way: it does not belong to the database that is replaced, so it is left alone.
    InTheWay {
        /// The file.
        path: PathBuf,
        /// Reason why the file is left alone.
        reason: ForeignFile,
    },
    /// Blocks came out of order, or a block without records.
    Order,
    /// Shards that are to become one table do not fit together.
    Parts(PartsError),
    /// There is nothing to write.
    Empty,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Io { path, error } => write!(f, "{}: {error}", path.display()),
            WriteError::Compress(error) => write!(f, "cannot compress a page: {error}"),
            WriteError::Block { first, last, error } if first == last => {
                write!(f, "the block of {first}: {error}")
            }
            WriteError::Block { first, last, error } => {
                write!(f, "the block from {first} to {last}: {error}")
            }
            WriteError::Manifest(error) => write!(f, "cannot write the manifest: {error}"),
            WriteError::Json(error) => write!(f, "cannot write the manifest: {error}"),
            WriteError::InTheWay { path, reason } => {
                write!(
                    f,
                    "{} is in the way: {reason}; move it elsewhere, or build into another folder",
                    path.display()
                )
            }
            WriteError::Order => f.write_str(
                "records out of order: a table takes each position once, in ascending order",
            ),
            WriteError::Parts(error) => error.fmt(f),
            WriteError::Empty => f.write_str("no records: an empty database is not written"),
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            WriteError::Io { error, .. } => Some(error),
            WriteError::Compress(error) | WriteError::Block { error, .. } => Some(error),
            WriteError::Manifest(error) => Some(error),
            WriteError::Json(error) => Some(error),
            WriteError::Parts(error) => Some(error),
            WriteError::InTheWay {
                reason: ForeignFile::Manifest(error),
                ..
            } => Some(error),
            WriteError::InTheWay { .. } | WriteError::Order | WriteError::Empty => None,
        }
    }
}

/// Reasons why a writer leaves a file alone.
#[derive(Debug)]
#[non_exhaustive]
pub enum ForeignFile {
    /// The path is a folder, a link or another kind of file.
    NotPlain,
    /// The file is not the manifest of a table of this kind of records.
    Manifest(TableError),
    /// The file has the name of a shard, but another content.
    Content {
        /// Name of a shard with this content.
        expected: String,
    },
}

impl fmt::Display for ForeignFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ForeignFile::NotPlain => f.write_str("it is not a plain file"),
            ForeignFile::Manifest(TableError::Manifest(error)) => {
                write!(f, "it is not a manifest of Shelfish: {error}")
            }
            ForeignFile::Manifest(error) => error.fmt(f),
            ForeignFile::Content { expected } => {
                write!(
                    f,
                    "it has the name of a shard, but another content, which is named {expected}"
                )
            }
        }
    }
}

/// Reasons why parts do not become one table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartsError {
    /// The number of positions or a total exceeds 64 bits.
    TooMany,
    /// A part has another number of totals than a record of its kind.
    Totals {
        /// Number of totals of a record.
        expected: usize,
        /// Number of totals of the part.
        found: usize,
    },
    /// The first part has no positions, so that the table would not begin at its beginning.
    Beginning {
        /// First separator.
        found: Vec<u8>,
    },
    /// A shard lacks its inline pages.
    InlinePages {
        /// Name of the shard.
        shard: String,
        /// Total size of its pages, in bytes.
        expected: u64,
        /// Size of its inline pages, in bytes.
        found: usize,
    },
}

impl fmt::Display for PartsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartsError::TooMany => f.write_str("the parts have more than can be counted"),
            PartsError::Totals { expected, found } => {
                write!(f, "a part with {found} totals, expected {expected}")
            }
            PartsError::Beginning { found } => write!(
                f,
                "the first part has no positions, so that the table would begin after {} bytes of a key: plan again",
                found.len()
            ),
            PartsError::InlinePages {
                shard,
                expected,
                found,
            } => {
                write!(
                    f,
                    "a part lacks its inline pages: {shard} has {found} bytes of pages, expected {expected}"
                )
            }
        }
    }
}

impl std::error::Error for PartsError {}
