//! S3 and Google Cloud Storage, through the crate `object_store`.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::Path as LocalPath;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use futures_util::{StreamExt, TryStreamExt};
use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, GetOptions, GetRange, GetResult, ObjectStore, ObjectStoreExt,
    PutMode, PutMultipartOptions, PutOptions, UpdateVersion,
};
use sha2::{Digest, Sha256};
use shelfish::source::file::open;
use shelfish::source::{Source, SourceError, SourceErrorKind, Whole};
use shelfish::table::{Manifest, SHARD_ENDING};
use tokio::sync::watch;

use super::bucket::Bucket;
use super::client::{Cap, NoCredentials};
use super::{Address, Current, Entry, Role, Settings, StoreError, StoreErrorKind, brief, name_of};

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
    bucket: Bucket,
    address: Address,
    settings: Settings,
}

impl Objects {
    /// Opens a folder of a bucket with settings from the environment. Sends no request.
    pub fn open(address: &Address, settings: Settings) -> Result<Objects, StoreError> {
        Ok(Objects {
            bucket: Bucket::open(address, settings)?,
            address: address.clone(),
            settings,
        })
    }

    /// Returns a text that identifies the origin of the bytes: the server, the account, the bucket and the folder.
    pub fn origin(&self) -> String {
        let Address { bucket, prefix, .. } = &self.address;
        [&self.bucket.server, bucket, prefix]
            .map(String::as_str)
            .join("\n")
    }

    fn store(&self) -> &dyn ObjectStore {
        &*self.bucket.store
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
        self.store().get_opts(&self.path(name), options).await
    }

    pub(super) async fn list(&self, folder: &str) -> Result<Vec<Entry>, StoreError> {
        let prefix = self.path(folder);
        let depth = prefix.parts().count() + 1;
        let error = |kind| StoreError::new(self.locate(folder), kind);
        let list = async {
            let (mut entries, mut bytes) = (Vec::new(), 0);
            let mut all = self.store().list(Some(&prefix));
            while let Some(meta) = all.try_next().await.map_err(self.error(folder))? {
                bytes += meta.location.as_ref().len() + size_of::<Entry>();
                if bytes > LIST_BYTES {
                    return Err(error(StoreErrorKind::Crowded(LIST_BYTES)));
                }
                if let (Some(name), true) = (
                    meta.location.filename(),
                    meta.location.parts().count() == depth,
                ) {
                    entries.push(Entry {
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
            .store()
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
        let length = self.settings.part_bytes(bytes);
        let (path, error_of) = (self.path(shard), self.error(shard));
        let mut attributes = attributes(Role::Shard);
        attributes.insert(
            Attribute::Metadata(SHA256.into()),
            digits(shard).to_owned().into(),
        );
        let mut stopped = async || {
            let _ = stop.wait_for(|stop| *stop).await;
            Err(StoreError::new(self.locate(shard), StoreErrorKind::Stopped))
        };
        let mut hash = Sha256::new();
        let is_right = |hash: Sha256| match name_of(hash) {
            found if found == shard => Ok(()),
            found => Err(here(StoreErrorKind::Content { found })),
        };
        if bytes <= length {
            let content = part(&mut file, length, &mut hash).map_err(io)?;
            is_right(hash)?;
            let options = PutOptions {
                attributes,
                ..Default::default()
            };
            let put = self.store().put_opts(&path, content.into(), options);
            let put = async { put.await.map(drop).map_err(error_of) };
            tokio::select! { put = put => put, never = stopped() => never }?;
            sent.fetch_add(bytes, Ordering::Relaxed);
            return Ok(());
        }
        let options = PutMultipartOptions {
            attributes,
            ..Default::default()
        };
        let mut upload = self
            .store()
            .put_multipart_opts(&path, options)
            .await
            .map_err(&error_of)?;
        let all = stream::repeat(())
            .map(|()| {
                let content = part(&mut file, length, &mut hash).map_err(io)?;
                let size = content.len() as u64;
                let put = (size > 0).then(|| upload.put_part(content.into()));
                Ok(put.map(|put| (put, size)))
            })
            .try_take_while(|part| std::future::ready(Ok(part.is_some())))
            .try_filter_map(|part| std::future::ready(Ok(part)))
            .map_ok(|(put, size)| async move { put.await.map(|()| size) })
            .map_ok(|put| {
                let error_of = &error_of;
                async move { put.await.map_err(error_of) }
            })
            .try_buffer_unordered(PARTS_AT_ONCE)
            .try_for_each(|size| {
                sent.fetch_add(size, Ordering::Relaxed);
                std::future::ready(Ok(()))
            });
        let done = tokio::select! { done = all => done, never = stopped() => never };
        let done = match done.and_then(|()| is_right(hash)) {
            Ok(()) => upload.complete().await.map(drop).map_err(error_of),
            error => error,
        };
        if done.is_err() {
            // Parts of an incomplete upload cost money until they are removed.
            let _ = tokio::time::timeout(Duration::from_secs(5), upload.abort()).await;
        }
        done
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
            _ if self.settings.unconditional => PutMode::Overwrite,
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
            .store()
            .put_opts(&self.path(name), bytes.to_vec().into(), options)
            .await;
        put.map(drop).map_err(self.error(name))
    }

    pub(super) async fn remove(&self, name: &str) -> Result<(), StoreError> {
        match self.store().delete(&self.path(name)).await {
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

/// Reads at most `length` bytes of a file.
fn part(file: &mut File, length: u64, hash: &mut Sha256) -> std::io::Result<Bytes> {
    let mut content = Vec::new();
    file.take(length).read_to_end(&mut content)?;
    hash.update(&content);
    Ok(content.into())
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
