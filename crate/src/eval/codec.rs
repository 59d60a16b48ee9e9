//! Evaluations as columns of a block.
//!
//! Numbers are encoded as differences from earlier numbers. A score is relative to the score of the parent (the
//! position one ply before), of the previous PV, or of the best evaluation. Decoding numbers is cheap, so a reader
//! decodes those of the whole block at once. Lines are decoded record by record.

use core::ops::Range;

use shakmaty::{Color, Square};

use super::{Evaluation, PositionEval, Pv, Score};
use crate::moves::{self, Cursors, LineError, LineInfo};
use crate::position::Position;
#[cfg(feature = "write")]
use crate::table::StoredRecord;
use crate::table::{Bits, ColumnError, Columns, MAX_TOTAL, Octaves, Record, RecordError, Sealed, Values, unzigzag};

/// The code of numbers with a predictable order of magnitude only.
const WIDE: Octaves = Octaves { direct: 4, leading: 2 };
/// Differences and counts, which are mostly small.
const NARROW: Octaves = Octaves { direct: 5, leading: 3 };
/// Differences of scores, zigzagged.
const SCORE: Octaves = Octaves { direct: 6, leading: 2 };

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
const NUMBERS: usize = 11;

/// Names of the columns of the numbers.
const NUMBER_NAMES: [&str; NUMBERS] = [
    "evaluations",
    "PVs, best",
    "PVs, other",
    "depths, best",
    "depths, other",
    "kilonodes",
    "scores, root",
    "scores, child",
    "scores, next PV",
    "scores, other",
    "low bits",
];

/// Maximum number of moves of all lines of a block. A record has at most [`PositionEval::MAX_PLIES`] moves, so a block
/// of the usual weight has at most half of this.
const MAX_BLOCK_PLIES: usize = 1 << 15;

/// Lines can be decoded from every record whose number is a multiple of this; up to such a record others are skipped.
const STRIDE: usize = 16;

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
struct Numbers {
    depth: u16,
    knodes: u64,
    pvs: Range<usize>,
}

/// The numbers of all evaluations of a block, and places from which lines can be decoded.
#[derive(Debug)]
pub struct BlockColumns {
    /// The index of the first evaluation of each record, and the number of evaluations.
    records: Vec<usize>,
    evaluations: Vec<Numbers>,
    scores: Vec<Score>,
    /// The bytes left in the columns of the lines at each [`STRIDE`]th record.
    entries: Vec<[usize; moves::COLUMNS]>,
}

impl BlockColumns {
    fn numbers(
        columns: &Columns,
        first: usize,
        turns: &[Color],
        parents: &[Option<u32>],
    ) -> Result<BlockColumns, ColumnError> {
        let mut reader = NumberReader {
            columns: core::array::from_fn(|column| columns.values(first + column)),
            bits: Bits::new(columns, first + BITS),
        };
        let mut all =
            BlockColumns { records: vec![0], evaluations: Vec::new(), scores: Vec::new(), entries: Vec::new() };
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
                let depth = if n == 0 { Some(number) } else { u64::from(best_depth).checked_sub(number) };
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
                    let difference =
                        if column == SCORE_NEXT_PV { turn.fold_wb(-1, 1) * difference } else { difference };
                    let integer = above.checked_add(difference);
                    let score = integer.and_then(from_integer);
                    let score = score.ok_or_else(|| reader.out_of_range(column, integer.unwrap_or(0) as u64))?;
                    above = to_integer(score);
                    all.scores.push(score);
                }
                if n == 0 {
                    best = to_integer(all.scores[start]);
                    best_depth = depth;
                }
                all.evaluations.push(Numbers { depth, knodes, pvs: start..all.scores.len() });
            }
            bests.push(best);
            all.records.push(all.evaluations.len());
        }
        reader.finish()?;
        Ok(all)
    }

    /// Records the start of the lines of every [`STRIDE`]th record, and checks the number of moves of the lines.
    fn find_line_entries(&mut self, columns: &Columns, first: usize) -> Result<(), ColumnError> {
        let mut cursors = Cursors::new(lines(columns, first));
        let mut line_infos = Vec::new();
        let mut plies = 0;
        for n in 0..self.records.len() - 1 {
            if n % STRIDE == 0 {
                self.entries.push(cursors.left());
            }
            self.line_infos(n, &mut line_infos);
            plies += cursors.plies(&line_infos).map_err(|error| column_error(first, error))?;
            if plies > MAX_BLOCK_PLIES {
                return Err(ColumnError::Value { column: first + NUMBERS + moves::LENGTH, found: plies as u64 });
            }
        }
        match cursors.left().iter().position(|&left| left > 0) {
            None => Ok(()),
            Some(column) => Err(ColumnError::Length { column: first + NUMBERS + column }),
        }
    }

    fn evaluations(&self, n: usize) -> &[Numbers] {
        &self.evaluations[self.records[n]..self.records[n + 1]]
    }

    /// Collects the PV numbers and depths of the lines of record `n`, and returns the cursors at these lines.
    fn cursors<'a>(
        &self,
        columns: &'a Columns,
        first: usize,
        n: usize,
        line_infos: &mut Vec<LineInfo>,
    ) -> Result<Cursors<'a>, RecordError> {
        let left = self.entries.get(n / STRIDE).ok_or(RecordError::Missing { n })?;
        let mut ends = lines(columns, first);
        for (column, left) in ends.iter_mut().zip(left) {
            *column = &column[column.len() - left..];
        }
        let mut cursors = Cursors::new(ends);
        for before in n - n % STRIDE..n {
            self.line_infos(before, line_infos);
            cursors.skip(line_infos)?;
        }
        self.line_infos(n, line_infos);
        Ok(cursors)
    }

    /// Collects the PV numbers and depths of the lines of record `n`.
    fn line_infos(&self, n: usize, out: &mut Vec<LineInfo>) {
        out.clear();
        for numbers in self.evaluations(n) {
            out.extend((0..numbers.pvs.len()).map(|pv| LineInfo { is_first_pv: pv == 0, depth: numbers.depth }));
        }
    }
}

