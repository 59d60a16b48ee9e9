//! The transposition table: what was found of positions, for whoever meets them again.
//!
//! Bounded: its size is given, and a position that is not in it is merely searched. Threads share it without locks: an
//! entry is two words, and its key is stored combined with its data, so that a torn entry is one of no position
//! (Hyatt and Mann, "A lock-less transposition-table implementation for parallel search", 2002).

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::packed::Packed;

/// What a score is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The score is at most this.
    Upper = 1,
    /// The score is at least this.
    Lower = 2,
    /// The score is this.
    Exact = 3,
}

/// What is known of a position. Mates count from the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The best move, or one that refuted the position.
    pub best: Packed,
    /// The score.
    pub score: i32,
    /// The evaluation without search, [`NONE`](crate::score::NONE) in check.
    pub eval: i32,
    /// How deep the search was; 0 for quiescence.
    pub depth: i32,
    /// What the score is worth.
    pub bound: Bound,
    /// Whether a principal variation went through here.
    pub pv: bool,
}

const WAYS: usize = 4;
/// Ages are counted in five bits.
const AGES: u8 = 32;

#[derive(Default)]
struct Slot {
    check: AtomicU64,
    data: AtomicU64,
}

#[derive(Default)]
#[repr(align(64))]
struct Bucket([Slot; WAYS]);

/// The table.
pub struct Table {
    buckets: Box<[Bucket]>,
    age: AtomicU8,
}

impl Table {
    /// A table of at most so many bytes, at least one bucket of 64.
    pub fn new(bytes: usize) -> Table {
        let count = (bytes / size_of::<Bucket>()).max(1);
        Table { buckets: (0..count).map(|_| Bucket::default()).collect(), age: AtomicU8::new(0) }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        for slot in self.buckets.iter().flat_map(|bucket| &bucket.0) {
            slot.check.store(0, Relaxed);
            slot.data.store(0, Relaxed);
        }
        self.age.store(0, Relaxed);
    }

    /// Entries of searches before this one are replaced first.
    pub fn next_search(&self) {
        self.age.store((self.age.load(Relaxed) + 1) % AGES, Relaxed);
    }

    /// What is known of a position.
    pub fn get(&self, key: u64) -> Option<Entry> {
        self.bucket(key).0.iter().find_map(|slot| {
            let data = slot.data.load(Relaxed);
            (data != 0 && slot.check.load(Relaxed) ^ data == key).then(|| unpack(data))
        })
    }

    /// Notes what was found. The place is that of the same position, or of what is least worth keeping.
    pub fn put(&self, key: u64, mut entry: Entry) {
        let age = self.age.load(Relaxed);
        let mut place: Option<(&Slot, i32)> = None;
        for slot in &self.bucket(key).0 {
            let data = slot.data.load(Relaxed);
            if data == 0 {
                place = place.filter(|(_, worth)| *worth == i32::MIN).or(Some((slot, i32::MIN)));
                continue;
            }
            let old = unpack(data);
            if slot.check.load(Relaxed) ^ data == key {
                if !entry.best.is_some() {
                    entry.best = old.best;
                }
                let worse = entry.depth + 4 < old.depth + if entry.pv { 2 } else { 0 };
                if worse && entry.bound != Bound::Exact && age_of(data) == age {
                    return;
                }
                place = Some((slot, i32::MIN));
                break;
            }
            let worth = old.depth - 4 * i32::from((age + AGES - age_of(data)) % AGES);
            if place.is_none_or(|(_, least)| worth < least) {
                place = Some((slot, worth));
            }
        }
        if let Some((slot, _)) = place {
            let data = pack(entry, age);
            slot.data.store(data, Relaxed);
            slot.check.store(key ^ data, Relaxed);
        }
    }

    /// How full the table is with entries of this search, in thousandths, by a sample.
    pub fn full(&self) -> usize {
        let age = self.age.load(Relaxed);
        let sample = &self.buckets[..self.buckets.len().min(250)];
        let slots = sample.iter().flat_map(|bucket| &bucket.0);
        let used = slots.map(|slot| slot.data.load(Relaxed)).filter(|&data| data != 0 && age_of(data) == age).count();
        used * 1_000 / (sample.len() * WAYS)
    }

