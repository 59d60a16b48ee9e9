//! HTTP client of object stores, which limits the size and the time of each response.
//!
//! `object_store` reads the whole body of a response, and reserves as much memory as the response announces. This client
//! reads the body itself, as far as the request needs it, and passes it on when it is complete. It follows redirects by the
//! rule of all hosts.
//!
//! `object_store` also ignores `Retry-After`, and accepts less than the readers of a host. This client therefore judges
//! and repeats the requests for files itself, by the rules of those readers. `object_store` receives an answer that it
//! accepts, or an error that it does not retry.

use std::error::Error as _;
use std::fmt;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use hyper_util::client::legacy::connect::HttpInfo;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest,
    HttpResponse, HttpService,
};
use object_store::{ClientOptions, Error, Extensions};
use reqwest::{Method, Url};
use shelfish::source::SourceErrorKind;
use shelfish::source::host::redirect::{Client, MAX_REDIRECTS, remove_secrets, same_host, target};
use shelfish::source::host::{Deadline, RedirectError, TokioClock, decoded, innermost, pause_of};
use shelfish::source::http::{Body, Head, Requested};
use shelfish::source::retry::{AttemptError, RetryPolicy};

use crate::system::duration;

/// Maximum size of a page of a listing in bytes. 1,000 names of 1 KiB each, with escapes and other fields, are shorter.
const MAX_PAGE: u64 = 4 << 20;
/// Maximum number of tags of a page. A file of Azure has about 50 tags.
const MAX_TAGS: usize = 1 << 17;
/// Maximum size of a bucket's rules in bytes, which is the limit of S3.
const MAX_RULES: u64 = 64 << 10;
/// Maximum size of another response in bytes. The longest contains a token or the ID of an upload, which becomes a part of
/// the next URL.
const MAX_OTHER: u64 = 16 << 10;
/// Number of bytes that are read of the body of an error.
const MAX_ERROR: usize = 16 << 10;

/// Expected body of the response to a request, as an extension of the request.
#[derive(Clone, Debug)]
pub(super) enum Expected {
    /// File or a part of a file, before the deadline.
    File(Requested, Deadline),
    /// Page of a listing.
    Page,
    /// Rules of a bucket.
    Rules,
}

/// Error of a page with too many tags, which a parser would keep in memory.
#[derive(Debug)]
struct TooManyTags;

impl fmt::Display for TooManyTags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected a page of a listing with at most {MAX_TAGS} tags, found more"
        )
    }
}

impl std::error::Error for TooManyTags {}

/// Connector of [`LimitedClient`].
#[derive(Clone, Copy, Debug)]
pub(super) struct LimitedConnector {
    /// Timeout of an attempt. The transferred bytes extend it.
    pub(super) timeout: Duration,
    /// Retries of the request for a file.
    pub(super) retry: RetryPolicy,
}

impl HttpConnector for LimitedConnector {
    /// Creates a client. Of the options, only the permission of plain HTTP and the timeout of connections count.
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let may_http = options
            .get_config_value(&ClientConfigKey::AllowHttp)
            .is_some_and(|value| value == "true");
        let connect_timeout = options.get_config_value(&ClientConfigKey::ConnectTimeout);
        // A text such as `1m 30s` is longer than the time for the response.
        let connect_timeout = connect_timeout
            .and_then(|text| duration::parse(&text).ok())
            .unwrap_or(self.timeout);
        let client = Client::new(|client| {
            client
                .https_only(!may_http)
                .http1_only()
                .connect_timeout(connect_timeout)
        });
        let client = client.map_err(|error| Error::Generic {
            store: "HTTP client",
            source: Box::new(error),
        })?;
        Ok(HttpClient::new(LimitedClient {
            client,
            timeout: self.timeout,
            retry: self.retry,
        }))
    }
}

/// Client that limits each response.
#[derive(Debug)]
struct LimitedClient {
    client: Client,
    timeout: Duration,
    retry: RetryPolicy,
}

/// Converts the error of a redirect that is not followed.
fn redirected(error: RedirectError) -> HttpError {
    refused(SourceErrorKind::Redirect(error))
}