/// Converts an error in the lines of a record to an error of a column. `first` is the number of the first column of records.
fn column_error(first: usize, error: LineError) -> ColumnError {
    let column = |column| first + NUMBERS + column;
    match error {
        LineError::Ended { column: ended } => ColumnError::Length { column: column(ended) },
        LineError::Shared { shared, .. } => ColumnError::Value { column: column(moves::SHARED), found: shared as u64 },
        LineError::Plies { found } => ColumnError::Value { column: column(moves::LENGTH), found: found as u64 },
        // These are found when a record is decoded, as they take the rules of chess.
        LineError::Source { source: found, .. } => {
            ColumnError::Value { column: column(moves::SOURCE), found: found as u64 }
        }
        LineError::Rank { rank: found, .. } | LineError::Cost { found } => {
            ColumnError::Value { column: column(moves::RANK), found: found as u64 }
        }
    }
}

/// Returns the columns of the lines.
fn lines(columns: &Columns, first: usize) -> [&[u8]; moves::COLUMNS] {
    core::array::from_fn(|column| columns.bytes(first + NUMBERS + column))
}

impl Sealed for PositionEval {}

impl Record for PositionEval {
    const KIND: &'static str = "evaluations";
    const COLUMNS: &'static [&'static str] = &{
        let mut names = [""; NUMBERS + moves::COLUMNS];
        names.split_at_mut(NUMBERS).0.copy_from_slice(&NUMBER_NAMES);
        names.split_at_mut(NUMBERS).1.copy_from_slice(&moves::NAMES);
        names
    };
    const TOTALS: &'static [&'static str] = &["evaluations", "pvs"];
    type BlockColumns = BlockColumns;

    fn position(&self) -> &Position {
        &self.position
    }

    #[cfg(feature = "write")]
    fn encode(
        records: &[&PositionEval],
        stored: &[Option<&StoredRecord<'_, PositionEval>>],
        parents: &[Option<u32>],
        _: &dyn Fn(usize) -> (Square, Square),
        columns: &mut [Vec<u8>],
    ) -> Result<(), ColumnError> {
        // Messages count the columns of the block.
        let first = crate::table::Block::<PositionEval>::FIRST;
        let value = |(column, found)| ColumnError::Value { column: first + column, found };
        records.iter().try_for_each(|record| check(record)).map_err(value)?;
        encode_numbers(records, parents, columns);
        let mut out = moves::LineColumns::default();
        let mut plies = 0;
        let mut infos = Vec::new();
        for (record, stored) in records.iter().zip(stored) {
            let lines: Vec<(LineInfo, &[shakmaty::Move])> = record
                .evaluations
                .iter()
                .flat_map(|evaluation| {
                    evaluation.pvs.iter().enumerate().map(|(pv, Pv { line, .. })| {
                        (LineInfo { is_first_pv: pv == 0, depth: evaluation.depth }, line.as_slice())
                    })
                })
                .collect();
            let coded = stored.and_then(|StoredRecord { decoded, columns, n }| {
                let cursors = decoded.cursors(columns, first, *n, &mut infos).ok()?;
                let is_same = lines.iter().enumerate().all(|(i, (info, _))| infos.get(i) == Some(info));
                is_same.then_some(cursors)
            });
            let encoded = moves::encode(record.position.chess(), &lines, coded, &mut out);
            plies += encoded.map_err(|error| column_error(first, error))?;
        }
        if plies > MAX_BLOCK_PLIES {
            return Err(value((NUMBERS + moves::LENGTH, plies as u64)));
        }
        for (column, bytes) in columns[NUMBERS..].iter_mut().zip(out.columns) {
            *column = bytes;
        }
        Ok(())
    }

    #[cfg(feature = "write")]
    fn count(&self, totals: &mut [u64]) {
        totals[0] += self.evaluations.len() as u64;
        totals[1] += self.evaluations.iter().map(|evaluation| evaluation.pvs.len() as u64).sum::<u64>();
    }

    fn decode_columns(
        columns: &Columns,
        first: usize,
        turns: &[Color],
        parents: &[Option<u32>],
    ) -> Result<BlockColumns, ColumnError> {
        let mut decoded = BlockColumns::numbers(columns, first, turns, parents)?;
        decoded.find_line_entries(columns, first)?;
        Ok(decoded)
    }

    fn memory(decoded: &BlockColumns) -> usize {
        decoded.records.len() * size_of::<usize>()
            + decoded.evaluations.len() * size_of::<Numbers>()
            + decoded.scores.len() * size_of::<Score>()
            + decoded.entries.len() * size_of::<[usize; moves::COLUMNS]>()
    }

    #[cfg(feature = "write")]
    fn weights(
        decoded: &BlockColumns,
        columns: &Columns,
        first: usize,
        totals: &mut [u64],
    ) -> Result<Vec<usize>, ColumnError> {
        totals[0] += decoded.evaluations.len() as u64;
        totals[1] += decoded.scores.len() as u64;
        let mut cursors = Cursors::new(lines(columns, first));
        let mut line_infos = Vec::new();
        let weight = |n| {
            decoded.line_infos(n, &mut line_infos);
            let plies = cursors.plies(&line_infos).map_err(|error| column_error(first, error))?;
            Ok(PositionEval::weight(decoded.evaluations(n).len(), line_infos.len(), plies))
        };
        (0..decoded.records.len() - 1).map(weight).collect()
    }

    fn decode(
        decoded: &BlockColumns,
        columns: &Columns,
        first: usize,
        n: usize,
        position: Position,
        _: &dyn Fn(usize) -> (Square, Square),
    ) -> Result<PositionEval, RecordError> {
        let mut line_infos = Vec::new();
        let mut cursors = decoded.cursors(columns, first, n, &mut line_infos)?;
        let lines = cursors.decode(position.chess(), &line_infos)?;
        let mut lines = lines.into_iter();
        let evaluations = decoded.evaluations(n).iter().map(|numbers| Evaluation {
            depth: numbers.depth,
            knodes: numbers.knodes,
            pvs: numbers.pvs.clone().zip(&mut lines).map(|(pv, line)| Pv { score: decoded.scores[pv], line }).collect(),
        });
        Ok(PositionEval { evaluations: evaluations.collect(), position })
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
fn check(record: &PositionEval) -> Result<(), (usize, u64)> {
    let within = |column, count: usize, most| match count {
        0 => Err((column, 0)),
        count if count > most => Err((column, count as u64)),
        _ => Ok(()),
    };
    within(EVALUATIONS, record.evaluations.len(), PositionEval::MAX_EVALUATIONS)?;
    let mut pvs = 0;
    for evaluation in &record.evaluations {
        within(PVS_BEST, evaluation.pvs.len(), PositionEval::MAX_EVALUATION_PVS)?;
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
fn encode_numbers(records: &[&PositionEval], parents: &[Option<u32>], columns: &mut [Vec<u8>]) {
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
            push(if n == 0 { PVS_BEST } else { PVS_OTHER }, NARROW, evaluation.pvs.len() as u64 - 1);
            match n {
                0 => push(DEPTH_BEST, NARROW, evaluation.depth.into()),
                _ => push(DEPTH_OTHER, NARROW, (record.evaluations[0].depth - evaluation.depth).into()),
            }
            push(KNODES, WIDE, evaluation.knodes);
            let mut above = best;
            for (pv, score) in evaluation.pvs.iter().map(|pv| to_integer(pv.score)).enumerate() {
                match (pv, n, parent) {
                    (1.., _, _) => push(SCORE_NEXT_PV, SCORE, zigzag(turn.fold_wb(above - score, score - above))),
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
