//! A semaphore for asynchronous code.
//!
//! The crates for this maintain lists of listeners, which took 2 % of the WASM module.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;

/// Locks a mutex. The guarded state is consistent at every step, so a panic elsewhere does not matter.
pub(crate) fn held<T: ?Sized>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Permits of a fixed number, given in the order in which they are asked for.
#[derive(Clone)]
pub(crate) struct Semaphore(Arc<Mutex<Queue>>);

struct Queue {
    free: usize,
    waiting: VecDeque<oneshot::Sender<Permit>>,
}

/// A permit, given back when it is dropped.
pub(crate) struct Permit(Semaphore);

impl Semaphore {
    /// Creates a semaphore with this number of permits.
    pub(crate) fn new(free: usize) -> Semaphore {
        Semaphore(Arc::new(Mutex::new(Queue {
            free,
            waiting: VecDeque::new(),
        })))
    }

    /// Waits for a permit.
    pub(crate) async fn acquire(&self) -> Permit {
        let place = {
            let mut queue = held(&self.0);
            match queue.free.checked_sub(1) {
                Some(free) => {
                    queue.free = free;
                    None
                }
                None => {
                    let (send, receive) = oneshot::channel();
                    queue.waiting.push_back(send);
                    Some(receive)
                }
            }
        };
        match place {
            // Every waiting receiver gets a permit: its sender is not dropped before.
            Some(place) => place.await.unwrap_or_else(|_| Permit(self.clone())),
            None => Permit(self.clone()),
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        loop {
            let next = {
                let mut queue = held(&self.0.0);
                let next = queue.waiting.pop_front();
                queue.free += usize::from(next.is_none());
                next
            };
            match next {
                None => return,
                // One that has gone does not count. If it goes right now, its permit comes back here.
                Some(next) if next.is_canceled() => {}
                Some(next) => {
                    let _ = next.send(Permit(self.0.clone()));
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use futures_executor::block_on;
    use futures_util::FutureExt as _;
    use futures_util::future::{join, join_all};

    use super::*;

    #[test]
    fn permits_are_limited_and_a_dropped_waiter_keeps_no_permit() {
        let semaphore = Semaphore::new(2);
        let (first, second) = block_on(join(semaphore.acquire(), semaphore.acquire()));
        let mut waiting: Vec<_> = (0..4).map(|_| Box::pin(semaphore.acquire())).collect();
        assert!(waiting.iter_mut().all(|next| next.now_or_never().is_none()));
        // The first waiter is dropped before its turn, the second waiter when it already has a permit.
        drop(waiting.remove(0));
        drop(first);
        drop(waiting.remove(0));
        let third = waiting[0].as_mut().now_or_never().unwrap();
        assert!(waiting[1].as_mut().now_or_never().is_none());
        drop(second);
        let fourth = waiting[1].as_mut().now_or_never().unwrap();
        assert!(semaphore.acquire().now_or_never().is_none());
        drop((third, fourth));
        assert_eq!(
            block_on(join_all([semaphore.acquire(), semaphore.acquire()])).len(),
            2
        );
        assert!(semaphore.acquire().now_or_never().is_some());
    }
}