    fn bucket(&self, key: u64) -> &Bucket {
        let index = (u128::from(key) * self.buckets.len() as u128) >> 64;
        &self.buckets[index as usize]
    }
}

/// Bits 0 to 15 the move, 16 to 31 the score, 32 to 47 the evaluation, 48 to 55 the depth, 56 and 57 the bound, 58 the
/// principal variation, 59 to 63 the age. Never zero, for every entry has a bound.
fn pack(entry: Entry, age: u8) -> u64 {
    u64::from(entry.best.0)
        | u64::from(entry.score as i16 as u16) << 16
        | u64::from(entry.eval as i16 as u16) << 32
        | (entry.depth.clamp(0, 255) as u64) << 48
        | (entry.bound as u64) << 56
        | u64::from(entry.pv) << 58
        | u64::from(age) << 59
}

fn unpack(data: u64) -> Entry {
    Entry {
        best: Packed(data as u16),
        score: i32::from((data >> 16) as i16),
        eval: i32::from((data >> 32) as i16),
        depth: i32::from((data >> 48) as u8),
        bound: match data >> 56 & 3 {
            1 => Bound::Upper,
            2 => Bound::Lower,
            _ => Bound::Exact,
        },
        pv: data >> 58 & 1 == 1,
    }
}

fn age_of(data: u64) -> u8 {
    (data >> 59) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{MATE, NONE};

    fn entry(depth: i32) -> Entry {
        Entry { best: Packed(0x0b1c), score: -17, eval: 250, depth, bound: Bound::Lower, pv: false }
    }

    #[test]
    fn an_entry_comes_back_as_it_was() {
        let table = Table::new(1 << 16);
        for (key, bound) in [(1, Bound::Upper), (u64::MAX, Bound::Lower), (1 << 40, Bound::Exact)] {
            let entry = Entry { score: -MATE, eval: NONE, bound, pv: true, ..entry(127) };
            table.put(key, entry);
            assert_eq!(table.get(key), Some(entry));
        }
        assert_eq!(table.get(2), None);
    }

    #[test]
    fn a_table_keeps_within_its_size_and_its_deepest_entries() {
        let table = Table::new(64);
        for depth in 1..=20 {
            table.put(depth as u64, entry(depth));
        }
        let kept: Vec<u64> = (1..=20).filter(|&key| table.get(key).is_some()).collect();
        assert_eq!(kept.len(), WAYS);
        assert!(kept.contains(&20));
    }

    #[test]
    fn entries_of_old_searches_make_room() {
        let table = Table::new(64);
        (1..=4).for_each(|key| table.put(key, entry(30)));
        (0..10).for_each(|_| table.next_search());
        (11..=14).for_each(|key| table.put(key, entry(1)));
        assert!((11..=14).all(|key| table.get(key).is_some()));
    }

    #[test]
    fn a_shallow_search_does_not_replace_a_deep_one_of_the_same_position() {
        let table = Table::new(64);
        table.put(7, entry(20));
        table.put(7, entry(3));
        assert_eq!(table.get(7).map(|entry| entry.depth), Some(20));
        table.put(7, Entry { bound: Bound::Exact, ..entry(3) });
        assert_eq!(table.get(7).map(|entry| entry.depth), Some(3));
    }

    #[test]
    fn the_best_move_outlives_a_search_that_found_none() {
        let table = Table::new(64);
        table.put(7, entry(3));
        table.put(7, Entry { best: Packed::NONE, ..entry(5) });
        assert_eq!(table.get(7), Some(entry(5)));
    }

    #[test]
    fn a_clear_table_knows_nothing() {
        let table = Table::new(1 << 12);
        (0..1_000).for_each(|key| table.put(key << 54, entry(9)));
        assert!(table.full() > 900);
        table.clear();
        assert_eq!((table.full(), table.get(0)), (0, None));
    }
}
