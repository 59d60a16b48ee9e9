//! A leaf page of the index: the blocks of a stretch of keys, in one zstd frame.

use super::chunk::KeyRange;
use super::columns::{Bits, ColumnError, Columns, Octaves};
use super::{Block, Chunk, ChunkFault, TableError};
use crate::eval::Eval;
use crate::position::Key;

const SEPARATOR_SHARED: usize = 0;
const SEPARATOR_LENGTH: usize = 1;
const SEPARATORS: usize = 2;
const LENGTHS: usize = 3;
const LOW_BITS: usize = 4;
const COLUMNS: usize = 5;

/// How the lengths of blocks are told.
const LENGTH: Octaves = Octaves { direct: 5, leading: 3 };

/// A page: its blocks in ascending order of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    blocks: Vec<Chunk>,
}

impl Page {
    /// No page is larger, compressed.
    pub const MAX_BYTES: usize = 1 << 20;

    /// Checks and decompresses a page.
    ///
    /// # Errors
    ///
    /// Bytes of another length or checksum than told, of another page, or that no writer makes.
    pub fn parse(bytes: &[u8], at: &Chunk) -> Result<Page, TableError> {
        let frame = at.unseal(bytes)?;
        let blocks = parse(frame, at).map_err(|error| at.error(ChunkFault::Columns(error)))?;
        Ok(Page { blocks })
    }

    /// The block that holds the record of `key`, if there is one.
    pub fn block_of(&self, key: &Key) -> Option<&Chunk> {
        KeyRange::find(&self.blocks, key.as_bytes())
    }

    /// The blocks in ascending order of keys.
    pub fn blocks(&self) -> &[Chunk] {
        &self.blocks
    }
}

fn parse(frame: &[u8], at: &Chunk) -> Result<Vec<Chunk>, ColumnError> {
    let columns = Columns::open(frame, COLUMNS)?;
    let mut lengths = columns.values(LENGTHS);
    let mut low_bits = Bits::new(&columns, LOW_BITS);
    let mut tails = columns.values(SEPARATOR_LENGTH);
    let mut rest = columns.values(SEPARATORS);
    let mut start = lengths.leb128()?;
    let mut blocks: Vec<Chunk> = Vec::new();
    for &shared in columns.bytes(SEPARATOR_SHARED) {
        let length = LENGTH.join(lengths.byte()?, &mut low_bits)?;
        let end = start.checked_add(length).filter(|&end| {
            // Blocks stand before the pages of their shard.
            length > 0 && length <= Block::<Eval>::MAX_BYTES as u64 && end <= at.range.start
        });
        let end = end.ok_or_else(|| lengths.out_of_range(length))?;
        let last = blocks.last().map_or(&[][..], |block| &block.keys.from);
        let head = last.get(..shared.into()).ok_or_else(|| tails.out_of_range(shared.into()))?;
        let from = [head, rest.take(tails.byte()?.into())?].concat();
        let ascends = if blocks.is_empty() { from == at.keys.from } else { *from > *last };
        if !ascends || !at.keys.contains(&from) {
            return Err(rest.out_of_range(blocks.len() as u64));
        }
        if let Some(last) = blocks.last_mut() {
            last.keys.until = Some(from.clone());
        }
        let keys = KeyRange { from, until: at.keys.until.clone() };
        blocks.push(Chunk { file: at.file.clone(), range: start..end, keys });
        start = end;
    }
    for values in [lengths, tails, rest] {
        values.finish()?;
    }
    low_bits.finish()?;
    Ok(blocks)
}

/// Writes a page of blocks that follow one another from `start` of their shard on, told by separator and length.
#[cfg(feature = "write")]
pub(super) fn encode(start: u64, blocks: &[(Vec<u8>, u64)], level: i32) -> Result<Vec<u8>, ColumnError> {
    use super::columns::{BitWriter, compress, push_leb128};

    let mut columns = vec![Vec::new(); COLUMNS];
    push_leb128(&mut columns[LENGTHS], start);
    let mut low_bits = BitWriter::default();
    let mut last: &[u8] = &[];
    for (separator, length) in blocks {
        let shared = last.iter().zip(separator).take_while(|(a, b)| a == b).count();
        columns[SEPARATOR_SHARED].push(shared as u8);
        columns[SEPARATOR_LENGTH].push((separator.len() - shared) as u8);
        columns[SEPARATORS].extend_from_slice(&separator[shared..]);
        let (symbol, low) = LENGTH.split(*length);
        columns[LENGTHS].push(symbol);
        low_bits.push(*length, low);
        last = separator;
    }
    columns[LOW_BITS] = low_bits.bytes;
    Ok(compress(&columns, level)?.0)
}
