//! Gets the chunks of lookups from the cache, or from the source in as few requests as possible.

use core::sync::atomic::Ordering;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use web_time::{Duration, Instant};

use super::cache::Keep;
use super::catalog::Want;
use super::driver::Driver;
use super::error::ReadError;
use super::fetched::{Fetched, Origin};
use super::lookup::{Answer, Lookup};
use super::requests::{Boxed, Entry, Parts, Sent};
use crate::position::Key;
use crate::source::Source;
use crate::sync::held;
use crate::table::Manifest;

/// Takes the blocks of a lookup, each with the index of its position and the manifest of the block. Natively it may move between
/// threads.
#[cfg(not(target_arch = "wasm32"))]
pub(super) type Found<'a> = dyn FnMut(usize, Answer, &Arc<Manifest>) + Send + 'a;
#[cfg(target_arch = "wasm32")]
pub(super) type Found<'a> = dyn FnMut(usize, Answer, &Arc<Manifest>) + 'a;

/// The result of an asynchronous step of a lookup.
enum Step {
    /// The cached bytes of some wants.
    Cached(Vec<usize>, Vec<Option<Vec<u8>>>, Duration),
    /// The parts of a request, with the index of the part for each want.
    Fetched(Vec<(usize, usize)>, Parts),
}

impl<S: Source> Driver<S> {
    /// Finds the blocks of some keys. Reports each block as soon as it is decoded.
    pub(super) async fn look_up(
        self: &Arc<Self>,
        keys: impl ExactSizeIterator<Item = Key>,
        found: &mut Found<'_>,
    ) {
        let (started, count) = (Instant::now(), keys.len() as u64);
        let mut lookup = Lookup::new(self.manifest(), self.is_pinned(), keys);
        self.finish(&mut lookup, found).await;
        if lookup.is_stale() {
            let renewed = if Arc::ptr_eq(&lookup.manifest, &self.manifest()) {
                self.renew(false).await
            } else {
                Ok(false)
            };
            match renewed {
                Ok(_) => {
                    lookup.retry(self.manifest());
                    self.finish(&mut lookup, found).await;
                }
                // Another build has replaced the pinned database.
                Err(error) if error.is_of_another_pin() => lookup.replace_errors(&error),
                Err(_) => {}
            }
        }
        lookup.answer_rest();
        report(&mut lookup, found);
        self.answered(count, lookup.hits, started);
    }

