//! The transposition table.
//!
//! Threads share the table without locks: an entry is two words, and the first word is the key XOR the data, so that a
//! torn entry matches no position (Hyatt and Mann, "A lock-less transposition-table implementation for parallel search",
//! 2002).

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::packed::Packed;

/// The relation of a score to the true score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The true score is at most this.
    Upper = 1,
    /// The true score is at least this.
    Lower = 2,
    /// The score is exact.
    Exact = 3,
}

/// The result of a search of a position. Mates count from the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The best move, or the move that refuted the position.
    pub best: Packed,
    /// The score.
    pub score: i32,
    /// The evaluation without search; [`NONE`](crate::score::NONE) in check.
    pub eval: i32,
    /// Depth of the search, in plies; 0 for quiescence.
    pub depth: i32,
    /// The relation of `score` to the true score.
    pub bound: Bound,
    /// Whether the position was on a principal variation.
    pub pv: bool,
}

const WAYS: usize = 4;
/// Number of ages, in five bits.
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

impl Bound {
    /// Returns whether a score with this bound ends a node with the window from `alpha` to `beta`.
    pub fn cuts(self, score: i32, alpha: i32, beta: i32) -> bool {
        match self {
            Bound::Exact => true,
            Bound::Lower => score >= beta,
            Bound::Upper => score <= alpha,
        }
    }

    /// Returns whether a score with this bound excludes `eval` as the true score.
    pub fn corrects(self, score: i32, eval: i32) -> bool {
        self.cuts(score, eval - 1, eval + 1)
    }
}

impl Table {
    /// Creates a table of at most `bytes` bytes, but at least 64.
    pub fn new(bytes: usize) -> Table {
        let count = (bytes / size_of::<Bucket>()).max(1);
        let mut buckets = Vec::with_capacity(count);
        #[cfg(target_os = "linux")]
        advise_huge_pages(buckets.spare_capacity_mut());
        buckets.resize_with(count, Bucket::default);
        Table {
            buckets: buckets.into(),
            age: AtomicU8::new(0),
        }
    }

    /// Removes all entries.
    pub fn clear(&self) {
        for slot in self.buckets.iter().flat_map(|bucket| &bucket.0) {
            slot.check.store(0, Relaxed);
            slot.data.store(0, Relaxed);
        }
        self.age.store(0, Relaxed);
    }

    /// Begins a new search: entries of earlier searches are replaced first. Called once per search, not once per thread,
    /// because ages repeat after 32 searches.
    pub fn next_search(&self) {
        self.age.store((self.age.load(Relaxed) + 1) % AGES, Relaxed);
    }

    /// Returns the entry of a position.
    pub fn get(&self, key: u64) -> Option<Entry> {
        self.bucket(key).0.iter().find_map(|slot| {
            let data = slot.data.load(Relaxed);
            (data != 0 && slot.check.load(Relaxed) ^ data == key).then(|| unpack(data))
        })
    }

    /// Stores an entry. It replaces the entry of the same position, or else the least useful entry of the bucket.
    pub fn put(&self, key: u64, mut entry: Entry) {
        let age = self.age.load(Relaxed);
        let mut replaced: Option<(&Slot, i32)> = None;
        for slot in &self.bucket(key).0 {
            let data = slot.data.load(Relaxed);
            if data == 0 {
                replaced = replaced
                    .filter(|(_, value)| *value == i32::MIN)
                    .or(Some((slot, i32::MIN)));
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
                replaced = Some((slot, i32::MIN));
                break;
            }
            let value = old.depth - 4 * i32::from((age + AGES - age_of(data)) % AGES);
            if replaced.is_none_or(|(_, least)| value < least) {
                replaced = Some((slot, value));
            }
        }
        if let Some((slot, _)) = replaced {
            let data = pack(entry, age);
            slot.data.store(data, Relaxed);
            slot.check.store(key ^ data, Relaxed);
        }
    }

