//! Columns: byte strings, each of one kind of value, stored one after another in one zstd frame.
//!
//! A zstd block ends at the end of each column, so that each column has its own entropy table. The frame is
//! single-segment and states its content size. Its content begins with the number of columns and the length of each
//! (LEB128).

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::chunk::UNIT;
use crate::leb128;

/// The largest content of a frame, checked before memory is allocated. Blocks of the usual weight have some 10 kB, the
/// largest record 130 kB.
pub(crate) const MAX_CONTENT: usize = 256 << 10;
/// The largest frame: that of the largest content if it does not compress.
pub(crate) const MAX_FRAME: usize = MAX_CONTENT + (4 << 10);
/// The most zstd blocks of a frame: each may have entropy tables, which take longer to build than the content to decode.
/// A writer makes some forty.
const MAX_ZSTD_BLOCKS: usize = 256;
/// The most columns of a frame.
pub(super) const MAX_COLUMNS: usize = 64;

/// Reasons why a frame of columns, or the values of a column, are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnError {
    /// The zstd frame cannot be decoded.
    #[error("the zstd frame cannot be decoded")]
    Decode,
    /// The columns cannot be compressed.
    #[error("zstd: {name}")]
    Compress {
        /// Error name of the compressor.
        name: &'static str,
    },
    /// The frame states a content larger than the format allows.
    #[error("content of {found} bytes, expected at most {MAX_CONTENT}")]
    TooLarge {
        /// Stated bytes.
        found: u64,
    },
    /// The frame has another number of columns than a frame of its kind.
    #[error("{found} columns, expected {expected}")]
    Columns {
        /// Columns of this kind of frame.
        expected: usize,
        /// Columns found.
        found: u64,
    },
    /// The frame has more zstd blocks than the format allows.
    #[error("frame of {found} zstd blocks, expected at most {MAX_ZSTD_BLOCKS}")]
    ZstdBlocks {
        /// Blocks found.
        found: usize,
    },
    /// The lines of a record are invalid.
    #[error(transparent)]
    Line(#[from] crate::moves::LineError),
    /// The columns do not fill the content exactly.
    #[error("the columns do not fill the content")]
    Lengths,
    /// A column ends before its last value, or goes on after it, or a number in it has no end.
    #[error("column {column} has another length than its values need")]
    Length {
        /// Number of the column.
        column: usize,
    },
    /// A value is out of range.
    #[error("column {column} has the value {found}, out of range")]
    Value {
        /// Number of the column.
        column: usize,
        /// The value.
        found: u64,
    },
}

/// The decompressed content of a frame and the ends of its columns.
#[derive(Debug)]
pub struct Columns {
    content: Vec<u8>,
    ends: Vec<usize>,
}

impl Columns {
    /// Decompresses a frame of `count` columns, or of so many without the last `optional`, which count as empty.
    pub(crate) fn open(
        frame: &[u8],
        count: usize,
        optional: usize,
    ) -> Result<Columns, ColumnError> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_CONTENT as u64);
        let mut rest = frame;
        // The messages of the decoder would make the WASM module larger.
        decoder.init(&mut rest).map_err(|_| ColumnError::Decode)?;
        let found = decoder.content_size();
        let size = usize::try_from(found)
            .ok()
            .filter(|&size| size <= MAX_CONTENT);
        let size = size.ok_or(ColumnError::TooLarge { found })?;
        check_zstd_blocks(rest)?;
        // One byte more than stated is enough to show that the content is longer.
        let is_whole = decoder.decode_blocks(&mut rest, BlockDecodingStrategy::UptoBytes(size + 1));
        let is_end = rest.len() < UNIT && rest.iter().all(|byte| *byte == 0);
        let is_whole = is_whole.map_err(|_| ColumnError::Decode)? && is_end;
        let content = decoder
            .collect()
            .filter(|content| is_whole && content.len() == size);
        let content = content.ok_or(ColumnError::Lengths)?;

        let mut header = Values::new(0, &content);
        let found = header.leb128()?;
        let least = count - optional;
        let count = if found == least as u64 { least } else { count };
        if found != count as u64 || count > MAX_COLUMNS {
            return Err(ColumnError::Columns {
                expected: count,
                found,
            });
        }
        let mut lengths = Vec::with_capacity(count);
        for _ in 0..count {
            lengths.push(header.leb128()?);
        }
        let mut end = content.len() - header.rest.len();
        let mut ends = vec![end];
        for length in lengths {
            let length = usize::try_from(length).map_err(|_| ColumnError::Lengths)?;
            end = end
                .checked_add(length)
                .filter(|&end| end <= content.len())
                .ok_or(ColumnError::Lengths)?;
            ends.push(end);
        }
        if end != content.len() {
            return Err(ColumnError::Lengths);
        }
        Ok(Columns { content, ends })
    }

    /// Returns the bytes of one column.
    pub(crate) fn bytes(&self, column: usize) -> &[u8] {
        match (self.ends.get(column), self.ends.get(column + 1)) {
            (Some(&start), Some(&end)) => &self.content[start..end],
            _ => &[],
        }
    }

    /// Reads one column value by value.
    pub(crate) fn values(&self, column: usize) -> Values<'_> {
        Values::new(column, self.bytes(column))
    }

    /// Returns the memory of the columns, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.content.len()
    }
}

