//! Sources of bytes: a directory, memory, or a host that supports HTTP range requests. Implement [`Source`] for any
//! other storage with byte ranges.
//!
//! A source returns ranges of immutable files, and whole small files. The result has exactly the requested length, and
//! every request ends. The reader verifies the checksums. [`http`] checks the responses of all HTTP clients.

#[cfg(not(target_arch = "wasm32"))]
pub mod file;
#[cfg(all(feature = "http", not(target_arch = "wasm32")))]
pub mod host;
pub mod http;
pub mod integrity;
#[cfg(not(target_arch = "wasm32"))]
pub mod memory;
#[cfg(not(target_arch = "wasm32"))]
pub mod redaction;
pub mod retry;

use core::ops::Range;
use core::time::Duration;

use futures_util::FutureExt as _;
use thiserror::Error;

use crate::quoted::Quoted;

/// `Send` on targets with threads. In WebAssembly all types satisfy it, because values of a browser cannot be sent.
#[cfg(not(target_arch = "wasm32"))]
pub trait MaybeSend: Send {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Send + ?Sized> MaybeSend for T {}
/// `Send` on targets with threads. In WebAssembly all types satisfy it, because values of a browser cannot be sent.
#[cfg(target_arch = "wasm32")]
pub trait MaybeSend {}
#[cfg(target_arch = "wasm32")]
impl<T: ?Sized> MaybeSend for T {}

/// `Send + Sync` on targets with threads. In WebAssembly all types satisfy it.
#[cfg(not(target_arch = "wasm32"))]
pub trait MaybeSync: Send + Sync {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Send + Sync + ?Sized> MaybeSync for T {}
/// `Send + Sync` on targets with threads. In WebAssembly all types satisfy it.
#[cfg(target_arch = "wasm32")]
pub trait MaybeSync {}
#[cfg(target_arch = "wasm32")]
impl<T: ?Sized> MaybeSync for T {}

/// Requests and bytes of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Requests, those included that were sent again.
    pub requests: u64,
    /// Bytes of all answers.
    pub bytes: u64,
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// The content.
    pub bytes: Vec<u8>,
    /// The entity tag of the content, if the source has entity tags.
    pub etag: Option<String>,
}

/// Files of one database, by name.
///
/// Dropping a future gives the request up. An implementation may be written with `async fn`.
pub trait Source: MaybeSync + 'static {
    /// Reads exactly the bytes `range` of `file`.
    ///
    /// # Errors
    ///
    /// The file is missing, shorter than the range, or could not be read.
    fn range(
        &self,
        file: &str,
        range: Range<u64>,
    ) -> impl Future<Output = Result<Vec<u8>, SourceError>> + MaybeSend;

    /// Reads the whole `file`, unless it is longer than `cap` bytes.
    ///
    /// # Errors
    ///
    /// The file is missing, longer than `cap`, or could not be read.
    fn whole(
        &self,
        file: &str,
        cap: u64,
    ) -> impl Future<Output = Result<Vec<u8>, SourceError>> + MaybeSend;

    /// Reads all of `file` like [`whole`](Source::whole), but returns `None` if the file still has the entity tag `etag`.
    ///
    /// By default, a source has no entity tags and reads the file in any case.
    ///
    /// # Errors
    ///
    /// The file is missing, longer than `cap`, or could not be read.
    fn whole_unless(
        &self,
        file: &str,
        cap: u64,
        etag: Option<&str>,
    ) -> impl Future<Output = Result<Option<Whole>, SourceError>> + MaybeSend {
        let _ = etag;
        self.whole(file, cap)
            .map(|whole| whole.map(|bytes| Some(Whole { bytes, etag: None })))
    }

    /// Returns the URL or path of `file`, for messages. An empty name stands for the folder, with a trailing slash.
    fn locate(&self, file: &str) -> String;

    /// Returns whether the device is known to be offline. Then the cache is used without a request.
    fn is_offline(&self) -> bool {
        false
    }

    /// Returns whether each call must send its own requests, because the host forbids that a call waits for another call's request. Then
    /// calls share the memory only, and the number of their requests is not limited.
    fn is_isolated(&self) -> bool {
        false
    }

    /// Returns the traffic so far. With `None`, each call counts as one request, and its result as the bytes received.
    fn traffic(&self) -> Option<Traffic> {
        None
    }
}

/// An error of a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{at}: {kind}")]
pub struct SourceError {
    /// URL or path of the file.
    pub at: String,
    /// Kind of the error.
    pub kind: SourceErrorKind,
    /// Time for which the host asks the client to wait.
    pub retry_after: Option<Duration>,
}

impl SourceError {
    /// Creates an error for the file at a URL or path.
    pub fn new(at: impl Into<String>, kind: SourceErrorKind) -> SourceError {
        SourceError {
            at: at.into(),
            kind,
            retry_after: None,
        }
    }
}

