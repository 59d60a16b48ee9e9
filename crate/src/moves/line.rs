//! The lines of records as columns of small integers and streams of moves.

use shakmaty::{Chess, Move, Position as _};

use super::history::History;
use super::order::MoveOrder;
use super::prefix::LinePrefix;
use super::range::RangeReader;
#[cfg(any(feature = "write", test))]
use super::range::RangeWriter;
use super::tree::Tree;
use crate::leb128;

/// Number of moves shared with an earlier line, then the number of that line.
const SHARED: usize = 0;
/// Lengths in moves.
pub(crate) const LENGTH: usize = 1;
/// The sizes of streams.
const SIZE: usize = 2;
/// The streams of the moves that are not shared. Each has the moves of one [`Unit`].
pub(crate) const MOVES: usize = 3;
/// Number of columns.
pub(crate) const COLUMNS: usize = 4;

/// Counts the records and their moves that are not shared, from the last end of a stream on. A stream ends after the
/// record that brings the sum to the maximum. An end costs half a byte, and a move of an earlier record the time to
/// decode it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unit(usize);

impl Unit {
    const MAX: usize = 28;

    /// Adds a record of so many moves, and returns whether the stream ends after it.
    pub(crate) fn add(&mut self, moves: usize) -> bool {
        self.0 += 1 + moves;
        self.0 >= Unit::MAX
    }

    /// Returns the usual number of nibbles of the stream.
    fn nibbles(self) -> usize {
        self.0 * 3 / 4
    }
}

/// The most moves of all lines of a record, shared ones included.
pub(crate) const MAX_PLIES: usize = 1 << 12;
/// The highest cost of decoding a record, see [`cost`].
pub(crate) const MAX_COST: usize = 1 << 17;
/// The most moves from an earlier record to a position that remembers its lines.
const MAX_LEAD: usize = 4;
/// A record of this many moves never costs too much: no position has more than 270 legal moves.
#[cfg(feature = "write")]
pub(crate) const SAFE_PLIES: usize = MAX_COST / (POSITION_COST + 270);
/// The cost of a position by itself; one legal move costs 1.
const POSITION_COST: usize = 32;

/// Returns the cost of decoding a move: of the position, then of each of its `legal` moves. Shared moves
/// cost next to nothing.
fn cost(legal: usize) -> usize {
    POSITION_COST + legal
}

/// The columns of a block, written record after record.
#[cfg(any(feature = "write", test))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineColumns {
    /// Each ends in its own entropy table. The streams have one nibble a byte.
    columns: [Vec<u8>; COLUMNS],
    stream: RangeWriter,
    unit: Unit,
    /// The records of the stream.
    records: Vec<Lines>,
}

#[cfg(any(feature = "write", test))]
impl LineColumns {
    fn put(&mut self, column: usize, value: usize) {
        leb128::push(&mut self.columns[column], value as u64);
    }

    /// Copies records of another block with their stream. Returns whether no stream has begun here.
    #[cfg(feature = "write")]
    pub(crate) fn copy(&mut self, columns: [&[u8]; MOVES], nibbles: Vec<u8>) -> bool {
        let is_free = self.unit == Unit::default();
        if is_free {
            for (column, copied) in self.columns.iter_mut().zip(columns) {
                column.extend_from_slice(copied);
            }
            self.columns[MOVES].extend(nibbles);
        }
        is_free
    }

    /// Ends the stream.
    fn end(&mut self) {
        self.records.clear();
        let nibbles = core::mem::take(&mut self.stream).finish();
        let usual = core::mem::take(&mut self.unit).nibbles();
        let more = nibbles.len().checked_sub(usual);
        let fewer = usual.saturating_sub(nibbles.len());
        self.put(SIZE, more.map_or_else(|| 2 * fewer - 1, |more| 2 * more));
        self.columns[MOVES].extend(nibbles);
    }

    /// Returns the columns, which end here.
    pub(crate) fn finish(mut self) -> [Vec<u8>; COLUMNS] {
        if self.unit != Unit::default() {
            self.end();
        }
        let nibbles = &mut self.columns[MOVES];
        let pairs = nibbles.chunks(2);
        *nibbles = pairs
            .map(|pair| pair.iter().rev().fold(0, |byte, nibble| byte << 4 | nibble))
            .collect();
        self.columns
    }
}

/// A position and its lines.
pub(super) type Lines = (Chess, Vec<Vec<Move>>);

/// A stream being read, and the records that were read from it.
pub(crate) struct Stream<'a> {
    pub(crate) reader: RangeReader<'a>,
    pub(crate) records: Vec<Lines>,
}

/// Returns the memory that a record begins with: the rests of the lines of earlier records of its stream that lead to its
/// position.
pub(super) fn remembered(position: &Chess, earlier: &[Lines]) -> History {
    let mut history = History::default();
    for (start, line) in earlier
        .iter()
        .flat_map(|(start, lines)| lines.iter().map(move |line| (start, line)))
    {
        let mut replay = start.clone();
        for (n, m) in line.iter().enumerate().take(MAX_LEAD) {
            replay.play_unchecked(*m);
            if replay.turn() == position.turn() && replay.board() == position.board() {
                history.add(position.turn(), &line[n + 1..]);
                break;
            }
        }
    }
    history
}

