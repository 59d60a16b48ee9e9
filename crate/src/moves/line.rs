//! The lines of one record as columns of small integers.

use shakmaty::{Chess, Move, Position as _};

use super::history::History;
use super::order::MoveOrder;
use super::prefix::LinePrefix;
use super::tree::Tree;

/// Properties of a line that are known before it is decoded.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineInfo {
    /// Whether it is the first PV of its evaluation.
    pub(crate) is_first_pv: bool,
    /// The depth of its evaluation.
    pub(crate) depth: u16,
}

/// Number of columns.
pub(crate) const COLUMNS: usize = WIDE + 1;

/// Number of moves shared with an earlier line: first the column for first PVs, then the column for other PVs.
pub(crate) const SHARED: usize = 0;
/// The number of that earlier line.
pub(crate) const SOURCE: usize = 2;
/// Lengths in moves: first the column of shallow lines, then that of deep ones.
pub(crate) const LENGTH: usize = 3;
/// The ranks of the moves that are not shared.
pub(crate) const RANK: usize = 5;
/// The four-byte numbers that escapes stand for.
pub(super) const WIDE: usize = 6;

/// A byte of this value stands for a four-byte number in the column of wide values.
const ESCAPE: u8 = u8::MAX;

/// The most moves of all lines of a record, shared ones included.
pub(crate) const MAX_PLIES: usize = 1 << 12;
/// The highest cost of decoding a record, see [`cost`].
pub(crate) const MAX_COST: usize = 1 << 17;
/// A record of this many moves never costs too much: no position has more than 270 legal moves.
#[cfg(feature = "write")]
pub(crate) const SAFE_PLIES: usize = MAX_COST / (POSITION_COST + 270);
/// The cost of a position by itself; one legal move costs 1.
const POSITION_COST: usize = 32;

/// Returns the cost of decoding a move from its rank: of the position, then of each of its `legal` moves. Shared moves
/// cost next to nothing.
fn cost(legal: usize) -> usize {
    POSITION_COST + legal
}

/// The columns of a block, written record after record.
#[cfg(any(feature = "write", test))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineColumns {
    /// Each ends in its own entropy table.
    pub(crate) columns: [Vec<u8>; COLUMNS],
}

#[cfg(any(feature = "write", test))]
impl LineColumns {
    fn put(&mut self, column: usize, value: usize) {
        if value < usize::from(ESCAPE) {
            self.columns[column].push(value as u8);
        } else {
            self.columns[column].push(ESCAPE);
            self.columns[WIDE].extend_from_slice(&(value as u32).to_le_bytes());
        }
    }
}

