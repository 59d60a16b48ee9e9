//! Where databases are published and read from, beyond a host of HTTP: S3 and what speaks it, Google Cloud Storage, Azure,
//! or a folder.
//!
//! A shard is named by its content, so that it is never changed, only sent and removed. The manifest is the one file that
//! changes, and it changes only if it is still the one that was read: a condition that the store checks, or, in a folder, a
//! lock.

mod address;
mod folder;
mod objects;

pub use address::{Address, AddressError, Kind};

use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use shelfish::source::Source;
use shelfish::source::integrity::Integrity;
use shelfish::table::Manifest;
use tokio::sync::watch;

use crate::system::workspace::WorkspaceError;
use folder::Folder;
pub use objects::{Objects, S3};

/// The usual size of parts. Stores take 5 MiB at least.
pub const PART: u64 = 8 << 20;
/// S3 takes at most 10,000 parts.
const MAX_PARTS: u64 = 9_000;

/// A store's folder, opened to be changed.
pub struct Store(Backend);

enum Backend {
    Folder(Folder),
    Objects(Objects),
}

/// A file of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name within its folder.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// When it was written, by the store's clock.
    pub modified: SystemTime,
}

/// The manifest that a store has, and by what the store knows it again.
#[derive(Clone, Debug)]
pub struct Current {
    /// The file.
    pub bytes: Vec<u8>,
    version: object_store::UpdateVersion,
}

impl Current {
    /// Its hash.
    pub fn integrity(&self) -> String {
        Integrity::of(&self.bytes).to_string()
    }
}

/// What went wrong with which file.
#[derive(Debug)]
pub struct StoreError {
    /// URL or path of the file.
    pub at: String,
    /// What went wrong.
    pub fault: StoreFault,
}

/// What can go wrong in a store.
#[derive(Debug)]
pub enum StoreFault {
    /// There is no such file, or no such bucket.
    Missing,
    /// The store does not know who asks, or does not let them.
    Denied(Box<object_store::Error>),
    /// The manifest is no longer the one that was read.
    Conflict,
    /// The store has no writing on a condition.
    Unconditional,
    /// A local file could not be read or written.
    Io(std::io::Error),
    /// A local file is not the one that it was when it was named.
    Content {
        /// The name that its content has.
        found: String,
    },
    /// The folder cannot be had for writing.
    Folder(Box<WorkspaceError>),
    /// The work was stopped.
    Stopped,
    /// Something else, as the store says it.
    Other(Box<object_store::Error>),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = &self.at;
        match &self.fault {
            StoreFault::Missing => write!(f, "{at}: there is no such file or bucket"),
            StoreFault::Denied(error) => write!(
                f,
                "{at}: the store refuses ({}); check the credentials in the environment, `shelfish publish --help` names them",
                brief(error)
            ),
            StoreFault::Conflict => write!(
                f,
                "{at}: somebody else published meanwhile, theirs stays; run again to publish yours in its place"
            ),
            StoreFault::Unconditional => write!(
                f,
                "{at}: the store cannot replace a file on the condition that it did not change; \
                 where nobody else publishes, give --unconditional"
            ),
            StoreFault::Io(error) => write!(f, "{at}: {error}"),
            StoreFault::Content { found } => write!(
                f,
                "{at}: its content is that of {found}, so it was damaged after it was built; nothing was replaced. \
                 `shelfish verify` says more; build it again"
            ),
            StoreFault::Folder(error) => error.fmt(f),
            StoreFault::Stopped => write!(f, "{at}: stopped"),
            StoreFault::Other(error) => write!(f, "{at}: {}", brief(error)),
        }
    }
}

impl std::error::Error for StoreError {}

/// The last causes of an error, which say most.
fn brief(error: &object_store::Error) -> String {
    let mut causes = vec![error.to_string()];
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    // A cause repeats those below it; bodies of answers are long.
    let last = causes.iter().rev().take(2).rev().cloned().collect::<Vec<_>>();
    let whole = causes.first().map(String::as_str).unwrap_or_default();
    let mut text =
        if last.iter().all(|cause| whole.contains(cause.as_str())) { whole.to_owned() } else { last.join(": ") };
    if let Some((end, _)) = text.char_indices().nth(400) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// What a file of a database is, which decides how it is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Named by its content: kept by browsers and networks forever.
    Shard,
    /// The manifest: asked for again after a minute.
    Manifest,
}

impl Role {
    /// Its media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Role::Shard => "model/mesh",
            Role::Manifest => "application/json",
        }
    }

    /// How long it may be kept.
    pub fn cache_control(self) -> &'static str {
        match self {
            Role::Shard => "public, max-age=31536000, immutable, no-transform",
            Role::Manifest => "public, max-age=60",
        }
    }
}

