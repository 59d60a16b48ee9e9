//! Requests under way, each shared by all lookups that want a part of it.

use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{Shared, WeakShared};

use super::catalog::{Part, Want};
use super::error::ReadError;
use crate::table::Record;

/// A boxed future, which may move between threads where there are threads.
#[cfg(not(target_arch = "wasm32"))]
pub(super) type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;
#[cfg(target_arch = "wasm32")]
pub(super) type Boxed<T> = Pin<Box<dyn Future<Output = T>>>;

/// What came of a request: each part that was wanted, or why it cannot be had.
pub(super) type Parts<R> = Arc<Vec<Result<Part<R>, ReadError>>>;

/// A request. It goes on while anybody waits for it.
pub(super) type Request<R> = Shared<Boxed<Parts<R>>>;

/// Whether a request has left.
pub(super) type Sent = Arc<AtomicBool>;

/// Where a part will be.
pub(super) struct Joined<R: Record> {
    /// Tells requests apart.
    pub(super) id: usize,
    pub(super) request: Request<R>,
    /// Its number among the parts of the request.
    pub(super) at: usize,
}

/// The requests that somebody waits for, by their parts. In another build's manifest the same bytes may have another
/// range of keys: they are another part.
pub(super) struct UnderWay<R: Record> {
    /// In the order of their beginnings.
    parts: Vec<Entry<R>>,
    requests: usize,
    /// How many entries there may be before those are dropped that nobody waits for any more.
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
        UnderWay { parts: Vec::new(), requests: 0, most: 64 }
    }

    /// Adds a request for these parts.
    pub(super) fn add(&mut self, wants: Vec<Want>, sent: &Sent, request: Boxed<Parts<R>>) -> Request<R> {
        if self.parts.len() >= self.most {
            self.parts.retain(|entry| entry.request.upgrade().is_some());
            self.most = 64.max(2 * self.parts.len());
        }
        let request = request.shared();
        self.requests += 1;
        for (at, want) in wants.into_iter().enumerate() {
            let Some(weak) = request.downgrade() else { break };
            let place = self.place(&want);
            let entry = Entry { want, id: self.requests, at, sent: sent.clone(), request: weak };
            match place {
                Ok(place) => self.parts[place] = entry,
                Err(place) => self.parts.insert(place, entry),
            }
        }
        request
    }

    /// The request that fetches a part.
    pub(super) fn find(&self, want: &Want) -> Option<Joined<R>> {
        let Entry { want: found, id, at, request, .. } = &self.parts[self.place(want).ok()?];
        let request = request.upgrade().filter(|_| found == want)?;
        Some(Joined { id: *id, at: *at, request })
    }

    /// From now on a part is in memory, or has to be asked for again.
    pub(super) fn remove(&mut self, want: &Want) {
        if let Ok(place) = self.place(want) {
            self.parts.remove(place);
        }
    }

    fn place(&self, want: &Want) -> Result<usize, usize> {
        fn beginning(want: &Want) -> (u64, &str) {
            (want.chunk().range.start, &want.chunk().file)
        }
        self.parts.binary_search_by(|entry| beginning(&entry.want).cmp(&beginning(want)))
    }

    /// Those that have left.
    pub(super) fn sent(&self) -> Vec<Request<R>> {
        let first = self.parts.iter().filter(|entry| entry.at == 0 && entry.sent.load(Ordering::Relaxed));
        first.filter_map(|entry| entry.request.upgrade()).collect()
    }
}
