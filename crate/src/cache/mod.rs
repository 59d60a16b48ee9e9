//! What was fetched before: kept, bounded in bytes, never needed.
//!
//! A cache holds bytes by name and promises nothing else: what it hands out may be missing or damaged, so a reader
//! checks it as it checks what a host sends, and asks the cache to forget what is wrong. A lookup waits for
//! [`Cache::get`] only, never for a write.

#[cfg(target_arch = "wasm32")]
pub mod indexed_db;
mod lru;

pub use lru::Lru;

use core::cell::RefCell;

/// Bytes by name, kept beyond the moment.
#[expect(async_fn_in_trait, reason = "futures of a cache are not meant to be Send")]
pub trait Cache {
    /// What is kept under each of `names`, in order. Answers in bounded time: what takes too long is not there.
    async fn get(&self, names: &[String]) -> Vec<Option<Vec<u8>>>;

    /// Keeps `bytes` under `name`, at the cost of what was not used for the longest time. Returns at once; the write
    /// may fail unseen.
    fn put(&self, name: &str, bytes: &[u8], keep: Keep);

    /// Forgets what is kept under `name`.
    fn remove(&self, name: &str);
}

/// How long a cache should hold on to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Until it is the least recently used one.
    WhileUsed,
    /// As long as there is anything else to give up: without the manifest nothing can be read offline.
    Longest,
}

/// No cache.
impl Cache for () {
    async fn get(&self, names: &[String]) -> Vec<Option<Vec<u8>>> {
        vec![None; names.len()]
    }

    fn put(&self, _: &str, _: &[u8], _: Keep) {}

    fn remove(&self, _: &str) {}
}

/// A cache that may be absent, as IndexedDB is in private windows.
impl<C: Cache> Cache for Option<C> {
    async fn get(&self, names: &[String]) -> Vec<Option<Vec<u8>>> {
        match self {
            Some(cache) => cache.get(names).await,
            None => ().get(names).await,
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

/// A cache shared by several readers.
impl<C: Cache> Cache for std::rc::Rc<C> {
    async fn get(&self, names: &[String]) -> Vec<Option<Vec<u8>>> {
        (**self).get(names).await
    }

    fn put(&self, name: &str, bytes: &[u8], keep: Keep) {
        (**self).put(name, bytes, keep);
    }

    fn remove(&self, name: &str) {
        (**self).remove(name);
    }
}

/// Bytes kept in memory, at most so many.
#[derive(Debug)]
pub struct Memory {
    used: RefCell<Lru<String, Vec<u8>>>,
    longest: RefCell<Lru<String, Vec<u8>>>,
}

impl Memory {
    /// An empty cache of at most `bytes`, and as much again for what is to be kept longest.
    pub fn new(bytes: usize) -> Memory {
        Memory { used: RefCell::new(Lru::new(bytes)), longest: RefCell::new(Lru::new(bytes)) }
    }
}

impl Cache for Memory {
    async fn get(&self, names: &[String]) -> Vec<Option<Vec<u8>>> {
        let (mut used, mut longest) = (self.used.borrow_mut(), self.longest.borrow_mut());
        names.iter().map(|name| used.get(name.as_str()).or_else(|| longest.get(name.as_str())).cloned()).collect()
    }

    fn put(&self, name: &str, bytes: &[u8], keep: Keep) {
        let lru = match keep {
            Keep::WhileUsed => &self.used,
            Keep::Longest => &self.longest,
        };
        lru.borrow_mut().put(name.to_string(), bytes.to_vec(), bytes.len());
    }

    fn remove(&self, name: &str) {
        self.used.borrow_mut().remove(name);
        self.longest.borrow_mut().remove(name);
    }
}
