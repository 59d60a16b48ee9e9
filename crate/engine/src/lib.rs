//! A chess engine for the positions that no database has.
//!
//! The search is portable: it has no threads, no clock and no output. Whoever calls it brings a [`Control`] that says
//! when to stop and hears what was found; several searches may share a [`Table`].

mod deepening;
mod history;
mod level;
mod limits;
pub mod network;
mod order;
mod packed;
pub mod parts;
mod position;
mod reduction;
mod score;
mod search;
mod see;
mod tt;
mod zobrist;

pub use deepening::{Game, Line, search};
pub use history::Histories;
pub use level::{Level, STRONGEST, WEAKEST, play};
pub use limits::{Control, Limits, Remaining, Silent};
pub use position::{FenError, Position};
pub use score::Score;
pub use tt::{Bound, Table};
