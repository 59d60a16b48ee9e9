//! The evaluations of one position: the records of a database of evaluations.
//!
//! Scores are from White's point of view, in centipawns or in moves to mate, as in the Lichess evaluation database.
//! Node counts are in kilonodes.

mod codec;
mod limits;
mod numbers;

use core::cmp::Reverse;
use core::fmt;

use shakmaty::Move;

use crate::position::Position;

/// The score of a position, in centipawns or moves to mate, from White's point of view.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Score {
    /// Centipawns; positive is good for White.
    Cp(i32),
    /// Moves (not plies) to mate; positive when White mates, never 0.
    Mate(i32),
}

impl Score {
    /// The largest absolute value of centipawns: some engines give mates in centipawns.
    pub const MAX_CP: i32 = i32::MAX;
    /// The largest absolute distance to mate, in moves.
    pub const MAX_MATE: i32 = 32_767;

    /// Returns whether a database can hold the score.
    pub fn is_in_range(self) -> bool {
        match self {
            Score::Cp(cp) => cp != i32::MIN,
            Score::Mate(moves) => {
                moves != 0 && moves.unsigned_abs() <= Score::MAX_MATE.unsigned_abs()
            }
        }
    }

    /// Returns the score as centipawns or as moves to mate. The other number is `None`.
    pub fn cp_and_mate(self) -> (Option<i32>, Option<i32>) {
        match self {
            Score::Cp(cp) => (Some(cp), None),
            Score::Mate(moves) => (None, Some(moves)),
        }
    }
}

/// `+0.20`, `-1.25`, `0.00`, `#3`, `#-5`.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Score::Cp(0) => f.write_str("0.00"),
            Score::Cp(cp) => {
                let sign = if cp < 0 { '-' } else { '+' };
                let cp = cp.unsigned_abs();
                write!(f, "{sign}{}.{:02}", cp / 100, cp % 100)
            }
            Score::Mate(moves) => write!(f, "#{moves}"),
        }
    }
}

/// A principal variation: a score and the line that leads to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pv {
    /// From White's point of view.
    pub score: Score,
    /// Legal moves from the evaluated position; empty if the source contained no line.
    pub line: Vec<Move>,
}

/// One analysis of a position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Evaluation {
    /// Search depth in plies.
    pub depth: u16,
    /// Nodes searched, in thousands. The format allows any 64-bit number; those above 2^53 are not exact as floating-point
    /// numbers.
    pub knodes: u64,
    /// MultiPV, in the order of the source: best first for the side to move. Never empty.
    pub pvs: Vec<Pv>,
}

/// The record of one position: all its evaluations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionEval {
    /// The position, canonical.
    pub position: Position,
    /// Best first: deepest, then more PVs, then more nodes; no two are equal. Never empty.
    pub evaluations: Vec<Evaluation>,
}

impl PositionEval {
    /// Returns the deepest evaluation. Ties are resolved by the number of PVs, then by the number of nodes.
    pub fn best(&self) -> Option<&Evaluation> {
        self.evaluations.first()
    }

    /// Returns the weight of a record when a table is cut into blocks: about its compressed size in bits.
    pub fn weight(evaluations: usize, pvs: usize, plies: usize) -> usize {
        24 + 14 * evaluations + 10 * pvs + 7 * plies / 2
    }

    /// Sorts evaluations into the order of [`PositionEval::evaluations`] and removes duplicates.
    ///
    /// The order is total, so that merging is commutative and a build does not depend on the order of its sources.
    pub fn normalise(evaluations: &mut Vec<Evaluation>) {
        evaluations.sort_by_cached_key(|evaluation| {
            let tie: Vec<(Score, Vec<[u8; 3]>)> = evaluation
                .pvs
                .iter()
                .map(|pv| (pv.score, pv.line.iter().map(|m| move_bytes(*m)).collect()))
                .collect();
            (
                Reverse(evaluation.depth),
                Reverse(evaluation.pvs.len()),
                Reverse(evaluation.knodes),
                tie,
            )
        });
        evaluations.dedup();
    }
}

/// Returns origin, target (the rook's square for castling) and promotion, which identify a move of a position.
fn move_bytes(m: Move) -> [u8; 3] {
    let from = m.from().map_or(64, |square| square as u8);
    [
        from,
        m.to() as u8,
        m.promotion().map_or(0, |role| role as u8),
    ]
}
