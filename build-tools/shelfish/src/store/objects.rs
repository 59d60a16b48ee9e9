//! S3 and Google Cloud Storage, through the crate `object_store`.

use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::Path as LocalPath;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::buffered::BufWriter;
use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, GetOptions, GetRange, GetResult, ObjectStore, ObjectStoreExt,
    PutMode, PutOptions, UpdateVersion,
};
use sha2::{Digest, Sha256};
use shelfish::source::file::open;
use shelfish::source::retry::RetryPolicy;
use shelfish::source::{Source, SourceError, SourceErrorKind, Whole};
use shelfish::table::{Manifest, SHARD_ENDING};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::watch;

use super::client::{Cap, NoCredentials};
use super::{
    Address, Current, Role, StoreError, StoreErrorKind, StoredFile, brief, bucket, name_of,
};

/// Size of the parts in which larger files are sent. Stores accept parts from 5 MiB on.
const PART: u64 = 8 << 20;
/// Maximum number of parts that S3 accepts.
const MAX_PARTS: u64 = 9_000;
/// Maximum number of parts of a file that are sent in parallel.
const PARTS_AT_ONCE: usize = 2;
/// Name of the metadata field that contains the hash of a shard.
const SHA256: &str = "sha256";
/// Maximum time of a list.
const LIST_TIME: Duration = Duration::from_secs(120);
/// Maximum memory of a list in bytes. A manifest of the maximum size names half as many files.
const LIST_BYTES: usize = 32 << 20;

/// Folder of a bucket.
#[derive(Clone, Debug)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    address: Address,
}

impl Objects {
    /// Opens a folder of a bucket with settings from the environment. Sends no request.
    pub fn open(address: &Address, retry: RetryPolicy) -> Result<Objects, StoreError> {
        let store = bucket::open(address, retry).map_err(|error| {
            StoreError::new(address.locate(""), StoreErrorKind::Environment(error))
        })?;
        Ok(Objects {
            store,
            address: address.clone(),
        })
    }

    /// Converts an error to an error of readers.
    fn source_error(&self, name: &str, error: Error) -> SourceError {
        let is_unreachable = cause::<HttpError>(&error).is_some_and(|error| {
            matches!(
                error.kind(),
                HttpErrorKind::Connect | HttpErrorKind::Timeout | HttpErrorKind::Interrupted
            )
        });
        let kind = match &error {
            error if let Some(kind) = cause::<SourceErrorKind>(error) => kind.clone(),
            // Stores that may not be listed deny access to files that do not exist.
            Error::PermissionDenied { .. } if !is_about_credentials(&error) => {
                SourceErrorKind::Status(403)
            }
            error if is_unreachable => SourceErrorKind::Network(brief(error)),
            _ => {
                let kind = kind_of(error);
                let is_missing = matches!(kind, StoreErrorKind::Missing);
                let io = if is_missing {
                    ErrorKind::NotFound
                } else {
                    ErrorKind::Other
                };
                SourceErrorKind::Io(io, kind.to_string())
            }
        };
        SourceError::new(self.locate(name), kind)
    }

    fn path(&self, name: &str) -> Path {
        let parts = self.address.prefix.split('/').chain(name.split('/'));
        Path::from_iter(parts.filter(|part| !part.is_empty()))
    }

    fn error(&self, name: &str) -> impl Fn(Error) -> StoreError + use<> {
        let at = self.locate(name);
        move |error| StoreError::new(&at, kind_of(error))
    }

    /// Requests a file or a part of a file, of at most `cap` bytes, unless the file has the entity tag `etag`.
    async fn get(
        &self,
        name: &str,
        range: Option<GetRange>,
        cap: u64,
        etag: Option<&str>,
    ) -> Result<GetResult, Error> {
        let options = GetOptions {
            range,
            if_none_match: etag.map(str::to_owned),
            extensions: Cap(cap).extensions(),
            ..GetOptions::default()
        };
        self.store.get_opts(&self.path(name), options).await
    }

    pub(super) async fn list(&self, folder: &str) -> Result<Vec<StoredFile>, StoreError> {
        let prefix = self.path(folder);
        let depth = prefix.parts().count() + 1;
        let error = |kind| StoreError::new(self.locate(folder), kind);
        let list = async {
            let (mut entries, mut bytes) = (Vec::new(), 0);
            let mut all = self.store.list(Some(&prefix));
            while let Some(meta) = all.try_next().await.map_err(self.error(folder))? {
                bytes += meta.location.as_ref().len() + size_of::<StoredFile>();
                if bytes > LIST_BYTES {
                    return Err(error(StoreErrorKind::Crowded(LIST_BYTES)));
                }
                if let (Some(name), true) = (
                    meta.location.filename(),
                    meta.location.parts().count() == depth,
                ) {
                    entries.push(StoredFile {
                        name: name.to_owned(),
                        bytes: meta.size,
                        modified: meta.last_modified.into(),
                    });
                }
            }
            Ok(entries)
        };
        let list = tokio::time::timeout(LIST_TIME, list).await;
        list.map_err(|_| error(StoreErrorKind::Slow(LIST_TIME)))?
    }

