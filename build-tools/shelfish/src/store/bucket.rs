//! Opening of buckets, with settings from the environment.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3ConfigKey, Checksum, S3ConditionalPut};
use object_store::azure::AzureConfigKey;
use object_store::client::{HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse};
use object_store::{ClientOptions, ObjectStore};
use shelfish::source::host::install_crypto_provider;

use super::client::{Expected, LimitedConnector};
use super::credentials::{Connection, Discovered};
use super::environment::{
    AZURITE_URL, BuildError, Environment, VariableError, VariableErrorKind, google_url,
};
use super::listing::Pages;
use super::retry::retry_config;
use super::{Address, Kind, Settings, StoreError, StoreErrorKind};

/// Timeout of a request, if the settings contain no timeout. The transferred bytes extend it.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of a request with its retries, if the settings contain no timeout.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(180);

/// Bucket of a store.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) pages: Pages,
    pub(super) server: Server,
    /// Data for S3's protocol, if the store uses it.
    pub(super) s3: Option<S3>,
}

/// Server of a store.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// URL, with secrets.
    pub(super) url: String,
    /// Account, if the same bucket of another account can have other bytes.
    pub(super) account: String,
}

/// Data for requests of S3's protocol that `object_store` does not support.
#[derive(Clone, Debug)]
pub struct S3 {
    /// Store, which provides the credentials.
    pub store: Arc<AmazonS3>,
    /// Client of the store, which limits responses.
    http: HttpClient,
    /// Region of the bucket.
    pub region: String,
    /// URL of the bucket.
    pub bucket_url: String,
}

impl S3 {
    /// Sends a signed request that concerns the rules of the bucket.
    pub async fn execute_for_rules(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.execute(request, Expected::Rules).await
    }

    /// Sends a signed request.
    pub(super) async fn execute(
        &self,
        mut request: HttpRequest,
        expected: Expected,
    ) -> Result<HttpResponse, HttpError> {
        request.extensions_mut().insert(expected);
        self.http.execute(request).await
    }
}

impl Bucket {
    /// Opens the bucket of an address with settings from the environment. Sends no request.
    pub(super) fn open(address: &Address, settings: Settings) -> Result<Bucket, StoreError> {
        install_crypto_provider();
        let total_time = settings
            .timeout
            .unwrap_or(TOTAL_TIMEOUT)
            .min(settings.retry.total_time);
        let policy = settings.retry.with_total_time(total_time);
        let connector = LimitedConnector {
            timeout: settings.timeout.unwrap_or(TIMEOUT),
            retry: policy,
        };
        let client = ClientOptions::new()
            .with_connect_timeout(settings.timeout.unwrap_or(Duration::from_secs(10)));
        let connection = Connection {
            client,
            retry: retry_config(policy),
            connector,
        };
        let at = |kind| StoreError {
            at: address.locate(""),
            kind,
        };
        let environment = Environment::read(address.kind)
            .map_err(|error| at(BuildError::Variable(error).into()))?;
        let bucket = match address.kind {
            Kind::S3 | Kind::R2 => Bucket::s3(address, &environment, connection),
            Kind::Google => Bucket::google(address, &environment, connection),
            Kind::Azure => Bucket::azure(address, &environment, connection),
            Kind::Folder => Err(StoreErrorKind::Missing),
        };
        bucket.map_err(at)
    }

