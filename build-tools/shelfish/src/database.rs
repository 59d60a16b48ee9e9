//! A database wherever it is: a directory, or a host.

use std::future::Future;
use std::ops::Range;
use std::time::Duration;

use shelfish::eval::Eval;
use shelfish::reader::ReadError;
use shelfish::source::file::Directory;
use shelfish::source::http::{Ask, Head};
use shelfish::source::{Fault, Source, SourceError};
use shelfish::table::Manifest;

/// Where a database is.
#[derive(clap::Args, Clone, Debug)]
#[group(id = "database_args")]
pub struct Args {
    /// The database: a directory, or the URL of one
    #[arg(short, long, value_name = "DIR_OR_URL")]
    pub database: String,
    /// Seconds after which a host that sends nothing is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
}

impl Args {
    /// The source of its files.
    ///
    /// # Errors
    ///
    /// The system's certificates cannot be loaded.
    pub fn source(&self) -> Result<Place, reqwest::Error> {
        let text = self.database.strip_suffix(Manifest::FILE).unwrap_or(&self.database);
        if text.starts_with("http://") || text.starts_with("https://") {
            let base = if text.ends_with('/') { text.to_owned() } else { format!("{text}/") };
            Ok(Place::Host(Host::new(base, Duration::from_secs(self.timeout))?))
        } else {
            Ok(Place::Directory(Directory::new(if text.is_empty() { "." } else { text })))
        }
    }
}

/// The source of a database's files.
#[derive(Clone, Debug)]
pub enum Place {
    /// A directory.
    Directory(Directory),
    /// A host.
    Host(Host),
}

impl Source for Place {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        match self {
            Place::Directory(directory) => directory.range(file, range).await,
            Place::Host(host) => host.range(file, range).await,
        }
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        match self {
            Place::Directory(directory) => directory.whole(file, cap).await,
            Place::Host(host) => host.whole(file, cap).await,
        }
    }

    fn locate(&self, file: &str) -> String {
        match self {
            Place::Directory(directory) => directory.locate(file),
            Place::Host(host) => host.locate(file),
        }
    }
}

/// A directory of a host that answers range requests.
#[derive(Clone, Debug)]
pub struct Host {
    base: String,
    timeout: Duration,
    client: reqwest::Client,
}

impl Host {
    /// The files whose URLs begin with `base`; `timeout` is how long a connection may take to come about, and the host
    /// may send nothing.
    ///
    /// # Errors
    ///
    /// The system's certificates cannot be loaded.
    pub fn new(base: String, timeout: Duration) -> Result<Host, reqwest::Error> {
        // A second call finds the provider of the first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().connect_timeout(timeout).read_timeout(timeout);
        let client = client.user_agent(concat!("shelfish/", env!("CARGO_PKG_VERSION"))).build()?;
        Ok(Host { base, timeout, client })
    }

    async fn get(&self, file: &str, ask: Ask) -> Result<Vec<u8>, SourceError> {
        let at = self.locate(file);
        self.try_get(&at, &ask).await.map_err(|fault| SourceError { at, fault })
    }

    fn fault(&self, error: reqwest::Error) -> Fault {
        if error.is_timeout() {
            return Fault::Timeout(self.timeout);
        }
        // The outer error names the URL once more; the innermost says what happened.
        let mut why: &dyn std::error::Error = &error;
        while let Some(inner) = why.source() {
            why = inner;
        }
        Fault::Network(why.to_string())
    }

    async fn try_get(&self, url: &str, ask: &Ask) -> Result<Vec<u8>, Fault> {
        let mut request = self.client.get(url);
        if let Some(range) = ask.range_header() {
            request = request.header("range", range);
        }
        let mut response = request.send().await.map_err(|error| self.fault(error))?;
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let mut body = ask.judge(&Head {
            status: response.status().as_u16(),
            content_range: header("content-range"),
            content_length: header("content-length"),
            content_encoding: header("content-encoding"),
        })?;
        while let Some(piece) = response.chunk().await.map_err(|error| self.fault(error))? {
            body.push(&piece)?;
        }
        body.finish()
    }
}

impl Source for Host {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        self.get(file, Ask::Range(range)).await
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        self.get(file, Ask::Whole { cap }).await
    }

    fn locate(&self, file: &str) -> String {
        format!("{}{file}", self.base)
    }
}

/// Reads the manifest of a database.
///
/// # Errors
///
/// It is missing, or not a manifest.
pub async fn manifest(place: &Place) -> Result<Manifest, ReadError> {
    let bytes = place.whole(Manifest::FILE, Manifest::MAX_BYTES as u64).await?;
    Manifest::parse::<Eval>(&bytes).map_err(|error| ReadError::Table { at: place.locate(Manifest::FILE), error })
}

/// Waits for what a source does.
///
/// # Errors
///
/// The system does not give what it takes to wait.
pub fn wait<F: Future>(future: F) -> std::io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(future))
}
