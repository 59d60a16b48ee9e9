//! Cuts an ascending sequence where its keys say so, so that a change in one place leaves the cuts elsewhere alone.

use twox_hash::XxHash64;

/// Cuts items into stretches of about a target weight.
///
/// Within a window of four fifths of the target, the cut comes where neighbours share the shortest beginning, which is
/// where a file of pawns changes or a structure does: there a game is least likely to cross it, and the separator is
/// shortest. Of several such places it is the one whose separator has the smallest hash. Which that is does not depend
/// on how many items there are elsewhere.
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
    /// Bytes that its key shares with the one before, and the hash of its separator: smaller is a better place to cut.
    rank: (usize, u64),
}

impl<T> Cutter<T> {
    /// Cuts into stretches of `target` on average, give or take two fifths.
    pub fn new(target: usize) -> Cutter<T> {
        let part = target.div_ceil(5);
        Cutter { least: 3 * part, most: 7 * part, items: Vec::new(), weight: 0, last: Vec::new() }
    }

    /// Takes the next item, whose key must be above all before; gives back a stretch when one is complete.
    pub fn push(&mut self, key: &[u8], weight: usize, item: T) -> Option<Vec<T>> {
        let shared = self.last.iter().zip(key).take_while(|(a, b)| a == b).count();
        let rank = (shared, XxHash64::oneshot(0, &key[..(shared + 1).min(key.len())]));
        self.last = key.to_vec();
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
