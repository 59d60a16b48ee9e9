//! Names of Syzygy tables: the pieces of both sides, and the values.

use core::fmt;
use core::str::FromStr;

use shakmaty::{Board, Color, Piece, Role};

use crate::error::NameError;

/// Maximum number of pieces of a table.
pub const MAX_PIECES: usize = 7;

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

/// Numbers of pieces of White and Black, by role. Each side also has one king.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Material([[u8; ROLES.len()]; 2]);

impl Material {
    /// Counts the pieces of each side and role besides the king.
    fn counted(count: impl Fn(Color, Role) -> usize) -> Material {
        Material(
            [Color::White, Color::Black].map(|color| ROLES.map(|role| count(color, role) as u8)),
        )
    }

    pub(crate) fn of_board(board: &Board) -> Material {
        Material::counted(|color, role| board.by_piece(Piece { color, role }).count())
    }

    pub(crate) fn of_pieces(pieces: &[Piece]) -> Material {
        Material::counted(|color, role| {
            let same = |piece: &&Piece| **piece == Piece { color, role };
            pieces.iter().filter(same).count()
        })
    }

    /// Returns the material with exchanged colours.
    pub(crate) fn swapped(self) -> Material {
        Material([self.0[1], self.0[0]])
    }

    /// Returns the material with the stronger side as White: more pieces, then more queens, rooks, bishops and knights.
    pub(crate) fn stronger_first(self) -> Material {
        let [white, black] = self.0.map(|side| (side.iter().sum::<u8>(), side));
        if white < black { self.swapped() } else { self }
    }

    /// Number of pieces, kings included.
    pub(crate) fn pieces(self) -> usize {
        2 + self
            .0
            .iter()
            .flatten()
            .map(|count| usize::from(*count))
            .sum::<usize>()
    }

    /// Whether both sides have the same pieces.
    pub(crate) fn is_symmetric(self) -> bool {
        self.0[0] == self.0[1]
    }

    pub(crate) fn has_pawns(self) -> bool {
        self.0.iter().any(|side| side[PAWN] > 0)
    }

    pub(crate) fn both_have_pawns(self) -> bool {
        self.0.iter().all(|side| side[PAWN] > 0)
    }

    /// Whether another piece than the kings is the only piece of its role and colour.
    pub(crate) fn has_single_piece(self) -> bool {
        self.0.iter().flatten().any(|count| *count == 1)
    }
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (separator, side) in ["K", "vK"].iter().zip(self.0) {
            f.write_str(separator)?;
            for (role, count) in ROLES.iter().zip(side) {
                (0..count).try_for_each(|_| write!(f, "{}", role.upper_char()))?;
            }
        }
        Ok(())
    }
}

/// The values of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Win, draw or loss; the file name ends with `.rtbw`.
    Wdl,
    /// Distance to zeroing: plies until the next capture or pawn move; the file name ends with `.rtbz`.
    Dtz,
}

/// The name of a table: its material and its metric.
///
/// ```
/// use shelfish_endgames::{Metric, TableName};
///
/// let name: TableName = "KRPvKR.rtbw".parse()?;
/// assert_eq!((name.metric(), name.pieces()), (Metric::Wdl, 5));
/// assert_eq!(name.to_string(), "KRPvKR.rtbw");
/// assert!("../KRPvKR.rtbw".parse::<TableName>().is_err());
/// # Ok::<(), shelfish_endgames::NameError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    pub(crate) material: Material,
    pub(crate) metric: Metric,
}

impl FromStr for TableName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<TableName, NameError> {
        let parse = || {
            let (material, metric) = match text.strip_suffix(".rtbw") {
                Some(material) => (material, Metric::Wdl),
                None => (text.strip_suffix(".rtbz")?, Metric::Dtz),
            };
            let (white, black) = material.split_once('v')?;
            let material = Material::counted(|color, role| {
                let side = color.fold_wb(white, black);
                side.matches(role.upper_char()).count().min(MAX_PIECES)
            });
            let name = TableName { material, metric };
            // The pieces of another text are in another order, or others.
            let is_valid = (3..=MAX_PIECES).contains(&name.pieces()) && name.to_string() == text;
            is_valid.then_some(name)
        };
        parse().ok_or_else(|| NameError {
            found: text.chars().take(32).collect(),
        })
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = match self.metric {
            Metric::Wdl => "rtbw",
            Metric::Dtz => "rtbz",
        };
        write!(f, "{}.{ending}", self.material)
    }
}

impl TableName {
    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Number of pieces of both sides, kings included.
    pub fn pieces(&self) -> usize {
        self.material.pieces()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_files_are_rejected() {
        for text in [
            "",
            "KvK.rtbw",
            "KQvK",
            "KQvK.rtb",
            "QKvK.rtbw",
            "KQKvK.rtbw",
            "KPQvK.rtbw",
            "KQvKvK.rtbw",
            "KQRBNPvKQ.rtbw",
        ] {
            let found = text.to_string();
            assert_eq!(text.parse::<TableName>(), Err(NameError { found }));
        }
    }

    #[test]
    fn the_table_of_a_material_names_the_stronger_side_first() {
        for (name, expected) in [("KPvKN", "KNvKP"), ("KRPvKR", "KRPvKR"), ("KvKBN", "KBNvK")] {
            let name: TableName = format!("{name}.rtbw").parse().unwrap();
            assert_eq!(name.material.stronger_first().to_string(), expected);
        }
    }
}