#[async_trait]
impl HttpService for LimitedClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let cap = match request.extensions().get::<Expected>() {
            Some(Expected::File(requested, deadline)) => {
                let (requested, deadline) = (requested.clone(), *deadline);
                let attempt = || self.attempt(request.clone(), &requested, deadline);
                let answer = self.retry.run(&TokioClock(Instant::now()), attempt).await;
                return answer.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error.kind));
            }
            Some(Expected::Page) => MAX_PAGE,
            Some(Expected::Rules) => MAX_RULES,
            None => MAX_OTHER,
        };
        let is_page = matches!(request.extensions().get(), Some(Expected::Page));
        let (response, incoming) = self.send(request, Deadline::new(self.timeout)).await?;
        let (parts, ()) = response.into_parts();
        let bytes = if parts.status.is_success() {
            let mut body = whole(cap).map_err(refused)?;
            incoming.read(&mut body).await?;
            body.finish().map_err(refused)?
        } else {
            incoming.beginning(MAX_ERROR).await?
        };
        let tags = || bytes.iter().filter(|&&byte| byte == b'<').count();
        if is_page && parts.status.is_success() && tags() > MAX_TAGS {
            return Err(HttpError::new(HttpErrorKind::Unknown, TooManyTags));
        }
        Ok(HttpResponse::from_parts(parts, bytes.into()))
    }
}

impl LimitedClient {
    /// Sends a request and follows its redirects, with the same method and body.
    async fn follow(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let mut from = None;
        for _ in 0..=MAX_REDIRECTS {
            let url = Url::parse(&request.uri().to_string());
            let url = url.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
            let client = self.client.judge(from.as_ref(), &url).map_err(redirected)?;
            let (parts, body) = request.into_parts();
            let mut next = HttpRequest::from_parts(parts.clone(), body.clone());
            let response = HttpService::call(client, HttpRequest::from_parts(parts, body)).await;
            let response = response
                .map_err(|error| Client::refused(&url, &error).map_or(error, redirected))?;
            let peer = response
                .extensions()
                .get::<HttpInfo>()
                .map(HttpInfo::remote_addr);
            let status = response.status().as_u16();
            // Other redirects of an upload would send it as a download.
            let is_kept =
                matches!(status, 307 | 308) || matches!(*next.method(), Method::GET | Method::HEAD);
            let Some(target) = target(&url, status, response.headers()).filter(|_| is_kept) else {
                return Ok(response);
            };
            if !same_host(&url, &target) {
                remove_secrets(next.headers_mut());
            }
            let uri = target.as_str().parse::<axum::http::Uri>();
            *next.uri_mut() = uri.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
            from = Some(self.client.hop(&url, peer));
            request = next;
        }
        Err(redirected(RedirectError::Many { max: MAX_REDIRECTS }))
    }

    /// Sends a request. Returns the head and the body of the response.
    async fn send(
        &self,
        request: HttpRequest,
        deadline: Deadline,
    ) -> Result<(Response<()>, Incoming), HttpError> {
        let sent = request.body().content_length() as u64;
        let response = deadline
            .wait(sent, self.follow(request))
            .await
            .map_err(refused)??;
        let (parts, body) = response.into_parts();
        let incoming = Incoming {
            pieces: body.bytes_stream(),
            deadline,
            transferred: sent,
        };
        Ok((Response::from_parts(parts, ()), incoming))
    }

