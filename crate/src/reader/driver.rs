//! A reader gets what its lookups want: from a cache, or from a source by as few requests as serve all of them.

use core::fmt;
use core::ops::Range;
use core::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use async_lock::{OnceCell, Semaphore};
use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use web_time::{Duration, Instant};

use super::cache::{Cache, Keep, NoCache};
use super::catalog::{Catalog, Want};
use super::lookup::Lookup;
use super::requests::{Boxed, Joined, Parts, Sent, UnderWay};
use super::{GAP, ReadError};
use crate::eval::Eval;
use crate::position::Position;
use crate::source::integrity::Pin;
use crate::source::{Source, SourceError, Traffic};
use crate::table::{Manifest, Record};

/// How a [`Reader`] works.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of decoded pages and blocks to keep in memory.
    pub memory: usize,
    /// Requests in flight at most.
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
    /// Blocks that came from the cache.
    pub cache_hits: u64,
    /// Blocks that came from the source.
    pub network_blocks: u64,
    /// Positions looked up.
    pub lookups: u64,
    /// Time from question to answer, summed over calls, in milliseconds.
    pub milliseconds: f64,
}

/// Where bytes came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The reader's cache.
    Cache,
    /// The source.
    Source,
}

/// Bytes of a file that a reader got, or failed to get.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fetched<'a> {
    /// The file's name.
    pub file: &'a str,
    /// The bytes asked for; those of a whole file begin at 0.
    pub range: Range<u64>,
    /// Pages and blocks among them that were wanted; 0 for a manifest.
    pub parts: usize,
    /// Where they came from.
    pub origin: Origin,
    /// Time from question to answer.
    pub elapsed: Duration,
    /// Whether they came.
    pub is_good: bool,
}

