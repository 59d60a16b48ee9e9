//! Cache of the most recently used values, bounded in bytes.

/// Number of buckets. A bucket of thousands of blocks has some hundred entries.
const BUCKETS: usize = 64;

/// A least-recently-used cache with a maximum total size.
///
/// The hash of a key chooses a bucket, which is a list in the order of use. The crates for this are a larger part of a reader
/// in WebAssembly.
pub struct Lru<K, V> {
    buckets: [Vec<Entry<K, V>>; BUCKETS],
    /// Number of uses.
    uses: u64,
    bytes: usize,
    capacity: usize,
    hash: fn(&K) -> u64,
}

struct Entry<K, V> {
    key: K,
    value: V,
    bytes: usize,
    /// Number of uses before the last use of the entry.
    used: u64,
}

impl<K: Eq, V> Lru<K, V> {
    /// Creates an empty cache of at most `capacity` bytes. Keys of the same bucket are searched one by one.
    pub fn new(capacity: usize, hash: fn(&K) -> u64) -> Lru<K, V> {
        Lru {
            buckets: [const { Vec::new() }; BUCKETS],
            uses: 0,
            bytes: 0,
            capacity,
            hash,
        }
    }

    /// Returns the value of `key`, which becomes the most recently used value.
    pub fn get(&mut self, key: &K) -> Option<&V> {
        let entry = self.remove(key)?;
        Some(&self.add(entry).value)
    }

    /// Adds `value` with its size, and removes the least recently used values that no longer fit. A value larger than
    /// the capacity is not added.
    pub fn put(&mut self, key: K, value: V, bytes: usize) {
        self.remove(&key);
        if bytes > self.capacity {
            return;
        }
        while self.bytes > self.capacity - bytes {
            let used = |bucket: &&mut Vec<Entry<K, V>>| {
                bucket.first().map_or(u64::MAX, |entry| entry.used)
            };
            match self.buckets.iter_mut().min_by_key(used) {
                Some(bucket) if !bucket.is_empty() => self.bytes -= bucket.remove(0).bytes,
                _ => break,
            }
        }
        self.add(Entry {
            key,
            value,
            bytes,
            used: 0,
        });
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        *self = Lru::new(self.capacity, self.hash);
    }

    fn bucket(&mut self, key: &K) -> &mut Vec<Entry<K, V>> {
        &mut self.buckets[(self.hash)(key) as usize % BUCKETS]
    }

    fn remove(&mut self, key: &K) -> Option<Entry<K, V>> {
        let bucket = self.bucket(key);
        let at = bucket.iter().rposition(|entry| entry.key == *key)?;
        let entry = bucket.remove(at);
        self.bytes -= entry.bytes;
        Some(entry)
    }

    /// Adds an entry as the most recently used entry.
    fn add(&mut self, entry: Entry<K, V>) -> &Entry<K, V> {
        let used = self.uses;
        self.uses += 1;
        self.bytes += entry.bytes;
        let bucket = self.bucket(&entry.key);
        bucket.push(Entry { used, ..entry });
        &bucket[bucket.len() - 1]
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
    fn a_value_that_is_replaced_or_too_large_does_not_count() {
        let mut lru = lru(10);
        lru.put(1, 1, 6);
        lru.put(1, 2, 7);
        assert_eq!((lru.bytes, lru.get(&1).copied()), (7, Some(2)));
        lru.put(1, 3, 11);
        assert_eq!((lru.bytes, lru.get(&1)), (0, None));
    }

    #[test]
    fn random_calls_have_the_results_of_a_list() {
        let mut random = 1_u64;
        let mut next = |below: usize| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
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
                assert_eq!(
                    lru.get(&key),
                    expected.as_ref().map(|(_, value, _)| value),
                    "step {step}"
                );
                continue;
            }
            let bytes = next(9);
            found.map(|at| list.remove(at));
            list.push((key, step, bytes));
            while list.iter().map(|(_, _, bytes)| bytes).sum::<usize>() > 60 {
                list.remove(0);
            }
            lru.put(key, step, bytes);
            let count: usize = lru.buckets.iter().map(Vec::len).sum();
            assert_eq!(
                (count, lru.bytes),
                (list.len(), list.iter().map(|(_, _, bytes)| bytes).sum())
            );
        }
    }
}
