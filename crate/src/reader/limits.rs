//! Which chunks share a request.

use core::ops::Range;

use crate::table::Chunk;

/// Limits of one request for several chunks of a file.
///
/// ```
/// use shelfish::reader::RequestLimits;
/// use shelfish::table::{Chunk, KeyRange};
///
/// let chunk = |range| Chunk { file: "shard".to_string(), range, keys: KeyRange::all() };
/// let limits = RequestLimits { max_gap: 100, max_bytes: 1_000 };
/// assert!(limits.fits(&chunk(0..300), &chunk(300..600), &chunk(700..1_000)));
/// assert!(!limits.fits(&chunk(0..300), &chunk(700..1_000), &chunk(1_000..1_001)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// Maximum number of unneeded bytes between two chunks.
    pub max_gap: u64,
    /// Maximum size of a request, in bytes. A single chunk may be larger.
    pub max_bytes: u64,
}

impl Default for RequestLimits {
    /// Gaps of 9 KiB and requests of 1 MiB. A request costs more than such a gap if the browser sends only six requests
    /// at a time, as with HTTP/1.1, and about as much with HTTP/2.
    fn default() -> RequestLimits {
        RequestLimits {
            max_gap: 9 << 10,
            max_bytes: 1 << 20,
        }
    }
}

impl RequestLimits {
    /// Returns whether `next` fits into the request that fetches the chunks from `first` to `last`.
    pub fn fits(&self, first: &Chunk, last: &Chunk, next: &Chunk) -> bool {
        last.file == next.file && self.fits_range(&first.range, &last.range, &next.range)
    }

    /// Returns whether `next` fits into the request that fetches the ranges from `first` to `last` of the same file.
    pub fn fits_range(&self, first: &Range<u64>, last: &Range<u64>, next: &Range<u64>) -> bool {
        let gap = next.start.checked_sub(last.end);
        let bytes = next.end.saturating_sub(first.start);
        gap.is_some_and(|gap| gap <= self.max_gap) && bytes <= self.max_bytes
    }
}
