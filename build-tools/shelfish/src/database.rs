//! A database wherever it is: a directory, or a host.

use std::fmt;
use std::future::Future;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use shelfish::eval::Eval;
use shelfish::reader::ReadError;
use shelfish::source::file::Directory;
use shelfish::source::http::{Ask, Head};
use shelfish::source::retry::Retry;
use shelfish::source::{Fault, Source, SourceError};
use shelfish::table::Manifest;

use crate::coding::{self, Coding, CodingError};
use crate::integrity::Integrity;

/// Where a database is.
#[derive(clap::Args, Clone, Debug)]
#[group(id = "database_args")]
pub struct Args {
    /// The database: a directory, or the URL of one
    #[arg(short, long, value_name = "DIR_OR_URL", value_parser = address)]
    pub database: String,
    /// Seconds that a host has for an answer, and one more for every 16 KiB of it
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
    /// Take no manifest but the one with this hash: sha256-..., as `shelfish build` and `stats` print it
    #[arg(long, value_name = "HASH")]
    pub integrity: Option<Integrity>,
}

/// A URL that is not one of HTTP.
#[derive(Debug)]
pub struct SchemeError {
    /// The scheme as it was given.
    pub found: String,
}

impl fmt::Display for SchemeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found {}://, expected http://, https:// or a directory", self.found)
    }
}

impl std::error::Error for SchemeError {}

/// Where a database is, as a person names it.
///
/// # Errors
///
/// It is a URL, but not one of HTTP.
pub fn address(text: &str) -> Result<String, SchemeError> {
    match scheme(text) {
        Some(found) if !is_http(found) => Err(SchemeError { found: found.to_owned() }),
        _ => Ok(text.to_owned()),
    }
}

/// The scheme of a URL. A letter alone is that of a drive, and what is there is a directory.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let is_scheme =
        scheme.len() > 1 && scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_plain);
    (is_scheme && (is_http(scheme) || !Path::new(text).exists())).then_some(scheme)
}

fn is_http(scheme: &str) -> bool {
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

impl Args {
    /// A database by its name alone.
    pub fn of(database: &str) -> Args {
        Args { database: database.to_owned(), timeout: 20, integrity: None }
    }

    /// The source of its files.
    ///
    /// # Errors
    ///
    /// The system's certificates cannot be loaded.
    pub fn source(&self) -> Result<Place, reqwest::Error> {
        let folder = self.database.strip_suffix(Manifest::FILE);
        let folder = folder.filter(|folder| folder.is_empty() || folder.ends_with(['/', std::path::MAIN_SEPARATOR]));
        let text = folder.unwrap_or(&self.database);
        let files = if scheme(text).is_some() {
            let base = if text.ends_with('/') { text.to_owned() } else { format!("{text}/") };
            Files::Host(Host::new(base, Duration::from_secs(self.timeout))?)
        } else {
            Files::Directory(Directory::new(if text.is_empty() { "." } else { text }))
        };
        Ok(Place { files, integrity: self.integrity })
    }
}

/// Bytes that a host sends in a second at least, once its time for an answer is over.
const PACE: f64 = 16384.0;

/// The source of a database's files.
#[derive(Clone, Debug)]
pub struct Place {
    files: Files,
    integrity: Option<Integrity>,
}

#[derive(Clone, Debug)]
enum Files {
    Directory(Directory),
    Host(Host),
}

impl Place {
    /// Whether it is a directory, which tells what else is in it.
    pub fn is_directory(&self) -> bool {
        matches!(self.files, Files::Directory(_))
    }
}

impl Source for Place {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        match &self.files {
            Files::Directory(directory) => directory.range(file, range).await,
            Files::Host(host) => host.range(file, range).await,
        }
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        let bytes = match &self.files {
            Files::Directory(directory) => directory.whole(file, cap).await,
            Files::Host(host) => host.whole(file, cap).await,
        }?;
        match self.integrity {
            Some(expected) if file == Manifest::FILE && Integrity::of(&bytes) != expected => {
                let (expected, found) = (expected.to_string(), Integrity::of(&bytes).to_string());
                Err(SourceError { at: self.locate(file), fault: Fault::Integrity { expected, found } })
            }
            _ => Ok(bytes),
        }
    }

    fn locate(&self, file: &str) -> String {
        match &self.files {
            Files::Directory(directory) => directory.locate(file),
            Files::Host(host) => host.locate(file),
        }
    }
}

