//! Gets the chunks of lookups from the cache, or from the source in as few requests as possible.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use web_time::{Duration, Instant};

use super::builder::ReaderBuilder;
use super::cache::{Cache, Keep};
use super::catalog::{Catalog, Part, Want};
use super::error::{ReadError, table_error};
use super::fetched::{Fetched, Observer, Origin, Stats};
use super::limits::RequestLimits;
use super::lookup::Lookup;
use super::requests::{Boxed, Joined, Parts, Sent, UnderWay};
use crate::position::Position;
use crate::source::integrity::Pin;
use crate::source::{Source, SourceError, Whole};
use crate::sync::{OnceCell, Semaphore, held};
use crate::table::{Block, Chunk, Manifest, Record, TableError};

/// Takes the answers of a lookup, each with the number of its position. Natively it may move between threads.
#[cfg(not(target_arch = "wasm32"))]
pub type Found<'a, R> = dyn FnMut(usize, Result<Option<R>, ReadError>) + Send + 'a;
/// Takes the answers of a lookup, each with the number of its position.
#[cfg(target_arch = "wasm32")]
pub type Found<'a, R> = dyn FnMut(usize, Result<Option<R>, ReadError>) + 'a;

/// Number of groups of chunks. Two threads seldom decode chunks of the same group. WebAssembly has one thread.
const GROUPS: usize = if cfg!(target_arch = "wasm32") { 1 } else { 64 };

/// The shared state of all clones of a reader.
pub(super) struct Driver<S, R: Record, C> {
    pub(super) source: S,
    pub(super) cache: C,
    limits: RequestLimits,
    pin: Option<Pin>,
    observer: Option<Observer>,
    permits: Semaphore,
    /// Path or URL of the files, with a trailing slash, for error messages.
    folder: Arc<str>,
    /// Manifest, pages and blocks in memory. Nothing is decoded, read or written while the catalog is locked.
    catalog: Mutex<Catalog<R>>,
    /// A lock for each group of chunks, so that threads decode a chunk once.
    decoding: [Mutex<()>; GROUPS],
    pub(super) under_way: Mutex<UnderWay<R>>,
    /// Result of the current request for the manifest, for all lookups that wait for it.
    renewal: Mutex<Weak<OnceCell<Result<bool, ReadError>>>>,
    checked: Mutex<Checked>,
    /// Number of times that a different manifest replaced the manifest.
    replacements: AtomicU64,
    stats: Mutex<Stats>,
}

/// The last requests for the manifest.
#[derive(Default)]
struct Checked {
    /// Entity tag of the manifest in use.
    etag: Option<String>,
    /// Time when the source last sent or confirmed the manifest in use; `None` if the manifest is the cache's.
    confirmed: Option<Instant>,
    /// Time of the last request.
    requested: Option<Instant>,
}

/// The result of an asynchronous step of a lookup.
enum Step<R: Record> {
    /// The cached bytes of some wants.
    Cached(Vec<usize>, Vec<Option<Vec<u8>>>, Duration),
    /// The parts of a request, with the index of the part for each want.
    Fetched(Vec<(usize, usize)>, Parts<R>),
}

