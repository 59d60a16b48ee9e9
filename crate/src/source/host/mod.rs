//! A database on a host that answers HTTP range requests.

mod options;
#[doc(hidden)]
pub mod redirect;
#[cfg(test)]
mod tests;

use core::fmt;
use core::future::Future;
use core::ops::Range;
use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant, SystemTime};

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue, RANGE};
use reqwest::{Client, Response, StatusCode, Url};

pub use self::options::{HostError, Options};
pub use self::redirect::RedirectError;
use super::redaction::redacted;
use crate::quoted::Quoted;

use super::http::{Head, Requested, split_query, time_limit};
use super::retry::RetryPolicy;
use super::{Source, SourceError, SourceErrorKind, Whole};

/// Coding of whole files that is requested and decoded.
#[doc(hidden)]
pub const ACCEPTED: &str = "gzip";
/// Maximum length of an entity tag that is sent back to its host, in bytes.
const MAX_ETAG: usize = 256;

/// The files of a directory of a host.
///
/// The futures are `Send` and require a Tokio runtime with I/O and time. Clones share their connections. Redirects are
/// followed, but `Authorization` and cookies are not sent to another host. A redirect from a public host to a private
/// address, or from HTTPS to HTTP, is an error ([`RedirectError`]). HTTPS uses the certificates of the system. If
/// the process has no default `CryptoProvider` of rustls, *ring* is installed.
///
/// ```no_run
/// use shelfish::eval::PositionEval;
/// use shelfish::reader::Reader;
/// use shelfish::source::host::{self, Host};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let headers = vec![("Authorization".to_string(), "Bearer secret".to_string())];
/// let host = Host::new("https://example.org/evals/", host::Options::default().with_headers(headers))?;
/// let reader = Reader::builder(host).open::<PositionEval>().await?;
/// let answer = reader.lookup(&"8/8/8/4k3/8/4K3/4P3/8 w - -".parse()?).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Host {
    /// URL of the folder, with its secrets.
    base: String,
    /// Query of every request with its question mark, a secret.
    query: String,
    /// URL of the folder for messages, without the query.
    redacted_base: String,
    timeout: Duration,
    retry: RetryPolicy,
    headers: HeaderMap,
    client: Client,
}

/// The folder and the policy. The client contains headers, which may be secrets.
impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Host");
        fields
            .field("base", &self.redacted_base)
            .field("timeout", &self.timeout)
            .field("retry", &self.retry);
        fields.finish_non_exhaustive()
    }
}

impl Host {
    /// Creates a source for the directory with the URL `base`. The trailing slash is optional. A query, such as a signature, is sent with
    /// each request. No request is sent yet.
    ///
    /// # Errors
    ///
    /// Returns an error if `base` is not a URL of HTTP, has a fragment, a header is invalid, or the system has no certificates.
    pub fn new(base: &str, options: Options) -> Result<Host, HostError> {
        let is_http = Url::parse(base)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.fragment().is_none());
        if !is_http {
            return Err(HostError::Address {
                found: redacted(base),
            });
        }
        let mut headers = HeaderMap::new();
        for (name, value) in options.headers {
            let (Ok(key), Ok(mut value)) =
                (HeaderName::try_from(&name), HeaderValue::try_from(value))
            else {
                return Err(HostError::Header { name });
            };
            value.set_sensitive(true);
            headers.append(key, value);
        }
        for ours in [RANGE, ACCEPT_ENCODING] {
            headers.remove(ours);
        }
        let client = client_builder().connect_timeout(options.timeout).build();
        let client = client.map_err(|error| HostError::Client(innermost(&error)))?;
        let (folder, query) = split_query(base);
        let slash = if folder.ends_with('/') { "" } else { "/" };
        let total_time = options.retry.total_time.min(options.timeout);
        let retry = RetryPolicy {
            total_time,
            ..options.retry
        };
        let base = format!("{folder}{slash}");
        Ok(Host {
            redacted_base: redacted(&base),
            query: query.to_string(),
            base,
            timeout: options.timeout,
            retry,
            headers,
            client,
        })
    }

    /// Requests a part of a file, unless the file has the entity tag `etag`. Without `etag`, returns a part in any case.
    async fn get(
        &self,
        file: &str,
        requested: Requested,
        etag: Option<&str>,
    ) -> Result<Option<Whole>, SourceError> {
        let url = format!("{}{file}{}", self.base, self.query);
        let deadline = Deadline::new(self.timeout);
        let attempt = || self.try_get(&url, &requested, etag, deadline);
        let answer = self.retry.run(attempt, tokio::time::sleep).await;
        answer.map_err(|error| SourceError {
            at: self.locate(file),
            ..error
        })
    }

    /// Sends a request once.
    async fn try_get(
        &self,
        url: &str,
        requested: &Requested,
        etag: Option<&str>,
        deadline: Deadline,
    ) -> Result<Option<Whole>, SourceError> {
        // A range of compressed bytes would not be a range of the file.
        let request = match requested.range_header() {
            Some(range) => self
                .client
                .get(url)
                .header("range", range)
                .header("accept-encoding", "identity"),
            None => self.client.get(url).header("accept-encoding", ACCEPTED),
        };
        let request = request.headers(self.headers.clone());
        let request = match etag {
            Some(etag) => request.header("if-none-match", etag),
            None => request,
        };
        let response = deadline
            .wait(0, request.send())
            .await?
            .map_err(|error| kind_of(&error, self.timeout))?;
        if etag.is_some() && response.status() == StatusCode::NOT_MODIFIED {
            return Ok(None);
        }
        let found = header(&response, "etag").filter(|etag| etag.len() <= MAX_ETAG);
        let retry_after = header(&response, "retry-after").and_then(|value| pause_of(&value));
        match self.read(response, requested, deadline).await {
            Ok(bytes) => Ok(Some(Whole { bytes, etag: found })),
            Err(kind) => Err(SourceError {
                retry_after,
                ..kind.into()
            }),
        }
    }

    /// Reads the body of an acceptable response.
    async fn read(
        &self,
        mut response: Response,
        requested: &Requested,
        deadline: Deadline,
    ) -> Result<Vec<u8>, SourceErrorKind> {
        let coding = header(&response, "content-encoding").unwrap_or_default();
        let mut body = requested.check(&Head {
            status: response.status().as_u16(),
            content_range: header(&response, "content-range").as_deref(),
            content_length: header(&response, "content-length").as_deref(),
            content_encoding: Some(&coding),
        })?;
        let mut received = 0;
        while let Some(piece) = deadline
            .wait(received, response.chunk())
            .await?
            .map_err(|error| kind_of(&error, self.timeout))?
        {
            received += piece.len() as u64;
            body.push(&piece)?;
        }
        body.decode(|coded, cap| decoded(coded, &coding, cap))?
            .finish()
    }
}

