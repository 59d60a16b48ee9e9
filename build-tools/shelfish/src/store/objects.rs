//! S3, Google Cloud Storage and Azure, through the crate `object_store`.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::Path as LocalPath;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, GetOptions, GetRange, GetResult, ObjectStoreExt, PutMode,
    PutMultipartOptions, PutOptions,
};
use sha2::{Digest, Sha256};
use shelfish::source::file::open;
use shelfish::source::host::Deadline;
use shelfish::source::http::Requested;
use shelfish::source::{Source, SourceError, SourceErrorKind, Whole};
use shelfish::table::Manifest;
use tokio::sync::watch;

use super::bucket::{Bucket, S3, Server, TIMEOUT};
use super::client::{Expected, extension};
use super::credentials::{Denied, is_credential_error, no_credentials};
use super::listing::PageError;
use super::{Address, Current, Entry, Role, Settings, StoreError, StoreErrorKind, brief, name_of};
use crate::system::url::without_password;

/// Maximum number of parts of a file that are sent in parallel.
const PARTS_AT_ONCE: usize = 2;
/// Name of the metadata field that contains the hash of a shard.
const SHA256: &str = "sha256";

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

    /// Returns the data for S3's protocol, if the store uses it.
    pub fn s3(&self) -> Option<&S3> {
        self.bucket.s3.as_ref()
    }

    /// Returns the address of the folder.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns a text that identifies the origin of the bytes: the server, the account, the bucket and the folder.
    pub fn origin(&self) -> String {
        let Address { bucket, prefix, .. } = &self.address;
        let Server { url, account } = &self.bucket.server;
        [&without_password(url), account, bucket, prefix]
            .map(String::as_str)
            .join("\n")
    }

    /// Converts an error to an error of readers.
    fn source_error(&self, name: &str, error: Error) -> SourceError {
        let kind = match &error {
            error if let Some(kind) = source_kind(error) => kind.clone(),
            Error::NotFound { .. } => SourceErrorKind::Io(
                ErrorKind::NotFound,
                "there is no such file or bucket".to_owned(),
            ),
            // Stores that may not be listed deny access to files that do not exist.
            Error::PermissionDenied { .. } if !is_credential_error(&error) => {
                SourceErrorKind::Status(403)
            }
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                SourceErrorKind::Io(ErrorKind::PermissionDenied, Denied(&error).to_string())
            }
            error if let Some(missing) = no_credentials(error) => {
                SourceErrorKind::Io(ErrorKind::PermissionDenied, missing.to_string())
            }
            error if is_unreachable(error) => SourceErrorKind::Network(brief(error)),
            error => SourceErrorKind::Io(ErrorKind::Other, brief(error)),
        };
        SourceError::new(self.locate(name), kind)
    }

    fn path(&self, name: &str) -> Path {
        Path::from_iter(
            self.address
                .prefix
                .split('/')
                .chain(name.split('/'))
                .filter(|part| !part.is_empty()),
        )
    }

    fn error(&self, name: &str) -> impl Fn(Error) -> StoreError + use<> {
        let at = self.locate(name);
        move |error| {
            let missing = no_credentials(&error).cloned();
            let kind = match error {
                _ if let Some(missing) = missing => {
                    StoreErrorKind::NoCredentials(Box::new(missing))
                }
                Error::NotFound { .. } => StoreErrorKind::Missing,
                Error::Generic { .. } if is_no_bucket(&error) => StoreErrorKind::Missing,
                Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                    StoreErrorKind::Denied(Box::new(error))
                }
                Error::Precondition { .. }
                | Error::AlreadyExists { .. }
                | Error::NotModified { .. } => StoreErrorKind::Conflict,
                Error::NotImplemented { .. } | Error::NotSupported { .. } => {
                    StoreErrorKind::Unconditional
                }
                error => StoreErrorKind::Other(Box::new(error)),
            };
            StoreError {
                at: at.clone(),
                kind,
            }
        }
    }

    /// Requests a file or a part of a file, unless the file has the entity tag `etag`. The response is complete and has at
    /// most the expected size.
    async fn request(
        &self,
        name: &str,
        requested: Requested,
        etag: Option<&str>,
    ) -> Result<GetResult, Error> {
        let range = match &requested {
            Requested::Range(range) => Some(GetRange::Bounded(range.clone())),
            Requested::Whole { .. } => None,
        };
        let deadline = Deadline::new(self.settings.timeout.unwrap_or(TIMEOUT));
        let extensions = extension(Expected::File(requested, deadline));
        let if_none_match = etag.map(str::to_owned);
        let options = GetOptions {
            range,
            if_none_match,
            extensions,
            ..GetOptions::default()
        };
        self.bucket.store.get_opts(&self.path(name), options).await
    }

    pub(super) async fn list(&self, folder: &str) -> Result<Vec<Entry>, StoreError> {
        self.bucket
            .pages
            .list(&self.path(folder))
            .await
            .map_err(|error| match error {
                PageError::Store(error) => self.error(folder)(error),
                PageError::Listing(error) => StoreError {
                    at: self.locate(folder),
                    kind: StoreErrorKind::Listing(error),
                },
            })
    }

    pub(super) async fn read(&self, name: &str) -> Result<Option<Current>, StoreError> {
        let error_of = self.error(name);
        let whole = async {
            let found = self
                .request(
                    name,
                    Requested::Whole {
                        cap: Manifest::MAX_BYTES as u64,
                    },
                    None,
                )
                .await?;
            let version = object_store::UpdateVersion {
                e_tag: found.meta.e_tag.clone(),
                version: found.meta.version.clone(),
            };
            Ok(Current {
                bytes: found.bytes().await?.into(),
                version,
            })
        };
        match whole.await {
            // The file is too long for a manifest. The caller rejects the empty content.
            Err(error) if matches!(source_kind(&error), Some(SourceErrorKind::Long { .. })) => {
                let version = object_store::UpdateVersion {
                    e_tag: None,
                    version: None,
                };
                Ok(Some(Current {
                    bytes: Vec::new(),
                    version,
                }))
            }
            Err(error) => match error_of(error) {
                StoreError {
                    kind: StoreErrorKind::Missing,
                    ..
                } => Ok(None),
                error => Err(error),
            },
            Ok(current) => Ok(Some(current)),
        }
    }

    pub(super) async fn holds(&self, shard: &str) -> Result<bool, StoreError> {
        let head = GetOptions::new().with_head(true);
        let found = self
            .bucket
            .store
            .get_opts(&self.path(shard), head)
            .await
            .map_err(self.error(shard))?;
        let sent_hash = found.attributes.get(&Attribute::Metadata(SHA256.into()));
        Ok(sent_hash.is_some_and(|hash| {
            shard.strip_suffix(shelfish::table::SHARD_ENDING) == Some(hash.as_ref())
        }))
    }

    pub(super) async fn send(
        &self,
        shard: &str,
        from: &LocalPath,
        sent: &AtomicU64,
        mut stop: watch::Receiver<bool>,
    ) -> Result<(), StoreError> {
        let here = |error| StoreError {
            at: from.display().to_string(),
            kind: StoreErrorKind::Io(error),
        };
        let stopped = || StoreError {
            at: self.locate(shard),
            kind: StoreErrorKind::Stopped,
        };
        let wrong = |found| StoreError {
            at: from.display().to_string(),
            kind: StoreErrorKind::Content { found },
        };
        let mut file = open(from).map_err(here)?;
        let bytes = file.metadata().map_err(here)?.len();
        let mut attributes = attributes(Role::Shard);
        let digits = shard
            .strip_suffix(shelfish::table::SHARD_ENDING)
            .unwrap_or(shard)
            .to_owned();
        attributes.insert(Attribute::Metadata(SHA256.into()), digits.into());
        let mut hash = Sha256::new();
        let length = self.settings.part_bytes(bytes);
        if bytes <= length {
            let content = part(&mut file, bytes, &mut hash).map_err(here)?;
            let found = name_of(hash);
            if found != shard {
                return Err(wrong(found));
            }
            let options = PutOptions {
                attributes,
                ..Default::default()
            };
            let path = self.path(shard);
            let put = self.bucket.store.put_opts(&path, content.into(), options);
            let put = tokio::select! {
                put = put => put,
                _ = stop.wait_for(|stop| *stop) => return Err(stopped()),
            };
            put.map_err(self.error(shard))?;
            sent.fetch_add(bytes, Ordering::Relaxed);
            return Ok(());
        }
        let options = PutMultipartOptions {
            attributes,
            ..Default::default()
        };
        let mut upload = self
            .bucket
            .store
            .put_multipart_opts(&self.path(shard), options)
            .await
            .map_err(self.error(shard))?;
        let mut under_way = FuturesUnordered::new();
        let all = async {
            loop {
                let content = part(&mut file, length, &mut hash).map_err(here)?;
                let (is_over, size) = (content.is_empty(), content.len() as u64);
                if !is_over {
                    let put = upload.put_part(content.into());
                    under_way.push(async move { put.await.map(|()| size) });
                }
                while under_way.len() >= PARTS_AT_ONCE || (is_over && !under_way.is_empty()) {
                    if let Some(done) = under_way.next().await {
                        sent.fetch_add(done.map_err(self.error(shard))?, Ordering::Relaxed);
                    }
                }
                if is_over {
                    let found = name_of(std::mem::take(&mut hash));
                    return if found == shard {
                        Ok(())
                    } else {
                        Err(wrong(found))
                    };
                }
            }
        };
        let done = tokio::select! {
            done = all => done,
            _ = stop.wait_for(|stop| *stop) => Err(stopped()),
        };
        drop(under_way);
        let done = match done {
            Ok(()) => upload.complete().await.map(drop).map_err(self.error(shard)),
            error => error,
        };
        match done {
            // Another process completed the same shard and removed this upload.
            Err(StoreError {
                kind: StoreErrorKind::Missing,
                ..
            }) if self.holds(shard).await.unwrap_or(false) => Ok(()),
            Err(error) => {
                // Parts of an incomplete upload cost money until they are removed.
                let _ = tokio::time::timeout(Duration::from_secs(5), upload.abort()).await;
                Err(error)
            }
            done => done,
        }
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
            .bucket
            .store
            .put_opts(&self.path(name), bytes.to_vec().into(), options)
            .await;
        put.map(drop).map_err(self.error(name))
    }

    pub(super) async fn remove(&self, name: &str) -> Result<(), StoreError> {
        match self
            .bucket
            .store
            .delete(&self.path(name))
            .await
            .map_err(self.error(name))
        {
            Err(StoreError {
                kind: StoreErrorKind::Missing,
                ..
            }) => Ok(()),
            removed => removed,
        }
    }
}

