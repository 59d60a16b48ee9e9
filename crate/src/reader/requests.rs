//! Requests under way, each shared by all lookups that want a part of it.

use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{Shared, WeakShared};

use super::ReadError;
use super::catalog::Part;
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

/// The requests that somebody waits for, by the names of their parts.
pub(super) struct UnderWay<R: Record> {
    /// In the order of their names.
    parts: Vec<Entry<R>>,
    requests: usize,
    /// How many entries there may be before those are dropped that nobody waits for any more.
    most: usize,
}

struct Entry<R: Record> {
    name: String,
    id: usize,
    at: usize,
    sent: Sent,
    request: WeakShared<Boxed<Parts<R>>>,
}

impl<R: Record> UnderWay<R> {
    pub(super) fn new() -> UnderWay<R> {
        UnderWay { parts: Vec::new(), requests: 0, most: 64 }
    }

    /// Adds a request for parts of these names.
    pub(super) fn add(&mut self, names: Vec<String>, sent: &Sent, request: Boxed<Parts<R>>) -> Request<R> {
        if self.parts.len() >= self.most {
            self.parts.retain(|entry| entry.request.upgrade().is_some());
            self.most = 64.max(2 * self.parts.len());
        }
        let request = request.shared();
        self.requests += 1;
        for (at, name) in names.into_iter().enumerate() {
            let Some(weak) = request.downgrade() else { break };
            let place = self.place(&name);
            let entry = Entry { name, id: self.requests, at, sent: sent.clone(), request: weak };
            match place {
                Ok(place) => self.parts[place] = entry,
                Err(place) => self.parts.insert(place, entry),
            }
        }
        request
    }

    /// The request that fetches the part of a name.
    pub(super) fn find(&self, name: &str) -> Option<Joined<R>> {
        let &Entry { id, at, ref request, .. } = &self.parts[self.place(name).ok()?];
        Some(Joined { id, at, request: request.upgrade()? })
    }

    /// From now on a part is in memory, or has to be asked for again.
    pub(super) fn remove(&mut self, name: &str) {
        if let Ok(place) = self.place(name) {
            self.parts.remove(place);
        }
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.parts.binary_search_by(|entry| entry.name.as_str().cmp(name))
    }

    /// Those that have left.
    pub(super) fn sent(&self) -> Vec<Request<R>> {
        let first = self.parts.iter().filter(|entry| entry.at == 0 && entry.sent.load(Ordering::Relaxed));
        first.filter_map(|entry| entry.request.upgrade()).collect()
    }
}
