//! A block: some hundreds of records, in one zstd frame.

use super::columns::MAX_FRAME;
use super::forest::{self, Forest, Node, StepSquares};
use super::{Chunk, ChunkErrorKind, Columns, Record, RecordError, TableError};
use crate::position::{Key, KeyError, Position};

/// Maximum value of each total of a block. It limits the memory of a reader.
pub(crate) const MAX_TOTAL: usize = 1 << 16;

/// The key and the weight of a record, for a cutter.
#[cfg(feature = "write")]
#[derive(Clone, Debug)]
pub struct RecordWeight {
    /// The key of its position.
    pub key: Key,
    /// Its weight, for a [`Cutter`](super::Cutter).
    pub weight: usize,
    /// Its number in the stored order of its block.
    pub n: usize,
}

/// The codes of a record in a block, which an encoder of this record copies.
#[cfg(feature = "write")]
#[derive(Debug)]
pub struct StoredRecord<'a, R: Record> {
    pub(crate) decoded: &'a R::BlockColumns,
    pub(crate) columns: &'a Columns,
    pub(crate) n: usize,
}

/// A decompressed block. Positions and numbers of all records are decoded at once, the rest of a record on request.
#[derive(Debug)]
pub struct Block<R: Record> {
    chunk: Chunk,
    columns: Columns,
    forest: Forest,
    decoded: R::BlockColumns,
}

impl<R: Record> Block<R> {
    /// The largest compressed block.
    pub const MAX_BYTES: usize = MAX_FRAME;

    /// The number of the first column of the records; those of the positions come before it.
    pub(crate) const FIRST: usize = forest::COLUMNS;

    /// Checks and decompresses a block.
    ///
    /// # Errors
    ///
    /// Bytes of another length or checksum, of another block, or of invalid content.
    pub fn open(bytes: &[u8], at: &Chunk) -> Result<Block<R>, TableError> {
        let frame = at.unseal(bytes)?;
        let open = || {
            let columns = Columns::open(frame, Self::FIRST + R::COLUMNS, R::OPTIONAL_COLUMNS)?;
            let forest = Forest::decode(&columns)?;
            let turns: Vec<_> = forest.nodes.iter().map(|node| node.turn).collect();
            let decoded = R::decode_columns(&columns, &turns, &forest.parents)?;
            Ok((columns, forest, decoded))
        };
        match open() {
            // No two blocks share a key, so one position is enough to identify the block.
            Ok((_, Forest { nodes, .. }, _)) if !at.keys.contains(nodes[0].key().as_bytes()) => {
                Err(at.error(ChunkErrorKind::Other))
            }
            Ok((columns, forest, decoded)) => Ok(Block {
                chunk: at.clone(),
                columns,
                forest,
                decoded,
            }),
            Err(error) => Err(at.error(ChunkErrorKind::Columns(error))),
        }
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.forest.nodes.len()
    }

    /// Returns whether there are no records, which is so for no valid block.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the approximate memory of the block, in bytes.
    pub fn memory(&self) -> usize {
        self.columns.memory()
            + self.len() * (size_of::<Node>() + size_of::<Option<u32>>() + size_of::<StepSquares>())
            + R::memory(&self.decoded)
            + self.chunk.memory()
    }

    /// Returns the record of a position; `None` if it has none.
    ///
    /// # Errors
    ///
    /// The record is invalid.
    pub fn find(&self, position: &Position) -> Result<Option<R>, TableError> {
        let node = Node::new(position.chess());
        match self.forest.nodes.iter().position(|other| *other == node) {
            Some(n) => self.record(n).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the record of stored number `n`.
    ///
    /// # Errors
    ///
    /// The record is invalid.
    ///
    /// # Panics
    ///
    /// `n` is not below [`Block::len`].
    #[cfg(feature = "write")]
    pub fn get(&self, n: usize) -> Result<R, TableError> {
        self.record(n)
    }

    /// Returns the codes of the record of stored number `n`, not checked.
    #[cfg(feature = "write")]
    pub fn stored(&self, n: usize) -> StoredRecord<'_, R> {
        StoredRecord {
            decoded: &self.decoded,
            columns: &self.columns,
            n,
        }
    }

    /// Returns the key of every position, in stored order, not checked.
    #[cfg(feature = "write")]
    pub fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        self.forest.nodes.iter().map(Node::key)
    }

    /// Returns the key and the weight of every record, in ascending order of keys, to cut them into other blocks.
    ///
    /// # Errors
    ///
    /// A position occurs twice.
    #[cfg(feature = "write")]
    pub fn record_weights(&self) -> Result<Vec<RecordWeight>, TableError> {
        let weights = R::weights(&self.decoded, &mut vec![0; R::TOTALS.len()]);
        let mut records: Vec<RecordWeight> = self
            .keys()
            .zip(weights)
            .enumerate()
            .map(|(n, (key, weight))| RecordWeight { key, weight, n })
            .collect();
        records.sort_unstable_by_key(|record| record.key);
        match records.windows(2).find(|pair| pair[0].key == pair[1].key) {
            None => Ok(records),
            Some(pair) => {
                let fen = self.position(pair[0].n)?.to_string();
                Err(self.chunk.error(ChunkErrorKind::Duplicate { fen }))
            }
        }
    }

