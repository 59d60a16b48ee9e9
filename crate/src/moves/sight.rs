//! A position as the side to move sees it: its own pawns go up the board, and every square knows who attacks it.

use shakmaty::attacks::{aligned, between, king_attacks, knight_attacks, pawn_attacks};
use shakmaty::{Bitboard, Board, Chess, Color, Position as _, Role, Square, attacks};

#[cfg(not(feature = "write"))]
pub(super) use self::lines::{bishop_attacks, rook_attacks};
#[cfg(feature = "write")]
pub(super) use shakmaty::attacks::{bishop_attacks, rook_attacks};

/// Pawn, knight, bishop, rook, queen, king: 0 to 5.
pub(super) const ROLES: usize = 6;

/// 0 to 5 for pawn to king.
pub(super) fn index(role: Role) -> usize {
    role as usize - 1
}

/// A number from 0 to 7 for each square, as three bitboards.
#[derive(Copy, Clone, Default)]
pub(super) struct Classes([Bitboard; 3]);

impl Classes {
    fn assign(&mut self, squares: Bitboard, class: u8) {
        for (bit, plane) in self.0.iter_mut().enumerate() {
            if class >> bit & 1 == 1 {
                *plane |= squares;
            } else {
                *plane &= !squares;
            }
        }
    }

    #[inline]
    pub(super) fn at(&self, square: Square) -> usize {
        let bit = |plane: Bitboard| (plane.0 >> square as u32 & 1) as usize;
        bit(self.0[0]) | bit(self.0[1]) << 1 | bit(self.0[2]) << 2
    }
}

/// What one side has on the board and attacks.
pub(super) struct Side {
    pub(super) pieces: [Bitboard; ROLES],
    pub(super) all: Bitboard,
    /// Squares attacked by each role.
    pub(super) by_role: [Bitboard; ROLES],
    /// Squares attacked once or more.
    pub(super) attacks: Bitboard,
    /// Squares attacked twice or more.
    pub(super) twice: Bitboard,
    /// The least attacker: 0 none, 1 pawn, 2 knight or bishop, 3 rook, 4 queen, 5 king.
    pub(super) least: Classes,
}

/// A position from the point of view of the side to move; Black's is turned upside down.
pub(super) struct Sight {
    pub(super) us: Side,
    pub(super) them: Side,
    pub(super) occupied: Bitboard,
    /// Rooks and queens of both sides.
    pub(super) straight: Bitboard,
    /// Bishops and queens of both sides.
    pub(super) diagonal: Bitboard,
    pub(super) king: Square,
    pub(super) their_king: Square,
    /// Pieces of either side that alone stand between their king and our slider.
    pub(super) screens: Bitboard,
    /// Our pieces that are pinned to our king.
    pub(super) pinned: Bitboard,
    /// Our pieces that would be lost in an exchange.
    pub(super) threatened: Bitboard,
    /// Their pieces that would be.
    pub(super) loose: Bitboard,
    /// Squares attacked by the piece of ours on each square.
    pub(super) reach: [Bitboard; 64],
}

/// What a rook attacks on the empty board: a cheap test before the costly look at what stands between.
pub(super) static STRAIGHTS: [Bitboard; 64] = rays(true);
/// What a bishop attacks on the empty board.
pub(super) static DIAGONALS: [Bitboard; 64] = rays(false);

const fn rays(straight: bool) -> [Bitboard; 64] {
    let mut rays = [Bitboard::EMPTY; 64];
    let mut i = 0;
    while i < 64 {
        let square = Square::new(i as u32);
        let none = Bitboard::EMPTY;
        rays[i] = if straight { attacks::rook_attacks(square, none) } else { attacks::bishop_attacks(square, none) };
        i += 1;
    }
    rays
}

/// Line pieces without magics: quicker than what `shakmaty` offers then where no machine instruction reverses bits.
#[cfg(any(not(feature = "write"), test))]
pub(super) mod lines {
    use shakmaty::{Bitboard, Square};

    use super::{DIAGONALS, STRAIGHTS};

    /// The rest of each square's diagonal that goes up to the right.
    static RISING: [u64; 64] = {
        let mut lines = [0; 64];
        let mut i = 0;
        while i < 64 {
            let rise = 8 * (i / 8) as i32 - 8 * (i % 8) as i32;
            let line = if rise < 0 { 0x8040_2010_0804_0201 >> -rise } else { 0x8040_2010_0804_0201 << rise };
            lines[i] = line & !(1_u64 << i);
            i += 1;
        }
        lines
    };

    /// What a line piece on `square` sees along `line`, which leaves out the square itself.
    #[inline]
    fn along(line: u64, square: Square, occupied: Bitboard) -> u64 {
        let below = (1 << square as u32) - 1;
        let stops = line & occupied.0;
        let above = stops & !below;
        // From the highest stop below, or the lowest square, to the lowest stop above, or the highest square.
        let first = 1 << 63 >> (stops & below | 1).leading_zeros();
        let last = above & above.wrapping_neg();
        line & (last << 1).wrapping_sub(first)
    }

    /// Squares attacked by a bishop.
    #[inline]
    pub(crate) fn bishop_attacks(square: Square, occupied: Bitboard) -> Bitboard {
        let rising = RISING[square as usize];
        let falling = DIAGONALS[square as usize].0 & !rising;
        Bitboard(along(rising, square, occupied) | along(falling, square, occupied))
    }

