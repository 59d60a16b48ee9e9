//! Answers positions from byte ranges.
//!
//! A [`Catalog`] is what is at hand of a database, a [`Lookup`] takes positions to their answers and says which chunks it
//! wants. Both are plain state: natively a [`Reader`] gets the chunks from a [source](crate::source), in a browser the package's
//! JavaScript does, by `fetch` and from IndexedDB.
//!
//! Nothing that comes from outside is trusted. When a host no longer has a file, or has other bytes than the manifest
//! says, another build may have taken the database's place: the manifest is read again, once, and the lookup repeated.

mod catalog;
mod lookup;
mod lru;
#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(all(test, feature = "write"))]
mod tests;

pub use catalog::{Catalog, Want};
pub use lookup::Lookup;
#[cfg(not(target_arch = "wasm32"))]
pub use native::{Options, Reader, Stats};

use core::fmt;

use crate::source::SourceError;
use crate::table::TableError;

/// The most bytes that are fetched in one request.
const MAX_REQUEST: u64 = 1 << 20;
/// Bytes between two chunks that are fetched with them at most, unless told otherwise: a request costs more where
/// browsers send six at a time, as by HTTP/1.1, and little less elsewhere.
const GAP: u64 = 16 << 10;

/// Why a position could not be looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The source failed.
    Source(SourceError),
    /// What the source handed out is not what the manifest says.
    Table {
        /// URL or path of the file.
        at: String,
        /// What is wrong with it.
        error: TableError,
    },
    /// The database was replaced while it was open, and the new one cannot be read either.
    Stale(Box<ReadError>),
}

impl ReadError {
    /// Whether another build may have taken the database's place.
    fn is_stale(&self) -> bool {
        match self {
            ReadError::Source(error) => error.fault.is_stale(),
            ReadError::Table { error: TableError::Chunk { fault, .. }, .. } => fault.is_foreign(),
            ReadError::Table { .. } | ReadError::Stale(_) => false,
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Source(error) => error.fmt(f),
            ReadError::Table { at, error } => write!(f, "{at}: {error}"),
            ReadError::Stale(error) => {
                write!(f, "the database was replaced while it was open and the new one cannot be read: {error}")
            }
        }
    }
}

impl core::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            ReadError::Source(error) => Some(error),
            ReadError::Table { error, .. } => Some(error),
            ReadError::Stale(error) => Some(error),
        }
    }
}

impl From<SourceError> for ReadError {
    fn from(error: SourceError) -> ReadError {
        ReadError::Source(error)
    }
}
