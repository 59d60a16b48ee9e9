//! The compressed values of a table.
//!
//! Values are numbered. A writer first replaces frequent pairs of neighbours by a symbol, again and again (recursive pairing), so
//! that a symbol stands for up to 256 values. It then writes the symbols with a canonical Huffman code into blocks of equal
//! length. The *sparse index* has an entry for every few values: a block, and the place of the value within the block. The
//! *block lengths* have the number of values of each block.

use core::cell::Cell;

use crate::error::{EndgameError, TableError};
use crate::header::{Fields, limited};
use crate::huffman::Code;
use crate::symbols::Symbols;

/// Maximum length of a block in bytes, as a power of two.
const MAX_BLOCK_BITS: u64 = 10;
/// Maximum number of values between two entries of the sparse index, as a power of two.
const MAX_SPAN_BITS: u64 = 31;
/// Bytes of an entry of the sparse index: a block in four bytes, and a place in two bytes.
const ENTRY: u64 = 6;
/// Bytes of the length of a block. A length is one less than the number of values.
const LENGTH: u64 = 2;
/// Block lengths that are read together. The first has a multiple of their bytes as its place in the file, so that all are in
/// one page.
const LENGTHS_TOGETHER: usize = 32;
/// Maximum number of blocks between the entry of the sparse index and the block with the value.
const MAX_WALK: u32 = 1 << 12;

/// The reason why a value is not known.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// The bytes are not in memory.
    Missing,
    /// The bytes cannot be read.
    #[cfg_attr(
        target_arch = "wasm32",
        expect(dead_code, reason = "only files of a folder are read during a probe")
    )]
    Failed(EndgameError),
    /// The bytes are not those of a table.
    Damaged(TableError),
}

impl From<TableError> for Stop {
    fn from(error: TableError) -> Stop {
        Stop::Damaged(error)
    }
}

/// Fills its second argument with the bytes of a table from its first argument on.
pub(crate) type Read<'a> = &'a dyn Fn(u64, &mut [u8]) -> Result<(), Stop>;

/// Maximum number of steps of a position with its moves. A position of two queens against a queen has some 2,400 replies, with
/// 700 symbols each.
const MAX_STEPS: u32 = 1 << 23;

/// Steps that a position may still take: symbols and block lengths that a probe reads.
#[derive(Debug)]
pub(crate) struct Steps(Cell<u32>);

impl Default for Steps {
    fn default() -> Steps {
        Steps(MAX_STEPS.into())
    }
}

impl Steps {
    fn take(&self) -> Result<(), TableError> {
        self.0
            .set(self.0.get().checked_sub(1).ok_or(TableError::Steps)?);
        Ok(())
    }
}

/// The compressed values of a part of a table.
#[derive(Clone, Debug)]
pub(crate) struct Pairs {
    /// Number of values.
    size: u64,
    block_bits: u8,
    span_bits: u8,
    blocks: u32,
    /// Number of block lengths. Some blocks that do not exist follow the blocks.
    lengths: u32,
    code: Code,
    symbols: Symbols,
    /// The value of the shortest codes.
    pub(crate) usual: u16,
    /// Places of sparse index, block lengths and data, which follow the header.
    pub(crate) places: [u64; 3],
}

impl Pairs {
    /// Reads the description of `size` values. The places of the values follow later.
    pub(crate) fn parse(fields: &mut Fields<'_>, size: u64) -> Result<Pairs, TableError> {
        // The flags.
        fields.byte()?;
        let block_bits = fields.limited(
            "the length of blocks as a power of two",
            1,
            0,
            MAX_BLOCK_BITS,
        )?;
        let span = "the span of the sparse index as a power of two";
        let span_bits = fields.limited(span, 1, 0, MAX_SPAN_BITS)?;
        let padding = fields.byte()?;
        let max = u32::MAX - u32::from(u8::MAX);
        let blocks = fields.limited("the number of blocks", 4, 1, max.into())? as u32;
        let code = Code::parse(fields)?;
        let symbols = Symbols::parse(fields)?;
        let (shortest, _) = code.first(u64::MAX);
        let known = u16::try_from(shortest)
            .ok()
            .filter(|symbol| usize::from(*symbol) < symbols.counts.len());
        let usual = symbols.value(known.unwrap_or_default(), 0);
        let lengths = blocks + u32::from(padding);
        Ok(Pairs {
            size,
            block_bits: block_bits as u8,
            span_bits: span_bits as u8,
            blocks,
            lengths,
            code,
            symbols,
            usual,
            places: [0; 3],
        })
    }

    /// Returns the lengths of sparse index, block lengths and data, in bytes.
    pub(crate) fn part_lengths(&self) -> [u64; 3] {
        [
            ENTRY * self.size.div_ceil(1 << self.span_bits),
            LENGTH * u64::from(self.lengths),
            u64::from(self.blocks) << self.block_bits,
        ]
    }

