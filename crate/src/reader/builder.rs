//! Options of a reader.

use std::sync::Arc;

use super::cache::Cache;
use super::catalog::Format;
use super::driver::Driver;
use super::error::ReadError;
use super::fetched::Observer;
use super::handle::Reader;
use super::limits::RequestLimits;
use super::requests::Boxed;
use crate::setters::setters;
use crate::source::Source;
use crate::source::integrity::Pin;
use crate::table::Record;

/// Limits of a [`Reader`](super::Reader).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Maximum size of decoded pages and blocks in memory, in bytes; 16 MiB by default.
    pub memory: usize,
    /// Maximum number of simultaneous requests; 12 by default.
    pub concurrency: usize,
    /// Maximum gap between two chunks that share a request, in bytes; 16 KiB by default.
    pub gap: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            memory: 16 << 20,
            concurrency: 12,
            gap: RequestLimits::default().max_gap,
        }
    }
}

setters! { Options { with_memory => memory: usize, with_concurrency => concurrency: usize, with_gap => gap: u64 } }

/// A reader that is not open yet.
///
/// ```no_run
/// use shelfish::eval::PositionEval;
/// use shelfish::reader::{Observer, Options, Reader};
/// use shelfish::source::file::Directory;
/// use shelfish::source::integrity::Pin;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let pin: Pin = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=".parse()?;
/// let observer: Observer = Box::new(|fetched| println!("{} {:?}", fetched.at, fetched.range));
/// let reader = Reader::builder(Directory::new("evals"))
///     .options(Options::default().with_memory(64 << 20))
///     .pin(pin)
///     .observer(observer)
///     .open::<PositionEval>()
///     .await?;
/// let eval = reader.lookup(&"8/8/8/4k3/8/4K3/4P3/8 w - -".parse()?).await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct ReaderBuilder<S> {
    pub(super) source: S,
    pub(super) cache: Option<Arc<dyn Cache>>,
    pub(super) options: Options,
    pub(super) pin: Option<Pin>,
    pub(super) observer: Option<Observer>,
}

impl<S: Source> ReaderBuilder<S> {
    pub(super) fn new(source: S) -> ReaderBuilder<S> {
        ReaderBuilder {
            source,
            cache: None,
            options: Options::default(),
            pin: None,
            observer: None,
        }
    }

    /// Sets the limits.
    pub fn options(self, options: Options) -> ReaderBuilder<S> {
        ReaderBuilder { options, ..self }
    }

    /// Sets a cache that outlives the reader. If the source is unreachable, the manifest in the cache is used.
    pub fn cache(self, cache: Option<Arc<dyn Cache>>) -> ReaderBuilder<S> {
        ReaderBuilder { cache, ..self }
    }

    /// Accepts only manifests with these hashes.
    pub fn pin(self, pin: impl Into<Option<Pin>>) -> ReaderBuilder<S> {
        ReaderBuilder {
            pin: pin.into(),
            ..self
        }
    }

    /// Calls a function after each read.
    pub fn observer(self, observer: impl Into<Option<Observer>>) -> ReaderBuilder<S> {
        ReaderBuilder {
            observer: observer.into(),
            ..self
        }
    }

    /// Opens the database: reads its manifest.
    ///
    /// # Errors
    ///
    /// Returns an error if the manifest cannot be read or is invalid.
    pub async fn open<R: Record>(self) -> Result<Reader<S, R>, ReadError> {
        // The box keeps the code for all kinds of records the same.
        let opening: Boxed<'static, _> = Box::pin(Driver::open(self, Format::of::<R>()));
        Ok(Reader::of(opening.await?))
    }
}
