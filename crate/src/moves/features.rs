//! What a legal move looks like: one number for each of a fixed set of questions.
//!
//! Each question has a table of weights; a move's score is the sum of one weight from each table.

use shakmaty::{Bitboard, CastlingSide, Chess, Color, File, Move, Position as _, Role, Square};

use super::memory::Recall;
use super::sight::{ROLES, Sight, index, reach, turned};

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
    pub(super) fn new(m: Move) -> Played {
        let from = m.from().unwrap_or(Square::A1);
        Played { role: m.promotion().unwrap_or(m.role()), from, to: target(m), capture: m.is_capture() }
    }

    fn turned(self, turn: Color) -> Played {
        Played { from: turned(self.from, turn), to: turned(self.to, turn), ..self }
    }
}

/// Where the moving piece ends up.
fn target(m: Move) -> Square {
    match m.castling_side() {
        Some(side) => Square::from_coords(side.king_to_file(), m.to().rank()),
        None => m.to(),
    }
}

/// The moves that led to a position of a line.
#[derive(Copy, Clone, Default)]
pub(super) struct Trail {
    /// The opponent's last move.
    pub(super) last: Option<Played>,
    /// The mover's own last move.
    pub(super) own: Option<Played>,
    /// Moves played since the record's position.
    pub(super) ply: usize,
}

impl Trail {
    pub(super) fn push(&mut self, m: Move) {
        *self = Trail { last: Some(Played::new(m)), own: self.last, ply: self.ply + 1 };
    }
}

