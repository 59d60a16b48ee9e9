//! Positions with Zobrist keys.

use std::str::FromStr;

use shakmaty::{
    Bitboard, ByRole, Chess, Color, EnPassantMode, Move, MoveList, Piece, Position as _, Role,
    Square, attacks, uci::UciMove,
};
use shelfish::position::{FenError, parse_fen};

use crate::{packed::Packed, zobrist};

/// A position with its keys and the pieces that give check.
#[derive(Clone, Debug)]
pub struct Position {
    chess: Chess,
    key: u64,
    pawn_key: u64,
    /// Keys of each colour's pieces and king.
    piece_keys: [u64; 2],
    checkers: Bitboard,
}

impl Default for Position {
    fn default() -> Position {
        Position::new(Chess::default())
    }
}

impl FromStr for Position {
    type Err = FenError;

    fn from_str(fen: &str) -> Result<Position, FenError> {
        Ok(Position::new(parse_fen(fen)?))
    }
}

impl Position {
    /// Creates a position from shakmaty's.
    pub fn new(chess: Chess) -> Position {
        let (key, checkers) = (state_key(&chess), chess.checkers());
        let mut position = Position {
            key,
            pawn_key: 0,
            piece_keys: [0; 2],
            checkers,
            chess,
        };
        for (square, piece) in position.chess.board().clone() {
            position.toggle(piece.color, piece.role, square);
        }
        position
    }

    /// Adds a piece to the keys, or removes it.
    fn toggle(&mut self, color: Color, role: Role, square: Square) {
        let number = zobrist::piece(color, role, square);
        self.key ^= number;
        if role == Role::Pawn {
            self.pawn_key ^= number;
        } else {
            self.piece_keys[color as usize] ^= number;
        }
    }

    /// Returns the position of shakmaty.
    pub fn chess(&self) -> &Chess {
        &self.chess
    }

    /// Returns the key. Positions that are equal by the rules of repetition have equal keys.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Returns the key of the pawns.
    pub fn pawn_key(&self) -> u64 {
        self.pawn_key
    }

    /// Returns the key of a colour's pieces and king, without its pawns.
    pub fn piece_key(&self, color: Color) -> u64 {
        self.piece_keys[color as usize]
    }

    /// Returns the side to move.
    pub fn turn(&self) -> Color {
        self.chess.turn()
    }

    /// Returns whether the side to move is in check.
    pub fn in_check(&self) -> bool {
        self.checkers.any()
    }

    /// Returns the plies since the last capture or pawn move.
    pub fn halfmoves(&self) -> usize {
        self.chess.halfmoves() as usize
    }

    /// Returns all legal moves.
    pub fn legal_moves(&self) -> MoveList {
        self.chess.legal_moves()
    }

    /// Returns the legal move that `packed` encodes.
    pub fn move_of(&self, packed: Packed) -> Option<Move> {
        if !packed.is_some() {
            return None;
        }
        let (from, to, promotion) = packed.parts()?;
        let board = self.chess.board();
        let piece = board
            .piece_at(from)
            .filter(|piece| piece.color == self.turn())?;
        let m = match (piece.role, board.piece_at(to)) {
            (
                Role::King,
                Some(Piece {
                    color,
                    role: Role::Rook,
                }),
            ) if color == self.turn() && promotion.is_none() => Move::Castle {
                king: from,
                rook: to,
            },
            (Role::Pawn, None) if from.file() != to.file() && promotion.is_none() => {
                Move::EnPassant { from, to }
            }
            (role, taken) => {
                let capture = taken
                    .filter(|taken| taken.color != self.turn())
                    .map(|taken| taken.role);
                Move::Normal {
                    role,
                    from,
                    capture,
                    to,
                    promotion,
                }
            }
        };
        self.chess.is_legal(m).then_some(m)
    }

    /// Parses a legal move in UCI. Castling may be written either way.
    pub fn legal_move(&self, uci: &str) -> Option<Move> {
        uci.parse::<UciMove>().ok()?.to_move(&self.chess).ok()
    }

    /// Returns the pieces of a colour, except king and pawns.
    pub fn pieces(&self, color: Color) -> Bitboard {
        let board = self.chess.board();
        board.by_color(color) & !board.pawns() & !board.kings()
    }

    /// Returns the number of pieces.
    pub fn count(&self) -> usize {
        self.chess.board().occupied().count()
    }

