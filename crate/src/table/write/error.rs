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
    /// The manifest in the folder is not that of a table of this kind of records, so it is left alone.
    #[error(
        "{} is in the way: {}; move it elsewhere, or build into another folder",
        path.display(), manifest_text(error)
    )]
    InTheWay {
        /// The file.
        path: PathBuf,
        /// Error of the manifest.
        error: TableError,
    },
    /// Blocks came out of order, or a block without records.
    #[error("records out of order: a table takes each position once, in ascending order")]
    Order,
    /// The first part of a table has no positions.
    #[error(
        "the first part has no positions, so that the table would not begin with the first key: plan again"
    )]
    Beginning,
    /// There is nothing to write.
    #[error("no records: an empty database is not written")]
    Empty,
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
