//! A file on a host, read as a stream without a copy on the disk.
//!
//! If the connection breaks, the rest is requested, on the condition that the file is unchanged. At the end, the bytes are
//! compared with the checksum that the host publishes.

mod attempt;
mod checksum;
mod error;
mod headers;
mod policy;

use std::fmt;
use std::future::Future;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::{Response, StatusCode, header};
use serde::Serialize;
use sha2::{Digest, Sha256};
use shelfish::source::host::redirect::{Client, SendError};
use shelfish::source::host::{Deadline, TokioClock, innermost};
use tokio::runtime::Runtime;

use attempt::{AttemptError, is_transient, transient};
use checksum::listed;
pub use checksum::{Checksum, checksums, sums_url};
pub use error::{AttemptFault, RemoteError};
use headers::{Version, content_range, text};
pub use policy::DownloadPolicy;

use super::file_name;
use crate::system::url::{is_http, scheme};
use crate::terminal::shown::{beginning, hexadecimal, shown};

/// Maximum size of a list of checksums, in bytes.
const MAX_SUMS: usize = 4 << 20;

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
        write!(
            f,
            "{}: {}, sha256 {} ({checksum})",
            shown(&self.url),
            indicatif::HumanBytes(self.bytes),
            self.sha256
        )?;
        if self.resumed > 0 {
            write!(f, ", resumed {} times", self.resumed)
        } else {
            Ok(())
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
    /// Time of the first request.
    start: Instant,
    pace: Pace,
}

/// Pace of a download since its last progress.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// Time of waiting for the host. Time for other work does not count.
    waited: Duration,
    /// Number of received bytes.
    bytes: u64,
    /// Number of times that the host was too slow.
    stalls: u32,
}

