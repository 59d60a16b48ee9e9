//! Requests under way, each shared by all lookups that want a part of it.

use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{Shared, WeakShared};

use super::catalog::{Part, Want};
use super::error::ReadError;
use crate::table::Record;

/// A boxed future. It is `Send` on targets with threads.
#[cfg(not(target_arch = "wasm32"))]
pub(super) type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;
#[cfg(target_arch = "wasm32")]
pub(super) type Boxed<T> = Pin<Box<dyn Future<Output = T>>>;

/// The parts of a request, or the reason why a part is missing.
pub(super) type Parts<R> = Arc<Vec<Result<Part<R>, ReadError>>>;

/// A request. It continues while a lookup waits for it.
pub(super) type Request<R> = Shared<Boxed<Parts<R>>>;

/// Whether a request has left.
pub(super) type Sent = Arc<AtomicBool>;

/// A part of a request.
pub(super) struct Joined<R: Record> {
    /// Tells requests apart.
    pub(super) id: usize,
    pub(super) request: Request<R>,
    /// Its number among the parts of the request.
    pub(super) at: usize,
}

/// The active requests, by their parts. In the manifest of another build, the same bytes may have another range of
/// keys; they are then a different part.
pub(super) struct UnderWay<R: Record> {
    /// In the order of their beginnings.
    parts: Vec<Entry<R>>,
    requests: usize,
    /// Number of entries from which abandoned entries are removed.
    most: usize,
}

struct Entry<R: Record> {
    want: Want,
    id: usize,
    at: usize,
    sent: Sent,
    request: WeakShared<Boxed<Parts<R>>>,
}

impl<R: Record> UnderWay<R> {
    pub(super) fn new() -> UnderWay<R> {
        UnderWay {
            parts: Vec::new(),
            requests: 0,
            most: 64,
        }
    }

    /// Adds a request for these parts.
    pub(super) fn add(
        &mut self,
        wants: Vec<Want>,
        sent: &Sent,
        request: Boxed<Parts<R>>,
    ) -> Request<R> {
        if self.parts.len() >= self.most {
            self.parts.retain(|entry| entry.request.upgrade().is_some());
            self.most = 64.max(2 * self.parts.len());
        }
        let request = request.shared();
        self.requests += 1;
        for (at, want) in wants.into_iter().enumerate() {
            let Some(weak) = request.downgrade() else {
                break;
            };
            let place = self.place(&want);
            let entry = Entry {
                want,
                id: self.requests,
                at,
                sent: sent.clone(),
                request: weak,
            };
            match place {
                Ok(place) => self.parts[place] = entry,
                Err(place) => self.parts.insert(place, entry),
            }
        }
        request
    }

    /// Returns the request that fetches a part.
    pub(super) fn find(&self, want: &Want) -> Option<Joined<R>> {
        let Entry {
            want: found,
            id,
            at,
            request,
            ..
        } = &self.parts[self.place(want).ok()?];
        let request = request.upgrade().filter(|_| found == want)?;
        Some(Joined {
            id: *id,
            at: *at,
            request,
        })
    }

    /// Removes a part, which is now in memory or must be requested again.
    pub(super) fn remove(&mut self, want: &Want) {
        if let Ok(place) = self.place(want) {
            self.parts.remove(place);
        }
    }

    fn place(&self, want: &Want) -> Result<usize, usize> {
        fn beginning(want: &Want) -> (u64, &str) {
            (want.chunk.range.start, &want.chunk.file)
        }
        self.parts
            .binary_search_by(|entry| beginning(&entry.want).cmp(&beginning(want)))
    }

    /// Returns the requests that are no longer active.
    pub(super) fn sent(&self) -> Vec<Request<R>> {
        let first = self
            .parts
            .iter()
            .filter(|entry| entry.at == 0 && entry.sent.load(Ordering::Relaxed));
        first.filter_map(|entry| entry.request.upgrade()).collect()
    }
}
