//! Errors of writing a table.

use std::path::PathBuf;

use crate::table::{ColumnError, ManifestError, TableError};

/// Reasons why a table cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A file or folder of the database could not be written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        #[source]
        error: std::io::Error,
    },
    /// A page cannot be compressed, or is larger than the format allows.
    #[error("cannot compress a page: {0}")]
    Compress(#[source] ColumnError),
    /// A block cannot be compressed, or is beyond the limits of the format: a record is too large or invalid, or there
    /// are too many.
    #[error("the block {}: {error}", block_name(first, last))]
    Block {
        /// Four-field FEN of its first position.
        first: String,
        /// Four-field FEN of its last position.
        last: String,
        /// Error of the block.
        error: ColumnError,
    },
    /// The manifest would be too large, or is inconsistent.
    #[error("cannot write the manifest: {0}")]
    Manifest(#[from] ManifestError),
    /// The manifest cannot be encoded as JSON.
    #[error("cannot write the manifest: {0}")]
    Json(#[from] serde_json::Error),
    /// A file of the folder is in the way: it does not belong to the database that is replaced, so it is left alone.
    #[error("{} is in the way: {reason}; move it elsewhere, or build into another folder", path.display())]
    InTheWay {
        /// The file.
        path: PathBuf,
        /// Reason why the file is left alone.
        reason: ForeignFile,
    },
    /// Blocks came out of order, or a block without records.
    #[error("records out of order: a table takes each position once, in ascending order")]
    Order,
    /// Shards that are to become one table do not fit together.
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// There is nothing to write.
    #[error("no records: an empty database is not written")]
    Empty,
}

/// Reasons why a writer leaves a file alone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignFile {
    /// The path is a folder, a link or another kind of file.
    #[error("it is not a plain file")]
    NotPlain,
    /// The file is not the manifest of a table of this kind of records.
    #[error("{}", manifest_text(.0))]
    Manifest(TableError),
    /// The file has the name of a shard, but another content.
    #[error("it has the name of a shard, but another content, which is named {expected}")]
    Content {
        /// Name of a shard with this content.
        expected: String,
    },
}

fn manifest_text(error: &TableError) -> String {
    match error {
        TableError::Manifest(error) => format!("it is not a manifest of Shelfish: {error}"),
        error => error.to_string(),
    }
}

fn block_name(first: &str, last: &str) -> String {
    if first == last {
        format!("of {first}")
    } else {
        format!("from {first} to {last}")
    }
}

/// Reasons why parts do not become one table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartsError {
    /// The number of positions or a total exceeds 64 bits.
    #[error("the parts have more than can be counted")]
    TooMany,
    /// A part has another number of totals than a record of its kind.
    #[error("a part with {found} totals, expected {expected}")]
    Totals {
        /// Number of totals of a record.
        expected: usize,
        /// Number of totals of the part.
        found: usize,
    },
    /// The first part has no positions, so that the table would not begin at its beginning.
    #[error(
        "the first part has no positions, so that the table would begin after {} bytes of a key: plan again",
        found.len()
    )]
    Beginning {
        /// First separator.
        found: Vec<u8>,
    },
    /// A shard lacks its inline pages.
    #[error(
        "a part lacks its inline pages: {shard} has {found} bytes of pages, expected {expected}"
    )]
    InlinePages {
        /// Name of the shard.
        shard: String,
        /// Total size of its pages, in bytes.
        expected: u64,
        /// Size of its inline pages, in bytes.
        found: usize,
    },
}
