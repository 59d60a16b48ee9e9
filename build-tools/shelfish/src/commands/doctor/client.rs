//! Requests as a browser sends them for a page of another origin, and their answers.
//!
//! Redirects are followed step by step, so that each step can be judged. Nothing is sent twice: a retry would hide a fault.

use std::cell::Cell;
use std::ops::Range;
use std::time::{Duration, Instant};

use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Method, Response, Url, Version};
use shelfish::source::SourceErrorKind;
use shelfish::source::host::{ACCEPTED, Deadline, client_builder, decoded, kind_of, redirect};
use shelfish::source::http::{Head, Requested};
use shelfish::table::Manifest;

/// Maximum number of requests of an examination, with redirects.
pub const MAX_REQUESTS: usize = 60;

/// Maximum number of redirects that are followed for a file.
pub const MAX_REDIRECTS: usize = 5;

/// Codings that Firefox accepts for a range too.
const RANGE_CODINGS: &str = "gzip, deflate, br";

/// An answer, or the reason why it is missing.
pub type Asked = Result<Answer, SourceErrorKind>;

/// The purpose of a request.
#[derive(Clone, Debug)]
pub enum Ask {
    /// The manifest, which a browser revalidates.
    Manifest,
    /// The manifest, unless it has this value of `If-None-Match` or `If-Modified-Since`.
    ManifestUnless(&'static str, String),
    /// A range of a shard.
    Range(Range<u64>),
    /// The head of the answer for a file.
    Head,
    /// Permission to send the header `Range`.
    Preflight,
}

/// The head of an answer.
#[derive(Clone, Debug)]
pub struct Step {
    /// Requested URL.
    pub url: Url,
    /// Value of the header `Origin` that was sent.
    pub origin: String,
    /// Status code.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Version of HTTP.
    pub version: Version,
}

impl Step {
    /// Returns the values of a header, joined by commas.
    pub fn header(&self, name: &str) -> Option<String> {
        let values = self.headers.get_all(name).iter();
        let values: Vec<_> = values
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// Returns whether the host asks for fewer requests.
    pub fn is_throttled(&self) -> bool {
        self.status == 429 || (self.status == 503 && self.headers.contains_key("retry-after"))
    }

    fn is_redirect(&self) -> bool {
        matches!(self.status, 301 | 302 | 303 | 307 | 308) && self.headers.contains_key(LOCATION)
    }
}

/// An answer, and the redirects before it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Redirects in their order.
    pub redirects: Vec<Step>,
    /// The last answer.
    pub last: Step,
    /// The body, decoded if it is a manifest, or the reason why a reader rejects the answer.
    pub body: Result<Vec<u8>, SourceErrorKind>,
    /// Time from the first request to the end of the body.
    pub time: Duration,
}

impl Answer {
    /// Returns the redirects and the last answer, which a browser checks.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.redirects.iter().chain([&self.last])
    }
}

/// Client that counts its requests.
pub struct Client {
    http: reqwest::Client,
    /// Origin of the page.
    origin: Url,
    timeout: Duration,
    requests: Cell<usize>,
    bytes: Cell<u64>,
}

