//! Reasons why a file is not a table.

use core::fmt;

use crate::layout::Layout;

/// A number in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// Length of the blocks, as a power of two.
    BlockBits,
    /// Number of values between two entries of the sparse index, as a power of two.
    SpanBits,
    /// Number of blocks.
    Blocks,
    /// Length of a Huffman code in bits.
    CodeLength,
    /// Number of symbols.
    Symbols,
    /// Block of a value.
    Block,
    /// Symbol of a value.
    Symbol,
    /// Value that stands for win, draw or loss.
    Outcome,
    /// Number of a distance in the list of distances.
    Distance,
}

impl Field {
    fn name(self) -> &'static str {
        match self {
            Field::BlockBits => "the length of blocks as a power of two",
            Field::SpanBits => "the span of the sparse index as a power of two",
            Field::Blocks => "the number of blocks",
            Field::CodeLength => "the length of a Huffman code",
            Field::Symbols => "the number of symbols",
            Field::Block => "the number of a block",
            Field::Symbol => "the number of a symbol",
            Field::Outcome => "the value of a position",
            Field::Distance => "the number of a distance",
        }
    }
}

/// A file that is not a table, or is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
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
    /// The header extends beyond the end of the file, or is longer than any header.
    Header,
    /// The header announces another length of the file.
    Data {
        /// Announced length of the file in bytes.
        expected: u64,
        /// Length of the file in bytes.
        found: u64,
    },
    /// The header is not that of the index.
    Layout {
        /// Lengths of the index.
        expected: Layout,
        /// Lengths of the header.
        found: Layout,
    },
    /// The flags of the header are not those of the pieces.
    Flags {
        /// Expected flags.
        expected: u8,
        /// Found flags.
        found: u8,
    },
    /// The pieces are not those of the name, or not in groups.
    Pieces {
        /// First byte of the pieces.
        byte: u64,
    },
    /// A Huffman code has contradictory lengths.
    Code {
        /// First byte of the code.
        byte: u64,
    },
    /// A symbol contains itself, a missing symbol or too many values.
    Pair {
        /// First byte of the symbol.
        byte: u64,
        /// Number of the symbol.
        symbol: u16,
    },
    /// A number is out of its range.
    Field {
        /// First byte of the number, of its list or of its block.
        byte: u64,
        /// The number.
        field: Field,
        /// Minimum.
        min: u64,
        /// Maximum.
        max: u64,
        /// The found number.
        found: u64,
    },
    /// A block contains fewer values than announced.
    Block {
        /// First byte of the block.
        byte: u64,
    },
    /// A position takes too many steps.
    Steps,
    /// The table contains the distances of neither side, or contradicts the table of its results.
    Distances,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Magic { expected, found } => {
                let [expected, found] = [*expected, *found].map(u32::from_be_bytes);
                write!(
                    f,
                    "expected the first bytes {expected:08x}, found {found:08x}: the file is not a Syzygy table"
                )
            }
            TableError::Length { found } => {
                write!(
                    f,
                    "expected a length of 16 bytes more than a multiple of 64, found {found} bytes: the file is incomplete"
                )
            }
            TableError::Header => {
                f.write_str("the header extends beyond the end of the file, or is too long")
            }
            TableError::Data { expected, found } => {
                write!(
                    f,
                    "the header announces a file of {expected} bytes, but the file has {found} bytes"
                )
            }
            TableError::Layout { expected, found } => write!(
                f,
                "the index has a header of {} bytes and data from byte {}, but the table has {} and {}",
                expected.header, expected.index, found.header, found.index
            ),
            TableError::Flags { expected, found } => {
                write!(f, "byte 4: expected the flags {expected}, found {found}")
            }
            TableError::Pieces { byte } => {
                write!(
                    f,
                    "byte {byte}: expected the pieces of the table in groups, found other pieces"
                )
            }
            TableError::Code { byte } => {
                write!(f, "byte {byte}: the Huffman code has contradictory lengths")
            }
            TableError::Pair { byte, symbol } => {
                write!(
                    f,
                    "byte {byte}: symbol {symbol} contains itself, a missing symbol or too many values"
                )
            }
            TableError::Field {
                byte,
                field,
                min,
                max,
                found,
            } => {
                write!(
                    f,
                    "byte {byte}: expected {} from {min} to {max}, found {found}",
                    field.name()
                )
            }
            TableError::Block { byte } => {
                write!(f, "byte {byte}: the block has fewer values than announced")
            }
            TableError::Steps => {
                f.write_str("the position takes too many steps: the table is damaged")
            }
            TableError::Distances => {
                f.write_str("the distances contradict the results: the table is damaged")
            }
        }
    }
}

impl core::error::Error for TableError {}
