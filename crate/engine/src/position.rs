//! A position with its keys. The rules are shakmaty's.

use std::fmt;

use shakmaty::{
    Bitboard, CastlingMode, Chess, Color, EnPassantMode, FromSetup, Move, MoveList, Piece, Position as _,
    PositionError, Role, Setup, Square, attacks,
    fen::{Fen, ParseFenError},
};

use crate::zobrist;

/// A position, its keys and who gives check.
#[derive(Clone, Debug)]
pub struct Position {
    chess: Chess,
    key: u64,
    pawn_key: u64,
    /// Of each colour's pieces and king.
    piece_keys: [u64; 2],
    checkers: Bitboard,
}

/// Why a FEN is no position.
#[derive(Debug)]
pub enum FenError {
    /// It cannot be read.
    Syntax(ParseFenError),
    /// It is no position of chess.
    Position(Box<PositionError<Chess>>),
}

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FenError::Syntax(error) => write!(f, "no FEN: {error}"),
            FenError::Position(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for FenError {}

impl Default for Position {
    fn default() -> Position {
        Position::new(Chess::default())
    }
}

/// As lenient as the rest of the project: castling rights and en passant squares that cannot be are left out, and nobody
/// counts the pieces.
impl std::str::FromStr for Position {
    type Err = FenError;

    fn from_str(fen: &str) -> Result<Position, FenError> {
        let setup = fen.parse::<Fen>().map_err(FenError::Syntax)?;
        let chess = setup
            .into_position(CastlingMode::Chess960)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_impossible_check)
            .or_else(PositionError::ignore_too_much_material)
            .map_err(|error| FenError::Position(Box::new(error)))?;
        Ok(Position::new(chess))
    }
}

impl Position {
    /// A position of shakmaty's.
    pub fn new(chess: Chess) -> Position {
        let (mut key, mut pawn_key, mut piece_keys) = (state_key(&chess), 0, [0; 2]);
        for (square, piece) in chess.board() {
            let number = zobrist::piece(piece.color, piece.role, square);
            key ^= number;
            if piece.role == Role::Pawn {
                pawn_key ^= number;
            } else {
                piece_keys[piece.color as usize] ^= number;
            }
        }
        let checkers = chess.checkers();
        Position { chess, key, pawn_key, piece_keys, checkers }
    }

    /// A position with the plies since the last capture or pawn move that a FEN has in its fifth field, if it has one:
    /// canonical positions, as databases know them, have none.
    pub fn counted(chess: &Chess, fen: &str) -> Position {
        let plies = fen.split_ascii_whitespace().nth(4).and_then(|plies| plies.parse().ok());
        let setup = Setup { halfmoves: plies.unwrap_or(0), ..chess.to_setup(EnPassantMode::Legal) };
        let counted = Chess::from_setup(setup, CastlingMode::Chess960)
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check);
        Position::new(counted.unwrap_or_else(|_| chess.clone()))
    }

    /// The position as shakmaty has it.
    pub fn chess(&self) -> &Chess {
        &self.chess
    }

    /// Equal for positions that the rules of repetition take as equal.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// A key of the pawns alone.
    pub fn pawn_key(&self) -> u64 {
        self.pawn_key
    }

    /// A key of a colour's pieces and king, without its pawns.
    pub fn piece_key(&self, color: Color) -> u64 {
        self.piece_keys[color as usize]
    }

    /// The side to move.
    pub fn turn(&self) -> Color {
        self.chess.turn()
    }

    /// Whether the side to move is in check.
    pub fn in_check(&self) -> bool {
        self.checkers.any()
    }

    /// Plies since the last capture or pawn move.
    pub fn halfmoves(&self) -> usize {
        self.chess.halfmoves() as usize
    }

    /// All legal moves.
    pub fn legal_moves(&self) -> MoveList {
        self.chess.legal_moves()
    }

    /// The pieces of a colour, except king and pawns.
    pub fn pieces(&self, color: Color) -> Bitboard {
        let board = self.chess.board();
        board.by_color(color) & !board.pawns() & !board.kings()
    }

    /// Neither side can mate.
    pub fn insufficient_material(&self) -> bool {
        self.chess.board().occupied().count() <= 4 && self.chess.is_insufficient_material()
    }

    /// The position after a legal move.
    #[must_use]
    pub fn play(&self, m: Move) -> Position {
        let mut chess = self.chess.clone();
        chess.play_unchecked(m);
        let us = self.turn();
        let mut key = self.key ^ state_key(&self.chess) ^ state_key(&chess);
        let (mut pawn_key, mut piece_keys) = (self.pawn_key, self.piece_keys);
        for (color, role, square) in Changes::of(us, m) {
            let number = zobrist::piece(color, role, square);
            key ^= number;
            if role == Role::Pawn {
                pawn_key ^= number;
            } else {
                piece_keys[color as usize] ^= number;
            }
        }
        let checkers = chess.checkers();
        Position { chess, key, pawn_key, piece_keys, checkers }
    }

    /// Whether a move attacks the other king from where it goes. Checks that it discovers are not seen.
    pub fn checks(&self, m: Move) -> bool {
        let (role, from, to) = match m {
            Move::Normal { role, from, to, promotion, .. } => (promotion.unwrap_or(role), from, to),
            Move::EnPassant { from, to } => (Role::Pawn, from, to),
            Move::Castle { .. } | Move::Put { .. } => return false,
        };
        let board = self.chess.board();
        let occupied = board.occupied().without(from).with(to);
        let attacked = attacks::attacks(to, Piece { color: self.turn(), role }, occupied);
        board.king_of(!self.turn()).is_some_and(|king| attacked.contains(king))
    }

    /// The position with the other side to move, unless that is none because somebody is in check.
    pub fn pass(&self) -> Option<Position> {
        let chess = self.chess.clone().swap_turn().ok()?;
        let key = self.key ^ state_key(&self.chess) ^ state_key(&chess);
        Some(Position { chess, key, pawn_key: self.pawn_key, piece_keys: self.piece_keys, checkers: Bitboard::EMPTY })
    }
}

