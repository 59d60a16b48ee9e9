//! The board relative to the side to move, whose pawns go up, with the squares that each side attacks.

use shakmaty::attacks::{aligned, between, king_attacks, knight_attacks, pawn_attacks};
use shakmaty::{Bitboard, Board, Chess, Color, Position as _, Role, Square, attacks};

#[cfg(not(feature = "write"))]
pub(super) use self::sliders::{bishop_attacks, rook_attacks};
#[cfg(feature = "write")]
pub(super) use shakmaty::attacks::{bishop_attacks, rook_attacks};

/// Pawn, knight, bishop, rook, queen, king: 0 to 5.
pub(super) const ROLES: usize = 6;

/// Returns 0 to 5 for pawn to king.
pub(super) fn index(role: Role) -> usize {
    role as usize - 1
}

/// The pieces of one side and the squares that it attacks.
pub(super) struct Side {
    pub(super) pieces: [Bitboard; ROLES],
    pub(super) all: Bitboard,
    /// Squares attacked by each role.
    pub(super) by_role: [Bitboard; ROLES],
    /// Squares attacked once or more.
    pub(super) attacks: Bitboard,
    /// Squares attacked twice or more.
    pub(super) twice: Bitboard,
    /// Pieces except the king that the other side can capture profitably.
    pub(super) en_prise: Bitboard,
}

/// A position from the point of view of the side to move: if Black moves, ranks are mirrored.
pub(super) struct RelativeBoard {
    pub(super) us: Side,
    pub(super) them: Side,
    pub(super) occupied: Bitboard,
    /// Rooks and queens of both sides.
    pub(super) orthogonal_sliders: Bitboard,
    /// Bishops and queens of both sides.
    pub(super) diagonal_sliders: Bitboard,
    pub(super) king: Square,
    pub(super) their_king: Square,
    /// Pieces of either side that alone stand between their king and a slider of ours. If one of ours moves off the line,
    /// it discovers a check.
    pub(super) blockers: Bitboard,
    /// Our pieces that are pinned to our king.
    pub(super) pinned: Bitboard,
    /// Squares attacked by our piece on each square.
    pub(super) attacks_of: [Bitboard; 64],
}

/// Rook attacks on the empty board, for a cheap test if there is any slider on these lines.
pub(super) static ROOK_RAYS: [Bitboard; 64] = rays(true);
/// Bishop attacks on the empty board.
pub(super) static BISHOP_RAYS: [Bitboard; 64] = rays(false);

const fn rays(orthogonal: bool) -> [Bitboard; 64] {
    let mut rays = [Bitboard::EMPTY; 64];
    let mut i = 0;
    while i < 64 {
        let square = Square::new(i as u32);
        let none = Bitboard::EMPTY;
        rays[i] = if orthogonal {
            attacks::rook_attacks(square, none)
        } else {
            attacks::bishop_attacks(square, none)
        };
        i += 1;
    }
    rays
}

/// Slider attacks without magic bitboards, by the obstruction difference
/// (<https://www.chessprogramming.org/Obstruction_Difference>). Without a machine instruction that reverses bits, as in
/// WebAssembly, this is faster than `shakmaty` without its feature `magics`.
#[cfg(any(not(feature = "write"), test))]
pub(super) mod sliders {
    use shakmaty::{Bitboard, Square};

    use super::{BISHOP_RAYS, ROOK_RAYS};

    /// Diagonal of each square that rises to the right, without the square.
    static RISING: [u64; 64] = {
        let mut lines = [0; 64];
        let mut i = 0;
        while i < 64 {
            let rise = 8 * (i / 8) as i32 - 8 * (i % 8) as i32;
            let line = if rise < 0 {
                0x8040_2010_0804_0201 >> -rise
            } else {
                0x8040_2010_0804_0201 << rise
            };
            lines[i] = line & !(1_u64 << i);
            i += 1;
        }
        lines
    };

    /// Returns the attacks of a slider on `square` along `line`, which does not contain the square itself.
    #[inline]
    fn along(line: u64, square: Square, occupied: Bitboard) -> u64 {
        let below = (1 << square as u32) - 1;
        let blockers = line & occupied.0;
        let above = blockers & !below;
        // From the nearest piece below (or the lowest square) to the nearest piece above (or the highest square).
        let first = 1 << 63 >> (blockers & below | 1).leading_zeros();
        let last = above & above.wrapping_neg();
        line & (last << 1).wrapping_sub(first)
    }

    /// Squares attacked by a bishop.
    #[inline]
    pub(crate) fn bishop_attacks(square: Square, occupied: Bitboard) -> Bitboard {
        let rising = RISING[square as usize];
        let falling = BISHOP_RAYS[square as usize].0 & !rising;
        Bitboard(along(rising, square, occupied) | along(falling, square, occupied))
    }

    /// Squares attacked by a rook.
    #[inline]
    pub(crate) fn rook_attacks(square: Square, occupied: Bitboard) -> Bitboard {
        let rays = ROOK_RAYS[square as usize].0;
        let file = rays & Bitboard::from_file(square.file()).0;
        Bitboard(along(file, square, occupied) | along(rays & !file, square, occupied))
    }
}

