//! Errors of a publication.

use std::fmt;
use std::path::PathBuf;

use indicatif::{DecimalBytes, HumanCount};
use shelfish::table::TableError;

use super::loss;
use crate::database::OpenError;
use crate::store::StoreError;

/// Reasons why a database was not published. The published database is unchanged.
#[derive(Debug)]
pub enum PublishError {
    /// A local file is missing or contradicts the manifest.
    Local {
        /// Path of the file.
        path: PathBuf,
        /// Problem of the file.
        kind: LocalErrorKind,
    },
    /// The local directory has no database.
    Open(Box<OpenError>),
    /// The store failed.
    Store(StoreError),
    /// The store contains a manifest that is not a manifest of Shelfish.
    InTheWay {
        /// URL or path of the file.
        at: String,
        /// Problem of the manifest.
        error: TableError,
    },
    /// The shards of a replaced database are unknown, because its manifest cannot be read.
    Superseded {
        /// URL or path of the manifest.
        at: String,
        /// Problem of the manifest.
        error: TableError,
    },
    /// A shard exceeds the limit of GitHub Pages for a file.
    PagesFile {
        /// Name of the shard.
        shard: String,
        /// Size of the shard, in bytes.
        found: u64,
        /// Maximum size of a file, in bytes.
        most: u64,
    },
    /// The database and the other files in its folder exceed the limit of GitHub Pages for a site.
    PagesSite {
        /// Size of all files, in bytes.
        found: u64,
        /// Maximum size of a site, in bytes.
        most: u64,
    },
    /// The database has too few positions compared with the published database.
    Loss {
        /// URL or path of the published manifest.
        at: String,
        /// Number of positions of the published database.
        published: u64,
        /// Number of positions of the new database.
        new: u64,
        /// Maximum share that may be lost, in percent.
        max_loss: f64,
    },
    /// Source and destination are the same directory.
    Itself(PathBuf),
    /// Shards are missing after they were sent.
    Vanished {
        /// URL or path of the folder.
        at: String,
        /// Number of missing shards.
        shards: usize,
    },
    /// The process received the signal with this number.
    Interrupted(u8),
    /// The system cannot start the runtime.
    System(std::io::Error),
}

/// Problems of a local file.
#[derive(Debug)]
pub enum LocalErrorKind {
    /// The file cannot be read.
    Io(std::io::Error),
    /// The file is not a manifest that this version reads.
    Manifest(TableError),
    /// The length of the shard differs from the manifest.
    Length {
        /// Length by the manifest, in bytes.
        expected: u64,
        /// Length of the file, in bytes.
        found: u64,
    },
}

impl fmt::Display for LocalErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LocalErrorKind::Io(error) => error.fmt(f),
            LocalErrorKind::Manifest(error) => error.fmt(f),
            LocalErrorKind::Length { expected, found } => {
                write!(
                    f,
                    "it has {found} bytes, expected {expected} by the manifest"
                )
            }
        }
    }
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PublishError::Local { path, kind } => write!(f, "{}: {kind}", path.display()),
            PublishError::Open(error) => error.fmt(f),
            PublishError::Store(error) => error.fmt(f),
            PublishError::InTheWay { at, error } => write!(
                f,
                "{at} is in the way: this version of Shelfish cannot read it as a manifest ({error}); move it elsewhere, or \
                 publish into another folder"
            ),
            PublishError::Superseded { at, error } => write!(
                f,
                "{at} is in the way: this version of Shelfish cannot read the manifest ({error}), so nothing was removed; \
                 move it elsewhere, or publish into another folder"
            ),
            PublishError::PagesFile { shard, found, most } => write!(
                f,
                "GitHub Pages does not take it: {shard} has {}, but a file may have at most {}; build with a smaller \
                 --shard-size",
                DecimalBytes(*found),
                DecimalBytes(*most)
            ),
            PublishError::PagesSite { found, most } => write!(
                f,
                "GitHub Pages does not take it: the database and the other files in the folder have {found} bytes, a site \
                 may have {most}; leave something out (`shelfish build --min-depth`, `--best-only`, `--max-pvs`), or \
                 publish to a store"
            ),
            PublishError::Loss { at, published, new, max_loss } => write!(
                f,
                "{at} was not replaced: it has {} positions, the new database has {}, a loss of {:.1} %, expected at most \
                 {max_loss} %. Check the sources; `--max-loss 100` allows it once",
                HumanCount(*published),
                HumanCount(*new),
                loss(*published, *new)
            ),
            PublishError::Itself(path) => write!(f, "{} is the database itself; name another folder", path.display()),
            PublishError::Vanished { at, shards } => write!(
                f,
                "{at}: {shards} shards are missing after they were sent, so the manifest was not replaced; \
                 check whether another program removes files there"
            ),
            PublishError::Interrupted(_) => {
                f.write_str("interrupted; the published database is unchanged. Run the command again to continue")
            }
            PublishError::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PublishError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            PublishError::Store(error) => Some(error),
            _ => None,
        }
    }
}

impl From<StoreError> for PublishError {
    fn from(error: StoreError) -> PublishError {
        PublishError::Store(error)
    }
}
