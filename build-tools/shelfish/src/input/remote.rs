//! A file on a host, read as a stream without a copy on the disk.
//!
//! If the connection breaks, the rest is requested, on the condition that the file is unchanged. At the end, the bytes are
//! compared with the checksum that the host publishes.

use std::fmt;
use std::future::Future;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::header::{self, HeaderMap, HeaderName};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use sha2::{Digest, Sha256};
use shelfish::source::SourceErrorKind;
use shelfish::source::host::{Deadline, TokioClock, client_builder, innermost, kind_of, pause_of};
use shelfish::source::retry::{AttemptError, RetryPolicy};
use thiserror::Error;
use tokio::runtime::Runtime;

use super::file_name;
use crate::system::MAX_RETRIES;
use crate::system::url::{is_http, scheme};
use crate::terminal::shown::{beginning, hexadecimal, shown};

/// Name of the list of checksums, next to the files.
const LIST: &str = "sha256sums.txt";
/// Maximum size of a list of checksums, in bytes.
const MAX_SUMS: usize = 4 << 20;
/// Minimum number of bytes that a host sends in a second, on average, after the time for retries.
const MIN_RATE: u64 = 1 << 10;
/// Maximum delay that a host may request.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);

/// Timeout and retries of downloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownloadPolicy {
    /// Maximum time without a byte.
    pub timeout: Duration,
    /// Maximum time of the whole download.
    pub total: Option<Duration>,
    /// Maximum number of retries in a row without progress.
    pub retries: u32,
}

impl Default for DownloadPolicy {
    fn default() -> DownloadPolicy {
        DownloadPolicy {
            timeout: Duration::from_secs(60),
            total: None,
            retries: MAX_RETRIES.into(),
        }
    }
}

impl DownloadPolicy {
    fn retry(&self) -> RetryPolicy {
        RetryPolicy::default()
            .with_max_retries(self.retries)
            .with_max_retry_after(MAX_RETRY_AFTER)
            .with_total_time(self.total.unwrap_or(Duration::MAX))
    }
}

/// An error that keeps a file on a host from being read to its end.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RemoteError {
    /// The scheme of the URL is not HTTP.
    #[error("found {0}://, expected http://, https://, a file, or - for standard input")]
    Scheme(String),
    /// The HTTP client cannot be created.
    #[error("no HTTP client: {0}")]
    Client(String),
    /// The answer is an error that a retry would repeat.
    #[error("{0}")]
    Answer(SourceErrorKind),
    /// The connection broke too often without progress.
    #[error("gave up after {times} attempts without progress, {at} bytes were received: {error}")]
    Broken {
        /// The last error.
        error: SourceErrorKind,
        /// Number of bytes received before.
        at: u64,
        /// Number of attempts without progress.
        times: u32,
    },
    /// The host sends too slowly.
    #[error("only {at} bytes arrived within {} seconds", .time.as_secs())]
    Slow {
        /// Number of bytes received.
        at: u64,
        /// Time of waiting for the host.
        time: Duration,
    },
    /// The file changed since the first request.
    #[error(
        "the connection broke after {at} bytes, and the file changed on the host since: run the command again"
    )]
    Changed {
        /// Number of bytes received before.
        at: u64,
    },
    /// The host sends other bytes than the requested range.
    #[error(
        "requested the bytes from {at} on, the host sent {found:?}: download the file first and name that"
    )]
    Range {
        /// The first requested byte.
        at: u64,
        /// The `Content-Range` of the answer.
        found: String,
    },
    /// The `Content-Encoding` is not supported.
    #[error("found Content-Encoding {0:?}, expected the unchanged file")]
    Coding(String),
    /// The list of checksums cannot be read.
    #[error("cannot read the checksum from {url}: {error}")]
    Sums {
        /// The URL of the list.
        url: String,
        /// The error.
        error: Box<RemoteError>,
    },
    /// The received bytes do not match the published checksum.
    #[error(
        "its SHA-256 is {found}, expected {expected} from {sums}: the file was damaged or replaced during the download; run \
         the command again"
    )]
    Checksum {
        /// The published checksum, in hexadecimal digits.
        expected: String,
        /// The checksum of the received bytes.
        found: String,
        /// The URL of the list of checksums.
        sums: String,
    },
}

impl From<RemoteError> for io::Error {
    fn from(error: RemoteError) -> io::Error {
        io::Error::other(error)
    }
}

/// A checksum that a host publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// The SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// The URL of the list.
    pub sums: String,
}

/// Returns the URL of the list that would contain the checksum of a file.
pub fn sums_url(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let folder = path.rfind('/').map_or(path, |slash| &path[..=slash]);
    format!("{folder}{LIST}")
}

