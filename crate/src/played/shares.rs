//! The games of the moves of a block: how they ended by bucket, and references to some.

use core::ops::Range;

use super::{Bucket, Details, GameRef, Results};
use crate::table::{ColumnError, Columns};

/// What a block tells of games beside their results.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Buckets, if it tells of them.
    pub buckets: usize,
    /// Whether it tells of ratings.
    pub ratings: bool,
    /// The most references of a move.
    pub references: usize,
}

impl Layout {
    /// Reads a column; without one nothing is told.
    pub fn read(columns: &Columns, column: usize) -> Result<Layout, ColumnError> {
        let mut values = columns.values(column);
        if columns.bytes(column).is_empty() {
            return Ok(Layout::default());
        }
        let mut number = |most: usize| match values.leb128()? {
            found if found <= most as u64 => Ok(found as usize),
            found => Err(values.out_of_range(found)),
        };
        let buckets = number(Bucket::MAX_COUNT)?;
        let layout =
            Layout { buckets, ratings: number(buckets.min(1))? == 1, references: number(Details::MAX_REFERENCES)? };
        if layout == Layout::default() {
            return Err(values.out_of_range(0));
        }
        values.finish()?;
        Ok(layout)
    }

    /// Writes a column; none if nothing is told.
    #[cfg(feature = "write")]
    pub fn write(self, column: &mut Vec<u8>) {
        if self != Layout::default() {
            for number in [self.buckets, usize::from(self.ratings), self.references] {
                crate::leb128::push(column, number as u64);
            }
        }
    }

    /// Buckets that results are told by.
    pub fn stride(self) -> usize {
        self.buckets.max(1)
    }
}

/// The games of moves, by number: of each, as many buckets as the block has.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    stride: usize,
    buckets: Vec<Bucket>,
    games: Vec<GameRef>,
    /// Where the references of each are; empty if the block has none.
    spans: Vec<Range<u32>>,
}

impl Shares {
    /// Of so many moves, nobody played any.
    pub fn new(layout: Layout, count: usize) -> Shares {
        let stride = layout.stride();
        let spans = if layout.references > 0 { vec![0..0; count] } else { Vec::new() };
        Shares { stride, buckets: vec![Bucket::default(); count * stride], games: Vec::new(), spans }
    }

    /// One more move; its number.
    pub fn push(&mut self) -> usize {
        self.buckets.resize(self.buckets.len() + self.stride, Bucket::default());
        if !self.spans.is_empty() {
            self.spans.push(0..0);
        }
        self.buckets.len() / self.stride - 1
    }

    /// The games of a move by bucket.
    pub fn buckets(&self, n: usize) -> &[Bucket] {
        &self.buckets[n * self.stride..(n + 1) * self.stride]
    }

    /// The same, to change.
    pub fn buckets_mut(&mut self, n: usize) -> &mut [Bucket] {
        &mut self.buckets[n * self.stride..(n + 1) * self.stride]
    }

    /// The number of games of a move.
    pub fn games(&self, n: usize) -> u64 {
        games(self.buckets(n))
    }

    /// The references of a move.
    pub fn references(&self, n: usize) -> &[GameRef] {
        let span = self.spans.get(n).cloned().unwrap_or(0..0);
        &self.games[span.start as usize..span.end as usize]
    }

    /// Gives a move its references.
    pub fn refer(&mut self, n: usize, games: &[GameRef]) {
        if let Some(span) = self.spans.get_mut(n) {
            let start = self.games.len() as u32;
            self.games.extend_from_slice(games);
            *span = start..self.games.len() as u32;
        }
    }

    /// References of all moves.
    pub fn reference_count(&self) -> usize {
        self.games.len()
    }

    /// The results of a move, and what else the block tells of it.
    pub fn told(&self, n: usize, layout: Layout) -> (Results, Details) {
        let buckets = self.buckets(n);
        let results = buckets.iter().fold(Results::default(), |sum, bucket| Results {
            white: sum.white + bucket.results.white,
            draws: sum.draws + bucket.results.draws,
            black: sum.black + bucket.results.black,
        });
        let buckets = if layout.buckets > 0 { buckets.to_vec() } else { Vec::new() };
        (results, Details { buckets, games: self.references(n).to_vec() })
    }

    /// Bytes of memory, about.
    pub fn memory(&self) -> usize {
        self.buckets.len() * size_of::<Bucket>()
            + self.games.len() * size_of::<GameRef>()
            + self.spans.len() * size_of::<Range<u32>>()
    }
}

/// The number of games of all buckets; they are of one position, which has at most [`Results::MAX_GAMES`].
pub fn games(buckets: &[Bucket]) -> u64 {
    buckets.iter().map(Bucket::games).sum()
}