/// Refuses a frame of too many zstd blocks. `rest` begins with the header of the first one. The decoder checks all else.
fn check_zstd_blocks(mut rest: &[u8]) -> Result<(), ColumnError> {
    let mut found = 0;
    // A header contains the size, the type (1 stands for a repeated byte), and a flag for the last block.
    while let Some((&[low, middle, high], after)) = rest.split_first_chunk() {
        found += 1;
        if found > MAX_ZSTD_BLOCKS {
            return Err(ColumnError::ZstdBlocks { found });
        }
        let size = usize::from(low >> 3) | usize::from(middle) << 5 | usize::from(high) << 13;
        let size = if low >> 1 & 3 == 1 { 1 } else { size };
        rest = after.get(size..).unwrap_or_default();
        if low & 1 == 1 {
            break;
        }
    }
    Ok(())
}

/// Reads a column from its beginning.
#[derive(Clone, Debug)]
pub(crate) struct Values<'a> {
    column: usize,
    rest: &'a [u8],
}

impl<'a> Values<'a> {
    fn new(column: usize, rest: &'a [u8]) -> Values<'a> {
        Values { column, rest }
    }

    /// Returns an error about a value of the column.
    pub(crate) fn out_of_range(&self, found: u64) -> ColumnError {
        out_of_range(self.column, found)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, ColumnError> {
        let (&byte, rest) = self.rest.split_first().ok_or(ColumnError::Length {
            column: self.column,
        })?;
        self.rest = rest;
        Ok(byte)
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], ColumnError> {
        let (bytes, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(ColumnError::Length {
                column: self.column,
            })?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Reads an unsigned LEB128 number.
    pub(crate) fn leb128(&mut self) -> Result<u64, ColumnError> {
        leb128::take(&mut self.rest).ok_or(ColumnError::Length {
            column: self.column,
        })
    }

    /// Checks that the column has been read to its end.
    pub(crate) fn finish(&self) -> Result<(), ColumnError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(ColumnError::Length {
                column: self.column,
            })
        }
    }
}

/// Numbers as a symbol and raw bits. Each small number has its own symbol. Larger numbers share a symbol by octave and
/// leading bits, and their lower bits follow in a bit string. Only symbols are entropy-coded: their distribution is
/// skewed, while the lower bits are noise.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Octaves {
    /// Each number below `1 << direct` has its own symbol.
    pub(crate) direct: u32,
    /// Number of bits after the leading bit that are part of the symbol; at most `direct`.
    pub(crate) leading: u32,
}

impl Octaves {
    /// Returns the symbol of `value`, and how many of its low bits follow.
    #[cfg(feature = "write")]
    pub(crate) fn split(self, value: u64) -> (u8, u32) {
        if value >> self.direct == 0 {
            return (value as u8, 0);
        }
        let octave = value.ilog2();
        let low = octave - self.leading;
        let class =
            ((octave - self.direct) << self.leading) + (value >> low) as u32 - (1 << self.leading);
        (((1 << self.direct) + class) as u8, low)
    }