/// The tables: how many weights each has. The order is that of the weights file.
macro_rules! tables {
    ($($name:ident: $size:expr),* $(,)?) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[derive(Copy, Clone)]
        #[repr(usize)]
        enum Table { $($name),* }
        /// Number of weights of each table.
        pub(super) const SIZES: &[usize] = &[$($size),*];
        /// Names of the tables, for the fitting tool's report.
        pub(super) const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

tables! {
    Place: ROLES * 64 * 4,
    Origin: ROLES * 64 * 2,
    Exchange: ROLES * 6 * 6 * 3 * 2,
    Promotion: 6 * 2,
    Leave: ROLES * 6 * 3 * 4,
    Check: ROLES * 4 * 6 * 2,
    Threats: ROLES * 128 * 2,
    Answer: ROLES * 7 * 2 * 16,
    Recapture: ROLES * 6 * 6 * 2,
    Again: ROLES * 16,
    Mobility: ROLES * 16 * 2,
    TheirKing: ROLES * 64,
    OurKing: ROLES * 64,
    Pawn: 128 * 6,
    Outpost: ROLES * 64,
    Left: ROLES * 4 * 4,
    Evasion: ROLES * 8 * 2,
    Alarm: ROLES * 7 * 2 * 4,
    Ply: 4 * ROLES * 4 * 2,
    Castling: 2 * 4,
    Trade: ROLES * 6 * 5,
    Memory: 512,
}

/// Number of weights.
pub(super) const WEIGHTS: usize = start(SIZES.len());

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

/// A position and what led to it, ready to be asked about its moves.
pub(super) struct Scene {
    sight: Sight,
    turn: Color,
    phase: usize,
    balance: usize,
    last: Option<Played>,
    last_reach: Bitboard,
    own: Option<Played>,
    ply: usize,
    alarm: usize,
    /// Squares that no pawn of theirs can ever attack.
    quiet: Bitboard,
    /// Squares in front of their pawns and beside: a pawn of ours elsewhere is passed.
    stopped: Bitboard,
}

const WORTH: [i32; ROLES] = [1, 3, 3, 5, 9, 0];

impl Scene {
    pub(super) fn new(position: &Chess, trail: &Trail) -> Scene {
        let turn = position.turn();
        let sight = Sight::new(position);
        let count = |role: usize| (sight.us.pieces[role].count() + sight.them.pieces[role].count()) as i32;
        let heavy = count(1) + count(2) + 2 * count(3) + 4 * count(4);
        let phase = match heavy {
            20.. => 0,
            13..20 => 1,
            7..13 => 2,
            _ => 3,
        };
        let mut balance = 0;
        for role in 0..5 {
            balance += WORTH[role] * (sight.us.pieces[role].count() as i32 - sight.them.pieces[role].count() as i32);
        }
        let balance = match balance {
            ..-2 => 0,
            -2..0 => 1,
            0 => 2,
            1..=2 => 3,
            _ => 4,
        };
        let last = trail.last.map(|played| played.turned(turn));
        let last_reach = last.map_or(Bitboard::EMPTY, |played| match played.role {
            Role::Pawn => shakmaty::attacks::pawn_attacks(Color::Black, played.to),
            role => reach(role, played.to, sight.occupied),
        });
        let own = trail.own.map(|played| played.turned(turn));
        // The most valuable piece of ours that stands to be lost, 0 for none.
        let alarm =
            (0..5).rev().find(|role| (sight.threatened & sight.us.pieces[*role]).any()).map_or(0, |role| role + 1);
        let pawns = sight.them.pieces[0].0;
        let mut down = pawns >> 8;
        down |= down >> 8;
        down |= down >> 16;
        down |= down >> 32;
        let beside = (down & !0x0101_0101_0101_0101) >> 1 | (down & !0x8080_8080_8080_8080) << 1;
        let scene = Scene {
            turn,
            phase,
            balance,
            last,
            last_reach,
            own,
            ply: trail.ply,
            alarm,
            quiet: !Bitboard(beside),
            stopped: Bitboard(beside | down),
            sight,
        };
        scene
    }

    /// Asks every question about a legal move: `emit` gets the number of the weight that is the answer.
    #[inline]
    pub(super) fn ask(&self, m: Move, recall: Recall, mut emit: impl FnMut(usize)) {
        let sight = &self.sight;
        let mut tell = |table: Table, answer: usize| {
            debug_assert!(answer < SIZES[table as usize], "{} {answer}", NAMES[table as usize]);
            emit(STARTS[table as usize] + answer);
        };
        let role = m.role();
        let r = index(role);
        let from = turned(m.from().unwrap_or(Square::A1), self.turn);
        let to = turned(target(m), self.turn);
        let arrived = m.promotion().unwrap_or(role);
        let castling = m.castling_side();
        let victim = m.capture().map_or(0, |role| index(role) + 1);
        let guard = sight.them.least.at(to);
        let hits = if castling.is_some() { Bitboard::EMPTY } else { sight.reach[from as usize] };
        let backed = if hits.contains(to) { sight.us.twice.contains(to) } else { sight.us.attacks.contains(to) };
        let guarded_twice = sight.them.twice.contains(to) as usize;
        let safety = if guard == 0 {
            0
        } else if RANK[guard] > VALUE[index(arrived)] || (RANK[guard] == VALUE[index(arrived)] && backed) {
            1
        } else if backed {
            2
        } else {
            3
        };
        let t = to as usize;
        let f = from as usize;

        tell(Table::Place, (self.phase * ROLES + r) * 64 + t);
        tell(Table::Origin, (self.phase / 2 * ROLES + r) * 64 + f);
        let support = if !backed {
            0
        } else if guarded_twice == 1 {
            1
        } else {
            2
        };
        tell(Table::Exchange, (((r * 6 + victim) * 6 + guard) * 3 + support) * 2 + sight.loose.contains(to) as usize);
        if let Some(promotion) = m.promotion() {
            tell(Table::Promotion, index(promotion) * 2 + (safety > 1) as usize);
        }
        // What the piece flees, and whether it was defended.
        let pursuer = sight.them.least.at(from);
        let held = sight.us.attacks.contains(from) as usize + (sight.them.twice.contains(from)) as usize;
        tell(Table::Leave, ((r * 6 + pursuer) * 3 + held) * 4 + safety);
        // Checks.
        let occupied = sight.occupied.without(from).with(to);
        let sees = reach(arrived, to, occupied);
        let direct = sees.contains(sight.their_king) as usize;
        let uncovered = sight.uncovers(from, to) as usize;
        if direct + uncovered > 0 {
            tell(Table::Check, ((r * 4 + direct + 2 * uncovered) * 6 + guard) * 2 + backed as usize);
        }
        // New attacks and new defences.
        let fresh = sees & !hits;
        let them = &sight.them.pieces;
        let bit = |squares: Bitboard| squares.any() as usize;
        let threats = bit(fresh & them[0] & sight.loose | fresh & them[0] & !sight.them.attacks)
            | bit(fresh & (them[1] | them[2])) << 1
            | bit(fresh & them[3]) << 2
            | bit(fresh & them[4]) << 3
            | bit(fresh & sight.loose) << 4
            | bit(fresh & sight.threatened) << 5
            | bit(sees & king_zone(sight.their_king)) << 6;
        tell(Table::Threats, (r * 128 + threats) * 2 + (safety > 1) as usize);
        // The opponent's last move.
        let relation = self.last.map_or(0, |last| {
            (self.last_reach.contains(from) as usize)
                | (sees.contains(last.to) as usize) << 1
                | (to == last.from) as usize * 4
                | ((last.to == to) as usize) << 3
        });
        let last_role = self.last.map_or(6, |last| index(last.role));
        let last_capture = self.last.is_some_and(|last| last.capture) as usize;
        tell(Table::Answer, ((r * 7 + last_role) * 2 + last_capture) * 16 + relation);
        if let Some(last) = self.last
            && last.to == to
        {
            tell(Table::Recapture, ((r * 6 + victim) * 6 + guard) * 2 + last.capture as usize);
        }
        // The mover's own last move.
        if let Some(own) = self.own {
            let again = (own.to == from) as usize
                | (own.to == from && own.from == to) as usize * 2
                | (own.capture as usize) << 2
                | (own.from == to) as usize * 8;
            tell(Table::Again, r * 16 + again);
        }
        let safe = !sight.them.by_role[0] & !sight.us.all;
        let gain = (sees & safe).count() as i32 - (hits & safe).count() as i32;
        tell(Table::Mobility, (self.phase / 2 * ROLES + r) * 16 + (gain.clamp(-7, 8) + 7) as usize);
        let distance = |a: Square, b: Square| a.distance(b) as usize;
        tell(Table::TheirKing, r * 64 + distance(from, sight.their_king) * 8 + distance(to, sight.their_king));
        tell(Table::OurKing, r * 64 + distance(from, sight.king) * 8 + distance(to, sight.king));
        let file = Bitboard::from_file(to.file());
        let (ours, theirs) = (sight.us.pieces[0], sight.them.pieces[0]);
        if role == Role::Pawn {
            let passed = !self.stopped.contains(to);
            let chained = sight.us.by_role[0].contains(to) && !(hits.contains(to) && !sight.us.twice.contains(to));
            let beside = beside(to);
            let bits = passed as usize
                | (chained as usize) << 1
                | (beside & ours).without(from).any() as usize * 4
                | ((sees & theirs).any() as usize) << 3
                | sight.them.by_role[0].contains(to) as usize * 16
                | ((file & ours).without(from).any() as usize) << 5
                | (sight.occupied & front(to)).any() as usize * 64;
            let rank = to.rank() as usize;
            tell(Table::Pawn, bits * 6 + rank.clamp(2, 7) - 2);
        } else {
            let bits = (file & ours).any() as usize
                | ((file & theirs).any() as usize) << 1
                | self.quiet.contains(to) as usize * 4
                | (sight.us.by_role[0].contains(to) as usize) << 3
                | sight.them.by_role[0].contains(to) as usize * 16
                | sight.pinned.contains(from) as usize * 32;
            tell(Table::Outpost, r * 64 + bits);
        }
        // Defenders left behind, and lines opened for others.
        let wards = hits & sight.us.all & sight.them.attacks & !sight.us.twice & !sees;
        let left = wards.count().min(3);
        let opened = sight.screens.contains(from) as usize + 2 * (bit(sight.us.by_role[3] & from_bb(from)));
        tell(Table::Left, (r * 4 + left) * 4 + opened);
        if sight.checkers.any() {
            let kind = if role == Role::King {
                0
            } else if victim > 0 {
                1
            } else {
                2
            };
            let double = sight.checkers.more_than_one() as usize;
            tell(Table::Evasion, ((r * 8) + kind * 2 + double) * 2 + (safety > 1) as usize);
        }
        let taking = match victim {
            0 => 0,
            _ if safety == 0 => 3,
            v if VALUE[v - 1] >= VALUE[r] => 2,
            _ => 1,
        };
        tell(Table::Alarm, ((r * 7 + self.alarm) * 2 + sight.threatened.contains(from) as usize) * 4 + taking);
        let ply = self.ply.min(3);
        tell(Table::Ply, ((ply * ROLES + r) * 4 + taking) * 2 + (direct | uncovered));
        if let Some(side) = castling {
            tell(Table::Castling, (side == CastlingSide::QueenSide) as usize * 4 + self.phase);
        }
        tell(Table::Trade, (r * 6 + victim) * 5 + self.balance);
        if recall.0 > 0 {
            tell(Table::Memory, recall.0 as usize);
        }
    }
}

/// Exchange values by role, minor pieces alike.
const VALUE: [usize; ROLES] = [1, 2, 2, 3, 4, 5];
/// The same by least attacker.
const RANK: [usize; 6] = [0, 1, 2, 3, 4, 5];

fn from_bb(square: Square) -> Bitboard {
    Bitboard::from_square(square)
}

fn king_zone(king: Square) -> Bitboard {
    shakmaty::attacks::king_attacks(king)
}

fn beside(square: Square) -> Bitboard {
    let bit = Bitboard::from_square(square).0;
    Bitboard((bit & !Bitboard::from_file(File::A).0) >> 1 | (bit & !Bitboard::from_file(File::H).0) << 1)
}

/// The square in front.
fn front(square: Square) -> Bitboard {
    Bitboard(Bitboard::from_square(square).0 << 8)
}
