//! The moves that led from a record's position to the one at hand.

use shakmaty::{Bitboard, Color, Move, Role, Square};

use super::sight::turned;

/// A move that was played, as far as the next ones care.
#[derive(Copy, Clone)]
pub(super) struct Played {
    /// The piece that arrived: after a promotion the promoted one.
    pub(super) role: Role,
    pub(super) from: Square,
    /// The king's target when castling.
    pub(super) to: Square,
    pub(super) capture: bool,
}

impl Played {
    fn new(m: Move) -> Played {
        let role = m.promotion().unwrap_or(m.role());
        Played { role, from: origin(m), to: target(m), capture: m.is_capture() }
    }

    pub(super) fn turned(self, turn: Color) -> Played {
        Played { from: turned(self.from, turn), to: turned(self.to, turn), ..self }
    }
}

/// Where the moving piece stands. The moves of chess, unlike those of some variants, all have an origin.
#[inline]
pub(super) fn origin(m: Move) -> Square {
    m.from().unwrap_or(Square::A1)
}

/// Where the moving piece ends up.
#[inline]
pub(super) fn target(m: Move) -> Square {
    match m {
        Move::Castle { king, rook } if king < rook => Square::from_coords(shakmaty::File::G, king.rank()),
        Move::Castle { king, .. } => Square::from_coords(shakmaty::File::C, king.rank()),
        _ => m.to(),
    }
}

/// The moves that led to a position of a line.
#[derive(Copy, Clone, Default)]
pub(super) struct Trail {
    /// Moves played since the record's position.
    pub(super) ply: usize,
    /// The last move, the opponent's, and the one before, the mover's own.
    pub(super) moves: [Option<Move>; 2],
    /// Where pieces arrived, of the side that began and of the other.
    arrivals: [Bitboard; 2],
    /// Sums up the changes to the board: equal for lines of one record that reach the same board.
    pub(super) place: u32,
}

impl Trail {
    pub(super) fn push(&mut self, m: Move) {
        let Played { role, from, to, .. } = Played::new(m);
        let side = self.ply % 2;
        let before = mark(m.role(), from, side).wrapping_add(m.capture().map_or(0, |role| mark(role, to, side ^ 1)));
        self.place = self.place.wrapping_add(mark(role, to, side)).wrapping_sub(before);
        self.arrivals[side].add(to);
        self.moves = [Some(m), self.moves[0]];
        self.ply += 1;
    }

    /// The opponent's last move and the mover's own, as the side to move sees them.
    pub(super) fn played(&self, turn: Color) -> [Option<Played>; 2] {
        self.moves.map(|m| m.map(|m| Played::new(m).turned(turn)))
    }

    /// Where the mover's pieces arrived on the way, as it sees them.
    pub(super) fn arrivals(&self, turn: Color) -> Bitboard {
        let arrivals = self.arrivals[self.ply % 2];
        if turn.is_white() { arrivals } else { arrivals.flip_vertical() }
    }
}

/// A number that tells a piece on a square from others.
fn mark(role: Role, square: Square, side: usize) -> u32 {
    let x = ((role as u32 | (side as u32) << 3) << 6 | square as u32).wrapping_mul(0x9e37_79b1);
    (x ^ x >> 15).wrapping_mul(0x85eb_ca6b)
}
