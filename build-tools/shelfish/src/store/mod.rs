//! Stores for published databases: S3 and compatible stores, Google Cloud Storage, and folders.
//!
//! A shard is named by its content, so it is sent or removed but never changed. Only the manifest is replaced, on the
//! condition that it did not change since it was read. Object stores check this condition; a folder is locked.

mod address;
mod bucket;
mod client;
mod folder;
mod objects;

pub use address::{Address, AddressError, Kind};
pub use bucket::EnvironmentError;
pub use client::NoCredentials;
pub use objects::Objects;

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use shelfish::source::Source;
use shelfish::source::integrity::Integrity;
use shelfish::source::redaction::redacted;
use shelfish::source::retry::RetryPolicy;
use shelfish::table::Manifest;
use thiserror::Error;
use tokio::sync::watch;

use crate::system::workspace::WorkspaceError;
use crate::system::{MAX_RETRIES, timeout};
use folder::Folder;

/// Folder of a store, opened for writing.
pub struct Store(Backend);

enum Backend {
    Folder(Folder),
    Objects(Box<Objects>),
}

/// File of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Name of the file within its folder.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Time of the last change, by the clock of the store.
    pub modified: SystemTime,
}

/// Manifest of a store, with its version for conditional writes.
#[derive(Clone, Debug)]
pub struct Current {
    /// Content of the file.
    pub bytes: Vec<u8>,
    version: object_store::UpdateVersion,
}

impl Current {
    /// Returns the hash that pins the manifest.
    pub fn integrity(&self) -> String {
        Integrity::of(&self.bytes).to_string()
    }
}

/// Error of a file in a store.
#[derive(Debug, Error)]
pub enum StoreErrorKind {
    /// The file or bucket does not exist.
    #[error("there is no such file or bucket")]
    Missing,
    /// The store rejects the credentials, or denies access.
    #[error(
        "the store denies access ({}); check the credentials in the environment (see `shelfish publish --help`)",
        brief(.0)
    )]
    Denied(Box<object_store::Error>),
    /// There are no credentials.
    #[error(transparent)]
    NoCredentials(Box<NoCredentials>),
    /// A variable of the environment is invalid.
    #[error("{0}")]
    Environment(#[source] EnvironmentError),
    /// The manifest changed since it was read.
    #[error(
        "somebody else published in the meantime and was not overwritten; run the command again to replace that database"
    )]
    Conflict,
    /// The store does not support conditional writes.
    #[error(
        "the store cannot replace a file conditionally; publish to a folder, and copy it, manifest.json last"
    )]
    Unconditional,
    /// A local file could not be read or written.
    #[error("{0}")]
    Io(std::io::Error),
    /// The content of a local file does not match its name.
    #[error(
        "the content matches the name {found}, so the file was damaged after the build; nothing was replaced. Run \
         `shelfish verify` for details, and build again"
    )]
    Content {
        /// Name that matches the content.
        found: String,
    },
    /// The folder cannot be opened for writing.
    #[error("{0}")]
    Folder(Box<WorkspaceError>),
    /// The folder has too many files.
    #[error("the names of its files exceed {0} bytes; use a folder for this database alone")]
    Crowded(usize),
    /// The list of the files was not complete in time.
    #[error("the list of its files was not complete within {} s", .0.as_secs())]
    Slow(Duration),
    /// The work was stopped.
    #[error("stopped")]
    Stopped,
    /// Other error of the store.
    #[error("{}", brief(.0))]
    Other(Box<object_store::Error>),
}

/// Error of a file in a store, with its URL or path.
#[derive(Debug, Error)]
#[error("{at}: {kind}")]
pub struct StoreError {
    /// URL or path of the file.
    pub at: String,
    /// Kind of the error.
    #[source]
    pub kind: StoreErrorKind,
}

impl StoreError {
    fn new(at: impl Into<String>, kind: StoreErrorKind) -> StoreError {
        let at = at.into();
        StoreError { at, kind }
    }
}

