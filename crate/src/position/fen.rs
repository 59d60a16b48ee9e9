//! Reading FEN: four or six fields, X-FEN and Shredder-FEN castling letters in any order.

use core::fmt;

use shakmaty::fen::{Fen, ParseFenError};
use shakmaty::{PositionErrorKinds, Rank, Square};

use super::Position;

/// No FEN is longer; what is longer is not looked at.
const MAX_BYTES: usize = 256;

/// Why a text is not the FEN of a position, by field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenError {
    /// Longer than any FEN.
    TooLong {
        /// Bytes found.
        found: usize,
    },
    /// Fewer than four or more than six fields.
    Fields {
        /// Fields found.
        found: usize,
    },
    /// Field 1, the board, does not have eight ranks of eight squares of the pieces `PNBRQK pnbrqk`.
    Board(String),
    /// Field 2, the side to move, is neither `w` nor `b`.
    SideToMove(String),
    /// Field 3, castling rights, is neither `-` nor up to four of `KQkq` or rook files `A` to `H`, `a` to `h`.
    Castling(String),
    /// Field 4, the en-passant square, is neither `-` nor a square of the third or sixth rank.
    EnPassant(String),
    /// Field 5 or 6, a move counter, is not a number.
    Counter(String),
    /// Well written, but there is no legal play from it.
    Unplayable(PositionErrorKinds),
}

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FenError::TooLong { found } => write!(f, "FEN of {found} bytes, expected at most {MAX_BYTES}"),
            FenError::Fields { found } => write!(
                f,
                "FEN has {found} field{}, expected 4 or 6: board, side to move, castling, en passant and the counters",
                if *found == 1 { "" } else { "s" }
            ),
            FenError::Board(why) => write!(f, "FEN field 1 (board): {why}"),
            FenError::SideToMove(found) => write!(f, "FEN field 2 (side to move): expected w or b, found {found:?}"),
            FenError::Castling(found) => write!(
                f,
                "FEN field 3 (castling): expected - or letters of KQkq or of rook files A-H and a-h, found {found:?}"
            ),
            FenError::EnPassant(found) => {
                write!(f, "FEN field 4 (en passant): expected - or a square of rank 3 or 6, found {found:?}")
            }
            FenError::Counter(found) => {
                write!(f, "FEN fields 5 and 6 (move counters): expected numbers, found {found:?}")
            }
            FenError::Unplayable(kinds) => write!(f, "position without legal play: {}", unplayable(*kinds)),
        }
    }
}

impl core::error::Error for FenError {}

/// The reasons in words, most telling first.
fn unplayable(kinds: PositionErrorKinds) -> &'static str {
    [
        (PositionErrorKinds::EMPTY_BOARD, "the board is empty"),
        (PositionErrorKinds::MISSING_KING, "a king is missing"),
        (PositionErrorKinds::TOO_MANY_KINGS, "a side has more than one king"),
        (PositionErrorKinds::PAWNS_ON_BACKRANK, "a pawn stands on the first or last rank"),
        (PositionErrorKinds::OPPOSITE_CHECK, "the side not to move is in check"),
    ]
    .into_iter()
    .find(|(kind, _)| kinds.contains(*kind))
    .map_or("the rules of chess do not allow it", |(_, reason)| reason)
}

pub(super) fn parse(fen: &str) -> Result<Position, FenError> {
    if fen.len() > MAX_BYTES {
        return Err(FenError::TooLong { found: fen.len() });
    }
    let fields: Vec<&str> = fen.split_ascii_whitespace().collect();
    let (&[board, turn, castling, en_passant], counters) = fields
        .split_first_chunk::<4>()
        .filter(|(_, counters)| counters.len() <= 2)
        .ok_or(FenError::Fields { found: fields.len() })?;
    if let Some(found) = counters.iter().find(|counter| counter.parse::<u32>().is_err()) {
        return Err(FenError::Counter((*found).to_string()));
    }
    if en_passant != "-" {
        en_passant
            .parse::<Square>()
            .ok()
            .filter(|square| matches!(square.rank(), Rank::Third | Rank::Sixth))
            .ok_or_else(|| FenError::EnPassant(en_passant.to_string()))?;
    }
    let fen: Fen = format!("{board} {turn} {castling} {en_passant}").parse().map_err(|error| match error {
        ParseFenError::InvalidTurn => FenError::SideToMove(turn.to_string()),
        ParseFenError::InvalidCastling => FenError::Castling(castling.to_string()),
        ParseFenError::InvalidEpSquare => FenError::EnPassant(en_passant.to_string()),
        _ => FenError::Board(board_fault(board)),
    })?;
    Position::from_setup(fen.into_setup()).map_err(FenError::Unplayable)
}

/// Says what is wrong with a board field.
fn board_fault(board: &str) -> String {
    let ranks: Vec<&str> = board.split('/').collect();
    if ranks.len() != 8 {
        return format!("expected 8 ranks, found {}", ranks.len());
    }
    for (n, rank) in ranks.iter().enumerate() {
        if let Some(found) = rank.chars().find(|c| !"PNBRQKpnbrqk12345678~".contains(*c)) {
            return format!("rank {} has {found:?}, expected pieces PNBRQK, pnbrqk and digits 1 to 8", 8 - n);
        }
        let squares: u32 = rank.chars().filter(|c| *c != '~').map(|c| c.to_digit(10).unwrap_or(1)).sum();
        if squares != 8 {
            return format!("rank {} has {squares} squares, expected 8", 8 - n);
        }
    }
    format!("{board:?} is not a board")
}
