//! The moves that led from a record's position to the one at hand.

use shakmaty::{Bitboard, Color, File, Move, Role, Square};

use super::board::relative_square;

/// A played move, as far as later moves depend on it.
#[derive(Copy, Clone)]
pub(super) struct PriorMove {
    /// The piece that arrived: after a promotion the promoted one.
    pub(super) role: Role,
    pub(super) from: Square,
    /// The king's target when castling.
    pub(super) to: Square,
    pub(super) capture: bool,
}

impl PriorMove {
    fn new(m: Move) -> PriorMove {
        let role = m.promotion().unwrap_or(m.role());
        PriorMove {
            role,
            from: origin(m),
            to: target(m),
            capture: m.is_capture(),
        }
    }

    /// Returns the move from the point of view of a side to move.
    fn relative_to(self, turn: Color) -> PriorMove {
        PriorMove {
            from: relative_square(self.from, turn),
            to: relative_square(self.to, turn),
            ..self
        }
    }
}

/// Returns the square that a move starts from. Every move of chess has an origin.
#[inline]
pub(super) fn origin(m: Move) -> Square {
    m.from().unwrap_or(Square::A1)
}

/// Returns the square on which the moving piece arrives: the king's when castling.
#[inline]
pub(super) fn target(m: Move) -> Square {
    match m {
        Move::Castle { king, rook } => {
            let file = if king < rook { File::G } else { File::C };
            Square::from_coords(file, king.rank())
        }
        _ => m.to(),
    }
}

/// The moves that led to a position of a line.
#[derive(Copy, Clone, Default)]
pub(super) struct LinePrefix {
    /// Moves played since the record's position.
    pub(super) ply: usize,
    /// The last move, which the opponent played, and the one before.
    pub(super) moves: [Option<Move>; 2],
    /// The targets of the moves of each side, first those of the side that moved first.
    arrivals: [Bitboard; 2],
    /// An incremental hash of the changes to the board, as Zobrist hashing does it, with sums: equal for lines of one
    /// record that reach the same board.
    pub(super) board_hash: u32,
}

impl LinePrefix {
    pub(super) fn push(&mut self, m: Move) {
        let PriorMove { role, from, to, .. } = PriorMove::new(m);
        let side = self.ply % 2;
        let before = piece_hash(m.role(), from, side)
            .wrapping_add(m.capture().map_or(0, |role| piece_hash(role, to, side ^ 1)));
        self.board_hash = self
            .board_hash
            .wrapping_add(piece_hash(role, to, side))
            .wrapping_sub(before);
        self.arrivals[side].add(to);
        self.moves = [Some(m), self.moves[0]];
        self.ply += 1;
    }

    /// Returns the last moves of the opponent and of the side to move, from the point of view of the side to move.
    pub(super) fn played(&self, turn: Color) -> [Option<PriorMove>; 2] {
        self.moves
            .map(|m| m.map(|m| PriorMove::new(m).relative_to(turn)))
    }

    /// Returns the targets of the moves of the side to move, from its point of view.
    pub(super) fn arrivals(&self, turn: Color) -> Bitboard {
        let arrivals = self.arrivals[self.ply % 2];
        if turn.is_white() {
            arrivals
        } else {
            arrivals.flip_vertical()
        }
    }
}

/// Returns the hash of a piece on a square.
fn piece_hash(role: Role, square: Square, side: usize) -> u32 {
    let x = ((role as u32 | (side as u32) << 3) << 6 | square as u32).wrapping_mul(0x9e37_79b1);
    (x ^ x >> 15).wrapping_mul(0x85eb_ca6b)
}
