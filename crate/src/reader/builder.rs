//! Options of a reader.

use super::cache::NoCache;
use super::fetched::Observer;
use super::limits::RequestLimits;
use crate::setters::setters;
use crate::source::integrity::Pin;

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
pub struct ReaderBuilder<S, C = NoCache> {
    pub(super) source: S,
    pub(super) cache: C,
    pub(super) options: Options,
    pub(super) pin: Option<Pin>,
    pub(super) observer: Option<Observer>,
}

impl<S> ReaderBuilder<S> {
    pub(super) fn new(source: S) -> ReaderBuilder<S> {
        ReaderBuilder {
            source,
            cache: NoCache,
            options: Options::default(),
            pin: None,
            observer: None,
        }
    }
}

impl<S, C> ReaderBuilder<S, C> {
    /// Sets the limits.
    pub fn options(self, options: Options) -> ReaderBuilder<S, C> {
        ReaderBuilder { options, ..self }
    }

    /// Sets a cache that outlives the reader. If the source is unreachable, the manifest in the cache is used.
    pub fn cache<D>(self, cache: D) -> ReaderBuilder<S, D> {
        let ReaderBuilder {
            source,
            options,
            pin,
            observer,
            ..
        } = self;
        ReaderBuilder {
            source,
            cache,
            options,
            pin,
            observer,
        }
    }

    /// Accepts only manifests with these hashes.
    pub fn pin(self, pin: impl Into<Option<Pin>>) -> ReaderBuilder<S, C> {
        ReaderBuilder {
            pin: pin.into(),
            ..self
        }
    }

    /// Calls a function after each fetch.
    pub fn observer(self, observer: impl Into<Option<Observer>>) -> ReaderBuilder<S, C> {
        ReaderBuilder {
            observer: observer.into(),
            ..self
        }
    }
}
