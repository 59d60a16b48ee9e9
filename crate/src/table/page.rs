//! A leaf page of the index: a list of the blocks of a range of keys, in one zstd frame.
//!
//! The blocks of a page are in *runs*. The blocks of a run follow one another in one file. A database that was built at once
//! has pages of one run, in the file of the page. An update refers to the unchanged blocks of older files.

use super::chunk::{KeyRange, UNIT};
use super::columns::{Bits, Columns, MAX_CONTENT, MAX_FRAME, Octaves};
use super::hash::{ContentHash, HashList};
use super::shard_name::{HASH_BYTES, shard_name};
use super::{Chunk, ChunkErrorKind, TableError};
use crate::position::Key;

const SEPARATOR_SHARED: usize = 0;
const SEPARATOR_LENGTH: usize = 1;
const SEPARATORS: usize = 2;
const LENGTHS: usize = 3;
const LOW_BITS: usize = 4;
const RUN_BLOCKS: usize = 5;
const RUN_FILES: usize = 6;
const RUN_GAPS: usize = 7;
const FILES: usize = 8;
const HASHES: usize = 9;
const COLUMNS: usize = 10;

/// The code of the lengths of blocks, in units of [`UNIT`] bytes.
const LENGTH: Octaves = Octaves {
    direct: 5,
    leading: 3,
};

/// A page: its blocks in ascending order of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    at: Chunk,
    blocks: Vec<Entry>,
    /// All separators, one after another.
    separators: Vec<u8>,
    /// Names of the other files that contain blocks.
    files: Vec<String>,
    hashes: HashList,
}

