//! The compressed values of a table.
//!
//! Values are numbered. A writer first replaces frequent pairs of neighbours by a symbol, again and again (recursive pairing), so
//! that a symbol stands for up to 256 values. It then writes the symbols with a canonical Huffman code into blocks of equal
//! length. The *sparse index* has an entry for every few values: a block, and the place of the value within the block. The
//! *block lengths* have the number of values of each block.

use core::cell::Cell;

use crate::table_error::{Field, TableError};

/// Bytes of the fields before the Huffman code.
const FIXED: usize = 10;
/// Maximum length of a block in bytes, as a power of two.
const MAX_BLOCK_BITS: u8 = 10;
/// Maximum number of values between two entries of the sparse index, as a power of two.
const MAX_SPAN_BITS: u8 = 31;
/// Maximum length of a Huffman code in bits. A window of 64 bits then always contains a whole code.
const MAX_CODE: u8 = 32;
/// Second symbol of a pair that is a value: the first symbol is the value.
const VALUE: u16 = 0xfff;
/// Maximum number of symbols. Symbols in pairs have 12 bits.
const MAX_SYMBOLS: u16 = VALUE;
/// Maximum number of values of a symbol.
const MAX_VALUES: u16 = 256;
/// Bytes of an entry of the sparse index: a block in four bytes, and a place in two bytes.
const ENTRY: u64 = 6;
/// Bytes of the length of a block. A length is one less than the number of values.
const LENGTH: u64 = 2;
/// Block lengths that are read together. The first has a multiple of their bytes as its place in the file, so that all are in
/// one page.
const LENGTHS_TOGETHER: usize = 32;
/// Maximum number of blocks between the entry of the sparse index and the block with the value.
const MAX_WALK: u32 = 1 << 12;

/// Bytes of a header that are read in order.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    /// Next byte.
    pub(crate) at: usize,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Fields<'a> {
        Fields { bytes, at: 0 }
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], TableError> {
        let bytes = self.bytes.get(self.at..self.at + length).ok_or(TableError::Header)?;
        self.at += length;
        Ok(bytes)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, TableError> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn short(&mut self) -> Result<u16, TableError> {
        let bytes = self.take(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// Skips a byte if the next byte has an odd number.
    pub(crate) fn align(&mut self) {
        self.at += self.at & 1;
    }

    /// Reads a byte of at most `max`.
    fn limited(&mut self, field: Field, min: u8, max: u8) -> Result<u8, TableError> {
        let byte = self.at as u64;
        let found = self.byte()?;
        if (min..=max).contains(&found) {
            return Ok(found);
        }
        Err(TableError::Field { byte, field, min: min.into(), max: max.into(), found: found.into() })
    }
}

/// The reason why a value is not known.
#[derive(Clone, Debug)]
pub(crate) enum Stop<E> {
    /// The bytes are not in memory.
    Missing,
    /// The bytes cannot be read.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "only files of a folder are read during a probe"))]
    Failed(E),
    /// The bytes are not those of a table.
    Damaged(TableError),
}

impl<E> From<TableError> for Stop<E> {
    fn from(error: TableError) -> Stop<E> {
        Stop::Damaged(error)
    }
}

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
        self.0.set(self.0.get().checked_sub(1).ok_or(TableError::Steps)?);
        Ok(())
    }
}

/// A canonical Huffman code: codes of equal length are consecutive numbers, and so are their symbols. Longer codes are smaller
/// numbers, if zeros follow them.
#[derive(Clone, Debug)]
struct Code {
    /// Length of the shortest codes in bits.
    min: u8,
    /// The smallest code of each length, at the upper end of 64 bits.
    smallest: Vec<u64>,
    /// The symbol of the smallest code of each length.
    symbols: Vec<u16>,
}

