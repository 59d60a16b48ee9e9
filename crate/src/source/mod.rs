//! Where bytes come from: a directory, memory, or a host that answers HTTP range requests. Anything else that has ranges of
//! files may be a source: implement [`Source`].
//!
//! A source hands out ranges of immutable files and whole small files. It promises that what it returns is exactly as
//! long as what was asked for, and that it gives up in the end; whether the bytes are right is for the reader to check,
//! which knows their checksums. [`http`] is the one judge of every answer over HTTP, whoever sent the request.

#[cfg(not(target_arch = "wasm32"))]
pub mod file;
#[cfg(all(feature = "http", not(target_arch = "wasm32")))]
pub mod host;
pub mod http;
pub mod integrity;
#[cfg(not(target_arch = "wasm32"))]
pub mod memory;
pub mod retry;

use core::fmt;
use core::ops::Range;
use core::time::Duration;

use crate::quoted::Quoted;

/// `Send` where there are threads; anything in WebAssembly, where what a browser hands out cannot be sent.
#[cfg(not(target_arch = "wasm32"))]
pub trait MaybeSend: Send {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Send + ?Sized> MaybeSend for T {}
/// `Send` where there are threads; anything in WebAssembly, where what a browser hands out cannot be sent.
#[cfg(target_arch = "wasm32")]
pub trait MaybeSend {}
#[cfg(target_arch = "wasm32")]
impl<T: ?Sized> MaybeSend for T {}

/// `Send + Sync` where there are threads; anything in WebAssembly.
#[cfg(not(target_arch = "wasm32"))]
pub trait MaybeSync: Send + Sync {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Send + Sync + ?Sized> MaybeSync for T {}
/// `Send + Sync` where there are threads; anything in WebAssembly.
#[cfg(target_arch = "wasm32")]
pub trait MaybeSync {}
#[cfg(target_arch = "wasm32")]
impl<T: ?Sized> MaybeSync for T {}

/// What a source has sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Requests, those included that were sent again.
    pub requests: u64,
    /// Bytes of all answers.
    pub bytes: u64,
}

/// Files of one database, by name.
///
/// Dropping a future gives the request up. An implementation may be written with `async fn`.
pub trait Source: MaybeSync + 'static {
    /// The bytes `range` of `file`, exactly.
    ///
    /// # Errors
    ///
    /// The file is missing, shorter than the range, or could not be read.
    fn range(&self, file: &str, range: Range<u64>) -> impl Future<Output = Result<Vec<u8>, SourceError>> + MaybeSend;

    /// All of `file`, as it is now, unless it is longer than `cap` bytes.
    ///
    /// # Errors
    ///
    /// The file is missing, longer than `cap`, or could not be read.
    fn whole(&self, file: &str, cap: u64) -> impl Future<Output = Result<Vec<u8>, SourceError>> + MaybeSend;

    /// Where `file` is, for messages; with an empty name where all files are, a slash at its end.
    fn locate(&self, file: &str) -> String;

    /// Whether it is known that no answer will come, as on a device that is offline: then what a cache has is taken
    /// without asking first.
    fn is_offline(&self) -> bool {
        false
    }

    /// What it has sent and received. `None`: each call is one request, and its bytes are all that came.
    fn traffic(&self) -> Option<Traffic> {
        None
    }
}

/// What went wrong with which file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// URL or path of the file.
    pub at: String,
    /// What went wrong.
    pub kind: SourceErrorKind,
    /// How long the host asks to be left alone.
    pub retry_after: Option<Duration>,
}

impl SourceError {
    /// What went wrong with the file at a URL or path.
    pub fn new(at: impl Into<String>, kind: SourceErrorKind) -> SourceError {
        SourceError { at: at.into(), kind, retry_after: None }
    }
}

