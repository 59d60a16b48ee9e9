//! A chess engine for positions that are in no database.
//!
//! The search is portable: it has no threads, no clock and no output. Its caller passes a [`Control`], which reports the
//! time, stops the search and receives lines. Several searches may share a [`Table`].

mod deepening;
mod generate;
mod history;
mod level;
mod limits;
mod margins;
pub mod network;
mod order;
mod packed;
mod position;
mod reduction;
mod score;
mod search;
mod see;
mod tt;
mod zobrist;

pub use deepening::{Game, Line, search, search_thread};
pub use history::Histories;
pub use level::{Level, STRONGEST, WEAKEST, play};
pub use limits::{Control, Limits, Remaining, Silent, TableResult};
pub use position::Position;
pub use score::UciScore;
pub use shelfish::position::FenError;
pub use tt::{Bound, Table};
