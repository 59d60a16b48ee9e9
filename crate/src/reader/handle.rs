//! Options of a reader, and an open database.

use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

use web_time::Duration;

use super::cache::Cache;
use super::catalog::Format;
use super::driver::Driver;
use super::error::ReadError;
use super::fetched::{Observer, Stats};
use super::lookup::Answer;
use super::requests::Boxed;
use crate::eval::PositionEval;
use crate::position::Position;
use crate::setters::setters;
use crate::source::Source;
use crate::source::integrity::Pin;
use crate::sync::held;
use crate::table::{Manifest, Record};

/// Limits of a [`Reader`](Reader).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Maximum size of decoded pages and blocks in memory, in bytes; 16 MiB by default.
    pub memory: usize,
    /// Maximum number of simultaneous requests; 12 by default.
    pub concurrency: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            memory: 16 << 20,
            concurrency: 12,
        }
    }
}

setters! { Options { with_memory => memory: usize, with_concurrency => concurrency: usize } }

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
        Ok(Reader(Arc::new(opening.await?), PhantomData))
    }
}

/// A database of records `R` that is open for lookups, from a source `S`.
///
/// Clones are the same reader. Threads and tasks may share it: lookups that need the same bytes share a request, which is
/// cancelled when its last lookup is dropped.
pub struct Reader<S, R = PositionEval>(pub(super) Arc<Driver<S>>, PhantomData<fn() -> R>);

/// Receives an answer of a lookup, with the index of its position and the manifest that the answer belongs to. Natively it may move
/// between threads.
#[cfg(not(target_arch = "wasm32"))]
pub type Found<'a, R> = dyn FnMut(usize, Result<Option<R>, ReadError>, &Arc<Manifest>) + Send + 'a;
/// Receives an answer of a lookup, with the index of its position and the manifest that the answer belongs to.
#[cfg(target_arch = "wasm32")]
pub type Found<'a, R> = dyn FnMut(usize, Result<Option<R>, ReadError>, &Arc<Manifest>) + 'a;

impl<S, R> Clone for Reader<S, R> {
    fn clone(&self) -> Self {
        Reader(self.0.clone(), PhantomData)
    }
}

impl<S: fmt::Debug, R> fmt::Debug for Reader<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("source", &self.0.parts.source)
            .finish_non_exhaustive()
    }
}

impl<S: Source> Reader<S> {
    /// Returns a builder for a reader of a source.
    pub fn builder(source: S) -> ReaderBuilder<S> {
        ReaderBuilder {
            source,
            cache: None,
            options: Options::default(),
            pin: None,
            observer: None,
        }
    }
}

impl<S: Source, R: Record> Reader<S, R> {
    /// Returns the manifest in use. After the reader noticed a new build, this is the new manifest.
    pub fn manifest(&self) -> Arc<Manifest> {
        self.0.manifest()
    }

    /// Returns the source of the reader.
    pub fn source(&self) -> &S {
        &self.0.parts.source
    }

    /// Requests the manifest again, unless it is unchanged. Returns whether a different manifest replaced it. After an
    /// error, the reader keeps the old manifest.
    ///
    /// A lookup reads the manifest again only if a file is missing or contradicts the manifest. Hosts keep the files of
    /// an old build for some time. A reader that is open for long must therefore call this from time to time.
    ///
    /// # Errors
    ///
    /// Returns an error if the manifest cannot be read or is invalid.
    pub async fn revalidate(&self) -> Result<bool, ReadError> {
        self.0.renew(true).await
    }

    /// Returns whether [`revalidate`](Reader::revalidate) should be called: the last request for the manifest was at
    /// least `interval` ago, the device is not offline, and the manifest is not pinned.
    pub fn is_due(&self, interval: Duration) -> bool {
        let requested = held(&self.0.checked).requested;
        requested.is_none_or(|time| time.elapsed() >= interval)
            && !self.0.is_pinned()
            && !self.source().is_offline()
    }

    /// Returns the time since the source last sent or confirmed the manifest; `None` if the manifest comes from the cache.
    pub fn manifest_age(&self) -> Option<Duration> {
        Some(held(&self.0.checked).confirmed?.elapsed())
    }

    /// Returns the counters since the reader was opened.
    pub fn stats(&self) -> Stats {
        let mut stats = *held(&self.0.stats);
        if let Some(traffic) = self.source().traffic() {
            (stats.requests, stats.bytes) = (traffic.requests, traffic.bytes);
        }
        stats
    }

    /// Evicts the pages and blocks in memory.
    pub fn clear_memory(&self) {
        self.0.memory().clear();
    }

    /// Looks `position` up; `None` if the database does not contain it.
    ///
    /// # Errors
    ///
    /// Returns an error if a page or block could not be read.
    pub async fn lookup(&self, position: &Position) -> Result<Option<R>, ReadError> {
        let mut answers = self.lookup_many(core::slice::from_ref(position)).await;
        answers.pop().unwrap_or(Err(ReadError::Unanswered))
    }

    /// Looks positions up and returns the answers in the same order. Each page and block is read once; neighbouring
    /// chunks share a request.
    pub async fn lookup_many(&self, positions: &[Position]) -> Vec<Result<Option<R>, ReadError>> {
        let mut answers: Vec<_> = positions
            .iter()
            .map(|_| Err(ReadError::Unanswered))
            .collect();
        self.lookup_each(positions, &mut |n, answer, _| answers[n] = answer)
            .await;
        answers
    }

    /// Looks positions up. Calls `found` with each answer as soon as the answer is known.
    pub async fn lookup_each(&self, positions: &[Position], found: &mut Found<'_, R>) {
        let places = positions.iter().map(Position::key).zip(0..).collect();
        let mut block = |n: usize, block: Answer, manifest: &Arc<Manifest>| {
            let record =
                block.and_then(|block| block.map_or(Ok(None), |block| block.find(&positions[n])));
            found(n, record, manifest);
        };
        self.0.look_up(places, &mut block).await;
    }

    /// Waits for the requests that have been sent so far. They continue while this future exists, even if all their
    /// lookups are dropped, so that later lookups find the chunks in memory.
    pub fn linger(&self) -> impl Future<Output = ()> + use<S, R> {
        let sent = held(&self.0.pending).sent();
        async move {
            for request in sent {
                request.await;
            }
        }
    }
}