    pub(super) async fn read(&self, name: &str) -> Result<Option<Current>, StoreError> {
        let current = |bytes, e_tag, version| {
            Some(Current {
                bytes,
                version: UpdateVersion { e_tag, version },
            })
        };
        let found = async {
            let found = self
                .get(name, None, Manifest::MAX_BYTES as u64, None)
                .await?;
            let (e_tag, version) = (found.meta.e_tag.clone(), found.meta.version.clone());
            Ok(current(found.bytes().await?.into(), e_tag, version))
        };
        match found.await {
            // The file is too long for a manifest. The caller rejects the empty content.
            Err(error) if matches!(cause(&error), Some(SourceErrorKind::Long { .. })) => {
                Ok(current(Vec::new(), None, None))
            }
            Err(error) => match kind_of(error) {
                StoreErrorKind::Missing => Ok(None),
                kind => Err(StoreError::new(self.locate(name), kind)),
            },
            Ok(current) => Ok(current),
        }
    }

    pub(super) async fn holds(&self, shard: &str) -> Result<bool, StoreError> {
        let head = GetOptions::new().with_head(true);
        let found = self
            .store
            .get_opts(&self.path(shard), head)
            .await
            .map_err(self.error(shard))?;
        let sent_hash = found.attributes.get(&Attribute::Metadata(SHA256.into()));
        Ok(sent_hash.is_some_and(|hash| hash.as_ref() == digits(shard)))
    }

    pub(super) async fn send(
        &self,
        shard: &str,
        from: &LocalPath,
        sent: &AtomicU64,
        mut stop: watch::Receiver<bool>,
    ) -> Result<(), StoreError> {
        let here = |kind| StoreError::new(from.display().to_string(), kind);
        let io = |error| here(StoreErrorKind::Io(error));
        let mut file = open(from).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        let part = PART.max(bytes.div_ceil(MAX_PARTS));
        let mut attributes = attributes(Role::Shard);
        let hash = digits(shard).to_owned();
        attributes.insert(Attribute::Metadata(SHA256.into()), hash.into());
        let path = self.path(shard);
        let mut writer = BufWriter::with_capacity(self.store.clone(), path, part as usize)
            .with_max_concurrency(PARTS_AT_ONCE)
            .with_attributes(attributes);
        let mut stopped = async || {
            let _ = stop.wait_for(|stop| *stop).await;
            Err(StoreError::new(self.locate(shard), StoreErrorKind::Stopped))
        };
        let parts = async {
            let mut hash = Sha256::new();
            loop {
                let mut content = Vec::new();
                let read = Read::by_ref(&mut file).take(part).read_to_end(&mut content);
                let length = read.map_err(io)? as u64;
                if length == 0 {
                    break;
                }
                hash.update(&content);
                let put = writer.put(content.into()).await;
                put.map_err(self.error(shard))?;
                sent.fetch_add(length, Ordering::Relaxed);
            }
            match name_of(hash) {
                found if found == shard => Ok(()),
                found => Err(here(StoreErrorKind::Content { found })),
            }
        };
        let done = tokio::select! { done = parts => done, never = stopped() => never };
        if done.is_err() {
            // Parts of an incomplete upload cost money until they are removed.
            let _ = tokio::time::timeout(Duration::from_secs(5), writer.abort()).await;
            return done;
        }
        let finish = async {
            let done = writer.shutdown().await;
            done.map_err(|error| match error.downcast() {
                Ok(error) => self.error(shard)(error),
                Err(error) => StoreError::new(self.locate(shard), StoreErrorKind::Io(error)),
            })
        };
        tokio::select! { done = finish => done, never = stopped() => never }
    }

    pub(super) async fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.put(name, bytes, PutMode::Overwrite).await
    }

    pub(super) async fn replace(
        &self,
        before: Option<&Current>,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let mode = match before {
            Some(before) => PutMode::Update(before.version.clone()),
            None => PutMode::Create,
        };
        self.put(Manifest::FILE, bytes, mode).await
    }

    async fn put(&self, name: &str, bytes: &[u8], mode: PutMode) -> Result<(), StoreError> {
        let options = PutOptions {
            mode,
            attributes: attributes(Role::Manifest),
            ..Default::default()
        };
        let put = self
            .store
            .put_opts(&self.path(name), bytes.to_vec().into(), options)
            .await;
        put.map(drop).map_err(self.error(name))
    }

    pub(super) async fn remove(&self, name: &str) -> Result<(), StoreError> {
        match self.store.delete(&self.path(name)).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.error(name)(error)),
        }
    }
}

