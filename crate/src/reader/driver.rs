//! The state that all clones of a reader share, and the renewal of its manifest.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use web_time::{Duration, Instant};

use super::builder::ReaderBuilder;
use super::cache::{Cache, Keep};
use super::catalog::{Catalog, Format, Part, Want};
use super::error::ReadError;
use super::fetched::{Fetched, Observer, Stats};
use super::limits::RequestLimits;
use super::manifest::{Checked, fetch_manifest, parse};
use super::requests::{Boxed, Pending};
use crate::source::Source;
use crate::source::integrity::Pin;
use crate::sync::{OnceCell, Semaphore, held};
use crate::table::Manifest;

/// Number of groups of chunks. Two threads seldom decode chunks of the same group. WebAssembly has one thread.
const GROUPS: usize = if cfg!(target_arch = "wasm32") { 1 } else { 64 };

/// The shared state of all clones of a reader. It does not depend on the kind of record.
pub(super) struct Driver<S> {
    pub(super) source: S,
    pub(super) cache: Option<Arc<dyn Cache>>,
    format: Format,
    pub(super) limits: RequestLimits,
    pin: Option<Pin>,
    observer: Option<Observer>,
    pub(super) permits: Semaphore,
    /// Path or URL of the files, with a trailing slash, for error messages.
    folder: String,
    /// Manifest, pages and blocks in memory. Nothing is decoded, read or written while the catalog is locked.
    catalog: Mutex<Catalog>,
    /// A lock for each group of chunks, so that threads decode a chunk once.
    decoding: [Mutex<()>; GROUPS],
    pub(super) pending: Mutex<Pending>,
    /// Result of the current request for the manifest, for all lookups that wait for it.
    renewal: Mutex<Weak<OnceCell<Result<bool, ReadError>>>>,
    checked: Mutex<Checked>,
    /// Number of times that a different manifest replaced the manifest.
    replacements: AtomicU64,
    stats: Mutex<Stats>,
}

impl<S> Driver<S> {
    /// Locks the catalog.
    pub(super) fn catalog(&self) -> MutexGuard<'_, Catalog> {
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

    pub(super) fn count(&self, change: impl FnOnce(&mut Stats)) {
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

    /// Returns a page or block if it is in memory, or is an inline page of the manifest.
    pub(super) fn in_memory(&self, want: &Want) -> Option<Part> {
        let manifest = {
            let mut catalog = self.catalog();
            if let Some(part) = catalog.part(&want.chunk) {
                return Some(part);
            }
            catalog.manifest().clone()
        };
        self.decode(want, manifest.inline_page(&want.chunk)?).ok()
    }

    /// Returns whether the manifest is pinned, so that readers compare hashes.
    pub(super) fn is_pinned(&self) -> bool {
        self.pin.is_some()
    }

    /// Returns a page or block from memory, or decodes it from bytes of a cache or a source.
    pub(super) fn decode(&self, want: &Want, bytes: &[u8]) -> Result<Part, ReadError> {
        let chunk = &want.chunk;
        #[allow(clippy::modulo_one, reason = "WebAssembly has a single group")]
        let group = chunk.hash() as usize % GROUPS;
        let _turn = held(&self.decoding[group]);
        let in_memory = self.catalog().part(chunk);
        if let Some(part) = in_memory {
            return Ok(part);
        }
        let part = want.decode(bytes, self.format, &self.folder);
        let part = part.map_err(|error| ReadError::Table {
            at: format!("{}{}", self.folder, chunk.file),
            error,
        })?;
        self.catalog().keep(chunk, part.clone());
        Ok(part)
    }

    pub(super) fn observe(&self, fetched: &Fetched<'_>) {
        if let Some(observer) = &self.observer {
            observer(fetched);
        }
    }
}

impl<S: Source> Driver<S> {
    /// Reads the manifest: the cache's, if no answer comes from the source.
    pub(super) async fn open(
        builder: ReaderBuilder<S>,
        format: Format,
    ) -> Result<Driver<S>, ReadError> {
        let ReaderBuilder {
            source,
            cache,
            options,
            pin,
            observer,
        } = builder;
        let cached = async || {
            let names = vec![Manifest::FILE.to_string()];
            let bytes = cache.as_ref()?.get(names).await.pop()??;
            parse(format, &source, pin.as_ref(), &bytes).ok()
        };
        let (mut stats, mut checked) = (Stats::default(), Checked::default());
        let offline = if source.is_offline() {
            cached().await
        } else {
            None
        };
        let manifest = match offline {
            Some(manifest) => manifest,
            None => {
                stats.requests += 1;
                match fetch_manifest(format, &source, pin.as_ref(), observer.as_ref(), None).await {
                    Ok(Some((manifest, whole))) => {
                        stats.bytes += whole.bytes.len() as u64;
                        if let Some(cache) = &cache {
                            cache.put(Manifest::FILE, &whole.bytes, Keep::Longest);
                        }
                        let now = Some(Instant::now());
                        checked = Checked {
                            etag: whole.etag,
                            confirmed: now,
                            requested: now,
                        };
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
            folder: source.locate(""),
            source,
            cache,
            format,
            limits: RequestLimits {
                max_gap: options.gap,
                ..RequestLimits::default()
            },
            pin,
            observer,
            permits: Semaphore::new(options.concurrency.max(1)),
            catalog: Mutex::new(Catalog::new(manifest, options.memory)),
            decoding: [const { Mutex::new(()) }; GROUPS],
            pending: Mutex::default(),
            renewal: Mutex::new(Weak::new()),
            checked: Mutex::new(checked),
            replacements: AtomicU64::new(0),
            stats: Mutex::new(stats),
        })
    }

    /// Reads the manifest again, once for all lookups that wait for it; `is_conditional` unless it is unchanged. Returns
    /// whether a different manifest replaced it.
    pub(super) fn renew(
        self: &Arc<Self>,
        is_conditional: bool,
    ) -> Boxed<'static, Result<bool, ReadError>> {
        let renewal = {
            let mut current = held(&self.renewal);
            let renewal = current.upgrade().unwrap_or_default();
            *current = Arc::downgrade(&renewal);
            renewal
        };
        let this = self.clone();
        Box::pin(async move {
            renewal
                .get_or_init(this.request_manifest(is_conditional))
                .await
                .clone()
        })
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
        let fetched =
            fetch_manifest(self.format, &self.source, pin, observer, etag.as_deref()).await?;
        let mut is_new = false;
        if let Some((manifest, whole)) = fetched {
            self.count(|stats| stats.bytes += whole.bytes.len() as u64);
            is_new = self.catalog().renew(manifest);
            if is_new {
                // Later than the manifest: data of the old manifest never counts as data of the new manifest.
                self.replacements.fetch_add(1, Ordering::Release);
                if let Some(cache) = &self.cache {
                    cache.put(Manifest::FILE, &whole.bytes, Keep::Longest);
                }
            }
            held(&self.checked).etag = whole.etag;
        }
        held(&self.checked).confirmed = requested;
        Ok(is_new)
    }

    /// Returns whether the last request for the manifest was `interval` ago, and a request could find a different
    /// manifest.
    pub(super) fn is_due(&self, interval: Duration) -> bool {
        let is_over = held(&self.checked)
            .requested
            .is_none_or(|time| time.elapsed() >= interval);
        is_over && self.pin.is_none() && !self.source.is_offline()
    }
}
