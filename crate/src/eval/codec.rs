//! Evaluations as columns of a block.
//!
//! Decoding numbers is cheap, so a reader decodes those of the whole block at once. Lines are decoded record by record.

use shakmaty::{Color, Square};
#[cfg(feature = "write")]
use shakmaty::{Move, Position as _};

use super::numbers::{BlockNumbers, LINES, LOW_BITS};
use super::{Evaluation, PositionEval, Pv};
use crate::moves::{self, Cursors, LineInfo};
use crate::position::Position;
#[cfg(feature = "write")]
use crate::table::StoredRecord;
use crate::table::{Block, Coder, ColumnError, Columns, Record, RecordError, Sealed, out_of_range};

/// Maximum number of moves of all lines of a block. A record has at most [`PositionEval::MAX_PLIES`] moves, so a block
/// of the usual weight has at most half of this.
const MAX_BLOCK_PLIES: usize = 1 << 15;

/// The numbers of all evaluations of a block, and the places of their lines.
#[derive(Debug)]
pub struct BlockColumns {
    numbers: BlockNumbers,
    lines: Vec<RecordLines>,
}

/// The place of the lines of a record.
#[derive(Debug)]
struct RecordLines {
    /// The bytes left in the columns of the lines where those of the record begin.
    left: [u32; moves::COLUMNS],
    /// Number of moves.
    #[cfg(feature = "write")]
    plies: u32,
}

impl BlockColumns {
    /// Returns a reader at the lines of record `n`.
    fn cursors<'a>(&self, columns: &'a Columns, n: usize) -> Option<Cursors<'a>> {
        let left = self.lines.get(n)?.left;
        let mut rest = lines(columns);
        for (column, left) in rest.iter_mut().zip(left) {
            *column = &column[column.len() - left as usize..];
        }
        Some(Cursors::new(rest))
    }
}

/// Returns the columns of the lines.
fn lines(columns: &Columns) -> [&[u8]; moves::COLUMNS] {
    core::array::from_fn(|column| columns.bytes(LINES + column))
}

impl Sealed for PositionEval {}

impl Record for PositionEval {
    const BLOCK_WEIGHT: usize = 5_000 * 8;
    const KIND: &'static str = "evaluations";
    const COLUMNS: usize = LINES - Block::<PositionEval>::FIRST + moves::COLUMNS;
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
        let turn = |record: &&PositionEval| record.position.chess().turn();
        let turns: Vec<Color> = records.iter().map(turn).collect();
        let coder = &mut Coder::writer(columns);
        let numbers = BlockNumbers::code(coder, &turns, parents, Some(records))?;
        let mut out = moves::LineColumns::default();
        let mut plies = 0;
        for (n, (record, stored)) in records.iter().zip(stored).enumerate() {
            let pvs = record.evaluations.iter().flat_map(|eval| &eval.pvs);
            let lines = numbers.line_infos(n).zip(pvs.map(|pv| &pv.line[..]));
            let lines: Vec<(LineInfo, &[Move])> = lines.collect();
            let coded = stored.and_then(|stored| {
                let mut infos = stored.decoded.numbers.line_infos(stored.n);
                let is_same = lines.iter().all(|(info, _)| infos.next() == Some(*info));
                let cursors = stored.decoded.cursors(stored.columns, stored.n);
                cursors.filter(|_| is_same)
            });
            plies += moves::encode(record.position.chess(), &lines, coded, &mut out)?;
        }
        if plies > MAX_BLOCK_PLIES {
            return Err(out_of_range(LINES + moves::LENGTH, plies as u64));
        }
        for (column, bytes) in columns[LINES..].iter_mut().zip(out.columns) {
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
        turns: &[Color],
        parents: &[Option<u32>],
    ) -> Result<BlockColumns, ColumnError> {
        let coder = &mut Coder::reader(columns, LOW_BITS);
        let numbers = BlockNumbers::code(coder, turns, parents, None)?;
        let mut cursors = Cursors::new(lines(columns));
        let (mut lines, mut sum) = (Vec::with_capacity(turns.len()), 0);
        for n in 0..turns.len() {
            let left = cursors.left();
            let plies = cursors.skip(numbers.line_infos(n))?;
            sum += plies;
            if sum > MAX_BLOCK_PLIES {
                return Err(out_of_range(LINES + moves::LENGTH, sum as u64));
            }
            lines.push(RecordLines {
                left: left.map(|left| left as u32),
                #[cfg(feature = "write")]
                plies: plies as u32,
            });
        }
        match cursors.left().iter().position(|&left| left > 0) {
            None => Ok(BlockColumns { numbers, lines }),
            Some(column) => Err(ColumnError::Length {
                column: LINES + column,
            }),
        }
    }

    fn memory(decoded: &BlockColumns) -> usize {
        decoded.numbers.memory() + decoded.lines.len() * size_of::<RecordLines>()
    }

    #[cfg(feature = "write")]
    fn weights(decoded: &BlockColumns, totals: &mut [u64]) -> Vec<usize> {
        totals[0] += decoded.numbers.evaluations.len() as u64;
        totals[1] += decoded.numbers.scores.len() as u64;
        let weight = |(n, lines): (usize, &RecordLines)| {
            let pvs = decoded.numbers.line_infos(n).count();
            PositionEval::weight(decoded.numbers.of(n).len(), pvs, lines.plies as usize)
        };
        decoded.lines.iter().enumerate().map(weight).collect()
    }

    fn decode(
        decoded: &BlockColumns,
        columns: &Columns,
        n: usize,
        position: Position,
        _: &dyn Fn(usize) -> (Square, Square),
    ) -> Result<PositionEval, RecordError> {
        let cursors = decoded.cursors(columns, n);
        let mut cursors = cursors.ok_or(RecordError::Missing { n })?;
        let line_infos: Vec<LineInfo> = decoded.numbers.line_infos(n).collect();
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
