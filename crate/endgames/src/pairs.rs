//! The compressed values of a table.
//!
//! Values are numbered. A writer first replaces frequent pairs of neighbours by a symbol, again and again (recursive pairing), so
//! that a symbol stands for up to 256 values. It then writes the symbols with a canonical Huffman code into blocks of equal
//! length. The *sparse index* has an entry for every few values: a block, and the place of the value within the block. The
//! *block lengths* have the number of values of each block.

use core::cell::Cell;

use crate::error::{EndgameError, TableError};
use crate::header::{Fields, limited};

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
            .set(self.0.get().checked_sub(1).ok_or(TableError::STEPS)?);
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
                return Err(TableError::STEPS.into());
            }
            if place < 0 {
                // Block -1 does not exist.
                block = block.checked_sub(1).ok_or(TableError::STEPS)?;
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
                return Err(TableError::Bytes {
                    byte: at,
                    problem: "the block has fewer values than announced",
                });
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

/// Maximum length of a Huffman code in bits. A window of 64 bits then always contains a whole code.
const MAX_CODE: u64 = 32;

/// Name of the length of a code.
const CODE_LENGTH: &str = "the length of a Huffman code";

/// A canonical Huffman code: codes of equal length are consecutive numbers, and so are their symbols. Longer codes are smaller
/// numbers, if zeros follow them.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    /// Length of the shortest codes in bits.
    min: u32,
    /// The smallest code of each length, at the upper end of 64 bits.
    smallest: Vec<u64>,
    /// The symbol of the smallest code of each length.
    symbols: Vec<u16>,
}

impl Code {
    pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<Code, TableError> {
        let max = fields.limited(CODE_LENGTH, 1, 1, MAX_CODE)?;
        let min = fields.limited(CODE_LENGTH, 1, 1, max)?;
        let contradiction = TableError::Bytes {
            byte: fields.at as u64,
            problem: "the Huffman code has contradictory lengths",
        };
        let mut symbols = Vec::new();
        for _ in min..=max {
            symbols.push(fields.number(2)? as u16);
        }
        // The smallest code of the greatest length is zero. A code of a smaller length follows the last code of the next length.
        let mut smallest = vec![0_u64; symbols.len()];
        for at in (0..symbols.len() - 1).rev() {
            let longer =
                (smallest[at + 1] + u64::from(symbols[at])).checked_sub(symbols[at + 1].into());
            smallest[at] = longer.ok_or_else(|| contradiction.clone())? / 2;
        }
        let min = min as u32;
        for (length, code) in (min..).zip(&mut smallest) {
            if *code >> length != 0 {
                return Err(contradiction);
            }
            *code <<= u64::BITS - length;
        }
        Ok(Code {
            min,
            smallest,
            symbols,
        })
    }

    /// Returns the symbol at the upper end of the window, and the length of its code. The symbol may not exist.
    pub(crate) fn first(&self, window: u64) -> (u64, u32) {
        // The last code is zero, so that a code is always found.
        let at = self
            .smallest
            .iter()
            .position(|code| *code <= window)
            .unwrap_or_default();
        let length = self.min + at as u32;
        let after = (window - self.smallest[at]) >> (u64::BITS - length);
        (u64::from(self.symbols[at]) + after, length)
    }
}

/// Second symbol of a pair that is a value: the first symbol is the value.
const VALUE: u16 = 0xfff;
/// Maximum number of symbols. Symbols in pairs have 12 bits.
const MAX_SYMBOLS: u64 = VALUE as u64;
/// Maximum number of values of a symbol.
const MAX_VALUES: u16 = 256;

/// Symbols: values, and pairs of symbols.
#[derive(Clone, Debug)]
pub(crate) struct Symbols {
    /// The two symbols of each pair. The second symbol of a value is [`VALUE`].
    pairs: Vec<[u16; 2]>,
    /// Number of values of each symbol.
    pub(crate) counts: Vec<u16>,
}

