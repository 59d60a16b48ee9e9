//! Games in PGN with all their annotations: comments, variations, glyphs and commands such as `[%eval]`.
//!
//! [`GameTexts`] finds the games of a file, [`read()`] reads a game, and [`PgnGame`] writes the game as PGN again. Everything that
//! common readers take is read. Every move is checked by the rules of chess.
//!
//! No word that may be a move is skipped, because the following moves would make a different game: the main line ends with an error,
//! which names the word and its place.

mod comment;
mod error;
mod moves;
mod read;
mod text;
mod write;

pub use comment::evaluation;
pub(crate) use comment::{value, with_evaluation};
pub use error::{PgnError, PgnErrorKind};
pub use moves::find_move;
pub use read::{is_chess, read, read_main_line, result};
pub use text::{GameText, GameTexts};

use shakmaty::san::SanPlus;
use shakmaty::{Chess, Move, Position as _};

use crate::{Game, KnownEval, Origin};

/// Maximum length of a game's text, in bytes.
pub const MAX_BYTES: usize = 4 << 20;
/// Maximum number of moves of a game, variations included.
pub const MAX_MOVES: usize = 20_000;
/// Maximum nesting depth of variations. Deeper variations are skipped.
pub const MAX_DEPTH: usize = 64;

/// A game with its annotations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnGame {
    /// Names and values of the tags, in order.
    pub tags: Vec<(String, String)>,
    /// The main line with its annotations. Without annotations, it is empty.
    pub line: Line,
    /// The result at the end, if present: `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: Option<&'static str>,
    /// The main line as legal moves, up to the error, if there is an error.
    pub game: Game,
    /// Number of the first move.
    pub fullmoves: u32,
    /// The error that ends the main line. After an error in a FEN or a variant there are no moves.
    pub error: Option<PgnError>,
    /// Counts of what was left out.
    pub skipped: Skipped,
}

/// Counts of what a reader left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Lines that begin like a tag, but are not a tag.
    pub tags: u32,
    /// Words that are not moves, and stray brackets.
    pub words: u32,
    /// Variations that end early because of an illegal move.
    pub variations: u32,
}

impl PgnGame {
    /// Returns the game, or its error if there are no moves before the error.
    ///
    /// # Errors
    ///
    /// The error of the game.
    pub fn checked(self) -> Result<PgnGame, PgnError> {
        match self.error {
            Some(error) if self.game.moves().is_empty() => Err(error),
            _ => Ok(self),
        }
    }

    /// Returns the value of the last tag of this name.
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

/// Returns the value of the last tag of this name, in upper or lower case, that has a value.
fn tag<'a>(tags: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let named = tags
        .iter()
        .filter(|(tag, _)| tag.eq_ignore_ascii_case(name));
    let mut values = named.map(|(_, value)| value.as_str()).rev();
    let last = values.next()?;
    let is_value = |value: &&str| !matches!(*value, "" | "?" | "*");
    Some(
        core::iter::once(last)
            .chain(values)
            .find(is_value)
            .unwrap_or(last),
    )
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
    /// The move as written, or in the standard spelling.
    pub san: SanPlus,
    /// The move; `None` after an illegal move of a variation.
    pub m: Option<Move>,
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
