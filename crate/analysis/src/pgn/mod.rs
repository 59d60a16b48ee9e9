//! Games in PGN with all that is written in them: comments, variations, glyphs and commands such as `[%eval]`.
//!
//! [`Splitter`] finds where games begin in a file, [`read()`] reads one, and [`PgnGame`] writes itself as PGN again, nothing
//! lost. The main line is checked by the rules of chess; variations are kept as they are written.
//!
//! Nothing is passed over: a word that is no move, such as a German `Sf3`, is an error that names it and its line, as the
//! moves that follow would be another game. Figurines are read, and so are `0-0` and comments from `;` to the end of a line.

mod comment;
mod error;
mod read;
mod split;
mod token;
mod write;

pub use comment::evaluation;
pub(crate) use comment::{value, with_evaluation};
pub use error::{Fault, PgnError};
pub use read::{MainLine, is_chess, read, read_main_line, result};
pub use split::Splitter;

use shakmaty::Chess;
use shakmaty::san::SanPlus;

use crate::Game;

/// The longest text of a game, in bytes.
pub const MAX_BYTES: usize = 4 << 20;
/// The most moves of a game's main line.
pub const MAX_MOVES: usize = 5_000;
/// How deep variations may be nested.
pub const MAX_DEPTH: usize = 64;

/// A game and what is written in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnGame {
    /// Names and values of the tags, in order.
    pub tags: Vec<(String, String)>,
    /// The main line as it is written.
    pub line: Line,
    /// The result at the end: `1-0`, `0-1`, `1/2-1/2` or `*`, if it is there.
    pub result: Option<&'static str>,
    /// The main line as it is played.
    pub game: Game,
    /// The number of the first move.
    pub fullmoves: u32,
}

impl PgnGame {
    /// The value of a tag, as the first of this name has it.
    pub fn tag(&self, name: &str) -> Option<&str> {
        tag(&self.tags, name)
    }

    /// The position before the first move.
    pub fn start(&self) -> &Chess {
        self.game.start()
    }
}

/// The value of the first tag of this name.
fn tag<'a>(tags: &'a [(String, String)], name: &str) -> Option<&'a str> {
    tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.as_str())
}

/// The main line or a variation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// What is written before the first move.
    pub notes: Vec<Note>,
    /// Its moves.
    pub moves: Vec<Step>,
}

/// A move as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The move.
    pub san: SanPlus,
    /// What is written after it.
    pub notes: Vec<Note>,
}

/// What is written after a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A numeric annotation glyph, from 0 to 255; 1 to 6 are `!`, `?`, `!!`, `??`, `!?` and `?!`.
    Nag(u8),
    /// A comment, without its braces.
    Comment(String),
    /// Moves in place of the one before.
    Variation(Line),
}
