//! The parts of a table: header, index and data.
//!
//! A table begins with its header: the pieces, and for each of its one to eight parts the Huffman code of its values. The
//! sparse index, the block lengths and the compressed blocks of all parts follow. The last 16 bytes are a checksum.

use core::fmt;

use crate::name::{Metric, TableName};

/// Bytes of the checksum at the end of a table.
const CHECKSUM: u64 = 16;
/// Bit of a part whose values are all equal.
const SINGLE_VALUE: u8 = 128;
/// Bit of a part whose distances are numbers in a list.
const MAPPED: u8 = 2;
/// Bit of a part whose list has numbers of 16 bits.
const WIDE: u8 = 16;

/// Lengths of the parts of a table, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Length of the file.
    pub length: u64,
    /// Length of the header. The sparse index begins after the header.
    pub header: u64,
    /// Length of the header, the sparse index and the block lengths. The data begins after them.
    pub index: u64,
}

/// A file that is not a complete table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// The first bytes are not those of a table.
    Magic {
        /// Expected bytes.
        expected: [u8; 4],
        /// Found bytes.
        found: [u8; 4],
    },
    /// The length of a table is 16 more than a multiple of 64.
    Length {
        /// The length in bytes.
        found: u64,
    },
    /// The header extends beyond the end of the file.
    Header,
    /// The header announces more data than the file contains.
    Data {
        /// Announced length of the data in bytes.
        expected: u64,
        /// Length of the file in bytes.
        found: u64,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::Magic { expected, found } => {
                write!(
                    f,
                    "expected the first bytes {expected:02x?}, found {found:02x?}: the file is not a Syzygy table"
                )
            }
            LayoutError::Length { found } => {
                write!(
                    f,
                    "expected a length of 16 bytes more than a multiple of 64, found {found} bytes: the file is incomplete"
                )
            }
            LayoutError::Header => f.write_str("the header extends beyond the end of the file"),
            LayoutError::Data { expected, found } => {
                write!(f, "the header announces {expected} bytes of data, but the file has {found} bytes")
            }
        }
    }
}

impl core::error::Error for LayoutError {}

/// Returns the first bytes of tables of a metric.
fn magic(metric: Metric) -> [u8; 4] {
    match metric {
        Metric::Wdl => [0x71, 0xe8, 0x23, 0x5d],
        Metric::Dtz => [0xd7, 0x66, 0x0c, 0xa5],
    }
}

impl Layout {
    /// Reads the layout of a whole table.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not a complete table.
    pub fn of_table(name: &TableName, bytes: &[u8]) -> Result<Layout, LayoutError> {
        let expected = magic(name.metric());
        let found = *bytes.first_chunk().ok_or(LayoutError::Header)?;
        if found != expected {
            return Err(LayoutError::Magic { expected, found });
        }
        let length = bytes.len() as u64;
        if length % 64 != CHECKSUM {
            return Err(LayoutError::Length { found: length });
        }
        let (header, data) = header(name, bytes).ok_or(LayoutError::Header)?;
        let index = length.checked_sub(CHECKSUM + data).filter(|index| *index >= header);
        let index = index.ok_or(LayoutError::Data { expected: data, found: length })?;
        Ok(Layout { length, header, index })
    }
}

/// Returns the lengths of the header and of the data. `None` if the header is longer than the file.
fn header(name: &TableName, bytes: &[u8]) -> Option<(u64, u64)> {
    let byte = |at: usize| bytes.get(at).copied();
    let short = |at: usize| Some(usize::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?)));
    let files = if name.has_pawns() { 4 } else { 1 };
    let sides = if name.metric() == Metric::Wdl && !name.is_symmetric() { 2 } else { 1 };
    let order = 1 + usize::from(name.both_have_pawns());
    let mut at = 5 + files * (order + name.pieces());
    at += at & 1;
    let mut data = 0;
    let mut flags = Vec::new();
    for _ in 0..files * sides {
        let flag = byte(at)?;
        flags.push(flag);
        if flag & SINGLE_VALUE != 0 {
            at += 2;
            continue;
        }
        let block = 1_u64.checked_shl(byte(at + 1)?.into())?;
        let blocks = u32::from_le_bytes(*bytes.get(at + 4..)?.first_chunk()?);
        data += block.checked_mul(blocks.into())?.checked_next_multiple_of(64)?;
        let lengths = byte(at + 8)?.checked_sub(byte(at + 9)?)?;
        at += 10 + 2 * (usize::from(lengths) + 1);
        let symbols = short(at)?;
        at += 2 + 3 * symbols + (symbols & 1);
    }
    if name.metric() == Metric::Dtz {
        for flag in flags.into_iter().filter(|flag| flag & MAPPED != 0) {
            for _ in 0..4 {
                at += if flag & WIDE != 0 { 2 + 2 * short(at)? } else { 1 + usize::from(byte(at)?) };
            }
        }
        at += at & 1;
    }
    (at <= bytes.len()).then_some((at as u64, data))
}