impl<S, R: Record, C> Driver<S, R, C> {
    /// Locks the catalog.
    pub(super) fn catalog(&self) -> MutexGuard<'_, Catalog<R>> {
        held(&self.catalog)
    }

    /// Returns the manifest in use.
    pub(super) fn manifest(&self) -> Arc<Manifest> {
        self.catalog().manifest().clone()
    }

    /// Returns the counters.
    pub(super) fn stats(&self) -> Stats {
        *held(&self.stats)
    }

    /// Returns the number of times that a different manifest replaced the manifest.
    pub(super) fn replacements(&self) -> u64 {
        self.replacements.load(Ordering::Acquire)
    }

    /// Returns the time since the source last sent or confirmed the manifest.
    pub(super) fn manifest_age(&self) -> Option<Duration> {
        Some(held(&self.checked).confirmed?.elapsed())
    }

    fn count(&self, change: impl FnOnce(&mut Stats)) {
        change(&mut held(&self.stats));
    }

    /// Counts positions that were looked up, and blocks that were in memory.
    pub(super) fn answered(&self, positions: u64, hits: u64, started: Instant) {
        self.count(|stats| {
            stats.lookups += positions;
            stats.memory_hits += hits;
            stats.milliseconds += started.elapsed().as_secs_f64() * 1e3;
        });
    }

    /// Adds the location of a chunk to its error.
    pub(super) fn table_error(&self, chunk: &Chunk, error: TableError) -> ReadError {
        table_error(&self.folder, chunk, error)
    }

    /// Returns a page or block if it is in memory, or is an inline page of the manifest.
    fn in_memory(&self, want: &Want) -> Option<Part<R>> {
        let manifest = {
            let mut catalog = self.catalog();
            if let Some(part) = catalog.part(want.chunk()) {
                return Some(part);
            }
            catalog.manifest().clone()
        };
        self.take(want, manifest.inline_page(want.chunk())?).ok()
    }

    /// Returns a page or block from memory, or decodes it from bytes of a cache or a source.
    fn take(&self, want: &Want, bytes: &[u8]) -> Result<Part<R>, ReadError> {
        let chunk = want.chunk();
        #[allow(clippy::modulo_one, reason = "WebAssembly has a single group")]
        let group = chunk.hash() as usize % GROUPS;
        let _turn = held(&self.decoding[group]);
        let in_memory = self.catalog().part(chunk);
        if let Some(part) = in_memory {
            return Ok(part);
        }
        let part = want.decode(bytes).map_err(|error| self.table_error(chunk, error))?;
        self.catalog().keep(chunk, part.clone());
        Ok(part)
    }

    /// Returns the only block that may contain `position`, with its location, or `None` if no block may. Returns `None`
    /// outside if the page or the block is not in memory.
    pub(super) fn block_in_memory(&self, position: &Position) -> Option<Option<(Chunk, Arc<Block<R>>)>> {
        let key = position.key();
        let Some(page) = self.manifest().page_of(&key) else { return Some(None) };
        let Some(Part::Page(page)) = self.in_memory(&Want::Page(page)) else { return None };
        let Some(at) = page.block_of(&key) else { return Some(None) };
        let Some(Part::Block(block)) = self.catalog().part(&at) else { return None };
        Some(Some((at, block)))
    }

    fn observe(&self, fetched: &Fetched<'_>) {
        if let Some(observer) = &self.observer {
            observer(fetched);
        }
    }
}

impl<S: Source, R: Record, C: Cache> Driver<S, R, C> {
    /// Reads the manifest: the cache's, if no answer comes from the source.
    pub(super) async fn open(builder: ReaderBuilder<S, C>) -> Result<Driver<S, R, C>, ReadError> {
        let ReaderBuilder { source, cache, options, pin, observer } = builder;
        let cached = async || {
            let bytes = cache.get(vec![Manifest::FILE.to_string()]).await.pop()??;
            parse::<R>(&source, pin.as_ref(), &bytes).ok()
        };
        let (mut stats, mut checked) = (Stats::default(), Checked::default());
        let offline = if source.is_offline() { cached().await } else { None };
        let manifest = match offline {
            Some(manifest) => manifest,
            None => {
                stats.requests += 1;
                match fetch_manifest::<R>(&source, pin.as_ref(), observer.as_ref(), None).await {
                    Ok(Some((manifest, whole))) => {
                        stats.bytes += whole.bytes.len() as u64;
                        cache.put(Manifest::FILE, &whole.bytes, Keep::Longest);
                        let now = Some(Instant::now());
                        checked = Checked { etag: whole.etag, confirmed: now, requested: now };
                        manifest
                    }
                    // Without an entity tag, a source returns the manifest or an error.
                    Ok(None) => return Err(ReadError::Unanswered),
                    Err(error) if error.is_unreachable() => cached().await.ok_or(error)?,
                    Err(error) => return Err(error),
                }
            }
        };
        Ok(Driver {
            folder: source.locate("").into(),
            source,
            cache,
            limits: RequestLimits { max_gap: options.gap, ..RequestLimits::default() },
            pin,
            observer,
            permits: Semaphore::new(options.concurrency.max(1)),
            catalog: Mutex::new(Catalog::new(manifest, options.memory)),
            decoding: [const { Mutex::new(()) }; GROUPS],
            under_way: Mutex::new(UnderWay::new()),
            renewal: Mutex::new(Weak::new()),
            checked: Mutex::new(checked),
            replacements: AtomicU64::new(0),
            stats: Mutex::new(stats),
        })
    }

