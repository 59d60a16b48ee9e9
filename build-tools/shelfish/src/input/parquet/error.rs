//! Errors of Parquet files.

use std::io;

use parquet::basic::{Compression, Type as Physical};
use parquet::errors::ParquetError;
use thiserror::Error;

use crate::input::rows::COLUMNS;

/// Error of a Parquet file.
#[derive(Debug, Error)]
pub enum FileError {
    /// The end of the file cannot be parsed.
    #[error("Parquet: {0}")]
    Open(ParquetError),
    /// The file lacks a column.
    #[error(
        "Parquet without column {name}, it has {}: expected {}, one row a PV, as Lichess publishes it",
        .found.join(", "), COLUMNS.join(", ")
    )]
    NoColumn {
        /// Name of the column.
        name: &'static str,
        /// Names of the columns of the file.
        found: Vec<String>,
    },
    /// The compression of a column is not supported.
    #[error(
        "Parquet column {column}: compressed with {found}, which is not read here; expected Snappy, zstd, gzip or none: write \
         the file anew"
    )]
    Compression {
        /// Name of the column.
        column: &'static str,
        /// Compression of the column.
        found: Compression,
    },
    /// A column has another type.
    #[error(
        "Parquet column {column}: expected {}, found {found}{}; cast it and write the file anew",
        if is_text(.column) { "strings (BYTE_ARRAY)" } else { "whole numbers (INT32 or INT64)" },
        if *.is_list { " in lists" } else { "" }
    )]
    Type {
        /// Name of the column.
        column: &'static str,
        /// Type of the values.
        found: Physical,
        /// Whether a row has a list of values.
        is_list: bool,
    },
    /// The description of the file is too large.
    #[error(
        "Parquet: its footer has {found} bytes, expected at most {max}: use more --max-memory, or write the file anew with larger \
         row groups"
    )]
    Footer {
        /// Size of the footer in bytes.
        found: usize,
        /// Maximum size.
        max: usize,
    },
    /// A row group cannot be opened.
    #[error("Parquet row group {group}: {error}")]
    Group {
        /// Index of the row group.
        group: usize,
        /// The error.
        error: ParquetError,
    },
    /// Values of a column cannot be read.
    #[error("Parquet row group {group}, rows {} to {}, column {column}: {error}", .rows.0, .rows.1)]
    Values {
        /// Index of the row group.
        group: usize,
        /// First and last row in the row group.
        rows: (usize, usize),
        /// Name of the column.
        column: &'static str,
        /// The error.
        error: ValuesError,
    },
}

/// Error of a page that is not read.
#[derive(Clone, Copy, Debug, Error)]
pub enum PageError {
    /// The page, or its dictionary, is too large.
    #[error(
        "a page or its dictionary has {found} bytes or values, expected at most {max}: use more --max-memory, or write the file \
         anew with smaller pages"
    )]
    Size {
        /// The size, as the header of the page declares it.
        found: usize,
        /// Maximum size.
        max: usize,
    },
    /// The encoding of texts is not supported, because a small page may have gigabytes of text. Contains its number in Parquet.
    #[error(
        "texts in encoding {0} (delta), expected plain or dictionary (0, 2 or 8): write the file anew"
    )]
    Encoding(usize),
    /// The header is not that of a page.
    #[error("the header of a page contradicts its content: the file is damaged")]
    Header,
}

/// Error of the values of some rows.
#[derive(Debug, Error)]
pub enum ValuesError {
    /// The values cannot be decoded.
    #[error("{0}: the file is damaged, or of a kind that is not known here")]
    Decode(ParquetError),
    /// A page is not read.
    #[error("{0}")]
    Page(Box<dyn std::error::Error + Send + Sync>),
    /// Values are missing.
    #[error("expected {expected} values, found {found}: the file is damaged")]
    Count {
        /// Number of rows.
        expected: usize,
        /// Number of values.
        found: usize,
    },
    /// A required value is null.
    #[error("expected a value, found null in row {0} of these; leave such rows out")]
    Null(usize),
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

/// Returns whether a column contains texts.
pub fn is_text(column: &str) -> bool {
    matches!(column, "fen" | "line")
}
