//! The cache of a reader, which outlives the reader.

use crate::source::{MaybeSend, MaybeSync};

/// Time for which a cache keeps an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Until its space is needed for entries used more recently.
    Recent,
    /// As long as there is anything else to give up: without the manifest nothing else is of use.
    Longest,
}

/// A cache for the parts of one database, by name: IndexedDB in a browser, a folder, or [no cache](NoCache).
///
/// A cache may contain wrong bytes, because a reader checks them like the bytes of a source. Its keys must include the
/// location of the source, so that databases with equal file names do not share entries.
pub trait Cache: MaybeSend + MaybeSync + 'static {
    /// Returns the entries of the names, in the same order; `None` if there is no entry. A shorter list has no entry
    /// for the remaining names. The future must complete.
    fn get(&self, names: Vec<String>) -> impl Future<Output = Vec<Option<Vec<u8>>>> + MaybeSend;

    /// Keeps a copy of `bytes`, soon.
    fn put(&self, name: &str, bytes: &[u8], keep: Keep);

    /// Removes the entry of a name, soon.
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
