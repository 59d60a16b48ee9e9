//! Stores for published databases: S3 and compatible stores, Google Cloud Storage, Azure, and folders.
//!
//! A shard is named by its content, so it is sent or removed but never changed. Only the manifest is replaced, on the
//! condition that it did not change since it was read. Object stores check this condition; a folder is locked.

mod address;
mod bucket;
mod client;
mod credentials;
mod environment;
mod folder;
mod listing;
mod objects;
mod retry;
mod upload_list;
mod uploads;

pub use address::{Address, AddressError, Kind};
pub use bucket::S3;
pub use credentials::NoCredentials;
pub use environment::{VariableError, VariableErrorKind};

use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use shelfish::source::Source;
use shelfish::source::integrity::Integrity;
use shelfish::source::redaction::redacted;
use shelfish::source::retry::RetryPolicy;
use shelfish::table::Manifest;
use tokio::sync::watch;

use crate::system::retry::MAX_RETRIES;
use crate::system::workspace::WorkspaceError;
use credentials::Denied;
use environment::BuildError;
use folder::Folder;
pub use objects::Objects;
pub use upload_list::Upload;
pub use uploads::UploadsError;

/// Default size of parts. Stores accept parts from 5 MiB on.
pub const PART: u64 = 8 << 20;
/// Maximum number of parts that S3 accepts.
const MAX_PARTS: u64 = 9_000;

/// Folder of a store, opened for writing.
pub struct Store(Backend);

enum Backend {
    Folder(Folder),
    Objects(Box<Objects>),
}

/// File of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
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
#[derive(Debug)]
pub struct StoreError {
    /// URL or path of the file.
    pub at: String,
    /// Kind of the error.
    pub kind: StoreErrorKind,
}

/// Kinds of errors of a store.
#[derive(Debug)]
pub enum StoreErrorKind {
    /// The file or bucket does not exist.
    Missing,
    /// The store rejects the credentials, or denies access.
    Denied(Box<object_store::Error>),
    /// There are no credentials.
    NoCredentials(Box<NoCredentials>),
    /// A variable of the environment is invalid.
    Variable(Box<VariableError>),
    /// The manifest changed since it was read.
    Conflict,
    /// The store does not support conditional writes.
    Unconditional,
    /// A local file could not be read or written.
    Io(std::io::Error),
    /// The content of a local file does not match its name.
    Content {
        /// Name that matches the content.
        found: String,
    },
    /// The folder cannot be opened for writing.
    Folder(Box<WorkspaceError>),
    /// The list of the files exceeds a limit.
    Listing(ListingError),
    /// The work was stopped.
    Stopped,
    /// Other error of the store.
    Other(Box<object_store::Error>),
}

/// Limits of the list of the files of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListingError {
    /// The names need too much memory.
    Long {
        /// Maximum memory in bytes.
        bytes: usize,
    },
    /// There are too many pages.
    Pages {
        /// Maximum number of pages.
        pages: usize,
    },
    /// The token of the next page is the same again, or is too long.
    Token,
    /// The list contains a file twice.
    Repeated,
    /// The list was not complete in time.
    Slow(Duration),
}

impl fmt::Display for ListingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListingError::Long { bytes } => {
                write!(f, "the names of its files exceed {bytes} bytes; use a folder for this database alone")
            }
            ListingError::Pages { pages } => {
                write!(f, "the list of its files has more than {pages} pages; use a folder for this database alone")
            }
            ListingError::Token => {
                f.write_str("the list of its files does not continue: the token of the next page is invalid")
            }
            ListingError::Repeated => f.write_str(
                "the list of its files contains a file twice, so that it may have no end; run the command again",
            ),
            ListingError::Slow(time) => write!(f, "the list of its files was not complete within {} s", time.as_secs()),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = &self.at;
        match &self.kind {
            StoreErrorKind::Missing => write!(f, "{at}: there is no such file or bucket"),
            StoreErrorKind::Denied(error) => write!(f, "{at}: {}", Denied(error)),
            StoreErrorKind::NoCredentials(missing) => write!(f, "{at}: {missing}"),
            StoreErrorKind::Variable(error) => write!(f, "{at}: {error}"),
            StoreErrorKind::Conflict => write!(
                f,
                "{at}: somebody else published in the meantime and was not overwritten; run the command again to replace \
                 that database"
            ),
            StoreErrorKind::Unconditional => write!(
                f,
                "{at}: the store cannot replace a file conditionally; if nobody else publishes, use --unconditional"
            ),
            StoreErrorKind::Io(error) => write!(f, "{at}: {error}"),
            StoreErrorKind::Content { found } => write!(
                f,
                "{at}: the content matches the name {found}, so the file was damaged after the build; nothing was replaced. \
                 Run `shelfish verify` for details, and build again"
            ),
            StoreErrorKind::Folder(error) => error.fmt(f),
            StoreErrorKind::Listing(error) => write!(f, "{at}: {error}"),
            StoreErrorKind::Stopped => write!(f, "{at}: stopped"),
            StoreErrorKind::Other(error) => write!(f, "{at}: {}", brief(error)),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            StoreErrorKind::Variable(error) => Some(&**error),
            _ => None,
        }
    }
}

impl From<BuildError> for StoreErrorKind {
    fn from(error: BuildError) -> StoreErrorKind {
        match error {
            BuildError::Variable(error) => StoreErrorKind::Variable(Box::new(error)),
            BuildError::Other(error) => StoreErrorKind::Other(error),
        }
    }
}

