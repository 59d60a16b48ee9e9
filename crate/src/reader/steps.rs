//! Gets the chunks of lookups from the cache, or from the source in as few requests as possible.

use core::sync::atomic::Ordering;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use web_time::{Duration, Instant};

use super::cache::{Cache, Keep};
use super::catalog::Want;
use super::driver::Driver;
use super::error::ReadError;
use super::fetched::{Fetched, Origin};
use super::lookup::Lookup;
use super::requests::{Boxed, Joined, Parts, Sent};
use crate::position::Position;
use crate::source::Source;
use crate::sync::held;
use crate::table::Record;

/// Takes the answers of a lookup, each with the number of its position. Natively it may move between threads.
#[cfg(not(target_arch = "wasm32"))]
pub type Found<'a, R> = dyn FnMut(usize, Result<Option<R>, ReadError>) + Send + 'a;
/// Takes the answers of a lookup, each with the number of its position.
#[cfg(target_arch = "wasm32")]
pub type Found<'a, R> = dyn FnMut(usize, Result<Option<R>, ReadError>) + 'a;

/// The result of an asynchronous step of a lookup.
enum Step<R: Record> {
    /// The cached bytes of some wants.
    Cached(Vec<usize>, Vec<Option<Vec<u8>>>, Duration),
    /// The parts of a request, with the index of the part for each want.
    Fetched(Vec<(usize, usize)>, Parts<R>),
}

impl<S: Source, R: Record, C: Cache> Driver<S, R, C> {
    /// Looks positions up. Reports each answer with the index of its position as soon as it is known.
    pub(super) async fn look_up(
        self: &Arc<Self>,
        positions: Vec<Position>,
        found: &mut Found<'_, R>,
    ) {
        let started = Instant::now();
        let count = positions.len() as u64;
        let mut lookup = Lookup::new(
            self.manifest(),
            self.is_pinned(),
            self.folder.clone(),
            positions,
        );
        self.finish(&mut lookup, found).await;
        if lookup.is_stale() {
            let is_outdated = lookup.is_outdated(&self.manifest());
            let renewed = if is_outdated {
                Ok(false)
            } else {
                self.renew(false).await
            };
            match renewed {
                Ok(_) => {
                    lookup.retry(self.manifest());
                    self.finish(&mut lookup, found).await;
                }
                // Another build has taken the place of the pinned database.
                Err(error) if error.is_of_another_pin() => lookup.replace_errors(&error),
                Err(_) => {}
            }
        }
        lookup.answer_rest();
        lookup
            .answers()
            .for_each(|(place, answer)| found(place, answer));
        self.answered(count, lookup.hits, started);
    }

    /// Gets the chunks of a lookup until it needs no further chunk.
    async fn finish(self: &Arc<Self>, lookup: &mut Lookup<R>, found: &mut Found<'_, R>) {
        let mut steps: FuturesUnordered<Boxed<Step<R>>> = FuturesUnordered::new();
        loop {
            let wants: Vec<usize> = lookup
                .wants(&|want| self.in_memory(want), &self.limits)
                .collect();
            lookup
                .answers()
                .for_each(|(place, answer)| found(place, answer));
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
            wants
                .iter()
                .map(|&n| under_way.find(lookup.wanted(n)).is_none())
                .collect()
        };
        let asked = wants
            .iter()
            .zip(&is_missing)
            .filter(|(_, is_missing)| **is_missing);
        let names: Vec<String> = asked.map(|(&n, _)| name(lookup.wanted(n))).collect();
        let this = self.clone();
        Box::pin(async move {
            let started = Instant::now();
            let mut kept = if names.is_empty() {
                Vec::new()
            } else {
                this.cache.get(names).await
            }
            .into_iter();
            let kept = is_missing
                .iter()
                .map(|is_missing| if *is_missing { kept.next()? } else { None })
                .collect();
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
            let (file, range) = (&*want.chunk.file, want.chunk.range.clone());
            let at = self.source.locate(file);
            self.observe(&Fetched {
                file,
                at,
                range,
                parts: 1,
                origin: Origin::Cache,
                elapsed,
                is_good,
            });
        }
        missing
    }

    /// Joins the requests that are under way for some wants, and sends others for the rest.
    fn requests(
        self: &Arc<Self>,
        lookup: &mut Lookup<R>,
        missing: &[usize],
    ) -> Vec<Boxed<Step<R>>> {
        let mut under_way = held(&self.under_way);
        let (mut joined, mut arrived) = (Vec::new(), Vec::new());
        for &n in missing {
            let request = under_way.find(lookup.wanted(n));
            // A part is removed from the requests after it was added to the memory. It may have arrived in the meantime.
            let part = if request.is_none() {
                self.catalog().part(&lookup.wanted(n).chunk)
            } else {
                None
            };
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
                    let wants = run
                        .iter()
                        .filter_map(|(n, joined)| Some((*n, joined.as_ref()?.at)))
                        .collect();
                    (wants, request.clone())
                }
                (_, None) => {
                    let parts: Vec<Want> =
                        run.iter().map(|&(n, _)| lookup.wanted(n).clone()).collect();
                    let sent = Sent::default();
                    let request = self.clone().send(parts.clone(), sent.clone());
                    (
                        run.iter().map(|&(n, _)| n).zip(0..).collect(),
                        under_way.add(parts, &sent, request),
                    )
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
            let (Some(first), Some(last)) = (wants.first(), wants.last()) else {
                return Parts::default();
            };
            let (file, range) = (
                &*first.chunk.file,
                first.chunk.range.start..last.chunk.range.end,
            );
            let _permit = self.permits.acquire().await;
            sent.store(true, Ordering::Relaxed);
            let started = Instant::now();
            self.count(|stats| stats.requests += 1);
            let answer = self.source.range(file, range.clone()).await;
            self.count(|stats| {
                stats.bytes += answer.as_ref().map_or(0, |bytes| bytes.len() as u64)
            });
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
                let bytes = answer
                    .as_ref()
                    .map_err(|error| ReadError::from(error.clone()))?;
                let bytes = want.chunk.within(bytes, range.start);
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
}

/// Returns the name of a part in the cache.
fn name(want: &Want) -> String {
    let chunk = &want.chunk;
    format!("{}:{}-{}", chunk.file, chunk.range.start, chunk.range.end)
}
