//! Analyses chess games from evaluations of their positions.
//!
//! [`report()`] makes a [`Report`] of a [`Game`] and the evaluations of its positions. The report contains the loss of each move,
//! inaccuracies, mistakes and blunders, the accuracy and average centipawn loss of each side, and the beginning of middlegame
//! and endgame. [`pgn`] reads games from PGN with all their annotations, and [`annotate`] writes evaluations, judgments and
//! better lines into them.
//!
//! The formulas are those that Lichess publishes, each with its source. Evaluations are from White's point of view. Missing
//! evaluations are not estimated: every figure comes with the number of moves that it includes. A move between two
//! evaluations that are not comparable is provisional (see [`comparison`]). A [`Review`] requests searches of an engine until
//! all moves are settled.
//!
//! ```
//! use shelfish_analysis::{Game, Judgment, KnownEval, report};
//!
//! let game = Game::from_uci(None, ["f2f3", "e7e5", "g2g4", "d8h4"])?;
//! // Evaluations of the first position and of the position after each move. The last position needs none: it is checkmate.
//! let known = [KnownEval::cp(20, 30), KnownEval::cp(-90, 30), KnownEval::cp(-95, 30), KnownEval::mate(-1, 30)].map(Some);
//! let report = report(&game, &[&known[..], &[None]].concat())?;
//! assert_eq!(report.moves[2].judgment, Some(Judgment::Blunder));
//! assert_eq!((report.white.blunders, report.white.judged), (1, 2));
//! assert_eq!(report.black.accuracy, Some(100.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod accuracy;
mod annotate;
pub mod comparison;
pub mod explanation;
mod game;
mod judgment;
mod known;
pub mod mark;
pub mod pgn;
mod phases;
mod report;
mod review;
mod value;

pub use accuracy::MIN_SETTLED;
pub use annotate::{annotate, annotate_review};
pub use explanation::Explanation;
pub use game::{Game, GameError, LastMove};
pub use judgment::{Judgment, judge};
pub use known::{KnownEval, Origin, TABLE_WIN};
pub use mark::Mark;
pub use phases::{PhaseAccuracy, Phases};
pub use report::{MoveReport, Report, ReportError, SideReport};
pub use review::{DEFAULT_NODES, Review, Sequence, report};
pub use shelfish::eval::Score;
pub use shelfish::position::uci;
pub use value::{INITIAL, Value, winning_chances};
