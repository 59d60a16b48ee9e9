//! Errors of a publication.

use std::path::PathBuf;

use indicatif::{DecimalBytes, HumanCount};
use shelfish::table::TableError;
use thiserror::Error;

use super::loss;
use crate::database::OpenError;
use crate::store::StoreError;

/// Reasons why a database was not published. The published database is unchanged.
#[derive(Debug, Error)]
pub enum PublishError {
    /// A local file is missing or contradicts the manifest.
    #[error("{}: {kind}", .path.display())]
    Local {
        /// Path of the file.
        path: PathBuf,
        /// Problem of the file.
        kind: LocalErrorKind,
    },
    /// The local directory has no database.
    #[error("{0}")]
    Open(Box<OpenError>),
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The store contains a manifest that is not a manifest of Shelfish.
    #[error(
        "{at} is in the way: this version of Shelfish cannot read it as a manifest ({error}); move it elsewhere, or publish \
         into another folder"
    )]
    InTheWay {
        /// URL or path of the file.
        at: String,
        /// Problem of the manifest.
        error: TableError,
    },
    /// The shards of a replaced database are unknown, because its manifest cannot be read.
    #[error(
        "{at} is in the way: this version of Shelfish cannot read the manifest ({error}), so nothing was removed; move it \
         elsewhere, or publish into another folder"
    )]
    Superseded {
        /// URL or path of the manifest.
        at: String,
        /// Problem of the manifest.
        error: TableError,
    },
    /// A shard exceeds the limit of GitHub Pages for a file.
    #[error(
        "GitHub Pages does not take it: {shard} has {}, but a file may have at most {}; build with a smaller --shard-size",
        DecimalBytes(*.found), DecimalBytes(*.most)
    )]
    PagesFile {
        /// Name of the shard.
        shard: String,
        /// Size of the shard, in bytes.
        found: u64,
        /// Maximum size of a file, in bytes.
        most: u64,
    },
    /// The database and the other files in its folder exceed the limit of GitHub Pages for a site.
    #[error(
        "GitHub Pages does not take it: the database and the other files in the folder have {found} bytes, a site may have \
         {most}; leave something out (`shelfish build --min-depth`, `--best-only`, `--max-pvs`), or publish to a store"
    )]
    PagesSite {
        /// Size of all files, in bytes.
        found: u64,
        /// Maximum size of a site, in bytes.
        most: u64,
    },
    /// The database has too few positions compared with the published database.
    #[error(
        "{at} was not replaced: it has {} positions, the new database has {}, a loss of {:.1} %, expected at most \
         {max_loss} %. Check the sources; `--max-loss 100` allows it once",
        HumanCount(*.published), HumanCount(*.new), loss(*.published, *.new)
    )]
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
    #[error("{} is the database itself; name another folder", .0.display())]
    Itself(PathBuf),
    /// Shards are missing after they were sent.
    #[error(
        "{at}: {shards} shards are missing after they were sent, so the manifest was not replaced; check whether another \
         program removes files there"
    )]
    Vanished {
        /// URL or path of the folder.
        at: String,
        /// Number of missing shards.
        shards: usize,
    },
    /// The process received the signal with this number.
    #[error("interrupted; the published database is unchanged. Run the command again to continue")]
    Interrupted(u8),
    /// The system cannot start the runtime.
    #[error("{0}")]
    System(std::io::Error),
}

/// Problems of a local file.
#[derive(Debug, Error)]
pub enum LocalErrorKind {
    /// The file cannot be read.
    #[error("{0}")]
    Io(std::io::Error),
    /// The file is not a manifest that this version reads.
    #[error("{0}")]
    Manifest(TableError),
    /// The length of the shard differs from the manifest.
    #[error("it has {found} bytes, expected {expected} by the manifest")]
    Length {
        /// Length by the manifest, in bytes.
        expected: u64,
        /// Length of the file, in bytes.
        found: u64,
    },
}
