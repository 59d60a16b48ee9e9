//! Errors in PGN.

use core::fmt;

use shelfish::position::FenError;

use super::{MAX_BYTES, MAX_DEPTH, MAX_MOVES};

/// Error in PGN, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnError {
    /// Number of the line, counted from the number of the text's first line.
    pub line: u64,
    /// Kind of the error.
    pub kind: PgnErrorKind,
}

/// Kind of an error in PGN.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PgnErrorKind {
    /// The text contains no game.
    Empty,
    /// The text is longer than [`MAX_BYTES`].
    TooLong,
    /// The game has more than [`MAX_MOVES`] moves.
    TooManyMoves,
    /// Variations are nested too deeply.
    TooDeep,
    /// A comment does not end.
    Comment,
    /// A parenthesis is not paired.
    Parenthesis,
    /// A line that begins with `[` is not a tag.
    Tag(String),
    /// A variant with other rules than chess.
    Variant(String),
    /// The tag `FEN` is not a position.
    Fen(FenError),
    /// A word that is not part of PGN.
    Word(String),
    /// A move that is not legal.
    Move {
        /// Number of moves before it.
        ply: usize,
        /// The move as it is written.
        found: String,
    },
    /// A word follows the result.
    AfterResult(String),
}

impl fmt::Display for PgnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.kind)
    }
}

impl fmt::Display for PgnErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PgnErrorKind::Empty => f.write_str("there is no game"),
            PgnErrorKind::TooLong => write!(f, "the game is longer than {} MiB", MAX_BYTES >> 20),
            PgnErrorKind::TooManyMoves => write!(f, "the game has more than {MAX_MOVES} moves"),
            PgnErrorKind::TooDeep => write!(f, "variations are nested more than {MAX_DEPTH} deep"),
            PgnErrorKind::Comment => {
                f.write_str("the comment that begins here does not end: expected }")
            }
            PgnErrorKind::Parenthesis => {
                f.write_str("a variation does not begin or end: expected ( and ) in pairs")
            }
            PgnErrorKind::Tag(found) => write!(
                f,
                "expected a tag such as [White \"Tal\"], found {}",
                Shown(found)
            ),
            PgnErrorKind::Variant(found) => write!(
                f,
                "the variant is {}: expected chess or Chess960",
                Shown(found)
            ),
            PgnErrorKind::Fen(error) => error.fmt(f),
            PgnErrorKind::Word(found) => {
                write!(
                    f,
                    "expected a move in English letters, found {}",
                    Shown(found)
                )
            }
            PgnErrorKind::Move { ply, found } => {
                write!(f, "{} is not a legal move after {ply} moves", Shown(found))
            }
            PgnErrorKind::AfterResult(found) => write!(f, "{} follows the result", Shown(found)),
        }
    }
}

impl core::error::Error for PgnError {}

/// Prints the beginning of an untrusted text, without control characters.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 40;
        let plain = self.0.chars().take(MOST).map(|c| {
            if c < ' ' || ('\x7f'..='\u{9f}').contains(&c) {
                ' '
            } else {
                c
            }
        });
        plain.into_iter().try_for_each(|c| write!(f, "{c}"))?;
        if self.0.chars().nth(MOST).is_some() {
            f.write_str("…")
        } else {
            Ok(())
        }
    }
}
