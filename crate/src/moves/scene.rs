//! What is worked out once for a position before its moves are looked at.

use shakmaty::attacks::{between, king_attacks, knight_attacks, pawn_attacks};
use shakmaty::{Bitboard, Color, Role, Square};

use super::sight::{ROLES, Sight, bishop_attacks, reach, rook_attacks};
use super::trail::{Played, Trail};

/// A position and what led to it.
pub(super) struct Scene<'a> {
    pub(super) sight: &'a Sight,
    pub(super) turn: Color,
    /// 0 to 3: by the pieces left, from all to few.
    pub(super) phase: usize,
    /// 0 or 1: the earlier or the later half of the phases.
    pub(super) late: usize,
    /// Moves since the record's position, at most 2.
    pub(super) ply: usize,
    /// The opponent's last move.
    pub(super) last: Option<Played>,
    /// What the piece attacks that the opponent moved last.
    pub(super) last_reach: Bitboard,
    /// The mover's own last move.
    pub(super) own: Option<Played>,
    /// Where the mover's pieces arrived on the way.
    pub(super) arrivals: Bitboard,
    /// The most valuable of our pieces that would be lost: its role + 1, 0 for none.
    pub(super) alarm: usize,
    /// All of ours of that role that would be lost.
    pub(super) endangered: Bitboard,
    /// Who attacks the first of them.
    pub(super) attackers: Bitboard,
    /// Where one could step between.
    pub(super) shields: Bitboard,
    /// The most valuable of their pieces that would be lost: its role + 1, 0 for none.
    pub(super) prize: usize,
    /// What each role of ours likes to attack.
    pub(super) prey: [Bitboard; ROLES],
    /// The squares about their king.
    pub(super) zone: Bitboard,
    /// Their pawns that would be lost or that nothing defends.
    pub(super) loose_pawns: Bitboard,
    /// All that it can matter to attack or defend anew.
    pub(super) touchy: Bitboard,
    /// Squares that are useful to attack: not ours, and no pawn of theirs guards them.
    pub(super) useful: Bitboard,
    /// Squares that no pawn of theirs can ever attack.
    pub(super) quiet: Bitboard,
    /// Squares from which a pawn of ours still has theirs in its way.
    pub(super) stopped: Bitboard,
}

impl<'a> Scene<'a> {
    pub(super) fn new(sight: &'a Sight, turn: Color, trail: &Trail) -> Scene<'a> {
        let (us, them) = (&sight.us.pieces, &sight.them.pieces);
        let [last, own] = trail.played(turn);
        let last_reach = last.map_or(Bitboard::EMPTY, |played| match played.role {
            Role::Pawn => pawn_attacks(Color::Black, played.to),
            role => reach(role, played.to, sight.occupied),
        });
        let best = |lost: Bitboard, side: &[Bitboard; ROLES]| {
            (0..5).rev().find(|role| (lost & side[*role]).any()).map_or(0, |role| role + 1)
        };
        let alarm = best(sight.threatened, us);
        let endangered = if alarm == 0 { Bitboard::EMPTY } else { sight.threatened & us[alarm - 1] };
        let (attackers, shields) = endangered.first().map_or_else(Default::default, |square| besiegers(sight, square));
        let weak = sight.loose | sight.them.all & !sight.them.attacks;
        let heavy = them[3] | them[4];
        let useful = !sight.them.by_role[0] & !sight.us.all;
        let phase = phase(sight);
        let zone = king_attacks(sight.their_king);
        let mut ahead = them[0].0 >> 8;
        ahead |= ahead >> 8;
        ahead |= ahead >> 16;
        ahead |= ahead >> 32;
        let beside = Bitboard(ahead).shift(-1) & !Bitboard::from_file(shakmaty::File::H)
            | Bitboard(ahead).shift(1) & !Bitboard::from_file(shakmaty::File::A);
        Scene {
            turn,
            phase,
            late: phase / 2,
            ply: trail.ply.min(2),
            last,
            last_reach,
            own,
            arrivals: trail.arrivals(turn),
            alarm,
            endangered,
            attackers,
            shields,
            prize: best(sight.loose, them),
            prey: [weak | sight.them.all & !them[0], weak | heavy, weak | heavy, weak | them[4], weak, weak],
            zone,
            loose_pawns: them[0] & weak,
            touchy: sight.them.all | sight.threatened,
            useful,
            quiet: !beside,
            stopped: beside | Bitboard(ahead),
            sight,
        }
    }
}

fn phase(sight: &Sight) -> usize {
    let count = |role: usize| sight.us.pieces[role].count() + sight.them.pieces[role].count();
    match count(1) + count(2) + 2 * count(3) + 4 * count(4) {
        20.. => 0,
        13.. => 1,
        7.. => 2,
        _ => 3,
    }
}

/// Their pieces that attack a square, and the squares between the line pieces among them and it.
fn besiegers(sight: &Sight, square: Square) -> (Bitboard, Bitboard) {
    let them = &sight.them.pieces;
    let lines = rook_attacks(square, sight.occupied) & (them[3] | them[4])
        | bishop_attacks(square, sight.occupied) & (them[2] | them[4]);
    let others = knight_attacks(square) & them[1]
        | king_attacks(square) & them[5]
        | pawn_attacks(Color::White, square) & them[0];
    (lines | others, lines.into_iter().fold(Bitboard::EMPTY, |shields, attacker| shields | between(square, attacker)))
}
