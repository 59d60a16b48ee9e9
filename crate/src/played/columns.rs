//! The columns of played moves in a block, and how numbers are read from them and written to them.

use super::game_ref::GameRef;
#[cfg(feature = "write")]
use crate::table::BitWriter;
use crate::table::{Bits, ColumnError, Columns, Octaves, Values};

pub const ARRIVALS: usize = 0;
pub const ARRIVALS_MORE: usize = 1;
pub const NEXT: usize = 4;
pub const LAST: usize = 5;
pub const SHARE_STEP: usize = 6;
pub const SHARE_OTHER: usize = 7;
pub const RANK: usize = 8;
pub const BITS: usize = 11;
/// The first optional column.
pub const LAYOUT: usize = 12;
pub const BUCKET_OF_ONE: usize = 13;
pub const RATED: usize = 16;
pub const MISSING: usize = 19;
pub const REFERENCE: usize = 20;
pub const REFERENCE_HIGH: usize = 21;
pub const REFERENCE_LOW: usize = 23;

/// Number of columns.
pub const COLUMNS: usize = 24;

/// The code of all numbers: most are small, any may be large.
const NUMBER: Octaves = Octaves {
    direct: 4,
    leading: 2,
};

/// Reads numbers from columns, or writes numbers to them.
pub trait NumberCoder {
    /// Reads the next number of a column, at most `max`. A writer writes and returns `value`.
    fn number(&mut self, column: usize, max: u64, value: u64) -> Result<u64, ColumnError>;

    /// Reads the next full reference. A writer writes and returns `value`.
    fn reference(&mut self, value: Option<GameRef>) -> Result<GameRef, ColumnError>;

    /// Returns the error for a number of a column.
    fn out_of_range(&self, column: usize, found: u64) -> ColumnError;
}

/// Reads numbers from the columns of a block.
pub struct ColumnReader<'a> {
    columns: [Values<'a>; COLUMNS],
    bits: Bits<'a>,
}

impl<'a> ColumnReader<'a> {
    /// Creates a reader of the columns from index `first` on.
    pub fn new(columns: &'a Columns, first: usize) -> ColumnReader<'a> {
        ColumnReader {
            columns: core::array::from_fn(|column| columns.values(first + column)),
            bits: Bits::new(columns, first + BITS),
        }
    }

    /// Checks that all columns end here.
    pub fn finish(&self) -> Result<(), ColumnError> {
        let is_read_here = |column: &usize| ![BITS, LAYOUT].contains(column);
        (0..COLUMNS)
            .filter(is_read_here)
            .try_for_each(|column| self.columns[column].finish())?;
        self.bits.finish()
    }
}

impl NumberCoder for ColumnReader<'_> {
    fn number(&mut self, column: usize, max: u64, _: u64) -> Result<u64, ColumnError> {
        let number = NUMBER.join(self.columns[column].byte()?, &mut self.bits)?;
        if number > max {
            Err(self.out_of_range(column, number))
        } else {
            Ok(number)
        }
    }

    fn reference(&mut self, _: Option<GameRef>) -> Result<GameRef, ColumnError> {
        let mut bytes = [0; 8];
        bytes[7] = self.columns[REFERENCE_HIGH].byte()?;
        bytes[6] = self.columns[REFERENCE_HIGH + 1].byte()?;
        bytes[..6].copy_from_slice(self.columns[REFERENCE_LOW].take(6)?);
        let bits = u64::from_le_bytes(bytes);
        GameRef::from_bits(bits).ok_or_else(|| self.out_of_range(REFERENCE_LOW, bits))
    }

    fn out_of_range(&self, column: usize, found: u64) -> ColumnError {
        self.columns[column].out_of_range(found)
    }
}

/// Writes numbers to the columns of a block.
#[cfg(feature = "write")]
pub struct ColumnWriter<'a> {
    columns: &'a mut [Vec<u8>],
    bits: BitWriter,
    /// Index of the first column, for errors.
    first: usize,
}

#[cfg(feature = "write")]
impl<'a> ColumnWriter<'a> {
    /// Creates a writer; errors count columns from index `first` on.
    pub fn new(columns: &'a mut [Vec<u8>], first: usize) -> ColumnWriter<'a> {
        ColumnWriter {
            columns,
            bits: BitWriter::default(),
            first,
        }
    }

    /// Writes the column of low bits.
    pub fn finish(self) {
        self.columns[BITS] = self.bits.bytes;
    }
}

#[cfg(feature = "write")]
impl NumberCoder for ColumnWriter<'_> {
    fn number(&mut self, column: usize, max: u64, value: u64) -> Result<u64, ColumnError> {
        if value > max {
            return Err(self.out_of_range(column, value));
        }
        let (symbol, low) = NUMBER.split(value);
        self.columns[column].push(symbol);
        self.bits.push(value, low);
        Ok(value)
    }

    fn reference(&mut self, value: Option<GameRef>) -> Result<GameRef, ColumnError> {
        let game = value.ok_or_else(|| self.out_of_range(REFERENCE, 0))?;
        let [low @ .., middle, high] = game.to_bits().to_le_bytes();
        self.columns[REFERENCE_HIGH].push(high);
        self.columns[REFERENCE_HIGH + 1].push(middle);
        self.columns[REFERENCE_LOW].extend_from_slice(&low);
        Ok(game)
    }

    fn out_of_range(&self, column: usize, found: u64) -> ColumnError {
        ColumnError::Value {
            column: self.first + column,
            found,
        }
    }
}
