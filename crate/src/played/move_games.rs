//! The games of the moves of a block: results by bucket, and references.

use core::ops::Range;

use super::game_ref::GameRef;
use super::layout::Layout;
use super::played_moves::Details;
use super::results::{Bucket, Results};

/// The games of moves, by index.
#[derive(Clone, Debug, Default)]
pub struct MoveGames {
    /// Number of buckets per move.
    stride: usize,
    buckets: Vec<Bucket>,
    references: Vec<GameRef>,
    /// The range of each move's references; empty if the block has no references.
    spans: Vec<Range<u32>>,
}

impl MoveGames {
    /// Creates `count` moves without games.
    pub fn new(layout: Layout, count: usize) -> MoveGames {
        let stride = layout.stride();
        let spans = if layout.references > 0 {
            vec![0..0; count]
        } else {
            Vec::new()
        };
        MoveGames {
            stride,
            buckets: vec![Bucket::default(); count * stride],
            references: Vec::new(),
            spans,
        }
    }

    /// Adds a move and returns its index.
    pub fn push(&mut self) -> usize {
        self.buckets
            .resize(self.buckets.len() + self.stride, Bucket::default());
        if !self.spans.is_empty() {
            self.spans.push(0..0);
        }
        self.buckets.len() / self.stride - 1
    }

    /// Returns the games of a move by bucket.
    pub fn buckets(&self, n: usize) -> &[Bucket] {
        &self.buckets[n * self.stride..(n + 1) * self.stride]
    }

    /// Returns the games of a move by bucket, mutable.
    pub fn buckets_mut(&mut self, n: usize) -> &mut [Bucket] {
        &mut self.buckets[n * self.stride..(n + 1) * self.stride]
    }

    /// Returns the number of games of a move.
    pub fn count(&self, n: usize) -> u64 {
        count(self.buckets(n))
    }

    /// Returns the references of a move.
    pub fn references(&self, n: usize) -> &[GameRef] {
        let span = self.spans.get(n).cloned().unwrap_or(0..0);
        &self.references[span.start as usize..span.end as usize]
    }

    /// Sets the references of a move.
    pub fn set_references(&mut self, n: usize, games: &[GameRef]) {
        if let Some(span) = self.spans.get_mut(n) {
            let start = self.references.len() as u32;
            self.references.extend_from_slice(games);
            *span = start..self.references.len() as u32;
        }
    }

    /// Returns the number of references of all moves.
    pub fn reference_count(&self) -> usize {
        self.references.len()
    }

    /// Returns the results and the details of a move.
    pub fn details(&self, n: usize, layout: Layout) -> (Results, Details) {
        let buckets = self.buckets(n);
        let results = buckets
            .iter()
            .fold(Results::default(), |sum, bucket| Results {
                white: sum.white + bucket.results.white,
                draws: sum.draws + bucket.results.draws,
                black: sum.black + bucket.results.black,
            });
        let buckets = if layout.buckets > 0 {
            buckets.to_vec()
        } else {
            Vec::new()
        };
        (
            results,
            Details {
                buckets,
                games: self.references(n).to_vec(),
            },
        )
    }

    /// Returns the approximate size in memory, in bytes.
    pub fn memory(&self) -> usize {
        self.buckets.len() * size_of::<Bucket>()
            + self.references.len() * size_of::<GameRef>()
            + self.spans.len() * size_of::<Range<u32>>()
    }
}

/// Returns the number of games of all buckets of a position. There are at most [`Results::MAX_GAMES`].
pub fn count(buckets: &[Bucket]) -> u64 {
    buckets.iter().map(Bucket::games).sum()
}