/// A reader's place in the columns of a block, without the streams.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Cursors<'a> {
    rest: [&'a [u8]; MOVES],
}

/// The reason why the lines of a record are invalid.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// A column ended within the record.
    #[error("line column {column} ends within a record")]
    Ended {
        /// Number of the column.
        column: usize,
    },
    /// A line refers to an earlier line that does not exist.
    #[error("line refers to line {source_line} of {lines}")]
    Source {
        /// Number of the line.
        source_line: usize,
        /// Number of earlier lines.
        lines: usize,
    },
    /// A line shares more moves with another line than the other line has, or than the line itself has.
    #[error("line of {length} moves shares {shared}")]
    Shared {
        /// Number of shared moves.
        shared: usize,
        /// Number of moves of the line.
        length: usize,
    },
    /// A stream would have a size below 0.
    #[error("a stream of moves has {fewer} nibbles fewer than the usual {usual}")]
    Size {
        /// The number of missing nibbles.
        fewer: usize,
        /// The usual number.
        usual: usize,
    },
    /// A move is none of the legal moves.
    #[error("the move at ply {ply} is none of {legal} legal moves")]
    Move {
        /// Moves played before it.
        ply: usize,
        /// Number of legal moves.
        legal: usize,
    },
    /// The lines of a record have more moves than the format allows.
    #[error("lines of {found} moves, expected at most {MAX_PLIES} in a record")]
    Plies {
        /// Moves of the lines so far.
        found: usize,
    },
    /// The lines of a record cost more to decode than the format allows.
    #[error("lines that cost {found} to decode, expected at most {MAX_COST} for a record")]
    Cost {
        /// The cost so far.
        found: usize,
    },
}

/// The numbers of a line.
struct LineHeader {
    shared: usize,
    source: usize,
    length: usize,
}

/// Appends the lines of one record: those of its best evaluation first, each evaluation's best first. Returns how many
/// moves they have.
///
/// # Errors
///
/// The record is beyond the limits of the format: [`LineError::Plies`], [`LineError::Cost`]. A move is illegal:
/// [`LineError::Move`].
#[cfg(any(feature = "write", test))]
pub(crate) fn encode(
    position: &Chess,
    lines: &[&[Move]],
    out: &mut LineColumns,
) -> Result<usize, LineError> {
    let plies = lines.iter().map(|line| line.len()).sum();
    if plies > MAX_PLIES {
        return Err(LineError::Plies { found: plies });
    }
    let (mut spent, mut coded) = (0, 0);
    let mut history = remembered(position, &out.records);
    let mut tree = Tree::default();
    for (i, &line) in lines.iter().enumerate() {
        let (node, shared) = tree.follow(line);
        if i > 0 {
            out.put(SHARED, shared);
        }
        if i > 1 && shared > 0 {
            out.put(SHARED, tree.first_line(node));
        }
        out.put(LENGTH, line.len());
        let mut replay = Replay::new(position, &line[..shared]);
        let mut barred = tree.children(node);
        for (ply, m) in line.iter().enumerate().skip(shared) {
            let order = replay.order(&history, &barred);
            spent += cost(order.len());
            if spent > MAX_COST {
                return Err(LineError::Cost { found: spent });
            }
            let legal = order.len();
            let written = order.write(*m, &mut out.stream);
            written.ok_or(LineError::Move { ply, legal })?;
            replay.play(*m);
            barred.clear();
        }
        coded += line.len() - shared;
        if i + 1 < lines.len() {
            history.add(position.turn(), line);
            tree.insert(node, &line[shared..], i);
        }
    }
    let lines = lines.iter().map(|line| line.to_vec());
    out.records.push((position.clone(), lines.collect()));
    if out.unit.add(coded) {
        out.end();
    }
    Ok(plies)
}

/// Sums up the decoding costs of the lines of a record.
#[cfg(feature = "write")]
#[derive(Debug, Default)]
pub(crate) struct DecodingCost {
    tree: Tree,
    lines: usize,
    /// The cost of the moves that are not shared, see [`MAX_COST`].
    pub(crate) cost: usize,
}

#[cfg(feature = "write")]
impl DecodingCost {
    /// Adds the next line of the record of `position`.
    pub(crate) fn add(&mut self, position: &Chess, line: &[Move]) {
        let (node, shared) = self.tree.follow(line);
        let mut replay = Replay::new(position, &line[..shared]);
        for m in &line[shared..] {
            self.cost += cost(replay.position.legal_moves().len());
            replay.play(*m);
        }
        self.tree.insert(node, &line[shared..], self.lines);
        self.lines += 1;
    }
}

/// A position of a line, reached by playing its moves.
struct Replay {
    position: Chess,
    prefix: LinePrefix,
}

