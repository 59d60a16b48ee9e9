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
struct PendingPart {
    want: Want,
    /// Index among the parts of the request.
    at: usize,
    sent: Sent,
    request: WeakShared<Boxed<'static, Parts>>,
}

/// The pending requests, by their parts in the order of their first bytes. In the manifest of another build, the same bytes may
/// have another range of keys; they are then a different part.
#[derive(Default)]
pub(super) struct Pending(Vec<PendingPart>);

impl Pending {
    /// Adds a request for these parts. Removes requests that were dropped.
    pub(super) fn add(
        &mut self,
        wants: Vec<Want>,
        sent: &Sent,
        request: Boxed<'static, Parts>,
    ) -> Request {
        self.0.retain(|part| part.request.upgrade().is_some());
        let request = request.shared();
        for (at, want) in wants.into_iter().enumerate() {
            let Some(weak) = request.downgrade() else {
                break;
            };
            self.remove(&want);
            let (Ok(place) | Err(place)) = self.place(&want);
            let sent = sent.clone();
            let part = PendingPart {
                want,
                at,
                sent,
                request: weak,
            };
            self.0.insert(place, part);
        }
        request
    }

    /// Returns the request that fetches a part, and the index of the part.
    pub(super) fn find(&self, want: &Want) -> Option<(Request, usize)> {
        let part = &self.0[self.place(want).ok()?];
        let request = part.request.upgrade().filter(|_| part.want == *want)?;
        Some((request, part.at))
    }

    /// Removes a part, which is now in memory or must be requested again.
    pub(super) fn remove(&mut self, want: &Want) {
        if let Ok(place) = self.place(want) {
            self.0.remove(place);
        }
    }

    fn place(&self, want: &Want) -> Result<usize, usize> {
        fn first_byte(want: &Want) -> (u64, &str) {
            (want.chunk.range.start, &want.chunk.file)
        }
        self.0
            .binary_search_by(|part| first_byte(&part.want).cmp(&first_byte(want)))
    }

    /// Returns the requests that were sent.
    pub(super) fn sent(&self) -> Vec<Request> {
        let is_sent = |part: &&PendingPart| part.at == 0 && part.sent.load(Ordering::Relaxed);
        let sent = self.0.iter().filter(is_sent);
        sent.filter_map(|part| part.request.upgrade()).collect()
    }
}
