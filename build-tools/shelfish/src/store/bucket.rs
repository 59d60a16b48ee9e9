//! Opening of buckets, with settings from the environment.

use std::str::FromStr;
use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, Checksum};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use reqwest::Url;
use shelfish::source::retry::RetryPolicy;
use thiserror::Error;

use super::client::LimitedConnector;
use super::{Address, Kind, brief};

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

/// Opens the bucket of an address with settings from the environment. Sends no request.
pub(super) fn open(
    address: &Address,
    policy: RetryPolicy,
) -> Result<Arc<dyn ObjectStore>, EnvironmentError> {
    let connector = LimitedConnector(address.kind);
    let retry = RetryConfig {
        backoff: BackoffConfig {
            init_backoff: policy.first_delay,
            max_backoff: policy.max_delay,
            base: 2.0,
        },
        max_retries: policy.max_retries as usize,
        retry_timeout: policy.total_time,
    };
    let rejected = |error| EnvironmentError::Rejected(brief(&error));
    if address.kind == Kind::Google {
        let mut builder = GoogleCloudStorageBuilder::new();
        for (key, value) in variables(address.kind)? {
            builder = builder.with_config(key, value);
        }
        builder = builder.with_bucket_name(&address.bucket);
        let store = builder.with_http_connector(connector).with_retry(retry);
        return Ok(Arc::new(store.build().map_err(rejected)?));
    }
    let mut builder = AmazonS3Builder::new().with_checksum_algorithm(Checksum::SHA256);
    for (key, value) in variables(address.kind)? {
        builder = builder.with_config(key, value);
    }
    if address.kind == Kind::R2 {
        let path = address.url.find(&format!("/{}", address.bucket));
        let host = &address.url[..path.unwrap_or(address.url.len())];
        builder = builder.with_endpoint(host).with_region("auto");
    }
    builder = builder.with_bucket_name(&address.bucket);
    let store = builder.with_http_connector(connector).with_retry(retry);
    Ok(Arc::new(store.build().map_err(rejected)?))
}
