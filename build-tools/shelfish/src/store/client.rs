//! HTTP client of object stores, which limits the size and the time of each response.
//!
//! `object_store` reads the whole body of a response, and reserves as much memory as the response announces. This client
//! reads the body itself, as far as the request needs it, and passes it on when it is complete.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use object_store::{ClientOptions, Extensions};
use reqwest::header::{self, HeaderMap, HeaderName};
use shelfish::source::SourceErrorKind;
use shelfish::source::host::Deadline;
use shelfish::source::http::{Head, Requested};

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
        write!(f, "expected a page of a listing with at most {MAX_TAGS} tags, found more")
    }
}

impl std::error::Error for TooManyTags {}

/// Connector of [`LimitedClient`].
#[derive(Clone, Copy, Debug)]
pub(super) struct LimitedConnector {
    /// Timeout of an attempt. The transferred bytes extend it.
    pub(super) timeout: Duration,
}

impl HttpConnector for LimitedConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(LimitedClient { client, timeout: self.timeout }))
    }
}

/// Client that limits each response.
#[derive(Debug)]
struct LimitedClient {
    client: HttpClient,
    timeout: Duration,
}

#[async_trait]
impl HttpService for LimitedClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let expected = request.extensions().get::<Expected>().cloned();
        let deadline = match &expected {
            Some(Expected::File(_, deadline)) => *deadline,
            _ => Deadline::new(self.timeout),
        };
        let sent = request.body().content_length() as u64;
        let response = deadline.wait(sent, self.client.execute(request)).await.map_err(refused)??;
        let (parts, body) = response.into_parts();
        let body = Incoming { pieces: body.bytes_stream(), deadline, transferred: sent };
        let bytes = match parts.status.is_success() {
            true => body.read(expected.as_ref(), parts.status.as_u16(), &parts.headers).await?,
            false => body.beginning(MAX_ERROR).await?,
        };
        Ok(HttpResponse::from_parts(parts, bytes.into()))
    }
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
    HttpError::new(if is_timeout { HttpErrorKind::Timeout } else { HttpErrorKind::Unknown }, kind)
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
        let piece = self.deadline.wait(self.transferred, self.pieces.next()).await.map_err(refused)?.transpose()?;
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

    /// Reads the body of a successful response.
    async fn read(
        mut self,
        expected: Option<&Expected>,
        status: u16,
        headers: &HeaderMap,
    ) -> Result<Vec<u8>, HttpError> {
        let text = |name: HeaderName| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let of_any_status = |cap| Requested::Whole { cap }.check(&Head { status: 200, ..Head::default() });
        let body = match expected {
            Some(Expected::File(requested, _)) => requested.check(&Head {
                status,
                content_range: text(header::CONTENT_RANGE).as_deref(),
                content_length: text(header::CONTENT_LENGTH).as_deref(),
                content_encoding: text(header::CONTENT_ENCODING).as_deref(),
            }),
            Some(Expected::Page) => of_any_status(MAX_PAGE),
            Some(Expected::Rules) => of_any_status(MAX_RULES),
            None => of_any_status(MAX_OTHER),
        };
        let mut body = body.map_err(refused)?;
        while let Some(piece) = self.next().await? {
            body.push(&piece).map_err(refused)?;
        }
        let bytes = body.finish_whole().map_err(refused)?;
        let tags = || bytes.iter().filter(|&&byte| byte == b'<').count();
        if matches!(expected, Some(Expected::Page)) && tags() > MAX_TAGS {
            return Err(HttpError::new(HttpErrorKind::Unknown, TooManyTags));
        }
        Ok(bytes)
    }
}