impl Source for Objects {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        let bytes = async {
            self.request(file, Requested::Range(range), None)
                .await?
                .bytes()
                .await
        };
        bytes
            .await
            .map(Vec::from)
            .map_err(|error| self.source_error(file, error))
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        // Without an entity tag, no file is unchanged.
        Ok(self
            .whole_unless(file, cap, None)
            .await?
            .unwrap_or_default()
            .bytes)
    }

    async fn whole_unless(
        &self,
        file: &str,
        cap: u64,
        etag: Option<&str>,
    ) -> Result<Option<Whole>, SourceError> {
        let error_of = |error| self.source_error(file, error);
        let found = match self.request(file, Requested::Whole { cap }, etag).await {
            Err(Error::NotModified { .. }) if etag.is_some() => return Ok(None),
            found => found.map_err(error_of)?,
        };
        let (expected, etag) = (found.meta.size, found.meta.e_tag.clone());
        let bytes: Vec<u8> = found.bytes().await.map_err(error_of)?.into();
        match bytes.len() as u64 {
            found if found < expected => Err(SourceError::new(
                self.locate(file),
                SourceErrorKind::Short { expected, found },
            )),
            found if found > expected => Err(SourceError::new(
                self.locate(file),
                SourceErrorKind::Long { expected },
            )),
            _ => Ok(Some(Whole { bytes, etag })),
        }
    }

    fn locate(&self, file: &str) -> String {
        self.address.locate(file)
    }
}

