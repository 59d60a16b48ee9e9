//! Errors of lookups.

use crate::source::{SourceError, SourceErrorKind};
use crate::table::TableError;

/// The reason why a position could not be looked up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The source failed.
    #[error("{0}")]
    Source(#[from] SourceError),
    /// The bytes of the source contradict the manifest, or are invalid.
    #[error("{at}: {error}")]
    Table {
        /// URL or path of the file.
        at: String,
        /// The reason.
        #[source]
        error: TableError,
    },
    /// The database was replaced while it was open, and the new database cannot be read either.
    #[error("the database was replaced while it was open and the new one cannot be read: {0}")]
    Stale(#[source] Box<ReadError>),
    /// A requested chunk was never delivered: a bug of this crate.
    #[error("the lookup ended without an answer; this is a bug of Shelfish, please report it")]
    Unanswered,
}

impl ReadError {
    /// Returns whether the source did not answer, for example on a device that is offline.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, ReadError::Source(error) if error.kind.is_unreachable())
    }

    /// Returns whether the source has another manifest than the pinned manifest.
    pub(super) fn is_of_another_pin(&self) -> bool {
        matches!(
            self,
            ReadError::Source(SourceError {
                kind: SourceErrorKind::Integrity { .. },
                ..
            })
        )
    }

    /// Returns whether a new build may have replaced the database.
    pub(super) fn is_stale(&self) -> bool {
        match self {
            ReadError::Source(error) => error.kind.is_stale(),
            ReadError::Table {
                error: TableError::Chunk { kind, .. },
                ..
            } => kind.is_foreign(),
            ReadError::Table { .. } | ReadError::Stale(_) | ReadError::Unanswered => false,
        }
    }
}
