//! Evaluations as columns of a block.
//!
//! Decoding numbers is cheap, so a reader decodes those of the whole block at once. Lines are decoded record by record.

use core::ops::Range;

use shakmaty::{Color, Square};
#[cfg(feature = "write")]
use shakmaty::{Move, Position as _};

use super::numbers::{BlockNumbers, LINES, LOW_BITS};
use super::{Evaluation, PositionEval, Pv};
use crate::moves::{self, Cursors, RangeReader, Unit};
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
    streams: Vec<Stream>,
}

/// A stream of moves.
#[derive(Debug)]
struct Stream {
    records: Range<usize>,
    nibbles: Range<usize>,
}

/// The place of the lines of a record.
#[derive(Debug)]
struct RecordLines {
    /// The bytes left in the columns of the lines where those of the record begin.
    left: [u32; moves::MOVES],
    /// The number of its stream.
    stream: u32,
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

    /// Returns the stream of the moves of record `n`.
    fn stream(&self, n: usize) -> Option<&Stream> {
        self.streams.get(self.lines.get(n)?.stream as usize)
    }
}

/// Returns the columns of the lines without the streams.
fn lines(columns: &Columns) -> [&[u8]; moves::MOVES] {
    core::array::from_fn(|column| columns.bytes(LINES + column))
}

/// A stream of another block with its records: their columns, its nibbles, how many records and how many moves.
#[cfg(feature = "write")]
type Copied<'a> = ([&'a [u8]; moves::MOVES], Vec<u8>, usize, usize);

/// Returns the stream of another block that has the records from `n` on, unchanged.
#[cfg(feature = "write")]
fn copies<'a>(
    numbers: &BlockNumbers,
    records: &[&PositionEval],
    stored: &'a [Option<&StoredRecord<'_, PositionEval>>],
    n: usize,
) -> Option<Copied<'a>> {
    let first = stored[n]?;
    let (decoded, columns) = (first.decoded, first.columns);
    let Stream {
        records: of,
        nibbles,
    } = decoded.stream(first.n)?;
    // The last stream of a block may end early.
    let after = decoded.lines.get(of.end).filter(|_| of.start == first.n)?;
    let mut plies = 0;
    for (n, old) in (n..).zip(of.clone()) {
        let stored = (*stored.get(n)?)?;
        let lines = records[n]
            .evaluations
            .iter()
            .map(|evaluation| evaluation.plies());
        let moves = lines.sum::<usize>();
        // Lines have only become fewer or shorter.
        if stored.n != old
            || !core::ptr::eq(stored.columns, columns)
            || numbers.pvs(n) != decoded.numbers.pvs(old)
            || moves != decoded.lines[old].plies as usize
        {
            return None;
        }
        plies += moves;
    }
    let mut copied = lines(columns);
    for ((column, start), end) in copied
        .iter_mut()
        .zip(decoded.lines[of.start].left)
        .zip(after.left)
    {
        *column = &column[column.len() - start as usize..column.len() - end as usize];
    }
    let bytes = columns.bytes(LINES + moves::MOVES);
    let nibbles = nibbles.clone().map(|n| moves::nibble(bytes, n)).collect();
    Some((copied, nibbles, of.len(), plies))
}

impl Sealed for PositionEval {}

impl Record for PositionEval {
    const BLOCK_WEIGHT: usize = 6_500 * 8;
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
        let (mut plies, mut n) = (0, 0);
        while let Some(record) = records.get(n) {
            if let Some((columns, nibbles, copied, moves)) = copies(&numbers, records, stored, n)
                && out.copy(columns, nibbles)
            {
                n += copied;
                plies += moves;
                continue;
            }
            let pvs = record.evaluations.iter().flat_map(|eval| &eval.pvs);
            let lines: Vec<&[Move]> = pvs.map(|pv| &pv.line[..]).collect();
            plies += moves::encode(record.position.chess(), &lines, &mut out)?;
            n += 1;
        }
        if plies > MAX_BLOCK_PLIES {
            return Err(out_of_range(LINES + moves::LENGTH, plies as u64));
        }
        for (column, bytes) in columns[LINES..].iter_mut().zip(out.finish()) {
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
        let (mut streams, mut unit) = (Vec::new(), Unit::default());
        let (mut first, mut start) = (0, 0);
        for n in 0..turns.len() {
            let left = cursors.left();
            let (plies, coded) = cursors.skip(numbers.pvs(n))?;
            sum += plies;
            if sum > MAX_BLOCK_PLIES {
                return Err(out_of_range(LINES + moves::LENGTH, sum as u64));
            }
            lines.push(RecordLines {
                left: left.map(|left| left as u32),
                stream: streams.len() as u32,
                #[cfg(feature = "write")]
                plies: plies as u32,
            });
            if unit.add(coded) || n + 1 == turns.len() {
                let end = cursors.size(unit)?.saturating_add(start);
                streams.push(Stream {
                    records: first..n + 1,
                    nibbles: start..end,
                });
                (first, start, unit) = (n + 1, end, Unit::default());
            }
        }
        let is_whole = columns.bytes(LINES + moves::MOVES).len() == start.div_ceil(2);
        let unread = cursors.left().into_iter().map(|left| left > 0);
        match unread.chain([!is_whole]).position(|is_unread| is_unread) {
            None => Ok(BlockColumns {
                numbers,
                lines,
                streams,
            }),
            Some(column) => Err(ColumnError::Length {
                column: LINES + column,
            }),
        }
    }

    fn memory(decoded: &BlockColumns) -> usize {
        decoded.numbers.memory()
            + decoded.lines.len() * size_of::<RecordLines>()
            + decoded.streams.len() * size_of::<Stream>()
    }

    #[cfg(feature = "write")]
    fn weights(decoded: &BlockColumns, totals: &mut [u64]) -> Vec<usize> {
        totals[0] += decoded.numbers.evaluations.len() as u64;
        totals[1] += decoded.numbers.scores.len() as u64;
        let weight = |(n, lines): (usize, &RecordLines)| {
            let pvs = decoded.numbers.pvs(n);
            PositionEval::weight(decoded.numbers.of(n).len(), pvs, lines.plies as usize)
        };
        decoded.lines.iter().enumerate().map(weight).collect()
    }

    fn first_needed(decoded: &BlockColumns, n: usize) -> usize {
        decoded.stream(n).map_or(n, |stream| stream.records.start)
    }

    fn decode(
        decoded: &BlockColumns,
        columns: &Columns,
        first: usize,
        positions: &[Position],
        _: &dyn Fn(usize) -> (Square, Square),
        records: &mut Vec<PositionEval>,
    ) -> Result<(), RecordError> {
        let nibbles = decoded.stream(first).map(|stream| stream.nibbles.clone());
        let moves = columns.bytes(LINES + moves::MOVES);
        let mut stream = moves::Stream {
            reader: RangeReader::new(moves, nibbles.unwrap_or_default()),
            records: Vec::new(),
        };
        for (n, position) in (first..).zip(positions) {
            let cursors = decoded.cursors(columns, n);
            let mut cursors = cursors.ok_or(RecordError::Missing { n })?;
            let lines = cursors.decode(position.chess(), decoded.numbers.pvs(n), &mut stream)?;
            let mut lines = lines.iter().cloned();
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
            records.push(PositionEval {
                evaluations: evaluations.collect(),
                position: position.clone(),
            });
        }
        Ok(())
    }
}
