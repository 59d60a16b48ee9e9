//! Removal of files that no reader needs.
//!
//! Three kinds of manifests are kept: the current manifest, the last manifests before it, and recently replaced
//! manifests, which readers may still use. Shards of these manifests are kept. Recently sent shards are also kept,
//! because another run may be publishing them. Files whose names are not names of shards are ignored.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use futures_util::{StreamExt, TryStreamExt};
use shelfish::table::Manifest;

use super::{Options, PublishError, SUPERSEDED};
use crate::database::parse_manifest;
use crate::store::{Store, StoreError, StoreErrorKind, StoredFile};

/// Files that can be removed.
#[derive(Default)]
pub(super) struct Removal {
    /// Shards to remove.
    pub(super) shards: Vec<StoredFile>,
    /// Names of replaced manifests to remove.
    manifests: Vec<String>,
}

/// Finds the files that can be removed. `replaced` is a manifest, with its name, that is about to be replaced.
pub(super) async fn find(
    store: &Store,
    current: &Manifest,
    replaced: Option<(String, Manifest)>,
    options: &Options,
) -> Result<Removal, PublishError> {
    let now = SystemTime::now();
    let age = |entry: &StoredFile| now.duration_since(entry.modified).unwrap_or(Duration::ZERO);
    let mut past = store.list(SUPERSEDED).await?;
    past.retain(|entry| is_digits(&entry.name, ".json"));
    past.sort_by(|a, b| {
        b.modified
            .cmp(&a.modified)
            .then_with(|| a.name.cmp(&b.name))
    });
    let mut needed: BTreeSet<String> = names(current).collect();
    needed.extend(replaced.iter().flat_map(|(_, manifest)| names(manifest)));
    let mut removal = Removal::default();
    for (n, entry) in past.iter().enumerate() {
        let name = format!("{SUPERSEDED}/{}", entry.name);
        if n + 1 + usize::from(replaced.is_some()) >= options.keep as usize
            && age(entry) >= options.grace
        {
            removal.manifests.push(name);
            continue;
        }
        let bytes = store
            .read(&name)
            .await?
            .map(|file| file.bytes)
            .unwrap_or_default();
        // The shards of an unreadable manifest are unknown, so nothing may be removed.
        let (manifest, _) = parse_manifest(&bytes).map_err(|error| PublishError::Superseded {
            at: store.locate(&name),
            error,
        })?;
        needed.extend(names(&manifest));
    }
    removal.shards = store.list("").await?;
    removal.shards.retain(|entry| {
        shelfish::table::is_shard_name(&entry.name)
            && !needed.contains(&entry.name)
            && age(entry) >= options.grace
    });
    Ok(removal)
}

fn names(manifest: &Manifest) -> impl Iterator<Item = String> + '_ {
    manifest.shards().iter().map(|shard| shard.file.clone())
}

/// Returns whether a name consists of 32 hexadecimal digits and an ending.
fn is_digits(name: &str, ending: &str) -> bool {
    let digits = name.strip_suffix(ending);
    digits.is_some_and(|digits| {
        digits.len() == 32
            && digits
                .bytes()
                .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Removes the files if the manifest did not change since they were found.
pub(super) async fn remove(
    store: &Store,
    removal: &Removal,
    manifest: &[u8],
) -> Result<(), PublishError> {
    if removal.shards.is_empty() && removal.manifests.is_empty() {
        return Ok(());
    }
    let now = store.read(Manifest::FILE).await?;
    if now.is_none_or(|now| now.bytes != manifest) {
        return Err(StoreError {
            at: store.locate(Manifest::FILE),
            kind: StoreErrorKind::Conflict,
        }
        .into());
    }
    // Manifests are removed last, because they name the shards of an interrupted removal.
    let shards: Vec<String> = removal
        .shards
        .iter()
        .map(|entry| entry.name.clone())
        .collect();
    for names in [shards, removal.manifests.clone()] {
        let each = |name: String| async move { store.remove(&name).await };
        futures_util::stream::iter(names)
            .map(each)
            .buffer_unordered(4 * super::JOBS)
            .try_collect::<()>()
            .await
            .map_err(PublishError::Store)?;
    }
    Ok(())
}
