//! The layout of a block: which details of games it contains besides their results.

use super::played_moves::Details;
use super::results::Bucket;
use crate::table::{ColumnError, Columns};

/// The details of games in a block.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Number of buckets; 0 if the block does not contain buckets.
    pub buckets: usize,
    /// Whether the block contains ratings.
    pub ratings: bool,
    /// Maximum number of references of a move.
    pub references: usize,
}

impl Layout {
    /// Reads a column. An empty column stands for results alone.
    pub fn read(columns: &Columns, column: usize) -> Result<Layout, ColumnError> {
        let mut values = columns.values(column);
        if columns.bytes(column).is_empty() {
            return Ok(Layout::default());
        }
        let mut number = |max: usize| match values.leb128()? {
            found if found <= max as u64 => Ok(found as usize),
            found => Err(values.out_of_range(found)),
        };
        let buckets = number(Bucket::MAX_COUNT)?;
        let layout = Layout {
            buckets,
            ratings: number(buckets.min(1))? == 1,
            references: number(Details::MAX_REFERENCES)?,
        };
        if layout == Layout::default() {
            return Err(values.out_of_range(0));
        }
        values.finish()?;
        Ok(layout)
    }

    /// Writes a column.
    #[cfg(feature = "write")]
    pub fn write(self, column: &mut Vec<u8>) {
        if self != Layout::default() {
            for number in [self.buckets, usize::from(self.ratings), self.references] {
                crate::leb128::push(column, number as u64);
            }
        }
    }

    /// Returns the number of buckets per move in memory.
    pub fn stride(self) -> usize {
        self.buckets.max(1)
    }
}
