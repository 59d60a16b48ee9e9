//! An open database.

use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

use web_time::Duration;

use super::builder::ReaderBuilder;
use super::driver::Driver;
use super::error::ReadError;
use super::fetched::Stats;
use super::lookup::Answer;
use crate::eval::PositionEval;
use crate::position::Position;
use crate::source::{Source, Traffic};
use crate::sync::held;
use crate::table::{Manifest, Record};

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
            .field("source", &self.0.source)
            .finish_non_exhaustive()
    }
}

impl<S: Source> Reader<S> {
    /// Returns a builder for a reader of a source.
    pub fn builder(source: S) -> ReaderBuilder<S> {
        ReaderBuilder::new(source)
    }
}

impl<S: Source, R: Record> Reader<S, R> {
    pub(super) fn of(driver: Driver<S>) -> Self {
        Reader(Arc::new(driver), PhantomData)
    }

    /// Returns the manifest in use. After the reader noticed a new build, this is the new manifest.
    pub fn manifest(&self) -> Arc<Manifest> {
        self.0.manifest()
    }

    /// Returns the source of the reader.
    pub fn source(&self) -> &S {
        &self.0.source
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
        self.0.is_due(interval)
    }

    /// Returns the time since the source last sent or confirmed the manifest; `None` if the manifest comes from the cache.
    pub fn manifest_age(&self) -> Option<Duration> {
        self.0.manifest_age()
    }

    /// Returns the number of times that a different manifest has replaced the manifest. Answers of a lookup are valid
    /// while this number is the same as before the lookup.
    pub fn replacements(&self) -> u64 {
        self.0.replacements()
    }

    /// Returns the counters since the reader was opened.
    pub fn stats(&self) -> Stats {
        match self.0.source.traffic() {
            Some(Traffic { requests, bytes }) => Stats {
                requests,
                bytes,
                ..self.0.stats()
            },
            None => self.0.stats(),
        }
    }

    /// Evicts the pages and blocks in memory.
    pub fn clear_memory(&self) {
        self.0.catalog().clear();
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
        let keys = positions.iter().map(Position::key);
        let mut block = |n: usize, block, manifest: &Arc<Manifest>| {
            found(n, find(block, &positions[n]), manifest);
        };
        self.0.look_up(keys, &mut block).await;
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

/// Returns the record of a position in its block.
fn find<R: Record>(block: Answer, position: &Position) -> Result<Option<R>, ReadError> {
    block?.map_or(Ok(None), |block| block.find(position))
}