    /// Returns a value.
    pub(crate) fn value(&self, number: u64, steps: &Steps, read: Read<'_>) -> Result<u16, Stop> {
        let span = 1_u64 << self.span_bits;
        let mut entry = [0; ENTRY as usize];
        read(
            self.places[0] + ENTRY * (number >> self.span_bits),
            &mut entry,
        )?;
        let [a, b, c, d, place @ ..] = entry;
        let block = u32::from_le_bytes([a, b, c, d]);
        // The entry belongs to the value in the middle of the span.
        let from_middle = (number & (span - 1)).cast_signed() - (span / 2).cast_signed();
        let place = i64::from(u16::from_le_bytes(place)) + from_middle;
        let (block, place) = match self.find_block(block, place, steps, read) {
            Err(Stop::Missing) => {
                // The block of the entry is often the block with the value.
                let mut bytes = [0; 1 << MAX_BLOCK_BITS];
                let _ = read(
                    self.block_at(block.min(self.blocks - 1)),
                    &mut bytes[..1 << self.block_bits],
                );
                return Err(Stop::Missing);
            }
            found => found?,
        };
        let mut bytes = [0; 1 << MAX_BLOCK_BITS];
        let bytes = &mut bytes[..1 << self.block_bits];
        let at = self.block_at(block);
        read(at, bytes)?;
        let (symbol, place) = self.find_symbol(bytes, at, place, steps)?;
        Ok(self.symbols.value(symbol, place))
    }

    fn block_at(&self, block: u32) -> u64 {
        self.places[2] + (u64::from(block) << self.block_bits)
    }

    /// Finds the block that contains a place, which counts from the start of `block` and may be outside of it.
    fn find_block(
        &self,
        mut block: u32,
        mut place: i64,
        steps: &Steps,
        read: Read<'_>,
    ) -> Result<(u32, u32), Stop> {
        let (first, lengths_at) = (block, self.places[1]);
        let mut buffer = [0; LENGTHS_TOGETHER * LENGTH as usize];
        // Bytes of the file in the buffer.
        let mut buffered = 0..0;
        let mut values_of = |block: u32| {
            let at = lengths_at + LENGTH * u64::from(block);
            if !buffered.contains(&at) {
                let end = lengths_at + LENGTH * u64::from(self.lengths);
                let start = at / buffer.len() as u64 * buffer.len() as u64;
                buffered = start.max(lengths_at)..(start + buffer.len() as u64).min(end);
                read(
                    buffered.start,
                    &mut buffer[..(buffered.end - buffered.start) as usize],
                )?;
            }
            let place = (at - buffered.start) as usize;
            let less = u16::from_le_bytes([buffer[place], buffer[place + 1]]);
            Ok::<i64, Stop>(i64::from(less) + 1)
        };
        let max = u64::from(self.blocks) - 1;
        let in_range = |found| limited(lengths_at, "the number of a block", 0, max, found);
        loop {
            steps.take()?;
            if block.abs_diff(first) > MAX_WALK {
                return Err(TableError::Steps.into());
            }
            if place < 0 {
                // Block -1 does not exist.
                block = block.checked_sub(1).ok_or(TableError::Steps)?;
            }
            // The last entries of the sparse index count from blocks that do not exist.
            if block >= self.lengths {
                in_range(block.into())?;
            }
            let values = values_of(block)?;
            if place < 0 {
                place += values;
            } else if place >= values {
                place -= values;
                block += 1;
                continue;
            }
            if place >= 0 {
                in_range(block.into())?;
                return Ok((block, place as u32));
            }
        }
    }

    /// Finds the symbol that contains a place of a block, and the place within the symbol.
    fn find_symbol(
        &self,
        block: &[u8],
        at: u64,
        mut place: u32,
        steps: &Steps,
    ) -> Result<(u16, u32), TableError> {
        let (mut window, mut bits, mut rest) = (0_u64, 0, block);
        loop {
            steps.take()?;
            while bits <= u64::BITS - 8
                && let Some((byte, after)) = rest.split_first()
            {
                window |= u64::from(*byte) << (u64::BITS - 8 - bits);
                bits += 8;
                rest = after;
            }
            let (symbol, length) = self.code.first(window);
            if length > bits {
                // The block has fewer values than its length announces.
                return Err(TableError::Block { byte: at });
            }
            let max = self.symbols.counts.len() as u64 - 1;
            limited(at, "the number of a symbol", 0, max, symbol)?;
            let count = u32::from(self.symbols.counts[symbol as usize]);
            if place < count {
                return Ok((symbol as u16, place));
            }
            place -= count;
            window <<= length;
            bits -= length;
        }
    }
}
