//! Positions as rows, one a PV: the shape in which Parquet has them.
//!
//! Rows do not tell where an evaluation ends and the next begins. They stand in the order of the evaluations and their
//! PVs, so that a change of depth or nodes begins one, and so does a PV whose first move the evaluation has already: no
//! engine tells of a move twice in one search. Two evaluations of equal depth and nodes and different first moves, one
//! behind the other, cannot be told from one.

/// The columns, in the order in which they are written.
pub const COLUMNS: [&str; 6] = ["fen", "line", "depth", "knodes", "cp", "mate"];

/// A PV; numbers are not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Moves in UCI notation, a blank between two.
    pub line: String,
    /// Plies.
    pub depth: i128,
    /// Thousands of nodes.
    pub knodes: i128,
    /// Centipawns from White's point of view.
    pub cp: Option<i128>,
    /// Moves to mate, positive if White mates.
    pub mate: Option<i128>,
}

impl Row {
    fn first_move(&self) -> Option<&str> {
        self.line.split_ascii_whitespace().next()
    }
}

/// Rows of one position that stand together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The position.
    pub fen: String,
    /// Its rows.
    pub rows: Vec<Row>,
}

impl Rows {
    /// The rows of each evaluation.
    pub fn evaluations(&self) -> Vec<&[Row]> {
        let mut evaluations = Vec::new();
        let mut start = 0;
        for (n, row) in self.rows.iter().enumerate() {
            let current = &self.rows[start..n];
            let is_other = current.first().is_some_and(|first| (first.depth, first.knodes) != (row.depth, row.knodes));
            let is_again = row.first_move().is_some_and(|m| current.iter().any(|other| other.first_move() == Some(m)));
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
        let row =
            |&(depth, knodes, line): &(i128, i128, &str)| Row { line: line.into(), depth, knodes, ..Row::default() };
        let rows = Rows { fen: String::new(), rows: rows.iter().map(row).collect() };
        rows.evaluations().iter().map(|rows| rows.len()).collect()
    }

    #[test]
    fn evaluations_end_where_depth_nodes_or_a_repeated_first_move_say_so() {
        assert_eq!(lengths(&[(20, 5, "e2e4 e7e5"), (20, 5, "d2d4"), (19, 5, "c2c4"), (19, 6, "g1f3")]), [2, 1, 1]);
        assert_eq!(lengths(&[(20, 5, "e2e4 e7e5"), (20, 5, "d2d4"), (20, 5, "e2e4 c7c5")]), [2, 1]);
        assert_eq!(lengths(&[(20, 5, ""), (20, 5, ""), (20, 5, "e2e4")]), [3], "no first move is none twice");
        assert_eq!(lengths(&[(20, 5, "e2e4"), (20, 5, "d2d4")]), [2], "or two, which nobody can tell");
    }
}
