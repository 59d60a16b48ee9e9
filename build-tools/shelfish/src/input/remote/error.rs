//! Errors of downloads.

use std::fmt;
use std::io;
use std::time::Duration;

use shelfish::source::SourceErrorKind;
use shelfish::source::host::RedirectError;

/// An error that keeps a file on a host from being read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteError {
    /// The scheme of the URL is not HTTP.
    Scheme(String),
    /// The HTTP client cannot be created.
    Client(String),
    /// The host answers with another status than success.
    Status(u16),
    /// The host redirects the request to an address that is not requested.
    Redirect(RedirectError),
    /// The connection broke too often without progress.
    Broken {
        /// The last error.
        error: AttemptFault,
        /// Number of bytes received before.
        at: u64,
        /// Number of attempts without progress.
        times: u32,
    },
    /// The whole download took too long.
    Slow {
        /// Number of bytes received.
        at: u64,
        /// Maximum time.
        total: Duration,
    },
    /// The file changed since the first request.
    Changed {
        /// Number of bytes received before.
        at: u64,
    },
    /// The host sends other bytes than the requested range.
    Range {
        /// The first requested byte.
        at: u64,
        /// The `Content-Range` of the answer.
        found: String,
    },
    /// The `Content-Encoding` is not supported.
    Coding(String),
    /// The list of checksums cannot be read.
    Sums {
        /// The URL of the list.
        url: String,
        /// The error.
        error: Box<RemoteError>,
    },
    /// The received bytes do not match the published checksum.
    Checksum {
        /// The published checksum, in hexadecimal digits.
        expected: String,
        /// The checksum of the received bytes.
        found: String,
        /// The URL of the list of checksums.
        sums: String,
    },
}

/// Reasons why an attempt failed that a retry may not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptFault {
    /// The connection failed. Contains the innermost error of the HTTP client.
    Connection(String),
    /// The host answered with a status of an overload or a disturbance.
    Status(u16),
    /// The response made too little progress.
    Slow {
        /// Minimum number of bytes in the time.
        least: u64,
        /// Time for the bytes.
        time: Duration,
    },
    /// The list of checksums did not arrive in time.
    List(SourceErrorKind),
    /// The response ended before the end of the file.
    Ended,
}

impl fmt::Display for AttemptFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttemptFault::Connection(error) => f.write_str(error),
            AttemptFault::Status(status) => write!(f, "the host answers with status {status}"),
            AttemptFault::Slow { least, time } => {
                write!(
                    f,
                    "fewer than {least} bytes arrived within {} seconds",
                    time.as_secs_f32()
                )
            }
            AttemptFault::List(error) => error.fmt(f),
            AttemptFault::Ended => f.write_str("the response ended early"),
        }
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemoteError::Scheme(found) => {
                write!(
                    f,
                    "found {found}://, expected http://, https://, a file, or - for standard input"
                )
            }
            RemoteError::Client(why) => write!(f, "no HTTP client: {why}"),
            RemoteError::Status(403) => {
                f.write_str("status 403: the file is not public, or the path is wrong")
            }
            RemoteError::Status(status) => {
                write!(f, "the host answered with status {status}, expected 200")
            }
            RemoteError::Redirect(error) => error.fmt(f),
            RemoteError::Broken { error, at, times } => {
                write!(
                    f,
                    "gave up after {times} attempts without progress, {at} bytes were received: {error}"
                )
            }
            RemoteError::Slow { at, total } => {
                write!(
                    f,
                    "only {at} bytes arrived within {} seconds",
                    total.as_secs_f32()
                )
            }
            RemoteError::Changed { at } => write!(
                f,
                "the connection broke after {at} bytes, and the file changed on the host since: run the command again"
            ),
            RemoteError::Range { at, found } => {
                write!(
                    f,
                    "requested the bytes from {at} on, the host sent {found:?}: download the file first and name that"
                )
            }
            RemoteError::Coding(found) => {
                write!(
                    f,
                    "found Content-Encoding {found:?}, expected the unchanged file"
                )
            }
            RemoteError::Sums { url, error } => {
                write!(f, "cannot read the checksum from {url}: {error}")
            }
            RemoteError::Checksum {
                expected,
                found,
                sums,
            } => write!(
                f,
                "its SHA-256 is {found}, expected {expected} from {sums}: the file was damaged or replaced during the \
                 download; run the command again"
            ),
        }
    }
}

impl std::error::Error for RemoteError {}

impl From<RemoteError> for io::Error {
    fn from(error: RemoteError) -> io::Error {
        io::Error::other(error)
    }
}
