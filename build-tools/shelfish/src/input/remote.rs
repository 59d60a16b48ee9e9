//! A file on a host, read as a stream without a copy on the disk.
//!
//! If the connection breaks, the rest is requested, on the condition that the file is unchanged. If the host does not identify
//! the version of the file, the download begins again, and the repeated bytes are compared. At the end, the bytes are compared
//! with the checksum that the host publishes.

use std::fmt;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::header::{self, HeaderMap, HeaderName};
use reqwest::{Client, Response, StatusCode};
use serde::Serialize;
use sha2::{Digest, Sha256};
use shelfish::source::host::{self, Host, HostError, client_builder, innermost, kind_of, pause_of};
use shelfish::source::retry::RetryPolicy;
use shelfish::source::{Source as _, SourceError, SourceErrorKind};
use tokio::runtime::Runtime;

use super::file_name;
use crate::system::MAX_RETRIES;
use crate::system::url::{is_http, scheme};
use crate::terminal::shown::{beginning, hexadecimal, shown};

/// Name of the list of checksums, next to the files.
pub(super) const LIST: &str = "sha256sums.txt";
/// Maximum size of a list of checksums, in bytes.
const MAX_SUMS: u64 = 4 << 20;
/// Maximum time without a byte.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Minimum number of bytes that a host sends in a second, on average, after the time for retries.
const MIN_RATE: u64 = 1 << 10;
/// Maximum delay that a host may request.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);

/// Returns the folder of a URL.
pub fn folder_of(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.rfind('/').map_or(path, |slash| &path[..=slash])
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

    /// Returns the strong tag, else the time.
    fn best(&self) -> Option<&String> {
        let strong = self.e_tag.as_ref().filter(|tag| !tag.starts_with("W/"));
        strong.or(self.modified.as_ref())
    }
}

/// Returns the value of `If-Range`, which is a strong validator by RFC 9110: a tag that is not weak, or a time at least a second
/// before the answer.
fn condition(headers: &HeaderMap) -> Option<String> {
    let version = Version::of(headers);
    let best = version.best()?;
    let time = |text: &str| httpdate::parse_http_date(text).ok();
    let is_strong =
        || Some(time(best)? + Duration::from_secs(1) <= time(&text(headers, &header::DATE)?)?);
    let is_tag = version.e_tag.as_ref() == Some(best);
    (is_tag || is_strong().unwrap_or(false)).then(|| best.clone())
}

/// Returns the text of a header.
fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    Some(value.to_owned())
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
    /// Whether the host sends neither the length of the file, nor chunks, nor a checksum.
    pub endless: bool,
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
    runtime: Arc<Runtime>,
    client: Client,
    url: String,
    timeout: Duration,
    response: Option<Response>,
    /// Received bytes that were not read yet.
    chunk: Bytes,
    /// Number of received bytes.
    at: u64,
    size: Option<u64>,
    version: Version,
    /// Value of `If-Range` for the rest.
    condition: Option<String>,
    hash: Sha256,
    /// Number of bytes that the response repeats, and the hash of those that it has repeated.
    repeats: (u64, Sha256),
    /// The checksum that the host publishes, in hexadecimal digits.
    expected: Option<String>,
    is_over: bool,
    download: Arc<Mutex<Download>>,
    /// Time of waiting for the host. Time for other work does not count.
    waited: Duration,
}

impl Remote {
    /// Requests a file and its checksum.
    pub fn open(url: &str) -> io::Result<Remote> {
        Remote::with_timeout(url, TIMEOUT)
    }

    fn with_timeout(url: &str, timeout: Duration) -> io::Result<Remote> {
        if !scheme(url).is_some_and(is_http) {
            let found = url.split("://").next().unwrap_or_default();
            return Err(io::Error::other(format!(
                "found {found}://, expected http://, https://, a file, or - for standard input"
            )));
        }
        let client = client_builder()
            .connect_timeout(timeout)
            .read_timeout(timeout);
        let mut remote = Remote {
            runtime: Arc::new(
                tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()?,
            ),
            client: client.build().map_err(|error| {
                io::Error::other(format!("no HTTP client: {}", innermost(&error)))
            })?,
            url: url.to_owned(),
            timeout,
            response: None,
            chunk: Bytes::new(),
            at: 0,
            size: None,
            version: Version::default(),
            condition: None,
            hash: Sha256::new(),
            repeats: (0, Sha256::new()),
            expected: None,
            is_over: false,
            download: Arc::new(Mutex::new(Download {
                url: url.to_owned(),
                ..Download::default()
            })),
            waited: Duration::ZERO,
        };
        remote.expected = remote.published()?;
        remote.advance()?;
        Ok(remote)
    }

