//! Properties of a position that all its moves share.

use shakmaty::attacks::{between, king_attacks, knight_attacks, pawn_attacks};
use shakmaty::{Bitboard, Color, Role, Square};

use super::board::{ROLES, RelativeBoard, attacks_by, bishop_attacks, rook_attacks};
use super::prefix::{LinePrefix, PriorMove};

/// A position of a line and the moves that led to it, as far as features of moves need them.
pub(super) struct PositionContext<'a> {
    pub(super) board: &'a RelativeBoard,
    pub(super) turn: Color,
    /// The phase of the game by the pieces left: 0 opening to 3 endgame.
    pub(super) phase: usize,
    /// 0 in the first two phases, 1 in the last two.
    pub(super) late: usize,
    /// Moves since the record's position, at most 2.
    pub(super) ply: usize,
    /// The opponent's last move.
    pub(super) last: Option<PriorMove>,
    /// Squares attacked by the piece that the opponent moved last.
    pub(super) last_attacks: Bitboard,
    /// The mover's own last move.
    pub(super) own: Option<PriorMove>,
    /// Targets of the moves of the side to move in this line.
    pub(super) arrivals: Bitboard,
    /// The most valuable role of our pieces en prise, plus one; 0 for none.
    pub(super) our_stake: usize,
    /// Our pieces en prise of that role.
    pub(super) endangered: Bitboard,
    /// Their attackers of the first of these pieces.
    pub(super) attackers: Bitboard,
    /// Squares between it and the sliders among its attackers.
    pub(super) interpositions: Bitboard,
    /// The most valuable role of their pieces en prise, plus one; 0 for none.
    pub(super) their_stake: usize,
    /// Their pieces that are worth attacking with each of our roles.
    pub(super) fork_targets: [Bitboard; ROLES],
    /// The squares next to their king.
    pub(super) king_zone: Bitboard,
    /// Their pawns that are en prise or undefended.
    pub(super) weak_pawns: Bitboard,
    /// Pieces whose attack or defence is a feature: theirs, and ours en prise.
    pub(super) threat_targets: Bitboard,
    /// Squares that count for mobility: without our pieces, not attacked by their pawns.
    pub(super) mobility_area: Bitboard,
    /// Squares that none of their pawns attacks now or after advancing.
    pub(super) outposts: Bitboard,
    /// Squares on which a pawn of ours is not passed.
    pub(super) not_passed: Bitboard,
}

impl<'a> PositionContext<'a> {
    pub(super) fn new(
        board: &'a RelativeBoard,
        turn: Color,
        prefix: &LinePrefix,
    ) -> PositionContext<'a> {
        let (us, them) = (&board.us.pieces, &board.them.pieces);
        let [last, own] = prefix.played(turn);
        let last_attacks = last.map_or(Bitboard::EMPTY, |played| match played.role {
            Role::Pawn => pawn_attacks(Color::Black, played.to),
            role => attacks_by(role, played.to, board.occupied),
        });
        let best = |lost: Bitboard, side: &[Bitboard; ROLES]| {
            (0..5)
                .rev()
                .find(|role| (lost & side[*role]).any())
                .map_or(0, |role| role + 1)
        };
        let our_stake = best(board.us.en_prise, us);
        let endangered = if our_stake == 0 {
            Bitboard::EMPTY
        } else {
            board.us.en_prise & us[our_stake - 1]
        };
        let (attackers, interpositions) =
            endangered.first().map_or_else(Default::default, |square| {
                attackers_and_interpositions(board, square)
            });
        let weak = board.them.en_prise | board.them.all & !board.them.attacks;
        let heavy = them[3] | them[4];
        let mobility_area = !board.them.by_role[0] & !board.us.all;
        let phase = phase(board);
        let king_zone = king_attacks(board.their_king);
        let mut ahead = them[0].0 >> 8;
        ahead |= ahead >> 8;
        ahead |= ahead >> 16;
        ahead |= ahead >> 32;
        let beside = Bitboard(ahead).shift(-1) & !Bitboard::from_file(shakmaty::File::H)
            | Bitboard(ahead).shift(1) & !Bitboard::from_file(shakmaty::File::A);
        PositionContext {
            turn,
            phase,
            late: phase / 2,
            ply: prefix.ply.min(2),
            last,
            last_attacks,
            own,
            arrivals: prefix.arrivals(turn),
            our_stake,
            endangered,
            attackers,
            interpositions,
            their_stake: best(board.them.en_prise, them),
            fork_targets: [
                weak | board.them.all & !them[0],
                weak | heavy,
                weak | heavy,
                weak | them[4],
                weak,
                weak,
            ],
            king_zone,
            weak_pawns: them[0] & weak,
            threat_targets: board.them.all | board.us.en_prise,
            mobility_area,
            outposts: !beside,
            not_passed: beside | Bitboard(ahead),
            board,
        }
    }
}

fn phase(board: &RelativeBoard) -> usize {
    let count = |role: usize| board.us.pieces[role].count() + board.them.pieces[role].count();
    match count(1) + count(2) + 2 * count(3) + 4 * count(4) {
        20.. => 0,
        13.. => 1,
        7.. => 2,
        _ => 3,
    }
}

/// Returns their pieces that attack a square, and the squares between it and the sliders among them.
fn attackers_and_interpositions(board: &RelativeBoard, square: Square) -> (Bitboard, Bitboard) {
    let them = &board.them.pieces;
    let sliders = rook_attacks(square, board.occupied) & (them[3] | them[4])
        | bishop_attacks(square, board.occupied) & (them[2] | them[4]);
    let others = knight_attacks(square) & them[1]
        | king_attacks(square) & them[5]
        | pawn_attacks(Color::White, square) & them[0];
    (
        sliders | others,
        sliders
            .into_iter()
            .fold(Bitboard::EMPTY, |interpositions, attacker| {
                interpositions | between(square, attacker)
            }),
    )
}
