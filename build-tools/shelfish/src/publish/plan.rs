//! Shards that must be sent because the store lacks them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

use futures_util::{StreamExt, TryStreamExt};
use shelfish::source::file::open;
use shelfish::table::{Manifest, Shard};

use super::{LocalErrorKind, PublishError};
use crate::database::{OpenError, parse_manifest};
use crate::store::{Store, StoredFile};

/// Age from which shards that the current manifest does not name are sent again, because another run may be removing
/// them.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum size of a site on GitHub Pages, in bytes.
const PAGES_SITE: u64 = 1_000_000_000;
/// Maximum size of a file on GitHub Pages, in bytes.
const PAGES_FILE: u64 = 100_000_000;

/// Local database.
pub(super) struct Local {
    pub(super) manifest: Manifest,
    /// Bytes of the manifest file.
    pub(super) bytes: Vec<u8>,
}

impl Local {
    /// Reads the manifest and checks that all shards exist.
    pub(super) fn read(dir: &Path) -> Result<Local, PublishError> {
        let path = dir.join(Manifest::FILE);
        let local_error = |kind| PublishError::Local {
            path: path.clone(),
            kind,
        };
        let mut bytes = Vec::new();
        let read = open(&path).and_then(|file| {
            file.take(Manifest::MAX_BYTES as u64 + 1)
                .read_to_end(&mut bytes)
        });
        read.map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                let folder = dir.display().to_string();
                PublishError::Open(Box::new(OpenError::Missing {
                    folder,
                    status: None,
                }))
            }
            _ => local_error(LocalErrorKind::Io(error)),
        })?;
        let (manifest, _) =
            parse_manifest(&bytes).map_err(|error| local_error(LocalErrorKind::Manifest(error)))?;
        for shard in manifest.shards() {
            let path = dir.join(&shard.file);
            let local_error = |kind| PublishError::Local {
                path: path.clone(),
                kind,
            };
            let found = fs::metadata(&path)
                .map_err(|error| local_error(LocalErrorKind::Io(error)))?
                .len();
            if found != shard.bytes {
                return Err(local_error(LocalErrorKind::Length {
                    expected: shard.bytes,
                    found,
                }));
            }
        }
        Ok(Local { manifest, bytes })
    }
}

/// Plan of a publication.
pub(super) struct Plan {
    /// Shards that are missing or damaged in the store.
    pub(super) send: Vec<Shard>,
    /// Files of the store by name.
    there: BTreeMap<String, StoredFile>,
}

/// Compares the local database with the store by name, length, and the hash that was sent with the content.
pub(super) async fn plan(
    store: &Store,
    local: &Local,
    old: Option<&Manifest>,
) -> Result<Plan, PublishError> {
    let there: BTreeMap<String, StoredFile> = store
        .list("")
        .await?
        .into_iter()
        .map(|entry| (entry.name.clone(), entry))
        .collect();
    let is_live =
        |file: &str| old.is_some_and(|old| old.shards().iter().any(|shard| shard.file == file));
    let is_at_hand = |shard: &Shard| {
        there.get(&shard.file).is_some_and(|entry| {
            let age = SystemTime::now()
                .duration_since(entry.modified)
                .unwrap_or_default();
            entry.bytes == shard.bytes && (age < FRESH || is_live(&shard.file))
        })
    };
    let (maybe, mut send): (Vec<Shard>, Vec<Shard>) = local
        .manifest
        .shards()
        .iter()
        .cloned()
        .partition(is_at_hand);
    let ask = |shard: Shard| async {
        Ok::<_, PublishError>((!store.holds(&shard.file).await?).then_some(shard))
    };
    let wrong: Vec<Option<Shard>> = futures_util::stream::iter(maybe)
        .map(ask)
        .buffered(4 * super::JOBS)
        .try_collect()
        .await?;
    send.extend(wrong.into_iter().flatten());
    Ok(Plan { send, there })
}

impl Plan {
    /// Returns the number of bytes to send.
    pub(super) fn bytes(&self) -> u64 {
        self.send.iter().map(|shard| shard.bytes).sum()
    }

    /// Checks the limits of GitHub Pages, including other files in the folder.
    pub(super) fn check_pages(&self, local: &Local) -> Result<(), PublishError> {
        let shards = local.manifest.shards();
        if let Some(shard) = shards.iter().find(|shard| shard.bytes > PAGES_FILE) {
            return Err(PublishError::PagesFile {
                shard: shard.file.clone(),
                found: shard.bytes,
                most: PAGES_FILE,
            });
        }
        let is_ours =
            |name: &str| name == Manifest::FILE || shards.iter().any(|shard| shard.file == name);
        let others: u64 = self
            .there
            .values()
            .filter(|entry| !is_ours(&entry.name))
            .map(|entry| entry.bytes)
            .fold(0, u64::saturating_add);
        let sum = others.saturating_add(local.manifest.bytes() + local.bytes.len() as u64);
        if sum > PAGES_SITE {
            return Err(PublishError::PagesSite {
                found: sum,
                most: PAGES_SITE,
            });
        }
        Ok(())
    }
}