/// Returns the names and checksums of a list of `sha256sum`: 64 digits, a space, a space or `*`, and the name.
pub fn checksums(list: &str) -> impl Iterator<Item = (&str, &str)> {
    list.lines().filter_map(|line| {
        let (digits, name) = line.trim_end().split_once(' ')?;
        let name = name.trim_start_matches([' ', '*']).trim_start_matches("./");
        let is_sum = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_sum && !name.is_empty()).then_some((name, digits))
    })
}

/// The version of a file, as the host identifies it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Version {
    e_tag: Option<String>,
    modified: Option<String>,
}

impl Version {
    fn of(headers: &HeaderMap) -> Version {
        Version {
            e_tag: text(headers, &header::ETAG),
            modified: text(headers, &header::LAST_MODIFIED),
        }
    }

    /// Returns the value of `If-Range`. A weak tag is not allowed there.
    fn condition(&self) -> Option<&String> {
        let strong = self.e_tag.as_ref().filter(|tag| !tag.starts_with("W/"));
        strong.or(self.modified.as_ref())
    }
}

/// Returns the text of a header.
fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    Some(value.to_owned())
}

/// Parses a `Content-Range`: the first byte and the size of the file.
fn content_range(header: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = header.strip_prefix("bytes ")?.split_once('/')?;
    let (from, _) = range.split_once('-')?;
    let total = match total {
        "*" => None,
        total => Some(total.parse().ok()?),
    };
    Some((from.parse().ok()?, total))
}

/// The state of a download, for the summary of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Download {
    /// The URL of the file.
    pub url: String,
    /// Number of bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits; empty until all bytes are received.
    pub sha256: String,
    /// Whether the host publishes this checksum. If it publishes another checksum, the build fails.
    pub published: bool,
    /// Number of times that the rest was requested after an interruption.
    pub resumed: u64,
}

/// Formats the state for humans.
impl fmt::Display for Download {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let checksum = if self.published {
            "as published"
        } else {
            "no checksum is published"
        };
        let (url, bytes) = (shown(&self.url), indicatif::HumanBytes(self.bytes));
        write!(f, "{url}: {bytes}, sha256 {} ({checksum})", self.sha256)?;
        match self.resumed {
            0 => Ok(()),
            times => write!(f, ", resumed {times} times"),
        }
    }
}

/// A file on a host, read from its beginning to its end.
pub struct Remote {
    runtime: Runtime,
    client: Client,
    download_policy: DownloadPolicy,
    url: String,
    response: Option<Response>,
    /// Received bytes that were not read yet.
    chunk: Bytes,
    /// Number of received bytes.
    at: u64,
    /// Number of bytes to skip because a host without ranges sends them again.
    skip: u64,
    size: Option<u64>,
    version: Version,
    hash: Sha256,
    expected: Option<Checksum>,
    is_over: bool,
    download: Arc<Mutex<Download>>,
    /// Time of waiting for the host. Time for other work does not count.
    waited: Duration,
}

impl Remote {
    /// Requests a file, and its checksum unless that is `known`.
    pub fn open(
        url: &str,
        known: Option<&Checksum>,
        download_policy: DownloadPolicy,
    ) -> io::Result<Remote> {
        if !scheme(url).is_some_and(is_http) {
            let found = url.split("://").next().unwrap_or_default();
            return Err(RemoteError::Scheme(found.to_owned()).into());
        }
        let DownloadPolicy { timeout, total, .. } = download_policy;
        let client = client_builder()
            .connect_timeout(timeout)
            .read_timeout(timeout);
        let client = match total {
            Some(total) => client.timeout(total),
            None => client,
        };
        let mut remote = Remote {
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?,
            client: client
                .build()
                .map_err(|error| RemoteError::Client(innermost(&error)))?,
            download_policy,
            url: url.to_owned(),
            response: None,
            chunk: Bytes::new(),
            at: 0,
            skip: 0,
            size: None,
            version: Version::default(),
            hash: Sha256::new(),
            expected: known.cloned(),
            is_over: false,
            download: Arc::new(Mutex::new(Download {
                url: url.to_owned(),
                ..Download::default()
            })),
            waited: Duration::ZERO,
        };
        if remote.expected.is_none() {
            remote.expected = remote.published()?;
        }
        remote.connect()?;
        Ok(remote)
    }

    /// Returns the size of the file in bytes, if the host sends it.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Returns a text that changes when the file does: the checksum, else the ETag or the time, if the host sends any.
    pub fn version(&self) -> Option<String> {
        if let Some(expected) = &self.expected {
            return Some(format!("sha256 {}", expected.sha256));
        }
        let size = self
            .size
            .map_or_else(String::new, |size| format!(" of {size} bytes"));
        self.version
            .condition()
            .map(|condition| condition.clone() + &size)
    }