    /// Returns the number of a symbol and the bits that follow.
    pub(crate) fn join(self, symbol: u8, bits: &mut Bits<'_>) -> Result<u64, ColumnError> {
        let Some(class) = u32::from(symbol).checked_sub(1 << self.direct) else {
            return Ok(u64::from(symbol));
        };
        let octave = self.direct + (class >> self.leading);
        let low = octave - self.leading;
        let lead = (1 << self.leading) + (class & ((1 << self.leading) - 1));
        if octave > 63 {
            return Err(out_of_range(bits.column, symbol.into()));
        }
        Ok(u64::from(lead) << low | bits.read(low)?)
    }
}

/// Maps signed numbers to unsigned numbers so that numbers near zero are small.
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Returns the number that [`zigzag`] converts to this number.
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Reads a string of bits, least significant first.
#[derive(Clone, Debug)]
pub(crate) struct Bits<'a> {
    column: usize,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Bits<'a> {
    pub(crate) fn new(columns: &'a Columns, column: usize) -> Bits<'a> {
        Bits {
            column,
            bytes: columns.bytes(column),
            at: 0,
        }
    }

    fn read(&mut self, count: u32) -> Result<u64, ColumnError> {
        let end = self.at + count as usize;
        let bytes = self.bytes.get(self.at / 8..end.div_ceil(8));
        let bytes = bytes.ok_or(ColumnError::Length {
            column: self.column,
        })?;
        let bits = bytes
            .iter()
            .rev()
            .fold(0u128, |bits, &byte| (bits << 8) | u128::from(byte));
        let value = (bits >> (self.at % 8)) & ((1 << count) - 1);
        self.at = end;
        Ok(value as u64)
    }

    /// Checks that the bit string has been read to its last byte.
    pub(crate) fn finish(&self) -> Result<(), ColumnError> {
        if self.bytes.len() == self.at.div_ceil(8) {
            Ok(())
        } else {
            Err(ColumnError::Length {
                column: self.column,
            })
        }
    }
}

/// Writes a string of bits, least significant first.
#[cfg(feature = "write")]
#[derive(Debug, Default)]
pub(crate) struct BitWriter {
    pub(crate) bytes: Vec<u8>,
    used: usize,
}

#[cfg(feature = "write")]
impl BitWriter {
    pub(crate) fn push(&mut self, value: u64, count: u32) {
        for n in 0..count {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((value >> n & 1) as u8) << (self.used % 8);
            }
            self.used += 1;
        }
    }
}

/// Reads the values of columns, or writes them, so that one function describes a layout for both. Functions take the value
/// to write, which a reader ignores, and return the value that was read or written.
pub(crate) enum Coder<'a> {
    /// The columns and the low bits.
    Reader(Vec<Values<'a>>, Bits<'a>),
    /// The columns and the low bits.
    #[cfg(feature = "write")]
    Writer(&'a mut [Vec<u8>], BitWriter),
}