    /// Returns the squares that the opponent's pawns attack.
    pub fn pawn_threats(&self) -> Bitboard {
        let board = self.chess.board();
        let pawns = board.by_color(!self.turn()) & board.pawns();
        let forward = self.turn().fold_wb(-8, 8);
        let left = (pawns & !Bitboard::from_file(shakmaty::File::A)).shift(forward - 1);
        left | (pawns & !Bitboard::from_file(shakmaty::File::H)).shift(forward + 1)
    }

    /// Returns whether neither side can mate.
    pub fn insufficient_material(&self) -> bool {
        self.count() <= 4 && self.chess.is_insufficient_material()
    }

    /// Returns the position after a legal move.
    #[must_use]
    pub fn play(&self, m: Move) -> Position {
        self.play_changes(m, &Changes::of(self.turn(), m))
    }

    /// Returns the position after a legal move with these changes.
    #[must_use]
    pub fn play_changes(&self, m: Move, changes: &Changes) -> Position {
        let mut next = self.clone();
        next.chess.play_unchecked(m);
        next.key ^= zobrist::BLACK ^ en_passant_key(&self.chess) ^ en_passant_key(&next.chess);
        if next.chess.castles().castling_rights() != self.chess.castles().castling_rights() {
            next.key ^= castling_key(&self.chess) ^ castling_key(&next.chess);
        }
        changes.for_each(|color, role, square| next.toggle(color, role, square));
        next.checkers = next.chess.checkers();
        next
    }

    /// Returns the key after a move with these changes, except for changes of castling rights and of the en passant square.
    pub fn key_after(&self, changes: &Changes) -> u64 {
        let mut key = self.key ^ zobrist::BLACK;
        changes.for_each(|color, role, square| key ^= zobrist::piece(color, role, square));
        key
    }

    /// Returns whether the moved piece gives check. Discovered checks are not detected.
    pub fn checks(&self, m: Move) -> bool {
        let (role, from, to) = match m {
            Move::Normal {
                role,
                from,
                to,
                promotion,
                ..
            } => (promotion.unwrap_or(role), from, to),
            Move::EnPassant { from, to } => (Role::Pawn, from, to),
            Move::Castle { .. } | Move::Put { .. } => return false,
        };
        let board = self.chess.board();
        let occupied = board.occupied().without(from).with(to);
        let attacked = attacks::attacks(
            to,
            Piece {
                color: self.turn(),
                role,
            },
            occupied,
        );
        board
            .king_of(!self.turn())
            .is_some_and(|king| attacked.contains(king))
    }

    /// Returns, for each role, the squares from which a piece of the side to move gives check.
    pub fn check_squares(&self) -> ByRole<Bitboard> {
        let (us, board) = (self.turn(), self.chess.board());
        let Some(king) = board.king_of(!us) else {
            return ByRole::default();
        };
        let from = |role| attacks::attacks(king, Piece { color: !us, role }, board.occupied());
        let (bishop, rook) = (from(Role::Bishop), from(Role::Rook));
        ByRole {
            pawn: from(Role::Pawn),
            knight: from(Role::Knight),
            bishop,
            rook,
            queen: bishop | rook,
            king: Bitboard::EMPTY,
        }
    }

    /// Returns the position with the other side to move, or `None` if the side to move is in check.
    pub fn pass(&self) -> Option<Position> {
        let chess = self.chess.clone().swap_turn().ok()?;
        let key = self.key ^ state_key(&self.chess) ^ state_key(&chess);
        Some(Position {
            chess,
            key,
            pawn_key: self.pawn_key,
            piece_keys: self.piece_keys,
            checkers: Bitboard::EMPTY,
        })
    }
}

/// Returns the key of side to move, castling rights and en-passant square.
fn state_key(chess: &Chess) -> u64 {
    let turn = if chess.turn() == Color::Black {
        zobrist::BLACK
    } else {
        0
    };
    turn ^ castling_key(chess) ^ en_passant_key(chess)
}

fn castling_key(chess: &Chess) -> u64 {
    chess
        .castles()
        .castling_rights()
        .into_iter()
        .fold(0, |key, rook| key ^ zobrist::castling(rook))
}

/// Returns the key of the en-passant square. A square without a legal capture does not distinguish positions.
fn en_passant_key(chess: &Chess) -> u64 {
    match chess
        .maybe_ep_square()
        .and_then(|_| chess.ep_square(EnPassantMode::Legal))
    {
        Some(square) => zobrist::en_passant(square),
        None => 0,
    }
}

