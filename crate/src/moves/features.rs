//! What a legal move looks like: the answers to a fixed list of questions, each a number.
//!
//! Every question has a table of weights, one for each answer; a move's score is the sum of the weights of its
//! answers.

use shakmaty::attacks::between;
use shakmaty::{Bitboard, File, Move, Role, Square};

use super::exchange::WORTH;
use super::memory::Recall;
use super::scene::Scene;
use super::sight::{ROLES, index, reach, turned};
use super::trail::{Played, origin, target};

/// Declares the tables in the order of the weights file, with the number of answers of each.
macro_rules! tables {
    ($($name:ident: $size:expr),* $(,)?) => {
        #[derive(Copy, Clone)]
        enum Table { $($name),* }
        /// Number of weights of each table.
        pub(super) const SIZES: &[usize] = &[$($size),*];
        /// Names of the tables.
        pub(super) const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

tables! {
    Place: ROLES * 64 * 4,
    Origin: ROLES * 64 * 2,
    Exchange: ROLES * 6 * 6 * 3 * 7,
    Threats: 2 * ROLES * 128 * 2,
    Answer: ROLES * 7 * 2 * 16,
    Again: ROLES * 64,
    Mobility: ROLES * 16 * 2,
    OurKing: ROLES * 64,
    Pawn: 2 * 128 * 6,
    Outpost: 2 * ROLES * 64,
    Left: 2 * ROLES * 6 * 4,
    Fork: ROLES * 4 * 4 * 2,
    Ply: 3 * ROLES * 4 * 2,
    Alarm: 2 * ROLES * 7 * 5 * 4,
    Seen: 5 * 3 * 3 * 2,
    Guess: 27 * 5,
}

/// Number of weights.
pub(super) const WEIGHTS: usize = start(SIZES.len());

/// Where a table starts in the weights file.
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

/// King steps between two squares.
static DISTANCES: [[u8; 64]; 64] = {
    let mut distances = [[0; 64]; 64];
    let mut a = 0;
    while a < 64 {
        let mut b = 0;
        while b < 64 {
            distances[a as usize][b as usize] = Square::new(a).distance(Square::new(b)) as u8;
            b += 1;
        }
        a += 1;
    }
    distances
};

#[inline]
fn distance(a: Square, b: Square) -> usize {
    usize::from(DISTANCES[a as usize][b as usize])
}

/// 1 where there is a square, 0 where there is none.
#[inline]
fn some(squares: Bitboard) -> usize {
    usize::from(squares.any())
}

/// 1 if the square is among them.
#[inline]
fn has(squares: Bitboard, square: Square) -> usize {
    (squares.0 >> square as u32 & 1) as usize
}

/// The number whose binary digits these are, lowest first.
#[inline]
fn bits<const N: usize>(digits: [usize; N]) -> usize {
    let mut number = 0;
    let mut i = 0;
    while i < N {
        number |= digits[i] << i;
        i += 1;
    }
    number
}

/// Turns an answer into the number of its weight.
#[inline]
fn told(table: Table, answer: usize) -> usize {
    debug_assert!(answer < SIZES[table as usize], "{} {answer}", NAMES[table as usize]);
    STARTS[table as usize] + answer
}

/// What is alike for all moves of a piece, but that castling is another piece than the king's steps.
pub(super) struct Mover<'a> {
    scene: &'a Scene<'a>,
    role: Role,
    from: Square,
    castles: bool,
    /// What it attacks.
    hits: Bitboard,
    /// What others of ours attack.
    backed: Bitboard,
    /// What it alone defends of what they attack.
    wards: Bitboard,
    /// How many useful squares it attacks.
    freedom: i32,
    /// The answers as far as they are known before the target is.
    left: usize,
    relation: usize,
    again: usize,
    our_king: usize,
}

impl<'a> Mover<'a> {
    /// The piece that a legal move moves.
    pub(super) fn new(scene: &'a Scene<'a>, m: Move) -> Mover<'a> {
        let (sight, us, them) = (scene.sight, &scene.sight.us, &scene.sight.them);
        let (role, castles, from) = (m.role(), m.is_castle(), turned(origin(m), scene.turn));
        let r = index(role);
        let hits = if castles { Bitboard::EMPTY } else { sight.reach[from as usize] };
        let again = |own: Played| {
            bits([usize::from(own.to == from), 0, usize::from(own.capture), 0, has(scene.arrivals, from)])
        };
        Mover {
            scene,
            role,
            from,
            castles,
            hits,
            backed: us.twice | us.attacks & !hits,
            wards: hits & us.all & them.attacks & !us.twice,
            freedom: (hits & scene.useful).count() as i32,
            left: has(sight.screens, from) * 2 + has(us.by_role[3], from),
            relation: has(scene.last_reach, from),
            again: scene.own.map_or(0, again),
            our_king: r * 8 + distance(sight.king, from),
        }
    }

    /// Whether it is the piece that a legal move moves.
    #[inline]
    pub(super) fn makes(&self, m: Move) -> bool {
        turned(origin(m), self.scene.turn) == self.from && m.is_castle() == self.castles
    }

    /// Asks the questions about the piece alone; `emit` gets the number of the weight of each answer.
    #[inline]
    pub(super) fn introduce(&self, mut emit: impl FnMut(usize)) {
        let (scene, r, f) = (self.scene, index(self.role), self.from as usize);
        emit(told(Table::Origin, (scene.late * ROLES + r) * 64 + f));
    }

    /// Asks the other questions about a legal move of the piece.
    #[inline]
    pub(super) fn ask(&self, m: Move, recall: Recall, mut emit: impl FnMut(usize)) {
        let mut tell = |table: Table, answer: usize| emit(told(table, answer));
        let (scene, sight, us, them) = (self.scene, self.scene.sight, &self.scene.sight.us, &self.scene.sight.them);
        let (role, from) = (self.role, self.from);
        let (victim, arrived) = match m {
            Move::Normal { capture, promotion, .. } => {
                (capture.map_or(0, |role| index(role) + 1), promotion.unwrap_or(role))
            }
            Move::EnPassant { .. } => (1, role),
            Move::Castle { .. } | Move::Put { .. } => (0, role),
        };
        let to = turned(target(m), scene.turn);
        let (r, t) = (index(role), to as usize);
        let staged = scene.late * ROLES + r;

        // The exchange on the target.
        let guard = them.least.at(to);
        let support = has(self.backed, to) * (2 - has(them.twice, to));
        let gain = if victim == 0 { 0 } else { WORTH[victim - 1] };
        let swap = sight.swap(r, from, to, gain);
        let safety = match swap {
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
        let outcome = match swap {
            ..-4 => 0,
            -4..-1 => 1,
            -1 => 2,
            0 => 3,
            1 => 4,
            2..4 => 5,
            _ => 6,
        };
        tell(Table::Place, (scene.phase * ROLES + r) * 64 + t);
        tell(Table::Exchange, (((r * 6 + victim) * 6 + guard) * 3 + support) * 7 + outcome);

        // What it attacks and defends from there.
        let sees = reach(arrived, to, sight.occupied.without(from).with(to));
        let fresh = sees & !self.hits;
        let checks = has(sees, sight.their_king) | usize::from(sight.uncovers(from, to));
        let mut threats = some(sees & scene.zone) << 6;
        let mut prey = 0;
        // Most moves touch nothing new.
        if (fresh & scene.touchy).any() {
            threats |= bits([
                some(fresh & scene.loose_pawns),
                some(fresh & (them.pieces[1] | them.pieces[2])),
                some(fresh & them.pieces[3]),
                some(fresh & them.pieces[4]),
                some(fresh & sight.loose),
                some(fresh & sight.threatened),
            ]);
            prey = (fresh & scene.prey[index(arrived)]).count().min(3);
        }
        tell(Table::Threats, (staged * 128 + threats) * 2 + risky);
        tell(Table::Fork, ((r * 4 + prey) * 4 + safety) * 2 + usize::from(scene.prize > 1));
        let freedom = (sees & scene.useful).count() as i32 - self.freedom;
        tell(Table::Mobility, staged * 16 + (freedom.clamp(-7, 8) + 7) as usize);

        // The last moves.
        let (mut last_role, mut last_capture, mut relation) = (6, 0, 0);
        if let Some(last) = scene.last {
            last_role = index(last.role);
            last_capture = usize::from(last.capture);
            relation =
                self.relation | bits([0, has(sees, last.to), usize::from(to == last.from), usize::from(to == last.to)]);
        }
        tell(Table::Answer, ((r * 7 + last_role) * 2 + last_capture) * 16 + relation);
        if let Some(own) = scene.own {
            let passed = has(between(from, to), own.from);
            let again = self.again | bits([0, usize::from(own.from == to), 0, usize::from(victim > 0), 0, passed]);
            tell(Table::Again, r * 64 + again);
        }

        // The ground.
        tell(Table::OurKing, self.our_king * 8 + distance(sight.king, to));
        let file = Bitboard::from_file(to.file());
        let (pawns, theirs) = (us.pieces[0], them.pieces[0]);
        if role == Role::Pawn {
            let pawns = pawns.without(from);
            let bit = Bitboard::from_square(to).0;
            let beside = (bit & !Bitboard::from_file(File::A).0) >> 1 | (bit & !Bitboard::from_file(File::H).0) << 1;
            let ground = bits([
                1 - has(scene.stopped, to),
                has(self.backed & us.by_role[0], to),
                some(pawns & Bitboard(beside)),
                some(sees & theirs),
                has(them.by_role[0], to),
                some(file & pawns),
                some(sight.occupied & Bitboard(bit << 8)),
            ]);
            tell(Table::Pawn, (scene.late * 128 + ground) * 6 + to.rank() as usize - 2);
        } else {
            let ground = bits([
                some(file & pawns),
                some(file & theirs),
                has(scene.quiet, to),
                has(us.by_role[0], to),
                has(them.by_role[0], to),
                has(sight.pinned, from),
            ]);
            tell(Table::Outpost, staged * 64 + ground);
        }

        // What it leaves behind.
        let wards = self.wards & !sees;
        let left = if wards.is_empty() {
            0
        } else if (wards & us.pieces[4]).any() {
            5
        } else if (wards & us.pieces[3]).any() {
            4
        } else if (wards & (us.pieces[1] | us.pieces[2])).any() {
            3
        } else {
            wards.count().min(2)
        };
        tell(Table::Left, (staged * 6 + left) * 4 + self.left);

        // What is at stake.
        let relief = if scene.alarm == 0 {
            0
        } else if scene.endangered.contains(from) {
            1
        } else if scene.attackers.contains(to) {
            2
        } else if scene.shields.contains(to) {
            3
        } else if (sees & scene.endangered).any() {
            4
        } else {
            0
        };
        tell(Table::Alarm, ((staged * 7 + scene.alarm) * 5 + relief) * 4 + taking);
        tell(Table::Ply, ((scene.ply * ROLES + r) * 4 + taking) * 2 + checks);

        // Earlier lines.
        if recall.any {
            tell(Table::Seen, ((recall.when * 3 + recall.times) * 3 + scene.ply) * 2 + usize::from(victim > 0));
            tell(Table::Guess, ((recall.twin * 3 + recall.reply) * 3 + recall.follow) * 5 + recall.when);
        }
    }
}
