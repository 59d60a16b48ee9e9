//! A leaf page of the index: a list of the blocks of a range of keys, in one zstd frame.

use core::ops::Range;

use super::chunk::KeyRange;
use super::columns::{Bits, Columns, MAX_CONTENT, MAX_FRAME, Octaves};
use super::{Chunk, ChunkErrorKind, TableError};
use crate::position::Key;

const SEPARATOR_SHARED: usize = 0;
const SEPARATOR_LENGTH: usize = 1;
const SEPARATORS: usize = 2;
const LENGTHS: usize = 3;
const LOW_BITS: usize = 4;
const COLUMNS: usize = 5;

/// The code of the lengths of blocks.
const LENGTH: Octaves = Octaves { direct: 5, leading: 3 };

/// A page: its blocks in ascending order of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    at: Chunk,
    /// Offset of the first block in the file.
    start: u64,
    blocks: Vec<Entry>,
    /// All separators, one after another.
    separators: Vec<u8>,
}

/// A block of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// Range of the separator in `separators`.
    separator: Range<usize>,
    /// End of the block in the file.
    end: u64,
}

impl Page {
    /// The largest compressed page.
    pub const MAX_BYTES: usize = MAX_FRAME;

    /// Checks and decompresses a page.
    ///
    /// # Errors
    ///
    /// Bytes of another length or checksum, of another page, or of invalid content.
    pub fn parse(bytes: &[u8], at: &Chunk) -> Result<Page, TableError> {
        parse(at.unseal(bytes)?, at).map_err(|kind| at.error(kind))
    }

    /// Returns the block whose range contains `key`; `None` if the key is before the first block.
    pub fn block_of(&self, key: &Key) -> Option<Chunk> {
        let after = self.blocks.partition_point(|block| self.separators[block.separator.clone()] <= *key.as_bytes());
        Some(self.block(after.checked_sub(1)?))
    }

    /// Returns the blocks in ascending order of keys.
    pub fn blocks(&self) -> impl Iterator<Item = Chunk> {
        (0..self.blocks.len()).map(|n| self.block(n))
    }

    fn block(&self, n: usize) -> Chunk {
        let start = n.checked_sub(1).map_or(self.start, |before| self.blocks[before].end);
        let separator = |block: &Entry| self.separators[block.separator.clone()].to_vec();
        let until = self.blocks.get(n + 1).map(separator).or_else(|| self.at.keys.until.clone());
        let keys = KeyRange { from: separator(&self.blocks[n]), until };
        Chunk { file: self.at.file.clone(), range: start..self.blocks[n].end, keys }
    }

    /// Returns the approximate memory of the page, in bytes.
    pub fn memory(&self) -> usize {
        self.blocks.len() * size_of::<Entry>() + self.separators.len() + self.at.memory()
    }
}

fn parse(frame: &[u8], at: &Chunk) -> Result<Page, ChunkErrorKind> {
    let columns = Columns::open(frame, COLUMNS, 0)?;
    let mut lengths = columns.values(LENGTHS);
    let mut low_bits = Bits::new(&columns, LOW_BITS);
    let mut tails = columns.values(SEPARATOR_LENGTH);
    let mut rest = columns.values(SEPARATORS);
    let start = lengths.leb128()?;
    let mut page = Page { at: at.clone(), start, blocks: Vec::new(), separators: Vec::new() };
    let (mut last, mut end) = (0..0, start);
    for &shared in columns.bytes(SEPARATOR_SHARED) {
        let length = LENGTH.join(lengths.byte()?, &mut low_bits)?;
        end = end.saturating_add(length);
        if length == 0 || length > MAX_FRAME as u64 {
            return Err(lengths.out_of_range(length).into());
        }
        let head = last.start..last.start + usize::from(shared);
        if head.end > last.end || page.separators.len() > MAX_CONTENT {
            return Err(tails.out_of_range(shared.into()).into());
        }
        page.separators.extend_from_within(head);
        page.separators.extend_from_slice(rest.take(tails.byte()?.into())?);
        let (before, separator) = page.separators[last.start..].split_at(last.len());
        match page.blocks.len() {
            0 if separator != at.keys.from => return Err(ChunkErrorKind::Other),
            n if n > 0 && separator <= before => return Err(rest.out_of_range(n as u64).into()),
            _ => {}
        }
        last = last.end..page.separators.len();
        page.blocks.push(Entry { separator: last.clone(), end });
    }
    if page.blocks.is_empty() {
        return Err(rest.out_of_range(0).into());
    }
    // No two pages have the same range of keys, so the first and the last key are enough to identify the page.
    if !at.keys.contains(&page.separators[last]) {
        return Err(ChunkErrorKind::Other);
    }
    // Blocks come before the pages of their shard.
    if end > at.range.start {
        return Err(lengths.out_of_range(end).into());
    }
    for values in [lengths, tails, rest] {
        values.finish()?;
    }
    low_bits.finish()?;
    Ok(page)
}

/// Encodes a page of consecutive blocks, given as separators and lengths. The first block begins at offset `start` of
/// the shard.
#[cfg(feature = "write")]
pub(super) fn encode(start: u64, blocks: &[(Vec<u8>, u64)], level: i32) -> Result<Vec<u8>, super::ColumnError> {
    use super::columns::{BitWriter, compress};
    use crate::leb128;

    let mut columns = vec![Vec::new(); COLUMNS];
    leb128::push(&mut columns[LENGTHS], start);
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
