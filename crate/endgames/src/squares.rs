//! The number of a position within a table.
//!
//! A table lists its pieces in an order that its writer chose. Equal pieces form groups, and the first group is special: the leading
//! pawns of a side, or three pieces that differ, or the two kings. Symmetries move the leading group to a part of the board:
//! pawns to the files a to d, other pieces to the triangle a1-d1-d4. The position's number combines a number of each group
//! like the digits of a number, with a factor for each group.

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
/// Squares of the triangle a1-d1-d4 below the diagonal.
const BELOW_IN_TRIANGLE: u64 = 6;
/// Squares of the board below the diagonal a1-h8.
const BELOW: u64 = 28;
/// Squares of the diagonal in the triangle a1-d1-d4.
const ON_DIAGONAL: u64 = 4;
/// Placements of two kings that are not neighbours, without symmetric placements.
const KINGS: u64 = 462;
/// Placements of three different pieces without symmetric placements, by the first piece that is off the diagonal.
const FIRST_OFF: u64 = BELOW_IN_TRIANGLE * 63 * 62;
const SECOND_OFF: u64 = ON_DIAGONAL * BELOW * 62;
const THIRD_OFF: u64 = ON_DIAGONAL * 7 * BELOW;
const NONE_OFF: u64 = ON_DIAGONAL * 7 * 6;
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

/// Number of each placement of two kings: the first king's square in [`TRIANGLE`], then the other king's square.
///
/// Placements with both kings on the diagonal have the last numbers. Placements with the first king on the diagonal and the
/// other king above it do not count, because their mirror images count.
static KING_PAIRS: [[u16; 64]; TRIANGLE.len()] = {
    let mut pairs = [[0; 64]; TRIANGLE.len()];
    let mut number = 0;
    // The second pass numbers the placements on the diagonal.
    let mut pass = 0;
    while pass < 2 {
        let mut first = 0;
        while first < TRIANGLE.len() {
            let (file, rank) = coordinates(TRIANGLE[first] as i32);
            let is_first_on = file == rank;
            let mut second = 0;
            while second < 64 {
                let (other_file, other_rank) = coordinates(second);
                let is_near = (file - other_file).abs() <= 1 && (rank - other_rank).abs() <= 1;
                let is_mirrored = is_first_on && other_rank > other_file;
                let is_on = is_first_on && other_rank == other_file;
                if !is_near && !is_mirrored && is_on == (pass == 1) {
                    pairs[first][second as usize] = number;
                    number += 1;
                }
                second += 1;
            }
            first += 1;
        }
        pass += 1;
    }
    assert!(number as u64 == KINGS);
    pairs
};

const fn coordinates(square: i32) -> (i32, i32) {
    (square % 8, square / 8)
}

/// Returns 0 on the diagonal a1-h8, less below it and more above it.
fn above_diagonal(square: Square) -> i32 {
    square.rank() as i32 - square.file() as i32
}

/// Returns the number of a square in [`TRIANGLE`].
fn in_triangle(square: Square) -> u64 {
    TRIANGLE
        .iter()
        .position(|other| *other == square)
        .unwrap_or_default() as u64
}

