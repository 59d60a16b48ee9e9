//! The codec of principal variations: each move is encoded as its rank among the legal moves, most likely first.
//!
//! The lines of a record become a few columns of small integers: the number of moves shared with an earlier line of the
//! record, the index of that line, the length of the line, and the ranks of the moves that are not shared. A linear
//! model with frozen integer weights orders the moves, so the order is the same on every machine. A record is decoded
//! without other records. Earlier records are skipped without generating moves.

mod board;
mod context;
mod features;
mod history;
mod line;
mod order;
mod prefix;
mod see;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use board::relative_square;
pub use line::LineError;
pub(crate) use line::{COLUMNS, Cursors, LENGTH, LineInfo, MAX_PLIES};
#[cfg(feature = "write")]
pub(crate) use line::{DecodingCost, MAX_COST, SAFE_PLIES};
#[cfg(any(feature = "write", test))]
pub(crate) use line::{LineColumns, encode};
pub(crate) use order::MoveOrder;