/// What can go wrong between a request and the bytes that it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceErrorKind {
    /// No answer came, or it broke off: no connection, no such host, refused by CORS.
    Network(String),
    /// The answer was not complete in time.
    Timeout(Duration),
    /// The host answered with this status.
    Status(u16),
    /// The host answered a range request with the whole of a file that is too large to take for one range.
    RangeIgnored {
        /// Length of the file, if the host told it.
        length: Option<u64>,
        /// The largest file that is taken whole.
        cap: u64,
    },
    /// The host sent another range than it was asked for.
    ContentRange {
        /// What was asked for.
        expected: Range<u64>,
        /// The header as it came.
        found: String,
    },
    /// The host announced another length than that of the range.
    ContentLength {
        /// What was asked for.
        expected: u64,
        /// The header as it came.
        found: String,
    },
    /// The range is that of a compressed representation, so its bytes are not those of the file.
    ContentEncoding(String),
    /// The body or file ended early.
    Short {
        /// Bytes expected.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// The body or file is longer than expected or allowed; the rest was not read.
    Long {
        /// Bytes expected or allowed.
        expected: u64,
    },
    /// The manifest is another one than that whose hash was asked for.
    Integrity {
        /// The hash asked for.
        expected: String,
        /// The hash of what came.
        found: String,
    },
    /// A file could not be read.
    Io(std::io::ErrorKind, String),
}

impl SourceErrorKind {
    /// Whether the file is not what the manifest says, so that another build may have taken its place; other faults
    /// are those of the way to it.
    pub fn is_stale(&self) -> bool {
        match self {
            // Stores that may not be listed (S3) answer 403 for what does not exist.
            SourceErrorKind::Status(status) => matches!(status, 403 | 404 | 410 | 416),
            SourceErrorKind::ContentRange { .. }
            | SourceErrorKind::ContentLength { .. }
            | SourceErrorKind::Short { .. }
            | SourceErrorKind::Long { .. } => true,
            SourceErrorKind::Io(kind, _) => {
                matches!(kind, std::io::ErrorKind::NotFound | std::io::ErrorKind::UnexpectedEof)
            }
            _ => false,
        }
    }

    /// Whether the same request may be answered if it is sent again, see [`retry`].
    pub fn is_transient(&self) -> bool {
        matches!(self, SourceErrorKind::Network(_) | SourceErrorKind::Status(429 | 500 | 502 | 503 | 504))
    }

    /// Whether no answer came at all, as when a device is offline.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, SourceErrorKind::Network(_) | SourceErrorKind::Timeout(_))
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.kind)
    }
}

impl fmt::Display for SourceErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceErrorKind::Network(why) => write!(f, "no answer ({why})"),
            SourceErrorKind::Timeout(after) => write!(f, "no complete answer within {} ms", after.as_millis() as u64),
            SourceErrorKind::Status(status) => write!(f, "the host answered with status {status}"),
            SourceErrorKind::RangeIgnored { length, cap } => {
                f.write_str("the host ignores range requests and sends the whole file")?;
                if let Some(length) = length {
                    write!(f, " of {length} bytes")?;
                }
                write!(f, "; at most {cap} bytes are taken whole")
            }
            SourceErrorKind::ContentRange { expected, found } => {
                let last = expected.end.saturating_sub(1);
                write!(f, "asked for bytes {}-{last}, the host sent Content-Range {}", expected.start, Quoted(found))
            }
            SourceErrorKind::ContentLength { expected, found } => {
                write!(f, "asked for {expected} bytes, the host sent Content-Length {}", Quoted(found))
            }
            SourceErrorKind::ContentEncoding(found) => write!(
                f,
                "the host compresses ranges (Content-Encoding {}); it must send the files as they are",
                Quoted(found)
            ),
            SourceErrorKind::Short { expected, found } => write!(f, "expected {expected} bytes, found {found}"),
            SourceErrorKind::Long { expected } => write!(f, "expected at most {expected} bytes, found more"),
            SourceErrorKind::Integrity { expected, found } => {
                write!(f, "another manifest than the one asked for: expected {expected}, found {found}")
            }
            SourceErrorKind::Io(_, why) => f.write_str(why),
        }
    }
}

impl core::error::Error for SourceError {}
impl core::error::Error for SourceErrorKind {}