/// Returns whether the message of a store means that the bucket does not exist.
fn is_no_bucket(error: &Error) -> bool {
    let text = error.to_string();
    ["NoSuchBucket", "ContainerNotFound"]
        .iter()
        .any(|code| text.contains(code))
}

/// Finds a cause of an error.
fn cause<T: std::error::Error + 'static>(error: &Error) -> Option<&T> {
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        cause = error.source();
    }
    None
}

/// Returns the limit that a response exceeded, or its contradiction to the request.
fn source_kind(error: &Error) -> Option<&SourceErrorKind> {
    cause(error)
}

/// Returns whether the store did not answer.
fn is_unreachable(error: &Error) -> bool {
    cause::<HttpError>(error).is_some_and(|error| {
        matches!(
            error.kind(),
            HttpErrorKind::Connect | HttpErrorKind::Timeout | HttpErrorKind::Interrupted
        )
    })
}

/// Reads at most `length` bytes of a file.
fn part(file: &mut File, length: u64, hash: &mut Sha256) -> std::io::Result<Bytes> {
    let mut content = Vec::with_capacity(length as usize);
    file.take(length).read_to_end(&mut content)?;
    hash.update(&content);
    Ok(content.into())
}

fn attributes(role: Role) -> Attributes {
    Attributes::from_iter([
        (Attribute::ContentType, role.content_type()),
        (Attribute::CacheControl, role.cache_control()),
    ])
}
