//! The number of a position within a table.
//!
//! A table lists its pieces in an order that its writer chose. Equal pieces form groups, and the first group is special: the leading
//! pawns of a side, or three pieces that differ, or the two kings. Symmetries move the leading group to a part of the board:
//! pawns to the files a to d, other pieces to the triangle a1-d1-d4. The position's number combines a number of each group
//! like the digits of a number, with a factor for each group.

use std::sync::LazyLock;

use shakmaty::{Bitboard, Board, Color, File, Piece, Rank, Role, Square};

use crate::header::flipped;
use crate::name::{MAX_PIECES, Material};

/// Squares of the triangle a1-d1-d4. The last four are on the diagonal.
const TRIANGLE: [Square; 10] = [
    Square::B1,
    Square::C1,
    Square::D1,
    Square::C2,
    Square::D2,
    Square::D3,
    Square::A1,
    Square::B2,
    Square::C3,
    Square::D4,
];
/// Squares for pawns.
const PAWN_SQUARES: u64 = 48;
/// Squares of the first rank, without pawns.
const FIRST_RANK: u64 = 8;
/// Order of a group that does not exist.
#[cfg(test)]
const NO_GROUP: u8 = 0xf;

/// Returns the number of ways to choose `k` of `n`.
const fn binomial(n: u64, k: u64) -> u64 {
    let (mut result, mut chosen) = (1, 0);
    while chosen < k {
        // A negative factor means that `n` is too small.
        if chosen >= n {
            return 0;
        }
        result = result * (n - chosen) / (chosen + 1);
        chosen += 1;
    }
    result
}

/// Numbers of the placements of two kings, and of three different pieces. Symmetric placements have one number.
static PLACEMENTS: LazyLock<[Placements; 2]> =
    LazyLock::new(|| [Placements::of(2), Placements::of(3)]);

/// Numbers of the placements of pieces whose first piece is in [`TRIANGLE`].
#[derive(Debug)]
struct Placements {
    numbers: Vec<u16>,
    count: u16,
}

impl Placements {
    fn of(pieces: usize) -> Placements {
        let mut numbers = vec![0; TRIANGLE.len() << 12];
        let mut count = 0;
        let last = if pieces == 3 {
            &Square::ALL[..]
        } else {
            &[Square::A1]
        };
        // Placements are numbered by the first piece that is off the diagonal, which is below it, and then by their squares.
        for first_off in 0..=pieces {
            for first in TRIANGLE {
                for second in Square::ALL {
                    for third in last {
                        let squares = &[first, second, *third][..pieces];
                        let off = squares
                            .iter()
                            .position(|square| above_diagonal(*square) != 0);
                        let is_below = off.is_none_or(|off| above_diagonal(squares[off]) < 0);
                        // Kings are not neighbours.
                        let is_legal = match squares {
                            [first, second] => first.distance(*second) > 1,
                            _ => first != second && first != *third && second != *third,
                        };
                        if off.unwrap_or(pieces) == first_off && is_below && is_legal {
                            numbers[Placements::index(squares)] = count;
                            count += 1;
                        }
                    }
                }
            }
        }
        Placements { numbers, count }
    }

    fn index(squares: &[Square]) -> usize {
        let first = TRIANGLE.iter().position(|square| *square == squares[0]);
        let third = squares.get(2).map_or(0, |square| square.to_usize());
        first.unwrap_or_default() << 12 | squares[1].to_usize() << 6 | third
    }
}

/// Returns 0 on the diagonal a1-h8, less below it and more above it.
fn above_diagonal(square: Square) -> i32 {
    square.rank() as i32 - square.file() as i32
}

/// Returns the number of a pawn's square. The leading pawn has the largest number: it is nearest to the edge, then lowest.
fn pawn_number(square: Square) -> u64 {
    let (file, rank) = (square.file() as u64, square.rank() as u64);
    let pair = file.min(7 - file) * 6 + rank.saturating_sub(1);
    (PAWN_SQUARES - 1).saturating_sub(2 * pair + u64::from(file > 3))
}

/// Number of placements of `count` pawns whose leading pawn is on a file, on lower ranks than `rank`.
fn pawn_placements(count: u64, file: File, ranks: core::ops::Range<u32>) -> u64 {
    ranks
        .map(|rank| {
            binomial(
                pawn_number(Square::from_coords(file, Rank::new(rank))),
                count - 1,
            )
        })
        .sum()
}

/// Ranks of pawns.
const PAWN_RANKS: core::ops::Range<u32> = 1..7;

