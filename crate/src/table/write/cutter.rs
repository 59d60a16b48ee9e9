//! Content-defined chunking: cuts an ascending sequence where its keys say so, so that a change in one place does not move
//! the cuts elsewhere.

use twox_hash::XxHash64;

/// Cuts a sequence of items into groups of about a target weight.
///
/// Each cut is within a window of four fifths of the target, between the neighbouring keys with the shortest common
/// prefix. The leaf of the order or the pawn structure changes there, so that games seldom cross the cut, and the separator is shortest. Ties
/// are resolved by the smallest hash of the separator, which does not depend on items elsewhere.
#[derive(Debug)]
pub struct Cutter<T> {
    least: usize,
    most: usize,
    items: Vec<Item<T>>,
    weight: usize,
    /// The last key.
    last: Vec<u8>,
}

#[derive(Debug)]
struct Item<T> {
    item: T,
    weight: usize,
    /// The length of the prefix that its key shares with the one before, and the hash of its separator. The cut comes before
    /// the item of the smallest rank.
    rank: (usize, u64),
}

impl<T> Cutter<T> {
    /// Creates a cutter into groups whose weight is within two fifths of `target`.
    pub fn new(target: usize) -> Cutter<T> {
        let part = target.div_ceil(5);
        Cutter {
            least: 3 * part,
            most: 7 * part,
            items: Vec::new(),
            weight: 0,
            last: Vec::new(),
        }
    }

    /// Takes the next item, whose key must be above all before; returns a group when one is complete.
    pub fn push(&mut self, key: &[u8], weight: usize, item: T) -> Option<Vec<T>> {
        let shared = self
            .last
            .iter()
            .zip(key)
            .take_while(|(a, b)| a == b)
            .count();
        let rank = (
            shared,
            XxHash64::oneshot(0, &key[..(shared + 1).min(key.len())]),
        );
        self.last.clear();
        self.last.extend_from_slice(key);
        self.items.push(Item { item, weight, rank });
        self.weight += weight;
        if self.weight <= self.most || self.items.len() < 2 {
            return None;
        }
        let mut before = 0;
        let window = self.items.iter().enumerate().filter(|(n, item)| {
            let at = before;
            before += item.weight;
            *n > 0 && at >= self.least
        });
        // An item that outweighs the window becomes a group by itself.
        let last = self.items.len() - 1;
        let cut = window
            .min_by_key(|(n, item)| (item.rank, *n))
            .map_or(last, |(n, _)| n);
        let rest = self.items.split_off(cut);
        let done = core::mem::replace(&mut self.items, rest);
        self.weight = self.items.iter().map(|item| item.weight).sum();
        Some(done.into_iter().map(|item| item.item).collect())
    }

    /// Returns the last group, if any items are left.
    pub fn finish(self) -> Option<Vec<T>> {
        let rest: Vec<T> = self.items.into_iter().map(|item| item.item).collect();
        (!rest.is_empty()).then_some(rest)
    }
}
