//! Opening of buckets, with settings from the environment.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, Checksum};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use reqwest::Url;
use thiserror::Error;

use super::client::LimitedConnector;
use super::{Address, Kind, Settings, StoreError, StoreErrorKind, brief};
use crate::system::url::without_password;

/// Timeout of a request, if the settings contain no timeout. The transferred bytes extend it.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of a request with its retries, if the settings contain no timeout.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(180);

/// Errors of the variables of the environment that configure a store.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EnvironmentError {
    /// The value of the variable is not the URL of a server.
    #[error(
        "the environment variable {0} is invalid, expected http:// or https://, a host, and no query"
    )]
    Url(String),
    /// The value of the variable contains a character that a request cannot contain.
    #[error("the environment variable {0} is invalid, expected ASCII characters")]
    Character(String),
    /// The client of the store rejects the variables.
    #[error("the variables of the environment for this store are invalid: {0}")]
    Rejected(String),
}

/// Returns the variables that configure a kind of store. An empty variable counts as unset, because services such as GitHub
/// Actions set a missing secret to the empty text.
fn variables<K: FromStr>(kind: Kind) -> Result<Vec<(K, String)>, EnvironmentError> {
    let prefix = if kind == Kind::Google {
        "GOOGLE_"
    } else {
        "AWS_"
    };
    let mut found = Vec::new();
    for (name, value) in std::env::vars_os() {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else {
            continue;
        };
        let is_endpoint = name.contains("ENDPOINT") || name == "GOOGLE_BASE_URL";
        // The endpoint of an account of R2 is fixed, even if the environment names another endpoint.
        let is_other = is_endpoint && kind == Kind::R2;
        let (Ok(key), false) = (K::from_str(&name.to_ascii_lowercase()), is_other) else {
            continue;
        };
        let is_named =
            name.starts_with(prefix) || (kind == Kind::Google && name == "SERVICE_ACCOUNT");
        let value = value.trim();
        if !is_named || value.is_empty() {
            continue;
        }
        let is_server = |url: Url| {
            matches!(url.scheme(), "http" | "https")
                && url.has_host()
                && url.query().is_none()
                && url.fragment().is_none()
        };
        if is_endpoint && !Url::parse(value).is_ok_and(is_server) {
            return Err(EnvironmentError::Url(name.to_owned()));
        }
        if prefix == "AWS_" && !value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Err(EnvironmentError::Character(name.to_owned()));
        }
        found.push((key, value.to_owned()));
    }
    Ok(found)
}

/// Bucket of a store.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    pub(super) store: Arc<dyn ObjectStore>,
    /// Server and account, if the same bucket of another server or account can have other bytes.
    pub(super) server: String,
}

impl Bucket {
    /// Opens the bucket of an address with settings from the environment. Sends no request.
    pub(super) fn open(address: &Address, settings: Settings) -> Result<Bucket, StoreError> {
        let connector = LimitedConnector {
            kind: address.kind,
            timeout: settings.timeout.unwrap_or(TIMEOUT),
        };
        let total_time = settings.timeout.unwrap_or(TOTAL_TIMEOUT);
        let retry = RetryConfig {
            backoff: BackoffConfig {
                init_backoff: settings.retry.first_delay,
                max_backoff: settings.retry.max_delay,
                base: 2.0,
            },
            max_retries: settings.retry.max_retries as usize,
            retry_timeout: total_time.min(settings.retry.total_time),
        };
        let bucket = match address.kind {
            Kind::Google => google(address, connector, retry),
            _ => s3(address, connector, retry),
        };
        bucket.map_err(|error| {
            StoreError::new(address.locate(""), StoreErrorKind::Environment(error))
        })
    }
}

fn rejected(error: object_store::Error) -> EnvironmentError {
    EnvironmentError::Rejected(brief(&error))
}

fn s3(
    address: &Address,
    connector: LimitedConnector,
    retry: RetryConfig,
) -> Result<Bucket, EnvironmentError> {
    let mut builder = AmazonS3Builder::new().with_checksum_algorithm(Checksum::SHA256);
    for (key, value) in variables(address.kind)? {
        builder = builder.with_config(key, value);
    }
    if address.kind == Kind::R2 {
        let host = address
            .url
            .splitn(4, '/')
            .take(3)
            .collect::<Vec<_>>()
            .join("/");
        builder = builder.with_endpoint(host).with_region("auto");
    }
    let value = |key| builder.get_config_value(&key);
    let endpoint = value(AmazonS3ConfigKey::S3Endpoint).or(value(AmazonS3ConfigKey::Endpoint));
    // Names of buckets are unique on Amazon. Another server may have separate names for each account.
    let server = endpoint.map(|endpoint| {
        let account = value(AmazonS3ConfigKey::AccessKeyId).unwrap_or_default();
        format!("{}\n{account}", without_password(&endpoint))
    });
    let store = builder
        .with_bucket_name(&address.bucket)
        .with_http_connector(connector)
        .with_retry(retry)
        .build()
        .map_err(rejected)?;
    Ok(Bucket {
        store: Arc::new(store),
        server: server.unwrap_or_else(|| "s3".to_owned()),
    })
}

fn google(
    address: &Address,
    connector: LimitedConnector,
    retry: RetryConfig,
) -> Result<Bucket, EnvironmentError> {
    let mut builder = GoogleCloudStorageBuilder::new();
    for (key, value) in variables(address.kind)? {
        builder = builder.with_config(key, value);
    }
    let server = builder.get_config_value(&GoogleConfigKey::BaseUrl);
    let store = builder
        .with_bucket_name(&address.bucket)
        .with_http_connector(connector)
        .with_retry(retry)
        .build()
        .map_err(rejected)?;
    Ok(Bucket {
        store: Arc::new(store),
        server: server.map_or_else(|| "gs".to_owned(), |server| without_password(&server)),
    })
}