    /// Squares attacked by a rook.
    #[inline]
    pub(crate) fn rook_attacks(square: Square, occupied: Bitboard) -> Bitboard {
        let straight = STRAIGHTS[square as usize].0;
        let file = straight & Bitboard::from_file(square.file()).0;
        Bitboard(along(file, square, occupied) | along(straight & !file, square, occupied))
    }
}

/// The square as the side to move sees it.
#[inline]
pub(super) fn turned(square: Square, turn: Color) -> Square {
    if turn.is_white() { square } else { square.flip_vertical() }
}

/// Squares attacked by a piece of the side to move.
#[inline]
pub(super) fn reach(role: Role, from: Square, occupied: Bitboard) -> Bitboard {
    match role {
        Role::Pawn => pawn_attacks(Color::White, from),
        Role::Knight => knight_attacks(from),
        Role::Bishop => bishop_attacks(from, occupied),
        Role::Rook => rook_attacks(from, occupied),
        Role::Queen => bishop_attacks(from, occupied) | rook_attacks(from, occupied),
        Role::King => king_attacks(from),
    }
}

impl Side {
    fn new(board: &Board, side: Color, turn: Color) -> Side {
        let own = board.by_color(side);
        let see = |squares: Bitboard| if turn.is_white() { squares } else { squares.flip_vertical() };
        let pieces = Role::ALL.map(|role| see(board.by_role(role) & own));
        Side {
            pieces,
            all: see(own),
            by_role: [Bitboard::EMPTY; ROLES],
            attacks: Bitboard::EMPTY,
            twice: Bitboard::EMPTY,
            least: Classes::default(),
        }
    }

    fn add(&mut self, role: usize, squares: Bitboard) {
        self.by_role[role] |= squares;
        self.twice |= self.attacks & squares;
        self.attacks |= squares;
    }

    /// Fills in what this side attacks; `up` tells whether its pawns go up the board.
    fn attack(&mut self, occupied: Bitboard, up: bool, mut each: impl FnMut(Square, Bitboard)) {
        const NOT_A: Bitboard = Bitboard(!0x0101_0101_0101_0101);
        const NOT_H: Bitboard = Bitboard(!0x8080_8080_8080_8080);
        let pawns = self.pieces[0];
        let ahead = if up { pawns.0 << 8 } else { pawns.0 >> 8 };
        self.add(0, Bitboard((ahead & NOT_A.0) >> 1));
        self.add(0, Bitboard((ahead & NOT_H.0) << 1));
        for role in &Role::ALL[1..] {
            for square in self.pieces[index(*role)] {
                let squares = reach(*role, square, occupied);
                self.add(index(*role), squares);
                each(square, squares);
            }
        }
        let minor = self.by_role[1] | self.by_role[2];
        for (squares, class) in
            [(self.by_role[5], 5), (self.by_role[4], 4), (self.by_role[3], 3), (minor, 2), (self.by_role[0], 1)]
        {
            self.least.assign(squares, class);
        }
    }
}

impl Sight {
    pub(super) fn new(position: &Chess) -> Sight {
        let turn = position.turn();
        let board = position.board();
        let mut us = Side::new(board, turn, turn);
        let mut them = Side::new(board, !turn, turn);
        let occupied = us.all | them.all;
        let mut reach = [Bitboard::EMPTY; 64];
        us.attack(occupied, true, |square, squares| reach[square as usize] = squares);
        them.attack(occupied, false, |_, _| ());
        for square in us.pieces[0] {
            reach[square as usize] = pawn_attacks(Color::White, square);
        }
        // Both sides have a king: `Chess` promises it.
        let king = us.pieces[5].first().unwrap_or(Square::A1);
        let their_king = them.pieces[5].first().unwrap_or(Square::A1);
        let screens = screens_of(their_king, &us, occupied);
        let pinned = screens_of(king, &them, occupied) & us.all;
        let mut sight = Sight {
            straight: us.pieces[3] | us.pieces[4] | them.pieces[3] | them.pieces[4],
            diagonal: us.pieces[2] | us.pieces[4] | them.pieces[2] | them.pieces[4],
            us,
            them,
            occupied,
            king,
            their_king,
            screens,
            pinned,
            threatened: Bitboard::EMPTY,
            loose: Bitboard::EMPTY,
            reach,
        };
        for role in 0..5 {
            for square in sight.us.pieces[role] & sight.them.attacks {
                sight.threatened.set(square, sight.falls(role, square, false));
            }
            for square in sight.them.pieces[role] & sight.us.attacks {
                sight.loose.set(square, sight.falls(role, square, true));
            }
        }
        sight
    }

    /// Whether a piece that leaves `from` for `to` uncovers a check.
    #[inline]
    pub(super) fn uncovers(&self, from: Square, to: Square) -> bool {
        self.screens.contains(from) && !aligned(self.their_king, from, to)
    }
}

/// Pieces that alone stand between `king` and a slider of `side`.
fn screens_of(king: Square, side: &Side, occupied: Bitboard) -> Bitboard {
    let straight = STRAIGHTS[king as usize] & (side.pieces[3] | side.pieces[4]);
    let diagonal = DIAGONALS[king as usize] & (side.pieces[2] | side.pieces[4]);
    let mut screens = Bitboard::EMPTY;
    for slider in straight | diagonal {
        let line = between(king, slider) & occupied;
        if !line.more_than_one() {
            screens |= line;
        }
    }
    screens
}
