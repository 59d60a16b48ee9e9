//! A lookup of several positions.
//!
//! A position needs the page that covers its key, and then the block that the page names. Chunks that are not in memory come from
//! the cache, or from the source in as few requests as possible. A position continues as soon as its chunk has arrived.

use std::collections::BinaryHeap;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use web_time::{Duration, Instant};

use super::catalog::{Kind, OpenBlock, Part, Want};
use super::driver::Driver;
use super::error::ReadError;
use super::limits::RequestLimits;
use super::requests::{Boxed, Parts, Request, Sent};
use crate::position::Key;
use crate::source::Source;
use crate::sync::held;
use crate::table::{Chunk, ContentHash, HashList, Manifest, Page};

/// The only block that may contain a position; `None` if no block may.
pub(super) type Answer = Result<Option<Arc<OpenBlock>>, ReadError>;

/// Takes the blocks of a lookup, each with the index of its position and the manifest of the block. Natively it may move between
/// threads.
#[cfg(not(target_arch = "wasm32"))]
pub(super) type Found<'a> = dyn FnMut(usize, Answer, &Arc<Manifest>) + Send + 'a;
#[cfg(target_arch = "wasm32")]
pub(super) type Found<'a> = dyn FnMut(usize, Answer, &Arc<Manifest>) + 'a;

/// The key of a position, and the index of the position.
pub(super) type Place = (Key, usize);

/// A position that is being looked up.
struct Seek {
    place: Place,
    /// The page of the key, while the seek waits for the hashes of its blocks.
    page: Option<Arc<Page>>,
}

/// A chunk that is not in memory, and the seeks that wait for it.
type Need = (Want, Vec<Seek>);

/// A pending request that is joined, or the chunks of a new request, and the seeks that wait for the part of an index.
type Run = (Option<Request>, Vec<Want>, Vec<(usize, Vec<Seek>)>);

/// The result of an asynchronous step of a lookup.
enum Step {
    /// The cached bytes of some chunks, and the duration of the read.
    Cached(Vec<Need>, Vec<Option<Vec<u8>>>, Duration),
    /// The parts of a request, and the seeks that wait for the part of an index.
    Fetched(Vec<(usize, Vec<Seek>)>, Parts),
}

struct Lookup<'a, 'f, S> {
    driver: &'a Arc<Driver<S>>,
    found: &'a mut Found<'f>,
    /// The manifest that the answers belong to.
    manifest: Arc<Manifest>,
    /// The chunks that became necessary since the last step, in the order of the files.
    needs: Vec<Need>,
    /// Positions that failed, perhaps because a new build replaced the database.
    stale: Vec<(Place, ReadError)>,
    /// Whether a different manifest replaced the manifest; `None` before the manifest is read again.
    is_replaced: Option<bool>,
    /// Number of times that a block was in memory, and the last such block.
    hits: (u64, Option<Chunk>),
}

impl<S: Source> Driver<S> {
    /// Finds the blocks of some keys. Reports each block as soon as it is decoded.
    pub(super) async fn look_up(
        self: &Arc<Self>,
        places: BinaryHeap<Place>,
        found: &mut Found<'_>,
    ) {
        let (started, count) = (Instant::now(), places.len() as u64);
        let mut lookup = Lookup {
            driver: self,
            found,
            manifest: self.manifest(),
            needs: Vec::new(),
            stale: Vec::new(),
            is_replaced: None,
            hits: (0, None),
        };
        lookup.run(places).await;
        if !lookup.stale.is_empty() {
            let renewed = if Arc::ptr_eq(&lookup.manifest, &self.manifest()) {
                self.renew(false).await
            } else {
                Ok(false)
            };
            let former = core::mem::replace(&mut lookup.manifest, self.manifest());
            lookup.is_replaced = Some(former != lookup.manifest);
            let stale = core::mem::take(&mut lookup.stale).into_iter();
            match renewed {
                Ok(_) => lookup.run(stale.map(|(place, _)| place).collect()).await,
                // The errors of the positions remain, unless another build has replaced the pinned database.
                Err(cause) => stale.for_each(|(place, error)| {
                    let is_other = cause.is_of_another_pin();
                    lookup.answer(place, Err(if is_other { cause.clone() } else { error }));
                }),
            }
        }
        let hits = lookup.hits.0;
        self.count(|stats| {
            stats.lookups += count;
            stats.memory_hits += hits;
            stats.milliseconds += started.elapsed().as_secs_f64() * 1e3;
        });
    }
}

impl<S: Source> Lookup<'_, '_, S> {
    /// Looks positions up, in the order of keys, which is that of the files.
    async fn run(&mut self, places: BinaryHeap<Place>) {
        // A heap sorts in a tenth of the code.
        for place in places.into_sorted_vec() {
            match self.manifest.page_of(&place.0) {
                Some((page, hash)) => {
                    let hash = self.driver.is_pinned().then_some(hash);
                    self.need(Seek { place, page: None }, Kind::Page, page, hash);
                }
                None => self.answer(place, Ok(None)),
            }
        }
        let mut steps: FuturesUnordered<Boxed<'static, Step>> = FuturesUnordered::new();
        loop {
            if !self.needs.is_empty() {
                steps.push(self.read_cache());
            }
            match steps.next().await {
                None => return,
                Some(Step::Cached(needs, entries, elapsed)) => {
                    steps.extend(self.requests(needs, entries, elapsed));
                }
                Some(Step::Fetched(seeks, parts)) => {
                    for (at, seeks) in seeks {
                        match parts.get(at) {
                            Some(part) => self.deliver(seeks, part.as_ref()),
                            None => self.deliver(seeks, Err(&ReadError::Unanswered)),
                        }
                    }
                }
            }
        }
    }