/// Returns the file of the leading pawn, as a number of 0 to 3. `is_flipped` exchanges the sides of the board.
pub(crate) fn leading_file(pawns: Bitboard, is_flipped: bool) -> usize {
    let number = |square: &Square| match is_flipped {
        true => pawn_number(square.flip_vertical()),
        false => pawn_number(*square),
    };
    let leading = pawns.into_iter().max_by_key(number);
    leading.map_or(0, |square| {
        (square.file() as usize).min(7 - square.file() as usize)
    })
}

/// The special first group of pieces.
#[derive(Clone, Copy, Debug)]
enum Leading {
    /// The pawns of a side. The leading pawn is on this file.
    Pawns(File),
    /// The kings, or three different pieces.
    Pieces(&'static Placements),
}

/// Pieces that are numbered together.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// Number of pieces.
    count: usize,
    /// Factor of the group's number.
    factor: u64,
}

/// The order of a table's pieces, which gives each position its number.
#[derive(Clone, Debug)]
pub(crate) struct Numbering {
    pieces: Vec<Piece>,
    leading: Leading,
    groups: Vec<Group>,
    /// Whether the second group has the pawns of the other side.
    has_second_pawns: bool,
    /// Number of positions.
    pub(crate) size: u64,
}

impl Numbering {
    /// Creates the numbering of pieces. `orders` has the places of the leading group and of the other side's pawns among the
    /// factors, and `file` is the leading pawn's file. Returns `None` if the pieces or places contradict each other.
    pub(crate) fn new(pieces: &[Piece], orders: [u8; 2], file: usize) -> Option<Numbering> {
        let material = Material::of_pieces(pieces);
        let has_second_pawns = material.both_have_pawns();
        let groups_of = |pieces: &[Piece]| {
            pieces
                .chunk_by(|a, b| a == b)
                .map(<[Piece]>::len)
                .collect::<Vec<_>>()
        };
        // Whether all pawns of a side follow a piece.
        let are_pawns = |first: usize, count: usize| {
            let total = pieces
                .iter()
                .filter(|piece| **piece == pieces[first])
                .count();
            pieces[first].role == Role::Pawn && count == total
        };
        let (leading, count) = if material.has_pawns() {
            let count = *groups_of(pieces).first()?;
            let file = File::new(file as u32 & 3);
            (Leading::Pawns(file), are_pawns(0, count).then_some(count)?)
        } else if material.has_single_piece() {
            (Leading::Pieces(&PLACEMENTS[1]), 3)
        } else {
            let are_kings = pieces.iter().take(2).all(|piece| piece.role == Role::King);
            (Leading::Pieces(&PLACEMENTS[0]), are_kings.then_some(2)?)
        };
        let rest = groups_of(pieces.get(count..)?);
        if has_second_pawns && !rest.first().is_some_and(|second| are_pawns(count, *second)) {
            return None;
        }
        let counts = [count].into_iter().chain(rest);
        let groups = counts.map(|count| Group { count, factor: 0 }).collect();
        let mut numbering = Numbering {
            pieces: pieces.to_vec(),
            leading,
            groups,
            has_second_pawns,
            size: 1,
        };
        numbering.set_factors(orders)?;
        Some(numbering)
    }

    /// Sets the factors of the groups. `None` if the places are not different places among the groups.
    fn set_factors(&mut self, [leading, second]: [u8; 2]) -> Option<()> {
        let is_place = |order: u8| usize::from(order) < self.groups.len();
        if !is_place(leading) || (self.has_second_pawns && (!is_place(second) || second == leading))
        {
            return None;
        }
        let special = 1 + usize::from(self.has_second_pawns);
        let mut free = 64
            - self.groups[..special]
                .iter()
                .map(|group| group.count as u64)
                .sum::<u64>();
        let mut others = special..self.groups.len();
        for place in 0..self.groups.len() as u8 {
            let counts = |group: usize| self.groups[group].count as u64;
            let (number, placements) = if place == leading {
                (0, self.leading_placements())
            } else if place == second {
                (1, binomial(PAWN_SQUARES - counts(0), counts(1)))
            } else {
                let number = others.next()?;
                let placements = binomial(free, counts(number));
                free -= counts(number);
                (number, placements)
            };
            self.groups[number].factor = self.size;
            // Seven pieces have fewer than 2^42 placements.
            self.size *= placements;
        }
        Some(())
    }

    /// Number of placements of the leading group.
    fn leading_placements(&self) -> u64 {
        match self.leading {
            Leading::Pawns(file) => pawn_placements(self.groups[0].count as u64, file, PAWN_RANKS),
            Leading::Pieces(placements) => placements.count.into(),
        }
    }

    /// The first piece of the table.
    pub(crate) fn first(&self) -> Piece {
        self.pieces[0]
    }