    /// Returns the block as an encoded block, to append to another table. `bytes` are its bytes.
    #[cfg(feature = "write")]
    pub fn reuse(&self, bytes: Vec<u8>) -> super::EncodedBlock {
        let mut totals = vec![0; R::TOTALS.len()];
        R::weights(&self.decoded, &mut totals);
        let one = self.forest.nodes[0].key();
        let (first, last) = self.keys().fold((one, one), |(first, last), key| {
            (first.min(key), last.max(key))
        });
        let Chunk { file, range, .. } = &self.chunk;
        let origin = Some(super::BlockOrigin {
            file: file.clone(),
            start: range.start,
        });
        let positions = self.len() as u64;
        super::EncodedBlock {
            bytes,
            positions,
            totals,
            origin,
            first,
            last,
        }
    }

    /// Returns every record in ascending order of keys, checked: canonical positions, each once.
    pub fn records(&self) -> impl Iterator<Item = Result<R, TableError>> + '_ {
        let mut decoded = self.decode_all();
        self.ascending().map(move |checked| {
            let (n, _) = checked?;
            decoded[n].take().map_or_else(|| self.record(n), Ok)
        })
    }

    /// Returns every record in stored order; `None` if it, or a record that it depends on, is invalid.
    pub fn decode_all(&self) -> Vec<Option<R>> {
        let (mut all, mut first) = (Vec::with_capacity(self.len()), 0);
        while first < self.len() {
            let is_next = |n: &usize| R::first_needed(&self.decoded, *n) != first;
            let end = (first + 1..self.len()).find(is_next);
            let end = end.unwrap_or(self.len());
            let mut records = Vec::new();
            // An invalid record is an error when the record is asked for.
            let _ = self.decode(first..end, &mut records);
            all.extend(records.into_iter().map(Some));
            all.resize_with(end, || None);
            first = end;
        }
        all
    }

    /// Returns every position in ascending order of keys, checked like [`Block::records`] but with nothing else
    /// decoded.
    pub fn positions(&self) -> impl Iterator<Item = Result<Position, TableError>> + '_ {
        self.ascending()
            .map(|checked| checked.map(|(_, position)| position))
    }

    /// Returns every position with its stored number, in ascending order of keys.
    fn ascending(&self) -> impl Iterator<Item = Result<(usize, Position), TableError>> + '_ {
        let mut order: Vec<(Key, usize)> = self
            .forest
            .nodes
            .iter()
            .enumerate()
            .map(|(n, node)| (node.key(), n))
            .collect();
        order.sort_unstable();
        let mut last: Option<Key> = None;
        order.into_iter().map(move |(key, n)| {
            let position = self.position(n)?;
            if last.replace(key) == Some(key) {
                return Err(self.chunk.error(ChunkErrorKind::Duplicate {
                    fen: position.to_string(),
                }));
            }
            Ok((n, position))
        })
    }

    fn position(&self, n: usize) -> Result<Position, TableError> {
        let node = &self.forest.nodes[n];
        let position = Position::from_setup(node.setup()).map_err(KeyError::Unplayable);
        position
            .and_then(|position| {
                if Node::new(position.chess()) == *node {
                    Ok(position)
                } else {
                    Err(KeyError::NotCanonical)
                }
            })
            .map_err(|error| self.chunk.error(ChunkErrorKind::Key(error)))
    }

    fn record(&self, n: usize) -> Result<R, TableError> {
        let mut records = Vec::new();
        self.decode(R::first_needed(&self.decoded, n)..n + 1, &mut records)?;
        records.pop().ok_or_else(|| {
            let fen = String::new();
            let error = RecordError::Missing { n };
            self.chunk.error(ChunkErrorKind::Record { fen, error })
        })
    }

    /// Decodes records that begin at a record that needs no earlier one.
    fn decode(
        &self,
        numbers: core::ops::Range<usize>,
        records: &mut Vec<R>,
    ) -> Result<(), TableError> {
        let first = numbers.start;
        let positions = numbers.map(|n| self.position(n));
        let positions: Vec<Position> = positions.collect::<Result<_, _>>()?;
        let step = |n: usize| self.forest.steps[n];
        R::decode(
            &self.decoded,
            &self.columns,
            first,
            &positions,
            &step,
            records,
        )
        .map_err(|error| {
            let fen = positions.get(records.len());
            let fen = fen.map_or_else(String::new, Position::to_string);
            self.chunk.error(ChunkErrorKind::Record { fen, error })
        })
    }
}
