//! Errors of lookups.

use core::fmt;

use crate::source::{SourceError, SourceErrorKind};
use crate::table::TableError;

/// The reason why a position could not be looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The source failed.
    Source(SourceError),
    /// The bytes of the source contradict the manifest, or are invalid.
    Table {
        /// URL or path of the file.
        at: String,
        /// The reason.
        error: TableError,
    },
    /// The database was replaced while it was open, and the new database cannot be read either.
    Stale(Box<ReadError>),
    /// A requested chunk was never delivered: a bug of this crate.
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

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Source(error) => error.fmt(f),
            ReadError::Table { at, error } => write!(f, "{at}: {error}"),
            ReadError::Stale(error) => {
                write!(
                    f,
                    "the database was replaced while it was open and the new one cannot be read: {error}"
                )
            }
            ReadError::Unanswered => f.write_str(
                "the lookup ended without an answer; this is a bug of Shelfish, please report it",
            ),
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
