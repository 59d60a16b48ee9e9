//! The state that all clones of a reader share: its manifest, its memory, and its requests.

use core::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::FutureExt as _;
use futures_util::future::WeakShared;
use web_time::{Duration, Instant};

use super::cache::Keep;
use super::catalog::{Format, Part, Want};
use super::error::ReadError;
use super::fetched::{Fetched, Origin, Stats};
use super::handle::ReaderBuilder;
use super::lru::Lru;
use super::requests::{Boxed, Parts, Pending, Sent};
use crate::source::{Source, SourceError, Whole};
use crate::sync::{Semaphore, held};
use crate::table::{Chunk, Manifest};

/// The shared state of all clones of a reader. It does not depend on the kind of record.
pub(super) struct Driver<S> {
    pub(super) parts: ReaderBuilder<S>,
    format: Format,
    permits: Semaphore,
    /// Path or URL of the files, with a trailing slash, for error messages.
    folder: String,
    manifest: Mutex<Arc<Manifest>>,
    /// Pages and blocks. Nothing is decoded, read or written while the memory is locked.
    memory: Mutex<Lru<Chunk, Part>>,
    pub(super) pending: Mutex<Pending>,
    /// The current request for the manifest, for all lookups that wait for it.
    renewal: Mutex<Option<WeakShared<Renewal>>>,
    pub(super) checked: Mutex<Checked>,
    pub(super) stats: Mutex<Stats>,
}

/// A request for the manifest. Returns whether a different manifest replaced the manifest.
type Renewal = Boxed<'static, Result<bool, ReadError>>;

/// The last requests for the manifest.
#[derive(Default)]
pub(super) struct Checked {
    /// Entity tag of the manifest in use.
    etag: Option<String>,
    /// Time when the source last sent or confirmed the manifest in use; `None` if the manifest is the cache's.
    pub(super) confirmed: Option<Instant>,
    /// Time of the last request.
    pub(super) requested: Option<Instant>,
}

impl<S> Driver<S> {
    /// Locks the pages and blocks in memory.
    pub(super) fn memory(&self) -> MutexGuard<'_, Lru<Chunk, Part>> {
        held(&self.memory)
    }

    /// Returns the manifest in use.
    pub(super) fn manifest(&self) -> Arc<Manifest> {
        held(&self.manifest).clone()
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Stats)) {
        change(&mut held(&self.stats));
    }

    /// Returns a page or block if it is in memory, or is an inline page of the manifest.
    pub(super) fn in_memory(&self, want: &Want) -> Option<Part> {
        let part = self.memory().get(&want.chunk).cloned();
        if part.is_some() {
            return part;
        }
        let manifest = self.manifest();
        self.decode(want, manifest.inline_page(&want.chunk)?).ok()
    }

    /// Returns whether the manifest is pinned, so that readers compare hashes.
    pub(super) fn is_pinned(&self) -> bool {
        self.parts.pin.is_some()
    }

    /// Decodes a page or block from bytes of a cache or a source, and adds it to the memory.
    fn decode(&self, want: &Want, bytes: &[u8]) -> Result<Part, ReadError> {
        let part = want.decode(bytes, self.format, &self.folder);
        let part = part.map_err(|error| ReadError::Table {
            at: format!("{}{}", self.folder, want.chunk.file),
            error,
        })?;
        let bytes = part.bytes();
        self.memory().put(want.chunk.clone(), part.clone(), bytes);
        Ok(part)
    }
}

impl<S: Source> ReaderBuilder<S> {
    /// Parses a manifest and compares its hash with the pin.
    fn parse(&self, format: Format, bytes: &[u8]) -> Result<Manifest, ReadError> {
        let at = self.source.locate(Manifest::FILE);
        match self.pin.as_ref().map_or(Ok(()), |pin| pin.check(bytes)) {
            Ok(()) => (format.manifest)(bytes).map_err(|error| ReadError::Table { at, error }),
            Err(kind) => Err(SourceError::new(at, kind).into()),
        }
    }

    /// Requests the manifest, unless it has the entity tag `etag`.
    async fn fetch_manifest(
        &self,
        format: Format,
        etag: Option<&str>,
    ) -> Result<Option<(Manifest, Whole)>, ReadError> {
        let started = Instant::now();
        let most = Manifest::MAX_BYTES as u64;
        let whole = self.source.whole_unless(Manifest::FILE, most, etag).await;
        let bytes = whole.iter().flatten().map(|whole| whole.bytes.len() as u64);
        self.observe(Fetched {
            file: Manifest::FILE,
            at: self.source.locate(Manifest::FILE),
            range: 0..bytes.sum(),
            parts: 0,
            origin: Origin::Source,
            elapsed: started.elapsed(),
            is_good: whole.is_ok(),
        });
        let Some(whole) = whole? else { return Ok(None) };
        Ok(Some((self.parse(format, &whole.bytes)?, whole)))
    }

    /// Reads the manifest of the cache.
    async fn cached_manifest(&self, format: Format) -> Option<Manifest> {
        let names = vec![Manifest::FILE.to_string()];
        let bytes = self.cache.as_ref()?.get(names).await.pop()??;
        self.parse(format, &bytes).ok()
    }

    /// Writes the manifest to the cache.
    fn cache_manifest(&self, whole: &Whole) {
        if let Some(cache) = &self.cache {
            cache.put(Manifest::FILE, &whole.bytes, Keep::Longest);
        }
    }

    fn observe(&self, fetched: Fetched<'_>) {
        if let Some(observer) = &self.observer {
            observer(&fetched);
        }
    }
}

