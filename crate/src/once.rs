//! What is made once for all who want it, and what only some may do at a time.
//!
//! The crates for this come with a list of listeners of their own, which was 2 % of the WASM module.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures_channel::oneshot;
use futures_util::lock;

/// What a lock guards is state of its own at every step: a panic elsewhere does not make it wrong.
pub(crate) fn held<T: ?Sized>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value that the first who wants it makes. If that fails, or whoever makes it is dropped, the next one does.
pub(crate) struct Once<T> {
    value: OnceLock<T>,
    turn: lock::Mutex<()>,
}

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once { value: OnceLock::new(), turn: lock::Mutex::new(()) }
    }
}

impl<T> Once<T> {
    /// The value, if it is there.
    #[cfg(all(feature = "web", target_arch = "wasm32"))]
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value, which `make` makes unless it is there; without one, the error of `make`.
    pub(crate) async fn get_or_make<E>(&self, make: impl Future<Output = Result<T, E>>) -> Result<&T, E> {
        let _turn = self.turn.lock().await;
        match self.value.get() {
            Some(value) => Ok(value),
            None => make.await.map(|value| self.value.get_or_init(|| value)),
        }
    }
}

/// Lets so many in at a time, in the order in which they came.
#[derive(Clone)]
pub(crate) struct Gate(Arc<Mutex<Queue>>);

struct Queue {
    free: usize,
    waiting: VecDeque<oneshot::Sender<Permit>>,
}

/// Somebody is in until this is dropped.
pub(crate) struct Permit(Gate);

impl Gate {
    pub(crate) fn new(free: usize) -> Gate {
        Gate(Arc::new(Mutex::new(Queue { free, waiting: VecDeque::new() })))
    }

    /// Waits to be let in.
    pub(crate) async fn enter(&self) -> Permit {
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
            // Who waits in the queue is let in: the sender is not dropped before.
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
    use futures_util::FutureExt as _;
    use futures_util::future::{join, join_all, pending};

    use super::*;

    #[test]
    fn a_value_is_made_once() {
        let once = Once::default();
        let make = |value| once.get_or_make(ready(Ok::<_, ()>(value)));
        assert_eq!(block_on(join(make(1), make(2))), (Ok(&1), Ok(&1)));
    }

    #[test]
    fn the_next_one_makes_it_if_the_first_fails_or_is_dropped() {
        let once = Once::default();
        assert_eq!(block_on(once.get_or_make(ready(Err::<u8, _>("no")))), Err("no"));
        let mut first = Box::pin(once.get_or_make(pending::<Result<_, &str>>()));
        assert!((&mut first).now_or_never().is_none());
        let second = once.get_or_make(ready(Ok::<_, &str>(2)));
        let mut second = core::pin::pin!(second);
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        assert_eq!(block_on(second), Ok(&2));
    }

    #[test]
    fn only_so_many_are_let_in_and_whoever_has_gone_does_not_count() {
        let gate = Gate::new(2);
        let (first, second) = block_on(join(gate.enter(), gate.enter()));
        let mut waiting: Vec<_> = (0..4).map(|_| Box::pin(gate.enter())).collect();
        assert!(waiting.iter_mut().all(|next| next.now_or_never().is_none()));
        // One has gone before its turn, one when it was let in already.
        drop(waiting.remove(0));
        drop(first);
        drop(waiting.remove(0));
        let third = waiting[0].as_mut().now_or_never().unwrap();
        assert!(waiting[1].as_mut().now_or_never().is_none());
        drop(second);
        let fourth = waiting[1].as_mut().now_or_never().unwrap();
        assert!(gate.enter().now_or_never().is_none());
        drop((third, fourth));
        assert_eq!(block_on(join_all([gate.enter(), gate.enter()])).len(), 2);
        assert!(gate.enter().now_or_never().is_some());
    }
}
