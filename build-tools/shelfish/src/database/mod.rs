//! Databases in directories, on hosts and in buckets.

pub mod blocking;
pub mod endgames;
mod open_error;
pub mod scan;

use std::future::Future;
use std::ops::Range;
use std::path::Path;

use shelfish::reader::{Options, ReadError, Reader};
use shelfish::source::file::Directory;
use shelfish::source::host::{self, Host};
use shelfish::source::http::split_query;
use shelfish::source::integrity::{Integrity, IntegrityError, Pin};
use shelfish::source::retry::RetryPolicy;
use shelfish::source::{Source, SourceError, SourceErrorKind, Whole};
use shelfish::table::{Manifest, Record};

pub use open_error::OpenError;

use crate::BoxError;
use crate::store::{Address, Objects};
pub use crate::system::manifest::{Kind, parse_manifest};
use crate::system::timeout;
use crate::system::url::{is_http, scheme};

/// Options for the source of a database.
#[derive(clap::Args, Clone, Debug)]
#[group(id = "database_args")]
pub struct Args {
    /// Database: a directory, or a URL with https://, s3:// or gs://. An appended #sha256-... accepts only the
    /// manifest with this hash, as printed by `shelfish build` and `stats`. `-d DATABASE` is the same in any place
    #[arg(value_name = "DATABASE", value_parser = address)]
    pub database: String,
}

/// Splits an address into the database and the hash of its manifest, which may follow after `#`. Another text after `#` is an error,
/// unless it is a part of a path.
pub fn split_pin(address: &str) -> Result<(&str, Option<Integrity>), BoxError> {
    let is_url = scheme(address).is_some();
    let split = match is_url {
        true => address.split_once('#'),
        false => address.rsplit_once('#'),
    };
    let Some((database, hash)) = split else {
        return Ok((address, None));
    };
    match hash.parse() {
        Ok(pin) => Ok((database, Some(pin))),
        Err(IntegrityError)
            if !is_url && (Path::new(address).exists() || !Path::new(database).exists()) =>
        {
            Ok((address, None))
        }
        Err(error) => Err(format!("found #{hash:.80}: {error}").into()),
    }
}

/// Parses the address of a database.
pub fn address(text: &str) -> Result<String, BoxError> {
    let (database, _) = split_pin(text)?;
    match scheme(database) {
        Some(found) if is_store(found) => drop(Address::parse(database)?),
        Some(found) if !is_http(found) => {
            return Err(format!(
                "found {found}://, expected http://, https://, s3://, gs:// or a directory"
            )
            .into());
        }
        _ => {}
    }
    Ok(text.to_owned())
}

fn is_store(scheme: &str) -> bool {
    ["s3", "gs", "file"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
}

impl Args {
    /// Creates default options for a database.
    pub fn of(database: &str) -> Args {
        Args {
            database: database.to_owned(),
        }
    }

    /// Opens the source of the files.
    pub fn source(&self) -> Result<DatabaseSource, BoxError> {
        let (database, integrity) = split_pin(&self.database)?;
        let (path, query) = match scheme(database) {
            Some(found) if is_http(found) => split_query(database),
            _ => (database, ""),
        };
        let folder = path.strip_suffix(Manifest::FILE);
        let folder = folder.filter(|folder| {
            folder.is_empty() || folder.ends_with(['/', std::path::MAIN_SEPARATOR])
        });
        let text = folder.unwrap_or(path);
        let files = match scheme(text) {
            Some(found) if is_store(found) => {
                let address = Address::parse(text)?;
                match address.folder() {
                    Some(folder) => Files::Directory(Directory::new(folder)),
                    None => Files::Bucket(Objects::open(
                        &address,
                        RetryPolicy::default().with_total_time(timeout()),
                    )?),
                }
            }
            Some(_) => {
                let options = host::Options::default().with_timeout(timeout());
                Files::Host(Host::new(&format!("{text}{query}"), options)?)
            }
            None => Files::Directory(Directory::new(if text.is_empty() { "." } else { text })),
        };
        Ok(DatabaseSource { files, integrity })
    }
}

/// Source of the files of a database.
#[derive(Clone, Debug)]
pub struct DatabaseSource {
    files: Files,
    integrity: Option<Integrity>,
}

#[derive(Clone, Debug)]
enum Files {
    Directory(Directory),
    Host(Host),
    Bucket(Objects),
}

impl DatabaseSource {
    /// Returns whether the source is a directory, whose files can be listed.
    pub fn is_directory(&self) -> bool {
        matches!(self.files, Files::Directory(_))
    }

    /// Returns whether the manifest is pinned, so that readers must compare the hashes of pages and blocks.
    pub fn is_pinned(&self) -> bool {
        self.integrity.is_some()
    }

    /// Opens a reader. If the manifest is pinned, the reader compares the hashes of pages and blocks.
    pub async fn reader<R: Record>(
        self,
        options: Options,
    ) -> Result<Reader<DatabaseSource, R>, ReadError> {
        let pin = self.integrity.map(Pin::from);
        Reader::builder(self).options(options).pin(pin).open().await
    }
}

impl Source for DatabaseSource {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        match &self.files {
            Files::Directory(directory) => directory.range(file, range).await,
            Files::Host(host) => host.range(file, range).await,
            Files::Bucket(bucket) => bucket.range(file, range).await,
        }
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        // Without an entity tag, no file is unchanged.
        Ok(self
            .whole_unless(file, cap, None)
            .await?
            .unwrap_or_default()
            .bytes)
    }

    async fn whole_unless(
        &self,
        file: &str,
        cap: u64,
        etag: Option<&str>,
    ) -> Result<Option<Whole>, SourceError> {
        let whole = match &self.files {
            Files::Directory(directory) => directory.whole_unless(file, cap, etag).await,
            Files::Host(host) => host.whole_unless(file, cap, etag).await,
            Files::Bucket(bucket) => bucket.whole_unless(file, cap, etag).await,
        }?;
        match (self.integrity, &whole) {
            (Some(expected), Some(Whole { bytes, .. }))
                if file == Manifest::FILE && Integrity::of(bytes) != expected =>
            {
                let (expected, found) = (expected.to_string(), Integrity::of(bytes).to_string());
                Err(SourceError::new(
                    self.locate(file),
                    SourceErrorKind::Integrity { expected, found },
                ))
            }
            _ => Ok(whole),
        }
    }

    fn locate(&self, file: &str) -> String {
        match &self.files {
            Files::Directory(directory) => directory.locate(file),
            Files::Host(host) => host.locate(file),
            Files::Bucket(bucket) => bucket.locate(file),
        }
    }
}

