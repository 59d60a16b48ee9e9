//! Variables of the environment that configure stores.
//!
//! An empty variable counts as unset, because services such as GitHub Actions set a missing variable to the empty text.

use std::fmt;
use std::str::FromStr;

use object_store::Error;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use reqwest::Url;
use shelfish::source::redaction::redacted;

use super::{Kind, brief};

/// Variables that configure a kind of store.
#[derive(Clone)]
pub(super) struct Environment(Vec<(String, String)>);

/// Error of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableError {
    /// Name of the variable.
    pub name: String,
    /// Kind of the error.
    pub kind: VariableErrorKind,
}

/// Kinds of errors of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableErrorKind {
    /// The value contains a character that a request cannot contain, such as a line break at its end.
    Character(char),
    /// The value is not the URL of a server, without its secrets.
    Url(String),
    /// The variable is not set, but another variable or the address requires it.
    Unset,
    /// The client of the store rejects the value.
    Rejected(String),
}

impl fmt::Display for VariableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.kind {
            VariableErrorKind::Character(found) => write!(
                f,
                "the environment variable {name} contains {found:?}, expected ASCII characters without spaces and line breaks"
            ),
            VariableErrorKind::Url(found) => write!(
                f,
                "the environment variable {name} is {found:?}, expected http:// or https://, a host, and no query"
            ),
            VariableErrorKind::Unset => write!(f, "the environment variable {name} is not set"),
            VariableErrorKind::Rejected(why) => {
                write!(f, "the environment variable {name} is invalid: {why}")
            }
        }
    }
}

impl std::error::Error for VariableError {}

impl Environment {
    /// Reads and checks the variables for a kind of store.
    pub(super) fn read(kind: Kind) -> Result<Environment, VariableError> {
        let all = std::env::vars_os();
        Environment::of(
            kind,
            all.filter_map(|(name, value)| {
                Some((name.into_string().ok()?, value.into_string().ok()?))
            }),
        )
    }

    fn of(
        kind: Kind,
        all: impl Iterator<Item = (String, String)>,
    ) -> Result<Environment, VariableError> {
        let concerns = |name: &str| {
            let key = name.to_ascii_lowercase();
            // The options of the HTTP client do not come from the environment.
            match kind {
                Kind::S3 | Kind::R2 if name.starts_with("AWS_") => match key.parse() {
                    // The endpoint of an account of R2 is fixed, even if the environment names another endpoint.
                    Ok(AmazonS3ConfigKey::Endpoint | AmazonS3ConfigKey::S3Endpoint) => {
                        kind == Kind::S3
                    }
                    Ok(key) => !matches!(key, AmazonS3ConfigKey::Client(_)),
                    Err(_) => false,
                },
                Kind::Google if name.starts_with("GOOGLE_") || name == "SERVICE_ACCOUNT" => key
                    .parse()
                    .is_ok_and(|key| !matches!(key, GoogleConfigKey::Client(_))),
                Kind::Azure if name.starts_with("AZURE_") || name == "IDENTITY_ENDPOINT" => key
                    .parse()
                    .is_ok_and(|key| !matches!(key, AzureConfigKey::Client(_))),
                Kind::Azure => name == AZURITE_URL,
                _ => false,
            }
        };
        let mut variables: Vec<(String, String)> = all
            .filter(|(name, value)| {
                concerns(name) && (!value.trim().is_empty() || name == AZURITE_URL)
            })
            .collect();
        variables.sort();
        for (name, value) in &variables {
            check(name, value).map_err(|kind| VariableError {
                name: name.clone(),
                kind,
            })?;
        }
        Ok(Environment(variables))
    }

    /// Returns the value of a variable.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns an error if one variable is set without the other.
    pub(super) fn check_pair(&self, one: &str, other: &str) -> Result<(), VariableError> {
        match (self.get(one), self.get(other)) {
            (Some(_), None) => Err(VariableError {
                name: other.to_owned(),
                kind: VariableErrorKind::Unset,
            }),
            (None, Some(_)) => Err(VariableError {
                name: one.to_owned(),
                kind: VariableErrorKind::Unset,
            }),
            _ => Ok(()),
        }
    }

    pub(super) fn s3(&self) -> AmazonS3Builder {
        self.apply(AmazonS3Builder::new(), AmazonS3Builder::with_config)
    }

    pub(super) fn google(&self) -> GoogleCloudStorageBuilder {
        self.apply(
            GoogleCloudStorageBuilder::new(),
            GoogleCloudStorageBuilder::with_config,
        )
    }

    pub(super) fn azure(&self) -> MicrosoftAzureBuilder {
        self.apply(
            MicrosoftAzureBuilder::new(),
            MicrosoftAzureBuilder::with_config,
        )
    }

    fn apply<B, K: FromStr>(&self, builder: B, set: impl Fn(B, K, String) -> B) -> B {
        self.0.iter().fold(builder, |builder, (name, value)| {
            match name.to_ascii_lowercase().parse() {
                Ok(key) => set(builder, key, value.clone()),
                Err(_) => builder,
            }
        })
    }

