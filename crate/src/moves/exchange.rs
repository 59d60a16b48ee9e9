//! What a series of captures on one square wins.

use shakmaty::attacks::{bishop_attacks, king_attacks, knight_attacks, pawn_attacks, rook_attacks};
use shakmaty::{Bitboard, Color, Square};

use super::sight::{DIAGONALS, ROLES, STRAIGHTS, Sight};

/// What pieces are worth in an exchange; the king's must exceed all else.
pub(super) const WORTH: [i32; ROLES] = [1, 3, 3, 5, 9, 30];

/// Captures in one exchange; any more do not count.
const MOST: usize = 32;

impl Sight {
    /// What the side to move wins by a move and the captures on its target that follow.
    #[inline]
    pub(super) fn swap(&self, role: usize, from: Square, to: Square, gain: i32) -> i32 {
        if self.them.attacks.contains(to) {
            gain - self.settle(to, self.occupied.without(from), WORTH[role], false)
        } else {
            gain
        }
    }

    /// Whether a piece of `role` on `square` is lost to the attackers of the other side.
    pub(super) fn falls(&self, role: usize, square: Square, to_us: bool) -> bool {
        self.settle(square, self.occupied, WORTH[role], to_us) > 0
    }

    /// What a side wins by capturing a piece worth `standing`, each side taking with its least piece and stopping
    /// when it pays; nothing if it had better not begin. Pins are ignored.
    fn settle(&self, square: Square, mut occupied: Bitboard, standing: i32, mut ours: bool) -> i32 {
        let (us, them) = (&self.us.pieces, &self.them.pieces);
        let straight = self.straight & STRAIGHTS[square as usize];
        let diagonal = self.diagonal & DIAGONALS[square as usize];
        let mut attackers = pawn_attacks(Color::Black, square) & us[0]
            | pawn_attacks(Color::White, square) & them[0]
            | knight_attacks(square) & (us[1] | them[1])
            | king_attacks(square) & (us[5] | them[5]);
        if straight.any() {
            attackers |= rook_attacks(square, occupied) & straight;
        }
        if diagonal.any() {
            attackers |= bishop_attacks(square, occupied) & diagonal;
        }
        let mut at_stake = [0; MOST];
        let mut captures = 0;
        let mut standing = standing;
        while captures < MOST {
            attackers &= occupied;
            let (side, other) = if ours { (&self.us, &self.them) } else { (&self.them, &self.us) };
            let own = attackers & side.all;
            if own.is_empty() {
                break;
            }
            let Some(role) = (0..ROLES).find(|role| (own & side.pieces[*role]).any()) else { break };
            if role == 5 && (attackers & other.all).any() {
                break;
            }
            at_stake[captures] = standing;
            captures += 1;
            standing = WORTH[role];
            occupied &= !(own & side.pieces[role]).isolate_first();
            if matches!(role, 0 | 2 | 4) && (diagonal & occupied & !attackers).any() {
                attackers |= bishop_attacks(square, occupied) & diagonal;
            }
            if matches!(role, 3 | 4) && (straight & occupied & !attackers).any() {
                attackers |= rook_attacks(square, occupied) & straight;
            }
            ours = !ours;
        }
        at_stake[..captures].iter().rev().fold(0, |won, stake| (stake - won).max(0))
    }
}
