//! Canonical positions: each position is one [`Position`] with one [`Key`], regardless of its notation.
//!
//! A canonical position has no move counters, castling rights only for kings and rooks on their squares, and an en
//! passant square only if a legal capture uses it. Every playable position is valid, even if no game can reach it (nine
//! queens, an impossible check). Positions without legal play are invalid: a missing king, the side not to move in
//! check, a pawn on the first or last rank.

mod fen;
mod key;
mod order;
#[cfg(test)]
mod tests;

pub use fen::FenError;
pub(crate) use key::{FILES, file_code, set_file_code};
pub use key::{Key, KeyError};
pub(crate) use order::KINDS;

use core::fmt;
use core::str::FromStr;

use shakmaty::fen::Epd;
use shakmaty::uci::UciMove;
use shakmaty::{
    CastlingMode, Chess, EnPassantMode, File, FromSetup, Move, Position as _, PositionErrorKinds,
    Setup,
};

/// A chess position in canonical form.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Position(Chess);

impl Position {
    /// Makes `setup` canonical: castling rights without king and rook in place, an en-passant square that no legal
    /// capture uses and the move counters are dropped.
    ///
    /// # Errors
    ///
    /// The reasons for which the position cannot be played on.
    pub fn from_setup(mut setup: Setup) -> Result<Position, PositionErrorKinds> {
        setup.halfmoves = 0;
        setup.fullmoves = core::num::NonZeroU32::MIN;
        let ep_square = setup.ep_square;
        let chess = playable(setup.clone())?;
        if ep_square.is_some() && chess.legal_ep_square().is_none() {
            setup.ep_square = None;
            return playable(setup).map(Position);
        }
        Ok(Position(chess))
    }

    /// Makes the position after a game's moves canonical.
    pub fn from_chess(chess: &Chess) -> Position {
        let setup = chess.to_setup(EnPassantMode::Legal);
        // A position that was reached by legal moves from a playable one is playable: fall back on it as it is.
        Position::from_setup(setup).unwrap_or_else(|_| Position(chess.clone()))
    }

    /// Returns the position with the rules of chess.
    pub fn chess(&self) -> &Chess {
        &self.0
    }

    /// Returns the exact code of this position, which defines the order of tables.
    pub fn key(&self) -> Key {
        Key::of_game(&self.0)
    }
}

/// Reads a FEN of four or six fields with its half-move clock, which a [`Position`] does not have.
///
/// ```
/// use shakmaty::Position;
///
/// let chess = shelfish::position::parse_fen("8/8/8/4k3/8/8/8/1Q2K3 w - - 12 80")?;
/// assert_eq!(chess.halfmoves(), 12);
/// # Ok::<(), shelfish::position::FenError>(())
/// ```
///
/// # Errors
///
/// Returns an error if the text is not the FEN of a position.
pub fn parse_fen(text: &str) -> Result<Chess, FenError> {
    let Position(chess) = text.parse()?;
    let mut setup = chess.to_setup(EnPassantMode::Legal);
    let clock = text.split_ascii_whitespace().nth(4);
    setup.halfmoves = clock.and_then(|field| field.parse().ok()).unwrap_or(0);
    Ok(playable(setup).unwrap_or(chess))
}

/// Converts a move to UCI. Only castling that begins as in standard chess can be written as there; other castling is
/// written as in Chess960.
pub fn uci(m: Move, castling: CastlingMode) -> UciMove {
    let begins_as_standard = match m {
        Move::Castle { king, rook } => {
            king.file() == File::E && matches!(rook.file(), File::A | File::H)
        }
        _ => true,
    };
    m.to_uci(if begins_as_standard {
        castling
    } else {
        CastlingMode::Chess960
    })
}

#[expect(
    clippy::result_large_err,
    reason = "an error of shakmaty holds the position, to go on with"
)]
fn playable(setup: Setup) -> Result<Chess, PositionErrorKinds> {
    Chess::from_setup(setup, CastlingMode::Chess960)
        .or_else(|error| error.ignore_invalid_castling_rights())
        .or_else(|error| error.ignore_invalid_ep_square())
        .or_else(|error| error.ignore_too_much_material())
        .or_else(|error| error.ignore_impossible_check())
        .map_err(|error| error.kinds())
}

impl From<&Chess> for Position {
    fn from(chess: &Chess) -> Position {
        Position::from_chess(chess)
    }
}

impl From<Chess> for Position {
    fn from(chess: Chess) -> Position {
        Position::from_chess(&chess)
    }
}

/// The first four fields of FEN, with X-FEN castling letters.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Epd::from_position(&self.0, EnPassantMode::Legal).fmt(f)
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Position({self})")
    }
}

impl FromStr for Position {
    type Err = FenError;

    fn from_str(fen: &str) -> Result<Position, FenError> {
        fen::parse(fen)
    }
}
