//! Looks positions up by byte ranges.
//!
//! A [`Reader`] gets the pages and blocks of a position from its memory, from a [`Cache`] that outlives the reader, or
//! from a [source](crate::source). The reader is the same natively and in a browser; only sources and caches differ.
//!
//! No bytes from outside are trusted. If a file is missing or contradicts the manifest, a new build may have replaced
//! the database. Then the reader reads the manifest again and repeats the lookup, once. A host may keep the files of an old
//! build, so a reader that is open for long also needs [`Reader::revalidate`].

mod cache;
mod catalog;
mod driver;
mod error;
mod fetched;
mod handle;
mod limits;
mod lookup;
mod lru;
mod requests;
#[cfg(all(test, feature = "write"))]
mod tests;

/// Usual time after which an open reader should request the manifest again, see [`Reader::is_due`].
pub const REVALIDATION_INTERVAL: web_time::Duration = web_time::Duration::from_secs(60 * 60);

pub use cache::{Cache, Entries, Keep};
pub use error::ReadError;
pub use fetched::{Fetched, Observer, Origin, Stats};
pub use handle::{Found, Options, Reader, ReaderBuilder};
pub use limits::RequestLimits;
#[doc(hidden)]
pub use lru::Lru;
pub use requests::Boxed;
