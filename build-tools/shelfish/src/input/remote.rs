//! A dump on a host, read as it comes and never written to the disk.
//!
//! Where the connection breaks, the rest is asked for, on the condition that the file is still the same. What came is
//! compared with the checksum that the host publishes for it, in `sha256sums.txt` beside it.

use std::fmt;
use std::future::Future;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::header::{self, HeaderMap};
use reqwest::{Response, StatusCode};
use serde::Serialize;
use sha2::{Digest, Sha256};
use shelfish::source::SourceErrorKind;
use shelfish::source::host::{innermost, pause_of};
use tokio::runtime::Runtime;

use super::source::file_name;
use crate::database::scheme;
use crate::terminal::shown::{beginning, hexadecimal, shown};

/// The file that lists checksums, beside what it lists.
const SUMS: &str = "sha256sums.txt";
/// No list of checksums is longer.
const MAX_SUMS: usize = 4 << 20;
/// The pause before what broke is asked for again; twice as long whenever nothing came since.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest pause, unless the host asks for a longer one.
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// The longest pause that a host is granted.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);

/// How hosts are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How long a host may send nothing.
    pub timeout: Duration,
    /// How often the rest is asked for again without a byte in between.
    pub retries: u32,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { timeout: Duration::from_secs(60), retries: 8 }
    }
}

/// A checksum that a host publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// The SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// Where it is published.
    pub sums: String,
}

/// What was read of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Download {
    /// The URL of the file.
    pub url: String,
    /// Its bytes.
    pub bytes: u64,
    /// Their SHA-256, in hexadecimal digits; empty unless all were read.
    pub sha256: String,
    /// Whether the host publishes this checksum; else it publishes none, as with another there is no database.
    pub published: bool,
    /// How often the connection broke and the rest was asked for.
    pub resumed: u64,
}

/// For people.
impl fmt::Display for Download {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.published { "as published" } else { "no checksum is published" };
        write!(f, "{}: {}, sha256 {} ({verdict})", shown(&self.url), indicatif::HumanBytes(self.bytes), self.sha256)?;
        if self.resumed > 0 { write!(f, ", resumed {} times", self.resumed) } else { Ok(()) }
    }
}

/// Why a file cannot be read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteError {
    /// The scheme of a URL that dumps are not read of.
    Scheme(String),
    /// No client can be made.
    Client(String),
    /// The host does not have it, or does not give it.
    Status(u16),
    /// The connection broke too often in a row.
    Broken {
        /// What was wrong last.
        why: String,
        /// Bytes that came before.
        at: u64,
        /// How often it was asked for without a byte.
        times: u32,
    },
    /// It is another file than at the beginning.
    Changed {
        /// Bytes that came before.
        at: u64,
    },
    /// The host sends other bytes than those asked for.
    Range {
        /// The first byte asked for.
        at: u64,
        /// What the host says that it sends.
        found: String,
    },
    /// The host compresses it in a way that cannot be undone.
    Coding(String),
    /// The file with its checksum cannot be read.
    Sums {
        /// The URL of that file.
        url: String,
        /// Why not.
        error: Box<RemoteError>,
    },
    /// Its bytes are not those that the host publishes the checksum of.
    Checksum {
        /// The checksum published, in hexadecimal digits.
        expected: String,
        /// That of what came.
        found: String,
        /// Where it is published.
        sums: String,
    },
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemoteError::Scheme(found) => {
                write!(f, "found {found}://, expected http://, https://, a file, or - for standard input")
            }
            RemoteError::Client(why) => write!(f, "no HTTP client: {why}"),
            RemoteError::Status(status) => write!(f, "the host answers with status {status}, expected the file (200)"),
            RemoteError::Broken { why, at, times } => {
                write!(f, "the connection breaks after {at} bytes ({why}), {times} times without a byte more")
            }
            RemoteError::Changed { at } => write!(
                f,
                "the connection broke after {at} bytes, and the host has another file by now: run it again to build of that"
            ),
            RemoteError::Range { at, found } => {
                write!(f, "the rest from byte {at} on was asked for, the host sends {found:?}: save it as a file first")
            }
            RemoteError::Coding(found) => {
                write!(f, "the host compresses it (Content-Encoding {found:?}), expected the file as it is")
            }
            RemoteError::Sums { url, error } => write!(f, "{url}, where its checksum is looked for: {error}"),
            RemoteError::Checksum { expected, found, sums } => write!(
                f,
                "its SHA-256 is {found}, expected {expected} by {sums}: it was damaged on the way, or replaced meanwhile; \
                 run it again"
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

/// A file of a host, read from its beginning to its end.
pub struct Remote {
    runtime: Runtime,
    client: reqwest::Client,
    patience: Patience,
    url: String,
    answer: Option<Response>,
    /// What came and was not taken yet.
    chunk: Bytes,
    /// Bytes that came.
    at: u64,
    /// Bytes that come a second time, from a host that sends no ranges.
    skip: u64,
    size: Option<u64>,
    version: Version,
    hash: Sha256,
    expected: Option<Checksum>,
    is_over: bool,
    told: Arc<Mutex<Download>>,
}

/// By what a host knows a file again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Version {
    e_tag: Option<String>,
    modified: Option<String>,
}