impl<S: Source> Driver<S> {
    /// Reads the manifest: the cache's, if no answer comes from the source.
    pub(super) async fn open(
        parts: ReaderBuilder<S>,
        format: Format,
    ) -> Result<Driver<S>, ReadError> {
        let (mut stats, mut checked) = (Stats::default(), Checked::default());
        let mut manifest = None;
        if parts.source.is_offline() {
            manifest = parts.cached_manifest(format).await;
        }
        if manifest.is_none() {
            stats.requests += 1;
            match parts.fetch_manifest(format, None).await {
                Ok(fetched) => {
                    manifest = fetched.map(|(manifest, whole)| {
                        stats.bytes += whole.bytes.len() as u64;
                        parts.cache_manifest(&whole);
                        let now = Some(Instant::now());
                        checked = Checked {
                            etag: whole.etag,
                            confirmed: now,
                            requested: now,
                        };
                        manifest
                    })
                }
                Err(error) if error.is_unreachable() => {
                    manifest = Some(parts.cached_manifest(format).await.ok_or(error)?);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Driver {
            folder: parts.source.locate(""),
            format,
            permits: Semaphore::new(match parts.source.is_isolated() {
                true => usize::MAX,
                false => parts.options.concurrency.max(1),
            }),
            // Without an entity tag, a source returns the manifest or an error.
            manifest: Mutex::new(Arc::new(manifest.ok_or(ReadError::Unanswered)?)),
            memory: Mutex::new(Lru::new(parts.options.memory, Chunk::hash)),
            parts,
            pending: Mutex::default(),
            renewal: Mutex::default(),
            checked: Mutex::new(checked),
            stats: Mutex::new(stats),
        })
    }

    /// Reads the manifest again, once for all lookups that wait for it; `is_conditional` unless it is unchanged. Returns
    /// whether a different manifest replaced it.
    pub(super) fn renew(
        self: &Arc<Self>,
        is_conditional: bool,
    ) -> impl Future<Output = Result<bool, ReadError>> + use<S> {
        let mut current = held(&self.renewal);
        let is_isolated = self.parts.source.is_isolated();
        let pending = current.as_ref().and_then(WeakShared::upgrade);
        let pending = pending.filter(|_| !is_isolated);
        let renewal = pending.unwrap_or_else(|| {
            let this = self.clone();
            let renewal: Renewal =
                Box::pin(async move { this.request_manifest(is_conditional).await });
            renewal.shared()
        });
        *current = renewal.downgrade();
        renewal
    }

    async fn request_manifest(&self, is_conditional: bool) -> Result<bool, ReadError> {
        let requested = Some(Instant::now());
        let etag = {
            let mut checked = held(&self.checked);
            checked.requested = requested;
            checked.etag.clone().filter(|_| is_conditional)
        };
        self.count(|stats| stats.requests += 1);
        let fetched = self
            .parts
            .fetch_manifest(self.format, etag.as_deref())
            .await?;
        let mut is_new = false;
        if let Some((manifest, whole)) = fetched {
            let manifest = Arc::new(manifest);
            // Chunks that both builds contain stay in memory.
            is_new = core::mem::replace(&mut *held(&self.manifest), manifest.clone()) != manifest;
            self.count(|stats| {
                stats.bytes += whole.bytes.len() as u64;
                stats.replacements += u64::from(is_new);
            });
            if is_new {
                self.parts.cache_manifest(&whole);
            }
            held(&self.checked).etag = whole.etag;
        }
        held(&self.checked).confirmed = requested;
        Ok(is_new)
    }

    /// Decodes a chunk from bytes of the cache. If they are damaged, those of the source will replace them.
    pub(super) fn decode_cached(
        &self,
        want: &Want,
        bytes: &[u8],
        elapsed: Duration,
    ) -> Option<Part> {
        let part = self.decode(want, bytes).ok();
        let is_hit = part.is_some() && want.is_block();
        self.count(|stats| stats.cache_hits += u64::from(is_hit));
        self.observe(want, want, 1, Origin::Cache, elapsed, part.is_some());
        part
    }

    /// Fetches the range from the first of some parts to the last, and decodes them.
    pub(super) fn send(self: Arc<Self>, wants: Vec<Want>, sent: Sent) -> Boxed<'static, Parts> {
        Box::pin(async move {
            let (Some(first), Some(last)) = (wants.first(), wants.last()) else {
                return Parts::default();
            };
            let range = first.chunk.range.start..last.chunk.range.end;
            let _permit = self.permits.acquire().await;
            sent.store(true, Ordering::Relaxed);
            let started = Instant::now();
            let answer = self
                .parts
                .source
                .range(&first.chunk.file, range.clone())
                .await;
            self.count(|stats| {
                stats.requests += 1;
                stats.bytes += answer.as_ref().map_or(0, |bytes| bytes.len() as u64);
            });
            let elapsed = started.elapsed();
            self.observe(
                first,
                last,
                wants.len(),
                Origin::Source,
                elapsed,
                answer.is_ok(),
            );
            let decode = |want: &Want| {
                let bytes = answer
                    .as_ref()
                    .map_err(|error| ReadError::from(error.clone()))?;
                let bytes = want.chunk.within(bytes, range.start);
                let part = self.decode(want, bytes)?;
                if let Some(cache) = &self.parts.cache {
                    cache.put(&want.name(), bytes, Keep::Recent);
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

    /// Reports a read of the range from the first of `parts` chunks to the last.
    fn observe(
        &self,
        first: &Want,
        last: &Want,
        parts: usize,
        origin: Origin,
        elapsed: Duration,
        is_good: bool,
    ) {
        self.parts.observe(Fetched {
            file: &first.chunk.file,
            at: self.parts.source.locate(&first.chunk.file),
            range: first.chunk.range.start..last.chunk.range.end,
            parts,
            origin,
            elapsed,
            is_good,
        });
    }
}