/// A directory of a host that answers range requests.
#[derive(Clone, Debug)]
pub struct Host {
    base: String,
    timeout: Duration,
    client: reqwest::Client,
}

impl Host {
    /// The files whose URLs begin with `base`; an answer has to be complete within `timeout` and what its bytes take at
    /// 16 KiB a second, so that a slow line is not cut, and a host that drips is not waited for.
    ///
    /// # Errors
    ///
    /// The system's certificates cannot be loaded.
    pub fn new(base: String, timeout: Duration) -> Result<Host, reqwest::Error> {
        // A second call finds the provider of the first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().connect_timeout(timeout);
        let client = client.user_agent(concat!("shelfish/", env!("CARGO_PKG_VERSION"))).build()?;
        Ok(Host { base, timeout, client })
    }

    async fn get(&self, file: &str, ask: Ask) -> Result<Vec<u8>, SourceError> {
        let at = self.locate(file);
        let start = Instant::now();
        let mut sent = 0;
        loop {
            sent += 1;
            let mut retry_after = None;
            let fault = match self.try_get(&at, &ask, start, &mut retry_after).await {
                Ok(bytes) => return Ok(bytes),
                Err(fault) => fault,
            };
            let pause = Retry::default().pause(sent, &fault, retry_after, fastrand::f64());
            match pause.filter(|pause| start.elapsed().saturating_add(*pause) < self.timeout) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(SourceError { at, fault }),
            }
        }
    }

    fn fault(&self, error: reqwest::Error) -> Fault {
        if error.is_timeout() {
            return Fault::Timeout(self.timeout);
        }
        // The outer error names the URL once more; the innermost says what happened.
        let mut why: &dyn std::error::Error = &error;
        while let Some(inner) = why.source() {
            why = inner;
        }
        Fault::Network(why.to_string())
    }

    /// Waits for the next step of a request that began at `start`, if there is time left after so many bytes of it.
    async fn in_time<T>(
        &self,
        start: Instant,
        bytes: u64,
        step: impl Future<Output = Result<T, reqwest::Error>>,
    ) -> Result<T, Fault> {
        let limit = self.timeout.saturating_add(Duration::from_secs_f64(bytes as f64 / PACE));
        match tokio::time::timeout(limit.saturating_sub(start.elapsed()), step).await {
            Ok(done) => done.map_err(|error| self.fault(error)),
            Err(_) => Err(Fault::Timeout(limit)),
        }
    }

    /// Sends a request; what began at `start` is one with all the times that it was sent. Also tells how long the host asks
    /// to be left alone.
    async fn try_get(
        &self,
        url: &str,
        ask: &Ask,
        start: Instant,
        retry_after: &mut Option<Duration>,
    ) -> Result<Vec<u8>, Fault> {
        // Of a compressed range nobody could tell which bytes it is.
        let request = match ask.range_header() {
            Some(range) => self.client.get(url).header("range", range).header("accept-encoding", "identity"),
            None => self.client.get(url).header("accept-encoding", coding::ACCEPTED),
        };
        let mut received = 0;
        // Connecting and redirects are within the time, too.
        let mut response = self.in_time(start, received, request.send()).await?;
        let header = |name| {
            let values = response.headers().get_all(name).iter();
            let values: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
            (!values.is_empty()).then(|| values.join(", "))
        };
        *retry_after = header("retry-after").and_then(|value| seconds_until(&value));
        let content_encoding = header("content-encoding");
        let mut body = ask.judge(&Head {
            status: response.status().as_u16(),
            content_range: header("content-range").as_deref(),
            content_length: header("content-length").as_deref(),
            content_encoding: content_encoding.as_deref(),
        })?;
        let undecoded = |kind, error: CodingError| Fault::Io(kind, error.to_string());
        let coding = Coding::parse(content_encoding.as_deref().unwrap_or_default());
        let coding = coding.map_err(|error| undecoded(ErrorKind::Unsupported, error))?;
        let mut coded = Vec::new();
        while let Some(piece) = self.in_time(start, received, response.chunk()).await? {
            received += piece.len() as u64;
            match coding {
                None => body.push(&piece)?,
                Some(_) if (coded.len() + piece.len()) as u64 > body.cap() => {
                    return Err(Fault::Long { expected: body.cap() });
                }
                Some(_) => coded.extend_from_slice(&piece),
            }
        }
        if let Some(coding) = coding {
            let decoded = coding.decode(&coded, body.cap());
            body.push(&decoded.map_err(|error| undecoded(ErrorKind::InvalidData, error))?)?;
        }
        body.finish()
    }
}

