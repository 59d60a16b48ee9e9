//! Positions in the schema of Parquet: one row per PV.
//!
//! Rows do not mark the boundaries of evaluations. They have the order of the evaluations and their PVs. A new
//! evaluation begins if the depth or the nodes change, or if a first move is repeated, because an engine reports each
//! first move once per search. Two consecutive evaluations with equal depth and nodes but different first moves are
//! merged.

use std::fmt;

/// The first and the last bytes of a Parquet file.
pub const PARQUET_MARK: &[u8] = b"PAR1";

/// Columns in the order of the schema.
pub const COLUMNS: [&str; 6] = ["fen", "line", "depth", "knodes", "cp", "mate"];

/// Row of a PV. The numbers are not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Moves in UCI notation, separated by spaces.
    pub line: String,
    /// Depth in plies.
    pub depth: i128,
    /// Number of nodes in thousands.
    pub knodes: i128,
    /// Score in centipawns from White's point of view.
    pub cp: Option<i128>,
    /// Number of moves to mate, positive if White mates.
    pub mate: Option<i128>,
}

impl Row {
    fn first_move(&self) -> Option<&str> {
        self.line.split_ascii_whitespace().next()
    }
}

/// A value in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A text.
    Text(String),
    /// A number.
    Number(i128),
    /// No value.
    Missing,
}

/// Formats the value for CSV.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Text(text) => f.write_str(text),
            Cell::Number(number) => number.fmt(f),
            Cell::Missing => Ok(()),
        }
    }
}

/// Consecutive rows of a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// FEN of the position.
    pub fen: String,
    /// Rows of the position.
    pub rows: Vec<Row>,
}

impl Rows {
    /// Returns the approximate size in bytes.
    pub fn bytes(&self) -> usize {
        self.fen.len() + self.rows.iter().map(|row| row.line.len()).sum::<usize>()
    }

    /// Returns the values of each row, in the order of [`COLUMNS`].
    pub fn cells(self) -> Vec<Vec<Cell>> {
        let Rows { fen, rows } = self;
        let score = |score: Option<i128>| score.map_or(Cell::Missing, Cell::Number);
        let cells = |row: Row| {
            let (depth, knodes) = (Cell::Number(row.depth), Cell::Number(row.knodes));
            vec![
                Cell::Text(fen.clone()),
                Cell::Text(row.line),
                depth,
                knodes,
                score(row.cp),
                score(row.mate),
            ]
        };
        rows.into_iter().map(cells).collect()
    }

    /// Divides the rows into evaluations.
    pub fn evaluations(&self) -> Vec<&[Row]> {
        let mut evaluations = Vec::new();
        let mut start = 0;
        for (n, row) in self.rows.iter().enumerate() {
            let current = &self.rows[start..n];
            let is_other = current
                .first()
                .is_some_and(|first| (first.depth, first.knodes) != (row.depth, row.knodes));
            let is_again = row
                .first_move()
                .is_some_and(|m| current.iter().any(|other| other.first_move() == Some(m)));
            if is_other || is_again {
                evaluations.push(current);
                start = n;
            }
        }
        evaluations.push(&self.rows[start..]);
        evaluations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(rows: &[(i128, i128, &str)]) -> Vec<usize> {
        let row = |&(depth, knodes, line): &(i128, i128, &str)| Row {
            line: line.into(),
            depth,
            knodes,
            ..Row::default()
        };
        let rows = Rows {
            fen: String::new(),
            rows: rows.iter().map(row).collect(),
        };
        rows.evaluations().iter().map(|rows| rows.len()).collect()
    }

    #[test]
    fn evaluations_end_if_depth_or_nodes_change_or_a_first_move_is_repeated() {
        assert_eq!(
            lengths(&[
                (20, 5, "e2e4 e7e5"),
                (20, 5, "d2d4"),
                (19, 5, "c2c4"),
                (19, 6, "g1f3")
            ]),
            [2, 1, 1]
        );
        assert_eq!(
            lengths(&[(20, 5, "e2e4 e7e5"), (20, 5, "d2d4"), (20, 5, "e2e4 c7c5")]),
            [2, 1]
        );
        assert_eq!(
            lengths(&[(20, 5, ""), (20, 5, ""), (20, 5, "e2e4")]),
            [3],
            "missing first moves are not repetitions"
        );
        assert_eq!(
            lengths(&[(20, 5, "e2e4"), (20, 5, "d2d4")]),
            [2],
            "these rows could also be two evaluations"
        );
    }
}
