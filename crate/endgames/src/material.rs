//! The pieces of both sides.

use core::fmt;

use shakmaty::{Board, Color, Piece, Role};

/// Roles besides the king, in the order of a table's name.
const ROLES: [Role; 5] = [
    Role::Queen,
    Role::Rook,
    Role::Bishop,
    Role::Knight,
    Role::Pawn,
];
/// Number of [`Role::Pawn`] in [`ROLES`].
const PAWN: usize = 4;

/// Number of pieces of each role besides the king.
type Side = [u8; ROLES.len()];

/// Numbers of pieces of both sides. Each side also has one king.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Material {
    white: Side,
    black: Side,
}

impl Material {
    pub(crate) fn of_board(board: &Board) -> Material {
        let side =
            |color| ROLES.map(|role| (board.by_color(color) & board.by_role(role)).count() as u8);
        Material {
            white: side(Color::White),
            black: side(Color::Black),
        }
    }

    pub(crate) fn of_pieces(pieces: &[Piece]) -> Material {
        let side = |color| {
            ROLES.map(|role| {
                pieces
                    .iter()
                    .filter(|piece| **piece == Piece { color, role })
                    .count() as u8
            })
        };
        Material {
            white: side(Color::White),
            black: side(Color::Black),
        }
    }

    /// Reads both sides of a valid name like `KRPvKR`.
    pub(crate) fn of_name(name: &str) -> Material {
        let (white, black) = name.split_once('v').unwrap_or_default();
        let side = |text: &str| {
            ROLES.map(|role| {
                text.chars()
                    .filter(|letter| *letter == role.upper_char())
                    .count() as u8
            })
        };
        Material {
            white: side(white),
            black: side(black),
        }
    }

    /// Returns the material with exchanged colours.
    pub(crate) fn swapped(self) -> Material {
        Material {
            white: self.black,
            black: self.white,
        }
    }

    /// Returns the material with the stronger side as White: more pieces, then more queens, rooks, bishops and knights.
    pub(crate) fn stronger_first(self) -> Material {
        let strength = |side: Side| (side.iter().sum::<u8>(), side);
        if strength(self.white) < strength(self.black) {
            self.swapped()
        } else {
            self
        }
    }

    /// Number of pieces, kings included.
    pub(crate) fn pieces(self) -> usize {
        2 + self
            .white
            .iter()
            .chain(&self.black)
            .map(|count| usize::from(*count))
            .sum::<usize>()
    }

    /// Whether both sides have the same pieces.
    pub(crate) fn is_symmetric(self) -> bool {
        self.white == self.black
    }

    pub(crate) fn has_pawns(self) -> bool {
        self.white[PAWN] + self.black[PAWN] > 0
    }

    pub(crate) fn both_have_pawns(self) -> bool {
        self.white[PAWN] > 0 && self.black[PAWN] > 0
    }

    /// Whether another piece than the kings is the only piece of its role and colour.
    pub(crate) fn has_single_piece(self) -> bool {
        self.white.contains(&1) || self.black.contains(&1)
    }
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |f: &mut fmt::Formatter<'_>, side: Side| {
            f.write_str("K")?;
            let mut pieces = ROLES
                .into_iter()
                .zip(side)
                .flat_map(|(role, count)| (0..count).map(move |_| role));
            pieces.try_for_each(|role| write!(f, "{}", role.upper_char()))
        };
        side(f, self.white)?;
        f.write_str("v")?;
        side(f, self.black)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_material_has_the_name_of_its_table() {
        for name in ["KQvK", "KRPvKR", "KPvKP", "KBNvK", "KQQQQQvK"] {
            let material = Material::of_name(name);
            assert_eq!(material.to_string(), name);
            assert_eq!(material.swapped().stronger_first().to_string(), name);
            assert_eq!(material.pieces(), name.len() - 1);
        }
        assert_eq!(
            Material::of_name("KPvKN").stronger_first().to_string(),
            "KNvKP"
        );
    }

    #[test]
    fn pawns_and_symmetry_of_a_material_are_recognised() {
        let of = |name| {
            let material = Material::of_name(name);
            (
                material.has_pawns(),
                material.both_have_pawns(),
                material.is_symmetric(),
                material.has_single_piece(),
            )
        };
        assert_eq!(of("KQQvK"), (false, false, false, false));
        assert_eq!(of("KPvK"), (true, false, false, true));
        assert_eq!(of("KPvKP"), (true, true, true, true));
    }
}
