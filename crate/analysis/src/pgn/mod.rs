//! Games in PGN with all their annotations: comments, variations, glyphs and commands such as `[%eval]`.
//!
//! [`Splitter`] finds the beginnings of games in a file, [`read()`] reads a game, and [`PgnGame`] writes the game as PGN again,
//! without loss. The main line is checked by the rules of chess; variations are kept as written.
//!
//! No word is skipped. A word that is not a move, such as a German `Sf3`, is an error with the word and its line. Skipping it
//! would turn the following moves into a different game. Figurines, `0-0` and comments from `;` to the end of a line are accepted.

mod comment;
mod error;
mod read;
mod split;
mod token;
mod write;

pub use comment::evaluation;
pub(crate) use comment::{value, with_evaluation};
pub use error::{PgnError, PgnErrorKind};
pub use read::{MainLine, is_chess, read, read_main_line, result};
pub use split::Splitter;

use shakmaty::san::SanPlus;
use shakmaty::{Chess, Position as _};

use crate::{Game, KnownEval, Origin};

/// Maximum length of a game's text, in bytes.
pub const MAX_BYTES: usize = 4 << 20;
/// Maximum number of moves of a game's main line.
pub const MAX_MOVES: usize = 5_000;
/// Maximum nesting depth of variations.
pub const MAX_DEPTH: usize = 64;

/// A game with its annotations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnGame {
    /// Names and values of the tags, in order.
    pub tags: Vec<(String, String)>,
    /// The main line as written.
    pub line: Line,
    /// The result at the end, if present: `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: Option<&'static str>,
    /// The main line as legal moves.
    pub game: Game,
    /// Number of the first move.
    pub fullmoves: u32,
}

impl PgnGame {
    /// Returns the value of the first tag of this name.
    pub fn tag(&self, name: &str) -> Option<&str> {
        tag(&self.tags, name)
    }

    /// Returns the position before the first move.
    pub fn start(&self) -> &Chess {
        self.game.start()
    }

    /// Returns the number of plies before the first move.
    pub fn first_ply(&self) -> usize {
        2 * (self.fullmoves as usize - 1) + self.start().turn().fold_wb(0, 1)
    }

    /// Returns the evaluations in the comments of the main line: before the first move and after each move.
    pub fn evaluations(&self) -> Vec<Option<KnownEval>> {
        let notes =
            std::iter::once(&self.line.notes).chain(self.line.moves.iter().map(|step| &step.notes));
        let of_comment = |note: &Note| {
            if let Note::Comment(text) = note {
                evaluation(text)
            } else {
                None
            }
        };
        let of_position = |notes: &Vec<Note>| {
            let (score, depth) = notes.iter().find_map(of_comment)?;
            Some(KnownEval {
                origin: Origin::Pgn,
                ..KnownEval::new(score, depth)
            })
        };
        notes.map(of_position).collect()
    }
}

/// Returns the value of the first tag of this name.
fn tag<'a>(tags: &'a [(String, String)], name: &str) -> Option<&'a str> {
    tags.iter()
        .find(|(tag, _)| tag == name)
        .map(|(_, value)| value.as_str())
}

/// The main line or a variation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Annotations before the first move.
    pub notes: Vec<Note>,
    /// The moves.
    pub moves: Vec<Step>,
}

/// A move as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The move.
    pub san: SanPlus,
    /// Annotations after it.
    pub notes: Vec<Note>,
}

/// Annotation of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A numeric annotation glyph, from 0 to 255; 1 to 6 are `!`, `?`, `!!`, `??`, `!?` and `?!`.
    Nag(u8),
    /// A comment, without its braces.
    Comment(String),
    /// Alternative to the move before.
    Variation(Line),
}
