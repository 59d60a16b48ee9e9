//! The kind of record that a table holds.

#[cfg(feature = "write")]
use super::StoredRecord;
use super::{ColumnError, Columns};
use crate::moves::LineError;
use crate::position::Position;
use shakmaty::{Color, Square};

pub(crate) mod sealed {
    /// A trait that other crates cannot implement.
    pub trait Sealed {}
}

/// A record of a table: the data of one position. `eval::PositionEval` and `played::Played` implement it; other crates
/// cannot.
///
/// A block has its own order of records, in which a position often follows its *parent*, the position one ply before. A
/// record may be encoded relative to its parent.
pub trait Record: sealed::Sealed + Sized + Send + Sync + 'static {
    /// The kind's name in a manifest.
    const KIND: &'static str;
    /// Number of columns of the records in a block.
    const COLUMNS: usize;
    /// Number of columns at the end that are omitted if all of them are empty.
    const OPTIONAL_COLUMNS: usize = 0;
    /// The decoded numbers of a block in memory, for decoding single records.
    type BlockColumns: core::fmt::Debug + Send + Sync;

    /// The weight of a block at which lookups of single positions and of whole games are cheapest together.
    const BLOCK_WEIGHT: usize;

    /// Returns the position of the record.
    fn position(&self) -> &Position;

    /// Returns whether the step between these squares is preferred. A position that several steps reach gets a parent
    /// with a preferred step.
    #[cfg(feature = "write")]
    fn has_step(&self, _from: Square, _to: Square) -> bool {
        false
    }

    /// Writes the records of a block, in stored order, with the stored index of each record's parent. `step` returns
    /// the origin and the target of the step from a record's parent (the rook's square for castling). `columns` are
    /// those of the block. The codes of a `stored` record may be copied.
    ///
    /// # Errors
    ///
    /// Returns an error if a record or the whole block exceeds the limits of the format.
    #[cfg(feature = "write")]
    fn encode(
        records: &[&Self],
        stored: &[Option<&StoredRecord<'_, Self>>],
        parents: &[Option<u32>],
        step: &dyn Fn(usize) -> (Square, Square),
        columns: &mut [Vec<u8>],
    ) -> Result<(), ColumnError>;

    /// Adds the record's counts to the totals of a manifest, in the order of [`Record::TOTALS`].
    #[cfg(feature = "write")]
    fn count(&self, totals: &mut [u64]);

    /// Names of a manifest's totals, without the number of positions.
    const TOTALS: &'static [&'static str];

    /// Decodes the numbers of all records of a block.
    ///
    /// # Errors
    ///
    /// Returns an error if the columns are invalid.
    #[doc(hidden)]
    fn decode_columns(
        columns: &Columns,
        turns: &[Color],
        parents: &[Option<u32>],
    ) -> Result<Self::BlockColumns, ColumnError>;

    /// Returns the approximate memory of a decoder, in bytes.
    #[doc(hidden)]
    fn memory(decoded: &Self::BlockColumns) -> usize;

    /// Adds the counts of all records of a block to the totals of a manifest, and returns the weight of each record, for a
    /// cutter, by stored number.
    #[cfg(feature = "write")]
    #[doc(hidden)]
    fn weights(decoded: &Self::BlockColumns, totals: &mut [u64]) -> Vec<usize>;

    /// Returns the number of the first record that `decode` of record `n` needs, at most `n`.
    #[doc(hidden)]
    fn first_needed(_decoded: &Self::BlockColumns, n: usize) -> usize {
        n
    }

    /// Reads the records of these positions, whose stored numbers begin with `first`, as [`Record::first_needed`] returned
    /// it, and appends them to `records`. `step` is as in `encode`.
    ///
    /// # Errors
    ///
    /// Returns an error if the columns do not contain a valid next record.
    #[doc(hidden)]
    fn decode(
        decoded: &Self::BlockColumns,
        columns: &Columns,
        first: usize,
        positions: &[Position],
        step: &dyn Fn(usize) -> (Square, Square),
        records: &mut Vec<Self>,
    ) -> Result<(), RecordError>;
}

/// The reason why a record of a block is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The block does not have so many records.
    #[error("record {n} is beyond the last record of the block")]
    Missing {
        /// Number of the record.
        n: usize,
    },
    /// The columns of the lines are invalid.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A step to a child is not a legal move.
    #[error("the step from {from} to {to} is not a legal move")]
    Step {
        /// Origin of the step.
        from: Square,
        /// Target of the step.
        to: Square,
    },
    /// The rank of a move is beyond the legal moves.
    #[error("rank {rank} of {legal} legal moves")]
    Rank {
        /// The rank.
        rank: u32,
        /// Number of legal moves.
        legal: usize,
    },
    /// A move occurs twice.
    #[error("the move of rank {rank} occurs twice")]
    Duplicate {
        /// Rank of the move.
        rank: u32,
    },
}
