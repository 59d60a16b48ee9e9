//! Errors in PGN.

use core::fmt;

use shelfish::position::FenError;

use super::{MAX_BYTES, MAX_MOVES};

/// Error in PGN, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {kind}")]
pub struct PgnError {
    /// Number of the line, counted from the number of the text's first line.
    pub line: u64,
    /// Number of the character in the line, from 1. The first line of a game that begins within a line begins with the game.
    pub column: u64,
    /// Kind of the error.
    pub kind: PgnErrorKind,
}

/// Kind of an error in PGN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PgnErrorKind {
    /// The text contains no game.
    #[error("there is no game")]
    Empty,
    /// The bytes are no text.
    #[error("this is no text: expected a PGN with moves such as 1. e4 e5")]
    NotText,
    /// The text is longer than [`MAX_BYTES`].
    #[error("the game is longer than {} MiB", MAX_BYTES >> 20)]
    TooLong,
    /// The game has more than [`MAX_MOVES`] moves.
    #[error("the game has more than {MAX_MOVES} moves")]
    TooManyMoves,
    /// A comment does not end.
    #[error("the comment that begins here does not end: expected }}")]
    Comment,
    /// A variation does not end.
    #[error("the variation that begins here does not end: expected )")]
    Variation,
    /// A variant with other rules than chess.
    #[error("the variant is {}: expected chess or Chess960", Shown(.0))]
    Variant(String),
    /// The tag `FEN` is not a position.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// A word that is neither a move nor a remark.
    #[error("{} {}: expected a move", number(*ply), Shown(found))]
    Word {
        /// Number of plies before it, from the first move of a game.
        ply: usize,
        /// The word as it is written.
        found: String,
    },
    /// A move that is not legal.
    #[error("{} {} is not a legal move", number(*ply), Shown(found))]
    Move {
        /// Number of plies before it, from the first move of a game.
        ply: usize,
        /// The move as it is written.
        found: String,
    },
}

/// Returns the number of a move: `3.` or `3...`.
fn number(ply: usize) -> String {
    let dots = if ply.is_multiple_of(2) { "." } else { "..." };
    format!("{}{dots}", ply / 2 + 1)
}

/// Prints the beginning of an untrusted text, without control characters.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 40;
        for c in self.0.chars().take(MOST) {
            write!(f, "{}", if c.is_control() { ' ' } else { c })?;
        }
        if self.0.chars().nth(MOST).is_some() {
            f.write_str("…")
        } else {
            Ok(())
        }
    }
}
