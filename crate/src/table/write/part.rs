//! Parts of a table, which are written apart, on machines that know nothing of each other, and become one table by a manifest.

use shakmaty::Chess;

use super::{WriteError, WriterOptions};
use crate::position::Position;
use crate::table::{ListedPage, Manifest, ManifestError, Record, Shard};

/// The shards of a range of keys, for the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Number of positions.
    pub positions: u64,
    /// The totals of its records, in the order of [`Record::TOTALS`].
    pub totals: Vec<u64>,
    /// Its shards in ascending order of keys.
    pub shards: Vec<Shard>,
}

impl Part {
    /// Joins parts, in ascending order of keys, to the manifest of one table.
    ///
    /// # Errors
    ///
    /// There are no shards, they do not fit together, or there are too many.
    pub fn join<R: Record>(
        parts: impl IntoIterator<Item = Part>,
        options: &WriterOptions,
    ) -> Result<Manifest, WriteError> {
        let (mut positions, mut shards) = (0u64, Vec::new());
        let names = R::TOTALS.iter().map(|name| (*name).to_string());
        let mut totals: Vec<(String, u64)> = names.map(|name| (name, 0)).collect();
        for part in parts {
            positions = positions.saturating_add(part.positions);
            for ((_, total), more) in totals.iter_mut().zip(part.totals) {
                *total = total.saturating_add(more);
            }
            shards.extend(part.shards);
        }
        match shards.iter().find_map(|shard: &Shard| shard.pages.first()) {
            None => return Err(WriteError::Empty),
            Some(page) if !page.separator.is_empty() => return Err(WriteError::Beginning),
            Some(_) => {}
        }
        limit_inline_pages(&mut shards, options.inline_page_bytes);
        let info = options.info.clone().into_iter().collect();
        let manifest = Manifest::new(positions, totals, info, shards)?;
        let found = manifest.to_bytes::<R>()?.len();
        if found > Manifest::MAX_BYTES {
            return Err(ManifestError::TooLarge { found }.into());
        }
        Ok(manifest)
    }
}

/// Keeps all inline pages if they have at most `limit` bytes together. Otherwise keeps only pages next to the initial position,
/// up to a fifth of the limit, because most games begin in them.
///
/// The pages that a part keeps include those that the whole table keeps of it.
pub(super) fn limit_inline_pages(shards: &mut [Shard], limit: usize) {
    let pages = shards.iter_mut().flat_map(|shard| &mut shard.pages);
    let pages: Vec<&mut ListedPage> = pages.collect();
    let sizes = pages.iter().map(|page| page.bytes);
    if sizes.fold(0, u64::saturating_add) <= limit as u64 {
        return;
    }
    let start = Position::from(&Chess::default()).key();
    let after = pages.partition_point(|page| page.separator[..] <= *start.as_bytes());
    let mut nearest: Vec<_> = pages.into_iter().enumerate().collect();
    nearest.sort_by_key(|(n, _)| (2 * n + 1).abs_diff(2 * after));
    let mut left = limit as u64 / 5;
    for (_, page) in nearest {
        let rest = left.checked_sub(page.bytes);
        left = rest.unwrap_or(0);
        if rest.is_none() {
            page.content.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::table::ContentHash;

    proptest! {
        #[test]
        fn parts_keep_the_inline_pages_that_their_table_keeps(
            sizes in vec(20..200usize, 1..24), cut in 0..24usize, limit in 0..6_000usize
        ) {
            let page = |(n, size): (usize, &usize)| ListedPage {
                separator: vec![n as u8],
                bytes: *size as u64,
                hash: ContentHash::default(),
                content: vec![1; *size],
                start: 0,
            };
            let pages: Vec<ListedPage> = sizes.iter().enumerate().map(page).collect();
            let shard = |pages: &[ListedPage]| Shard { pages: pages.to_vec(), ..Shard::default() };
            let (first, second) = pages.split_at(cut.min(pages.len()));
            let mut table = [shard(first), shard(second)];
            let mut parts = table.clone();
            limit_inline_pages(&mut table, limit);
            for part in &mut parts {
                limit_inline_pages(core::slice::from_mut(part), limit);
            }
            limit_inline_pages(&mut parts, limit);
            prop_assert_eq!(parts, table);
        }
    }
}
