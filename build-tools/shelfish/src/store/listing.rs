//! Lists of the files of a folder of a bucket, with limits.

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use object_store::Error;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;

use super::client::{Expected, extension};
use super::{Entry, ListingError};

/// Maximum time of a list.
const TIME: Duration = Duration::from_secs(600);
/// Number of files of a page.
const PAGE_FILES: usize = 1_000;
/// Maximum number of pages.
const MAX_PAGES: usize = 1_000;
/// Maximum memory of a list in bytes. A manifest of the maximum size names half as many files.
const MAX_BYTES: usize = 32 << 20;
/// Maximum length of the token of the next page, which becomes a part of the URL.
const MAX_TOKEN: usize = 4 << 10;

/// Access to the lists of a store page by page.
#[derive(Clone)]
pub(super) struct Pages(pub(super) Arc<dyn PaginatedListStore>);

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pages")
    }
}

/// Reason why a list could not be read.
pub(super) enum PageError {
    /// The store returned an error.
    Store(Error),
    /// The list exceeds a limit.
    Listing(ListingError),
}

impl Pages {
    /// Lists the files of a folder.
    pub(super) async fn list(&self, folder: &Path) -> Result<Vec<Entry>, PageError> {
        let list = tokio::time::timeout(TIME, self.read(folder));
        list.await
            .map_err(|_| PageError::Listing(ListingError::Slow(TIME)))?
    }

    async fn read(&self, folder: &Path) -> Result<Vec<Entry>, PageError> {
        let prefix = (*folder != Path::default()).then(|| format!("{folder}/"));
        let (mut entries, mut bytes) = (Vec::new(), 0);
        // Hashes with a random key, so that no store can choose names with equal hashes.
        let (hasher, mut names) = (RandomState::new(), HashSet::new());
        let mut page_token: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let options = PaginatedListOptions {
                delimiter: Some("/".into()),
                max_keys: Some(PAGE_FILES),
                page_token: page_token.clone(),
                extensions: extension(Expected::Page),
                ..PaginatedListOptions::default()
            };
            let page = self
                .0
                .list_paginated(prefix.as_deref(), options)
                .await
                .map_err(PageError::Store)?;
            for meta in page.result.objects {
                let Some(name) = meta.location.filename() else {
                    continue;
                };
                bytes += name.len() + size_of::<Entry>() + 2 * size_of::<u64>();
                if bytes > MAX_BYTES {
                    return Err(PageError::Listing(ListingError::Long { bytes: MAX_BYTES }));
                }
                if !names.insert(hasher.hash_one(name)) {
                    return Err(PageError::Listing(ListingError::Repeated));
                }
                entries.push(Entry {
                    name: name.to_owned(),
                    bytes: meta.size,
                    modified: meta.last_modified.into(),
                });
            }
            match page.page_token {
                None => return Ok(entries),
                Some(next) if next.is_empty() => return Ok(entries),
                Some(next) if next.len() > MAX_TOKEN || page_token.as_ref() == Some(&next) => {
                    return Err(PageError::Listing(ListingError::Token));
                }
                next => page_token = next,
            }
        }
        Err(PageError::Listing(ListingError::Pages { pages: MAX_PAGES }))
    }
}
