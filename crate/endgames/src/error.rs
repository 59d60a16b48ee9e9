//! Reasons why a position has no result.

use core::fmt;

use shakmaty::{Chess, Position as _};
use shelfish::source::SourceError;

use crate::index::IndexError;
use crate::table_error::{Field, TableError};

/// The reason why tables do not contain a position.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Uncovered {
    /// A side may castle. Tables contain no positions with castling rights.
    Castling,
    /// The position has more pieces than the tables.
    TooManyPieces {
        /// Maximum number of pieces of the tables.
        max: usize,
        /// Number of pieces of the position.
        found: usize,
    },
    /// A table is missing that the position, or a position after captures and promotions, needs.
    MissingTable {
        /// File name of the table.
        table: String,
    },
}

impl fmt::Display for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Uncovered::Castling => f.write_str("tables contain no positions with castling rights"),
            Uncovered::TooManyPieces { max, found } => {
                write!(
                    f,
                    "the position has {found} pieces, the tables have at most {max}"
                )
            }
            Uncovered::MissingTable { table } => write!(f, "the table {table} is missing"),
        }
    }
}

/// Returns why tables of at most `max` pieces do not contain a position, as far as the position alone shows it.
pub(crate) fn check(chess: &Chess, max: usize) -> Result<(), Uncovered> {
    if chess.castles().any() {
        return Err(Uncovered::Castling);
    }
    match chess.board().occupied().count() {
        found if found > max => Err(Uncovered::TooManyPieces { max, found }),
        _ => Ok(()),
    }
}

/// The reason why a position has no result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EndgameError {
    /// The tables do not contain the position.
    Uncovered(Uncovered),
    /// The index is damaged.
    Index {
        /// URL or path of the index.
        at: String,
        /// The damage.
        error: IndexError,
    },
    /// A file could not be read.
    Source(SourceError),
    /// A page does not have its checksum.
    Damaged {
        /// URL or path of the file.
        at: String,
        /// First byte of the page.
        byte: u64,
    },
    /// A table contains bytes that no table has.
    Table {
        /// File name of the table.
        table: String,
        /// The error.
        error: TableError,
    },
    /// The position needs more data than the limit for a position.
    TooMuch {
        /// Maximum number of bytes.
        bytes: u64,
        /// Maximum number of requests after each other.
        waves: usize,
    },
}

impl fmt::Display for EndgameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EndgameError::Uncovered(uncovered) => uncovered.fmt(f),
            EndgameError::Index { at, error } => write!(f, "{at}: {error}"),
            EndgameError::Source(error) => error.fmt(f),
            EndgameError::Damaged { at, byte } => {
                write!(
                    f,
                    "{at}: the {} bytes from byte {byte} do not have their checksum; copy the file again",
                    crate::index::PAGE
                )
            }
            EndgameError::Table { table, error } => write!(f, "{table}: {error}"),
            EndgameError::TooMuch { bytes, waves } => {
                write!(
                    f,
                    "the position needs more than {bytes} bytes or {waves} requests after each other: a table is damaged"
                )
            }
        }
    }
}

impl core::error::Error for EndgameError {}

impl EndgameError {
    /// Whether a position has this error although some pages are missing. Distances that contradict an estimated result are no
    /// damage.
    pub(crate) fn is_final(&self) -> bool {
        let EndgameError::Table { error, .. } = self else {
            return false;
        };
        !matches!(
            error,
            TableError::Distances
                | TableError::Field {
                    field: Field::Distance,
                    ..
                }
        )
    }
}

impl From<SourceError> for EndgameError {
    fn from(error: SourceError) -> EndgameError {
        EndgameError::Source(error)
    }
}