/// How a store is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// Larger files are sent in parts of so many bytes; [`PART`] if nothing is said.
    pub part: Option<u64>,
    /// Whether the manifest is replaced whatever it is by now.
    pub unconditional: bool,
    /// How long one answer may take, with all that is sent again; minutes if nothing is said.
    pub timeout: Option<Duration>,
    /// How often a request is sent again; eight times if nothing is said.
    pub retries: Option<usize>,
}

impl Settings {
    /// Bytes of each part of a file; a file that has no more is sent in one request.
    pub fn part_bytes(&self, bytes: u64) -> u64 {
        self.part.unwrap_or(PART).max(bytes.div_ceil(MAX_PARTS))
    }

    /// Requests that sending a file takes.
    pub fn requests(&self, bytes: u64) -> u64 {
        let part = self.part_bytes(bytes);
        if bytes <= part { 1 } else { bytes.div_ceil(part) + 2 }
    }
}

impl Store {
    /// Opens a store for writing. A folder is made if it is not there; nobody else writes to it as long as this lives.
    ///
    /// # Errors
    ///
    /// What the environment says of the store is not complete, or the folder is not to be had.
    pub fn open(address: &Address, settings: Settings) -> Result<Store, StoreError> {
        Ok(Store(match address.folder() {
            Some(folder) => Backend::Folder(Folder::open(folder)?),
            None => Backend::Objects(Objects::open(address, settings)?),
        }))
    }

    /// Where a file is, for messages.
    pub fn locate(&self, name: &str) -> String {
        match &self.0 {
            Backend::Folder(folder) => folder.locate(name),
            Backend::Objects(objects) => objects.locate(name),
        }
    }

    /// The store behind it, unless it is a folder.
    pub fn objects(&self) -> Option<&Objects> {
        match &self.0 {
            Backend::Folder(_) => None,
            Backend::Objects(objects) => Some(objects),
        }
    }

    /// The files of a folder within; none if there is no such folder.
    ///
    /// # Errors
    ///
    /// The store does not answer, or not to us.
    pub async fn list(&self, folder: &str) -> Result<Vec<Entry>, StoreError> {
        match &self.0 {
            Backend::Folder(store) => store.list(folder),
            Backend::Objects(store) => store.list(folder).await,
        }
    }

    /// A small file and what the store knows it by; `None` if there is none.
    ///
    /// # Errors
    ///
    /// It is longer than a manifest, or cannot be read.
    pub async fn read(&self, name: &str) -> Result<Option<Current>, StoreError> {
        match &self.0 {
            Backend::Folder(store) => store.read(name),
            Backend::Objects(store) => store.read(name).await,
        }
    }

    /// Whether a shard that is there has the content that its name says.
    ///
    /// # Errors
    ///
    /// It cannot be asked for.
    pub async fn holds(&self, shard: &str) -> Result<bool, StoreError> {
        match &self.0 {
            Backend::Folder(store) => store.holds(shard),
            Backend::Objects(store) => store.holds(shard).await,
        }
    }

    /// Sends the shard in a local file, `sent` counting its bytes. It is there whole or not at all.
    ///
    /// # Errors
    ///
    /// The local file has another content than its name says, it cannot be sent, or `stop` became true.
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

    /// Writes a small file, whatever was there.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub async fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        match &self.0 {
            Backend::Folder(store) => store.write(name, bytes),
            Backend::Objects(store) => store.write(name, bytes).await,
        }
    }

    /// Replaces the manifest, if it is still `before`.
    ///
    /// # Errors
    ///
    /// [`StoreFault::Conflict`] if it is not; else what the store says.
    pub async fn replace(&self, before: Option<&Current>, bytes: &[u8]) -> Result<(), StoreError> {
        let done = match &self.0 {
            Backend::Folder(store) => return store.write(Manifest::FILE, bytes),
            Backend::Objects(store) => store.replace(before, bytes).await,
        };
        match done {
            // A request whose answer was lost is sent again, and then finds what it wrote itself.
            Err(error) => match self.read(Manifest::FILE).await {
                Ok(Some(now)) if now.bytes == bytes => Ok(()),
                _ => Err(error),
            },
            done => done,
        }
    }

    /// Removes a file; one that is not there is removed.
    ///
    /// # Errors
    ///
    /// The store does not let it be removed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_within_what_stores_take() {
        let usual = Settings::default();
        for bytes in [PART + 1, 64 << 20, 1 << 30, 5 << 40] {
            let part = usual.part_bytes(bytes);
            assert!(part >= 5 << 20 && bytes.div_ceil(part) <= 10_000, "{bytes}");
        }
        assert_eq!([1, PART, PART + 1].map(|bytes| usual.requests(bytes)), [1, 1, 4]);
    }
}
