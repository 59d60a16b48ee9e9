//! Least recently used goes first, bounded in bytes.

use core::borrow::Borrow;
use core::fmt;

/// A least-recently-used cache with a maximum total size.
///
/// The list is searched from its end: it has at most some hundreds of values, and the most recent values are used most.
/// A hash map with links would be the larger part of a reader in WASM.
pub struct Lru<K, V> {
    /// Most recently used last.
    values: Vec<(K, V, usize)>,
    bytes: usize,
    capacity: usize,
}

impl<K: Eq, V> Lru<K, V> {
    /// An empty one of at most `capacity` bytes.
    pub fn new(capacity: usize) -> Lru<K, V> {
        Lru { values: Vec::new(), bytes: 0, capacity }
    }

    /// The value of `key`, which becomes the most recently used one.
    pub fn get<Q: Eq + ?Sized>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key)?;
        self.values[at..].rotate_left(1);
        self.values.last().map(|(_, value, _)| value)
    }

    /// Adds `value` with its size, and removes the least recently used values that no longer fit. A value larger than
    /// the capacity is not added.
    pub fn put(&mut self, key: K, value: V, bytes: usize) {
        self.remove(&key);
        if bytes > self.capacity {
            return;
        }
        self.bytes += bytes;
        self.values.push((key, value, bytes));
        let mut over = self.bytes.saturating_sub(self.capacity);
        let least = self.values.iter().take_while(|(_, _, freed)| {
            let goes = over > 0;
            over = over.saturating_sub(*freed);
            goes
        });
        let least = least.count();
        self.bytes -= self.values.drain(..least).map(|(_, _, freed)| freed).sum::<usize>();
    }

    /// Gives up the value of `key`.
    pub fn remove<Q: Eq + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        if let Some(at) = self.find(key) {
            self.bytes -= self.values.remove(at).2;
        }
    }

    /// Gives up all values.
    pub fn clear(&mut self) {
        self.values.clear();
        self.bytes = 0;
    }

    fn find<Q: Eq + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.values.iter().rposition(|(other, _, _)| other.borrow() == key)
    }
}

impl<K, V> fmt::Debug for Lru<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lru({} values, {} of {} bytes)", self.values.len(), self.bytes, self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes_first() {
        let mut lru = Lru::new(3);
        for name in ["a", "b", "c"] {
            lru.put(name.to_string(), name, 1);
        }
        assert_eq!(lru.get("a"), Some(&"a"));
        lru.put("d".to_string(), "d", 1);
        assert_eq!(lru.get("b"), None);
        assert_eq!(lru.get("a"), Some(&"a"));
    }

    #[test]
    fn bytes_stay_within_the_capacity() {
        let mut lru = Lru::new(10);
        for size in [1, 9, 4, 11, 4, 4, 0, 10] {
            lru.put(size.to_string(), size, size);
            assert!(lru.bytes <= 10, "{lru:?}");
        }
        assert_eq!(lru.bytes, 10);
        lru.remove("10");
        assert_eq!(lru.bytes, 0);
    }

    #[test]
    fn a_value_that_is_replaced_or_too_large_does_not_count() {
        let mut lru = Lru::new(10);
        lru.put("a".to_string(), 1, 6);
        lru.put("a".to_string(), 2, 7);
        assert_eq!((lru.bytes, lru.get("a").copied()), (7, Some(2)));
        lru.put("a".to_string(), 3, 11);
        assert_eq!((lru.bytes, lru.get("a")), (0, None));
    }
}
