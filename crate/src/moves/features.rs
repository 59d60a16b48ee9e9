//! The features of a legal move, for the scores of the linear model.
//!
//! Each feature is a number below a fixed bound and has a table with a weight for each value. The score of a move is
//! the sum of one weight from each table.

use shakmaty::attacks::between;
use shakmaty::{Bitboard, File, Move, Role, Square};

use super::board::{ROLES, attacks_by, index, relative_square};
use super::context::PositionContext;
use super::history::MoveHistory;
use super::prefix::{PriorMove, origin, target};
use super::see::WORTH;

/// Declares the tables in the order of the weights file, each with its number of weights.
macro_rules! tables {
    ($($name:ident: $size:expr),* $(,)?) => {
        #[derive(Copy, Clone)]
        enum Table { $($name),* }
        /// Number of weights of each table.
        pub(super) const SIZES: &[usize] = &[$($size),*];
    };
}

tables! {
    Target: ROLES * 64 * 4,
    Origin: ROLES * 64 * 2,
    Exchange: ROLES * 6 * 6 * 3 * 7,
    Threats: 2 * ROLES * 128 * 2,
    Reply: ROLES * 7 * 2 * 16,
    FollowUp: ROLES * 64,
    Mobility: ROLES * 16 * 2,
    OurKing: ROLES * 64,
    Pawn: 2 * 128 * 6,
    Outpost: 2 * ROLES * 64,
    Undefended: 2 * ROLES * 6 * 4,
    Fork: ROLES * 4 * 4 * 2,
    Ply: 3 * ROLES * 4 * 2,
    EnPrise: 2 * ROLES * 7 * 5 * 4,
    Repeated: 5 * 3 * 3 * 2,
    Continuation: 27 * 5,
}

/// Number of weights.
pub(super) const WEIGHTS: usize = start(SIZES.len());

/// Returns the start of a table in the weights file.
const fn start(table: usize) -> usize {
    let (mut sum, mut i) = (0, 0);
    while i < table {
        sum += SIZES[i];
        i += 1;
    }
    sum
}

const STARTS: [usize; SIZES.len()] = {
    let mut starts = [0; SIZES.len()];
    let mut i = 0;
    while i < SIZES.len() {
        starts[i] = start(i);
        i += 1;
    }
    starts
};

/// Returns the king steps between two squares.
#[inline]
fn distance(a: Square, b: Square) -> usize {
    a.distance(b) as usize
}

/// Returns 1 for a square, 0 for `None`.
#[inline]
fn some(squares: Bitboard) -> usize {
    usize::from(squares.any())
}

/// Returns 1 if the square is in the bitboard, else 0.
#[inline]
fn has(squares: Bitboard, square: Square) -> usize {
    (squares.0 >> square as u32 & 1) as usize
}

/// Returns the number whose binary digits these are, lowest first.
#[inline]
fn bits<const N: usize>(digits: [usize; N]) -> usize {
    digits
        .into_iter()
        .rev()
        .fold(0, |number, digit| number << 1 | digit)
}

/// Returns the index of a feature's weight in the weights file.
#[inline]
fn weight_index(table: Table, value: usize) -> usize {
    debug_assert!(value < SIZES[table as usize]);
    STARTS[table as usize] + value
}

/// Properties of a piece that all its moves share. Castling counts as a separate piece.
pub(super) struct Mover<'a> {
    context: &'a PositionContext<'a>,
    role: Role,
    from: Square,
    castles: bool,
    /// Squares that it attacks; none when castling.
    attacks_before: Bitboard,
    /// Squares that other pieces of ours attack.
    backed: Bitboard,
    /// Our attacked pieces whose only defender is this piece.
    sole_defences: Bitboard,
    /// Number of attacked squares in the mobility area.
    mobility: i32,
    /// Parts of the features that do not depend on the target.
    undefended: usize,
    reply: usize,
    follow_up: usize,
    our_king: usize,
}

