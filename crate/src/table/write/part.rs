//! Parts of a table, which are written apart, on machines that know nothing of each other, and become one table by a manifest.

use super::{PartsError, WriteError, WriterOptions};
use crate::table::manifest::WrittenShard;
use crate::table::{Manifest, ManifestError, Record};

/// The shards of a range of keys, for the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Number of positions.
    pub positions: u64,
    /// The totals of its records, in the order of [`Record::TOTALS`].
    pub totals: Vec<u64>,
    /// Its shards in ascending order of keys.
    pub shards: Vec<WrittenShard>,
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
        let (mut positions, mut totals, mut shards) =
            (0u64, vec![0u64; R::TOTALS.len()], Vec::new());
        for part in parts {
            if part.totals.len() != totals.len() {
                let (found, expected) = (part.totals.len(), totals.len());
                return Err(PartsError::Totals { expected, found }.into());
            }
            let sum = positions.checked_add(part.positions);
            positions = sum.ok_or(PartsError::TooMany)?;
            for (total, more) in totals.iter_mut().zip(part.totals) {
                *total = total.checked_add(more).ok_or(PartsError::TooMany)?;
            }
            shards.extend(part.shards);
        }
        let mut pages = shards.iter().flat_map(|shard| &shard.pages);
        if let Some(page) = pages.next().filter(|page| !page.separator.is_empty()) {
            let found = page.separator.clone();
            return Err(PartsError::Beginning { found }.into());
        }
        if shards.iter().all(|shard| shard.pages.is_empty()) {
            return Err(WriteError::Empty);
        }
        let page_bytes = |shard: &WrittenShard| {
            shard
                .pages
                .iter()
                .fold(0u64, |sum, page| sum.saturating_add(page.bytes))
        };
        let inline = shards
            .iter()
            .fold(0u64, |sum, shard| sum.saturating_add(page_bytes(shard)));
        if inline > options.inline_page_bytes as u64 {
            shards
                .iter_mut()
                .for_each(|shard| shard.inline_pages.clear());
        } else if let Some(shard) = shards
            .iter()
            .find(|shard| shard.inline_pages.len() as u64 != page_bytes(shard))
        {
            let (expected, found) = (page_bytes(shard), shard.inline_pages.len());
            let shard = shard.file.clone();
            return Err(PartsError::InlinePages {
                shard,
                expected,
                found,
            }
            .into());
        }
        let totals = R::TOTALS
            .iter()
            .map(|name| (*name).to_string())
            .zip(totals)
            .collect();
        let manifest = Manifest::new(
            positions,
            totals,
            options.info.clone().into_iter().collect(),
            shards,
        )?;
        let found = manifest.to_bytes::<R>()?.len();
        if found > Manifest::MAX_BYTES {
            return Err(ManifestError::TooLarge { found }.into());
        }
        Ok(manifest)
    }
}