impl Source for Objects {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        let cap = range.end.saturating_sub(range.start);
        let bytes = async {
            self.get(file, Some(GetRange::Bounded(range)), cap, None)
                .await?
                .bytes()
                .await
        };
        let bytes = bytes
            .await
            .map_err(|error| self.source_error(file, error))?;
        match bytes.len() as u64 {
            found if found < cap => {
                let kind = SourceErrorKind::Short {
                    expected: cap,
                    found,
                };
                Err(SourceError::new(self.locate(file), kind))
            }
            _ => Ok(bytes.into()),
        }
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        // Without an entity tag, no file is unchanged.
        let whole = self.whole_unless(file, cap, None).await?;
        Ok(whole.unwrap_or_default().bytes)
    }

    async fn whole_unless(
        &self,
        file: &str,
        cap: u64,
        etag: Option<&str>,
    ) -> Result<Option<Whole>, SourceError> {
        let whole = async {
            let found = self.get(file, None, cap, etag).await?;
            let etag = found.meta.e_tag.clone();
            Ok(Some(Whole {
                bytes: found.bytes().await?.into(),
                etag,
            }))
        };
        match whole.await {
            Err(Error::NotModified { .. }) if etag.is_some() => Ok(None),
            whole => whole.map_err(|error| self.source_error(file, error)),
        }
    }

    fn locate(&self, file: &str) -> String {
        self.address.locate(file)
    }
}

/// Converts an error of the library.
fn kind_of(error: Error) -> StoreErrorKind {
    match error {
        _ if let Some(missing) = cause::<NoCredentials>(&error) => {
            StoreErrorKind::NoCredentials(Box::new(missing.clone()))
        }
        Error::NotFound { .. } => StoreErrorKind::Missing,
        Error::Generic { .. } if error.to_string().contains("NoSuchBucket") => {
            StoreErrorKind::Missing
        }
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            StoreErrorKind::Denied(Box::new(error))
        }
        Error::Precondition { .. } | Error::AlreadyExists { .. } | Error::NotModified { .. } => {
            StoreErrorKind::Conflict
        }
        Error::NotImplemented { .. } | Error::NotSupported { .. } => StoreErrorKind::Unconditional,
        error => StoreErrorKind::Other(Box::new(error)),
    }
}

/// Returns whether a store rejects the credentials themselves.
fn is_about_credentials(error: &Error) -> bool {
    const CODES: [&str; 6] = [
        "InvalidAccessKeyId",
        "SignatureDoesNotMatch",
        "ExpiredToken",
        "InvalidToken",
        "RequestTimeTooSkewed",
        "InvalidSecurity",
    ];
    let text = brief(error);
    CODES.iter().any(|code| text.contains(code))
}

/// Finds a cause of an error.
fn cause<T: std::error::Error + 'static>(error: &Error) -> Option<&T> {
    std::iter::successors(std::error::Error::source(error), |error| error.source())
        .find_map(|error| error.downcast_ref())
}

/// Returns the hash in the name of a shard.
fn digits(shard: &str) -> &str {
    shard.strip_suffix(SHARD_ENDING).unwrap_or(shard)
}

fn attributes(role: Role) -> Attributes {
    Attributes::from_iter([
        (Attribute::ContentType, role.content_type()),
        (Attribute::CacheControl, role.cache_control()),
    ])
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;

    #[tokio::test]
    async fn a_shard_of_several_parts_is_sent_if_its_content_has_its_name()
    -> Result<(), Box<dyn std::error::Error>> {
        let store = Objects {
            store: Arc::new(InMemory::new()),
            address: Address::parse("s3://shelf/evals")?,
        };
        let (file, mut content) = (tempfile::NamedTempFile::new()?, vec![7; 2 * PART as usize]);
        std::fs::write(file.path(), &content)?;
        let name = name_of(Sha256::new_with_prefix(&content));
        let (stop, sent) = (watch::Sender::new(false), AtomicU64::new(0));
        let send = || store.send(&name, file.path(), &sent, stop.subscribe());
        send().await?;
        assert_eq!(store.whole(&name, 3 * PART).await?, content);
        assert!(store.holds(&name).await?);
        content[9] = 8;
        std::fs::write(file.path(), &content)?;
        let error = send().await.err().map(|error| error.kind);
        assert!(matches!(error, Some(StoreErrorKind::Content { .. })));
        Ok(())
    }
}
