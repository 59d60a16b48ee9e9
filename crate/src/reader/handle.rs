//! A database that is open: what its users hold.

use core::fmt;
use std::sync::Arc;

use web_time::Instant;

use super::ReadError;
use super::cache::{Cache, NoCache};
use super::driver::{Driver, Found};
use super::fetched::Observer;
use super::limits::RequestLimits;
use crate::eval::PositionEval;
use crate::position::Position;
use crate::source::integrity::Pin;
use crate::source::{Source, Traffic};
use crate::sync::held;
use crate::table::{Manifest, Record};

/// How a [`Reader`] works.
#[derive(Clone, Debug)]
pub struct Options {
    /// The most bytes of decoded pages and blocks that are kept in memory; 16 MiB by default.
    pub memory: usize,
    /// The most requests at a time; 12 by default.
    pub concurrency: usize,
    /// The largest gap in bytes between two parts that is fetched with them to save a request; 16 KiB by default.
    pub gap: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { memory: 16 << 20, concurrency: 12, gap: RequestLimits::default().max_gap }
    }
}

/// What a [`Reader`] has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Requests to the source, those for the manifest included.
    pub requests: u64,
    /// Bytes that the source handed out.
    pub bytes: u64,
    /// Times that a block was in memory.
    pub memory_hits: u64,
    /// Blocks that came from the cache.
    pub cache_hits: u64,
    /// Blocks that came from the source.
    pub network_blocks: u64,
    /// Positions looked up.
    pub lookups: u64,
    /// Time from question to answer, summed over calls, in milliseconds.
    pub milliseconds: f64,
}

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
        f.debug_struct("Reader").field("source", &self.0.source).finish_non_exhaustive()
    }
}

impl<S: Source, R: Record> Reader<S, R> {
    /// Opens the database of a source: reads its manifest.
    ///
    /// # Errors
    ///
    /// The manifest cannot be had, or it is not one that this reader can read.
    pub async fn open(source: S, options: Options) -> Result<Reader<S, R>, ReadError> {
        Reader::open_with(source, NoCache, options, None, None).await
    }
}

impl<S: Source, R: Record, C: Cache> Reader<S, R, C> {
    /// Opens the database of a source, with a cache that keeps what was read: where no answer comes from the source, the
    /// manifest that the cache has serves. No manifest is taken but one that `pin` allows; `observer` hears of all that
    /// is fetched.
    ///
    /// # Errors
    ///
    /// The manifest cannot be had, or it is not one that this reader can read.
    pub async fn open_with(
        source: S,
        cache: C,
        options: Options,
        pin: Option<Pin>,
        observer: Option<Observer>,
    ) -> Result<Reader<S, R, C>, ReadError> {
        let driver = Driver::open(source, cache, options, pin, observer).await?;
        Ok(Reader(Arc::new(driver)))
    }

    /// The manifest; another one once the database was seen to be replaced.
    pub fn manifest(&self) -> Arc<Manifest> {
        self.0.catalog().manifest().clone()
    }

    /// The source that it reads from.
    pub fn source(&self) -> &S {
        &self.0.source
    }

    /// The cache beyond its memory.
    pub fn cache(&self) -> &C {
        &self.0.cache
    }

    /// What the reader has done so far.
    pub fn stats(&self) -> Stats {
        match self.0.source.traffic() {
            Some(Traffic { requests, bytes }) => Stats { requests, bytes, ..self.0.stats() },
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
        let held = self.0.catalog().peek(position)?;
        // The catalog is free again: other threads need not wait for the record.
        let answer = match held {
            Some((at, block)) => block.find(position).map_err(|error| self.0.catalog().error(&at, error)),
            None => Ok(None),
        };
        self.0.answered(1, started);
        Some(answer)
    }

    /// Looks `position` up; `None` if the database does not have it.
    ///
    /// # Errors
    ///
    /// What it takes could not be read.
    pub async fn lookup(&self, position: &Position) -> Result<Option<R>, ReadError> {
        match self.peek(position) {
            Some(answer) => answer,
            None => self.lookup_many(core::slice::from_ref(position)).await.pop().unwrap_or(Err(ReadError::Unanswered)),
        }
    }

    /// Looks positions up, answers in the same order. Each page and block is read once, what is near in one request.
    pub async fn lookup_many(&self, positions: &[Position]) -> Vec<Result<Option<R>, ReadError>> {
        let mut answers: Vec<_> = positions.iter().map(|_| Err(ReadError::Unanswered)).collect();
        self.lookup_each(positions.to_vec(), &mut |place, answer| answers[place] = answer).await;
        answers
    }

    /// Looks positions up and tells each answer as soon as it is found, with the number of its position.
    pub async fn lookup_each(&self, positions: Vec<Position>, found: &mut Found<'_, R>) {
        self.0.look_up(positions, found).await;
    }

    /// Waits for the requests that have left by now. Whoever holds this future has them go on although the lookups that
    /// wanted them are dropped, so that what they bring is at hand for the next one.
    pub fn linger(&self) -> impl Future<Output = ()> + use<S, R, C> {
        let sent = held(&self.0.under_way).sent();
        async move {
            for request in sent {
                request.await;
            }
        }
    }
}
