//! Reasons why a position has no result, and why files are no tables or no index.

use std::borrow::Cow;

use shakmaty::{Chess, Position as _};
use shelfish::quoted::Quoted;
use shelfish::source::SourceError;
use thiserror::Error;

use crate::index::PAGE;
use crate::name::{MAX_PIECES, TableName};

/// The reason why tables do not contain a position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Uncovered {
    /// A side may castle. Tables contain no positions with castling rights.
    #[error("tables contain no positions with castling rights")]
    Castling,
    /// The position has more pieces than the tables.
    #[error("the position has {found} pieces, the tables have at most {max}")]
    TooManyPieces {
        /// Maximum number of pieces of the tables.
        max: usize,
        /// Number of pieces of the position.
        found: usize,
    },
    /// A table is missing that the position, or a position after captures and promotions, needs.
    #[error("the table {table} is missing")]
    MissingTable {
        /// The table.
        table: TableName,
    },
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
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum EndgameError {
    /// The tables do not contain the position.
    #[error(transparent)]
    Uncovered(#[from] Uncovered),
    /// The index is damaged.
    #[error("{at}: {error}")]
    Index {
        /// URL or path of the index.
        at: String,
        /// The damage.
        error: IndexError,
    },
    /// A file could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A page does not have its checksum.
    #[error(
        "{at}: the {PAGE} bytes from byte {byte} do not have their checksum; copy the file again"
    )]
    Damaged {
        /// URL or path of the file.
        at: String,
        /// First byte of the page.
        byte: u64,
    },
    /// A table contains bytes that no table has.
    #[error("{table}: {error}")]
    Table {
        /// File name of the table.
        table: String,
        /// The error.
        error: TableError,
    },
    /// The position needs more data than the limit for a position.
    #[error(
        "the position needs more than {bytes} bytes or {waves} requests after each other: a table is damaged"
    )]
    TooMuch {
        /// Maximum number of bytes.
        bytes: u64,
        /// Maximum number of requests after each other.
        waves: usize,
    },
}

impl EndgameError {
    /// Whether a position has this error although some pages are missing. Distances that contradict an estimated result are no
    /// damage.
    pub(crate) fn is_final(&self) -> bool {
        let EndgameError::Table { error, .. } = self else {
            return false;
        };
        let is_distance = matches!(error, TableError::Field { field, .. } if *field == DISTANCE);
        *error != TableError::DISTANCES && !is_distance
    }
}

/// Name of the number of a distance in the list of distances.
pub(crate) const DISTANCE: &str = "the number of a distance";

/// A file that is not a table, or is damaged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TableError {
    /// The header, or the length of the file, is not that of the table.
    #[error("{0}")]
    Header(String),
    /// The header announces another length of the file.
    #[error("the header announces a file of {expected} bytes, but the file has {found} bytes")]
    Data {
        /// Announced length of the file in bytes.
        expected: u64,
        /// Length of the file in bytes.
        found: u64,
    },
    /// Bytes contradict each other.
    #[error("byte {byte}: {problem}")]
    Bytes {
        /// First of the bytes.
        byte: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// A symbol contains itself, a missing symbol or too many values.
    #[error("byte {byte}: symbol {symbol} contains itself, a missing symbol or too many values")]
    Pair {
        /// First byte of the symbol.
        byte: u64,
        /// Number of the symbol.
        symbol: u16,
    },
    /// A number is out of its range.
    #[error("byte {byte}: expected {field} from {min} to {max}, found {found}")]
    Field {
        /// First byte of the number, of its list or of its block.
        byte: u64,
        /// Name of the number.
        field: &'static str,
        /// Minimum.
        min: u64,
        /// Maximum.
        max: u64,
        /// The found number.
        found: u64,
    },
    /// The table as a whole is wrong.
    #[error("{0}")]
    Damaged(&'static str),
}

impl TableError {
    pub(crate) const HEADER: TableError =
        TableError::Damaged("the header extends beyond the end of the file, or is too long");
    pub(crate) const STEPS: TableError =
        TableError::Damaged("the position takes too many steps: the table is damaged");
    pub(crate) const DISTANCES: TableError =
        TableError::Damaged("the distances contradict the results: the table is damaged");

    pub(crate) fn pieces(byte: u64) -> TableError {
        let problem = "expected the pieces of the table in groups, found other pieces";
        TableError::Bytes { byte, problem }
    }
}

impl IndexError {
    pub(crate) const SEAL: IndexError = IndexError::Damaged(Cow::Borrowed(
        "the checksum does not match: the index is damaged",
    ));
    pub(crate) const SHORT: IndexError =
        IndexError::Damaged(Cow::Borrowed("the index ends within a field"));
    pub(crate) const LONG: IndexError =
        IndexError::Damaged(Cow::Borrowed("the index has bytes after its last field"));
    pub(crate) const TEXT: IndexError = IndexError::Damaged(Cow::Borrowed("a name is not UTF-8"));
}

/// An index that is damaged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The first bytes are not those of an index, or of an index of a different version.
    #[error(
        "expected an index of endgame tables, version 1; write it by `shelfish endgames index`"
    )]
    Magic,
    /// The bytes are not those of an index.
    #[error("{0}")]
    Damaged(Cow<'static, str>),
    /// A name is not the name of a table.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// A text that is not the name of a table.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "expected the name of a table of 3 to {MAX_PIECES} pieces like KRPvKR.rtbw or KRPvKR.rtbz, found {}",
    Quoted(found)
)]
pub struct NameError {
    /// The text.
    pub found: String,
}
