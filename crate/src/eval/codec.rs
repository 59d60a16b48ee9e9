//! Evaluations as columns of a block.
//!
//! Decoding numbers is cheap, so a reader decodes those of the whole block at once. Lines are decoded record by record.

use shakmaty::{Color, Square};

use super::numbers::{BlockNumbers, NUMBERS};
#[cfg(feature = "write")]
use super::numbers::{check, encode_numbers};
use super::{Evaluation, PositionEval, Pv};
use crate::moves::{self, Cursors, LineError, LineInfo};
use crate::position::Position;
#[cfg(feature = "write")]
use crate::table::StoredRecord;
use crate::table::{ColumnError, Columns, Record, RecordError, Sealed};

/// Maximum number of moves of all lines of a block. A record has at most [`PositionEval::MAX_PLIES`] moves, so a block
/// of the usual weight has at most half of this.
const MAX_BLOCK_PLIES: usize = 1 << 15;

/// Lines can be decoded from every record whose number is a multiple of this; up to such a record others are skipped.
const STRIDE: usize = 16;

/// The numbers of all evaluations of a block, and places from which lines can be decoded.
#[derive(Debug)]
pub struct BlockColumns {
    numbers: BlockNumbers,
    /// The bytes left in the columns of the lines at each [`STRIDE`]th record.
    entries: Vec<[usize; moves::COLUMNS]>,
}

impl BlockColumns {
    /// Records the start of the lines of every [`STRIDE`]th record, and checks the number of moves of the lines.
    fn find_line_entries(&mut self, columns: &Columns, first: usize) -> Result<(), ColumnError> {
        let mut cursors = Cursors::new(lines(columns, first));
        let mut line_infos = Vec::new();
        let mut plies = 0;
        for n in 0..self.numbers.records() {
            if n % STRIDE == 0 {
                self.entries.push(cursors.left());
            }
            self.line_infos(n, &mut line_infos);
            plies += cursors
                .plies(&line_infos)
                .map_err(|error| column_error(first, error))?;
            if plies > MAX_BLOCK_PLIES {
                return Err(ColumnError::Value {
                    column: first + NUMBERS + moves::LENGTH,
                    found: plies as u64,
                });
            }
        }
        match cursors.left().iter().position(|&left| left > 0) {
            None => Ok(()),
            Some(column) => Err(ColumnError::Length {
                column: first + NUMBERS + column,
            }),
        }
    }

    /// Collects the PV numbers and depths of the lines of record `n`, and returns the cursors at these lines.
    fn cursors<'a>(
        &self,
        columns: &'a Columns,
        first: usize,
        n: usize,
        line_infos: &mut Vec<LineInfo>,
    ) -> Result<Cursors<'a>, RecordError> {
        let left = self
            .entries
            .get(n / STRIDE)
            .ok_or(RecordError::Missing { n })?;
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
        for numbers in self.numbers.of(n) {
            out.extend((0..numbers.pvs.len()).map(|pv| LineInfo {
                is_first_pv: pv == 0,
                depth: numbers.depth,
            }));
        }
    }
}

/// Converts an error in the lines of a record to an error of a column. `first` is the number of the first column of records.
fn column_error(first: usize, error: LineError) -> ColumnError {
    let column = |column| first + NUMBERS + column;
    match error {
        LineError::Ended { column: ended } => ColumnError::Length {
            column: column(ended),
        },
        LineError::Shared { shared, .. } => ColumnError::Value {
            column: column(moves::SHARED),
            found: shared as u64,
        },
        LineError::Plies { found } => ColumnError::Value {
            column: column(moves::LENGTH),
            found: found as u64,
        },
        // These are found when a record is decoded, as they take the rules of chess.
        LineError::Source { source: found, .. } => ColumnError::Value {
            column: column(moves::SOURCE),
            found: found as u64,
        },
        LineError::Rank { rank: found, .. } | LineError::Cost { found } => ColumnError::Value {
            column: column(moves::RANK),
            found: found as u64,
        },
    }
}