/// Returns the square from the point of view of a side: if it is Black, ranks are mirrored.
#[inline]
pub(crate) fn relative_square(square: Square, turn: Color) -> Square {
    if turn.is_white() {
        square
    } else {
        square.flip_vertical()
    }
}

/// Squares attacked by a piece of the side to move.
#[inline]
pub(super) fn attacks_by(role: Role, from: Square, occupied: Bitboard) -> Bitboard {
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
        let relative = |squares: Bitboard| {
            if turn.is_white() {
                squares
            } else {
                squares.flip_vertical()
            }
        };
        let pieces = Role::ALL.map(|role| relative(board.by_role(role) & own));
        Side {
            pieces,
            all: relative(own),
            by_role: [Bitboard::EMPTY; ROLES],
            attacks: Bitboard::EMPTY,
            twice: Bitboard::EMPTY,
            en_prise: Bitboard::EMPTY,
        }
    }

    fn add(&mut self, role: usize, squares: Bitboard) {
        self.by_role[role] |= squares;
        self.twice |= self.attacks & squares;
        self.attacks |= squares;
    }

    /// Returns the least attacker of a square: 0 no attacker, 1 pawn, 2 knight or bishop, 3 rook, 4 queen, 5 king.
    #[inline]
    pub(super) fn least_attacker(&self, square: Square) -> usize {
        if !self.attacks.contains(square) {
            return 0;
        }
        let role = self.by_role.iter().position(|by| by.contains(square));
        role.map_or(0, |role| role + usize::from(role < 2))
    }

    /// Computes the attacks of this side; `up` is true if its pawns move up the board. Calls `each` with every piece
    /// except pawns, and its attacks.
    fn add_attacks(
        &mut self,
        occupied: Bitboard,
        up: bool,
        mut each: impl FnMut(Square, Bitboard),
    ) {
        const NOT_A: Bitboard = Bitboard(!0x0101_0101_0101_0101);
        const NOT_H: Bitboard = Bitboard(!0x8080_8080_8080_8080);
        let pawns = self.pieces[0];
        let ahead = if up { pawns.0 << 8 } else { pawns.0 >> 8 };
        self.add(0, Bitboard((ahead & NOT_A.0) >> 1));
        self.add(0, Bitboard((ahead & NOT_H.0) << 1));
        for role in &Role::ALL[1..] {
            for square in self.pieces[index(*role)] {
                let squares = attacks_by(*role, square, occupied);
                self.add(index(*role), squares);
                each(square, squares);
            }
        }
    }
}

impl RelativeBoard {
    pub(super) fn new(position: &Chess) -> RelativeBoard {
        let turn = position.turn();
        let board = position.board();
        let mut us = Side::new(board, turn, turn);
        let mut them = Side::new(board, !turn, turn);
        let occupied = us.all | them.all;
        let mut attacks_of = [Bitboard::EMPTY; 64];
        us.add_attacks(occupied, true, |square, squares| {
            attacks_of[square as usize] = squares
        });
        them.add_attacks(occupied, false, |_, _| ());
        for square in us.pieces[0] {
            attacks_of[square as usize] = pawn_attacks(Color::White, square);
        }
        // `Chess` guarantees that both sides have a king.
        let king = us.pieces[5].first().unwrap_or(Square::A1);
        let their_king = them.pieces[5].first().unwrap_or(Square::A1);
        let blockers = king_blockers(their_king, &us, occupied);
        let pinned = king_blockers(king, &them, occupied) & us.all;
        let mut board = RelativeBoard {
            orthogonal_sliders: us.pieces[3] | us.pieces[4] | them.pieces[3] | them.pieces[4],
            diagonal_sliders: us.pieces[2] | us.pieces[4] | them.pieces[2] | them.pieces[4],
            us,
            them,
            occupied,
            king,
            their_king,
            blockers,
            pinned,
            attacks_of,
        };
        for role in 0..5 {
            for square in board.us.pieces[role] & board.them.attacks {
                board
                    .us
                    .en_prise
                    .set(square, board.is_en_prise(role, square, false));
            }
            for square in board.them.pieces[role] & board.us.attacks {
                board
                    .them
                    .en_prise
                    .set(square, board.is_en_prise(role, square, true));
            }
        }
        board
    }

    /// Returns whether a move from `from` to `to` discovers a check.
    #[inline]
    pub(super) fn is_discovered_check(&self, from: Square, to: Square) -> bool {
        self.blockers.contains(from) && !aligned(self.their_king, from, to)
    }
}

/// Pieces that alone stand between `king` and a slider of `side`.
fn king_blockers(king: Square, side: &Side, occupied: Bitboard) -> Bitboard {
    let orthogonal_sliders = ROOK_RAYS[king as usize] & (side.pieces[3] | side.pieces[4]);
    let diagonal_sliders = BISHOP_RAYS[king as usize] & (side.pieces[2] | side.pieces[4]);
    let mut blockers = Bitboard::EMPTY;
    for slider in orthogonal_sliders | diagonal_sliders {
        let line = between(king, slider) & occupied;
        if !line.more_than_one() {
            blockers |= line;
        }
    }
    blockers
}