    /// Returns the state of the download, which is updated while the file is read.
    pub fn download(&self) -> Arc<Mutex<Download>> {
        self.download.clone()
    }

    /// Requests the checksum that the host publishes.
    fn published(&self) -> Result<Option<Checksum>, RemoteError> {
        let sums = sums_url(&self.url);
        let list = self.persist(|| async {
            let mut answer = self.ask(self.client.get(&sums)).await?;
            let (mut list, deadline) = (Vec::new(), Deadline::new(self.download_policy.timeout));
            // A host without this file publishes no checksums.
            while answer.status() == StatusCode::OK
                && let Some(bytes) = deadline
                    .wait(list.len() as u64, answer.chunk())
                    .await?
                    .map_err(|error| self.kind(&error))?
            {
                list.extend_from_slice(&bytes);
                if list.len() > MAX_SUMS {
                    return Ok(Vec::new());
                }
            }
            Ok(list)
        });
        let list = list.map_err(|error| RemoteError::Sums {
            url: sums.clone(),
            error: Box::new(error),
        })?;
        let (list, file) = (String::from_utf8_lossy(&list), file_name(&self.url));
        let found = checksums(&list).find(|(name, _)| *name == file);
        Ok(found.map(|(_, digits)| Checksum {
            sha256: digits.to_ascii_lowercase(),
            sums,
        }))
    }

    /// Requests the rest of the file, with retries.
    fn connect(&mut self) -> Result<(), RemoteError> {
        let answer = self.persist(|| {
            let mut request = self
                .client
                .get(&self.url)
                .header(header::ACCEPT_ENCODING, "identity");
            if self.at > 0 {
                request = request.header(header::RANGE, format!("bytes={}-", self.at));
                if let Some(condition) = self.version.condition() {
                    request = request.header(header::IF_RANGE, condition);
                }
            }
            self.ask(request)
        })?;
        self.skip = self.known_bytes(&answer)?;
        if self.at == 0 {
            self.size = answer.content_length();
            self.version = Version::of(answer.headers());
        }
        self.response = Some(answer);
        Ok(())
    }

    /// Checks the head of an answer. Returns the number of its bytes that were received before.
    fn known_bytes(&self, answer: &Response) -> Result<u64, RemoteError> {
        let (at, headers) = (self.at, answer.headers());
        let coding = text(headers, &header::CONTENT_ENCODING).unwrap_or_default();
        // Some hosts send the compression of the file itself as the encoding, and its bytes unchanged.
        if !["", "identity", "gzip", "x-gzip", "zstd"].contains(&&*coding.to_ascii_lowercase()) {
            return Err(RemoteError::Coding(beginning(&coding)));
        }
        let changed = Err(RemoteError::Changed { at });
        match answer.status() {
            StatusCode::OK if at == 0 => Ok(0),
            StatusCode::RANGE_NOT_SATISFIABLE if at > 0 => changed,
            StatusCode::OK | StatusCode::PARTIAL_CONTENT
                if Version::of(headers) != self.version =>
            {
                changed
            }
            // A host without ranges sends the whole file again.
            StatusCode::OK
                if self.version.condition().is_some() && answer.content_length() == self.size =>
            {
                Ok(at)
            }
            StatusCode::OK => changed,
            StatusCode::PARTIAL_CONTENT => {
                let found = text(headers, &header::CONTENT_RANGE).unwrap_or_default();
                match content_range(&found) {
                    Some((from, total)) if from == at => match (total, self.size) {
                        (Some(total), Some(size)) if total != size => changed,
                        _ => Ok(0),
                    },
                    _ => Err(RemoteError::Range {
                        at,
                        found: beginning(&found),
                    }),
                }
            }
            status => Err(RemoteError::Answer(SourceErrorKind::Status(
                status.as_u16(),
            ))),
        }
    }

    /// Sends a request once.
    async fn ask(&self, request: RequestBuilder) -> Result<Response, AttemptError> {
        let answer = request.send().await.map_err(|error| self.kind(&error))?;
        let kind = SourceErrorKind::Status(answer.status().as_u16());
        if !kind.is_transient() {
            return Ok(answer);
        }
        let retry_after =
            text(answer.headers(), &header::RETRY_AFTER).and_then(|text| pause_of(&text));
        Err(AttemptError { kind, retry_after })
    }

