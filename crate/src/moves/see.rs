//! Static exchange evaluation (SEE): the material won by a series of captures on one square.
//!
//! This is the swap algorithm, <https://www.chessprogramming.org/SEE_-_The_Swap_Algorithm>: the sides capture on the
//! square in turns, each with its least valuable piece. It keeps a window of two bounds instead of a list of gains,
//! like alpha-beta search, and stops when further captures cannot change the result within the window. `FORMAT.md`
//! ("Terms") defines the result.

use shakmaty::attacks::{king_attacks, knight_attacks, pawn_attacks};
use shakmaty::{Bitboard, Color, Square};

use super::board::{BISHOP_RAYS, ROLES, ROOK_RAYS, RelativeBoard, bishop_attacks, rook_attacks};

/// The values of the pieces; the king's must exceed all others.
pub(super) const WORTH: [i32; ROLES] = [1, 3, 3, 5, 9, 30];

/// The longest series of captures; further ones are not looked at.
const MAX_CAPTURES: usize = 32;

impl RelativeBoard {
    /// Returns the SEE of a move: the material that the side to move wins by the move and the following captures on its
    /// target. The result is clamped to -5 to 4 if the other side attacks the target.
    #[inline]
    pub(super) fn see_of_move(&self, role: usize, from: Square, to: Square, gain: i32) -> i32 {
        if self.them.attacks.contains(to) {
            gain - self.see(
                to,
                self.occupied.without(from),
                WORTH[role],
                false,
                (gain - 4).max(0),
                gain + 5,
            )
        } else {
            gain
        }
    }

    /// Returns whether capturing a piece of `role` on `square`, which the other side attacks, is profitable. `by_us` is
    /// true if our side captures.
    pub(super) fn is_en_prise(&self, role: usize, square: Square, by_us: bool) -> bool {
        self.see(square, self.occupied, WORTH[role], by_us, 0, 1) > 0
    }

    /// Returns the material that a side wins by capturing a piece worth `standing` on an attacked square. `ours` is
    /// true if our side captures first. Each side captures with its least valuable piece and may stop at any time; the
    /// result is 0 if the first capture is not profitable. Pins are ignored. The result is clamped to the window from
    /// `least` to `most`.
    fn see(
        &self,
        square: Square,
        mut occupied: Bitboard,
        mut standing: i32,
        mut ours: bool,
        mut least: i32,
        mut most: i32,
    ) -> i32 {
        let (us, them) = (&self.us.pieces, &self.them.pieces);
        let orthogonal_sliders = self.orthogonal_sliders & ROOK_RAYS[square as usize];
        let diagonal_sliders = self.diagonal_sliders & BISHOP_RAYS[square as usize];
        let mut attackers = pawn_attacks(Color::Black, square) & us[0]
            | pawn_attacks(Color::White, square) & them[0]
            | knight_attacks(square) & (us[1] | them[1])
            | king_attacks(square) & (us[5] | them[5]);
        // Usually there is no recapture.
        let owner = if ours { self.them.all } else { self.us.all };
        if ((attackers | orthogonal_sliders | diagonal_sliders) & owner & occupied).is_empty() {
            return standing.clamp(least, most);
        }
        if orthogonal_sliders.any() {
            attackers |= rook_attacks(square, occupied) & orthogonal_sliders;
        }
        if diagonal_sliders.any() {
            attackers |= bishop_attacks(square, occupied) & diagonal_sliders;
        }
        // `won` is the material balance for the side that captured first. `least` and `most` are the bounds, alpha and
        // beta.
        let mut won = 0;
        for capture in 0..MAX_CAPTURES {
            let begins = capture % 2 == 0;
            // The side that captures next wins at most the piece on the square.
            let (low, high) = if begins {
                (won, won + standing)
            } else {
                (won - standing, won)
            };
            if high <= least || low >= most {
                break;
            }
            attackers &= occupied;
            let (side, other) = if ours {
                (&self.us, &self.them)
            } else {
                (&self.them, &self.us)
            };
            let own = attackers & side.all;
            let Some(role) = (0..ROLES).find(|role| (own & side.pieces[*role]).any()) else {
                break;
            };
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
            if matches!(role, 0 | 2 | 4) && (diagonal_sliders & occupied & !attackers).any() {
                attackers |= bishop_attacks(square, occupied) & diagonal_sliders;
            }
            if matches!(role, 3 | 4) && (orthogonal_sliders & occupied & !attackers).any() {
                attackers |= rook_attacks(square, occupied) & orthogonal_sliders;
            }
            ours = !ours;
        }
        won.clamp(least, most)
    }
}