/// The time that `Retry-After` tells, in seconds or as a date.
fn seconds_until(retry_after: &str) -> Option<Duration> {
    let text = retry_after.trim();
    let date = || httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).ok();
    text.parse().ok().map(Duration::from_secs).or_else(date)
}

impl Source for Host {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        self.get(file, Ask::Range(range)).await
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        self.get(file, Ask::Whole { cap }).await
    }

    fn locate(&self, file: &str) -> String {
        format!("{}{file}", self.base)
    }
}

/// Reads the manifest of a database.
///
/// # Errors
///
/// It is missing, or not a manifest.
pub async fn manifest(place: &Place) -> Result<Manifest, ReadError> {
    let bytes = place.whole(Manifest::FILE, Manifest::MAX_BYTES as u64).await?;
    Manifest::parse::<Eval>(&bytes).map_err(|error| ReadError::Table { at: place.locate(Manifest::FILE), error })
}

/// Waits for what a source does.
///
/// # Errors
///
/// The system does not give what it takes to wait.
pub fn wait<F: Future>(future: F) -> std::io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let output = runtime.block_on(future);
    // What is given up may still ask for the address of a host; nobody waits for that.
    runtime.shutdown_background();
    Ok(output)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::thread;

    use super::*;
    use crate::coding::tests::coded;

    type Test = Result<(), Box<dyn std::error::Error>>;

    #[test]
    fn schemes_are_known_in_any_case_and_others_are_named() -> Test {
        let place = |database: &str| Args { timeout: 1, ..Args::of(database) }.source();
        for (url, base) in [
            ("http://x", "http://x/"),
            ("HTTP://x/", "HTTP://x/"),
            ("Https://x/db/manifest.json", "Https://x/db/"),
            ("https://x/my-manifest.json", "https://x/my-manifest.json/"),
        ] {
            assert!(matches!(place(&address(url)?)?.files, Files::Host(host) if host.base == base), "{url}");
        }
        for url in ["ftp://x", "letters://", "file:///db", "s3+http://x", "HTTPX://x"] {
            let error = address(url).err().ok_or(url)?.to_string();
            let (scheme, _) = url.split_once("://").ok_or(url)?;
            assert_eq!(error, format!("found {scheme}://, expected http://, https:// or a directory"));
        }
        for dir in
            [".", "C:\\db", "C://db", "c:/db", "a b/ü://x", "./ftp://x", "://", "1a://x", "http:", "ftp:x", "http"]
        {
            assert!(place(&address(dir)?)?.is_directory(), "{dir}");
        }
        let locate = |dir: &str| place(dir).map(|place| place.locate(Manifest::FILE));
        assert_eq!(locate("manifest.json")?, locate(".")?);
        assert!(locate("old-manifest.json")?.contains("old-manifest.json"));
        Ok(())
    }

    /// A host that answers every request by `answer`, which is told its head.
    fn host(
        answer: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> std::io::Result<Host> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let base = format!("http://{}/", listener.local_addr()?);
        let answer = std::sync::Arc::new(answer);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let answer = answer.clone();
                thread::spawn(move || {
                    let mut head = String::new();
                    let mut input = BufReader::new(stream.try_clone()?);
                    while input.read_line(&mut head)? > 2 {}
                    answer(&head.to_ascii_lowercase(), &mut stream)
                });
            }
        });
        Host::new(base, Duration::from_secs(1)).map_err(std::io::Error::other)
    }

    /// A whole answer with a header line of its own, whatever was asked for.
    fn answering(status: &str, header: &str, body: &[u8]) -> std::io::Result<Host> {
        let head =
            format!("HTTP/1.1 {status}\r\n{header}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        let answer = [head.as_bytes(), body].concat();
        host(move |_, stream| stream.write_all(&answer))
    }

    fn fault<T: std::fmt::Debug>(result: Result<T, SourceError>) -> Result<Fault, Box<dyn std::error::Error>> {
        Ok(result.err().ok_or("an answer")?.fault)
    }

    #[test]
    fn a_file_that_comes_compressed_is_decoded_and_keeps_to_its_cap() -> Test {
        let text = vec![b'x'; 5000];
        for (name, body) in coded(&text)? {
            let host = answering("200 OK", &format!("Content-Encoding: {name}"), &body)?;
            assert_eq!(wait(host.whole("f", 6000))??, text, "{name}");
            assert_eq!(wait(host.range("f", 7..9))??, b"xx", "{name}");
            assert_eq!(fault(wait(host.whole("f", 4999))?)?, Fault::Long { expected: 4999 }, "{name}");
            assert_eq!(fault(wait(host.whole("f", 10))?)?, Fault::Long { expected: 10 }, "{name}");
        }
        Ok(())
    }

    #[test]
    fn a_coding_that_is_unknown_or_damaged_is_named() -> Test {
        for (header, body, words) in [
            ("Content-Encoding: pack200-gzip", "x", "\"pack200-gzip\""),
            ("Content-Encoding: gzip\r\nContent-Encoding: br", "x", "\"gzip, br\""),
            ("Content-Encoding: gzip", "x", "gzip, damaged"),
            ("Content-Encoding: br", "", "br, damaged"),
        ] {
            let fault = fault(wait(answering("200 OK", header, body.as_bytes())?.whole("f", 10))?)?;
            assert!(matches!(fault, Fault::Io(..)) && fault.to_string().contains(words), "{fault}");
        }
        let host = answering("206 Part", "Content-Encoding: gzip\r\nContent-Range: bytes 0-0/9", b"x")?;
        assert_eq!(fault(wait(host.range("f", 0..1))?)?, Fault::ContentEncoding("gzip".to_owned()));
        Ok(())
    }

    #[test]
    fn ranges_are_asked_for_as_they_are_and_files_in_any_known_coding() -> Test {
        let echo = host(|head, stream| {
            let asked = head.lines().find(|line| line.starts_with("accept-encoding:")).unwrap_or_default();
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{asked}", asked.len())
        })?;
        assert_eq!(wait(echo.whole("f", 100))??, format!("accept-encoding: {}", coding::ACCEPTED).as_bytes());
        assert_eq!(wait(echo.range("f", 0..25))??, b"accept-encoding: identity");
        Ok(())
    }

    /// A host that answers the first requests in one way and later ones with `x`, and counts them.
    fn recovering(
        failures: usize,
        fail: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> std::io::Result<(Host, Arc<AtomicUsize>)> {
        let count = Arc::new(AtomicUsize::new(0));
        let asked = count.clone();
        let host = host(move |_, stream| match asked.fetch_add(1, Relaxed) {
            n if n < failures => fail(stream),
            _ => stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\nx"),
        })?;
        Ok((host, count))
    }

    #[test]
    fn what_fails_on_the_way_is_asked_for_again_twice_at_most() -> Test {
        let status = |status: &'static str| {
            move |stream: &mut TcpStream| {
                stream.write_all(
                    format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").as_bytes(),
                )
            }
        };
        for code in ["429 Slow", "500 Oh", "502 Bad", "503 Busy", "504 Late"] {
            let (host, asked) = recovering(2, status(code))?;
            assert_eq!((wait(host.whole("f", 9))??, asked.load(Relaxed)), (b"x".to_vec(), 3), "{code}");
            let (host, asked) = recovering(9, status(code))?;
            let code = code[..3].parse()?;
            assert_eq!((fault(wait(host.whole("f", 9))?)?, asked.load(Relaxed)), (Fault::Status(code), 3));
        }
        // A body that breaks off, and no answer at all.
        let cut = |stream: &mut TcpStream| stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx");
        for (host, asked) in [recovering(2, cut)?, recovering(2, |_| Ok(()))?] {
            assert_eq!((wait(host.whole("f", 9))??, asked.load(Relaxed)), (b"x".to_vec(), 3));
        }
        // What cannot get better, and what would take longer than there is time.
        for code in ["404 No", "403 No", "501 What", "503 Busy\r\nretry-after: 60"] {
            let (host, asked) = recovering(9, status(code))?;
            assert!(matches!(fault(wait(host.whole("f", 9))?)?, Fault::Status(_)));
            assert_eq!(asked.load(Relaxed), 1, "{code}");
        }
        Ok(())
    }

    #[test]
    fn a_host_that_says_when_to_come_back_says_it_in_seconds_or_as_a_date() {
        assert_eq!(seconds_until(" 7 "), Some(Duration::from_secs(7)));
        let soon = SystemTime::now() + Duration::from_secs(100);
        let until = seconds_until(&httpdate::fmt_http_date(soon));
        assert!(until.is_some_and(|until| (90..=100).contains(&until.as_secs())), "{until:?}");
        for text in ["", "soon", "-1", "1.5", "Wed, 21 Oct 2015 07:28:00 GMT"] {
            assert_eq!(seconds_until(text), None, "{text}");
        }
    }

    #[test]
    fn a_host_that_drips_is_given_up_wherever_it_does_so() -> Test {
        for head in [
            "HTTP/1.1 200 O",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 206 Part\r\ncontent-length: 1000\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nx: ",
        ] {
            let drip = if head.contains("chunked") { "1\r\nx\r\n" } else { "x" };
            let host = host(move |_, stream| {
                stream.write_all(head.as_bytes())?;
                loop {
                    thread::sleep(Duration::from_millis(100));
                    stream.write_all(drip.as_bytes())?;
                }
            })?;
            let start = Instant::now();
            let answer =
                if head.contains("206") { wait(host.range("f", 0..1000)) } else { wait(host.whole("f", 1000)) };
            let fault = fault(answer?)?;
            assert!(matches!(fault, Fault::Timeout(limit) if limit.as_millis() < 1010), "{head:?}: {fault}");
            assert!(start.elapsed() < Duration::from_secs(10), "{head:?}: {:?}", start.elapsed());
        }
        Ok(())
    }

    #[test]
    fn redirects_are_within_the_time_of_the_request() -> Test {
        let host = host(|_, stream| {
            thread::sleep(Duration::from_millis(300));
            stream.write_all(b"HTTP/1.1 302 Found\r\nlocation: /f\r\ncontent-length: 0\r\n\r\n")
        })?;
        assert_eq!(fault(wait(host.whole("f", 9))?)?, Fault::Timeout(Duration::from_secs(1)));
        Ok(())
    }

    #[test]
    fn a_slow_line_is_not_cut() -> Test {
        // Twice the pace, for twice the timeout.
        let host = host(|_, stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
            for _ in 0..8 {
                thread::sleep(Duration::from_millis(250));
                stream.write_all(&[b'x'; 8192])?;
            }
            Ok(())
        })?;
        let start = Instant::now();
        assert_eq!(wait(host.whole("f", 1 << 20))??.len(), 8 * 8192);
        assert!(start.elapsed() > Duration::from_millis(1500), "{:?}", start.elapsed());
        Ok(())
    }
}
