//! Analysis of chess games from what is known of their positions.
//!
//! A [`Game`] and the evaluations of its positions make a [`Report`]: how much each move lost, which moves were
//! inaccuracies, mistakes and blunders, each side's accuracy and average centipawn loss, and where middlegame and endgame
//! begin. [`pgn`] reads games from PGN with all that is written in them, and [`annotate`] writes the evaluations,
//! judgments and better lines into them.
//!
//! The formulas are those that Lichess publishes, each with its source. Evaluations are from White's point of view. What is
//! not known is a gap: nothing is filled in, and every figure comes with the number of moves that it rests on. Where two
//! evaluations contradict each other nothing is said of the move between them (see [`contradiction`]).
//!
//! ```
//! use shelfish_analysis::{Game, Judgment, Known, report};
//!
//! let game = Game::from_uci(None, ["f2f3", "e7e5", "g2g4", "d8h4"])?;
//! // Of the position at the start and of the one after each move; that of the last is known, the game is over.
//! let known = [Known::cp(20, 30), Known::cp(-90, 30), Known::cp(-95, 30), Known::mate(-1, 30)].map(Some);
//! let report = report(&game, &[&known[..], &[None]].concat())?;
//! assert_eq!(report.moves[2].judgment, Some(Judgment::Blunder));
//! assert_eq!((report.white.blunders, report.white.judged), (1, 2));
//! assert_eq!(report.black.accuracy, Some(100.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod accuracy;
mod annotate;
pub mod chances;
pub mod contradiction;
mod game;
mod judgment;
mod known;
pub mod pgn;
mod phases;
mod report;

pub use annotate::annotate;
pub use game::{Game, GameError};
pub use judgment::{Judgment, judge};
pub use known::{Known, Value};
pub use phases::Phases;
pub use report::{MoveReport, Report, ReportError, SideReport, report};
pub use shelfish::eval::Score;
