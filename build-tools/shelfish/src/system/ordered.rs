//! Parallel map that keeps the order of items and limits the read-ahead.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Number of items that wait for a worker, and number of results that wait behind it.
const AHEAD: usize = 2;

/// Returns the number of available cores.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Maps `items` on `threads` threads and returns the results in the order of the items.
///
/// Worker n modulo `threads` processes item n, so no other bookkeeping is necessary for the order.
pub fn ordered<I, T, R, F>(items: I, threads: usize, map: F) -> Ordered<I, T, R>
where
    I: Iterator<Item = T>,
    T: Send + 'static,
    R: Send + 'static,
    F: Fn(T) -> R + Send + Sync + 'static,
{
    let map = Arc::new(map);
    let workers = (0..threads.max(1))
        .map(|_| Worker::spawn(map.clone()))
        .collect();
    Ordered {
        items,
        workers,
        given: 0,
        taken: 0,
    }
}

struct Worker<T, R> {
    items: SyncSender<T>,
    results: Receiver<R>,
}

impl<T: Send + 'static, R: Send + 'static> Worker<T, R> {
    fn spawn(map: Arc<impl Fn(T) -> R + Send + Sync + 'static>) -> Worker<T, R> {
        let (items, inbox) = sync_channel(AHEAD);
        let (outbox, results) = sync_channel(AHEAD);
        // The loop ends when either channel is closed.
        thread::spawn(move || {
            inbox
                .into_iter()
                .map(|item| map(item))
                .try_for_each(|result| outbox.send(result))
        });
        Worker { items, results }
    }
}

/// Iterator of [`ordered`].
pub struct Ordered<I, T, R> {
    items: I,
    workers: Vec<Worker<T, R>>,
    given: usize,
    taken: usize,
}

impl<I: Iterator<Item = T>, T, R> Iterator for Ordered<I, T, R> {
    type Item = R;

    /// # Panics
    ///
    /// Panics if the mapping panicked.
    fn next(&mut self) -> Option<R> {
        let count = self.workers.len();
        while self.given < self.taken + count * AHEAD {
            let Some(item) = self.items.next() else { break };
            assert!(
                self.workers[self.given % count].items.send(item).is_ok(),
                "a worker died"
            );
            self.given += 1;
        }
        if self.taken == self.given {
            return None;
        }
        let result = self.workers[self.taken % count]
            .results
            .recv()
            .expect("a worker died");
        self.taken += 1;
        Some(result)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::ordered;

    #[test]
    fn results_keep_the_order_of_the_items() {
        for threads in [1, 2, 7] {
            let is_mapped: Vec<OnceLock<()>> = vec![OnceLock::new(); 200];
            let square = move |n: usize| {
                // Another worker finishes the next item earlier than every second item.
                if threads > 1 && n.is_multiple_of(2) {
                    is_mapped[n + 1].wait();
                }
                assert!(is_mapped[n].set(()).is_ok(), "{n} is mapped once");
                n * n
            };
            let squares: Vec<usize> = ordered(0..200, threads, square).collect();
            assert_eq!(squares, (0..200).map(|n| n * n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_consumer_may_stop_early() {
        assert_eq!(ordered(0..1_000_000u64, 2, |n| n + 1).next(), Some(1));
    }
}
