//! What a series of captures on one square wins.

use shakmaty::attacks::{king_attacks, knight_attacks, pawn_attacks};
use shakmaty::{Bitboard, Color, Square};

use super::sight::{DIAGONALS, ROLES, STRAIGHTS, Sight, bishop_attacks, rook_attacks};

/// What pieces are worth in an exchange; the king's must exceed all else.
pub(super) const WORTH: [i32; ROLES] = [1, 3, 3, 5, 9, 30];

/// Captures in one exchange; any more do not count.
const MOST: usize = 32;

impl Sight {
    /// What the side to move wins by a move and the captures on its target that follow, but at most 4
    /// more or 5 less than nothing.
    #[inline]
    pub(super) fn swap(&self, role: usize, from: Square, to: Square, gain: i32) -> i32 {
        if self.them.attacks.contains(to) {
            gain - self.settle(to, self.occupied.without(from), WORTH[role], false, (gain - 4).max(0), gain + 5)
        } else {
            gain
        }
    }

    /// Whether a piece of `role` on `square` is lost to the attackers of the other side.
    pub(super) fn falls(&self, role: usize, square: Square, to_us: bool) -> bool {
        self.settle(square, self.occupied, WORTH[role], to_us, 0, 1) > 0
    }

    /// What a side wins by capturing a piece worth `standing`, which it attacks, each side taking with its least piece and stopping
    /// when it pays; nothing if it had better not begin. Pins are ignored. What is below `least` or above `most` counts
    /// as these.
    fn settle(
        &self,
        square: Square,
        mut occupied: Bitboard,
        mut standing: i32,
        mut ours: bool,
        mut least: i32,
        mut most: i32,
    ) -> i32 {
        let (us, them) = (&self.us.pieces, &self.them.pieces);
        let straight = self.straight & STRAIGHTS[square as usize];
        let diagonal = self.diagonal & DIAGONALS[square as usize];
        let mut attackers = pawn_attacks(Color::Black, square) & us[0]
            | pawn_attacks(Color::White, square) & them[0]
            | knight_attacks(square) & (us[1] | them[1])
            | king_attacks(square) & (us[5] | them[5]);
        // Most often nobody can take back.
        let owner = if ours { self.them.all } else { self.us.all };
        if ((attackers | straight | diagonal) & owner & occupied).is_empty() {
            return standing.clamp(least, most);
        }
        if straight.any() {
            attackers |= rook_attacks(square, occupied) & straight;
        }
        if diagonal.any() {
            attackers |= bishop_attacks(square, occupied) & diagonal;
        }
        // As in alpha-beta search: what is won so far, and between what the side that began and the other have made
        // sure that it ends.
        let mut won = 0;
        for capture in 0..MOST {
            let begins = capture % 2 == 0;
            // The side to capture wins at most what stands there.
            let (low, high) = if begins { (won, won + standing) } else { (won - standing, won) };
            if high <= least || low >= most {
                break;
            }
            attackers &= occupied;
            let (side, other) = if ours { (&self.us, &self.them) } else { (&self.them, &self.us) };
            let own = attackers & side.all;
            let Some(role) = (0..ROLES).find(|role| (own & side.pieces[*role]).any()) else { break };
            if role == 5 && (attackers & other.all).any() {
                break;
            }
            if begins {
                least = least.max(won);
                won += standing;
            } else {
                most = most.min(won);
                won -= standing;
            }
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
        won.clamp(least, most)
    }
}
