//! Reading FEN: four or six fields, X-FEN and Shredder-FEN castling letters in any order.

use shakmaty::{Bitboard, Board, Color, File, PositionErrorKinds, Rank, Setup, Square};

use super::Position;
use crate::quoted::Quoted;

/// Maximum length of a FEN. Longer text is rejected without parsing.
const MAX_BYTES: usize = 256;

/// Reasons why a text is not the FEN of a position, by field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenError {
    /// Longer than any FEN.
    #[error("FEN of {found} bytes, expected at most {MAX_BYTES}")]
    TooLong {
        /// Bytes found.
        found: usize,
    },
    /// Fewer than four or more than six fields.
    #[error(
        "FEN has {found} field{}, expected 4 or 6: board, side to move, castling, en passant and the counters",
        if *found == 1 { "" } else { "s" }
    )]
    Fields {
        /// Fields found.
        found: usize,
    },
    /// Field 1, the board, does not have eight ranks of eight squares of the pieces `PNBRQK pnbrqk`.
    #[error("FEN field 1 (board): {0}")]
    Board(String),
    /// Field 2, the side to move, is neither `w` nor `b`.
    #[error("FEN field 2 (side to move): expected w or b, found {}", Quoted(.0))]
    SideToMove(String),
    /// Field 3, castling rights, is neither `-` nor up to four of `KQkq` or rook files `A` to `H`, `a` to `h`.
    #[error(
        "FEN field 3 (castling): expected - or letters of KQkq or of rook files A-H and a-h, found {}",
        Quoted(.0)
    )]
    Castling(String),
    /// Field 4, the en-passant square, is neither `-` nor a square of the third or sixth rank.
    #[error("FEN field 4 (en passant): expected - or a square of rank 3 or 6, found {}", Quoted(.0))]
    EnPassant(String),
    /// Field 5 or 6, a move counter, is not a number.
    #[error("FEN fields 5 and 6 (move counters): expected numbers, found {}", Quoted(.0))]
    Counter(String),
    /// Well written, but there is no legal play from it.
    #[error("position without legal play: {}", unplayable(*.0))]
    Unplayable(PositionErrorKinds),
}

/// Describes the most important reason.
pub(super) fn unplayable(kinds: PositionErrorKinds) -> &'static str {
    [
        (PositionErrorKinds::EMPTY_BOARD, "the board is empty"),
        (PositionErrorKinds::MISSING_KING, "a king is missing"),
        (
            PositionErrorKinds::TOO_MANY_KINGS,
            "a side has more than one king",
        ),
        (
            PositionErrorKinds::PAWNS_ON_BACKRANK,
            "a pawn stands on the first or last rank",
        ),
        (
            PositionErrorKinds::OPPOSITE_CHECK,
            "the side not to move is in check",
        ),
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
        .ok_or(FenError::Fields {
            found: fields.len(),
        })?;
    if let Some(found) = counters
        .iter()
        .find(|counter| counter.parse::<u32>().is_err())
    {
        return Err(FenError::Counter((*found).to_string()));
    }
    let mut setup = Setup::empty();
    setup.board = Board::from_ascii_board_fen(board.as_bytes())
        .map_err(|_| FenError::Board(board_error(board)))?;
    setup.turn = match turn {
        "w" => Color::White,
        "b" => Color::Black,
        _ => return Err(FenError::SideToMove(turn.to_string())),
    };
    if castling != "-" {
        setup.castling_rights = castling_rights(&setup.board, castling)
            .ok_or_else(|| FenError::Castling(castling.to_string()))?;
    }
    if en_passant != "-" {
        let square = Square::from_ascii(en_passant.as_bytes()).ok();
        let square = square.filter(|square| matches!(square.rank(), Rank::Third | Rank::Sixth));
        setup.ep_square = Some(square.ok_or_else(|| FenError::EnPassant(en_passant.to_string()))?);
    }
    Position::from_setup(setup).map_err(FenError::Unplayable)
}

/// Parses the rooks that may castle, at most two per side. `K` and `Q` (X-FEN) are the outermost rook on that side of
/// the king, or the corner if there is no rook. Other letters (Shredder-FEN) are files.
fn castling_rights(board: &Board, field: &str) -> Option<Bitboard> {
    let mut rooks = Bitboard::EMPTY;
    for letter in field.chars() {
        let color = Color::from_white(letter.is_ascii_uppercase());
        let rank = color.backrank();
        let standing = board.by_color(color) & (board.rooks() | board.kings()) & rank;
        let (outermost, corner) = match letter.to_ascii_lowercase() {
            'k' => (standing.last(), File::H),
            'q' => (standing.first(), File::A),
            file => (None, File::from_char(file)?),
        };
        let rook = outermost.filter(|square| board.rooks().contains(*square));
        rooks.add(rook.unwrap_or(Square::from_coords(corner, rank)));
    }
    let is_too_many = |color: &Color| (rooks & color.backrank()).count() > 2;
    (!Color::ALL.iter().any(is_too_many)).then_some(rooks)
}

/// Describes the error of a board field.
fn board_error(board: &str) -> String {
    let ranks: Vec<&str> = board.split('/').collect();
    if ranks.len() != 8 {
        return format!("expected 8 ranks, found {}", ranks.len());
    }
    for (n, rank) in ranks.iter().enumerate() {
        // A text that is asked whether it contains a sign brings the search for texts.
        let is_known = |c: &char| {
            matches!(
                c.to_ascii_lowercase(),
                'p' | 'n' | 'b' | 'r' | 'q' | 'k' | '1'..='8' | '~'
            )
        };
        if let Some(found) = rank.chars().find(|c| !is_known(c)) {
            return format!(
                "rank {} has '{found}', expected pieces PNBRQK, pnbrqk and digits 1 to 8",
                8 - n
            );
        }
        let squares: u32 = rank
            .chars()
            .filter(|c| *c != '~')
            .map(|c| c.to_digit(10).unwrap_or(1))
            .sum();
        if squares != 8 {
            return format!("rank {} has {squares} squares, expected 8", 8 - n);
        }
    }
    format!("{} is not a board", Quoted(board))
}