    fn s3(
        address: &Address,
        environment: &Environment,
        connection: Connection,
    ) -> Result<Bucket, StoreErrorKind> {
        let bucket = &address.bucket;
        environment
            .check_pair("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
            .map_err(BuildError::Variable)?;
        let builder = |environment: &Environment| match address.kind {
            Kind::R2 => {
                let host = address
                    .url
                    .splitn(4, '/')
                    .take(3)
                    .collect::<Vec<_>>()
                    .join("/");
                environment.s3().with_endpoint(host).with_region("auto")
            }
            _ => environment.s3(),
        };
        let value = |key| builder(environment).get_config_value(&key);
        let endpoint = value(AmazonS3ConfigKey::S3Endpoint).or(value(AmazonS3ConfigKey::Endpoint));
        // An explicit http:// endpoint is a private server.
        let is_http = endpoint
            .as_deref()
            .is_some_and(|endpoint| endpoint.starts_with("http://"));
        let region = value(AmazonS3ConfigKey::Region).unwrap_or_else(|| "us-east-1".to_owned());
        let server = endpoint
            .clone()
            .unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let connection = if is_http {
            connection.with_http()
        } else {
            connection
        };
        let has_checksum = value(AmazonS3ConfigKey::Checksum).is_some();
        let http = connection.connector.connect(&connection.client);
        let http = http.map_err(|error| StoreErrorKind::Other(Box::new(error)))?;
        let build = |environment: &Environment, connection: &Connection| {
            let Connection {
                client,
                retry,
                connector,
            } = connection.clone();
            let builder = builder(environment)
                .with_client_options(client)
                .with_retry(retry);
            let builder = builder
                .with_http_connector(connector)
                .with_bucket_name(bucket)
                .with_region(&region);
            let builder = builder.with_conditional_put(S3ConditionalPut::ETagMatch);
            if has_checksum {
                builder
            } else {
                builder.with_checksum_algorithm(Checksum::SHA256)
            }
        };
        let store = environment.build(|environment| {
            let builder = build(environment, &connection);
            let is_discovered = environment.get("AWS_ACCESS_KEY_ID").is_none();
            let builder = if is_discovered {
                let provider = build(environment, &connection.discovery())
                    .build()?
                    .credentials()
                    .clone();
                builder.with_credentials(Discovered::new(provider, address.kind))
            } else {
                builder
            };
            builder.build()
        });
        let store = Arc::new(store?);
        let bucket_url = format!("{}/{bucket}", server.trim_end_matches('/'));
        let s3 = Some(S3 {
            store: store.clone(),
            http,
            region,
            bucket_url,
        });
        // Names of buckets are unique on Amazon. Another server may have separate names for each account.
        let account = environment
            .get("AWS_ACCESS_KEY_ID")
            .filter(|_| endpoint.is_some());
        let server = Server {
            url: server,
            account: account.unwrap_or_default().to_owned(),
        };
        Ok(Bucket {
            store: store.clone(),
            pages: Pages(store),
            server,
            s3,
        })
    }

    fn google(
        address: &Address,
        environment: &Environment,
        connection: Connection,
    ) -> Result<Bucket, StoreErrorKind> {
        let bucket = &address.bucket;
        // The key of an emulator may name an endpoint with plain HTTP.
        let connection = connection.with_http();
        let build = |environment: &Environment, connection: &Connection| {
            let Connection {
                client,
                retry,
                connector,
            } = connection.clone();
            let builder = environment
                .google()
                .with_client_options(client)
                .with_retry(retry);
            builder
                .with_http_connector(connector)
                .with_bucket_name(bucket)
        };
        let store = environment.build(|environment| {
            let provider = build(environment, &connection.discovery())
                .build()?
                .credentials()
                .clone();
            let provider = Discovered::new(provider, address.kind);
            build(environment, &connection)
                .with_credentials(provider)
                .build()
        });
        let store = Arc::new(store?);
        let server = Server {
            url: google_url(environment),
            account: String::new(),
        };
        Ok(Bucket {
            store: store.clone(),
            pages: Pages(store),
            server,
            s3: None,
        })
    }

    fn azure(
        address: &Address,
        environment: &Environment,
        connection: Connection,
    ) -> Result<Bucket, StoreErrorKind> {
        let bucket = &address.bucket;
        let account = match address
            .url
            .strip_prefix("https://")
            .and_then(|host| host.split_once('.'))
        {
            Some((account, _)) => Some(account.to_owned()),
            None => environment
                .azure()
                .get_config_value(&AzureConfigKey::AccountName),
        };
        let emulator = environment
            .azure()
            .get_config_value(&AzureConfigKey::UseEmulator);
        let is_emulator = emulator.is_some_and(|value| matches!(&*value, "true" | "1"));
        let account = account
            .or_else(|| is_emulator.then(|| "devstoreaccount1".to_owned()))
            .ok_or_else(|| {
                let name = "AZURE_STORAGE_ACCOUNT_NAME".to_owned();
                BuildError::Variable(VariableError {
                    name,
                    kind: VariableErrorKind::Unset,
                })
            })?;
        let server = match environment
            .azure()
            .get_config_value(&AzureConfigKey::Endpoint)
        {
            _ if is_emulator => environment
                .get(AZURITE_URL)
                .unwrap_or("http://127.0.0.1:10000")
                .to_owned(),
            Some(endpoint) => endpoint,
            None => format!("https://{account}.blob.core.windows.net"),
        };
        let connection = if is_emulator {
            connection.with_http()
        } else {
            connection
        };
        let build = |environment: &Environment, connection: &Connection| {
            let Connection {
                client,
                retry,
                connector,
            } = connection.clone();
            let builder = environment
                .azure()
                .with_account(&account)
                .with_container_name(bucket);
            builder
                .with_client_options(client)
                .with_retry(retry)
                .with_http_connector(connector)
        };
        let store = environment.build(|environment| {
            let builder = build(environment, &connection);
            if is_emulator {
                return builder.build();
            }
            let provider = build(environment, &connection.discovery())
                .build()?
                .credentials()
                .clone();
            builder
                .with_credentials(Discovered::new(provider, address.kind))
                .build()
        });
        let store = Arc::new(store?);
        let server = Server {
            url: server,
            account,
        };
        Ok(Bucket {
            store: store.clone(),
            pages: Pages(store),
            server,
            s3: None,
        })
    }
}