/// The pieces that a move removes from squares and adds to squares.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    /// Pieces removed from their square.
    pub removed: [Option<(Color, Role, Square)>; 2],
    /// Pieces added to a square, after the removals.
    pub added: [Option<(Color, Role, Square)>; 2],
}

impl Changes {
    /// Returns the changes of a move of `us`.
    pub fn of(us: Color, m: Move) -> Changes {
        match m {
            Move::Normal {
                role,
                from,
                capture,
                to,
                promotion,
            } => Changes {
                removed: [
                    Some((us, role, from)),
                    capture.map(|taken| (!us, taken, to)),
                ],
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
                    added: [
                        Some((us, Role::King, side.king_to(us))),
                        Some((us, Role::Rook, side.rook_to(us))),
                    ],
                }
            }
            // Only in variants of chess.
            Move::Put { role, to } => Changes {
                removed: [None; 2],
                added: [Some((us, role, to)), None],
            },
        }
    }

    /// Calls `f` for each piece that is removed or added.
    fn for_each(&self, mut f: impl FnMut(Color, Role, Square)) {
        self.removed
            .iter()
            .chain(&self.added)
            .flatten()
            .for_each(|&(color, role, square)| f(color, role, square));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(fen: &str) -> Position {
        fen.parse().unwrap()
    }

    /// Plays the legal moves of a position to a depth, and compares each key with the key of a new position.
    fn walk(position: &Position, depth: u32) {
        let new = Position::new(position.chess.clone());
        assert_eq!(
            (position.key, position.pawn_key),
            (new.key, new.pawn_key),
            "{:?}",
            position.chess
        );
        assert_eq!(position.piece_keys, new.piece_keys);
        assert_eq!(position.checkers, new.checkers);
        if depth > 0 {
            position
                .legal_moves()
                .into_iter()
                .for_each(|m| walk(&position.play(m), depth - 1));
            if let Some(passed) = position.pass() {
                walk(&passed, 0);
            }
        }
    }

    #[test]
    fn incremental_keys_equal_keys_of_new_positions() {
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
    fn an_en_passant_square_without_a_capture_is_not_in_the_key() {
        let pushed = position("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1");
        let quiet = position("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        assert_eq!(pushed.key(), quiet.key());
        let takes = position("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1");
        let late = position("4k3/8/8/8/3pP3/8/8/4K3 b - - 0 1");
        assert_ne!(takes.key(), late.key());
    }

    #[test]
    fn plies_without_capture_are_read_from_the_fifth_field() {
        let plies = |fen: &str| position(fen).halfmoves();
        assert_eq!(plies("4k3/8/8/8/8/8/8/R3K3 w Q - 61 90"), 61);
        assert!(matches!(
            "4k3/8/8/8/8/8/8/R3K3 w Q - x 90".parse::<Position>(),
            Err(FenError::Counter(_))
        ));
        assert_eq!(plies("4k3/8/8/8/8/8/8/R3K3 w Q -"), 0);
    }

    #[test]
    fn a_move_that_attacks_the_king_is_a_check() {
        let start = position("r3k2r/8/8/8/1b6/8/4P1P1/R3K2R w KQkq - 0 1");
        let start = Position::new(start.chess().clone());
        for m in start.legal_moves() {
            let child = start.play(m);
            // No check is discovered here.
            if !matches!(m, Move::Castle { .. }) {
                assert_eq!(start.checks(m), child.in_check(), "{m:?}");
            }
        }
        let promotes = position("3k4/1P6/8/8/8/8/8/4K3 w - - 0 1");
        let checks: Vec<_> = promotes
            .legal_moves()
            .into_iter()
            .filter(|&m| promotes.checks(m))
            .filter_map(Move::promotion)
            .collect();
        assert_eq!(checks, [Role::Queen, Role::Rook]);
    }

    #[test]
    fn a_move_to_a_check_square_is_a_check() {
        fn walk(position: &Position, depth: u32) {
            let squares = position.check_squares();
            for m in position.legal_moves() {
                if let Move::Normal {
                    role,
                    to,
                    promotion: None,
                    ..
                } = m
                {
                    assert_eq!(
                        squares.get(role).contains(to),
                        position.checks(m),
                        "{:?} {m:?}",
                        position.chess
                    );
                }
                if depth > 0 {
                    walk(&position.play(m), depth - 1);
                }
            }
        }
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "3r1rk1/p5pp/bpp1pp2/8/q1PP1P2/b3P3/P2NQRPP/1R2B1K1 b - - 6 22",
        ] {
            walk(&position(fen), 2);
        }
    }
}