    /// Builds a client. If one variable prevents this, the error names it.
    pub(super) fn build<T>(
        &self,
        build: impl Fn(&Environment) -> Result<T, Error>,
    ) -> Result<T, BuildError> {
        build(self).map_err(|error| {
            let without = |name: &str| {
                Environment(
                    self.0
                        .iter()
                        .filter(|(other, _)| other != name)
                        .cloned()
                        .collect(),
                )
            };
            match self
                .0
                .iter()
                .find(|(name, _)| build(&without(name)).is_ok())
            {
                Some((name, _)) => {
                    let kind = VariableErrorKind::Rejected(brief(&error));
                    BuildError::Variable(VariableError {
                        name: name.clone(),
                        kind,
                    })
                }
                None => BuildError::Other(Box::new(error)),
            }
        })
    }
}

/// Reasons why a client cannot be built.
pub(super) enum BuildError {
    Variable(VariableError),
    Other(Box<Error>),
}

/// URL of the emulator of Azure, which `object_store` reads itself.
pub(super) const AZURITE_URL: &str = "AZURITE_BLOB_STORAGE_URL";

/// Returns the URL of Google's service. The key of an emulator contains its URL.
pub(super) fn google_url(environment: &Environment) -> String {
    let of_key = |builder: &GoogleCloudStorageBuilder| {
        let path = builder.get_config_value(&GoogleConfigKey::ServiceAccount);
        let key = path.and_then(|path| std::fs::read_to_string(path).ok());
        let key = key.or_else(|| builder.get_config_value(&GoogleConfigKey::ServiceAccountKey))?;
        let key: serde_json::Value = serde_json::from_str(&key).ok()?;
        Some(key.get("gcs_base_url")?.as_str()?.to_owned())
    };
    let builder = environment.google();
    let url = builder
        .get_config_value(&GoogleConfigKey::BaseUrl)
        .or_else(|| of_key(&builder));
    url.unwrap_or_else(|| "https://storage.googleapis.com".to_owned())
}

/// Checks values that would make requests impossible.
fn check(name: &str, value: &str) -> Result<(), VariableErrorKind> {
    let is_path = [
        "_FILE",
        "_CREDENTIALS",
        "SERVICE_ACCOUNT",
        "SERVICE_ACCOUNT_PATH",
    ]
    .iter()
    .any(|end| name.ends_with(end));
    // A key is JSON with spaces and line breaks.
    let is_json = name.ends_with("SERVICE_ACCOUNT_KEY");
    if !is_path
        && !is_json
        && let Some(found) = value.chars().find(|c| !c.is_ascii_graphic())
    {
        return Err(VariableErrorKind::Character(found));
    }
    let is_url = name.contains("ENDPOINT") || name.ends_with("_URL") || name.ends_with("_FULL_URI");
    let is_server = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.query().is_none()
            && url.fragment().is_none()
    };
    if is_url && !Url::parse(value).is_ok_and(|url| is_server(&url)) {
        // Without a scheme, the text before @ may still be a secret.
        let found = if value.contains("://") {
            redacted(value)
        } else {
            redacted(&format!("://{value}"))[3..].to_owned()
        };
        return Err(VariableErrorKind::Url(found));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(kind: Kind, variables: &[(&str, &str)]) -> Result<Environment, VariableError> {
        Environment::of(
            kind,
            variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        )
    }

    #[test]
    fn empty_variables_and_variables_of_other_stores_are_ignored() -> Result<(), VariableError> {
        let all = [
            ("AWS_ENDPOINT", ""),
            ("AWS_REGION", " "),
            ("AWS_PROFILE", "a b"),
            ("AWS_ACCESS_KEY_ID", "k"),
        ];
        let found = environment(Kind::S3, &all)?;
        assert_eq!(
            (found.0.len(), found.get("AWS_ACCESS_KEY_ID")),
            (1, Some("k"))
        );
        assert_eq!(environment(Kind::Azure, &all)?.0.len(), 0);
        let endpoints = [
            ("AWS_ENDPOINT_URL_S3", "http://x"),
            ("AWS_ENDPOINT_URL_STS", "http://x"),
        ];
        assert_eq!(
            environment(Kind::R2, &endpoints)?.0.len(),
            1,
            "the endpoint of R2 is that of its account"
        );
        Ok(())
    }

    #[test]
    fn the_error_of_a_malformed_variable_contains_its_name_and_no_secret() {
        for (kind, name, value) in [
            (Kind::S3, "AWS_ENDPOINT", "localhost:9000"),
            (Kind::S3, "AWS_ENDPOINT_URL", "127.0.0.1"),
            (Kind::S3, "AWS_ENDPOINT", "me:MARK@x"),
            (
                Kind::S3,
                "AWS_ENDPOINT_URL_S3",
                "https://me:MARK@x/?sig=MARK",
            ),
            (Kind::S3, "AWS_SECRET_ACCESS_KEY", "MARK\n"),
            (Kind::R2, "AWS_ACCESS_KEY_ID", "MARKé"),
            (Kind::Google, "GOOGLE_BASE_URL", "ftp://me:MARK@x"),
            (Kind::Azure, "AZURE_STORAGE_SAS_KEY", "sig=MARK x"),
            (Kind::Azure, "AZURE_STORAGE_ENDPOINT", "x"),
            (Kind::Azure, AZURITE_URL, ""),
        ] {
            let error = environment(kind, &[(name, value)])
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(
                error.contains(name) && !error.contains("MARK"),
                "{name}: {error}"
            );
        }
    }
}