impl Symbols {
    pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<Symbols, TableError> {
        let found = fields.limited("the number of symbols", 2, 1, MAX_SYMBOLS)?;
        let byte = fields.at as u64;
        let bytes = fields.take(3 * found as usize)?;
        fields.align();
        // Three bytes have two numbers of 12 bits.
        let pair = |[low, middle, high]: &[u8; 3]| {
            let [low, middle, high] = [*low, *middle, *high].map(u16::from);
            [low | (middle & 0xf) << 8, middle >> 4 | high << 4]
        };
        let pairs: Vec<[u16; 2]> = bytes.as_chunks().0.iter().map(pair).collect();
        let mut counts = vec![0; pairs.len()];
        for symbol in 0..found as u16 {
            count(&pairs, &mut counts, symbol, 0).map_err(|symbol| TableError::Pair {
                byte: byte + 3 * u64::from(symbol),
                symbol,
            })?;
        }
        Ok(Symbols { pairs, counts })
    }

    /// Returns the value of a symbol at a place among its values.
    pub(crate) fn value(&self, mut symbol: u16, mut place: u32) -> u16 {
        // A symbol has more values than its two symbols, so that the loop ends.
        loop {
            let [first, second] = self.pairs[usize::from(symbol)];
            if second == VALUE {
                return first;
            }
            let count = u32::from(self.counts[usize::from(first)]);
            if place < count {
                symbol = first;
            } else {
                place -= count;
                symbol = second;
            }
        }
    }
}

/// Counts the values of a symbol, which is `depth` levels inside of another. A count of zero is not known yet. Returns a symbol that
/// contains itself, a missing symbol or too many values as the error.
fn count(pairs: &[[u16; 2]], counts: &mut [u16], symbol: u16, depth: u16) -> Result<u16, u16> {
    let at = usize::from(symbol);
    let [first, second] = *pairs.get(at).ok_or(symbol)?;
    if counts[at] == 0 {
        // Each level has at least one more value than the next level.
        let values = match second {
            VALUE => 1,
            _ if depth == MAX_VALUES => return Err(symbol),
            _ => count(pairs, counts, first, depth + 1)? + count(pairs, counts, second, depth + 1)?,
        };
        counts[at] = Some(values)
            .filter(|values| *values <= MAX_VALUES)
            .ok_or(symbol)?;
    }
    Ok(counts[at])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn short_codes_are_larger_than_long_codes() {
        // Symbols 0 and 1 have three bits, symbol 2 has two bits, symbol 3 has one bit.
        let bytes = [3, 1, 3, 0, 2, 0, 0, 0];
        let code = Code::parse(&mut Fields::new(&bytes)).unwrap();
        let of =
            |text: &str| code.first(u64::from_str_radix(text, 2).unwrap() << (64 - text.len()));
        assert_eq!(
            [of("1"), of("01"), of("001"), of("000")],
            [(3, 1), (2, 2), (1, 3), (0, 3)]
        );
    }

    const A: [u16; 2] = [1, VALUE];

    fn counts(pairs: &[[u16; 2]]) -> Option<Vec<u16>> {
        let mut counts = vec![0; pairs.len()];
        (0..pairs.len() as u16)
            .all(|symbol| count(pairs, &mut counts, symbol, 0).is_ok())
            .then_some(counts)
    }

    #[test]
    fn symbols_count_the_values_of_their_pairs() {
        let doubled = |levels: u16| (0..levels).map(|n| [n + 1, n + 1]).chain([A]).collect();
        let valid: Vec<[u16; 2]> = doubled(8);
        assert_eq!(counts(&[[1, 2], [2, 2], A]), Some(vec![3, 2, 1]));
        assert_eq!(counts(&valid).unwrap()[0], 256);
        let too_many: Vec<[u16; 2]> = doubled(9);
        let chain: Vec<[u16; 2]> = (0..4000).map(|n| [n + 1, 4000]).chain([A]).collect();
        // A symbol in itself, a cycle, a missing symbol, and too many values.
        for pairs in [
            &[[0, 1], A][..],
            &[[1, 2], [0, 2], A],
            &[[1, 5], A],
            &too_many,
            &chain,
        ] {
            assert_eq!(counts(pairs), None);
        }
    }
}
