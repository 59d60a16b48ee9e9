//! The codec of principal variations: each move is encoded by its probability among the legal moves.
//!
//! The lines of a record become a few columns of small integers: the number of moves shared with an earlier line of the
//! record, the index of that line, and the length of the line. The moves that are not shared are the choices of a range
//! coder. A linear model with frozen integer weights estimates their probabilities in integers, so that they are the
//! same on every machine. One stream has the moves of one record, or of a few small records. Other streams are skipped
//! without generating moves.

mod board;
mod context;
mod features;
mod history;
mod line;
mod order;
mod prefix;
mod range;
mod see;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use board::relative_square;
pub use line::LineError;
pub(crate) use line::{COLUMNS, Cursors, LENGTH, MAX_PLIES, MOVES, Stream, Unit};
#[cfg(feature = "write")]
pub(crate) use line::{DecodingCost, MAX_COST, SAFE_PLIES};
#[cfg(any(feature = "write", test))]
pub(crate) use line::{LineColumns, encode};
pub(crate) use order::MoveOrder;
pub(crate) use range::RangeReader;
#[cfg(feature = "write")]
pub(crate) use range::nibble;
