//! A leaf page of the index: the blocks of a stretch of keys, in one zstd frame.

use super::columns::{ColumnError, Columns};
use super::{Block, BlockRef, Chunk, TableError};
use crate::eval::Eval;
use crate::position::Key;

const SEPARATOR_SHARED: usize = 0;
const SEPARATOR_LENGTH: usize = 1;
const SEPARATORS: usize = 2;
const LENGTHS: usize = 3;
const CHECKSUMS: usize = 4;
const COLUMNS: usize = 5;

/// Where a page is, and the separator before its first key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRef {
    /// The page's bytes.
    pub chunk: Chunk,
    /// Not above the page's first key, above every key of the page before.
    pub separator: Vec<u8>,
}

/// A page: its blocks in ascending order of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    blocks: Vec<BlockRef>,
}

impl Page {
    /// No page is larger, compressed.
    pub const MAX_BYTES: usize = 1 << 20;

    /// Checks and decompresses a page.
    ///
    /// # Errors
    ///
    /// Bytes of another length or checksum than told, or that no writer makes.
    pub fn parse(bytes: &[u8], at: &PageRef) -> Result<Page, TableError> {
        at.chunk.check(bytes)?;
        let blocks = parse(bytes, at).map_err(|error| TableError::Columns { chunk: at.chunk.clone(), error })?;
        Ok(Page { blocks })
    }

    /// The block that holds the record of `key`, if there is one.
    pub fn block_of(&self, key: &Key) -> Option<&BlockRef> {
        let after = self.blocks.partition_point(|block| block.separator.as_slice() <= key.as_bytes());
        self.blocks.get(after.checked_sub(1)?)
    }

    /// The blocks in ascending order of keys.
    pub fn blocks(&self) -> &[BlockRef] {
        &self.blocks
    }
}

fn parse(bytes: &[u8], at: &PageRef) -> Result<Vec<BlockRef>, ColumnError> {
    let columns = Columns::open(bytes, COLUMNS)?;
    let mut lengths = columns.values(LENGTHS);
    let mut shared = columns.values(SEPARATOR_SHARED);
    let mut tails = columns.values(SEPARATOR_LENGTH);
    let mut separators = columns.values(SEPARATORS);
    let mut start = lengths.leb128()?;
    let mut last = at.separator.clone();
    let mut blocks: Vec<BlockRef> = Vec::new();
    for checksum in columns.bytes(CHECKSUMS).chunks(8) {
        let checksum = checksum.try_into().map_err(|_| ColumnError::Length { column: CHECKSUMS })?;
        let length = lengths.leb128()?;
        let end = start.checked_add(length).filter(|&end| {
            // Blocks stand before the pages of their shard.
            length > 0 && length <= Block::<Eval>::MAX_BYTES as u64 && end <= at.chunk.range.start
        });
        let end = end.ok_or_else(|| lengths.out_of_range(length))?;
        let keep = shared.byte()?;
        let tail = tails.byte()?;
        let head = last.get(..keep.into()).ok_or_else(|| shared.out_of_range(keep.into()))?;
        let separator = [head, separators.take(tail.into())?].concat();
        let ascends = if blocks.is_empty() { separator == at.separator } else { separator > last };
        if !ascends {
            return Err(separators.out_of_range(blocks.len() as u64));
        }
        last.clone_from(&separator);
        let chunk = Chunk { file: at.chunk.file.clone(), range: start..end, checksum: u64::from_le_bytes(checksum) };
        blocks.push(BlockRef { chunk, separator });
        start = end;
    }
    for values in [lengths, shared, tails, separators] {
        values.finish()?;
    }
    Ok(blocks)
}

/// Writes a page of blocks that follow one another in their shard.
#[cfg(feature = "write")]
pub(super) fn encode(blocks: &[BlockRef], level: i32) -> Result<Vec<u8>, ColumnError> {
    use super::columns::{compress, push_leb128};

    let mut columns = vec![Vec::new(); COLUMNS];
    let start = blocks.first().map_or(0, |block| block.chunk.range.start);
    push_leb128(&mut columns[LENGTHS], start);
    let mut last = blocks.first().map_or(&[][..], |block| &block.separator);
    for BlockRef { chunk, separator } in blocks {
        let shared = last.iter().zip(separator).take_while(|(a, b)| a == b).count();
        columns[SEPARATOR_SHARED].push(shared as u8);
        columns[SEPARATOR_LENGTH].push((separator.len() - shared) as u8);
        columns[SEPARATORS].extend_from_slice(&separator[shared..]);
        push_leb128(&mut columns[LENGTHS], chunk.len() as u64);
        columns[CHECKSUMS].extend_from_slice(&chunk.checksum.to_le_bytes());
        last = separator;
    }
    Ok(compress(&columns, level)?.0)
}
