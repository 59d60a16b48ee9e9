//! Cuts an ascending sequence where its keys say so, so that a change in one place leaves the cuts elsewhere alone.

use twox_hash::XxHash64;

use crate::position::PAWN_BYTES;

/// Cuts items into stretches of about a target weight.
///
/// Within a window of four fifths of the target, the cut comes before the item whose pawn structure has the smallest
/// hash, of those that begin a new pawn structure; where none does, before the key with the smallest hash. Which that
/// is does not depend on how many items there are elsewhere.
#[derive(Debug)]
pub struct Cutter<T> {
    least: usize,
    most: usize,
    items: Vec<Item<T>>,
    weight: usize,
    pawns: Vec<u8>,
}

#[derive(Debug)]
struct Item<T> {
    item: T,
    weight: usize,
    /// Smaller is a better place to cut before.
    rank: (bool, u64),
}

impl<T> Cutter<T> {
    /// Cuts into stretches of `target` on average, give or take two fifths.
    pub fn new(target: usize) -> Cutter<T> {
        let part = target.div_ceil(5);
        Cutter { least: 3 * part, most: 7 * part, items: Vec::new(), weight: 0, pawns: Vec::new() }
    }

    /// Takes the next item, whose key must be above all before; gives back a stretch when one is complete.
    pub fn push(&mut self, key: &[u8], weight: usize, item: T) -> Option<Vec<T>> {
        let pawns = &key[..PAWN_BYTES.min(key.len())];
        let same_pawns = self.pawns == pawns;
        let rank = (same_pawns, XxHash64::oneshot(0, if same_pawns { key } else { pawns }));
        if !same_pawns {
            self.pawns = pawns.to_vec();
        }
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
        // Where one item alone outweighs the window, it ends up by itself.
        let last = self.items.len() - 1;
        let cut = window.min_by_key(|(n, item)| (item.rank, *n)).map_or(last, |(n, _)| n);
        let rest = self.items.split_off(cut);
        let done = core::mem::replace(&mut self.items, rest);
        self.weight = self.items.iter().map(|item| item.weight).sum();
        Some(done.into_iter().map(|item| item.item).collect())
    }

    /// The last stretch, if anything is left.
    pub fn finish(self) -> Option<Vec<T>> {
        let rest: Vec<T> = self.items.into_iter().map(|item| item.item).collect();
        (!rest.is_empty()).then_some(rest)
    }
}