impl From<SourceErrorKind> for SourceError {
    /// Creates an error for a file that the caller names.
    fn from(kind: SourceErrorKind) -> SourceError {
        SourceError::new("", kind)
    }
}

/// The reason why requested bytes could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SourceErrorKind {
    /// No answer came, or it broke off: no connection, no such host, refused by CORS.
    #[error("no answer ({0})")]
    Network(String),
    /// The device has no connection.
    #[error("no answer (the device is offline)")]
    Offline,
    /// No answer came from a host of another origin than the page, which has not answered before: refused by CORS or a
    /// Content-Security-Policy, or no connection. Browsers do not distinguish these reasons.
    #[error(
        "no answer ({0}); as it is of another origin, its host must send Access-Control-Allow-Origin, and a \
         Content-Security-Policy of the page must have it in connect-src"
    )]
    Blocked(String),
    /// The answer was not complete in time.
    #[error("no complete answer within {} ms", .0.as_millis() as u64)]
    Timeout(Duration),
    /// The host answered with this status.
    #[error("{}", status(*.0))]
    Status(u16),
    /// The host answered a range request with the status of a whole file, and with neither the range nor a file that is small enough.
    #[error(
        "the host ignores range requests: asked for bytes {}-{}, it sent status 200{}; expected status 206, or the whole of a file of \
         at most {} bytes",
        .range.start, .range.end.saturating_sub(1), .length.map(|length| format!(" and {length} bytes")).unwrap_or_default(), http::WHOLE_CAP
    )]
    RangeIgnored {
        /// The requested range.
        range: Range<u64>,
        /// Length of the answer, if known.
        length: Option<u64>,
    },
    /// The host sent another range than it was asked for.
    #[error(
        "asked for bytes {}-{}, the host sent Content-Range {}",
        .expected.start, .expected.end.saturating_sub(1), Quoted(.found)
    )]
    ContentRange {
        /// The requested range.
        expected: Range<u64>,
        /// The header as it came.
        found: String,
    },
    /// The host announced another length than that of the range.
    #[error("asked for {expected} bytes, the host sent Content-Length {}", Quoted(.found))]
    ContentLength {
        /// The requested length.
        expected: u64,
        /// The header as it came.
        found: String,
    },
    /// The range is that of a compressed representation, so its bytes are not those of the file.
    #[error("the host compresses ranges (Content-Encoding {}); it must send the files as they are", Quoted(.0))]
    ContentEncoding(String),
    /// The body or file ended early.
    #[error("expected {expected} bytes, found {found}")]
    Short {
        /// Bytes expected.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// The body or file is longer than expected or allowed; the rest was not read.
    #[error("expected at most {expected} bytes, found more")]
    Long {
        /// Bytes expected or allowed.
        expected: u64,
    },
    /// The hash of the manifest is not the pinned hash.
    #[error("another manifest than the one asked for: expected {expected}, found {found}")]
    Integrity {
        /// The hash asked for.
        expected: String,
        /// Hash of the received manifest.
        found: String,
    },
    /// The host redirected the request to an address that is not requested.
    #[cfg(all(feature = "http", not(target_arch = "wasm32")))]
    #[error("{0}")]
    Redirect(host::RedirectError),
    /// A file could not be read.
    #[error("{1}")]
    Io(std::io::ErrorKind, String),
}

/// Describes the status of an answer.
fn status(status: u16) -> String {
    match status {
        403 => "status 403: the bucket is not public, or the path is wrong".to_string(),
        _ => format!("the host answered with status {status}"),
    }
}

impl SourceErrorKind {
    /// Returns whether the file contradicts the manifest, so that a new build may have replaced it. Other errors
    /// concern the connection.
    pub fn is_stale(&self) -> bool {
        match self {
            // Stores that may not be listed (S3) answer 403 for what does not exist.
            SourceErrorKind::Status(status) => matches!(status, 403 | 404 | 410 | 416),
            SourceErrorKind::RangeIgnored { range, length } => {
                length.is_some_and(|length| length < range.end)
            }
            SourceErrorKind::ContentRange { .. }
            | SourceErrorKind::ContentLength { .. }
            | SourceErrorKind::Short { .. }
            | SourceErrorKind::Long { .. } => true,
            SourceErrorKind::Io(kind, _) => {
                matches!(
                    kind,
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::UnexpectedEof
                )
            }
            _ => false,
        }
    }

    /// Returns whether the same request may be answered if it is sent again, see [`retry`].
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            SourceErrorKind::Network(_) | SourceErrorKind::Status(429 | 500 | 502 | 503 | 504)
        )
    }

    /// Returns whether no answer came, for example on a device that is offline.
    pub fn is_unreachable(&self) -> bool {
        matches!(
            self,
            SourceErrorKind::Network(_)
                | SourceErrorKind::Offline
                | SourceErrorKind::Blocked(_)
                | SourceErrorKind::Timeout(_)
        )
    }
}
