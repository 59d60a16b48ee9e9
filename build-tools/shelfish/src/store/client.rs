//! HTTP client of object stores, which limits the size and the time of each response.
//!
//! `object_store` would read the whole body of a response, and reserve as much memory as the response announces. This client
//! reads the body itself, as far as the request needs it, and passes it on when it is complete. It follows no redirects,
//! because a signature holds for one host.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest,
    HttpResponse, HttpService,
};
use object_store::{ClientOptions, Error, Extensions};
use shelfish::source::SourceErrorKind;
use shelfish::source::host::{Deadline, client_builder, innermost};
use thiserror::Error;

use super::Kind;
use crate::system::timeout;

/// Maximum size of a page of a listing in bytes, and of other responses that are not files. 1,000 names of 1 KiB each, with
/// escapes and other fields, are shorter.
const MAX_BYTES: u64 = 4 << 20;
/// Timeout of a request to a service of the cloud for credentials. Elsewhere, an error should not take minutes.
const DISCOVERY: Duration = Duration::from_secs(2);

/// Error of missing credentials. Services of the cloud were asked for them in vain.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no credentials for {}: set {} (no service of the cloud has any: {why})", self.remedy().0, self.remedy().1)]
pub struct NoCredentials {
    /// Kind of the store.
    pub kind: Kind,
    /// Reason why the service of the cloud returned no credentials.
    pub why: String,
}

impl NoCredentials {
    fn remedy(&self) -> (&'static str, &'static str) {
        match self.kind {
            Kind::R2 => ("R2", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
            Kind::Google => (
                "Google Cloud Storage",
                "GOOGLE_APPLICATION_CREDENTIALS to the path of a key, or GOOGLE_SKIP_SIGNATURE=true to read a public bucket",
            ),
            Kind::S3 | Kind::Folder => (
                "S3",
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true to read a public bucket",
            ),
        }
    }
}

/// Maximum size of the body of a response, as an extension of its request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cap(pub(super) u64);

impl Cap {
    /// Returns the extensions of a request with this limit.
    pub(super) fn extensions(self) -> Extensions {
        let mut extensions = Extensions::new();
        extensions.insert(self);
        extensions
    }
}

/// Connector of [`LimitedClient`] for a kind of store.
#[derive(Clone, Copy, Debug)]
pub(super) struct LimitedConnector(pub(super) Kind);

impl HttpConnector for LimitedConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        // The library permits plain HTTP to services of the cloud only.
        let permits_http = options.get_config_value(&ClientConfigKey::AllowHttp);
        let finds_credentials = permits_http.is_some_and(|value| value == "true");
        let timeout = if finds_credentials {
            DISCOVERY
        } else {
            timeout()
        };
        let client = client_builder()
            .redirect(reqwest::redirect::Policy::none())
            .http1_only()
            .connect_timeout(timeout.min(Duration::from_secs(10)))
            .build();
        let client = client.map_err(|error| Error::Generic {
            store: "HTTP client",
            source: Box::new(error),
        })?;
        Ok(HttpClient::new(LimitedClient {
            client,
            timeout,
            missing: finds_credentials.then_some(self.0),
        }))
    }
}

/// Client that limits each response.
#[derive(Debug)]
struct LimitedClient {
    client: reqwest::Client,
    timeout: Duration,
    /// Kind of the store whose credentials are missing if a request fails.
    missing: Option<Kind>,
}

/// Converts the error of a response that exceeds a limit.
fn refused(kind: SourceErrorKind) -> HttpError {
    let is_timeout = matches!(kind, SourceErrorKind::Timeout(_));
    let http = if is_timeout {
        HttpErrorKind::Timeout
    } else {
        HttpErrorKind::Unknown
    };
    HttpError::new(http, kind)
}

#[async_trait]
impl HttpService for LimitedClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.limited(request)
            .await
            .map_err(|error| match self.missing {
                Some(kind) => {
                    let why = innermost(&error);
                    HttpError::new(HttpErrorKind::Unknown, NoCredentials { kind, why })
                }
                None => error,
            })
    }
}

impl LimitedClient {
    async fn limited(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let Cap(cap) = *request.extensions().get().unwrap_or(&Cap(MAX_BYTES));
        let (deadline, sent) = (
            Deadline::new(self.timeout),
            request.body().content_length() as u64,
        );
        let response = deadline.wait(sent, HttpService::call(&self.client, request));
        let (parts, body) = response.await.map_err(refused)??.into_parts();
        let (mut pieces, mut bytes) = (body.bytes_stream(), Vec::new());
        while let Some(piece) = deadline
            .wait(sent + bytes.len() as u64, pieces.next())
            .await
            .map_err(refused)?
            .transpose()?
        {
            if (bytes.len() + piece.len()) as u64 > cap {
                return Err(refused(SourceErrorKind::Long { expected: cap }));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(HttpResponse::from_parts(parts, Bytes::from(bytes).into()))
    }
}