    /// Returns how full the table is with entries of this search, in thousandths, estimated from a sample.
    pub fn hashfull(&self) -> usize {
        let age = self.age.load(Relaxed);
        let sample = &self.buckets[..self.buckets.len().min(250)];
        let slots = sample.iter().flat_map(|bucket| &bucket.0);
        let used = slots
            .map(|slot| slot.data.load(Relaxed))
            .filter(|&data| data != 0 && age_of(data) == age)
            .count();
        used * 1_000 / (sample.len() * WAYS)
    }

    /// Loads the bucket of a position into the cache of the processor, for a later [`get`](Table::get).
    #[inline]
    #[allow(
        unsafe_code,
        reason = "no safe function prefetches; the search is faster by a tenth"
    )]
    pub fn prefetch(&self, key: u64) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let bucket: *const Bucket = self.bucket(key);
            // SAFETY: a prefetch reads and writes nothing that a program can observe.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(bucket.cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = key;
    }

    fn bucket(&self, key: u64) -> &Bucket {
        let index = (u128::from(key) * self.buckets.len() as u128) >> 64;
        &self.buckets[index as usize]
    }
}

/// Asks the system to use large pages for memory that was not written yet. The addresses of a table miss the cache of page
/// addresses (TLB) at almost every access with pages of 4 KiB. The search is faster by a fifth with pages of 2 MiB.
#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "no safe function advises the system about memory; the search is faster by a fifth"
)]
fn advise_huge_pages<T>(memory: &mut [std::mem::MaybeUninit<T>]) {
    use rustix::mm::{Advice, madvise};
    const PAGE: usize = 4 << 10;
    let start = memory.as_mut_ptr().cast::<u8>();
    let skipped = start.align_offset(PAGE);
    let Some(length) = size_of_val(memory).checked_sub(skipped) else {
        return;
    };
    // SAFETY: the range is inside of the memory, and the advice does not change its content.
    let advised = unsafe {
        madvise(
            start.wrapping_add(skipped).cast(),
            length - length % PAGE,
            Advice::LinuxHugepage,
        )
    };
    // The table works without large pages, too.
    let _ = advised;
}

/// Packs an entry. Bits 0 to 15: move; 16 to 31: score; 32 to 47: evaluation; 48 to 55: depth; 56 and 57: bound; 58:
/// principal variation; 59 to 63: age. The result is never zero, because every entry has a bound.
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
        Entry {
            best: Packed(0x0b1c),
            score: -17,
            eval: 250,
            depth,
            bound: Bound::Lower,
            pv: false,
        }
    }

    #[test]
    fn an_entry_is_returned_unchanged() {
        let table = Table::new(1 << 16);
        for (key, bound) in [
            (1, Bound::Upper),
            (u64::MAX, Bound::Lower),
            (1 << 40, Bound::Exact),
        ] {
            let entry = Entry {
                score: -MATE,
                eval: NONE,
                bound,
                pv: true,
                ..entry(127)
            };
            table.put(key, entry);
            assert_eq!(table.get(key), Some(entry));
        }
        assert_eq!(table.get(2), None);
    }

    #[test]
    fn a_full_table_keeps_its_deepest_entry() {
        let table = Table::new(64);
        for depth in 1..=20 {
            table.put(depth as u64, entry(depth));
        }
        let kept: Vec<u64> = (1..=20).filter(|&key| table.get(key).is_some()).collect();
        assert_eq!(kept.len(), WAYS);
        assert!(kept.contains(&20));
    }

    #[test]
    fn entries_of_old_searches_are_replaced() {
        let table = Table::new(64);
        (1..=4).for_each(|key| table.put(key, entry(30)));
        (0..10).for_each(|_| table.next_search());
        (11..=14).for_each(|key| table.put(key, entry(1)));
        assert!((11..=14).all(|key| table.get(key).is_some()));
    }
}