/// Converts the error of a request.
#[doc(hidden)]
pub fn kind_of(error: &reqwest::Error, timeout: Duration) -> SourceErrorKind {
    let causes = core::iter::successors(core::error::Error::source(error), |error| error.source());
    match causes.filter_map(|error| error.downcast_ref()).next() {
        Some(error) => SourceErrorKind::Redirect(RedirectError::clone(error)),
        None if error.is_timeout() => SourceErrorKind::Timeout(timeout),
        None => SourceErrorKind::Network(innermost(error)),
    }
}

/// The deadline of a request with its retries. Each 16 KiB that are transferred extend it by a second, so that slow
/// connections work, but a host cannot stall.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    start: Instant,
    timeout: Duration,
}

impl Deadline {
    /// Starts the time of a request.
    pub fn new(timeout: Duration) -> Deadline {
        Deadline {
            start: Instant::now(),
            timeout,
        }
    }

    /// Waits for the next step of the request after `bytes` transferred bytes. Requires a Tokio runtime.
    ///
    /// # Errors
    ///
    /// Returns [`SourceErrorKind::Timeout`] if the step takes too long.
    pub async fn wait<T>(
        &self,
        bytes: u64,
        step: impl Future<Output = T>,
    ) -> Result<T, SourceErrorKind> {
        let limit = time_limit(self.timeout, bytes);
        let done = tokio::time::timeout(limit.saturating_sub(self.start.elapsed()), step).await;
        done.map_err(|_| SourceErrorKind::Timeout(limit))
    }
}

/// Returns the values of a header, joined by commas.
fn header(response: &Response, name: &str) -> Option<String> {
    let values = response.headers().get_all(name).iter();
    let values: Vec<_> = values
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// Returns a builder of HTTP clients with the user agent of this crate, which follow redirects by its policy. Installs *ring* as
/// the provider of cryptography for TLS, unless the process has a default provider.
#[doc(hidden)]
pub fn client_builder() -> reqwest::ClientBuilder {
    // An error means that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("shelfish/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::policy())
}

/// Decodes a body by its `Content-Encoding`. If the result is longer than `cap`, returns enough of it to show that.
///
/// # Errors
///
/// The coding is unknown, or the body is damaged.
#[doc(hidden)]
pub fn decoded(body: Vec<u8>, coding: &str, cap: u64) -> Result<Vec<u8>, SourceErrorKind> {
    match coding.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Ok(body),
        "gzip" | "x-gzip" => {
            let mut bytes = Vec::new();
            let mut decoder = flate2::read::MultiGzDecoder::new(&*body).take(cap.saturating_add(1));
            let damaged = |error| format!("the host compresses it as gzip, damaged: {error}");
            match decoder.read_to_end(&mut bytes) {
                Ok(_) => Ok(bytes),
                Err(error) => Err(SourceErrorKind::Io(ErrorKind::InvalidData, damaged(error))),
            }
        }
        _ => Err(SourceErrorKind::Io(
            ErrorKind::Unsupported,
            format!(
                "the host compresses it (Content-Encoding {}), expected none or {ACCEPTED}",
                Quoted(coding.trim())
            ),
        )),
    }
}

/// Returns the message of the innermost cause of an error. The outer errors of HTTP clients repeat the URL.
pub fn innermost(error: &dyn core::error::Error) -> String {
    let mut why = error;
    while let Some(inner) = why.source() {
        why = inner;
    }
    why.to_string()
}

/// Parses the header `Retry-After`, in seconds or as a date.
pub fn pause_of(retry_after: &str) -> Option<Duration> {
    let text = retry_after.trim();
    let date = || {
        httpdate::parse_http_date(text)
            .ok()?
            .duration_since(SystemTime::now())
            .ok()
    };
    text.parse().ok().map(Duration::from_secs).or_else(date)
}

impl Source for Host {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        Ok(self
            .get(file, Requested::Range(range), None)
            .await?
            .unwrap_or_default()
            .bytes)
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        Ok(self
            .get(file, Requested::Whole { cap }, None)
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
        self.get(file, Requested::Whole { cap }, etag).await
    }

    fn locate(&self, file: &str) -> String {
        format!("{}{file}", self.redacted_base)
    }
}
