//! Address of a store.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Kinds of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Amazon S3, and stores with the same protocol.
    S3,
    /// Cloudflare R2, which uses the protocol of S3.
    R2,
    /// Google Cloud Storage.
    Google,
    /// Local folder.
    Folder,
}

/// Folder in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Kind of the store.
    pub kind: Kind,
    /// URL without trailing slash, or path of a folder.
    pub url: String,
    /// Bucket; empty for a local folder.
    pub bucket: String,
    /// Folder within the bucket, without leading and trailing slashes.
    pub prefix: String,
}

/// Error of an invalid address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AddressError {
    /// The scheme is unknown or not writable.
    #[error("found {0}://, expected s3://BUCKET/FOLDER, gs://, file:///, or a directory")]
    Scheme(String),
    /// The bucket is missing.
    #[error("found {0}, expected the name of a bucket after ://")]
    NoBucket(String),
    /// A part of the path is ambiguous, such as `..`.
    #[error("found {0:?} in the path, expected names of folders")]
    Part(String),
    /// A `file:` URL does not name a local folder.
    #[error("found {0}, expected file:/// and the path of a local folder")]
    File(String),
    /// The URL contains a user or a password.
    #[error(
        "found a user or a password before @, expected them in the environment (see `shelfish publish --help`)"
    )]
    User,
}

impl Address {
    /// Parses an address: `s3://`, `gs://`, the https URL of R2, a directory, or a `file://` URL.
    pub fn parse(text: &str) -> Result<Address, AddressError> {
        let Some((scheme, rest)) =
            crate::system::url::scheme(text).and_then(|_| text.split_once("://"))
        else {
            return Ok(Address::of_folder(text.to_owned()));
        };
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        if host.contains('@') {
            return Err(AddressError::User);
        }
        let (kind, path) = match scheme.to_ascii_lowercase().as_str() {
            "s3" => (Kind::S3, rest),
            "gs" => (Kind::Google, rest),
            "file" => {
                let path = reqwest::Url::parse(text)
                    .ok()
                    .and_then(|url| url.to_file_path().ok());
                let path = path.and_then(|path| path.into_os_string().into_string().ok());
                return path
                    .map(Address::of_folder)
                    .ok_or_else(|| AddressError::File(text.to_owned()));
            }
            "https" if host.ends_with(".r2.cloudflarestorage.com") => (Kind::R2, path),
            _ => return Err(AddressError::Scheme(scheme.to_owned())),
        };
        let path = path.trim_end_matches('/');
        let (bucket, prefix) = path.split_once('/').unwrap_or((path, ""));
        if bucket.is_empty() {
            return Err(AddressError::NoBucket(text.to_owned()));
        }
        let is_plain = |part: &str| {
            !part.is_empty() && part != "." && part != ".." && !part.contains(['?', '#', '%'])
        };
        if let Some(part) = path.split('/').find(|part| !is_plain(part)) {
            // The rest may be a signature.
            return Err(AddressError::Part(match part.find(['?', '#']) {
                Some(end) => format!("{}…", &part[..=end]),
                None => part.to_owned(),
            }));
        }
        let url = text.trim_end_matches('/').to_owned();
        Ok(Address {
            kind,
            url,
            bucket: bucket.to_owned(),
            prefix: prefix.to_owned(),
        })
    }

    fn of_folder(path: String) -> Address {
        Address {
            kind: Kind::Folder,
            url: path,
            bucket: String::new(),
            prefix: String::new(),
        }
    }

    /// Returns the path of a local folder.
    pub fn folder(&self) -> Option<&Path> {
        (self.kind == Kind::Folder).then(|| Path::new(&self.url))
    }

    /// Returns the URL or path of a file, for messages.
    pub fn locate(&self, name: &str) -> String {
        match self.folder() {
            Some(folder) => PathBuf::from(folder).join(name).display().to_string(),
            None => format!("{}/{name}", self.url),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_are_recognized_by_their_urls() -> Result<(), AddressError> {
        for (text, kind, bucket, prefix) in [
            ("s3://b", Kind::S3, "b", ""),
            ("S3://b/", Kind::S3, "b", ""),
            ("s3://b/evals/2026/", Kind::S3, "b", "evals/2026"),
            ("gs://b/evals", Kind::Google, "b", "evals"),
            (
                "https://0123.r2.cloudflarestorage.com/b/x",
                Kind::R2,
                "b",
                "x",
            ),
            ("site/evals", Kind::Folder, "", ""),
            ("file:///srv/site%20of%20mine/evals", Kind::Folder, "", ""),
        ] {
            let address = Address::parse(text)?;
            assert_eq!(
                (address.kind, &*address.bucket, &*address.prefix),
                (kind, bucket, prefix),
                "{text}"
            );
        }
        assert_eq!(
            Address::parse("file:///a%20b/c")?.folder(),
            Some(Path::new("/a b/c"))
        );
        Ok(())
    }

    #[test]
    fn other_urls_are_rejected_with_their_scheme() {
        for (text, words) in [
            ("ftp://x/y", "found ftp://"),
            ("az://c/evals", "found az://"),
            ("https://example.org/db", "found https://"),
            ("s3://", "bucket"),
            ("s3:///x", "bucket"),
            ("s3://b/../c", "\"..\""),
            ("s3://b//c", "\"\""),
            ("s3://b/c?d", "\"c?…\""),
            ("s3://key:secret@b/c", "in the environment"),
            ("file://far.example.org/db", "a local folder"),
        ] {
            let error = Address::parse(text)
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