    /// Returns the size of the file in bytes, if the host sends it.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Returns a text that changes when the file does: the checksum, else the ETag or the time, if the host sends any.
    pub fn version(&self) -> Option<String> {
        if let Some(expected) = &self.expected {
            return Some(format!("sha256 {expected}"));
        }
        let size = self
            .size
            .map_or_else(String::new, |size| format!(" of {size} bytes"));
        self.version.best().map(|best| best.clone() + &size)
    }

    /// Returns the state of the download, which is updated while the file is read.
    pub fn download(&self) -> Arc<Mutex<Download>> {
        self.download.clone()
    }

    /// Requests the checksum that the host publishes.
    fn published(&self) -> io::Result<Option<String>> {
        let host = host_of(&self.url).map_err(io::Error::other)?;
        let list = match self.runtime.block_on(host.whole(LIST, MAX_SUMS)) {
            Ok(list) => list,
            // A host without this file publishes no checksums.
            Err(SourceError { kind, .. })
                if matches!(kind, SourceErrorKind::Status(_)) && !kind.is_transient() =>
            {
                return Ok(None);
            }
            Err(SourceError {
                kind: kind @ (SourceErrorKind::Network(_) | SourceErrorKind::Timeout(_)),
                ..
            }) => {
                return Err(io::Error::other(format!(
                    "{kind}; check the address and the connection"
                )));
            }
            Err(error) => {
                let why = format!("cannot read the checksum from {error}");
                return Err(io::Error::other(why));
            }
        };
        let (list, file) = (String::from_utf8_lossy(&list), file_name(&self.url));
        let found = checksums(&list).find(|(name, _)| *name == file);
        Ok(found.map(|(_, digits)| digits.to_ascii_lowercase()))
    }

    /// Requests the file, or its rest.
    async fn connect(&mut self) -> Result<Response, SourceError> {
        // Without a strong validator, the rest may be that of another version.
        let at = if self.condition.is_some() { self.at } else { 0 };
        let mut request = self
            .client
            .get(&self.url)
            .header(header::ACCEPT_ENCODING, "identity");
        if let Some(condition) = self.condition.as_ref().filter(|_| at > 0) {
            request = request
                .header(header::RANGE, format!("bytes={at}-"))
                .header(header::IF_RANGE, condition);
        }
        let response = request.send().await.map_err(|error| self.kind(&error))?;
        let headers = response.headers();
        let coding = text(headers, &header::CONTENT_ENCODING).unwrap_or_default();
        // Some hosts send the compression of the file itself as the encoding, and its bytes unchanged.
        if !["", "identity", "gzip", "x-gzip", "zstd"].contains(&&*coding.to_ascii_lowercase()) {
            return Err(SourceErrorKind::ContentEncoding(beginning(&coding)).into());
        }
        let range = text(headers, &header::CONTENT_RANGE).unwrap_or_default();
        let is_rest = range.starts_with(&format!("bytes {at}-"))
            && self
                .size
                .is_none_or(|size| range.ends_with(&format!("/{size}")))
            && Version::of(headers) == self.version;
        match response.status() {
            StatusCode::OK if at == 0 => {
                self.size = response.content_length();
                self.version = Version::of(headers);
                self.repeats = (self.at, Sha256::new());
                if self.at == 0 {
                    self.condition = condition(headers);
                }
                let is_framed = self.size.is_some()
                    || response.version() >= reqwest::Version::HTTP_2
                    || headers.contains_key(header::TRANSFER_ENCODING);
                if let Ok(mut download) = self.download.lock() {
                    download.endless = !is_framed && self.expected.is_none();
                }
                Ok(response)
            }
            StatusCode::PARTIAL_CONTENT if at > 0 && is_rest => Ok(response),
            StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
                Err(self.changed())
            }
            status => Err(SourceError {
                retry_after: text(headers, &header::RETRY_AFTER).and_then(|text| pause_of(&text)),
                ..SourceErrorKind::Status(status.as_u16()).into()
            }),
        }
    }

    fn changed(&self) -> SourceError {
        let why = format!(
            "the connection broke after {} bytes, and the host does not send the rest of the same file: run the command again, or \
             download the file first",
            self.at
        );
        SourceErrorKind::Io(io::ErrorKind::InvalidData, why).into()
    }

    /// Converts the error of a request. Unlike a lookup, a download is worth another attempt after a timeout.
    fn kind(&self, error: &reqwest::Error) -> SourceErrorKind {
        match kind_of(error, self.timeout) {
            SourceErrorKind::Timeout(time) => SourceErrorKind::Network(format!(
                "no byte arrived within {} seconds",
                time.as_secs_f32()
            )),
            kind => kind,
        }
    }

    /// Receives the next bytes; none at the end.
    async fn receive(&mut self) -> Result<Bytes, SourceError> {
        let mut response = match self.response.take() {
            Some(response) => response,
            None => self.connect().await?,
        };
        loop {
            let bytes = response.chunk().await.map_err(|error| self.kind(&error))?;
            let Some(mut bytes) = bytes else {
                // Without a known size, the end of the response is the end of the file.
                return match self.size.is_none_or(|size| size == self.at) && self.repeats.0 == 0 {
                    true => Ok(Bytes::new()),
                    false => {
                        Err(SourceErrorKind::Network("the response ended early".to_owned()).into())
                    }
                };
            };
            let (left, hash) = &mut self.repeats;
            if *left > 0 {
                let repeated = bytes.split_to((*left).min(bytes.len() as u64) as usize);
                *left -= repeated.len() as u64;
                hash.update(&repeated);
                if *left == 0 && hash.clone().finalize() != self.hash.clone().finalize() {
                    return Err(self.changed());
                }
            }
            if !bytes.is_empty() {
                self.response = Some(response);
                return Ok(bytes);
            }
        }
    }

    /// Receives the next bytes, with retries. At the end, compares the checksum with the published one.
    fn advance(&mut self) -> io::Result<()> {
        let runtime = self.runtime.clone();
        let retry = RetryPolicy::default()
            .with_max_retries(MAX_RETRIES.into())
            .with_max_retry_after(MAX_RETRY_AFTER);
        let mut times = 0;
        let bytes = loop {
            let at = self.at;
            let time = self.timeout * (retry.max_retries + 1) + Duration::from_secs(at / MIN_RATE);
            if self.waited > time {
                let time = time.as_secs();
                return Err(io::Error::other(format!(
                    "only {at} bytes arrived within {time} seconds"
                )));
            }
            let begin = Instant::now();
            let received = runtime.block_on(self.receive());
            self.waited += begin.elapsed();
            let error = match received {
                Ok(bytes) => break bytes,
                Err(error) => error,
            };
            times += 1;
            let Some(delay) = retry.delay(times, begin.elapsed(), &error) else {
                let error = error.kind;
                return Err(io::Error::other(if error.is_transient() {
                    format!(
                        "gave up after {times} attempts without progress, {at} bytes were received: {error}"
                    )
                } else {
                    error.to_string()
                }));
            };
            if at > 0
                && let Ok(mut download) = self.download.lock()
            {
                download.resumed += 1;
            }
            std::thread::sleep(delay);
        };
        self.at += bytes.len() as u64;
        self.hash.update(&bytes);
        self.is_over = bytes.is_empty();
        self.chunk = bytes;
        if self.is_over { self.finish() } else { Ok(()) }
    }

    fn finish(&mut self) -> io::Result<()> {
        let found = hexadecimal(&std::mem::take(&mut self.hash).finalize());
        if let Some(expected) = self.expected.take_if(|expected| *expected != found) {
            let sums = host_of(&self.url).map_err(io::Error::other)?.locate(LIST);
            return Err(io::Error::other(format!(
                "its SHA-256 is {found}, expected {expected} from {sums}: the file was damaged or replaced during the download; run \
                 the command again"
            )));
        }
        if let Ok(mut download) = self.download.lock() {
            (download.bytes, download.sha256, download.published) =
                (self.at, found, self.expected.is_some());
        }
        Ok(())
    }
}

