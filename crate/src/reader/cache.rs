//! The cache of a reader, which outlives the reader.

use super::requests::Boxed;
use crate::source::{MaybeSend, MaybeSync};

/// Time for which a cache keeps an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Until its space is needed for entries that were used more recently.
    Recent,
    /// Evicted last, because no other entry is of use without the manifest.
    Longest,
}

/// The entries of some names, in the same order; `None` if there is no entry.
pub type Entries<'a> = Boxed<'a, Vec<Option<Vec<u8>>>>;

/// A cache for the parts of one database, by name: IndexedDB in a browser, or a folder.
///
/// A cache may contain wrong bytes, because a reader checks them like the bytes of a source, and replaces them. Its keys must include the
/// location of the source, so that databases with equal file names do not share entries.
pub trait Cache: MaybeSend + MaybeSync + 'static {
    /// Returns the entries of the names. A shorter list has no entry for the remaining names. The future must complete.
    fn get(&self, names: Vec<String>) -> Entries<'_>;

    /// Writes a copy of `bytes`, soon. Replaces an entry of the same name.
    fn put(&self, name: &str, bytes: &[u8], keep: Keep);
}
