//! Moves in 16 bits: origin, target, promotion. Castling is the king's move to its rook, as in Chess960.

use shakmaty::{Move, Role, Square};

/// A move in 16 bits, or [`Packed::NONE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packed(pub u16);

impl Packed {
    /// No move.
    pub const NONE: Packed = Packed(0);

    /// Returns origin, target and promotion. `None` if no role has the number of the promotion.
    pub fn parts(self) -> Option<(Square, Square, Option<Role>)> {
        let square = |bits: u16| Square::new(u32::from(bits & 63));
        let promotion = match (self.0 >> 12) as u8 {
            0 => None,
            role => Some(Role::try_from(role).ok()?),
        };
        Some((square(self.0), square(self.0 >> 6), promotion))
    }

    /// Returns whether this is a move.
    pub fn is_some(self) -> bool {
        self != Packed::NONE
    }
}

impl From<Move> for Packed {
    fn from(m: Move) -> Packed {
        let (_, from, to) = parts(m);
        let promotion = m.promotion().map_or(0, |role: Role| role as u16);
        Packed(from as u16 | (to as u16) << 6 | promotion << 12)
    }
}

/// Returns the moved role, origin and target of a move. Castling is the king's move to its rook.
pub fn parts(m: Move) -> (Role, Square, Square) {
    match m {
        Move::Normal { role, from, to, .. } => (role, from, to),
        Move::EnPassant { from, to } => (Role::Pawn, from, to),
        Move::Castle { king, rook } => (Role::King, king, rook),
        // Only in variants of chess.
        Move::Put { role, to } => (role, to, to),
    }
}

impl From<Option<Move>> for Packed {
    fn from(m: Option<Move>) -> Packed {
        m.map_or(Packed::NONE, Packed::from)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::Position;

    #[test]
    fn moves_of_a_position_have_distinct_codes() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "2k5/8/8/8/8/8/8/RK1R4 w AD - 0 1",
            "4k3/8/8/8/2ppP3/8/8/4K2B b - e3 0 1",
        ] {
            let position: Position = fen.parse().unwrap();
            let moves = position.legal_moves();
            let packed: HashSet<u16> = moves.iter().map(|&m| Packed::from(m).0).collect();
            assert_eq!(packed.len(), moves.len());
            assert!(!packed.contains(&Packed::NONE.0));
            for code in 0..=u16::MAX {
                let expected = moves.iter().copied().find(|&m| Packed::from(m).0 == code);
                assert_eq!(position.move_of(Packed(code)), expected, "{fen}: {code}");
            }
        }
    }
}