impl Client {
    /// Creates a client for pages of an origin.
    pub fn new(origin: Url, timeout: Duration) -> reqwest::Result<Client> {
        let http = client_builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Client {
            http,
            origin,
            timeout,
            requests: Cell::new(0),
            bytes: Cell::new(0),
        })
    }

    /// Returns the number of requests that were sent.
    pub fn requests(&self) -> usize {
        self.requests.get()
    }

    /// Returns the number of bytes of bodies that were received.
    pub fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// Requests a file and follows its redirects, except for a preflight, which browsers do not redirect.
    pub async fn ask(&self, url: &Url, ask: &Ask) -> Asked {
        let (start, deadline) = (Instant::now(), Deadline::new(self.timeout));
        let mut url = url.clone();
        let mut origin = self.origin.origin().ascii_serialization();
        let mut redirects = Vec::new();
        loop {
            let (last, response) = self.send(&url, &origin, ask, deadline).await?;
            let target = last
                .header("location")
                .and_then(|target| url.join(&target).ok());
            let target = target.filter(|_| last.is_redirect() && !matches!(ask, Ask::Preflight));
            let Some(target) = target.filter(|_| redirects.len() < MAX_REDIRECTS) else {
                let body = self.read(response, &last, ask, deadline).await;
                return Ok(Answer {
                    redirects,
                    last,
                    body,
                    time: start.elapsed(),
                });
            };
            // A redirect between two foreign origins hides the origin of the page.
            if target.origin() != url.origin() && url.origin() != self.origin.origin() {
                "null".clone_into(&mut origin);
            }
            redirect::check(&url, &target).map_err(SourceErrorKind::Redirect)?;
            redirects.push(last);
            url = target;
        }
    }

    /// Sends one request.
    async fn send(
        &self,
        url: &Url,
        origin: &str,
        ask: &Ask,
        deadline: Deadline,
    ) -> Result<(Step, Response), SourceErrorKind> {
        if self.requests.get() >= MAX_REQUESTS {
            return Err(SourceErrorKind::Network(format!(
                "not sent after {MAX_REQUESTS} requests"
            )));
        }
        self.requests.set(self.requests.get() + 1);
        let method = if matches!(ask, Ask::Preflight) {
            Method::OPTIONS
        } else {
            Method::GET
        };
        let request = self
            .http
            .request(method, url.as_str())
            .header("origin", origin)
            .header("accept", "*/*");
        let request = match ask {
            // The mode `no-cache` of `fetch`.
            Ask::Manifest => request
                .header("accept-encoding", ACCEPTED)
                .header("cache-control", "max-age=0"),
            Ask::ManifestUnless(name, value) => request
                .header("accept-encoding", ACCEPTED)
                .header("cache-control", "max-age=0")
                .header(*name, value),
            // The mode `no-store` of `fetch`.
            Ask::Range(range) => {
                let range = Requested::Range(range.clone())
                    .range_header()
                    .unwrap_or_default();
                let request = request
                    .header("accept-encoding", RANGE_CODINGS)
                    .header("range", range);
                request
                    .header("cache-control", "no-cache")
                    .header("pragma", "no-cache")
            }
            Ask::Head => request,
            Ask::Preflight => request
                .header("access-control-request-method", "GET")
                .header("access-control-request-headers", "range"),
        };
        let sent = deadline.wait(0, request.send()).await?;
        let response = sent.map_err(|error| kind_of(&error, self.timeout))?;
        let step = Step {
            url: url.clone(),
            origin: origin.to_owned(),
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            version: response.version(),
        };
        Ok((step, response))
    }

    /// Reads a body as a reader does, and no further than necessary.
    async fn read(
        &self,
        mut response: Response,
        head: &Step,
        ask: &Ask,
        deadline: Deadline,
    ) -> Result<Vec<u8>, SourceErrorKind> {
        let requested = match ask {
            Ask::Manifest => Requested::Whole {
                cap: Manifest::MAX_BYTES as u64,
            },
            Ask::Range(range) => Requested::Range(range.clone()),
            Ask::ManifestUnless(..) | Ask::Head | Ask::Preflight => return Ok(Vec::new()),
        };
        let coding = head.header("content-encoding");
        let mut body = requested.check(&Head {
            status: head.status,
            content_range: head.header("content-range").as_deref(),
            content_length: head.header("content-length").as_deref(),
            content_encoding: coding.as_deref(),
        })?;
        // A whole file instead of a range is not read.
        if body.part().is_some() {
            let length = head
                .header("content-length")
                .and_then(|length| length.trim().parse().ok());
            return Err(SourceErrorKind::RangeIgnored { length, cap: 0 });
        }
        let (cap, mut received) = (body.cap(), Vec::new());
        while let Some(piece) = deadline
            .wait(received.len() as u64, response.chunk())
            .await?
            .map_err(|error| kind_of(&error, self.timeout))?
        {
            self.bytes.set(self.bytes.get() + piece.len() as u64);
            if (received.len() + piece.len()) as u64 > cap {
                return Err(SourceErrorKind::Long { expected: cap });
            }
            received.extend_from_slice(&piece);
        }
        body.push(&decoded(
            received,
            coding.as_deref().unwrap_or_default(),
            cap,
        )?)?;
        body.finish()
    }
}