/// The key of what is not on the board.
fn state_key(chess: &Chess) -> u64 {
    let mut key = if chess.turn() == Color::Black { zobrist::BLACK } else { 0 };
    for rook in chess.castles().castling_rights() {
        key ^= zobrist::castling(rook);
    }
    // Only a pawn that may really be taken makes the position another one.
    if chess.maybe_ep_square().is_some()
        && let Some(square) = chess.ep_square(EnPassantMode::Legal)
    {
        key ^= zobrist::en_passant(square);
    }
    key
}

/// The pieces that a move takes from squares and puts on squares; a square that is in both lists changes twice.
#[derive(Clone, Copy, Debug)]
pub struct Changes {
    /// Pieces that leave their square.
    pub removed: [Option<(Color, Role, Square)>; 2],
    /// Pieces that come to a square.
    pub added: [Option<(Color, Role, Square)>; 2],
}

impl Changes {
    /// The changes of a move of `us`.
    pub fn of(us: Color, m: Move) -> Changes {
        match m {
            Move::Normal { role, from, capture, to, promotion } => Changes {
                removed: [Some((us, role, from)), capture.map(|taken| (!us, taken, to))],
                added: [Some((us, promotion.unwrap_or(role), to)), None],
            },
            Move::EnPassant { from, to } => Changes {
                removed: [
                    Some((us, Role::Pawn, from)),
                    Some((!us, Role::Pawn, Square::from_coords(to.file(), from.rank()))),
                ],
                added: [Some((us, Role::Pawn, to)), None],
            },
            Move::Castle { king, rook } => {
                let side = shakmaty::CastlingSide::from_queen_side(rook < king);
                Changes {
                    removed: [Some((us, Role::King, king)), Some((us, Role::Rook, rook))],
                    added: [Some((us, Role::King, side.king_to(us))), Some((us, Role::Rook, side.rook_to(us)))],
                }
            }
            // Not in standard chess.
            Move::Put { role, to } => Changes { removed: [None; 2], added: [Some((us, role, to)), None] },
        }
    }
}

impl IntoIterator for Changes {
    type Item = (Color, Role, Square);
    type IntoIter = std::iter::Flatten<std::iter::Chain<OptionsOf2, OptionsOf2>>;

    fn into_iter(self) -> Self::IntoIter {
        self.removed.into_iter().chain(self.added).flatten()
    }
}

type OptionsOf2 = std::array::IntoIter<Option<(Color, Role, Square)>, 2>;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn position(fen: &str) -> Position {
        fen.parse().unwrap()
    }

    /// Walks the legal moves of a position to a depth, and compares each key with one made from nothing.
    fn walk(position: &Position, depth: u32) {
        let whole = Position::new(position.chess.clone());
        assert_eq!((position.key, position.pawn_key), (whole.key, whole.pawn_key), "{:?}", position.chess);
        assert_eq!(position.piece_keys, whole.piece_keys);
        assert_eq!(position.checkers, whole.checkers);
        if depth > 0 {
            position.legal_moves().into_iter().for_each(|m| walk(&position.play(m), depth - 1));
            if let Some(passed) = position.pass() {
                walk(&passed, 0);
            }
        }
    }

    #[test]
    fn keys_are_updated_as_they_are_made_from_nothing() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "rnb2k1r/pp1Pbppp/2p5/q7/2B5/8/PPPQNnPP/RNB1K2R w KQ - 3 9",
            "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9",
        ] {
            walk(&position(fen), 2);
        }
    }

    #[test]
    fn a_pawn_that_cannot_be_taken_en_passant_makes_no_difference() {
        let pushed = position("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1");
        let quiet = position("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        assert_eq!(pushed.key(), quiet.key());
        let takes = position("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1");
        let late = position("4k3/8/8/8/3pP3/8/8/4K3 b - - 0 1");
        assert_ne!(takes.key(), late.key());
    }

    #[test]
    fn moves_without_capture_are_counted_from_the_fifth_field() {
        let chess = position("4k3/8/8/8/8/8/8/R3K3 w Q -");
        let plies = |fen: &str| Position::counted(chess.chess(), fen).halfmoves();
        assert_eq!(plies("4k3/8/8/8/8/8/8/R3K3 w Q - 61 90"), 61);
        assert_eq!(plies("4k3/8/8/8/8/8/8/R3K3 w Q - x 90"), 0);
        assert_eq!(plies("4k3/8/8/8/8/8/8/R3K3 w Q -"), 0);
    }

    #[test]
    fn a_move_that_attacks_the_king_is_a_check() {
        let start = position("r3k2r/8/8/8/1b6/8/4P1P1/R3K2R w KQkq - 0 1");
        let start = Position::new(start.chess().clone());
        for m in start.legal_moves() {
            let child = start.play(m);
            // Nothing is discovered here, and the rooks' attacks need not castle.
            if !matches!(m, Move::Castle { .. }) {
                assert_eq!(start.checks(m), child.in_check(), "{m:?}");
            }
        }
        let promotes = position("3k4/1P6/8/8/8/8/8/4K3 w - - 0 1");
        let checks: Vec<_> =
            promotes.legal_moves().into_iter().filter(|&m| promotes.checks(m)).filter_map(Move::promotion).collect();
        assert_eq!(checks, [Role::Queen, Role::Rook]);
    }

    #[test]
    fn nobody_passes_in_check() {
        assert!(position("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1").pass().is_none());
    }
}
