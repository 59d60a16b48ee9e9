//! Lines of moves, each move as its rank among the legal ones, best guess first.
//!
//! A record's lines become a few columns of small integers: how many moves a line shares with an earlier line of the
//! record and with which, how long it is, and the ranks of the moves that it does not share. The guess is an integer
//! linear model with frozen weights, so that it is the same on every machine. Nothing outside the record is needed to
//! decode it, and records before it are passed over without generating a move.

mod exchange;
mod features;
mod line;
mod memory;
mod order;
mod scene;
mod sight;
#[cfg(test)]
mod tests;
mod trail;
mod tree;

pub use line::LineError;
pub(crate) use line::{COLUMNS, Cursors, LENGTH, MAX_PLIES, NAMES, Outline, RANK, SHARED, SOURCE};
#[cfg(any(feature = "write", test))]
pub(crate) use line::{LineColumns, encode};
#[cfg(feature = "write")]
pub(crate) use line::{Load, MAX_COST, SAFE_PLIES};
