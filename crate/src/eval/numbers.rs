//! Numbers of evaluations as columns of a block.
//!
//! Numbers are encoded as differences from earlier numbers. A score is relative to the score of the parent (the
//! position one ply before), of the previous PV, or of the best evaluation.

use core::ops::Range;

use shakmaty::Color;

use super::{PositionEval, Score};
use crate::table::{Coder, ColumnError, MAX_TOTAL, Octaves, out_of_range};

/// The code of numbers with a predictable order of magnitude only.
const WIDE: Octaves = Octaves {
    direct: 4,
    leading: 2,
};
/// Differences and counts, which are mostly small.
const NARROW: Octaves = Octaves {
    direct: 6,
    leading: 3,
};
/// Absolute differences of scores.
const SCORE: Octaves = Octaves {
    direct: 2,
    leading: 1,
};

// Columns of a block, numbered as in `FORMAT.md`.
const PVS: usize = 5;
const DEPTH_BEST: usize = 6;
const DEPTH_OTHER: usize = 7;
const KNODES: usize = 8;
const SCORE_FIRST_PV: usize = 9;
const SCORE_NEXT_PV: usize = 10;
pub(super) const LOW_BITS: usize = 11;
/// The first column of the lines.
pub(super) const LINES: usize = 12;

/// The integer of mate in 0 moves; that of mate in *m* moves is *m* less.
const MATE: i64 = Score::MAX_CP as i64 + Score::MAX_MATE as i64 + 1;

/// Mates lie beyond every centipawn score, nearer ones further out, so that differences of scores are small integers.
fn to_integer(score: Score) -> i64 {
    match score {
        Score::Cp(cp) => cp.into(),
        Score::Mate(moves) => i64::from(moves.signum()) * MATE - i64::from(moves),
    }
}

/// Returns the score of an integer; `None` if no score has this integer.
fn from_integer(integer: i64) -> Option<Score> {
    let score = if integer.unsigned_abs() <= Score::MAX_CP.unsigned_abs().into() {
        Score::Cp(i32::try_from(integer).ok()?)
    } else {
        Score::Mate(i32::try_from(integer.signum() * MATE - integer).ok()?)
    };
    // Beyond mate in 0 moves, the integer would be a mate of the other side.
    (score.is_in_range() && to_integer(score) == integer).then_some(score)
}

/// The numbers of one evaluation; `pvs` are the indices of its PVs among the scores of the block.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) depth: u16,
    pub(super) knodes: u64,
    pub(super) pvs: Range<usize>,
}

/// The numbers of all evaluations of a block.
#[derive(Debug)]
pub(super) struct BlockNumbers {
    /// The index of the first evaluation of each record, and the number of evaluations.
    records: Vec<usize>,
    pub(super) evaluations: Vec<Numbers>,
    pub(super) scores: Vec<Score>,
}

impl BlockNumbers {
    /// Reads the numbers of all records, or writes those of the records `input`, which are in stored order.
    pub(super) fn code(
        coder: &mut Coder<'_>,
        turns: &[Color],
        parents: &[Option<u32>],
        input: Option<&[&PositionEval]>,
    ) -> Result<BlockNumbers, ColumnError> {
        let mut all = BlockNumbers {
            records: vec![0],
            evaluations: Vec::new(),
            scores: Vec::new(),
        };
        // The first score of each record's best evaluation. The scores of its children are relative to it.
        let mut bests: Vec<i64> = Vec::with_capacity(parents.len());
        for (record, (turn, parent)) in turns.iter().zip(parents).enumerate() {
            let input = input.map_or(&[][..], |input| &input[record].evaluations);
            let mut best = parent.map_or(0, |parent| bests[parent as usize]);
            let mut best_depth = 0;
            let first = all.scores.len();
            // The side to move: later PVs are worse for it, and the moves of games mostly are.
            let sign = turn.fold_wb(-1, 1);
            for n in 0.. {
                let is_last = n + 1 >= input.len();
                let input = input.get(n);
                let pvs = input.map_or(0, |input| input.pvs.len() as u64);
                let code = pvs.wrapping_sub(1) << 1 | u64::from(!is_last);
                let code = coder.number(PVS, NARROW, code)?;
                let is_last = code & 1 == 0;
                if n >= PositionEval::MAX_EVALUATIONS
                    || code >> 1 >= PositionEval::MAX_EVALUATION_PVS as u64
                {
                    return Err(out_of_range(PVS, code));
                }
                let pvs = (code >> 1) as usize + 1;
                let depth = input.map_or(0, |input| input.depth);
                let (column_of_depth, value) = match n {
                    0 => (DEPTH_BEST, depth.into()),
                    _ => (
                        DEPTH_OTHER,
                        u64::from(best_depth).wrapping_sub(depth.into()),
                    ),
                };
                let number = coder.number(column_of_depth, NARROW, value)?;
                let depth = if n == 0 {
                    Some(number)
                } else {
                    u64::from(best_depth).checked_sub(number)
                };
                let depth = depth.and_then(|depth| u16::try_from(depth).ok());
                let depth = depth.ok_or(out_of_range(column_of_depth, number))?;
                let knodes = coder.number(KNODES, WIDE, input.map_or(0, |input| input.knodes))?;
                let start = all.scores.len();
                if start + pvs > (first + PositionEval::MAX_PVS).min(MAX_TOTAL) {
                    return Err(out_of_range(PVS, code));
                }
                let mut above = best;
                for pv in 0..pvs {
                    let column = if pv == 0 {
                        SCORE_FIRST_PV
                    } else {
                        SCORE_NEXT_PV
                    };
                    let input = input.map(|input| input.pvs[pv].score);
                    let difference = input.map_or(0, |score| sign * (to_integer(score) - above));
                    let difference = coder.signed(column, SCORE, difference)?;
                    let integer = above.checked_add(sign * difference);
                    let score = integer.and_then(from_integer);
                    let score = score.filter(|score| input.is_none_or(|input| input == *score));
                    let score = score.ok_or(out_of_range(column, integer.unwrap_or(0) as u64))?;
                    above = to_integer(score);
                    all.scores.push(score);
                }
                if n == 0 {
                    best = to_integer(all.scores[start]);
                    best_depth = depth;
                }
                all.evaluations.push(Numbers {
                    depth,
                    knodes,
                    pvs: start..all.scores.len(),
                });
                if is_last {
                    break;
                }
            }
            bests.push(best);
            all.records.push(all.evaluations.len());
        }
        coder.finish(PVS..LINES, LOW_BITS)?;
        Ok(all)
    }

    /// Returns the numbers of the evaluations of record `n`.
    pub(super) fn of(&self, n: usize) -> &[Numbers] {
        &self.evaluations[self.records[n]..self.records[n + 1]]
    }

    /// Returns the number of PVs of record `n`.
    pub(super) fn pvs(&self, n: usize) -> usize {
        self.of(n).iter().map(|numbers| numbers.pvs.len()).sum()
    }

    /// Returns the memory in bytes.
    pub(super) fn memory(&self) -> usize {
        self.records.len() * size_of::<usize>()
            + self.evaluations.len() * size_of::<Numbers>()
            + self.scores.len() * size_of::<Score>()
    }
}
