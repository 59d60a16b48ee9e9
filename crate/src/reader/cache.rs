//! Where a reader keeps bytes beyond its own life.

use crate::source::{MaybeSend, MaybeSync};

/// How long a cache keeps an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Until the room is needed for what was used since.
    Recent,
    /// As long as there is anything else to give up: without the manifest nothing else is of use.
    Longest,
}

/// A cache of the parts of one database, by name: IndexedDB in a browser, a folder, or [none](NoCache).
///
/// What a cache holds need not be right: a reader checks it like the bytes of a source. A cache must be keyed by the
/// source too, so that no database answers for another, whatever its files are called.
pub trait Cache: MaybeSend + MaybeSync + 'static {
    /// What is kept under each name, in their order; `None` where there is nothing. A shorter list has nothing for the
    /// rest. It must answer in the end.
    fn get(&self, names: Vec<String>) -> impl Future<Output = Vec<Option<Vec<u8>>>> + MaybeSend;

    /// Keeps a copy of `bytes`, soon.
    fn put(&self, name: &str, bytes: &[u8], keep: Keep);

    /// Gives up what is kept under a name, soon.
    fn remove(&self, name: &str);
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCache;

impl Cache for NoCache {
    async fn get(&self, _: Vec<String>) -> Vec<Option<Vec<u8>>> {
        Vec::new()
    }

    fn put(&self, _: &str, _: &[u8], _: Keep) {}

    fn remove(&self, _: &str) {}
}

impl<C: Cache> Cache for Option<C> {
    async fn get(&self, names: Vec<String>) -> Vec<Option<Vec<u8>>> {
        match self {
            Some(cache) => cache.get(names).await,
            None => Vec::new(),
        }
    }

    fn put(&self, name: &str, bytes: &[u8], keep: Keep) {
        if let Some(cache) = self {
            cache.put(name, bytes, keep);
        }
    }

    fn remove(&self, name: &str) {
        if let Some(cache) = self {
            cache.remove(name);
        }
    }
}
