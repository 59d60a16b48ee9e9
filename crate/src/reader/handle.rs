//! A database that is open: what its users hold.

use core::fmt;
use std::sync::Arc;

use core::future::ready;

use futures_channel::mpsc;
use futures_util::stream::{self, Stream, StreamExt as _};
use web_time::{Duration, Instant};

use super::builder::{Options, ReaderBuilder};
use super::cache::{Cache, NoCache};
use super::driver::Driver;
use super::error::ReadError;
use super::fetched::Stats;
use super::requests::Boxed;
use super::steps::Found;
use crate::eval::PositionEval;
use crate::position::Position;
use crate::source::{Source, Traffic};
use crate::sync::held;
use crate::table::{Manifest, Record};

/// A database of records `R` that is open for lookups, from a source `S`, with a cache `C` beyond its memory.
///
/// Clones are the same reader. It may be shared by threads and tasks: lookups that want the same bytes share a request,
/// and a request whose last lookup was dropped is given up.
pub struct Reader<S, R: Record = PositionEval, C = NoCache>(pub(super) Arc<Driver<S, R, C>>);

impl<S, R: Record, C> Clone for Reader<S, R, C> {
    fn clone(&self) -> Self {
        Reader(self.0.clone())
    }
}

impl<S: fmt::Debug, R: Record, C> fmt::Debug for Reader<S, R, C> {
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

impl<S: Source, C: Cache> ReaderBuilder<S, C> {
    /// Opens the database: reads its manifest.
    ///
    /// # Errors
    ///
    /// Returns an error if the manifest cannot be read or is invalid.
    pub async fn open<R: Record>(self) -> Result<Reader<S, R, C>, ReadError> {
        Ok(Reader(Arc::new(Driver::open(self).await?)))
    }
}

impl<S: Source, R: Record> Reader<S, R> {
    /// Opens the database of a source without a cache: reads its manifest.
    ///
    /// # Errors
    ///
    /// Returns an error if the manifest cannot be read or is invalid.
    pub async fn open(source: S, options: Options) -> Result<Reader<S, R>, ReadError> {
        Reader::builder(source).options(options).open().await
    }
}

impl<S: Source, R: Record, C: Cache> Reader<S, R, C> {
    /// Returns the manifest in use. After the reader noticed a new build, this is the new manifest.
    pub fn manifest(&self) -> Arc<Manifest> {
        self.0.manifest()
    }

    /// Returns the source of the reader.
    pub fn source(&self) -> &S {
        &self.0.source
    }

    /// Returns the cache beyond the memory of the reader.
    pub fn cache(&self) -> &C {
        &self.0.cache
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

    /// Forgets the pages and blocks in memory.
    pub fn clear_memory(&self) {
        self.0.catalog().clear();
    }

    /// Looks `position` up if what that takes is in memory; `None` if it is not.
    pub fn peek(&self, position: &Position) -> Option<Result<Option<R>, ReadError>> {
        let started = Instant::now();
        let (answer, hits) = match self.0.block_in_memory(position)? {
            Some((at, block)) => (
                block
                    .find(position)
                    .map_err(|error| self.0.table_error(&at, error)),
                1,
            ),
            None => (Ok(None), 0),
        };
        self.0.answered(1, hits, started);
        Some(answer)
    }

    /// Looks `position` up; `None` if the database does not contain it.
    ///
    /// # Errors
    ///
    /// Returns an error if a page or block could not be read.
    pub async fn lookup(&self, position: &Position) -> Result<Option<R>, ReadError> {
        match self.peek(position) {
            Some(answer) => answer,
            None => self
                .lookup_many(core::slice::from_ref(position))
                .await
                .pop()
                .unwrap_or(Err(ReadError::Unanswered)),
        }
    }

    /// Looks positions up and returns the answers in the same order. Each page and block is read once; neighbouring
    /// chunks share a request.
    pub async fn lookup_many(&self, positions: &[Position]) -> Vec<Result<Option<R>, ReadError>> {
        let mut answers: Vec<_> = positions
            .iter()
            .map(|_| Err(ReadError::Unanswered))
            .collect();
        self.lookup_each(positions.to_vec(), &mut |place, answer| {
            answers[place] = answer
        })
        .await;
        answers
    }

    /// Looks positions up. Calls `found` with each answer and the index of its position as soon as the answer is known.
    pub async fn lookup_each(&self, positions: Vec<Position>, found: &mut Found<'_, R>) {
        self.0.look_up(positions, found).await;
    }

    /// Looks positions up. The stream yields each answer with the index of its position, in the order of arrival.
    ///
    /// ```no_run
    /// use futures_util::StreamExt as _;
    /// # async fn example(reader: shelfish::reader::Reader<shelfish::source::file::Directory>,
    /// #     positions: Vec<shelfish::position::Position>) {
    /// let mut answers = reader.lookup_stream(positions);
    /// while let Some((index, answer)) = answers.next().await {
    ///     println!("{index}: {answer:?}");
    /// }
    /// # }
    /// ```
    pub fn lookup_stream(
        &self,
        positions: Vec<Position>,
    ) -> impl Stream<Item = (usize, Result<Option<R>, ReadError>)> + Unpin + use<S, R, C> {
        let (sender, receiver) = mpsc::unbounded();
        let driver = self.0.clone();
        let lookup = async move {
            // The receiver is gone only if the whole stream is dropped.
            let mut send = move |index, answer| drop(sender.unbounded_send((index, answer)));
            driver.look_up(positions, &mut send).await;
            None
        };
        let lookup: Boxed<_> = Box::pin(lookup);
        stream::select(receiver, stream::once(lookup).filter_map(ready))
    }

    /// Waits for the requests that have been sent so far. They continue while this future exists, even if all their
    /// lookups are dropped, so that later lookups find the chunks in memory.
    pub fn linger(&self) -> impl Future<Output = ()> + use<S, R, C> {
        let sent = held(&self.0.under_way).sent();
        async move {
            for request in sent {
                request.await;
            }
        }
    }
}