impl<'a> Mover<'a> {
    /// Returns the piece that a legal move moves.
    pub(super) fn new(context: &'a PositionContext<'a>, m: Move) -> Mover<'a> {
        let (board, us, them) = (context.board, &context.board.us, &context.board.them);
        let (role, castles, from) = (
            m.role(),
            m.is_castle(),
            relative_square(origin(m), context.turn),
        );
        let r = index(role);
        let attacks_before = if castles {
            Bitboard::EMPTY
        } else {
            board.attacks_of[from as usize]
        };
        let follow_up = |own: PriorMove| {
            bits([
                usize::from(own.to == from),
                0,
                usize::from(own.capture),
                0,
                has(context.arrivals, from),
            ])
        };
        Mover {
            context,
            role,
            from,
            castles,
            attacks_before,
            backed: us.twice | us.attacks & !attacks_before,
            sole_defences: attacks_before & us.all & them.attacks & !us.twice,
            mobility: (attacks_before & context.mobility_area).count() as i32,
            undefended: has(board.blockers, from) * 2 + has(us.by_role[3], from),
            reply: has(context.last_attacks, from),
            follow_up: context.own.map_or(0, follow_up),
            our_king: r * 8 + distance(board.king, from),
        }
    }

    /// Returns whether it is the piece that a legal move moves.
    #[inline]
    pub(super) fn makes(&self, m: Move) -> bool {
        relative_square(origin(m), self.context.turn) == self.from && m.is_castle() == self.castles
    }

    /// Calls `emit` with the index of the weight of each feature that depends on the piece alone.
    #[inline]
    pub(super) fn piece_features(&self, mut emit: impl FnMut(usize)) {
        let (context, r, f) = (self.context, index(self.role), self.from as usize);
        emit(weight_index(
            Table::Origin,
            (context.late * ROLES + r) * 64 + f,
        ));
    }

    /// Calls `emit` with the index of the weight of each other feature of a legal move of the piece.
    #[inline]
    pub(super) fn move_features(
        &self,
        m: Move,
        history: Option<MoveHistory>,
        mut emit: impl FnMut(usize),
    ) {
        let mut add = |table: Table, value: usize| emit(weight_index(table, value));
        let (context, board, us, them) = (
            self.context,
            self.context.board,
            &self.context.board.us,
            &self.context.board.them,
        );
        let (role, from) = (self.role, self.from);
        let (victim, arrived) = match m {
            Move::Normal {
                capture, promotion, ..
            } => (
                capture.map_or(0, |role| index(role) + 1),
                promotion.unwrap_or(role),
            ),
            Move::EnPassant { .. } => (1, role),
            Move::Castle { .. } | Move::Put { .. } => (0, role),
        };
        let to = relative_square(target(m), context.turn);
        let (r, t) = (index(role), to as usize);
        let late_role = context.late * ROLES + r;

        // The exchange on the target.
        let guard = them.least_attacker(to);
        let support = has(self.backed, to) * (2 - has(them.twice, to));
        let gain = if victim == 0 { 0 } else { WORTH[victim - 1] };
        let see = board.see_of_move(r, from, to, gain);
        let safety = match see {
            _ if guard == 0 => 0,
            0.. => 1,
            -2.. => 2,
            _ => 3,
        };
        let risky = usize::from(safety > 1);
        let taking = match victim {
            0 => 0,
            _ if safety == 0 => 3,
            _ if gain >= WORTH[r] => 2,
            _ => 1,
        };
        let outcome = match see {
            ..-4 => 0,
            -4..-1 => 1,
            -1 => 2,
            0 => 3,
            1 => 4,
            2..4 => 5,
            _ => 6,
        };
        add(Table::Target, (context.phase * ROLES + r) * 64 + t);
        add(
            Table::Exchange,
            (((r * 6 + victim) * 6 + guard) * 3 + support) * 7 + outcome,
        );

        // The squares that it attacks from its target.
        let attacks_after = attacks_by(arrived, to, board.occupied.without(from).with(to));
        let gained = attacks_after & !self.attacks_before;
        let checks =
            has(attacks_after, board.their_king) | usize::from(board.is_discovered_check(from, to));
        let mut threats = some(attacks_after & context.king_zone) << 6;
        let mut forked = 0;
        // Most moves attack or defend no other piece than before.
        if (gained & context.threat_targets).any() {
            threats |= bits([
                some(gained & context.weak_pawns),
                some(gained & (them.pieces[1] | them.pieces[2])),
                some(gained & them.pieces[3]),
                some(gained & them.pieces[4]),
                some(gained & board.them.en_prise),
                some(gained & board.us.en_prise),
            ]);
            forked = (gained & context.fork_targets[index(arrived)])
                .count()
                .min(3);
        }
        add(Table::Threats, (late_role * 128 + threats) * 2 + risky);
        add(
            Table::Fork,
            ((r * 4 + forked) * 4 + safety) * 2 + usize::from(context.their_stake > 1),
        );
        let mobility = (attacks_after & context.mobility_area).count() as i32 - self.mobility;
        add(
            Table::Mobility,
            late_role * 16 + (mobility.clamp(-7, 8) + 7) as usize,
        );

        // The last moves.
        let (mut last_role, mut last_capture, mut reply) = (6, 0, 0);
        if let Some(last) = context.last {
            last_role = index(last.role);
            last_capture = usize::from(last.capture);
            reply = self.reply
                | bits([
                    0,
                    has(attacks_after, last.to),
                    usize::from(to == last.from),
                    usize::from(to == last.to),
                ]);
        }
        add(
            Table::Reply,
            ((r * 7 + last_role) * 2 + last_capture) * 16 + reply,
        );
        if let Some(own) = context.own {
            let passed = has(between(from, to), own.from);
            let follow_up = self.follow_up
                | bits([
                    0,
                    usize::from(own.from == to),
                    0,
                    usize::from(victim > 0),
                    0,
                    passed,
                ]);
            add(Table::FollowUp, r * 64 + follow_up);
        }

        // Pawn structure and king distance.
        add(Table::OurKing, self.our_king * 8 + distance(board.king, to));
        let file = Bitboard::from_file(to.file());
        let (pawns, theirs) = (us.pieces[0], them.pieces[0]);
        if role == Role::Pawn {
            let pawns = pawns.without(from);
            let bit = Bitboard::from_square(to).0;
            let beside = (bit & !Bitboard::from_file(File::A).0) >> 1
                | (bit & !Bitboard::from_file(File::H).0) << 1;
            let structure = bits([
                1 - has(context.not_passed, to),
                has(self.backed & us.by_role[0], to),
                some(pawns & Bitboard(beside)),
                some(attacks_after & theirs),
                has(them.by_role[0], to),
                some(file & pawns),
                some(board.occupied & Bitboard(bit << 8)),
            ]);
            add(
                Table::Pawn,
                (context.late * 128 + structure) * 6 + to.rank() as usize - 2,
            );
        } else {
            let structure = bits([
                some(file & pawns),
                some(file & theirs),
                has(context.outposts, to),
                has(us.by_role[0], to),
                has(them.by_role[0], to),
                has(board.pinned, from),
            ]);
            add(Table::Outpost, late_role * 64 + structure);
        }

        // Pieces that lose their only defender.
        let sole_defences = self.sole_defences & !attacks_after;
        let undefended = if sole_defences.is_empty() {
            0
        } else if (sole_defences & us.pieces[4]).any() {
            5
        } else if (sole_defences & us.pieces[3]).any() {
            4
        } else if (sole_defences & (us.pieces[1] | us.pieces[2])).any() {
            3
        } else {
            sole_defences.count().min(2)
        };
        add(
            Table::Undefended,
            (late_role * 6 + undefended) * 4 + self.undefended,
        );

        // Pieces en prise, and whether the move helps.
        let relief = if context.our_stake == 0 {
            0
        } else if context.endangered.contains(from) {
            1
        } else if context.attackers.contains(to) {
            2
        } else if context.interpositions.contains(to) {
            3
        } else if (attacks_after & context.endangered).any() {
            4
        } else {
            0
        };
        add(
            Table::EnPrise,
            ((late_role * 7 + context.our_stake) * 5 + relief) * 4 + taking,
        );
        add(
            Table::Ply,
            ((context.ply * ROLES + r) * 4 + taking) * 2 + checks,
        );

        // Earlier lines.
        if let Some(MoveHistory {
            when,
            times,
            last_played,
        }) = history
        {
            add(
                Table::Repeated,
                ((when * 3 + times) * 3 + context.ply) * 2 + usize::from(victim > 0),
            );
            add(Table::Continuation, last_played * 5 + when);
        }
    }
}
