//! Scores of the search: centipawns from the point of view of the side to move, then wins by endgame tables, then mates.

use std::fmt;

/// Maximum ply of a search.
pub const MAX_PLY: usize = 128;
/// Score of a mate on the board, for the winner.
pub const MATE: i32 = 32_000;
/// Scores from here on are mates.
pub const MATED_WITHIN: i32 = MATE - MAX_PLY as i32;
/// A bound beyond every score.
pub const INFINITE: i32 = 32_500;
/// No score.
pub const NONE: i32 = 32_600;
/// A draw.
pub const DRAW: i32 = 0;
/// Maximum of an evaluation.
pub const MAX_EVAL: i32 = 20_000;

/// Score of a win by endgame tables at the root.
const TABLE_WIN: i32 = 25_000;

/// Returns the score of a win by endgame tables after `ply` plies.
pub fn table_win_in(ply: usize) -> i32 {
    TABLE_WIN - ply as i32
}

/// Returns whether a score is beyond all evaluations: a mate, or a win by endgame tables, of either side.
pub fn is_decisive(score: i32) -> bool {
    score.abs() > MAX_EVAL
}

/// Returns the score of a side that is mated after `ply` plies.
pub fn mated_in(ply: usize) -> i32 {
    ply as i32 - MATE
}

/// Converts a score for the transposition table: plies to a mate or to a won ending count from the node, not from the root.
pub fn to_table(score: i32, ply: usize) -> i32 {
    if is_decisive(score) {
        score + score.signum() * ply as i32
    } else {
        score
    }
}

/// Inverse of [`to_table`].
pub fn from_table(score: i32, ply: usize) -> i32 {
    if is_decisive(score) {
        score - score.signum() * ply as i32
    } else {
        score
    }
}

/// A score as in UCI, from the point of view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UciScore {
    /// Centipawns.
    Cp(i32),
    /// Moves to mate: negative if the side to move is mated, zero if the mate is on the board.
    Mate(i32),
}

impl UciScore {
    /// Converts a score of the search. A win by endgame tables after n plies has [`MAX_EVAL`] - n centipawns.
    pub(crate) fn from_search(score: i32) -> UciScore {
        match score {
            _ if score >= MATED_WITHIN => UciScore::Mate((MATE - score + 1) / 2),
            _ if score <= -MATED_WITHIN => UciScore::Mate(-(MATE + score) / 2),
            _ if is_decisive(score) => {
                UciScore::Cp(score.signum() * (MAX_EVAL - TABLE_WIN + score.abs()))
            }
            _ => UciScore::Cp(score),
        }
    }
}

/// As after `score` in UCI: `cp 12`, `mate -3`.
impl fmt::Display for UciScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UciScore::Cp(cp) => write!(f, "cp {cp}"),
            UciScore::Mate(moves) => write!(f, "mate {moves}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_are_counted_in_moves() {
        assert_eq!(UciScore::from_search(MATE - 1), UciScore::Mate(1));
        assert_eq!(UciScore::from_search(MATE - 3), UciScore::Mate(2));
        assert_eq!(UciScore::from_search(mated_in(2)), UciScore::Mate(-1));
        assert_eq!(UciScore::from_search(mated_in(0)), UciScore::Mate(0));
        assert_eq!(UciScore::from_search(MAX_EVAL), UciScore::Cp(MAX_EVAL));
    }

    #[test]
    fn a_win_by_endgame_tables_is_beyond_evaluations_and_below_mates() {
        assert!(is_decisive(table_win_in(MAX_PLY)) && table_win_in(0) < MATED_WITHIN);
        assert_eq!(
            UciScore::from_search(table_win_in(3)),
            UciScore::Cp(MAX_EVAL - 3)
        );
        assert_eq!(
            UciScore::from_search(-table_win_in(12)),
            UciScore::Cp(12 - MAX_EVAL)
        );
        assert_eq!(
            from_table(to_table(table_win_in(9), 5), 7),
            table_win_in(11)
        );
    }

    #[test]
    fn a_mate_in_the_table_counts_from_its_node() {
        let mate = mated_in(9);
        assert_eq!(to_table(mate, 5), mated_in(4));
        assert_eq!(from_table(to_table(mate, 5), 5), mate);
        assert_eq!(from_table(to_table(-mate, 5), 3), MATE - 7);
        assert_eq!(to_table(123, 5), 123);
    }
}