#[cfg_attr(
    not(feature = "write"),
    expect(unused_variables, reason = "only writers need values")
)]
impl<'a> Coder<'a> {
    /// Creates a reader, with the number of the column of low bits.
    pub(crate) fn reader(columns: &'a Columns, low_bits: usize) -> Coder<'a> {
        let values = (0..MAX_COLUMNS).map(|column| columns.values(column));
        Coder::Reader(values.collect(), Bits::new(columns, low_bits))
    }

    /// Creates a writer.
    #[cfg(feature = "write")]
    pub(crate) fn writer(columns: &'a mut [Vec<u8>]) -> Coder<'a> {
        Coder::Writer(columns, BitWriter::default())
    }

    /// Codes a byte of a column.
    pub(crate) fn byte(&mut self, column: usize, value: u8) -> Result<u8, ColumnError> {
        match self {
            Coder::Reader(columns, _) => columns[column].byte(),
            #[cfg(feature = "write")]
            Coder::Writer(columns, _) => {
                columns[column].push(value);
                Ok(value)
            }
        }
    }

    /// Codes a number: its symbol in a column, its low bits after those of the numbers before.
    pub(crate) fn number(
        &mut self,
        column: usize,
        octaves: Octaves,
        value: u64,
    ) -> Result<u64, ColumnError> {
        match self {
            Coder::Reader(columns, bits) => octaves.join(columns[column].byte()?, bits),
            #[cfg(feature = "write")]
            Coder::Writer(columns, bits) => {
                let (symbol, low) = octaves.split(value);
                columns[column].push(symbol);
                bits.push(value, low);
                Ok(value)
            }
        }
    }

    /// Codes a signed number: its symbol contains the sign, as lowest bit.
    pub(crate) fn signed(
        &mut self,
        column: usize,
        octaves: Octaves,
        value: i64,
    ) -> Result<i64, ColumnError> {
        match self {
            Coder::Reader(columns, bits) => {
                let symbol = columns[column].byte()?;
                let number = octaves.join(symbol >> 1, bits)?;
                let number = i64::try_from(number).map_err(|_| out_of_range(column, number))?;
                Ok(if symbol & 1 == 1 { -number } else { number })
            }
            #[cfg(feature = "write")]
            Coder::Writer(columns, bits) => {
                let (symbol, low) = octaves.split(value.unsigned_abs());
                columns[column].push(symbol << 1 | u8::from(value < 0));
                bits.push(value.unsigned_abs(), low);
                Ok(value)
            }
        }
    }

    /// Checks that columns end here, or writes the column of low bits.
    pub(crate) fn finish(
        &mut self,
        mut columns: impl Iterator<Item = usize>,
        low_bits: usize,
    ) -> Result<(), ColumnError> {
        match self {
            Coder::Reader(values, bits) => {
                columns.try_for_each(|column| match column {
                    _ if column == low_bits => Ok(()),
                    _ => values[column].finish(),
                })?;
                bits.finish()
            }
            #[cfg(feature = "write")]
            Coder::Writer(columns, bits) => {
                columns[low_bits] = core::mem::take(&mut bits.bytes);
                Ok(())
            }
        }
    }
}

/// Returns an error about a value of a column.
pub(crate) fn out_of_range(column: usize, found: u64) -> ColumnError {
    ColumnError::Value { column, found }
}

/// Compresses columns to a sealed frame.
#[cfg(feature = "write")]
pub(crate) fn compress(columns: &[Vec<u8>], level: i32) -> Result<Vec<u8>, ColumnError> {
    use std::cell::RefCell;

    use zstd_safe::{CCtx, get_error_name};

    let mut header = Vec::new();
    leb128::push(&mut header, columns.len() as u64);
    for column in columns {
        leb128::push(&mut header, column.len() as u64);
    }
    let size = header.len() + columns.iter().map(Vec::len).sum::<usize>();
    if size > MAX_CONTENT {
        return Err(ColumnError::TooLarge { found: size as u64 });
    }
    let zstd = |code| ColumnError::Compress {
        name: get_error_name(code),
    };
    thread_local! {
        /// Made once a thread: its tables take as long to have as a block to compress.
        static CONTEXT: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
    }
    CONTEXT.with_borrow_mut(|context| {
        compress_with(context, &header, columns, size, level).map_err(zstd)
    })
}

/// Compresses columns and their header to a sealed frame.
#[cfg(feature = "write")]
fn compress_with(
    context: &mut zstd_safe::CCtx<'static>,
    header: &Vec<u8>,
    columns: &[Vec<u8>],
    size: usize,
    level: i32,
) -> Result<Vec<u8>, usize> {
    use zstd_safe::zstd_sys::ZSTD_EndDirective::{ZSTD_e_end, ZSTD_e_flush};
    use zstd_safe::{CParameter, InBuffer, OutBuffer, ResetDirective, compress_bound};

    // Clears the state of an earlier compression.
    context.reset(ResetDirective::SessionAndParameters)?;
    context.set_parameter(CParameter::CompressionLevel(level))?;
    // Columns have few repetitions: the shorter matches that the level would find cost more than they save (6 % of the
    // size of a database) and are slow to decode.
    context.set_parameter(CParameter::MinMatch(6))?;
    context.set_pledged_src_size(Some(size as u64))?;
    // A zstd block header has three bytes; a zstd block may end at every column and at the header.
    let mut frame = vec![0; compress_bound(size) + 16 * (columns.len() + 2)];
    let mut output = OutBuffer::around(&mut frame[..]);
    let last = columns.iter().rposition(|column| !column.is_empty());
    for (n, column) in core::iter::once(header).chain(columns).enumerate() {
        let end = if n == last.map_or(0, |last| last + 1) {
            ZSTD_e_end
        } else {
            ZSTD_e_flush
        };
        if !column.is_empty() {
            let mut input = InBuffer::around(column);
            while context.compress_stream2(&mut output, &mut input, end)? != 0 {}
        }
    }
    let length = output.pos();
    frame.truncate(length);
    super::chunk::seal(&mut frame);
    Ok(frame)
}
