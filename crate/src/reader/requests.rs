//! Pending requests, each shared by all lookups that need a part of it.

use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{Shared, WeakShared};

use super::catalog::{Part, Want};
use super::error::ReadError;

/// A boxed future. It is `Send` on targets with threads.
#[cfg(not(target_arch = "wasm32"))]
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// A boxed future. It is `Send` on targets with threads.
#[cfg(target_arch = "wasm32")]
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The parts of a request, or the reason why a part is missing.
pub(super) type Parts = Arc<Vec<Result<Part, ReadError>>>;

/// A request. It continues while a lookup waits for it.
pub(super) type Request = Shared<Boxed<'static, Parts>>;

/// Whether a request was sent.
pub(super) type Sent = Arc<AtomicBool>;

/// A part of a pending request.
#[derive(Clone)]
pub(super) struct Entry {
    want: Want,
    /// Number of the request, which differs from that of other requests.
    pub(super) id: usize,
    /// Index among the parts of the request.
    pub(super) at: usize,
    sent: Sent,
    request: WeakShared<Boxed<'static, Parts>>,
}

/// The pending requests, by their parts. In the manifest of another build, the same bytes may have another range of keys;
/// they are then a different part.
#[derive(Default)]
pub(super) struct Pending {
    /// In the order of their first bytes.
    parts: Vec<Entry>,
    requests: usize,
    /// Number of parts at which the parts of dropped requests are removed.
    most: usize,
}

impl Pending {
    /// Adds a request for these parts.
    pub(super) fn add(
        &mut self,
        wants: Vec<Want>,
        sent: &Sent,
        request: Boxed<'static, Parts>,
    ) -> Request {
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

    /// Returns the request that fetches a part, and the part.
    pub(super) fn find(&self, want: &Want) -> Option<(Request, Entry)> {
        let entry = &self.parts[self.place(want).ok()?];
        let request = entry.request.upgrade().filter(|_| entry.want == *want)?;
        Some((request, entry.clone()))
    }

    /// Removes a part, which is now in memory or must be requested again.
    pub(super) fn remove(&mut self, want: &Want) {
        if let Ok(place) = self.place(want) {
            self.parts.remove(place);
        }
    }

    fn place(&self, want: &Want) -> Result<usize, usize> {
        fn first_byte(want: &Want) -> (u64, &str) {
            (want.chunk.range.start, &want.chunk.file)
        }
        self.parts
            .binary_search_by(|entry| first_byte(&entry.want).cmp(&first_byte(want)))
    }

    /// Returns the requests that were sent.
    pub(super) fn sent(&self) -> Vec<Request> {
        let first = self
            .parts
            .iter()
            .filter(|entry| entry.at == 0 && entry.sent.load(Ordering::Relaxed));
        first.filter_map(|entry| entry.request.upgrade()).collect()
    }
}