    /// Continues a seek that needs a chunk, at once if the chunk is in memory.
    fn need(&mut self, seek: Seek, kind: Kind, chunk: Chunk, hash: Option<ContentHash>) {
        let want = Want { chunk, hash, kind };
        if let Some(part) = self.driver.in_memory(&want) {
            if want.is_block() && self.hits.1.as_ref() != Some(&want.chunk) {
                self.hits = (self.hits.0 + 1, Some(want.chunk));
            }
            return self.proceed(seek, &part);
        }
        match self.needs.last_mut() {
            Some((last, seeks)) if *last == want => seeks.push(seek),
            _ => self.needs.push((want, vec![seek])),
        }
    }

    /// Continues seeks that waited for a part.
    fn deliver(&mut self, seeks: Vec<Seek>, part: Result<&Part, &ReadError>) {
        for seek in seeks {
            match part {
                Ok(part) => self.proceed(seek, part),
                Err(error) => self.answer(seek.place, Err(error.clone())),
            }
        }
    }

    /// Continues a seek with the page, hashes or block that it needed.
    fn proceed(&mut self, mut seek: Seek, part: &Part) {
        let key = &seek.place.0;
        let next = match part {
            Part::Page(page) if self.driver.is_pinned() => {
                let HashList { at, hash } = page.hashes().clone();
                seek.page = Some(page.clone());
                return self.need(seek, Kind::Hashes, at, Some(hash));
            }
            Part::Page(page) => page.block_of(key).map(|block| (block, None)),
            Part::Hashes(hashes) => {
                let page = seek.page.take();
                let block = page.and_then(|page| page.block_and_hash_of(key, hashes));
                block.map(|(block, hash)| (block, Some(hash)))
            }
            Part::Block(block) => return self.answer(seek.place, Ok(Some(block.clone()))),
        };
        match next {
            Some((block, hash)) => self.need(seek, Kind::Block, block, hash),
            None => self.answer(seek.place, Ok(None)),
        }
    }

    /// Reports an answer, unless the manifest must be read again.
    fn answer(&mut self, place: Place, answer: Answer) {
        let answer = match (answer, self.is_replaced) {
            (Err(error), None) if error.is_stale() => return self.stale.push((place, error)),
            (Err(error), Some(true)) if error.is_stale() => Err(ReadError::Stale(Box::new(error))),
            (answer, _) => answer,
        };
        (self.found)(place.1, answer, &self.manifest);
    }

    /// Requests the needed chunks from the cache.
    fn read_cache(&mut self) -> Boxed<'static, Step> {
        let (needs, driver) = (core::mem::take(&mut self.needs), self.driver.clone());
        Box::pin(async move {
            let started = Instant::now();
            let entries = match &driver.parts.cache {
                Some(cache) => {
                    cache
                        .get(needs.iter().map(|(want, _)| want.name()).collect())
                        .await
                }
                None => Vec::new(),
            };
            Step::Cached(needs, entries, started.elapsed())
        })
    }

    /// Delivers the chunks that were in the cache, joins the pending requests for other chunks, and sends requests for the rest.
    fn requests(
        &mut self,
        needs: Vec<Need>,
        entries: Vec<Option<Vec<u8>>>,
        elapsed: Duration,
    ) -> Vec<Boxed<'static, Step>> {
        let driver = self.driver;
        let entries = entries.into_iter().chain(core::iter::repeat(None));
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for ((want, seeks), entry) in needs.into_iter().zip(entries) {
            match entry.and_then(|bytes| driver.decode_cached(&want, &bytes, elapsed)) {
                Some(part) => found.push((seeks, part)),
                None => missing.push((want, seeks)),
            }
        }
        let fits = |wants: &[Want], want: &Want| {
            let ends = wants.first().zip(wants.last());
            ends.is_some_and(|(first, last)| {
                RequestLimits::default().fits(&first.chunk, &last.chunk, &want.chunk)
            })
        };
        let is_isolated = driver.parts.source.is_isolated();
        let mut runs: Vec<Run> = Vec::new();
        let mut pending = held(&driver.pending);
        for (want, seeks) in missing {
            match (pending.find(&want), runs.last_mut()) {
                (Some((request, at)), Some((Some(last), _, run))) if request.ptr_eq(last) => {
                    run.push((at, seeks));
                }
                (Some((request, at)), _) => {
                    runs.push((Some(request), Vec::new(), vec![(at, seeks)]));
                }
                (None, last) => {
                    // A part is removed from the requests after it was added to the memory, perhaps in the meantime.
                    let part = driver.memory().get(&want.chunk).cloned();
                    match (part, last) {
                        (Some(part), _) => found.push((seeks, part)),
                        (None, Some((None, wants, run))) if fits(wants, &want) => {
                            run.push((wants.len(), seeks));
                            wants.push(want);
                        }
                        _ => runs.push((None, vec![want], vec![(0, seeks)])),
                    }
                }
            }
        }
        let steps = runs.into_iter().map(|(request, wants, seeks)| {
            let request = request.unwrap_or_else(|| {
                let sent = Sent::default();
                let request = driver.clone().send(wants.clone(), sent.clone());
                match is_isolated {
                    true => request.shared(),
                    false => pending.add(wants, &sent, request),
                }
            });
            let step = request.map(|parts| Step::Fetched(seeks, parts));
            Box::pin(step) as Boxed<'static, Step>
        });
        let steps = steps.collect();
        drop(pending);
        for (seeks, part) in found {
            self.deliver(seeks, Ok(&part));
        }
        steps
    }
}