/// A block of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// End of its separator in `separators`.
    separator: u32,
    /// Number of its file: 0 for the file of the page, else one more than the index in `files`.
    file: u32,
    /// Offset in the file.
    start: u64,
    length: u32,
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
        self.number_of(key).map(|n| self.block(n))
    }

    /// Returns the block whose range contains `key`, with its hash from the checked list; `None` if the key is before the first
    /// block.
    pub fn block_and_hash_of(&self, key: &Key, hashes: &[u8]) -> Option<(Chunk, ContentHash)> {
        let n = self.number_of(key)?;
        // A checked list has a hash for each block. No bytes have the default hash.
        Some((
            self.block(n),
            ContentHash::nth(hashes, n).unwrap_or_default(),
        ))
    }

    /// Returns the blocks in ascending order of keys.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = Chunk> {
        (0..self.blocks.len()).map(|n| self.block(n))
    }

    /// Returns the location of the hashes of its blocks, which are in the order of the blocks.
    pub fn hashes(&self) -> &HashList {
        &self.hashes
    }

    fn number_of(&self, key: &Key) -> Option<usize> {
        let (mut low, mut high) = (0, self.blocks.len());
        while low < high {
            let middle = low.midpoint(high);
            if *self.separator(middle) <= *key.as_bytes() {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low.checked_sub(1)
    }

    fn separator(&self, n: usize) -> &[u8] {
        let end = |n: usize| self.blocks[n].separator as usize;
        &self.separators[n.checked_sub(1).map_or(0, end)..end(n)]
    }

    fn block(&self, n: usize) -> Chunk {
        let Entry {
            file,
            start,
            length,
            ..
        } = self.blocks[n];
        let next = (n + 1 < self.blocks.len()).then(|| self.separator(n + 1).to_vec());
        let keys = KeyRange {
            from: self.separator(n).to_vec(),
            until: next.or_else(|| self.at.keys.until.clone()),
        };
        let other = (file as usize)
            .checked_sub(1)
            .and_then(|n| self.files.get(n));
        Chunk {
            file: other.unwrap_or(&self.at.file).clone(),
            range: start..start.saturating_add(length.into()),
            keys,
        }
    }

    /// Returns the approximate memory of the page, in bytes.
    pub fn memory(&self) -> usize {
        let files = self
            .files
            .iter()
            .map(|file| file.len() + size_of::<String>())
            .sum::<usize>();
        self.blocks.len() * size_of::<Entry>()
            + self.separators.len()
            + files
            + 2 * self.at.memory()
    }
}

fn parse(frame: &[u8], at: &Chunk) -> Result<Page, ChunkErrorKind> {
    let columns = Columns::open(frame, COLUMNS, 0)?;
    let mut lengths = columns.values(LENGTHS);
    let mut low_bits = Bits::new(&columns, LOW_BITS);
    let mut tails = columns.values(SEPARATOR_LENGTH);
    let mut rest = columns.values(SEPARATORS);
    let mut runs = [RUN_BLOCKS, RUN_FILES, RUN_GAPS].map(|column| columns.values(column));
    let names = columns.bytes(FILES).chunks(HASH_BYTES);
    let mut hashes = columns.values(HASHES);
    let count = columns.bytes(SEPARATOR_SHARED).len();
    let start = hashes.leb128()?;
    let list = start..start.saturating_add((count * ContentHash::BYTES) as u64);
    let Some(hash) = ContentHash::from_bytes(hashes.take(ContentHash::BYTES)?) else {
        return Err(hashes.out_of_range(start).into());
    };
    if columns.bytes(FILES).len() % HASH_BYTES != 0 {
        return Err(ChunkErrorKind::Columns(
            columns
                .values(FILES)
                .out_of_range(columns.bytes(FILES).len() as u64),
        ));
    }
    let mut page = Page {
        at: at.clone(),
        blocks: Vec::new(),
        separators: Vec::new(),
        files: names.map(shard_name).collect(),
        hashes: HashList {
            at: Chunk {
                range: list,
                ..at.clone()
            },
            hash,
        },
    };
    let mut last = 0..0;
    // The end of the last run in each file. Blocks left in the run, and its file.
    let mut ends = vec![0u64; page.files.len() + 1];
    let (mut left, mut file) = (0, 0);
    for &shared in columns.bytes(SEPARATOR_SHARED) {
        if left == 0 {
            let [blocks, number, gap] = [runs[0].leb128()?, runs[1].leb128()?, runs[2].leb128()?];
            (left, file) = (blocks, usize::try_from(number).unwrap_or(usize::MAX));
            let Some(end) = ends.get_mut(file).filter(|_| left > 0) else {
                return Err(runs[1].out_of_range(number).into());
            };
            *end = end.saturating_add(gap);
        }
        let length = LENGTH.join(lengths.byte()?, &mut low_bits)?;
        let length = length.saturating_mul(UNIT as u64);
        if length == 0 || length > MAX_FRAME as u64 {
            return Err(lengths.out_of_range(length).into());
        }
        let head = last.start..last.start + usize::from(shared);
        if head.end > last.end || page.separators.len() > MAX_CONTENT {
            return Err(tails.out_of_range(shared.into()).into());
        }
        page.separators.extend_from_within(head);
        page.separators
            .extend_from_slice(rest.take(tails.byte()?.into())?);
        let (before, separator) = page.separators[last.start..].split_at(last.len());
        match page.blocks.len() {
            0 if separator != at.keys.from => return Err(ChunkErrorKind::Other),
            n if n > 0 && separator <= before => return Err(rest.out_of_range(n as u64).into()),
            _ => {}
        }
        last = last.end..page.separators.len();
        let start = ends[file];
        ends[file] = start.saturating_add(length);
        page.blocks.push(Entry {
            separator: last.end as u32,
            file: file as u32,
            start,
            length: length as u32,
        });
        left -= 1;
    }
    if page.blocks.is_empty() {
        return Err(rest.out_of_range(0).into());
    }
    // No two pages have the same range of keys, so the first and the last key are enough to identify the page.
    if !at.keys.contains(&page.separators[last]) {
        return Err(ChunkErrorKind::Other);
    }
    // Blocks and lists come before the pages of their shard.
    let end = ends[0].max(page.hashes.at.range.end);
    if end > at.range.start || left != 0 {
        return Err(hashes.out_of_range(end).into());
    }
    for values in runs.into_iter().chain([lengths, tails, rest, hashes]) {
        values.finish()?;
    }
    low_bits.finish()?;
    Ok(page)
}

/// A block, for a page.
#[cfg(feature = "write")]
#[derive(Clone, Debug)]
pub(super) struct PlacedBlock {
    pub(super) separator: Vec<u8>,
    /// Hash in the name of its file; `None` for the file of the page.
    pub(super) file: Option<[u8; HASH_BYTES]>,
    /// Offset in the file.
    pub(super) start: u64,
    pub(super) length: u64,
    pub(super) hash: ContentHash,
}

/// Encodes a page of blocks in ascending order of keys. The list of their hashes begins at offset `list` of the shard. Returns
/// the page and the list.
#[cfg(feature = "write")]
pub(super) fn encode(
    list: u64,
    blocks: &[PlacedBlock],
    level: i32,
) -> Result<(Vec<u8>, Vec<u8>), super::ColumnError> {
    use super::columns::{BitWriter, compress};
    use crate::leb128;

    let mut columns = vec![Vec::new(); COLUMNS];
    let mut low_bits = BitWriter::default();
    let mut last: &[u8] = &[];
    let mut hashes = Vec::new();
    // Other files, and the end of the last run in each file.
    let (mut files, mut ends) = (Vec::new(), vec![0]);
    for PlacedBlock {
        separator,
        length,
        hash,
        ..
    } in blocks
    {
        let shared = last
            .iter()
            .zip(separator)
            .take_while(|(a, b)| a == b)
            .count();
        columns[SEPARATOR_SHARED].push(shared as u8);
        columns[SEPARATOR_LENGTH].push((separator.len() - shared) as u8);
        columns[SEPARATORS].extend_from_slice(&separator[shared..]);
        let units = length / UNIT as u64;
        let (symbol, low) = LENGTH.split(units);
        columns[LENGTHS].push(symbol);
        low_bits.push(units, low);
        hashes.extend_from_slice(&hash.to_bytes());
        last = separator;
    }
    for run in blocks.chunk_by(|a, b| a.file == b.file && a.start + a.length == b.start) {
        let PlacedBlock { file, start, .. } = run[0];
        let file = file.map_or(0, |file| {
            let n = files
                .iter()
                .position(|other| *other == file)
                .unwrap_or_else(|| {
                    files.push(file);
                    ends.push(0);
                    files.len() - 1
                });
            n + 1
        });
        leb128::push(&mut columns[RUN_BLOCKS], run.len() as u64);
        leb128::push(&mut columns[RUN_FILES], file as u64);
        leb128::push(&mut columns[RUN_GAPS], start - ends[file]);
        ends[file] = start + run.iter().map(|block| block.length).sum::<u64>();
    }
    columns[LOW_BITS] = low_bits.bytes;
    columns[FILES] = files.concat();
    leb128::push(&mut columns[HASHES], list);
    columns[HASHES].extend_from_slice(&ContentHash::of(&hashes).to_bytes());
    Ok((compress(&columns, level)?, hashes))
}