impl Replay {
    fn new(position: &Chess, prefix: &[Move]) -> Replay {
        let mut replay = Replay {
            position: position.clone(),
            prefix: LinePrefix::default(),
        };
        for m in prefix {
            replay.play(*m);
        }
        replay
    }

    fn order(&self, history: &History, barred: &[Move]) -> MoveOrder {
        MoveOrder::new(&self.position, &self.prefix, history, barred)
    }

    /// Plays a legal move.
    fn play(&mut self, m: Move) {
        self.position.play_unchecked(m);
        self.prefix.push(m);
    }
}

impl<'a> Cursors<'a> {
    /// Creates a reader at the first record of a block.
    pub(crate) fn new(columns: [&'a [u8]; MOVES]) -> Cursors<'a> {
        Cursors { rest: columns }
    }

    /// Returns the bytes left in each column, from which a later reader can continue.
    pub(crate) fn left(&self) -> [usize; MOVES] {
        self.rest.map(<[u8]>::len)
    }

    fn take(&mut self, column: usize) -> Result<usize, LineError> {
        let value = leb128::take(&mut self.rest[column]);
        let value = value.and_then(|value| usize::try_from(value).ok());
        value.ok_or(LineError::Ended { column })
    }

    /// Reads the size of a stream in nibbles.
    pub(crate) fn size(&mut self, unit: Unit) -> Result<usize, LineError> {
        let (value, usual) = (self.take(SIZE)?, unit.nibbles());
        let (half, is_smaller) = (value / 2, value % 2 > 0);
        if !is_smaller {
            return Ok(usual.saturating_add(half));
        }
        let fewer = half + 1;
        usual
            .checked_sub(fewer)
            .ok_or(LineError::Size { fewer, usual })
    }

    fn header(&mut self, i: usize) -> Result<LineHeader, LineError> {
        let shared = if i > 0 { self.take(SHARED)? } else { 0 };
        let source = if i > 1 && shared > 0 {
            self.take(SHARED)?
        } else {
            0
        };
        let length = self.take(LENGTH)?;
        if length < shared {
            return Err(LineError::Shared { shared, length });
        }
        if length > MAX_PLIES {
            return Err(LineError::Plies { found: length });
        }
        Ok(LineHeader {
            shared,
            source,
            length,
        })
    }

    /// Skips the lines of a record. Returns the number of their moves, and the number of moves that are not shared.
    ///
    /// # Errors
    ///
    /// Returns an error if a column ended, if a line is shorter than its shared part, or if there are too many moves.
    pub(crate) fn skip(&mut self, lines: usize) -> Result<(usize, usize), LineError> {
        let (mut plies, mut coded) = (0, 0);
        for i in 0..lines {
            let header = self.header(i)?;
            coded += header.length - header.shared;
            plies += header.length;
            if plies > MAX_PLIES {
                return Err(LineError::Plies { found: plies });
            }
        }
        Ok((plies, coded))
    }

    /// Decodes the lines of the next record, whose moves come next in the stream, and adds them to its records. Returns the
    /// lines.
    ///
    /// # Errors
    ///
    /// The columns do not describe legal lines within the limits of the format.
    pub(crate) fn decode<'s>(
        &mut self,
        position: &Chess,
        count: usize,
        stream: &'s mut Stream<'_>,
    ) -> Result<&'s [Vec<Move>], LineError> {
        let mut history = remembered(position, &stream.records);
        let mut tree = Tree::default();
        let mut lines: Vec<Vec<Move>> = Vec::new();
        let (mut plies, mut spent) = (0, 0);
        for i in 0..count {
            let LineHeader {
                shared,
                source,
                length,
            } = self.header(i)?;
            plies += length;
            if plies > MAX_PLIES {
                return Err(LineError::Plies { found: plies });
            }
            let prefix = match lines.get(source) {
                Some(line) => line.get(..shared).ok_or(LineError::Shared {
                    shared,
                    length: line.len(),
                })?,
                None if shared == 0 => &[],
                None => {
                    return Err(LineError::Source {
                        source_line: source,
                        lines: lines.len(),
                    });
                }
            };
            let mut replay = Replay::new(position, prefix);
            let mut barred = tree.children(tree.follow(prefix).0);
            let mut line = prefix.to_vec();
            for ply in shared..length {
                let order = replay.order(&history, &barred);
                spent += cost(order.len());
                if spent > MAX_COST {
                    return Err(LineError::Cost { found: spent });
                }
                let legal = order.len();
                let m = order
                    .read(&mut stream.reader)
                    .ok_or(LineError::Move { ply, legal })?;
                replay.play(m);
                line.push(m);
                barred.clear();
            }
            if i + 1 < count {
                history.add(position.turn(), &line);
                let (node, known) = tree.follow(&line);
                tree.insert(node, &line[known..], i);
            }
            lines.push(line);
        }
        stream.records.push((position.clone(), lines));
        Ok(stream.records.last().map_or(&[], |(_, lines)| lines))
    }
}