/// Returns the columns of the lines.
fn lines(columns: &Columns, first: usize) -> [&[u8]; moves::COLUMNS] {
    core::array::from_fn(|column| columns.bytes(first + NUMBERS + column))
}

impl Sealed for PositionEval {}

impl Record for PositionEval {
    const BLOCK_WEIGHT: usize = 5_000 * 8;
    const KIND: &'static str = "evaluations";
    const COLUMNS: usize = NUMBERS + moves::COLUMNS;
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
        let value = |(column, found)| ColumnError::Value {
            column: first + column,
            found,
        };
        records
            .iter()
            .try_for_each(|record| check(record))
            .map_err(value)?;
        encode_numbers(records, parents, columns);
        let mut out = moves::LineColumns::default();
        let mut plies = 0;
        let mut infos = Vec::new();
        for (record, stored) in records.iter().zip(stored) {
            let lines: Vec<(LineInfo, &[shakmaty::Move])> = record
                .evaluations
                .iter()
                .flat_map(|evaluation| {
                    evaluation
                        .pvs
                        .iter()
                        .enumerate()
                        .map(|(pv, Pv { line, .. })| {
                            (
                                LineInfo {
                                    is_first_pv: pv == 0,
                                    depth: evaluation.depth,
                                },
                                line.as_slice(),
                            )
                        })
                })
                .collect();
            let coded = stored.and_then(
                |StoredRecord {
                     decoded,
                     columns,
                     n,
                 }| {
                    let cursors = decoded.cursors(columns, first, *n, &mut infos).ok()?;
                    let is_same = lines
                        .iter()
                        .enumerate()
                        .all(|(i, (info, _))| infos.get(i) == Some(info));
                    is_same.then_some(cursors)
                },
            );
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
        totals[1] += self
            .evaluations
            .iter()
            .map(|evaluation| evaluation.pvs.len() as u64)
            .sum::<u64>();
    }

    fn decode_columns(
        columns: &Columns,
        first: usize,
        turns: &[Color],
        parents: &[Option<u32>],
    ) -> Result<BlockColumns, ColumnError> {
        let numbers = BlockNumbers::decode(columns, first, turns, parents)?;
        let mut decoded = BlockColumns {
            numbers,
            entries: Vec::new(),
        };
        decoded.find_line_entries(columns, first)?;
        Ok(decoded)
    }

    fn memory(decoded: &BlockColumns) -> usize {
        decoded.numbers.memory() + decoded.entries.len() * size_of::<[usize; moves::COLUMNS]>()
    }

    #[cfg(feature = "write")]
    fn weights(
        decoded: &BlockColumns,
        columns: &Columns,
        first: usize,
        totals: &mut [u64],
    ) -> Result<Vec<usize>, ColumnError> {
        totals[0] += decoded.numbers.evaluations.len() as u64;
        totals[1] += decoded.numbers.scores.len() as u64;
        let mut cursors = Cursors::new(lines(columns, first));
        let mut line_infos = Vec::new();
        let weight = |n| {
            decoded.line_infos(n, &mut line_infos);
            let plies = cursors
                .plies(&line_infos)
                .map_err(|error| column_error(first, error))?;
            Ok(PositionEval::weight(
                decoded.numbers.of(n).len(),
                line_infos.len(),
                plies,
            ))
        };
        (0..decoded.numbers.records()).map(weight).collect()
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
        let evaluations = decoded.numbers.of(n).iter().map(|numbers| Evaluation {
            depth: numbers.depth,
            knodes: numbers.knodes,
            pvs: numbers
                .pvs
                .clone()
                .zip(&mut lines)
                .map(|(pv, line)| Pv {
                    score: decoded.numbers.scores[pv],
                    line,
                })
                .collect(),
        });
        Ok(PositionEval {
            evaluations: evaluations.collect(),
            position,
        })
    }
}
