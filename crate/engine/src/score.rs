//! Scores: centipawns from the point of view of the side to move, and mates beyond all of them.

/// A search goes no deeper than so many plies.
pub const MAX_PLY: usize = 128;
/// The side to move is mated here.
pub const MATE: i32 = 32_000;
/// Beyond this a score is a mate.
pub const MATED_WITHIN: i32 = MATE - MAX_PLY as i32;
/// More than any score.
pub const INFINITE: i32 = 32_500;
/// No score.
pub const NONE: i32 = 32_600;
/// A draw.
pub const DRAW: i32 = 0;
/// An evaluation stays within.
pub const MAX_EVAL: i32 = 20_000;

/// The score of being mated after `ply` plies.
pub fn mated_in(ply: usize) -> i32 {
    ply as i32 - MATE
}

/// Whether a score is a mate, whoever gives it.
pub fn is_mate(score: i32) -> bool {
    score.abs() >= MATED_WITHIN
}

/// A score as the transposition table has it: plies to a mate count from the node, not from the root.
pub fn to_table(score: i32, ply: usize) -> i32 {
    match score {
        _ if score >= MATED_WITHIN => score + ply as i32,
        _ if score <= -MATED_WITHIN => score - ply as i32,
        _ => score,
    }
}

/// The opposite of [`to_table`].
pub fn from_table(score: i32, ply: usize) -> i32 {
    match score {
        _ if score >= MATED_WITHIN => score - ply as i32,
        _ if score <= -MATED_WITHIN => score + ply as i32,
        _ => score,
    }
}

/// A score as users read it, from the point of view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Centipawns.
    Cp(i32),
    /// Mate in so many moves; negative if the side to move is mated, zero if it is mated already.
    Mate(i32),
}

impl Score {
    /// Of a score of the search.
    pub fn of(score: i32) -> Score {
        match score {
            _ if score >= MATED_WITHIN => Score::Mate((MATE - score + 1) / 2),
            _ if score <= -MATED_WITHIN => Score::Mate(-(MATE + score) / 2),
            _ => Score::Cp(score),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_are_counted_in_moves() {
        assert_eq!(Score::of(MATE - 1), Score::Mate(1));
        assert_eq!(Score::of(MATE - 3), Score::Mate(2));
        assert_eq!(Score::of(mated_in(2)), Score::Mate(-1));
        assert_eq!(Score::of(mated_in(0)), Score::Mate(0));
        assert_eq!(Score::of(MAX_EVAL), Score::Cp(MAX_EVAL));
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
