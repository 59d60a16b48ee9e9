//! A cell and a semaphore for asynchronous code.
//!
//! The crates for this maintain lists of listeners, which took 2 % of the WASM module.

use core::convert::Infallible;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures_channel::oneshot;
use futures_util::{FutureExt as _, lock};

/// Locks a mutex. The guarded state is consistent at every step, so a panic elsewhere does not matter.
pub(crate) fn held<T: ?Sized>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value that its first user initialises. If that fails or is dropped, the next user initialises it.
pub(crate) struct OnceCell<T> {
    value: OnceLock<T>,
    turn: lock::Mutex<()>,
}

impl<T> Default for OnceCell<T> {
    fn default() -> OnceCell<T> {
        OnceCell {
            value: OnceLock::new(),
            turn: lock::Mutex::new(()),
        }
    }
}

impl<T> OnceCell<T> {
    /// Returns the value, if it is there.
    #[cfg(all(feature = "web", target_arch = "wasm32"))]
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value, which `make` makes unless it is there.
    // An `async fn` would be one more state machine in the WASM module, of half a kilobyte in Brotli.
    pub(crate) fn get_or_init(&self, make: impl Future<Output = T>) -> impl Future<Output = &T> {
        self.get_or_try_init(make.map(Ok::<T, Infallible>))
            .map(|Ok(value)| value)
    }

    /// Returns the value. Makes it by `make` unless it exists. Returns the error of `make` if `make` fails.
    pub(crate) async fn get_or_try_init<E>(
        &self,
        make: impl Future<Output = Result<T, E>>,
    ) -> Result<&T, E> {
        let _turn = self.turn.lock().await;
        match self.value.get() {
            Some(value) => Ok(value),
            None => make.await.map(|value| self.value.get_or_init(|| value)),
        }
    }
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
    use core::future::ready;

    use futures_executor::block_on;
    use futures_util::future::{join, join_all, pending};

    use super::*;

    #[test]
    fn a_value_is_created_once() {
        let cell = OnceCell::default();
        let make = |value| cell.get_or_try_init(ready(Ok::<_, ()>(value)));
        assert_eq!(block_on(join(make(1), make(2))), (Ok(&1), Ok(&1)));
    }

    #[test]
    fn the_next_caller_creates_the_value_if_the_first_fails_or_is_dropped() {
        let cell = OnceCell::default();
        assert_eq!(
            block_on(cell.get_or_try_init(ready(Err::<u8, _>("no")))),
            Err("no")
        );
        let mut first = Box::pin(cell.get_or_try_init(pending::<Result<_, &str>>()));
        assert!((&mut first).now_or_never().is_none());
        let second = cell.get_or_try_init(ready(Ok::<_, &str>(2)));
        let mut second = core::pin::pin!(second);
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        assert_eq!(block_on(second), Ok(&2));
    }

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
