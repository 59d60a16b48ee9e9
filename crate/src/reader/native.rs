//! A reader that gets its bytes from a [`Source`].

use core::fmt;
use core::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::stream::{self, StreamExt};

use super::{Catalog, GAP, Lookup, ReadError};
use crate::eval::Eval;
use crate::position::Position;
use crate::source::{Source, SourceError};
use crate::table::{Manifest, Record};

/// How a [`Reader`] works.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of decoded pages and blocks to keep in memory.
    pub memory: usize,
    /// Requests of a lookup in flight at most.
    pub concurrency: usize,
    /// Bytes between two pages or blocks that are fetched with them at most, to save a request.
    pub gap: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { memory: 16 << 20, concurrency: 12, gap: GAP }
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
    /// Blocks that came from the source.
    pub network_blocks: u64,
    /// Positions looked up.
    pub lookups: u64,
    /// Time from question to answer, summed over calls, in milliseconds.
    pub milliseconds: f64,
}

/// A database of records `R` that is open for lookups. It may be shared by threads and tasks, as far as its source may.
pub struct Reader<S, R: Record = Eval> {
    source: S,
    concurrency: usize,
    catalog: Mutex<Catalog<R>>,
    stats: Mutex<Stats>,
}

impl<S: fmt::Debug, R: Record> fmt::Debug for Reader<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("source", &self.source).finish_non_exhaustive()
    }
}

impl<S: Source, R: Record> Reader<S, R> {
    /// Opens the database of a source: reads its manifest.
    ///
    /// # Errors
    ///
    /// The manifest cannot be had, or it is not one that this reader can read.
    pub async fn open(source: S, options: Options) -> Result<Reader<S, R>, ReadError> {
        let (manifest, bytes) = fetch_manifest::<R>(&source).await?;
        let mut catalog = Catalog::new(manifest, source.locate(""), options.memory);
        catalog.gap = options.gap;
        Ok(Reader {
            source,
            concurrency: options.concurrency.max(1),
            catalog: Mutex::new(catalog),
            stats: Mutex::new(Stats { requests: 1, bytes, ..Stats::default() }),
        })
    }

    /// The manifest; another one once the database was seen to be replaced.
    pub fn manifest(&self) -> Arc<Manifest> {
        self.catalog().manifest().clone()
    }

    /// What the reader has done so far.
    pub fn stats(&self) -> Stats {
        Stats { memory_hits: self.catalog().hits(), ..*held(&self.stats) }
    }

    /// Looks `position` up; `None` if the database does not have it.
    ///
    /// # Errors
    ///
    /// What it takes could not be read.
    pub async fn lookup(&self, position: &Position) -> Result<Option<R>, ReadError> {
        let started = Instant::now();
        let held = self.catalog().peek(position);
        match held {
            Some(answer) => {
                self.answered(1, started);
                answer
            }
            None => self.lookup_many(core::slice::from_ref(position)).await.pop().unwrap_or(Ok(None)),
        }
    }

    /// Looks positions up, answers in the same order. Each page and block is read once, what is near in one request.
    pub async fn lookup_many(&self, positions: &[Position]) -> Vec<Result<Option<R>, ReadError>> {
        let started = Instant::now();
        let mut lookup = Lookup::new(&self.catalog(), positions.to_vec());
        self.settle(&mut lookup).await;
        if lookup.is_stale() {
            let is_outdated = lookup.is_outdated(&self.catalog());
            if is_outdated || self.renew().await {
                lookup.retry(&self.catalog());
                self.settle(&mut lookup).await;
            }
        }
        self.answered(positions.len() as u64, started);
        lookup.answers()
    }

    /// Gets what a lookup wants until it wants no more.
    async fn settle(&self, lookup: &mut Lookup<R>) {
        loop {
            let wants: Vec<usize> = lookup.wants(&mut self.catalog()).collect();
            if wants.is_empty() {
                return;
            }
            let requests = wants.chunk_by(|&a, &b| lookup.request(a) == lookup.request(b));
            let requests: Vec<_> = requests
                .filter_map(|parts| {
                    let (first, last) = (lookup.want(*parts.first()?).chunk(), lookup.want(*parts.last()?).chunk());
                    let range = first.range.start..last.range.end;
                    Some(self.request(parts.to_vec(), first.file.clone(), range))
                })
                .collect();
            let mut answers = stream::iter(requests).buffer_unordered(self.concurrency);
            while let Some((parts, start, answer)) = answers.next().await {
                self.count(|stats| stats.bytes += answer.as_ref().map_or(0, |bytes| bytes.len() as u64));
                for n in parts {
                    let taken = match &answer {
                        Ok(bytes) => {
                            let bytes = lookup.want(n).chunk().within(bytes, start);
                            lookup.take(&mut self.catalog(), n, bytes)
                        }
                        Err(error) => Err(error.clone().into()),
                    };
                    match taken {
                        Ok(()) => self.count(|stats| stats.network_blocks += u64::from(lookup.want(n).is_block())),
                        Err(error) => lookup.fail(n, &error),
                    }
                }
            }
        }
    }

    /// Asks for a range of a file, for the sake of some wants; gives these, where the range starts, and the answer.
    async fn request(
        &self,
        wants: Vec<usize>,
        file: String,
        range: Range<u64>,
    ) -> (Vec<usize>, u64, Result<Vec<u8>, SourceError>) {
        self.count(|stats| stats.requests += 1);
        (wants, range.start, self.source.range(&file, range).await)
    }

    /// Reads the manifest again; whether it could be had.
    async fn renew(&self) -> bool {
        self.count(|stats| stats.requests += 1);
        match fetch_manifest::<R>(&self.source).await {
            Ok((manifest, bytes)) => {
                self.count(|stats| stats.bytes += bytes);
                self.catalog().renew(manifest);
                true
            }
            Err(_) => false,
        }
    }

    /// The catalog, for as long as nothing is waited for.
    fn catalog(&self) -> MutexGuard<'_, Catalog<R>> {
        held(&self.catalog)
    }

    fn answered(&self, positions: u64, started: Instant) {
        self.count(|stats| {
            stats.lookups += positions;
            stats.milliseconds += started.elapsed().as_secs_f64() * 1e3;
        });
    }

    fn count(&self, change: impl FnOnce(&mut Stats)) {
        change(&mut held(&self.stats));
    }
}

/// What a lock guards is state of its own at every step: a panic elsewhere does not make it wrong.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn fetch_manifest<R: Record>(source: &impl Source) -> Result<(Manifest, u64), ReadError> {
    let bytes = source.whole(Manifest::FILE, Manifest::MAX_BYTES as u64).await?;
    let manifest = Manifest::parse::<R>(&bytes);
    let manifest = manifest.map_err(|error| ReadError::Table { at: source.locate(Manifest::FILE), error })?;
    Ok((manifest, bytes.len() as u64))
}