/// Reads the manifest of a database.
pub async fn manifest<R: Record>(source: &DatabaseSource) -> Result<Manifest, OpenError> {
    let bytes = source
        .whole(Manifest::FILE, Manifest::MAX_BYTES as u64)
        .await?;
    Manifest::parse::<R>(&bytes)
        .map_err(|error| OpenError::of_table(source.locate(Manifest::FILE), error))
}

/// Returns the kind of a database. An unreadable database counts as evaluations; reading it returns the error.
pub fn kind(source: &DatabaseSource) -> std::io::Result<Kind> {
    let bytes = wait(source.whole(Manifest::FILE, Manifest::MAX_BYTES as u64))?;
    let kind = bytes.ok().and_then(|bytes| parse_manifest(&bytes).ok());
    Ok(kind.map_or(Kind::Evaluations, |(_, kind)| kind))
}

/// Blocks until a future is finished.
pub fn wait<F: Future>(future: F) -> std::io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let output = runtime.block_on(future);
    // An abandoned future may still resolve the name of a host, which must not block.
    runtime.shutdown_background();
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Test = Result<(), BoxError>;

    #[test]
    fn a_hash_after_an_address_pins_the_manifest() -> Test {
        let hash = Integrity::of(b"");
        let sharp = tempfile::Builder::new().prefix("a#b").tempdir()?;
        assert!(split_pin("a#b")?.1.is_none());
        for database in [
            ".",
            "https://x/db",
            "https://x/db/manifest.json?sig=1",
            "s3://x/db",
            sharp.path().to_str().ok_or("the path is no text")?,
        ] {
            let place = |address: &str| Args::of(&crate::database::address(address)?).source();
            let (open, pinned) = (place(database)?, place(&format!("{database}#{hash}"))?);
            assert!(!open.is_pinned() && pinned.is_pinned(), "{database}");
            assert_eq!(open.locate(""), pinned.locate(""), "{database}");
            let text = hash.to_string();
            for wrong in [
                "",
                "b",
                "sha256-x",
                &text.replace("sha256-", "sha256="),
                &text.replace("sha256", "sha384"),
                &text.to_uppercase(),
                &format!(" {hash}"),
                &format!("{hash}/"),
            ] {
                let found = place(&format!("{database}#{wrong}"));
                let is_named =
                    |error: BoxError| error.to_string().starts_with(&format!("found #{wrong}"));
                assert!(found.is_err_and(is_named), "{database}#{wrong}");
            }
        }
        Ok(())
    }

    #[test]
    fn schemes_ignore_case_and_unknown_schemes_are_reported() -> Test {
        let place = |database: &str| Args::of(database).source();
        for (url, base) in [
            ("http://x", "http://x/"),
            ("HTTP://x/", "HTTP://x/"),
            ("Https://x/db/manifest.json", "Https://x/db/"),
            ("https://x/my-manifest.json", "https://x/my-manifest.json/"),
            ("https://x/db/manifest.json?sig=a/b", "https://x/db/"),
            ("https://x/db?sig=a/b", "https://x/db/"),
        ] {
            assert_eq!(place(&address(url)?)?.locate(""), base);
        }
        for url in [
            "ftp://x",
            "letters://",
            "files:///db",
            "s3+http://x",
            "HTTPX://x",
        ] {
            let error = address(url).err().ok_or(url)?.to_string();
            let (scheme, _) = url.split_once("://").ok_or(url)?;
            assert_eq!(
                error,
                format!(
                    "found {scheme}://, expected http://, https://, s3://, gs:// or a directory"
                )
            );
        }
        for url in ["s3://", "gs:///x", "gs://c/../d"] {
            assert!(address(url).is_err(), "{url}");
        }
        for dir in [
            ".",
            "C:\\db",
            "C://db",
            "c:/db",
            "a b/ü://x",
            "./ftp://x",
            "://",
            "1a://x",
            "http:",
            "ftp:x",
            "http",
        ] {
            assert!(place(&address(dir)?)?.is_directory(), "{dir}");
        }
        let locate = |dir: &str| place(dir).map(|place| place.locate(Manifest::FILE));
        assert_eq!(locate("manifest.json")?, locate(".")?);
        assert!(locate("old-manifest.json")?.contains("old-manifest.json"));
        Ok(())
    }
}