    /// Looks positions up. Reports each answer with the index of its position as soon as it is known.
    pub(super) async fn look_up(self: &Arc<Self>, positions: Vec<Position>, found: &mut Found<'_, R>) {
        let started = Instant::now();
        let count = positions.len() as u64;
        let mut lookup = Lookup::new(self.manifest(), self.folder.clone(), positions);
        self.finish(&mut lookup, found).await;
        if lookup.is_stale() {
            let is_outdated = lookup.is_outdated(&self.manifest());
            if is_outdated || self.renew(false).await.is_ok() {
                lookup.retry(self.manifest());
                self.finish(&mut lookup, found).await;
            }
        }
        lookup.answer_rest();
        lookup.answers().for_each(|(place, answer)| found(place, answer));
        self.answered(count, lookup.hits, started);
    }

    /// Gets the chunks of a lookup until it needs no further chunk.
    async fn finish(self: &Arc<Self>, lookup: &mut Lookup<R>, found: &mut Found<'_, R>) {
        let mut steps: FuturesUnordered<Boxed<Step<R>>> = FuturesUnordered::new();
        loop {
            let wants: Vec<usize> = lookup.wants(&|want| self.in_memory(want), &self.limits).collect();
            lookup.answers().for_each(|(place, answer)| found(place, answer));
            if !wants.is_empty() {
                steps.push(self.read_cache(lookup, wants));
            }
            match steps.next().await {
                None => return,
                Some(Step::Cached(wants, kept, elapsed)) => {
                    let missing = self.deliver_cached(lookup, wants, kept, elapsed);
                    steps.extend(self.requests(lookup, &missing));
                }
                Some(Step::Fetched(wants, parts)) => {
                    for (n, at) in wants {
                        if let Some(part) = parts.get(at) {
                            lookup.deliver(n, part.as_ref());
                        }
                    }
                }
            }
        }
    }

    /// Requests chunks from the cache, unless they are already being fetched.
    fn read_cache(self: &Arc<Self>, lookup: &Lookup<R>, wants: Vec<usize>) -> Boxed<Step<R>> {
        let is_missing: Vec<bool> = {
            let under_way = held(&self.under_way);
            wants.iter().map(|&n| under_way.find(lookup.wanted(n)).is_none()).collect()
        };
        let asked = wants.iter().zip(&is_missing).filter(|(_, is_missing)| **is_missing);
        let names: Vec<String> = asked.map(|(&n, _)| name(lookup.wanted(n))).collect();
        let this = self.clone();
        Box::pin(async move {
            let started = Instant::now();
            let mut kept = if names.is_empty() { Vec::new() } else { this.cache.get(names).await }.into_iter();
            let kept = is_missing.iter().map(|is_missing| if *is_missing { kept.next()? } else { None }).collect();
            Step::Cached(wants, kept, started.elapsed())
        })
    }