impl Code {
    fn parse(fields: &mut Fields<'_>) -> Result<Code, TableError> {
        let max = fields.limited(Field::CodeLength, 1, MAX_CODE)?;
        let min = fields.limited(Field::CodeLength, 1, max)?;
        let byte = fields.at as u64;
        let symbols = (min..=max).map(|_| fields.short()).collect::<Result<Vec<u16>, TableError>>()?;
        // The smallest code of the greatest length is zero. A code of a smaller length follows the last code of the next length.
        let mut smallest = vec![0_u64; symbols.len()];
        for at in (0..symbols.len() - 1).rev() {
            let longer = (smallest[at + 1] + u64::from(symbols[at])).checked_sub(symbols[at + 1].into());
            smallest[at] = longer.ok_or(TableError::Code { byte })? / 2;
        }
        for (length, code) in (u32::from(min)..).zip(&mut smallest) {
            if *code >> length != 0 {
                return Err(TableError::Code { byte });
            }
            *code <<= u64::BITS - length;
        }
        Ok(Code { min, smallest, symbols })
    }

    /// Returns the symbol at the upper end of the window, and the length of its code. The symbol may not exist.
    fn first(&self, window: u64) -> (u64, u32) {
        // The last code is zero, so that a code is always found.
        let at = self.smallest.iter().position(|code| *code <= window).unwrap_or_default();
        let length = u32::from(self.min) + at as u32;
        (u64::from(self.symbols[at]) + ((window - self.smallest[at]) >> (u64::BITS - length)), length)
    }
}

/// Symbols: values, and pairs of symbols.
#[derive(Clone, Debug)]
struct Symbols {
    /// The two symbols of each pair. The second symbol of a value is [`VALUE`].
    pairs: Vec<[u16; 2]>,
    /// Number of values of each symbol.
    counts: Vec<u16>,
}

impl Symbols {
    fn parse(fields: &mut Fields<'_>) -> Result<Symbols, TableError> {
        let byte = fields.at as u64;
        let found = fields.short()?;
        if !(1..=MAX_SYMBOLS).contains(&found) {
            let field = Field::Symbols;
            return Err(TableError::Field { byte, field, min: 1, max: MAX_SYMBOLS.into(), found: found.into() });
        }
        let byte = fields.at as u64;
        let bytes = fields.take(3 * usize::from(found))?;
        fields.align();
        // Three bytes have two numbers of 12 bits.
        let pair = |[low, middle, high]: &[u8; 3]| {
            let [low, middle, high] = [*low, *middle, *high].map(u16::from);
            [low | (middle & 0xf) << 8, middle >> 4 | high << 4]
        };
        let pairs: Vec<[u16; 2]> = bytes.as_chunks().0.iter().map(pair).collect();
        let counts =
            counts(&pairs).map_err(|symbol| TableError::Pair { byte: byte + 3 * u64::from(symbol), symbol })?;
        Ok(Symbols { pairs, counts })
    }

