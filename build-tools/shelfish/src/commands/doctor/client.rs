//! Requests as a browser sends them for a page of another origin, and their answers.
//!
//! Redirects are followed step by step, so that each step can be judged. Nothing is sent twice: a retry would hide a fault.

use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Response, Url};
use shelfish::source::SourceErrorKind;
use shelfish::source::host::redirect::{self, MAX_REDIRECTS};
use shelfish::source::host::{Deadline, client_builder, decoded, kind_of};
use shelfish::source::http::{Head, Requested};

use crate::system::timeout;

/// An answer, or the reason why it is missing.
pub type Asked = Result<Answer, SourceErrorKind>;

/// The head of an answer.
#[derive(Debug)]
pub struct Step {
    /// Requested URL.
    pub url: Url,
    /// Value of the header `Origin` that was sent.
    pub origin: String,
    /// Status code.
    pub status: u16,
    headers: HeaderMap,
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

    /// Returns a header, or `none`.
    pub fn shown(&self, name: &str) -> String {
        self.header(name).unwrap_or_else(|| "none".to_owned())
    }
}

/// An answer, and the redirects before it.
#[derive(Debug)]
pub struct Answer {
    /// Redirects in their order.
    pub redirects: Vec<Step>,
    /// The last answer.
    pub last: Step,
    /// The decoded body, or the reason why a reader rejects the answer.
    pub body: Result<Vec<u8>, SourceErrorKind>,
}

impl Answer {
    /// Returns the redirects and the last answer, which a browser checks.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.redirects.iter().chain([&self.last])
    }
}

/// Client for pages of an origin.
pub struct Client {
    http: reqwest::Client,
    origin: Url,
}

impl Client {
    /// Creates a client.
    pub fn new(origin: Url) -> reqwest::Result<Client> {
        let http = client_builder().redirect(reqwest::redirect::Policy::none());
        let http = http.build()?;
        Ok(Client { http, origin })
    }

    /// Requests a file, and follows its redirects. `condition` is a header such as `If-None-Match`.
    pub async fn ask(
        &self,
        url: &Url,
        requested: &Requested,
        codings: &str,
        condition: Option<(&str, String)>,
    ) -> Asked {
        let deadline = Deadline::new(timeout());
        let (mut url, mut origin) = (url.clone(), self.origin.origin().ascii_serialization());
        let mut redirects = Vec::new();
        loop {
            let mut request = self.http.get(url.clone()).header("origin", &origin);
            request = request.header("accept", "*/*");
            request = request.header("accept-encoding", codings);
            request = match requested.range_header() {
                Some(range) => request
                    .header("cache-control", "no-cache")
                    .header("range", range),
                None => request.header("cache-control", "max-age=0"),
            };
            if let Some((name, value)) = &condition {
                request = request.header(*name, value);
            }
            let sent = deadline.wait(0, request.send()).await?;
            let response = sent.map_err(|error| kind_of(&error, timeout()))?;
            let last = Step {
                url: url.clone(),
                origin: origin.clone(),
                status: response.status().as_u16(),
                headers: response.headers().clone(),
            };
            let is_redirect = (300..=399).contains(&last.status) && redirects.len() < MAX_REDIRECTS;
            let target = last.header(LOCATION.as_str()).filter(|_| is_redirect);
            let Some(target) = target.and_then(|target| url.join(&target).ok()) else {
                let body = read(response, &last, requested, deadline).await;
                return Ok(Answer {
                    redirects,
                    last,
                    body,
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
}

/// Reads a body as a reader does, and no further than necessary.
async fn read(
    mut response: Response,
    head: &Step,
    requested: &Requested,
    deadline: Deadline,
) -> Result<Vec<u8>, SourceErrorKind> {
    let header = |name| head.header(name);
    let (range, length) = (header("content-range"), header("content-length"));
    let coding = header("content-encoding");
    let mut body = requested.check(&Head {
        status: head.status,
        content_range: range.as_deref(),
        content_length: length.as_deref(),
        content_encoding: coding.as_deref(),
    })?;
    // A whole file instead of a range is not read.
    if body.ignores_range() {
        let length = length.and_then(|length| length.trim().parse().ok());
        let range = 0..0;
        return Err(SourceErrorKind::RangeIgnored { range, length });
    }
    let (cap, mut received) = (body.cap(), Vec::new());
    while let Some(piece) = deadline
        .wait(received.len() as u64, response.chunk())
        .await?
        .map_err(|error| kind_of(&error, timeout()))?
    {
        if (received.len() + piece.len()) as u64 > cap {
            return Err(SourceErrorKind::Long { expected: cap });
        }
        received.extend_from_slice(&piece);
    }
    body.push(&decoded(received, &coding.unwrap_or_default(), cap)?)?;
    body.finish()
}