    /// Delivers chunks from the cache or from memory to a lookup. Returns the missing chunks.
    fn deliver_cached(
        &self,
        lookup: &mut Lookup<R>,
        wants: Vec<usize>,
        kept: Vec<Option<Vec<u8>>>,
        elapsed: Duration,
    ) -> Vec<usize> {
        let (mut missing, mut came) = (Vec::new(), Vec::new());
        for (n, kept) in wants.into_iter().zip(kept) {
            let want = lookup.wanted(n).clone();
            let mut part = self.in_memory(&want);
            if let (None, Some(bytes)) = (&part, kept) {
                part = self.take(&want, &bytes).ok();
                if part.is_none() {
                    self.cache.remove(&name(&want));
                } else {
                    self.count(|stats| stats.cache_hits += u64::from(want.is_block()));
                }
                came.push((want, part.is_some()));
            }
            match part {
                Some(part) => lookup.deliver(n, Ok(&part)),
                None => missing.push(n),
            }
        }
        for (want, is_good) in came {
            let (file, range) = (&*want.chunk().file, want.chunk().range.clone());
            let at = self.source.locate(file);
            self.observe(&Fetched { file, at, range, parts: 1, origin: Origin::Cache, elapsed, is_good });
        }
        missing
    }

    /// Joins the requests that are under way for some wants, and sends others for the rest.
    fn requests(self: &Arc<Self>, lookup: &mut Lookup<R>, missing: &[usize]) -> Vec<Boxed<Step<R>>> {
        let mut under_way = held(&self.under_way);
        let (mut joined, mut arrived) = (Vec::new(), Vec::new());
        for &n in missing {
            let request = under_way.find(lookup.wanted(n));
            // A part is removed from the requests after it was added to the memory. It may have arrived in the meantime.
            let part = if request.is_none() { self.catalog().part(lookup.wanted(n).chunk()) } else { None };
            match part {
                Some(part) => arrived.push((n, part)),
                None => joined.push((n, request)),
            }
        }
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
                    let sent = Sent::default();
                    let request = self.clone().send(parts.clone(), sent.clone());
                    (run.iter().map(|&(n, _)| n).zip(0..).collect(), under_way.add(parts, &sent, request))
                }
            };
            let step: Boxed<Step<R>> = Box::pin(request.map(|parts| Step::Fetched(wants, parts)));
            Some(step)
        });
        let steps = steps.collect();
        drop(under_way);
        for (n, part) in arrived {
            lookup.deliver(n, Ok(&part));
        }
        steps
    }

    /// Fetches the range from the first of some parts to the last, and decodes them.
    fn send(self: Arc<Self>, wants: Vec<Want>, sent: Sent) -> Boxed<Parts<R>> {
        Box::pin(async move {
            let (Some(first), Some(last)) = (wants.first(), wants.last()) else { return Parts::default() };
            let (file, range) = (&*first.chunk().file, first.chunk().range.start..last.chunk().range.end);
            let _permit = self.permits.acquire().await;
            sent.store(true, Ordering::Relaxed);
            let started = Instant::now();
            self.count(|stats| stats.requests += 1);
            let answer = self.source.range(file, range.clone()).await;
            self.count(|stats| stats.bytes += answer.as_ref().map_or(0, |bytes| bytes.len() as u64));
            self.observe(&Fetched {
                file,
                at: self.source.locate(file),
                range: range.clone(),
                parts: wants.len(),
                origin: Origin::Source,
                elapsed: started.elapsed(),
                is_good: answer.is_ok(),
            });
            let take = |want: &Want| {
                let bytes = answer.as_ref().map_err(|error| ReadError::from(error.clone()))?;
                let bytes = want.chunk().within(bytes, range.start);
                let part = self.take(want, bytes)?;
                self.cache.put(&name(want), bytes, Keep::Recent);
                self.count(|stats| stats.network_blocks += u64::from(want.is_block()));
                Ok(part)
            };
            let parts = wants.iter().map(|want| {
                let part = take(want);
                // Later than the part is in memory, so that no other lookup requests the part again.
                held(&self.under_way).remove(want);
                part
            });
            Arc::new(parts.collect())
        })
    }

    /// Reads the manifest again, once for all lookups that wait for it; `is_conditional` unless it is unchanged. Returns
    /// whether a different manifest replaced it.
    pub(super) fn renew(self: &Arc<Self>, is_conditional: bool) -> Boxed<Result<bool, ReadError>> {
        let renewal = {
            let mut current = held(&self.renewal);
            let renewal = current.upgrade().unwrap_or_default();
            *current = Arc::downgrade(&renewal);
            renewal
        };
        let this = self.clone();
        Box::pin(async move { renewal.get_or_init(this.request_manifest(is_conditional)).await.clone() })
    }

    async fn request_manifest(&self, is_conditional: bool) -> Result<bool, ReadError> {
        let requested = Some(Instant::now());
        let etag = {
            let mut checked = held(&self.checked);
            checked.requested = requested;
            checked.etag.clone().filter(|_| is_conditional)
        };
        self.count(|stats| stats.requests += 1);
        let (pin, observer) = (self.pin.as_ref(), self.observer.as_ref());
        let fetched = fetch_manifest::<R>(&self.source, pin, observer, etag.as_deref()).await?;
        let mut is_new = false;
        if let Some((manifest, whole)) = fetched {
            self.count(|stats| stats.bytes += whole.bytes.len() as u64);
            is_new = self.catalog().renew(manifest);
            if is_new {
                // Later than the manifest: data of the old manifest never counts as data of the new manifest.
                self.replacements.fetch_add(1, Ordering::Release);
                self.cache.put(Manifest::FILE, &whole.bytes, Keep::Longest);
            }
            held(&self.checked).etag = whole.etag;
        }
        held(&self.checked).confirmed = requested;
        Ok(is_new)
    }

    /// Returns whether the last request for the manifest was `interval` ago, and a request could find a different
    /// manifest.
    pub(super) fn is_due(&self, interval: Duration) -> bool {
        let is_over = held(&self.checked).requested.is_none_or(|time| time.elapsed() >= interval);
        is_over && self.pin.is_none() && !self.source.is_offline()
    }
}

