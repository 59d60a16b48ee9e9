//! The codec of principal variations: each move is coded as its rank among the legal moves, most likely first.
//!
//! The lines of a record become a few columns of small integers: how many moves a line shares with an earlier line of
//! the record, which line that is, how long the line is, and the ranks of the moves that it does not share. Moves are
//! ordered by a linear model with frozen integer weights, so that the order is the same on every machine. A record is
//! decoded without any other record, and the records before it are skipped without generating moves.

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
pub(crate) use line::{COLUMNS, Cursors, LENGTH, LineError, LineInfo, MAX_PLIES, NAMES, RANK, SHARED, SOURCE};
#[cfg(feature = "write")]
pub(crate) use line::{DecodingCost, MAX_COST, SAFE_PLIES};
#[cfg(any(feature = "write", test))]
pub(crate) use line::{LineColumns, encode};
pub(crate) use order::Ranking;
