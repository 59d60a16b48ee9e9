//! Answers positions from byte ranges.
//!
//! A [`Reader`] takes positions to their answers. It gets the pages and blocks that they take from its memory, from a
//! [`Cache`] that outlives it, or from a [source](crate::source). It is the same reader natively and in a browser; what
//! differs are the sources and caches.
//!
//! Nothing that comes from outside is trusted. When a host no longer has a file, or has other bytes than the manifest
//! says, another build may have taken the database's place: the manifest is read again, once, and the lookup repeated.

mod cache;
mod catalog;
mod driver;
mod fetched;
mod handle;
mod limits;
mod lookup;
mod lru;
mod requests;
#[cfg(all(test, feature = "write"))]
mod tests;

pub use cache::{Cache, Keep, NoCache};
pub use driver::Found;
pub use fetched::{Fetched, Observer, Origin};
pub use handle::{Options, Reader, Stats};
pub use limits::RequestLimits;

use core::fmt;

use crate::source::SourceError;
use crate::table::TableError;

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
    /// What the position takes was never handed in, neither bytes nor an error: a fault of this crate.
    Unanswered,
}

impl ReadError {
    /// Whether no answer came at all, as when a device is offline.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, ReadError::Source(error) if error.kind.is_unreachable())
    }

    /// Whether another build may have taken the database's place.
    fn is_stale(&self) -> bool {
        match self {
            ReadError::Source(error) => error.kind.is_stale(),
            ReadError::Table { error: TableError::Chunk { kind, .. }, .. } => kind.is_foreign(),
            ReadError::Table { .. } | ReadError::Stale(_) | ReadError::Unanswered => false,
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
            ReadError::Unanswered => {
                f.write_str("the lookup ended without an answer; this is a fault of Shelfish, please report it")
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
            ReadError::Unanswered => None,
        }
    }
}

impl From<SourceError> for ReadError {
    fn from(error: SourceError) -> ReadError {
        ReadError::Source(error)
    }
}
