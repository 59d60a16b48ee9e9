//! Cache of the most recently used values, bounded in bytes.

use core::fmt;

/// A least-recently-used cache with a maximum total size.
///
/// Slots are linked twice: in the order of their use, and with the other slots of their bucket. Slot 0 has no value. It is
/// the end of all lists. The crates for this are a larger part of a reader in WebAssembly.
pub struct Lru<K, V> {
    slots: Vec<Slot<K, V>>,
    /// First slot of each bucket; 0 if the bucket is empty. The number of buckets is a power of two.
    buckets: Vec<usize>,
    /// First slot without a value.
    free: usize,
    /// Number of values.
    count: usize,
    bytes: usize,
    capacity: usize,
    hash: fn(&K) -> u64,
}

struct Slot<K, V> {
    entry: Option<(K, V)>,
    bytes: usize,
    hash: u64,
    /// Next slot of the bucket, or next free slot.
    next: usize,
    newer: usize,
    older: usize,
}

impl<K, V> Slot<K, V> {
    fn empty() -> Slot<K, V> {
        Slot { entry: None, bytes: 0, hash: 0, next: 0, newer: 0, older: 0 }
    }
}

impl<K: Eq, V> Lru<K, V> {
    /// Creates an empty cache of at most `capacity` bytes. Keys of the same `hash` are searched one by one.
    pub fn new(capacity: usize, hash: fn(&K) -> u64) -> Lru<K, V> {
        Lru { slots: vec![Slot::empty()], buckets: vec![0], free: 0, count: 0, bytes: 0, capacity, hash }
    }

    /// Returns the value of `key`, which becomes the most recently used value.
    pub fn get(&mut self, key: &K) -> Option<&V> {
        let at = self.find(key, (self.hash)(key));
        if at == 0 {
            return None;
        }
        self.unlink(at);
        self.link(at);
        self.slots[at].entry.as_ref().map(|(_, value)| value)
    }

    /// Adds `value` with its size, and removes the least recently used values that no longer fit. A value larger than
    /// the capacity is not added.
    pub fn put(&mut self, key: K, value: V, bytes: usize) {
        let hash = (self.hash)(&key);
        self.remove_at(self.find(&key, hash));
        if bytes > self.capacity {
            return;
        }
        while self.bytes > self.capacity - bytes {
            // The value that was used longest ago.
            self.remove_at(self.slots[0].newer);
        }
        if self.count >= self.buckets.len() {
            self.grow();
        }
        let at = match self.free {
            0 => {
                self.slots.push(Slot::empty());
                self.slots.len() - 1
            }
            at => {
                self.free = self.slots[at].next;
                at
            }
        };
        let bucket = self.bucket(hash);
        self.slots[at] =
            Slot { entry: Some((key, value)), bytes, hash, next: self.buckets[bucket], newer: 0, older: 0 };
        self.buckets[bucket] = at;
        self.link(at);
        self.count += 1;
        self.bytes += bytes;
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        *self = Lru::new(self.capacity, self.hash);
    }

    fn bucket(&self, hash: u64) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }

    /// Returns the slot of a key, or 0.
    fn find(&self, key: &K, hash: u64) -> usize {
        let mut at = self.buckets[self.bucket(hash)];
        while at != 0 && self.slots[at].entry.as_ref().is_none_or(|(other, _)| other != key) {
            at = self.slots[at].next;
        }
        at
    }

    /// Makes a slot the most recently used slot.
    fn link(&mut self, at: usize) {
        let newest = self.slots[0].older;
        (self.slots[at].newer, self.slots[at].older) = (0, newest);
        self.slots[newest].newer = at;
        self.slots[0].older = at;
    }

    fn unlink(&mut self, at: usize) {
        let Slot { newer, older, .. } = self.slots[at];
        self.slots[newer].older = older;
        self.slots[older].newer = newer;
    }

    /// Removes the value of a slot, unless the slot is 0.
    fn remove_at(&mut self, at: usize) {
        if at == 0 {
            return;
        }
        self.unlink(at);
        let bucket = self.bucket(self.slots[at].hash);
        let after = self.slots[at].next;
        let mut before = self.buckets[bucket];
        if before == at {
            self.buckets[bucket] = after;
        } else {
            while self.slots[before].next != at {
                before = self.slots[before].next;
            }
            self.slots[before].next = after;
        }
        self.count -= 1;
        self.bytes -= self.slots[at].bytes;
        self.slots[at] = Slot { next: self.free, ..Slot::empty() };
        self.free = at;
    }

    /// Doubles the number of buckets.
    fn grow(&mut self) {
        self.buckets = vec![0; 2 * self.buckets.len()];
        for at in 1..self.slots.len() {
            if self.slots[at].entry.is_some() {
                let bucket = self.bucket(self.slots[at].hash);
                self.slots[at].next = self.buckets[bucket];
                self.buckets[bucket] = at;
            }
        }
    }
}

impl<K, V> fmt::Debug for Lru<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lru({} values, {} of {} bytes)", self.count, self.bytes, self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lru(capacity: usize) -> Lru<usize, usize> {
        // All keys are in few buckets.
        Lru::new(capacity, |key| *key as u64 % 3)
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let mut lru = lru(3);
        for key in [1, 2, 3] {
            lru.put(key, key, 1);
        }
        assert_eq!(lru.get(&1), Some(&1));
        lru.put(4, 4, 1);
        assert_eq!(lru.get(&2), None);
        assert_eq!(lru.get(&1), Some(&1));
    }

    #[test]
    fn bytes_stay_within_the_capacity() {
        let mut lru = lru(10);
        for size in [1, 9, 4, 11, 4, 4, 0, 10] {
            lru.put(size, size, size);
            assert!(lru.bytes <= 10, "{lru:?}");
        }
        assert_eq!(lru.bytes, 10);
        lru.clear();
        assert_eq!((lru.bytes, lru.get(&10)), (0, None));
    }

    #[test]
    fn a_value_that_is_replaced_or_too_large_does_not_count() {
        let mut lru = lru(10);
        lru.put(1, 1, 6);
        lru.put(1, 2, 7);
        assert_eq!((lru.bytes, lru.get(&1).copied()), (7, Some(2)));
        lru.put(1, 3, 11);
        assert_eq!((lru.bytes, lru.get(&1)), (0, None));
    }

    #[test]
    fn any_order_of_calls_has_the_results_of_a_list() {
        let mut random = 1_u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        let mut lru = lru(60);
        // The most recently used value is last.
        let mut list: Vec<(usize, usize, usize)> = Vec::new();
        for step in 0..20_000 {
            let key = next(40);
            let found = list.iter().position(|(other, _, _)| *other == key);
            if next(3) > 0 {
                let expected = found.map(|at| list.remove(at));
                list.extend(expected);
                assert_eq!(lru.get(&key), expected.as_ref().map(|(_, value, _)| value), "step {step}");
                continue;
            }
            let bytes = next(9);
            found.map(|at| list.remove(at));
            list.push((key, step, bytes));
            while list.iter().map(|(_, _, bytes)| bytes).sum::<usize>() > 60 {
                list.remove(0);
            }
            lru.put(key, step, bytes);
            assert_eq!((lru.count, lru.bytes), (list.len(), list.iter().map(|(_, _, bytes)| bytes).sum()));
        }
        assert!(lru.slots.len() < 60, "free slots are used again: {}", lru.slots.len());
    }
}
