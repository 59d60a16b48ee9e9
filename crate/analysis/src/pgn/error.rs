//! Why a text is no game.

use core::fmt;

use shelfish::position::FenError;

use super::{MAX_BYTES, MAX_DEPTH, MAX_MOVES};

/// What is wrong, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnError {
    /// The line, from the number of the text's first.
    pub line: u64,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a game.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// There is no game in the text.
    Empty,
    /// Longer than any game.
    TooLong,
    /// More moves than any game.
    TooManyMoves,
    /// Variations are nested too deeply.
    TooDeep,
    /// A comment does not end.
    Comment,
    /// A parenthesis without its partner.
    Parenthesis,
    /// A line that begins with `[` is no tag.
    Tag(String),
    /// A variant with other rules than chess.
    Variant(String),
    /// The tag `FEN` is no position.
    Fen(FenError),
    /// A word that is neither a move nor anything else of PGN.
    Word(String),
    /// A move that is not legal.
    Move {
        /// Moves before it.
        ply: usize,
        /// The move as it is written.
        found: String,
    },
    /// Something follows the result.
    AfterResult(String),
}

impl fmt::Display for PgnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Empty => f.write_str("there is no game"),
            Fault::TooLong => write!(f, "the game is longer than {} MiB", MAX_BYTES >> 20),
            Fault::TooManyMoves => write!(f, "the game has more than {MAX_MOVES} moves"),
            Fault::TooDeep => write!(f, "variations are nested more than {MAX_DEPTH} deep"),
            Fault::Comment => f.write_str("the comment that begins here does not end: expected }"),
            Fault::Parenthesis => f.write_str("a variation does not begin or end: expected ( and ) in pairs"),
            Fault::Tag(found) => write!(f, "expected a tag such as [White \"Tal\"], found {}", Shown(found)),
            Fault::Variant(found) => write!(f, "the variant is {}: expected chess or Chess960", Shown(found)),
            Fault::Fen(error) => error.fmt(f),
            Fault::Word(found) => {
                write!(f, "expected a move in English letters, found {}", Shown(found))
            }
            Fault::Move { ply, found } => {
                write!(f, "{} is not a legal move after {ply} moves", Shown(found))
            }
            Fault::AfterResult(found) => write!(f, "{} follows the result", Shown(found)),
        }
    }
}

impl core::error::Error for PgnError {}

/// The beginning of a text from outside, without controls.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 40;
        let plain =
            self.0.chars().take(MOST).map(|c| if c < ' ' || ('\x7f'..='\u{9f}').contains(&c) { ' ' } else { c });
        plain.into_iter().try_for_each(|c| write!(f, "{c}"))?;
        if self.0.chars().nth(MOST).is_some() { f.write_str("…") } else { Ok(()) }
    }
}