impl Remote {
    /// Requests a file, and its checksum unless that is `known`.
    pub fn open(
        url: &str,
        known: Option<&Checksum>,
        download_policy: DownloadPolicy,
    ) -> io::Result<Remote> {
        if !scheme(url).is_some_and(is_http) {
            return Err(RemoteError::Scheme(
                url.split("://").next().unwrap_or_default().to_owned(),
            )
            .into());
        }
        let client = Client::new(|client| client.connect_timeout(download_policy.timeout));
        let client = client.map_err(|error| RemoteError::Client(innermost(&error)))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let download = Download {
            url: url.to_owned(),
            ..Download::default()
        };
        let mut remote = Remote {
            runtime,
            client,
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
            download: Arc::new(Mutex::new(download)),
            start: Instant::now(),
            pace: Pace::default(),
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
        let checksum = self
            .expected
            .as_ref()
            .map(|expected| format!("sha256 {}", expected.sha256));
        let size = self
            .size
            .map_or_else(String::new, |size| format!(" of {size} bytes"));
        checksum.or_else(|| {
            self.version
                .condition()
                .map(|condition| condition.clone() + &size)
        })
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
            match answer.status() {
                StatusCode::OK => {}
                status if is_transient(status) => return Err(transient(&answer)),
                // The host publishes no checksums.
                _ => return Ok(Vec::new()),
            }
            let mut list = Vec::new();
            let deadline = Deadline::new(self.download_policy.timeout);
            let timeout = |kind| AttemptError::Transient {
                fault: AttemptFault::List(kind),
                delay: None,
            };
            while let Some(bytes) = deadline
                .wait(list.len() as u64, self.in_time(answer.chunk()))
                .await
                .map_err(timeout)??
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
        Ok(listed(&list, &file_name(&self.url)).map(|sha256| Checksum { sha256, sums }))
    }

    /// Requests the rest of the file, with retries.
    fn connect(&mut self) -> Result<(), RemoteError> {
        let (answer, skip) = self.persist(|| self.try_connect())?;
        if self.at == 0 {
            self.size = answer.content_length();
            self.version = Version::of(answer.headers());
        }
        (self.response, self.skip) = (Some(answer), skip);
        Ok(())
    }

    /// Requests the rest of the file. Returns the response and the number of its bytes that were received before.
    async fn try_connect(&self) -> Result<(Response, u64), AttemptError> {
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
        let answer = self.ask(request).await?;
        let at = self.at;
        let coding = text(answer.headers(), &header::CONTENT_ENCODING).unwrap_or_default();
        // Some hosts send the compression of the file itself as the encoding, and its bytes unchanged.
        if !["", "identity", "gzip", "x-gzip", "zstd"].contains(&&*coding.to_ascii_lowercase()) {
            return Err(RemoteError::Coding(beginning(&coding)).into());
        }
        match answer.status() {
            StatusCode::OK if at == 0 => Ok((answer, 0)),
            status if is_transient(status) => Err(transient(&answer)),
            StatusCode::RANGE_NOT_SATISFIABLE if at > 0 => Err(RemoteError::Changed { at }.into()),
            status if !status.is_success() => Err(RemoteError::Status(status.as_u16()).into()),
            _ if Version::of(answer.headers()) != self.version => {
                Err(RemoteError::Changed { at }.into())
            }
            // A host without ranges sends the whole file again.
            StatusCode::OK
                if self.version.condition().is_some() && answer.content_length() == self.size =>
            {
                Ok((answer, at))
            }
            StatusCode::OK => Err(RemoteError::Changed { at }.into()),
            StatusCode::PARTIAL_CONTENT => {
                let found = text(answer.headers(), &header::CONTENT_RANGE).unwrap_or_default();
                match content_range(&found) {
                    Some((from, _)) if from != at => Err(RemoteError::Range {
                        at,
                        found: beginning(&found),
                    }
                    .into()),
                    Some((_, total))
                        if total.is_some() && self.size.is_some() && total != self.size =>
                    {
                        Err(RemoteError::Changed { at }.into())
                    }
                    Some(_) => Ok((answer, 0)),
                    None => Err(RemoteError::Range {
                        at,
                        found: beginning(&found),
                    }
                    .into()),
                }
            }
            status => Err(RemoteError::Status(status.as_u16()).into()),
        }
    }

    async fn ask(&self, request: reqwest::RequestBuilder) -> Result<Response, AttemptError> {
        self.in_time(self.client.send(request)).await
    }

    /// Waits for a step of a response, no longer than the timeout.
    async fn in_time<T, E: Into<SendError>>(
        &self,
        step: impl Future<Output = Result<T, E>>,
    ) -> Result<T, AttemptError> {
        self.within(self.download_policy.timeout, step).await
    }

    /// Waits for a step of a response, no longer than `limit` and the time of the whole download.
    async fn within<T, E: Into<SendError>>(
        &self,
        limit: Duration,
        step: impl Future<Output = Result<T, E>>,
    ) -> Result<T, AttemptError> {
        let total = self.download_policy.total.unwrap_or(Duration::MAX);
        let left = total.saturating_sub(self.start.elapsed());
        match tokio::time::timeout(limit.min(left), step).await {
            Ok(done) => done.map_err(|error| match error.into() {
                SendError::Redirect(error) => RemoteError::Redirect(error).into(),
                SendError::Http(error) => AttemptError::Transient {
                    fault: AttemptFault::Connection(innermost(&error)),
                    delay: None,
                },
            }),
            Err(_) if left <= limit => Err(RemoteError::Slow { at: self.at, total }.into()),
            Err(_) => {
                let (least, time) = (
                    self.download_policy.progress(),
                    self.download_policy.timeout,
                );
                Err(AttemptError::Transient {
                    fault: AttemptFault::Slow { least, time },
                    delay: None,
                })
            }
        }
    }

    /// Waits for the next bytes of a response. Returns an error if the host makes too little progress.
    fn next_piece(&mut self, answer: &mut Response) -> Result<Option<Bytes>, AttemptError> {
        let timeout = self.download_policy.timeout;
        let begin = Instant::now();
        let limit = timeout.saturating_sub(self.pace.waited);
        let piece = self.runtime.block_on(self.within(limit, answer.chunk()));
        self.pace.waited += begin.elapsed();
        match &piece {
            Ok(bytes) => {
                self.pace.bytes += bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
                if self.pace.bytes >= self.download_policy.progress() {
                    self.pace = Pace::default();
                }
            }
            // Connections that break soon are no progress either.
            Err(_) if self.pace.waited >= timeout => {
                self.pace = Pace {
                    stalls: self.pace.stalls + 1,
                    ..Pace::default()
                };
            }
            Err(_) => {}
        }
        piece
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
        done.map_err(|error| self.broken(error, self.download_policy.retries + 1))
    }

    /// Returns the error after `times` attempts without progress.
    fn broken(&self, error: AttemptError, times: u32) -> RemoteError {
        match error {
            AttemptError::Permanent(error) => error,
            AttemptError::Transient { fault: error, .. } => RemoteError::Broken {
                error,
                at: self.at,
                times,
            },
        }
    }

    /// Returns the next bytes; none at the end.
    fn next_chunk(&mut self) -> io::Result<Bytes> {
        let (mut start, mut times) = (Instant::now(), 0);
        loop {
            let Some(mut answer) = self.response.take() else {
                let begin = Instant::now();
                self.connect()?;
                self.pace.waited += begin.elapsed();
                continue;
            };
            let error = match self.next_piece(&mut answer) {
                Ok(Some(bytes)) => {
                    self.response = Some(answer);
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
                Ok(None) => AttemptError::Transient {
                    fault: AttemptFault::Ended,
                    delay: None,
                },
                Err(error) => error,
            };
            times = self.pace.stalls.max(times + 1);
            let Some(delay) = self
                .download_policy
                .retry()
                .delay(times, &error, fastrand::f64())
            else {
                return Err(self.broken(error, times).into());
            };
            if let Ok(mut download) = self.download.lock() {
                download.resumed += 1;
            }
            // The time without a byte counts as a part of the delay.
            let delay = delay.saturating_sub(start.elapsed());
            std::thread::sleep(delay);
            self.pace.waited += delay;
            start = Instant::now();
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