    /// Converts the error of a request. Unlike a lookup, a download is worth another attempt after a timeout.
    fn kind(&self, error: &reqwest::Error) -> SourceErrorKind {
        match kind_of(error, self.download_policy.timeout) {
            SourceErrorKind::Timeout(time) => SourceErrorKind::Network(format!(
                "no byte arrived within {} seconds",
                time.as_secs_f32()
            )),
            kind => kind,
        }
    }

    /// Retries `attempt` until it succeeds, fails permanently or fails too often.
    fn persist<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, RemoteError>
    where
        F: Future<Output = Result<T, AttemptError>>,
    {
        let clock = TokioClock(Instant::now());
        let done = self
            .runtime
            .block_on(self.download_policy.retry().run(&clock, attempt));
        done.map_err(|error| self.broken(error.kind, self.download_policy.retries + 1))
    }

    /// Returns the error after `times` attempts without progress.
    fn broken(&self, error: SourceErrorKind, times: u32) -> RemoteError {
        match error {
            error if error.is_transient() => RemoteError::Broken {
                error,
                at: self.at,
                times,
            },
            error => RemoteError::Answer(error),
        }
    }

    /// Returns the next bytes; none at the end.
    fn next_chunk(&mut self) -> io::Result<Bytes> {
        let mut times = 0;
        loop {
            let DownloadPolicy {
                timeout, retries, ..
            } = self.download_policy;
            let time = timeout * (retries + 1) + Duration::from_secs(self.at / MIN_RATE);
            if self.waited > time {
                return Err(RemoteError::Slow { at: self.at, time }.into());
            }
            let begin = Instant::now();
            let Some(answer) = &mut self.response else {
                self.connect()?;
                self.waited += begin.elapsed();
                continue;
            };
            let piece = self.runtime.block_on(answer.chunk());
            self.waited += begin.elapsed();
            let error = match piece {
                Ok(Some(bytes)) => {
                    let known = self.skip.min(bytes.len() as u64);
                    self.skip -= known;
                    let bytes = bytes.slice(known as usize..);
                    if !bytes.is_empty() {
                        return Ok(bytes);
                    }
                    continue;
                }
                // Without a known size, the end of the response is the end of the file.
                Ok(None) if self.skip == 0 && self.size.is_none_or(|size| size == self.at) => {
                    return Ok(Bytes::new());
                }
                Ok(None) => SourceErrorKind::Network("the response ended early".to_owned()),
                Err(error) => self.kind(&error),
            };
            self.response = None;
            times += 1;
            let error = AttemptError::from(error);
            let delay = self
                .download_policy
                .retry()
                .delay(times, &error, fastrand::f64());
            let Some(delay) = delay else {
                return Err(self.broken(error.kind, times).into());
            };
            if let Ok(mut download) = self.download.lock() {
                download.resumed += 1;
            }
            std::thread::sleep(delay);
        }
    }

    /// Compares the checksum with the published one.
    fn finish(&mut self) -> Result<(), RemoteError> {
        self.is_over = true;
        let found = hexadecimal(&std::mem::take(&mut self.hash).finalize());
        if let Some(expected) = self.expected.take_if(|expected| expected.sha256 != found) {
            return Err(RemoteError::Checksum {
                expected: expected.sha256,
                found,
                sums: expected.sums,
            });
        }
        if let Ok(mut download) = self.download.lock() {
            (download.bytes, download.sha256, download.published) =
                (self.at, found, self.expected.is_some());
        }
        Ok(())
    }
}

impl Read for Remote {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.chunk.is_empty() && !self.is_over && !buffer.is_empty() {
            self.chunk = self.next_chunk()?;
            self.at += self.chunk.len() as u64;
            self.hash.update(&self.chunk);
            if self.chunk.is_empty() {
                self.finish()?;
            }
        }
        let length = self.chunk.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.chunk.split_to(length));
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_read_from_the_list_next_to_the_file() {
        assert_eq!(
            sums_url("https://x/y/a.zst?b=c/d"),
            "https://x/y/sha256sums.txt"
        );
        let (one, two) = ("A1".repeat(32), "b2".repeat(32));
        let list = format!(
            "{one}  a.zst\r\n{two} *./b c.zst\nnonsense\n{}  d.zst\n\n",
            &one[1..]
        );
        let found: Vec<_> = checksums(&list).collect();
        assert_eq!(found, [("a.zst", &*one), ("b c.zst", &*two)]);
    }

    #[test]
    fn content_ranges_are_parsed() {
        assert_eq!(content_range("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(content_range("bytes 5-9/*"), Some((5, None)));
        for bad in [
            "",
            "bytes */10",
            "5-9/10",
            "bytes x-9/10",
            "bytes 5-9/x",
            "bytes 5-9",
        ] {
            assert_eq!(content_range(bad), None, "{bad}");
        }
    }
}
