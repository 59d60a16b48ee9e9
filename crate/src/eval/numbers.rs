//! Numbers of evaluations as columns of a block.
//!
//! Numbers are encoded as differences from earlier numbers. A score is relative to the score of the parent (the
//! position one ply before), of the previous PV, or of the best evaluation.

use core::ops::Range;

use shakmaty::Color;

use super::{PositionEval, Score};
use crate::table::{Bits, ColumnError, Columns, MAX_TOTAL, Octaves, Values, unzigzag};

/// The code of numbers with a predictable order of magnitude only.
const WIDE: Octaves = Octaves {
    direct: 4,
    leading: 2,
};
/// Differences and counts, which are mostly small.
const NARROW: Octaves = Octaves {
    direct: 5,
    leading: 3,
};
/// Differences of scores, zigzagged.
const SCORE: Octaves = Octaves {
    direct: 6,
    leading: 2,
};

const EVALUATIONS: usize = 0;
const PVS_BEST: usize = 1;
const PVS_OTHER: usize = 2;
const DEPTH_BEST: usize = 3;
const DEPTH_OTHER: usize = 4;
const KNODES: usize = 5;
const SCORE_ROOT: usize = 6;
const SCORE_CHILD: usize = 7;
const SCORE_NEXT_PV: usize = 8;
const SCORE_OTHER: usize = 9;
const BITS: usize = 10;
/// Number of columns before the columns of the lines.
pub(super) const NUMBERS: usize = 11;

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
    /// Decodes the numbers of all records. `first` is the number of the first column of records.
    pub(super) fn decode(
        columns: &Columns,
        first: usize,
        turns: &[Color],
        parents: &[Option<u32>],
    ) -> Result<BlockNumbers, ColumnError> {
        let mut reader = NumberReader {
            columns: core::array::from_fn(|column| columns.values(first + column)),
            bits: Bits::new(columns, first + BITS),
        };
        let mut all = BlockNumbers {
            records: vec![0],
            evaluations: Vec::new(),
            scores: Vec::new(),
        };
        // The first score of each record's best evaluation. The scores of its children are relative to it.
        let mut bests: Vec<i64> = Vec::with_capacity(parents.len());
        for (turn, parent) in turns.iter().zip(parents) {
            let parent = parent.map(|parent| bests[parent as usize]);
            let mut best = parent.unwrap_or_default();
            let mut best_depth = 0;
            let first = all.scores.len();
            for n in 0..reader.count(EVALUATIONS, PositionEval::MAX_EVALUATIONS)? {
                let column = if n == 0 { PVS_BEST } else { PVS_OTHER };
                let pvs = reader.count(column, PositionEval::MAX_EVALUATION_PVS)?;
                let depths = if n == 0 { DEPTH_BEST } else { DEPTH_OTHER };
                let number = reader.next(depths, NARROW)?;
                let depth = if n == 0 {
                    Some(number)
                } else {
                    u64::from(best_depth).checked_sub(number)
                };
                let depth = depth.and_then(|depth| u16::try_from(depth).ok());
                let depth = depth.ok_or_else(|| reader.out_of_range(depths, number))?;
                let knodes = reader.next(KNODES, WIDE)?;
                let start = all.scores.len();
                if start + pvs > (first + PositionEval::MAX_PVS).min(MAX_TOTAL) {
                    return Err(reader.out_of_range(column, pvs as u64));
                }
                let mut above = best;
                for pv in 0..pvs {
                    let column = match (pv, n, parent) {
                        (1.., _, _) => SCORE_NEXT_PV,
                        (_, 1.., _) => SCORE_OTHER,
                        (_, _, Some(_)) => SCORE_CHILD,
                        (_, _, None) => SCORE_ROOT,
                    };
                    let difference = unzigzag(reader.next(column, SCORE)?);
                    let difference = if column == SCORE_NEXT_PV {
                        turn.fold_wb(-1, 1) * difference
                    } else {
                        difference
                    };
                    let integer = above.checked_add(difference);
                    let score = integer.and_then(from_integer);
                    let score = score
                        .ok_or_else(|| reader.out_of_range(column, integer.unwrap_or(0) as u64))?;
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
            }
            bests.push(best);
            all.records.push(all.evaluations.len());
        }
        reader.finish()?;
        Ok(all)
    }

    /// Returns the number of records.
    pub(super) fn records(&self) -> usize {
        self.records.len() - 1
    }

    /// Returns the numbers of the evaluations of record `n`.
    pub(super) fn of(&self, n: usize) -> &[Numbers] {
        &self.evaluations[self.records[n]..self.records[n + 1]]
    }

    /// Returns the memory in bytes.
    pub(super) fn memory(&self) -> usize {
        self.records.len() * size_of::<usize>()
            + self.evaluations.len() * size_of::<Numbers>()
            + self.scores.len() * size_of::<Score>()
    }
}