/// Returns the name of a part in the cache.
pub(super) fn name(want: &Want) -> String {
    let chunk = want.chunk();
    format!("{}:{}-{}", chunk.file, chunk.range.start, chunk.range.end)
}

/// Parses a manifest and compares its hash with the pin.
fn parse<R: Record>(source: &impl Source, pin: Option<&Pin>, bytes: &[u8]) -> Result<Manifest, ReadError> {
    let at = source.locate(Manifest::FILE);
    match pin.map_or(Ok(()), |pin| pin.check(bytes)) {
        Ok(()) => Manifest::parse::<R>(bytes).map_err(|error| ReadError::Table { at, error }),
        Err(kind) => Err(SourceError::new(at, kind).into()),
    }
}

/// Reads the manifest, unless it has the entity tag `etag`.
async fn fetch_manifest<R: Record>(
    source: &impl Source,
    pin: Option<&Pin>,
    observer: Option<&Observer>,
    etag: Option<&str>,
) -> Result<Option<(Manifest, Whole)>, ReadError> {
    let started = Instant::now();
    let whole = source.whole_unless(Manifest::FILE, Manifest::MAX_BYTES as u64, etag).await;
    if let Some(observer) = observer {
        let range = 0..whole.iter().flatten().map(|whole| whole.bytes.len() as u64).sum();
        let (at, elapsed, is_good) = (source.locate(Manifest::FILE), started.elapsed(), whole.is_ok());
        observer(&Fetched { file: Manifest::FILE, at, range, parts: 0, origin: Origin::Source, elapsed, is_good });
    }
    let Some(whole) = whole? else { return Ok(None) };
    Ok(Some((parse::<R>(source, pin, &whole.bytes)?, whole)))
}
