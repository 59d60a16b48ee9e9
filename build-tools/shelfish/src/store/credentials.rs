//! Errors of credentials.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use object_store::{ClientOptions, CredentialProvider, Error, RetryConfig};
use shelfish::source::redaction::redacted;
use shelfish::source::retry::RetryPolicy;

use super::client::LimitedConnector;
use super::retry::retry_config;
use super::{Kind, answered, brief, causes, cut};

/// Error of missing credentials. Services of the cloud were asked for them in vain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoCredentials {
    /// Kind of the store.
    pub kind: Kind,
    /// Reason why the service of the cloud returned no credentials.
    pub why: String,
}

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (store, remedy) = match self.kind {
            Kind::S3 => (
                "S3",
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true to read a public bucket",
            ),
            Kind::R2 => ("R2", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
            Kind::Google => (
                "Google Cloud Storage",
                "GOOGLE_APPLICATION_CREDENTIALS to the path of a key, or GOOGLE_SKIP_SIGNATURE=true to read a public bucket",
            ),
            Kind::Azure => (
                "Azure",
                "AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_KEY, or AZURE_SKIP_SIGNATURE=true to read a public container",
            ),
            Kind::Folder => ("a folder", "nothing"),
        };
        write!(
            f,
            "no credentials for {store}: set {remedy} (no service of the cloud has any: {})",
            self.why
        )
    }
}

impl std::error::Error for NoCredentials {}

/// Credentials that the store's client finds itself, for example from the service of a virtual machine.
#[derive(Debug)]
pub(super) struct Discovered<C> {
    provider: Arc<dyn CredentialProvider<Credential = C>>,
    kind: Kind,
}

impl<C> Discovered<C> {
    pub(super) fn new(
        provider: Arc<dyn CredentialProvider<Credential = C>>,
        kind: Kind,
    ) -> Arc<Discovered<C>> {
        Arc::new(Discovered { provider, kind })
    }
}

impl<C: fmt::Debug + Send + Sync + 'static> CredentialProvider for Discovered<C> {
    type Credential = C;

    fn get_credential<'a, 'b>(
        &'a self,
    ) -> Pin<Box<dyn Future<Output = Result<Arc<C>, Error>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async {
            self.provider.get_credential().await.map_err(|error| {
                // The outer errors name the service of the cloud, which users elsewhere do not know.
                let why = causes(&error)
                    .pop()
                    .map(|cause| cut(redacted(&cause)))
                    .unwrap_or_default();
                let missing = NoCredentials {
                    kind: self.kind,
                    why,
                };
                Error::Generic {
                    store: "credentials",
                    source: Box::new(missing),
                }
            })
        })
    }
}

/// Options and limits of the requests of a client.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) client: ClientOptions,
    pub(super) retry: RetryConfig,
    pub(super) connector: LimitedConnector,
}

impl Connection {
    /// Returns the connection for a server that may have plain HTTP.
    pub(super) fn with_http(self) -> Connection {
        Connection {
            client: self.client.with_allow_http(true),
            ..self
        }
    }

    /// Returns the connection for requests for credentials: without a service, an error should not take minutes.
    pub(super) fn discovery(&self) -> Connection {
        let time = Duration::from_secs(10);
        let retry = RetryPolicy::default()
            .with_max_delay(Duration::from_secs(1))
            .with_total_time(time);
        Connection {
            client: self.client.clone(),
            retry: retry_config(retry),
            connector: LimitedConnector {
                timeout: time,
                retry,
            },
        }
    }
}

/// Returns the error of missing credentials, if it caused an error.
pub(super) fn no_credentials(error: &Error) -> Option<&NoCredentials> {
    std::error::Error::source(error)?.downcast_ref()
}

/// Text of an error of a store that denies access.
pub(super) struct Denied<'a>(pub(super) &'a Error);

impl fmt::Display for Denied<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the store denies access ({}); check the credentials in the environment (see `shelfish publish --help`)",
            brief(self.0)
        )
    }
}

/// Returns whether a store rejects the credentials themselves.
pub(super) fn is_credential_error(error: &Error) -> bool {
    const CODES: [&str; 9] = [
        "InvalidAccessKeyId",
        "SignatureDoesNotMatch",
        "ExpiredToken",
        "InvalidToken",
        "RequestTimeTooSkewed",
        "AuthenticationFailed",
        "InvalidAuthenticationInfo",
        "NoAuthenticationInformation",
        "InvalidSecurity",
    ];
    let answer = causes(error)
        .iter()
        .rev()
        .find_map(|cause| answered(cause))
        .unwrap_or_default();
    CODES.iter().any(|code| answer.starts_with(code))
}
