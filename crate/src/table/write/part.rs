//! Parts of a table, which are written apart, on machines that know nothing of each other, and become one table by a manifest.

use super::{WriteError, WriterOptions};
use crate::table::{Manifest, ManifestError, Record, Shard};

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
        let pages = shards.iter().map(Shard::page_bytes);
        if pages.fold(0, u64::saturating_add) > options.inline_page_bytes as u64 {
            shards
                .iter_mut()
                .for_each(|shard| shard.inline_pages.clear());
        }
        let info = options.info.clone().into_iter().collect();
        let manifest = Manifest::new(positions, totals, info, shards)?;
        let found = manifest.to_bytes::<R>()?.len();
        if found > Manifest::MAX_BYTES {
            return Err(ManifestError::TooLarge { found }.into());
        }
        Ok(manifest)
    }
}
