//! Errors of Parquet files.

use std::fmt;
use std::io;

use parquet::basic::{Compression, Type as Physical};
use parquet::errors::ParquetError;

use crate::input::rows::COLUMNS;

/// Error of a Parquet file.
#[derive(Debug)]
pub enum FileError {
    /// The end of the file cannot be parsed.
    Open(ParquetError),
    /// The file lacks a column.
    NoColumn {
        /// Name of the column.
        name: &'static str,
        /// Names of the columns of the file.
        found: Vec<String>,
    },
    /// The compression of a column is not supported.
    Compression {
        /// Name of the column.
        column: &'static str,
        /// Compression of the column.
        found: Compression,
    },
    /// A column has another type.
    Type {
        /// Name of the column.
        column: &'static str,
        /// Type of the values.
        found: Physical,
        /// Whether a row has a list of values.
        is_list: bool,
    },
    /// A row group cannot be opened.
    Group {
        /// Index of the row group.
        group: usize,
        /// The error.
        error: ParquetError,
    },
    /// Values of a column cannot be read.
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

/// Error of the values of some rows.
#[derive(Debug)]
pub enum ValuesError {
    /// The values cannot be decoded.
    Decode(ParquetError),
    /// Values are missing.
    Count {
        /// Number of rows.
        expected: usize,
        /// Number of values.
        found: usize,
    },
    /// A required value is null.
    Null {
        /// Number of the row among these rows, from 0.
        row: usize,
    },
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Open(error) => write!(f, "Parquet: {error}"),
            FileError::NoColumn { name, found } => write!(
                f,
                "Parquet without column {name}, it has {}: expected {}, one row a PV, as Lichess publishes it",
                found.join(", "),
                COLUMNS.join(", ")
            ),
            FileError::Compression { column, found } => write!(
                f,
                "Parquet column {column}: compressed with {found}, which is not read here; expected Snappy, zstd, gzip or \
                 none: write the file anew"
            ),
            FileError::Type {
                column,
                found,
                is_list,
            } => {
                let expected = if is_text(column) {
                    "strings (BYTE_ARRAY)"
                } else {
                    "whole numbers (INT32 or INT64)"
                };
                let list = if *is_list { " in lists" } else { "" };
                write!(
                    f,
                    "Parquet column {column}: expected {expected}, found {found}{list}; cast it and write the file anew"
                )
            }
            FileError::Group { group, error } => write!(f, "Parquet row group {group}: {error}"),
            FileError::Values {
                group,
                rows: (first, last),
                column,
                error,
            } => {
                write!(
                    f,
                    "Parquet row group {group}, rows {first} to {last}, column {column}: "
                )?;
                match error {
                    ValuesError::Decode(error) => {
                        write!(
                            f,
                            "{error}: the file is damaged, or of a kind that is not known here"
                        )
                    }
                    ValuesError::Count { expected, found } => {
                        write!(
                            f,
                            "expected {expected} values, found {found}: the file is damaged"
                        )
                    }
                    ValuesError::Null { row } => {
                        write!(
                            f,
                            "expected a value, found null in row {row} of these; leave such rows out"
                        )
                    }
                }
            }
        }
    }
}

impl std::error::Error for FileError {}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

/// Returns whether a column contains texts.
pub fn is_text(column: &str) -> bool {
    matches!(column, "fen" | "line")
}