    /// Returns the number of a position of the table's pieces. `is_flipped` exchanges the colours and the sides of the board.
    /// `None` if the board has other pieces.
    pub(crate) fn number(&self, board: &Board, is_flipped: bool) -> Option<u64> {
        let mut buffer = [Square::A1; MAX_PIECES];
        let squares = buffer.get_mut(..self.pieces.len())?;
        let mut used = Bitboard::EMPTY;
        for (piece, to) in self.pieces.iter().zip(squares.iter_mut()) {
            let square = (board.by_piece(flipped(*piece, is_flipped)) & !used).first()?;
            used.add(square);
            *to = if is_flipped {
                square.flip_vertical()
            } else {
                square
            };
        }
        let mut number = self.leading_number(squares)? * self.groups[0].factor;
        let mut first = self.groups[0].count;
        for (place, group) in self.groups.iter().enumerate().skip(1) {
            let (before, rest) = squares.split_at(first);
            let group_squares = &rest[..group.count];
            let below = if place == 1 && self.has_second_pawns {
                FIRST_RANK
            } else {
                0
            };
            let mut placement = 0;
            for square in group_squares {
                let lower = |squares: &[Square]| {
                    squares.iter().filter(|other| *other < square).count() as u64
                };
                // Squares of earlier groups are not free.
                let free = (*square as u64).checked_sub(lower(before) + below)?;
                placement += binomial(free, 1 + lower(group_squares));
            }
            number += placement * group.factor;
            first += group.count;
        }
        (number < self.size).then_some(number)
    }

    /// Returns the number of the leading group, and moves all squares by the symmetries that the leading group needs.
    fn leading_number(&self, squares: &mut [Square]) -> Option<u64> {
        let count = self.groups[0].count;
        let flip = |squares: &mut [Square], flipped: fn(Square) -> Square| {
            squares
                .iter_mut()
                .for_each(|square| *square = flipped(*square));
        };
        if let Leading::Pawns(_) = self.leading {
            let leading = (0..count).max_by_key(|at| pawn_number(squares[*at]))?;
            squares.swap(0, leading);
        }
        if squares[0].file() > File::D {
            flip(squares, Square::flip_horizontal);
        }
        match self.leading {
            Leading::Pawns(file) => {
                let ranks = PAWN_RANKS.start..squares[0].rank() as u32;
                let lower = pawn_placements(count as u64, file, ranks);
                let others = || squares[1..count].iter().map(|square| pawn_number(*square));
                let placement = others().map(|number| {
                    let chosen = others().filter(|other| *other <= number).count();
                    binomial(number, chosen as u64)
                });
                let number = lower + placement.sum::<u64>();
                (squares[0].file() == file).then_some(number)
            }
            Leading::Pieces(placements) => {
                if squares[0].rank() > Rank::Fourth {
                    flip(squares, Square::flip_vertical);
                }
                let mut above = squares[..count]
                    .iter()
                    .map(|square| above_diagonal(*square));
                if above
                    .find(|above| *above != 0)
                    .is_some_and(|above| above > 0)
                {
                    flip(squares, Square::flip_diagonal);
                }
                let place = Placements::index(&squares[..count]);
                placements.numbers.get(place).copied().map(u64::from)
            }
        }
    }
}

/// Returns the piece of a half byte in a table's list of pieces.
pub(crate) fn piece(code: u8) -> Option<Piece> {
    let role = Role::try_from(code & 7).ok()?;
    let color = Color::from_white(code & 8 == 0);
    Some(Piece { color, role })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn kings_have_462_placements_and_three_pieces_31_332() {
        assert_eq!([PLACEMENTS[0].count, PLACEMENTS[1].count], [462, 31_332]);
    }

    #[test]
    fn pawns_near_the_edge_and_low_pawns_have_larger_numbers() {
        let mut numbers: Vec<u64> = (8..56)
            .map(|square| pawn_number(Square::new(square)))
            .collect();
        assert_eq!(
            (
                pawn_number(Square::A2),
                pawn_number(Square::H2),
                pawn_number(Square::E7)
            ),
            (47, 46, 0)
        );
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..PAWN_SQUARES));
    }

    #[test]
    fn invalid_orders_of_pieces_are_rejected() {
        let of = |letters: &str, orders| {
            let pieces: Vec<Piece> = letters
                .chars()
                .map(|letter| Piece::from_char(letter).unwrap())
                .collect();
            Numbering::new(&pieces, orders, 0).is_some()
        };
        assert!(of("PPKk", [0, NO_GROUP]) && of("PpKk", [1, 0]));
        assert!(!of("PKPk", [0, NO_GROUP]), "pawns apart");
        assert!(!of("PKpk", [0, 1]), "pawns of the other side later");
        assert!(!of("QQKk", [0, NO_GROUP]), "kings later");
        assert!(
            !of("KQk", [1, NO_GROUP]) && !of("PpKk", [2, 2]) && !of("PpKk", [0, NO_GROUP]),
            "places"
        );
    }
}