/// Returns an error of a store with its causes, without the secrets of URLs. Bodies of answers are long, so the text is cut.
fn brief(error: &object_store::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    let mut text = redacted(&text);
    if let Some((end, _)) = text.char_indices().nth(600) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Role of a file in a database, which determines its HTTP headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A shard, which caches may keep forever.
    Shard,
    /// The manifest, which caches keep for a minute.
    Manifest,
}

impl Role {
    /// Returns the media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Role::Shard => "model/mesh",
            Role::Manifest => "application/json",
        }
    }

    /// Returns the value of `Cache-Control`.
    pub fn cache_control(self) -> &'static str {
        match self {
            Role::Shard => "public, max-age=31536000, immutable, no-transform",
            Role::Manifest => "public, max-age=60",
        }
    }
}

impl Store {
    /// Opens a store for writing. A missing folder is created. The folder is locked until the store is dropped.
    pub fn open(address: &Address) -> Result<Store, StoreError> {
        // A store may be busy for minutes.
        let retry = RetryPolicy::default()
            .with_max_retries(MAX_RETRIES.into())
            .with_total_time(9 * timeout());
        Ok(Store(match address.folder() {
            Some(folder) => Backend::Folder(Folder::open(folder)?),
            None => Backend::Objects(Box::new(Objects::open(address, retry)?)),
        }))
    }

    /// Returns the URL or path of a file, for messages.
    pub fn locate(&self, name: &str) -> String {
        match &self.0 {
            Backend::Folder(folder) => folder.locate(name),
            Backend::Objects(objects) => objects.locate(name),
        }
    }

    /// Lists the files of a folder. A missing folder is empty.
    pub async fn list(&self, folder: &str) -> Result<Vec<StoredFile>, StoreError> {
        match &self.0 {
            Backend::Folder(store) => store.list(folder),
            Backend::Objects(store) => store.list(folder).await,
        }
    }

    /// Reads a small file and its version. Returns `None` if the file does not exist.
    pub async fn read(&self, name: &str) -> Result<Option<Current>, StoreError> {
        match &self.0 {
            Backend::Folder(store) => store.read(name),
            Backend::Objects(store) => store.read(name).await,
        }
    }

    /// Returns whether the content of a shard matches its name.
    pub async fn holds(&self, shard: &str) -> Result<bool, StoreError> {
        match &self.0 {
            Backend::Folder(store) => store.holds(shard),
            Backend::Objects(store) => store.holds(shard).await,
        }
    }

    /// Sends a shard from a local file and adds its bytes to `sent`. An incomplete shard never becomes visible.
    pub async fn send(
        &self,
        shard: &str,
        from: &Path,
        sent: &AtomicU64,
        stop: watch::Receiver<bool>,
    ) -> Result<(), StoreError> {
        match &self.0 {
            Backend::Folder(store) => store.send(shard, from, sent, &stop),
            Backend::Objects(store) => store.send(shard, from, sent, stop).await,
        }
    }

    /// Writes a small file, and overwrites an existing file.
    pub async fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        match &self.0 {
            Backend::Folder(store) => store.write(name, bytes),
            Backend::Objects(store) => store.write(name, bytes).await,
        }
    }

    /// Replaces the manifest if it is still `before`.
    pub async fn replace(&self, before: Option<&Current>, bytes: &[u8]) -> Result<(), StoreError> {
        let done = match &self.0 {
            Backend::Folder(store) => return store.write(Manifest::FILE, bytes),
            Backend::Objects(store) => store.replace(before, bytes).await,
        };
        match done {
            // A retry after a lost answer conflicts with the manifest that the first attempt wrote.
            Err(error) => match self.read(Manifest::FILE).await {
                Ok(Some(now)) if now.bytes == bytes => Ok(()),
                _ => Err(error),
            },
            done => done,
        }
    }

    /// Removes a file. Succeeds if the file does not exist.
    pub async fn remove(&self, name: &str) -> Result<(), StoreError> {
        match &self.0 {
            Backend::Folder(store) => store.remove(name),
            Backend::Objects(store) => store.remove(name).await,
        }
    }
}

/// Returns the name of a shard from the hash of its content.
fn name_of(hash: Sha256) -> String {
    shelfish::table::shard_name(&hash.finalize())
}