/// Returns the folder of a URL as a source of its lists.
pub fn host_of(url: &str) -> Result<Host, HostError> {
    let retry = RetryPolicy::default().with_max_retries(MAX_RETRIES.into());
    Host::new(folder_of(url), host::Options::default().with_retry(retry))
}

impl Read for Remote {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.chunk.is_empty() && !self.is_over && !buffer.is_empty() {
            self.advance()?;
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
        assert_eq!(folder_of("https://x/y/a.zst?b=c/d"), "https://x/y/");
        let (one, two) = ("A1".repeat(32), "b2".repeat(32));
        let list = format!(
            "{one}  a.zst\r\n{two} *./b c.zst\nnonsense\n{}  d.zst\n\n",
            &one[1..]
        );
        let found: Vec<_> = checksums(&list).collect();
        assert_eq!(found, [("a.zst", &*one), ("b c.zst", &*two)]);
    }

    #[test]
    fn a_host_that_sends_too_slowly_is_an_error() -> Result<(), Box<dyn std::error::Error>> {
        use std::io::{BufRead, BufReader, Write};

        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/dump.zst", listener.local_addr()?);
        std::thread::spawn(move || -> io::Result<()> {
            for stream in listener.incoming() {
                let mut stream = stream?;
                let mut first = String::new();
                BufReader::new(stream.try_clone()?).read_line(&mut first)?;
                if first.contains(LIST) {
                    stream.write_all(
                        b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                    )?;
                    continue;
                }
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")?;
                while stream.write_all(b"x").is_ok() {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            Ok(())
        });
        let mut remote = Remote::with_timeout(&url, Duration::from_millis(250))?;
        // A busy machine may stall longer than the timeout, which is an error, too.
        assert!(remote.read_to_end(&mut Vec::new()).is_err());
        Ok(())
    }
}