impl Version {
    fn of(headers: &HeaderMap) -> Version {
        Version { e_tag: text(headers, &header::ETAG), modified: text(headers, &header::LAST_MODIFIED) }
    }

    /// What stands for it in a condition, which takes no weak tag.
    fn condition(&self) -> Option<&String> {
        self.e_tag.as_ref().filter(|tag| !tag.starts_with("W/")).or(self.modified.as_ref())
    }
}

fn text(headers: &HeaderMap, name: &header::HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// How an attempt ended that brought nothing.
enum Failure {
    /// It may go better next time, after so long.
    Passing { why: String, pause: Option<Duration> },
    /// It will not.
    Lasting(RemoteError),
}

impl From<RemoteError> for Failure {
    fn from(error: RemoteError) -> Failure {
        Failure::Lasting(error)
    }
}

impl Remote {
    /// Asks for a file, and for its checksum unless that is `known`.
    ///
    /// # Errors
    ///
    /// The host does not give it.
    pub fn open(url: &str, known: Option<&Checksum>, patience: Patience) -> io::Result<Remote> {
        if !matches!(scheme(url).map(str::to_ascii_lowercase).as_deref(), Some("http" | "https")) {
            return Err(RemoteError::Scheme(url.split("://").next().unwrap_or_default().to_owned()).into());
        }
        // Where there is a provider already, it stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .user_agent(concat!("shelfish/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(patience.timeout)
            .build()
            .map_err(|error| RemoteError::Client(innermost(&error)))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let told = Download { url: url.to_owned(), ..Download::default() };
        let mut remote = Remote {
            runtime,
            client,
            patience,
            url: url.to_owned(),
            answer: None,
            chunk: Bytes::new(),
            at: 0,
            skip: 0,
            size: None,
            version: Version::default(),
            hash: Sha256::new(),
            expected: known.cloned(),
            is_over: false,
            told: Arc::new(Mutex::new(told)),
        };
        if remote.expected.is_none() {
            remote.expected = remote.published()?;
        }
        remote.connect()?;
        Ok(remote)
    }

    /// Bytes of the file, if the host says so.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// What tells that it is the same file another time, if the host says so: its checksum, else what the host knows it by.
    pub fn version(&self) -> Option<String> {
        let checksum = self.expected.as_ref().map(|expected| format!("sha256 {}", expected.sha256));
        let size = self.size.map_or_else(String::new, |size| format!(" of {size} bytes"));
        checksum.or_else(|| self.version.condition().map(|condition| condition.clone() + &size))
    }

    /// What will have been read.
    pub fn told(&self) -> Arc<Mutex<Download>> {
        self.told.clone()
    }

    /// The checksum that the host publishes.
    fn published(&self) -> Result<Option<Checksum>, RemoteError> {
        let sums = sums_url(&self.url);
        let list = self.persist(|| async {
            let mut answer = self.ask(self.client.get(&sums)).await?;
            match answer.status() {
                StatusCode::OK => {}
                status if is_passing(status) => return Err(passing(&answer)),
                // It publishes none.
                _ => return Ok(Vec::new()),
            }
            let mut list = Vec::new();
            while let Some(bytes) = self.in_time(answer.chunk()).await? {
                list.extend_from_slice(&bytes);
                if list.len() > MAX_SUMS {
                    return Ok(Vec::new());
                }
            }
            Ok(list)
        });
        let list = list.map_err(|error| RemoteError::Sums { url: sums.clone(), error: Box::new(error) })?;
        Ok(listed(&list, &file_name(&self.url)).map(|sha256| Checksum { sha256, sums }))
    }

    /// Asks for what is missing until an answer begins.
    fn connect(&mut self) -> Result<(), RemoteError> {
        let (answer, skip) = self.persist(|| self.try_connect())?;
        if self.at == 0 {
            self.size = answer.content_length();
            self.version = Version::of(answer.headers());
        }
        (self.answer, self.skip) = (Some(answer), skip);
        Ok(())
    }

    /// Asks for what is missing. With the answer comes how much of it is known already.
    async fn try_connect(&self) -> Result<(Response, u64), Failure> {
        let mut request = self.client.get(&self.url).header(header::ACCEPT_ENCODING, "identity");
        if self.at > 0 {
            request = request.header(header::RANGE, format!("bytes={}-", self.at));
            if let Some(condition) = self.version.condition() {
                request = request.header(header::IF_RANGE, condition);
            }
        }
        let answer = self.ask(request).await?;
        let at = self.at;
        let coding = text(answer.headers(), &header::CONTENT_ENCODING).unwrap_or_default();
        // Some hosts call a file that is compressed by itself so: its bytes are as they are.
        if !["", "identity", "gzip", "x-gzip", "zstd"].contains(&&*coding.to_ascii_lowercase()) {
            return Err(RemoteError::Coding(beginning(&coding)).into());
        }
        match answer.status() {
            StatusCode::OK if at == 0 => Ok((answer, 0)),
            status if is_passing(status) => Err(passing(&answer)),
            StatusCode::RANGE_NOT_SATISFIABLE if at > 0 => Err(RemoteError::Changed { at }.into()),
            status if !status.is_success() => Err(RemoteError::Status(status.as_u16()).into()),
            _ if Version::of(answer.headers()) != self.version => Err(RemoteError::Changed { at }.into()),
            // A host without ranges sends all of it again.
            StatusCode::OK if self.version.condition().is_some() && answer.content_length() == self.size => {
                Ok((answer, at))
            }
            StatusCode::OK => Err(RemoteError::Changed { at }.into()),
            StatusCode::PARTIAL_CONTENT => {
                let found = text(answer.headers(), &header::CONTENT_RANGE).unwrap_or_default();
                match content_range(&found) {
                    Some((from, _)) if from != at => Err(RemoteError::Range { at, found: beginning(&found) }.into()),
                    Some((_, total)) if total.is_some() && self.size.is_some() && total != self.size => {
                        Err(RemoteError::Changed { at }.into())
                    }
                    Some(_) => Ok((answer, 0)),
                    None => Err(RemoteError::Range { at, found: beginning(&found) }.into()),
                }
            }
            status => Err(RemoteError::Status(status.as_u16()).into()),
        }
    }

    async fn ask(&self, request: reqwest::RequestBuilder) -> Result<Response, Failure> {
        self.in_time(request.send()).await
    }

    /// Waits for a step of an answer.
    async fn in_time<T>(&self, step: impl Future<Output = reqwest::Result<T>>) -> Result<T, Failure> {
        match tokio::time::timeout(self.patience.timeout, step).await {
            Ok(done) => done.map_err(|error| Failure::Passing { why: innermost(&error), pause: None }),
            Err(_) => {
                let why = format!("nothing came for {} seconds", self.patience.timeout.as_secs_f32());
                Err(Failure::Passing { why, pause: None })
            }
        }
    }

    /// Does something until it is done, or fails for good, or too often.
    fn persist<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, RemoteError>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        self.runtime.block_on(async {
            let mut times = 0;
            loop {
                let (why, asked) = match attempt().await {
                    Ok(done) => return Ok(done),
                    Err(Failure::Lasting(error)) => return Err(error),
                    Err(Failure::Passing { why, pause }) => (why, pause),
                };
                times += 1;
                if times > self.patience.retries {
                    return Err(RemoteError::Broken { why, at: self.at, times });
                }
                let pause = PAUSE.saturating_mul(1 << times.min(16)).min(MAX_PAUSE);
                tokio::time::sleep(pause.max(asked.unwrap_or_default().min(MAX_RETRY_AFTER))).await;
            }
        })
    }

    /// Takes what comes next; nothing at the end.
    fn next_chunk(&mut self) -> io::Result<Bytes> {
        let (mut start, mut times) = (Instant::now(), 0);
        loop {
            let Some(mut answer) = self.answer.take() else {
                self.connect()?;
                continue;
            };
            let why = match self.runtime.block_on(self.in_time(answer.chunk())) {
                Ok(Some(bytes)) => {
                    self.answer = Some(answer);
                    let known = self.skip.min(bytes.len() as u64);
                    self.skip -= known;
                    let bytes = bytes.slice(known as usize..);
                    if !bytes.is_empty() {
                        return Ok(bytes);
                    }
                    continue;
                }
                // Where the length is not known, a clean end is the end.
                Ok(None) if self.skip == 0 && self.size.is_none_or(|size| size == self.at) => return Ok(Bytes::new()),
                Ok(None) => "it ends early".to_owned(),
                Err(Failure::Lasting(error)) => return Err(error.into()),
                Err(Failure::Passing { why, .. }) => why,
            };
            times += 1;
            if times > self.patience.retries {
                return Err(RemoteError::Broken { why, at: self.at, times }.into());
            }
            if let Ok(mut told) = self.told.lock() {
                told.resumed += 1;
            }
            let pause = PAUSE.saturating_mul(1 << (times - 1).min(16)).min(MAX_PAUSE);
            // What was silent for long has been waited for.
            std::thread::sleep(pause.saturating_sub(start.elapsed()));
            start = Instant::now();
        }
    }

    /// Compares what came with what is published.
    fn finish(&mut self) -> Result<(), RemoteError> {
        self.is_over = true;
        let found = hexadecimal(&std::mem::take(&mut self.hash).finalize());
        if let Some(expected) = self.expected.take_if(|expected| expected.sha256 != found) {
            return Err(RemoteError::Checksum { expected: expected.sha256, found, sums: expected.sums });
        }
        if let Ok(mut told) = self.told.lock() {
            (told.bytes, told.sha256, told.published) = (self.at, found, self.expected.is_some());
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

/// Whether a host may answer otherwise soon: as for lookups, and where it did not wait for the question or not yet take it.
fn is_passing(status: StatusCode) -> bool {
    let status = status.as_u16();
    matches!(status, 408 | 425) || SourceErrorKind::Status(status).is_transient()
}

fn passing(answer: &Response) -> Failure {
    let pause = text(answer.headers(), &header::RETRY_AFTER).and_then(|text| pause_of(&text));
    let why = format!("the host answers with status {}", answer.status().as_u16());
    Failure::Passing { why, pause }
}

/// The first byte, and the length of the whole, of a `Content-Range`.
fn content_range(header: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = header.strip_prefix("bytes ")?.split_once('/')?;
    let (from, _) = range.split_once('-')?;
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    Some((from.parse().ok()?, total))
}

/// Where a host publishes the checksum of a file.
pub(crate) fn sums_url(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let folder = path.rfind('/').map_or(path, |slash| &path[..=slash]);
    format!("{folder}{SUMS}")
}

/// The checksum of a file in a list as `sha256sum` writes it: 64 digits, a space, a space or `*`, the name.
pub(crate) fn listed(list: &[u8], file: &str) -> Option<String> {
    let list = String::from_utf8_lossy(list);
    list.lines().find_map(|line| {
        let (digits, name) = line.trim_end().split_once(' ')?;
        let name = name.trim_start_matches([' ', '*']).trim_start_matches("./");
        let is_sum = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_sum && name == file && !file.is_empty()).then(|| digits.to_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_stand_in_a_list_beside_the_file() {
        assert_eq!(sums_url("https://x/y/a.zst?b=c/d"), "https://x/y/sha256sums.txt");
        let (one, two) = ("A1".repeat(32), "b2".repeat(32));
        let list = format!("{one}  a.zst\r\n{two} *./b c.zst\nnonsense\n{}  d.zst\n\n{two}  a.zst\n", &one[1..]);
        for (file, sum) in [("a.zst", Some(one.to_lowercase())), ("b c.zst", Some(two)), ("d.zst", None), ("", None)] {
            assert_eq!(listed(list.as_bytes(), file), sum, "{file}");
        }
        assert_eq!(listed(b"\xff\0 \n  \n", "a"), None);
    }

    #[test]
    fn ranges_are_read_as_hosts_write_them() {
        assert_eq!(content_range("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(content_range("bytes 5-9/*"), Some((5, None)));
        for bad in ["", "bytes */10", "5-9/10", "bytes x-9/10", "bytes 5-9/x", "bytes 5-9"] {
            assert_eq!(content_range(bad), None, "{bad}");
        }
    }
}