/// A reader's place in the columns of a block.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Cursors<'a> {
    rest: [&'a [u8]; COLUMNS],
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
    /// A move's rank is beyond the legal moves.
    #[error("rank {rank} of {legal} legal moves at ply {ply}")]
    Rank {
        /// Moves played before it.
        ply: usize,
        /// The rank found.
        rank: usize,
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

/// The numbers that come before the ranks of a line.
struct LineHeader {
    shared: usize,
    source: usize,
    length: usize,
}

/// Returns the column of the length of a line.
fn length_column(info: LineInfo) -> usize {
    LENGTH + usize::from(info.depth > 8)
}

/// Appends the lines of one record: those of its best evaluation first, each evaluation's best first. Returns how many
/// moves they have.
///
/// `coded` is at a decoded record that began with these lines, in the columns of another block. Its ranks are copied as far
/// as its lines have the same codes.
///
/// # Errors
///
/// The record is beyond the limits of the format: [`LineError::Plies`], [`LineError::Cost`]. A move is illegal:
/// [`LineError::Rank`].
#[cfg(any(feature = "write", test))]
pub(crate) fn encode(
    position: &Chess,
    lines: &[(LineInfo, &[Move])],
    mut coded: Option<Cursors<'_>>,
    out: &mut LineColumns,
) -> Result<usize, LineError> {
    let plies = lines.iter().map(|(_, line)| line.len()).sum();
    if plies > MAX_PLIES {
        return Err(LineError::Plies { found: plies });
    }
    let mut spent = 0;
    let mut history = History::default();
    let mut tree = Tree::default();
    for (i, &(info, line)) in lines.iter().enumerate() {
        let (node, shared) = tree.follow(line);
        let of = usize::from(!info.is_first_pv);
        if i > 0 {
            out.put(SHARED + of, shared);
        }
        if i > 1 && shared > 0 {
            out.put(SOURCE, tree.first_line(node));
        }
        out.put(length_column(info), line.len());
        let header = coded.as_mut().and_then(|coded| coded.header(i, info).ok());
        if header.is_none_or(|header| (header.shared, header.length) != (shared, line.len())) {
            // The ranks of the later lines depend on the moves of this line.
            coded = None;
        }
        if let Some(coded) = &mut coded {
            // Decoding has checked the moves and their cost.
            for _ in shared..line.len() {
                out.put(RANK, coded.take(RANK)?);
            }
        } else {
            let mut replay = Replay::new(position, &line[..shared]);
            let mut barred = tree.children(node);
            for (ply, m) in line.iter().enumerate().skip(shared) {
                let order = replay.order(&history, &barred);
                spent += cost(order.len());
                if spent > MAX_COST {
                    return Err(LineError::Cost { found: spent });
                }
                let Some(rank) = order.rank(*m) else {
                    return Err(LineError::Rank {
                        ply,
                        rank: order.len(),
                        legal: order.len(),
                    });
                };
                out.put(RANK, rank);
                replay.play(*m);
                barred.clear();
            }
        }
        if i + 1 < lines.len() {
            history.add(position.turn(), line);
            tree.insert(node, &line[shared..], i);
        }
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
    pub(crate) fn new(columns: [&'a [u8]; COLUMNS]) -> Cursors<'a> {
        Cursors { rest: columns }
    }

    /// Returns the bytes left in each column, from which a later reader can continue.
    pub(crate) fn left(&self) -> [usize; COLUMNS] {
        self.rest.map(<[u8]>::len)
    }

    fn take(&mut self, column: usize) -> Result<usize, LineError> {
        let ended = LineError::Ended { column };
        let (value, rest) = self.rest[column].split_first().ok_or(ended)?;
        self.rest[column] = rest;
        if *value < ESCAPE {
            return Ok(usize::from(*value));
        }
        let (wide, rest) = self.rest[WIDE]
            .split_first_chunk()
            .ok_or(LineError::Ended { column: WIDE })?;
        self.rest[WIDE] = rest;
        Ok(u32::from_le_bytes(*wide) as usize)
    }

    fn header(&mut self, i: usize, info: LineInfo) -> Result<LineHeader, LineError> {
        let of = usize::from(!info.is_first_pv);
        let shared = if i > 0 { self.take(SHARED + of)? } else { 0 };
        let source = if i > 1 && shared > 0 {
            self.take(SOURCE)?
        } else {
            0
        };
        let length = self.take(length_column(info))?;
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

    /// Skips the lines of a record and counts their moves.
    ///
    /// # Errors
    ///
    /// Returns an error if a column ended, if a line is shorter than its shared part, or if there are too many moves.
    pub(crate) fn skip(
        &mut self,
        infos: impl Iterator<Item = LineInfo>,
    ) -> Result<usize, LineError> {
        let mut plies = 0;
        for (i, info) in infos.enumerate() {
            let header = self.header(i, info)?;
            for _ in header.shared..header.length {
                self.take(RANK)?;
            }
            plies += header.length;
            if plies > MAX_PLIES {
                return Err(LineError::Plies { found: plies });
            }
        }
        Ok(plies)
    }

    /// Decodes the lines of the next record.
    ///
    /// # Errors
    ///
    /// The columns do not describe legal lines within the limits of the format.
    pub(crate) fn decode(
        &mut self,
        position: &Chess,
        infos: &[LineInfo],
    ) -> Result<Vec<Vec<Move>>, LineError> {
        let mut history = History::default();
        let mut tree = Tree::default();
        let mut lines: Vec<Vec<Move>> = Vec::new();
        let (mut plies, mut spent) = (0, 0);
        for (i, info) in infos.iter().enumerate() {
            let LineHeader {
                shared,
                source,
                length,
            } = self.header(i, *info)?;
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
                let rank = self.take(RANK)?;
                let order = replay.order(&history, &barred);
                spent += cost(order.len());
                if spent > MAX_COST {
                    return Err(LineError::Cost { found: spent });
                }
                let m = order
                    .pick(rank)
                    .map_err(|legal| LineError::Rank { ply, rank, legal })?;
                replay.play(m);
                line.push(m);
                barred.clear();
            }
            if i + 1 < infos.len() {
                history.add(position.turn(), &line);
                let (node, known) = tree.follow(&line);
                tree.insert(node, &line[known..], i);
            }
            lines.push(line);
        }
        Ok(lines)
    }
}