struct NumberReader<'a> {
    columns: [Values<'a>; BITS],
    bits: Bits<'a>,
}

impl NumberReader<'_> {
    fn next(&mut self, column: usize, octaves: Octaves) -> Result<u64, ColumnError> {
        octaves.join(self.columns[column].byte()?, &mut self.bits)
    }

    /// Reads a number that is stored less one.
    fn count(&mut self, column: usize, most: usize) -> Result<usize, ColumnError> {
        let less = self.next(column, NARROW)?;
        usize::try_from(less)
            .ok()
            .filter(|&less| less < most)
            .map(|less| less + 1)
            .ok_or(self.out_of_range(column, less))
    }

    fn out_of_range(&self, column: usize, found: u64) -> ColumnError {
        self.columns[column].out_of_range(found)
    }

    fn finish(&self) -> Result<(), ColumnError> {
        self.columns.iter().try_for_each(Values::finish)?;
        self.bits.finish()
    }
}

/// Refuses numbers that the columns cannot hold: the number of the column and the value.
#[cfg(feature = "write")]
pub(super) fn check(record: &PositionEval) -> Result<(), (usize, u64)> {
    let within = |column, count: usize, most| match count {
        0 => Err((column, 0)),
        count if count > most => Err((column, count as u64)),
        _ => Ok(()),
    };
    within(
        EVALUATIONS,
        record.evaluations.len(),
        PositionEval::MAX_EVALUATIONS,
    )?;
    let mut pvs = 0;
    for evaluation in &record.evaluations {
        within(
            PVS_BEST,
            evaluation.pvs.len(),
            PositionEval::MAX_EVALUATION_PVS,
        )?;
        pvs += evaluation.pvs.len();
        if evaluation.depth > record.evaluations[0].depth {
            return Err((DEPTH_OTHER, evaluation.depth.into()));
        }
        if let Some(pv) = evaluation.pvs.iter().find(|pv| !pv.score.is_in_range()) {
            let (Score::Cp(found) | Score::Mate(found)) = pv.score;
            return Err((SCORE_ROOT, found.unsigned_abs().into()));
        }
    }
    within(PVS_BEST, pvs, PositionEval::MAX_PVS)
}

/// Writes the numbers of `records` in stored order.
#[cfg(feature = "write")]
pub(super) fn encode_numbers(
    records: &[&PositionEval],
    parents: &[Option<u32>],
    columns: &mut [Vec<u8>],
) {
    use crate::table::zigzag;
    use shakmaty::Position as _;

    let mut bits = crate::table::BitWriter::default();
    let mut push = |column: usize, octaves: Octaves, value: u64| {
        let (symbol, low) = octaves.split(value);
        columns[column].push(symbol);
        bits.push(value, low);
    };
    let mut bests: Vec<i64> = Vec::with_capacity(records.len());
    for (record, parent) in records.iter().zip(parents) {
        let parent = parent.map(|parent| bests[parent as usize]);
        let mut best = parent.unwrap_or_default();
        let turn = record.position.chess().turn();
        push(EVALUATIONS, NARROW, record.evaluations.len() as u64 - 1);
        for (n, evaluation) in record.evaluations.iter().enumerate() {
            push(
                if n == 0 { PVS_BEST } else { PVS_OTHER },
                NARROW,
                evaluation.pvs.len() as u64 - 1,
            );
            match n {
                0 => push(DEPTH_BEST, NARROW, evaluation.depth.into()),
                _ => push(
                    DEPTH_OTHER,
                    NARROW,
                    (record.evaluations[0].depth - evaluation.depth).into(),
                ),
            }
            push(KNODES, WIDE, evaluation.knodes);
            let mut above = best;
            for (pv, score) in evaluation
                .pvs
                .iter()
                .map(|pv| to_integer(pv.score))
                .enumerate()
            {
                match (pv, n, parent) {
                    (1.., _, _) => push(
                        SCORE_NEXT_PV,
                        SCORE,
                        zigzag(turn.fold_wb(above - score, score - above)),
                    ),
                    (_, 1.., _) => push(SCORE_OTHER, SCORE, zigzag(score - above)),
                    (_, _, Some(_)) => push(SCORE_CHILD, SCORE, zigzag(score - above)),
                    (_, _, None) => push(SCORE_ROOT, SCORE, zigzag(score - above)),
                }
                if n == 0 && pv == 0 {
                    best = score;
                }
                above = score;
            }
        }
        bests.push(best);
    }
    columns[BITS] = bits.bytes;
}
