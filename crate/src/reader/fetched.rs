//! Statistics of a reader, and notifications of its requests.

use core::ops::Range;

use web_time::Duration;

/// The origin of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The reader's cache.
    Cache,
    /// The source.
    Source,
}

/// A read of bytes of a file, which succeeded or failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetched<'a> {
    /// The file's name.
    pub file: &'a str,
    /// Its path or URL.
    pub at: String,
    /// The requested bytes; those of a whole file begin at 0.
    pub range: Range<u64>,
    /// Number of pages, blocks and lists of hashes that were needed; 0 for a manifest.
    pub parts: usize,
    /// The origin of the bytes.
    pub origin: Origin,
    /// Duration of the read.
    pub elapsed: Duration,
    /// Whether the read succeeded.
    pub is_good: bool,
}

/// Called after every read from the cache or the source.
#[cfg(not(target_arch = "wasm32"))]
pub type Observer = Box<dyn Fn(&Fetched<'_>) + Send + Sync>;
/// Called after every read from the cache or the source.
#[cfg(target_arch = "wasm32")]
pub type Observer = Box<dyn Fn(&Fetched<'_>)>;

/// Counters of a [`Reader`](super::Reader) since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Requests to the source, those for the manifest included.
    pub requests: u64,
    /// Bytes that the source returned.
    pub bytes: u64,
    /// Times that a block was in memory.
    pub memory_hits: u64,
    /// Blocks that came from the cache.
    pub cache_hits: u64,
    /// Blocks that came from the source.
    pub network_blocks: u64,
    /// Positions looked up.
    pub lookups: u64,
    /// Times that a different manifest replaced the manifest.
    pub replacements: u64,
    /// Sum of the durations of all calls, in milliseconds.
    pub milliseconds: f64,
}