/// Returns the last causes of an error, which contain the details, without the secrets of URLs.
fn brief(error: &object_store::Error) -> String {
    let causes = causes(error);
    if let Some(answer) = causes.iter().rev().find_map(|cause| answered(cause)) {
        return answer;
    }
    // The text of a cause can contain its own causes.
    let last = causes
        .iter()
        .rev()
        .take(2)
        .rev()
        .cloned()
        .collect::<Vec<_>>();
    let whole = causes.first().map(String::as_str).unwrap_or_default();
    let text = if last.iter().all(|cause| whole.contains(cause.as_str())) {
        whole.to_owned()
    } else {
        last.join(": ")
    };
    cut(redacted(&text))
}

/// Returns an error and its causes as texts.
fn causes(error: &object_store::Error) -> Vec<String> {
    let mut causes = vec![error.to_string()];
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    causes
}

/// Returns the code and message of an answer in the XML of stores.
fn answered(text: &str) -> Option<String> {
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(
            rest.split_once('<')?
                .0
                .trim()
                .replace("&quot;", "\"")
                .replace("&apos;", "'"),
        )
    };
    let code = element("Code")?;
    let message = element("Message")
        .or_else(|| element("Details"))
        .unwrap_or_default();
    // Azure appends the number and the time of the request on separate lines.
    let message = message.lines().next().unwrap_or_default();
    Some(cut(redacted(&if message.is_empty() {
        code
    } else {
        format!("{code}: {message}")
    })))
}

/// Shortens the text of a store, because bodies of answers are long.
fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(400) {
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

/// Settings of a store.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Size of the parts in which larger files are sent, in bytes. The default is [`PART`].
    pub part: Option<u64>,
    /// Whether to replace the manifest without a condition.
    pub unconditional: bool,
    /// Timeout of a request, including retries. Each 16 KiB that are transferred extend it by a second. The default is a
    /// minute for each attempt.
    pub timeout: Option<Duration>,
    /// Policy of retries. The default is [`MAX_RETRIES`] retries.
    pub retry: RetryPolicy,
}

impl Default for Settings {
    fn default() -> Settings {
        let retry = RetryPolicy::default().with_max_retries(MAX_RETRIES.into());
        Settings {
            part: None,
            unconditional: false,
            timeout: None,
            retry,
        }
    }
}

impl Settings {
    /// Returns the size of the parts of a file. A file that fits into a part is sent in one request.
    pub fn part_bytes(&self, bytes: u64) -> u64 {
        self.part.unwrap_or(PART).max(bytes.div_ceil(MAX_PARTS))
    }

    /// Returns the number of requests to send a file.
    pub fn requests(&self, bytes: u64) -> u64 {
        let part = self.part_bytes(bytes);
        if bytes <= part {
            1
        } else {
            bytes.div_ceil(part) + 2
        }
    }
}

impl Store {
    /// Opens a store for writing. A missing folder is created. The folder is locked until the store is dropped.
    pub fn open(address: &Address, settings: Settings) -> Result<Store, StoreError> {
        Ok(Store(match address.folder() {
            Some(folder) => Backend::Folder(Folder::open(folder)?),
            None => Backend::Objects(Box::new(Objects::open(address, settings)?)),
        }))
    }

    /// Returns the URL or path of a file, for messages.
    pub fn locate(&self, name: &str) -> String {
        match &self.0 {
            Backend::Folder(folder) => folder.locate(name),
            Backend::Objects(objects) => objects.locate(name),
        }
    }

    /// Returns the object store, unless the store is a folder.
    pub fn objects(&self) -> Option<&Objects> {
        match &self.0 {
            Backend::Folder(_) => None,
            Backend::Objects(objects) => Some(objects),
        }
    }

    /// Lists the files of a folder. A missing folder is empty.
    pub async fn list(&self, folder: &str) -> Result<Vec<Entry>, StoreError> {
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

    /// Returns whether the parts of incomplete uploads stay until somebody removes them.
    pub fn keeps_uploads(&self) -> bool {
        self.objects().is_some_and(|objects| objects.s3().is_some())
    }

    /// Removes the incomplete uploads of shards that `is_left` selects, and returns their number.
    pub async fn remove_uploads(
        &self,
        is_left: impl Fn(&Upload) -> bool,
    ) -> Result<u64, UploadsError> {
        let Some(objects) = self.objects() else {
            return Ok(0);
        };
        let Some(s3) = objects.s3() else { return Ok(0) };
        let folder = &objects.address().prefix;
        let mut removed = 0;
        for upload in s3
            .uploads(folder)
            .await?
            .iter()
            .filter(|upload| is_left(upload))
        {
            s3.remove_upload(folder, upload).await?;
            removed += 1;
        }
        Ok(removed)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_xml_is_shown_as_its_code_and_message() {
        let xml = "status 403: <?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>No &quot;x&quot;\nTime:9</Message>";
        assert_eq!(answered(xml).as_deref(), Some("AccessDenied: No \"x\""));
        assert_eq!(answered("<Code>A</Code>").as_deref(), Some("A"));
        assert_eq!(answered("no XML"), None);
    }

    #[test]
    fn parts_respect_the_limits_of_stores() {
        let usual = Settings::default();
        for bytes in [PART + 1, 64 << 20, 1 << 30, 5 << 40] {
            let part = usual.part_bytes(bytes);
            assert!(part >= 5 << 20 && bytes.div_ceil(part) <= 10_000, "{bytes}");
        }
        assert_eq!(
            [1, PART, PART + 1].map(|bytes| usual.requests(bytes)),
            [1, 1, 4]
        );
    }
}
