//! The columns of played moves in a block, and how numbers are read from them and written to them.

use super::game_ref::GameRef;
use crate::table::{Coder, ColumnError, Octaves, out_of_range};

// Columns of a block, numbered as in `FORMAT.md`.
pub const ARRIVALS: usize = 15;
pub const ARRIVALS_MORE: usize = 16;
pub const NEXT: usize = 19;
pub const LAST: usize = 20;
pub const SHARE_STEP: usize = 21;
pub const SHARE_OTHER: usize = 22;
pub const RANK: usize = 23;
pub const LOW_BITS: usize = 26;
/// The first optional column.
pub const LAYOUT: usize = 27;
pub const BUCKET_OF_ONE: usize = 28;
pub const RATED: usize = 31;
pub const MISSING: usize = 34;
pub const REFERENCE: usize = 35;
const REFERENCE_HIGH: usize = 36;
const REFERENCE_MIDDLE: usize = 37;
pub const REFERENCE_LOW: usize = 38;
/// Number of columns of a block.
pub const COLUMNS: usize = 39;

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