/// Hears of all that a reader gets.
#[cfg(not(target_arch = "wasm32"))]
pub type Observer = Box<dyn Fn(&Fetched<'_>) + Send + Sync>;
/// Hears of all that a reader gets.
#[cfg(target_arch = "wasm32")]
pub type Observer = Box<dyn Fn(&Fetched<'_>)>;

/// Takes the answers of a lookup, each with the number of its position. Natively it may move between threads.
#[cfg(not(target_arch = "wasm32"))]
pub type Found<'a, R> = dyn FnMut(usize, Result<Option<R>, ReadError>) + Send + 'a;
/// Takes the answers of a lookup, each with the number of its position.
#[cfg(target_arch = "wasm32")]
pub type Found<'a, R> = dyn FnMut(usize, Result<Option<R>, ReadError>) + 'a;

/// A database of records `R` that is open for lookups, from a source `S`, with a cache `C` beyond its memory.
///
/// Clones are the same reader. It may be shared by threads and tasks: lookups that want the same bytes share a request,
/// and a request whose last lookup was dropped is given up.
pub struct Reader<S, R: Record = Eval, C = NoCache>(Arc<Inner<S, R, C>>);

impl<S, R: Record, C> Clone for Reader<S, R, C> {
    fn clone(&self) -> Self {
        Reader(self.0.clone())
    }
}

struct Inner<S, R: Record, C> {
    source: S,
    cache: C,
    gap: u64,
    pin: Option<Pin>,
    observer: Option<Observer>,
    gate: Semaphore,
    catalog: Mutex<Catalog<R>>,
    under_way: Mutex<UnderWay<R>>,
    /// Whether the manifest could be read again, for those who wait for it.
    renewal: Mutex<Weak<OnceCell<bool>>>,
    stats: Mutex<Stats>,
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
        let kept = async || {
            let bytes = cache.get(vec![Manifest::FILE.to_string()]).await.pop()??;
            parse::<R>(&source, pin.as_ref(), &bytes).ok()
        };
        let mut stats = Stats::default();
        let offline = if source.is_offline() { kept().await } else { None };
        let manifest = match offline {
            Some(manifest) => manifest,
            None => {
                stats.requests += 1;
                match fetch_manifest::<R>(&source, pin.as_ref(), observer.as_ref()).await {
                    Ok((manifest, bytes)) => {
                        stats.bytes += bytes.len() as u64;
                        cache.put(Manifest::FILE, &bytes, Keep::Longest);
                        manifest
                    }
                    Err(error) if error.is_unreachable() => kept().await.ok_or(error)?,
                    Err(error) => return Err(error),
                }
            }
        };
        let catalog = Catalog::new(manifest, source.locate(""), options.memory);
        Ok(Reader(Arc::new(Inner {
            source,
            cache,
            gap: options.gap,
            pin,
            observer,
            gate: Semaphore::new(options.concurrency.max(1)),
            catalog: Mutex::new(catalog),
            under_way: Mutex::new(UnderWay::new()),
            renewal: Mutex::new(Weak::new()),
            stats: Mutex::new(stats),
        })))
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
        let stats = Stats { memory_hits: self.0.catalog().hits, ..*held(&self.0.stats) };
        match self.0.source.traffic() {
            Some(Traffic { requests, bytes }) => Stats { requests, bytes, ..stats },
            None => stats,
        }
    }

    /// Forgets the pages and blocks in memory.
    pub fn clear_memory(&self) {
        self.0.catalog().clear();
    }

    /// Looks `position` up if what that takes is in memory; `None` if it is not.
    pub fn peek(&self, position: &Position) -> Option<Result<Option<R>, ReadError>> {
        let started = Instant::now();
        let answer = self.0.catalog().peek(position)?;
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
            None => self.lookup_many(core::slice::from_ref(position)).await.pop().unwrap_or(Ok(None)),
        }
    }

    /// Looks positions up, answers in the same order. Each page and block is read once, what is near in one request.
    pub async fn lookup_many(&self, positions: &[Position]) -> Vec<Result<Option<R>, ReadError>> {
        let mut answers: Vec<_> = positions.iter().map(|_| Ok(None)).collect();
        self.lookup_each(positions.to_vec(), &mut |place, answer| answers[place] = answer).await;
        answers
    }

    /// Looks positions up and tells each answer as soon as it is found, with the number of its position.
    pub async fn lookup_each(&self, positions: Vec<Position>, found: &mut Found<'_, R>) {
        let inner = &self.0;
        let started = Instant::now();
        let count = positions.len() as u64;
        let mut lookup = Lookup::new(&inner.catalog(), positions);
        inner.finish(&mut lookup, found).await;
        if lookup.is_stale() {
            let is_outdated = lookup.is_outdated(&inner.catalog());
            if is_outdated || inner.renew().await {
                lookup.retry(&inner.catalog());
                inner.finish(&mut lookup, found).await;
            } else {
                lookup.give_up();
            }
        }
        lookup.answers().for_each(|(place, answer)| found(place, answer));
        inner.answered(count, started);
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

/// What a lookup waits for.
enum Step<R: Record> {
    /// What the cache has of some wants.
    Kept(Vec<usize>, Vec<Option<Vec<u8>>>, Duration),
    /// What came of a request, and which part of it each want is.
    Came(Vec<(usize, usize)>, Parts<R>),
}

impl<S: Source, R: Record, C: Cache> Inner<S, R, C> {
    /// Gets what a lookup wants until it wants no more.
    async fn finish(self: &Arc<Self>, lookup: &mut Lookup<R>, found: &mut Found<'_, R>) {
        let mut steps: FuturesUnordered<Boxed<Step<R>>> = FuturesUnordered::new();
        loop {
            let wants: Vec<usize> = lookup.wants(&mut self.catalog(), self.gap).collect();
            lookup.answers().for_each(|(place, answer)| found(place, answer));
            if !wants.is_empty() {
                steps.push(self.recall(lookup, wants));
            }
            match steps.next().await {
                None => return,
                Some(Step::Kept(wants, kept, elapsed)) => {
                    let missing = self.hand_kept(lookup, wants, kept, elapsed);
                    steps.extend(self.requests(lookup, &missing));
                }
                Some(Step::Came(wants, parts)) => {
                    let catalog = self.catalog();
                    for (n, at) in wants {
                        if let Some(part) = parts.get(at) {
                            lookup.hand(&catalog, n, part.as_ref());
                        }
                    }
                }
            }
        }
    }

    /// Asks the cache, but not for what is on its way.
    fn recall(self: &Arc<Self>, lookup: &Lookup<R>, wants: Vec<usize>) -> Boxed<Step<R>> {
        let mut names: Vec<String> = wants.iter().map(|&n| name(lookup.wanted(n))).collect();
        let is_asked: Vec<bool> = {
            let under_way = held(&self.under_way);
            names.iter().map(|name| under_way.find(name).is_none()).collect()
        };
        let mut asked = is_asked.iter();
        names.retain(|_| asked.next().is_some_and(|is_asked| *is_asked));
        let this = self.clone();
        Box::pin(async move {
            let started = Instant::now();
            let mut kept = if names.is_empty() { Vec::new() } else { this.cache.get(names).await }.into_iter();
            let kept = is_asked.iter().map(|is_asked| if *is_asked { kept.next()? } else { None }).collect();
            Step::Kept(wants, kept, started.elapsed())
        })
    }

    /// Hands in what was kept, or came into memory meanwhile; gives what is still missing.
    fn hand_kept(
        &self,
        lookup: &mut Lookup<R>,
        wants: Vec<usize>,
        kept: Vec<Option<Vec<u8>>>,
        elapsed: Duration,
    ) -> Vec<usize> {
        let mut catalog = self.catalog();
        let (mut missing, mut came) = (Vec::new(), Vec::new());
        for (n, kept) in wants.into_iter().zip(kept) {
            let want = lookup.wanted(n).clone();
            let mut part = catalog.held(&want);
            if let (None, Some(bytes)) = (&part, kept) {
                part = catalog.take(&want, &bytes).ok();
                if part.is_none() {
                    self.cache.remove(&name(&want));
                } else {
                    self.count(|stats| stats.cache_hits += u64::from(want.is_block()));
                }
                came.push((want, part.is_some()));
            }
            match part {
                Some(part) => lookup.hand(&catalog, n, Ok(&part)),
                None => missing.push(n),
            }
        }
        // An observer may look something up.
        drop(catalog);
        for (want, is_good) in came {
            let (file, range) = (&*want.chunk().file, want.chunk().range.clone());
            self.observe(&Fetched { file, range, parts: 1, origin: Origin::Cache, elapsed, is_good });
        }
        missing
    }

    /// Joins the requests that are under way for some wants, and sends others for the rest.
    fn requests(self: &Arc<Self>, lookup: &Lookup<R>, missing: &[usize]) -> Vec<Boxed<Step<R>>> {
        let mut under_way = held(&self.under_way);
        let joined: Vec<(usize, Option<Joined<R>>)> =
            missing.iter().map(|&n| (n, under_way.find(&name(lookup.wanted(n))))).collect();
        let id = |joined: &Option<Joined<R>>| joined.as_ref().map(|joined| joined.id);
        let runs = joined.chunk_by(|(a, joined), (b, other)| {
            a + 1 == *b && lookup.request(*a) == lookup.request(*b) && id(joined) == id(other)
        });
        let steps = runs.filter_map(|run| {
            let (wants, request) = match run.first()? {
                (_, Some(Joined { request, .. })) => {
                    let wants = run.iter().filter_map(|(n, joined)| Some((*n, joined.as_ref()?.at))).collect();
                    (wants, request.clone())
                }
                (_, None) => {
                    let parts: Vec<Want> = run.iter().map(|&(n, _)| lookup.wanted(n).clone()).collect();
                    let (names, sent) = (parts.iter().map(name).collect(), Sent::default());
                    let request = self.clone().send(parts, sent.clone());
                    (run.iter().map(|&(n, _)| n).zip(0..).collect(), under_way.add(names, &sent, request))
                }
            };
            let step: Boxed<Step<R>> = Box::pin(request.map(|parts| Step::Came(wants, parts)));
            Some(step)
        });
        steps.collect()
    }

    /// Fetches the range from the first of some parts to the last, and decodes them.
    fn send(self: Arc<Self>, wants: Vec<Want>, sent: Sent) -> Boxed<Parts<R>> {
        Box::pin(async move {
            let (Some(first), Some(last)) = (wants.first(), wants.last()) else { return Parts::default() };
            let (file, range) = (&*first.chunk().file, first.chunk().range.start..last.chunk().range.end);
            let _permit = self.gate.acquire().await;
            sent.store(true, Ordering::Relaxed);
            let started = Instant::now();
            self.count(|stats| stats.requests += 1);
            let answer = self.source.range(file, range.clone()).await;
            self.count(|stats| stats.bytes += answer.as_ref().map_or(0, |bytes| bytes.len() as u64));
            self.observe(&Fetched {
                file,
                range: range.clone(),
                parts: wants.len(),
                origin: Origin::Source,
                elapsed: started.elapsed(),
                is_good: answer.is_ok(),
            });
            let mut catalog = self.catalog();
            let mut take = |want: &Want| {
                held(&self.under_way).remove(&name(want));
                let bytes = answer.as_ref().map_err(|error| ReadError::from(error.clone()))?;
                let bytes = want.chunk().within(bytes, range.start);
                let part = catalog.take(want, bytes)?;
                self.cache.put(&name(want), bytes, Keep::Recent);
                self.count(|stats| stats.network_blocks += u64::from(want.is_block()));
                Ok(part)
            };
            Arc::new(wants.iter().map(&mut take).collect())
        })
    }

    /// Reads the manifest again, once for all who ask at a time; whether it could be had.
    async fn renew(&self) -> bool {
        let renewal = {
            let mut current = held(&self.renewal);
            let renewal = current.upgrade().unwrap_or_default();
            *current = Arc::downgrade(&renewal);
            renewal
        };
        *renewal.get_or_init(|| self.fetch_manifest()).await
    }

    async fn fetch_manifest(&self) -> bool {
        self.count(|stats| stats.requests += 1);
        let fetched = fetch_manifest::<R>(&self.source, self.pin.as_ref(), self.observer.as_ref()).await;
        let Ok((manifest, bytes)) = fetched else { return false };
        self.count(|stats| stats.bytes += bytes.len() as u64);
        self.catalog().renew(manifest);
        self.cache.put(Manifest::FILE, &bytes, Keep::Longest);
        true
    }

    /// The catalog, for as long as nothing is waited for.
    fn catalog(&self) -> MutexGuard<'_, Catalog<R>> {
        held(&self.catalog)
    }

    fn observe(&self, fetched: &Fetched<'_>) {
        if let Some(observer) = &self.observer {
            observer(fetched);
        }
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

/// The name of a part in the cache.
fn name(want: &Want) -> String {
    let chunk = want.chunk();
    format!("{}:{}-{}", chunk.file, chunk.range.start, chunk.range.end)
}

/// A manifest, if it is one, and one that the pin allows.
fn parse<R: Record>(source: &impl Source, pin: Option<&Pin>, bytes: &[u8]) -> Result<Manifest, ReadError> {
    let at = source.locate(Manifest::FILE);
    match pin.map_or(Ok(()), |pin| pin.check(bytes)) {
        Ok(()) => Manifest::parse::<R>(bytes).map_err(|error| ReadError::Table { at, error }),
        Err(fault) => Err(SourceError::new(at, fault).into()),
    }
}

/// A manifest and its bytes.
async fn fetch_manifest<R: Record>(
    source: &impl Source,
    pin: Option<&Pin>,
    observer: Option<&Observer>,
) -> Result<(Manifest, Vec<u8>), ReadError> {
    let started = Instant::now();
    let bytes = source.whole(Manifest::FILE, Manifest::MAX_BYTES as u64).await;
    if let Some(observer) = observer {
        let range = 0..bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let (elapsed, is_good) = (started.elapsed(), bytes.is_ok());
        observer(&Fetched { file: Manifest::FILE, range, parts: 0, origin: Origin::Source, elapsed, is_good });
    }
    let bytes = bytes?;
    Ok((parse::<R>(source, pin, &bytes)?, bytes))
}