    /// Returns the value of a symbol at a place among its values.
    fn value(&self, mut symbol: u16, mut place: u32) -> u16 {
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

/// Counts the values of each symbol. Returns a symbol that contains itself or too many values as the error.
fn counts(pairs: &[[u16; 2]]) -> Result<Vec<u16>, u16> {
    // A count of zero is not known yet.
    let mut counts = vec![0_u16; pairs.len()];
    // Symbols that need each other: each symbol contains the next symbol.
    let mut open: Vec<u16> = Vec::new();
    for root in 0..pairs.len() as u16 {
        open.push(root);
        while let Some(&symbol) = open.last() {
            let [first, second] = pairs[usize::from(symbol)];
            if second == VALUE {
                counts[usize::from(symbol)] = 1;
                open.pop();
                continue;
            }
            let count = |part: u16| counts.get(usize::from(part)).copied().ok_or(symbol);
            match (count(first)?, count(second)?) {
                // Each level has at least one more value than the next level.
                (0, _) | (_, 0) if open.len() > usize::from(MAX_VALUES) => return Err(symbol),
                (0, _) => open.push(first),
                (_, 0) => open.push(second),
                (a, b) if a + b > MAX_VALUES => return Err(symbol),
                (a, b) => {
                    counts[usize::from(symbol)] = a + b;
                    open.pop();
                }
            }
        }
    }
    Ok(counts)
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
    usual: u16,
    sparse_at: u64,
    lengths_at: u64,
    data_at: u64,
}

impl Pairs {
    /// Reads the description of `size` values. The places of the values follow later.
    pub(crate) fn parse(fields: &mut Fields<'_>, size: u64) -> Result<Pairs, TableError> {
        let mut fixed = Fields { at: fields.at + 1, ..fields.clone() };
        let block_bits = fixed.limited(Field::BlockBits, 0, MAX_BLOCK_BITS)?;
        let span_bits = fixed.limited(Field::SpanBits, 0, MAX_SPAN_BITS)?;
        let padding = fixed.byte()?;
        let byte = fixed.at as u64;
        let found = fixed.take(4)?;
        let blocks = u32::from_le_bytes([found[0], found[1], found[2], found[3]]);
        let max = u32::MAX - u32::from(u8::MAX);
        if !(1..=max).contains(&blocks) {
            let field = Field::Blocks;
            return Err(TableError::Field { byte, field, min: 1, max: max.into(), found: blocks.into() });
        }
        debug_assert_eq!(fixed.at, fields.at + FIXED - 2);
        let code = Code::parse(&mut fixed)?;
        let symbols = Symbols::parse(&mut fixed)?;
        fields.at = fixed.at;
        let (shortest, _) = code.first(u64::MAX);
        let known = u16::try_from(shortest).ok().filter(|symbol| usize::from(*symbol) < symbols.pairs.len());
        let usual = symbols.value(known.unwrap_or_default(), 0);
        let lengths = blocks + u32::from(padding);
        let (sparse_at, lengths_at, data_at) = (0, 0, 0);
        Ok(Pairs { size, block_bits, span_bits, blocks, lengths, code, symbols, usual, sparse_at, lengths_at, data_at })
    }

    /// Sets the place of the sparse index. Returns the byte after it.
    pub(crate) fn place_sparse_index(&mut self, at: u64) -> u64 {
        self.sparse_at = at;
        at + ENTRY * self.size.div_ceil(1 << self.span_bits)
    }

    /// Sets the place of the block lengths. Returns the byte after them.
    pub(crate) fn place_lengths(&mut self, at: u64) -> u64 {
        self.lengths_at = at;
        at + LENGTH * u64::from(self.lengths)
    }

    /// Sets the place of the blocks. Returns the byte after them.
    pub(crate) fn place_data(&mut self, at: u64) -> u64 {
        self.data_at = at;
        at + (u64::from(self.blocks) << self.block_bits)
    }

    /// The value of the shortest codes, which is frequent.
    pub(crate) fn usual(&self) -> u16 {
        self.usual
    }

    /// Memory in bytes, approximately.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Pairs>() + 6 * self.symbols.pairs.len() + 10 * self.code.symbols.len()
    }

    /// Returns a value. `read` fills its second argument with the bytes of the file from its first argument on.
    pub(crate) fn value<E>(
        &self,
        number: u64,
        steps: &Steps,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), Stop<E>>,
    ) -> Result<u16, Stop<E>> {
        let span = 1_u64 << self.span_bits;
        let mut entry = [0; ENTRY as usize];
        read(self.sparse_at + ENTRY * (number >> self.span_bits), &mut entry)?;
        let [a, b, c, d, place @ ..] = entry;
        let block = u32::from_le_bytes([a, b, c, d]);
        // The entry belongs to the value in the middle of the span.
        let from_middle = (number & (span - 1)).cast_signed() - (span / 2).cast_signed();
        let place = i64::from(u16::from_le_bytes(place)) + from_middle;
        let (block, place) = match self.find_block(block, place, steps, &mut read) {
            Err(Stop::Missing) => {
                // The block of the entry is often the block with the value.
                let mut bytes = [0; 1 << MAX_BLOCK_BITS];
                let _ = read(self.block_at(block.min(self.blocks - 1)), &mut bytes[..1 << self.block_bits]);
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
        self.data_at + (u64::from(block) << self.block_bits)
    }

    /// Finds the block that contains a place, which counts from the start of `block` and may be outside of it.
    fn find_block<E>(
        &self,
        mut block: u32,
        mut place: i64,
        steps: &Steps,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), Stop<E>>,
    ) -> Result<(u32, u32), Stop<E>> {
        let first = block;
        let mut buffer = [0; LENGTHS_TOGETHER * LENGTH as usize];
        // Bytes of the file in the buffer.
        let mut buffered = 0..0;
        let mut values_of = |block: u32| {
            let at = self.lengths_at + LENGTH * u64::from(block);
            if !buffered.contains(&at) {
                let end = self.lengths_at + LENGTH * u64::from(self.lengths);
                let start = at / buffer.len() as u64 * buffer.len() as u64;
                buffered = start.max(self.lengths_at)..(start + buffer.len() as u64).min(end);
                read(buffered.start, &mut buffer[..(buffered.end - buffered.start) as usize])?;
            }
            let place = (at - buffered.start) as usize;
            Ok::<i64, Stop<E>>(i64::from(u16::from_le_bytes([buffer[place], buffer[place + 1]])) + 1)
        };
        let damaged = |found: i64| {
            let (byte, max) = (self.lengths_at, u64::from(self.blocks) - 1);
            Stop::Damaged(TableError::Field {
                byte,
                field: Field::Block,
                min: 0,
                max,
                found: found.max(0).cast_unsigned(),
            })
        };
        loop {
            steps.take()?;
            if block.abs_diff(first) > MAX_WALK {
                return Err(TableError::Steps.into());
            }
            if place < 0 {
                block = block.checked_sub(1).ok_or_else(|| damaged(-1))?;
            }
            // The last entries of the sparse index count from blocks that do not exist.
            if block >= self.lengths {
                return Err(damaged(block.into()));
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
                return if block < self.blocks { Ok((block, place as u32)) } else { Err(damaged(block.into())) };
            }
        }
    }

    /// Finds the symbol that contains a place of a block, and the place within the symbol.
    fn find_symbol(&self, block: &[u8], at: u64, mut place: u32, steps: &Steps) -> Result<(u16, u32), TableError> {
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
            if symbol > max {
                return Err(TableError::Field { byte: at, field: Field::Symbol, min: 0, max, found: symbol });
            }
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    const A: [u16; 2] = [1, VALUE];

    #[test]
    fn symbols_count_the_values_of_their_pairs() {
        assert_eq!(counts(&[[1, 2], [2, 2], A]), Ok(vec![3, 2, 1]));
        let doubled: Vec<[u16; 2]> = (0..8).map(|n| [n + 1, n + 1]).chain([A]).collect();
        assert_eq!(counts(&doubled).unwrap()[0], 256);
    }

    #[test]
    fn symbols_that_contain_themselves_or_too_many_values_are_refused() {
        assert_eq!(counts(&[[0, 1], A]), Err(0));
        assert!(counts(&[[1, 2], [0, 2], A]).is_err());
        assert_eq!(counts(&[[1, 5], A]), Err(0), "no symbol 5");
        let doubled: Vec<[u16; 2]> = (0..9).map(|n| [n + 1, n + 1]).chain([A]).collect();
        assert_eq!(counts(&doubled), Err(0));
        let chain: Vec<[u16; 2]> = (0..4000).map(|n| [n + 1, 4000]).chain([A]).collect();
        assert!(counts(&chain).is_err());
    }

    #[test]
    fn short_codes_are_larger_than_long_codes() {
        // Symbols 0 and 1 have three bits, symbol 2 has two bits, symbol 3 has one bit.
        let bytes = [3, 1, 3, 0, 2, 0, 0, 0];
        let code = Code::parse(&mut Fields::new(&bytes)).unwrap();
        let of = |text: &str| code.first(u64::from_str_radix(text, 2).unwrap() << (64 - text.len()));
        assert_eq!([of("1"), of("01"), of("001"), of("000")], [(3, 1), (2, 2), (1, 3), (0, 3)]);
    }
}
