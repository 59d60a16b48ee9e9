//! The columns of played moves in a block, and how numbers are read from them and written to them.

use super::game_ref::GameRef;
use crate::table::{Coder, ColumnError, Octaves, out_of_range};

// Columns of a block, numbered as in `FORMAT.md`.
pub const ARRIVALS: usize = 5;
pub const ARRIVALS_MORE: usize = 6;
pub const NEXT: usize = 9;
pub const LAST: usize = 10;
pub const SHARE_STEP: usize = 11;
pub const SHARE_OTHER: usize = 12;
pub const RANK: usize = 13;
pub const LOW_BITS: usize = 16;
/// The first optional column.
pub const LAYOUT: usize = 17;
pub const BUCKET_OF_ONE: usize = 18;
pub const RATED: usize = 21;
pub const MISSING: usize = 24;
pub const REFERENCE: usize = 25;
const REFERENCE_HIGH: usize = 26;
const REFERENCE_MIDDLE: usize = 27;
pub const REFERENCE_LOW: usize = 28;
/// Number of columns of a block.
pub const COLUMNS: usize = 29;

/// The code of all numbers: most are small, any may be large.
const NUMBER: Octaves = Octaves {
    direct: 4,
    leading: 2,
};

/// Codes the next number of a column, at most `max`.
pub fn number(
    coder: &mut Coder<'_>,
    column: usize,
    max: u64,
    value: u64,
) -> Result<u64, ColumnError> {
    match coder.number(column, NUMBER, value)? {
        number if number > max => Err(out_of_range(column, number)),
        number => Ok(number),
    }
}

/// Codes the next full reference.
pub fn reference(coder: &mut Coder<'_>, value: Option<GameRef>) -> Result<GameRef, ColumnError> {
    let mut bytes = value.map_or(0, GameRef::to_bits).to_le_bytes();
    for n in [7, 6, 0, 1, 2, 3, 4, 5] {
        let column = match n {
            7 => REFERENCE_HIGH,
            6 => REFERENCE_MIDDLE,
            _ => REFERENCE_LOW,
        };
        bytes[n] = coder.byte(column, bytes[n])?;
    }
    let bits = u64::from_le_bytes(bytes);
    GameRef::from_bits(bits).ok_or(out_of_range(REFERENCE_LOW, bits))
}