    /// Requests a file or a part of a file once.
    async fn attempt(
        &self,
        request: HttpRequest,
        requested: &Requested,
        deadline: Deadline,
    ) -> Result<HttpResponse, AttemptError> {
        let (response, incoming) = self.send(request, deadline).await.map_err(kind_of)?;
        let (mut parts, ()) = response.into_parts();
        let text = |name: HeaderName| text_of(&parts.headers, name);
        let status = parts.status;
        // The library has no better error for these, or repeats the request.
        let is_refused = matches!(status.as_u16(), 408 | 410 | 416 | 429);
        if is_refused || status.is_server_error() {
            let retry_after = text(header::RETRY_AFTER).and_then(|pause| pause_of(&pause));
            return Err(AttemptError {
                kind: SourceErrorKind::Status(status.as_u16()),
                retry_after,
            });
        }
        if !status.is_success() {
            let bytes = incoming.beginning(MAX_ERROR).await.map_err(kind_of)?;
            return Ok(HttpResponse::from_parts(parts, bytes.into()));
        }
        let coding = text(header::CONTENT_ENCODING).unwrap_or_default();
        let mut body = requested.check(&Head {
            status: status.as_u16(),
            content_range: text(header::CONTENT_RANGE).as_deref(),
            content_length: text(header::CONTENT_LENGTH).as_deref(),
            content_encoding: Some(&coding),
        })?;
        if is_identity(&coding) {
            incoming.read(&mut body).await.map_err(kind_of)?;
        } else {
            let mut coded = whole(body.cap())?;
            incoming.read(&mut coded).await.map_err(kind_of)?;
            let undecoded = |error| SourceErrorKind::Io(ErrorKind::InvalidData, error);
            let cap = body.cap();
            body.push(&decoded(&coded.finish()?, &coding, cap).map_err(undecoded)?)?;
        }
        let bytes = body.finish()?;
        // The library requires headers that a store may omit.
        let length = bytes.len();
        parts
            .headers
            .insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        if let Requested::Range(range) = requested {
            let found = format!(
                "bytes {}-{}/{}",
                range.start,
                range.end.saturating_sub(1),
                range.end
            );
            parts.status = StatusCode::PARTIAL_CONTENT;
            if let Ok(found) = HeaderValue::try_from(found) {
                parts.headers.insert(header::CONTENT_RANGE, found);
            }
        }
        Ok(HttpResponse::from_parts(parts, bytes.into()))
    }
}

/// Returns a collector of a whole body of at most `cap` bytes, of any successful status.
fn whole(cap: u64) -> Result<Body, SourceErrorKind> {
    Requested::Whole { cap }.check(&Head {
        status: 200,
        ..Head::default()
    })
}

/// Returns whether a `Content-Encoding` leaves a body as it is.
fn is_identity(coding: &str) -> bool {
    let coding = coding.trim();
    coding.is_empty() || coding.eq_ignore_ascii_case("identity")
}

/// Returns the text of a header.
fn text_of(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers
        .get(name)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Converts an error of an attempt.
fn kind_of(error: HttpError) -> SourceErrorKind {
    let known = error
        .source()
        .and_then(|source| source.downcast_ref::<SourceErrorKind>())
        .cloned();
    known.unwrap_or_else(|| SourceErrorKind::Network(innermost(&error)))
}

/// Returns the extensions of a request with the body that it expects.
pub(super) fn extension(expected: Expected) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(expected);
    extensions
}

/// Converts an error that another attempt would repeat.
fn refused(kind: SourceErrorKind) -> HttpError {
    let is_timeout = matches!(kind, SourceErrorKind::Timeout(_));
    HttpError::new(
        if is_timeout {
            HttpErrorKind::Timeout
        } else {
            HttpErrorKind::Unknown
        },
        kind,
    )
}

/// Body of a response.
struct Incoming {
    pieces: BoxStream<'static, Result<Bytes, HttpError>>,
    deadline: Deadline,
    /// Number of bytes sent and received.
    transferred: u64,
}

impl Incoming {
    /// Returns the next bytes, or `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        let piece = self
            .deadline
            .wait(self.transferred, self.pieces.next())
            .await
            .map_err(refused)?
            .transpose()?;
        self.transferred += piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Ok(piece)
    }

    /// Returns at most `most` bytes.
    async fn beginning(mut self, most: usize) -> Result<Vec<u8>, HttpError> {
        let mut bytes = Vec::new();
        while bytes.len() < most
            && let Some(piece) = self.next().await?
        {
            bytes.extend_from_slice(&piece[..piece.len().min(most - bytes.len())]);
        }
        Ok(bytes)
    }

    /// Reads to the end, no further than `body` may be long.
    async fn read(mut self, body: &mut Body) -> Result<(), HttpError> {
        while let Some(piece) = self.next().await? {
            body.push(&piece).map_err(refused)?;
        }
        Ok(())
    }
}