    /// Gets the chunks of a lookup until it needs no further chunk.
    async fn finish(self: &Arc<Self>, lookup: &mut Lookup, found: &mut Found<'_>) {
        let mut steps: FuturesUnordered<Boxed<'static, Step>> = FuturesUnordered::new();
        loop {
            let wants: Vec<usize> = lookup
                .wants(&|want| self.in_memory(want), &self.limits)
                .collect();
            report(lookup, found);
            if !wants.is_empty() {
                steps.push(self.read_cache(lookup, wants));
            }
            match steps.next().await {
                None => return,
                Some(Step::Cached(wants, entries, elapsed)) => {
                    let missing = self.deliver_cached(lookup, wants, entries, elapsed);
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
    fn read_cache(self: &Arc<Self>, lookup: &Lookup, wants: Vec<usize>) -> Boxed<'static, Step> {
        let is_missing: Vec<bool> = {
            let pending = held(&self.pending);
            wants
                .iter()
                .map(|&n| pending.find(lookup.wanted(n)).is_none())
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
            let mut entries = match &this.cache {
                Some(cache) if !names.is_empty() => cache.get(names).await,
                _ => Vec::new(),
            }
            .into_iter();
            let entries = is_missing
                .iter()
                .map(|is_missing| if *is_missing { entries.next()? } else { None })
                .collect();
            Step::Cached(wants, entries, started.elapsed())
        })
    }

    /// Delivers chunks from the cache or from memory to a lookup. Returns the missing chunks.
    fn deliver_cached(
        &self,
        lookup: &mut Lookup,
        wants: Vec<usize>,
        entries: Vec<Option<Vec<u8>>>,
        elapsed: Duration,
    ) -> Vec<usize> {
        let (mut missing, mut reads) = (Vec::new(), Vec::new());
        for (n, entry) in wants.into_iter().zip(entries) {
            let want = lookup.wanted(n).clone();
            let mut part = self.in_memory(&want);
            if let (None, Some(bytes), Some(cache)) = (&part, entry, &self.cache) {
                part = self.decode(&want, &bytes).ok();
                if part.is_none() {
                    cache.remove(&name(&want));
                } else {
                    self.count(|stats| stats.cache_hits += u64::from(want.is_block()));
                }
                reads.push((want, part.is_some()));
            }
            match part {
                Some(part) => lookup.deliver(n, Ok(&part)),
                None => missing.push(n),
            }
        }
        for (want, is_good) in reads {
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

    /// Joins the pending requests for some chunks, and sends requests for the rest.
    fn requests(
        self: &Arc<Self>,
        lookup: &mut Lookup,
        missing: &[usize],
    ) -> Vec<Boxed<'static, Step>> {
        let mut pending = held(&self.pending);
        let (mut joined, mut decoded) = (Vec::new(), Vec::new());
        for &n in missing {
            let request = pending.find(lookup.wanted(n));
            // A part is removed from the requests after it was added to the memory, perhaps in the meantime.
            let part = if request.is_none() {
                self.catalog().part(&lookup.wanted(n).chunk)
            } else {
                None
            };
            match part {
                Some(part) => decoded.push((n, part)),
                None => joined.push((n, request)),
            }
        }
        let id = |joined: &Option<(_, Entry)>| joined.as_ref().map(|(_, entry)| entry.id);
        let runs = joined.chunk_by(|(a, joined), (b, other)| {
            a + 1 == *b && lookup.request(*a) == lookup.request(*b) && id(joined) == id(other)
        });
        let steps = runs.filter_map(|run| {
            let (wants, request) = match run.first()? {
                (_, Some((request, _))) => {
                    let wants = run
                        .iter()
                        .filter_map(|(n, joined)| Some((*n, joined.as_ref()?.1.at)))
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
                        pending.add(parts, &sent, request),
                    )
                }
            };
            let step: Boxed<'static, Step> =
                Box::pin(request.map(|parts| Step::Fetched(wants, parts)));
            Some(step)
        });
        let steps = steps.collect();
        drop(pending);
        for (n, part) in decoded {
            lookup.deliver(n, Ok(&part));
        }
        steps
    }

    /// Fetches the range from the first of some parts to the last, and decodes them.
    fn send(self: Arc<Self>, wants: Vec<Want>, sent: Sent) -> Boxed<'static, Parts> {
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
            let decode = |want: &Want| {
                let bytes = answer
                    .as_ref()
                    .map_err(|error| ReadError::from(error.clone()))?;
                let bytes = want.chunk.within(bytes, range.start);
                let part = self.decode(want, bytes)?;
                if let Some(cache) = &self.cache {
                    cache.put(&name(want), bytes, Keep::Recent);
                }
                self.count(|stats| stats.network_blocks += u64::from(want.is_block()));
                Ok(part)
            };
            let parts = wants.iter().map(|want| {
                let part = decode(want);
                // Later than the part is in memory, so that no other lookup requests the part again.
                held(&self.pending).remove(want);
                part
            });
            Arc::new(parts.collect())
        })
    }
}

/// Reports the new answers of a lookup.
fn report(lookup: &mut Lookup, found: &mut Found<'_>) {
    for (place, answer) in lookup.answers() {
        found(place, answer, &lookup.manifest);
    }
}

/// Returns the name of a part in the cache.
fn name(want: &Want) -> String {
    let chunk = &want.chunk;
    format!("{}:{}-{}", chunk.file, chunk.range.start, chunk.range.end)
}