/// Returns the number of a square among the squares below the diagonal a1-h8, in the order of ranks.
fn below_diagonal(square: Square) -> u64 {
    let (file, rank) = (square.file() as u64, square.rank() as u64);
    // Rank 1 has seven squares below the diagonal, and each next rank has one less.
    (7 * rank).saturating_sub(rank * rank.saturating_sub(1) / 2) + file.saturating_sub(rank + 1)
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leading {
    /// The pawns of a side. The leading pawn is on this file.
    Pawns(File),
    /// Three different pieces.
    Three,
    /// The kings.
    Kings,
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
            (Leading::Three, 3)
        } else {
            let are_kings = pieces.iter().take(2).all(|piece| piece.role == Role::King);
            (Leading::Kings, are_kings.then_some(2)?)
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
            Leading::Three => FIRST_OFF + SECOND_OFF + THIRD_OFF + NONE_OFF,
            Leading::Kings => KINGS,
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
        if let Leading::Pawns(_) = self.leading {
            let leading = (0..count).max_by_key(|at| pawn_number(squares[*at]))?;
            squares.swap(0, leading);
        }
        if squares[0].file() > File::D {
            squares
                .iter_mut()
                .for_each(|square| *square = square.flip_horizontal());
        }
        if let Leading::Pawns(file) = self.leading {
            if squares[0].file() != file {
                return None;
            }
            let lower = pawn_placements(
                count as u64,
                file,
                PAWN_RANKS.start..squares[0].rank() as u32,
            );
            let others = &squares[1..count];
            let placement = others.iter().map(|square| {
                let number = pawn_number(*square);
                let chosen = others
                    .iter()
                    .filter(|other| pawn_number(**other) <= number)
                    .count() as u64;
                binomial(number, chosen)
            });
            return Some(lower + placement.sum::<u64>());
        }
        if squares[0].rank() > Rank::Fourth {
            squares
                .iter_mut()
                .for_each(|square| *square = square.flip_vertical());
        }
        let first_off = squares[..count]
            .iter()
            .find(|square| above_diagonal(**square) != 0);
        if first_off.is_some_and(|square| above_diagonal(*square) > 0) {
            squares
                .iter_mut()
                .for_each(|square| *square = square.flip_diagonal());
        }
        match self.leading {
            Leading::Kings => Some(u64::from(
                KING_PAIRS[in_triangle(squares[0]) as usize][squares[1] as usize],
            )),
            _ => Some(number_of_three([squares[0], squares[1], *squares.get(2)?])),
        }
    }
}

/// Returns the number of three different pieces. The first piece is in the triangle a1-d1-d4, and the first piece off the
/// diagonal is below it.
fn number_of_three([first, second, third]: [Square; 3]) -> u64 {
    let before = |square: Square, others: &[Square]| {
        others.iter().filter(|other| **other < square).count() as u64
    };
    // Number of a square without the squares of other pieces.
    let free = |square: Square, others: &[Square]| square as u64 - before(square, others);
    let free_on = |square: Square, others: &[Square]| square.rank() as u64 - before(square, others);
    let diagonal = first.rank() as u64;
    if above_diagonal(first) != 0 {
        (in_triangle(first) * 63 + free(second, &[first])) * 62 + free(third, &[first, second])
    } else if above_diagonal(second) != 0 {
        FIRST_OFF + (diagonal * BELOW + below_diagonal(second)) * 62 + free(third, &[first, second])
    } else if above_diagonal(third) != 0 {
        FIRST_OFF
            + SECOND_OFF
            + (diagonal * 7 + free_on(second, &[first])) * BELOW
            + below_diagonal(third)
    } else {
        let (second, third) = (free_on(second, &[first]), free_on(third, &[first, second]));
        FIRST_OFF + SECOND_OFF + THIRD_OFF + (diagonal * 7 + second) * 6 + third
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
    fn squares_below_the_diagonal_have_consecutive_numbers() {
        let below = (0..64)
            .map(Square::new)
            .filter(|square| above_diagonal(*square) < 0);
        assert!(below.map(below_diagonal).eq(0..BELOW));
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

    /// Every number below the size belongs to a position, and only to symmetric positions.
    fn assert_dense(letters: &str, leading: u8) {
        let pieces: Vec<Piece> = letters
            .chars()
            .map(|letter| Piece::from_char(letter).unwrap())
            .collect();
        let numbering = Numbering::new(&pieces, [leading, NO_GROUP], 0).unwrap();
        let mut found = vec![false; numbering.size as usize];
        for place in 0..64_u64.pow(pieces.len() as u32) {
            let mut board = Board::empty();
            for (n, piece) in pieces.iter().enumerate() {
                board.set_piece_at(Square::new((place >> (6 * n) & 63) as u32), *piece);
            }
            let is_legal = Material::of_board(&board) == Material::of_pieces(&pieces)
                && board.kings().count() == 2
                && board
                    .kings()
                    .into_iter()
                    .all(|king| (shakmaty::attacks::king_attacks(king) & board.kings()).is_empty());
            if is_legal && let Some(number) = numbering.number(&board, false) {
                found[number as usize] = true;
            }
        }
        let share = found.iter().filter(|found| **found).count() as f64 / found.len() as f64;
        assert!(share > 0.88, "{letters}: {share}");
    }

    #[test]
    fn numbers_of_three_pieces_are_dense() {
        assert_dense("KQk", 0);
        assert_dense("kKR", 0);
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
