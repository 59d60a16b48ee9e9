//! A chunk is a page or a block as the index refers to it: the byte range of a shard, and the range of its keys. Sources
//! are asked for chunks, and caches are keyed by them.
//!
//! The bytes of a chunk are a zstd frame, some zeros, and a *seal*, their checksum. The checksum shows that the bytes are whole.
//! The keys show that they are those of this chunk, as no two blocks, and no two pages, have the same range of keys. A host can
//! forge both. A reader of a pinned manifest therefore also compares a cryptographic hash.

use core::fmt;
use core::ops::Range;

use twox_hash::XxHash64;

use super::{ColumnError, ContentHash, ManifestError, RecordError};
use crate::position::KeyError;
use crate::quoted::Quoted;

/// A reference to a page or a block: its byte range in a shard, and the range of its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Name of the file in the folder of the manifest. It contains the hash of the file's content.
    pub file: String,
    /// The bytes.
    pub range: Range<u64>,
    /// The range of its keys.
    pub keys: KeyRange,
}

/// A range of keys between two separators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// Not above the first key, and above every key before the range.
    pub from: Vec<u8>,
    /// Above every key of the range, and not above the keys after it; `None` if no keys follow.
    pub until: Option<Vec<u8>>,
}

impl KeyRange {
    /// Returns the range of all keys.
    pub fn all() -> KeyRange {
        KeyRange {
            from: Vec::new(),
            until: None,
        }
    }

    /// Returns whether a key is in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        *self.from <= *key && self.until.as_ref().is_none_or(|until| *key < **until)
    }
}

/// The length of a chunk is a multiple of this, so that pages list blocks in less space.
pub(super) const UNIT: usize = 16;

/// Fills a frame up with zeros and appends the seal.
#[cfg(feature = "write")]
pub fn seal(frame: &mut Vec<u8>) {
    let length = (frame.len() + size_of::<u64>()).next_multiple_of(UNIT);
    frame.resize(length - size_of::<u64>(), 0);
    frame.extend_from_slice(&checksum(frame).to_le_bytes());
}

impl Chunk {
    /// Returns the length in bytes; the manifest or page that lists the chunk has checked that it is not too large.
    pub fn len(&self) -> usize {
        usize::try_from(self.range.end.saturating_sub(self.range.start)).unwrap_or(usize::MAX)
    }

    /// Returns whether there are no bytes, which is so for no valid chunk.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a hash of the offset for caches in memory, by the multiplicative method of Fibonacci hashing. Few chunks of
    /// different files have the same offset.
    pub(crate) fn hash(&self) -> u64 {
        self.range.start.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
    }

    /// Returns the approximate memory of the chunk with its cache entry, in bytes.
    pub(super) fn memory(&self) -> usize {
        const CACHE_ENTRY: usize = 256;
        CACHE_ENTRY
            + self.file.len()
            + self.keys.from.len()
            + self.keys.until.as_ref().map_or(0, Vec::len)
    }

    /// Returns the bytes of the chunk within `bytes`, which were read from offset `start` of the file; empty if they
    /// are not among them.
    pub fn within<'a>(&self, bytes: &'a [u8], start: u64) -> &'a [u8] {
        let place = |at: u64| usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
        bytes
            .get(place(self.range.start)..place(self.range.end))
            .unwrap_or_default()
    }

    /// Verifies the bytes of the chunk and returns the frame and its zeros, without the seal.
    ///
    /// # Errors
    ///
    /// Bytes of another length than the chunk's, or of another checksum than the seal states.
    pub fn unseal<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], TableError> {
        if bytes.len() != self.len() {
            return Err(self.error(ChunkErrorKind::Length {
                expected: self.len(),
                found: bytes.len(),
            }));
        }
        let unsealed = || self.error(ColumnError::Decode.into());
        let (frame, stated) = bytes.split_last_chunk().ok_or_else(unsealed)?;
        let (stated, found) = (u64::from_le_bytes(*stated), checksum(frame));
        if stated == found {
            Ok(frame)
        } else {
            Err(self.error(ChunkErrorKind::Checksum { stated, found }))
        }
    }

    /// Compares the hash of the bytes of the chunk with a hash that a pinned manifest proves.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes have another hash.
    pub fn check(&self, bytes: &[u8], expected: ContentHash) -> Result<(), TableError> {
        let found = ContentHash::of(bytes);
        if found == expected {
            Ok(())
        } else {
            Err(self.error(ChunkErrorKind::Hash { expected, found }))
        }
    }

    /// Returns an error of this chunk.
    pub(super) fn error(&self, kind: ChunkErrorKind) -> TableError {
        TableError::Chunk {
            chunk: Box::new(self.clone()),
            kind,
        }
    }
}

impl fmt::Display for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} bytes {}-{}",
            self.file,
            self.range.start,
            self.range.end.saturating_sub(1)
        )
    }
}

/// Returns the checksum of a frame or a manifest.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

/// Reasons why bytes are not part of a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The manifest is of a later format than this reader knows.
    #[error("manifest.json is of format {found}, this reader knows format {}: {}", super::Manifest::FORMAT, version_remedy(*found))]
    Version {
        /// The manifest's format.
        found: u64,
    },
    /// The manifest holds another kind of record.
    #[error(
        "manifest.json holds {}, expected {}: open it as what it is",
        Quoted(found),
        Quoted(expected)
    )]
    Kind {
        /// The kind that was asked for.
        expected: &'static str,
        /// The manifest's.
        found: String,
    },
    /// The bytes are not a manifest.
    #[error("manifest.json is not a manifest: {0}")]
    Manifest(#[from] ManifestError),
    /// The bytes of a chunk contradict the index.
    #[error("{chunk}: {kind}")]
    Chunk {
        /// The chunk.
        chunk: Box<Chunk>,
        /// The reason.
        kind: ChunkErrorKind,
    },
}

/// The reason why the bytes of a chunk are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkErrorKind {
    /// The length differs from that of the chunk.
    #[error("expected {expected} bytes, found {found}")]
    Length {
        /// Length of the chunk.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// The checksum differs from that in the seal.
    #[error("checksum {found:016x}, expected {stated:016x}: the bytes were changed")]
    Checksum {
        /// The checksum that ends them.
        stated: u64,
        /// Their checksum.
        found: u64,
    },
    /// The cryptographic hash differs from that in the manifest, or in the list of hashes of the page.
    #[error("hash {found}, expected {expected} by the manifest: not the bytes of this database")]
    Hash {
        /// The hash in the manifest or list.
        expected: ContentHash,
        /// The hash of the bytes.
        found: ContentHash,
    },
    /// The keys are those of a different page or block.
    #[error("another page or block was found in its place")]
    Other,
    /// The checksum is right, but the content is invalid: the writer has a bug.
    #[error(transparent)]
    Columns(#[from] ColumnError),
    /// A position is not canonical or cannot be played on.
    #[error(transparent)]
    Key(KeyError),
    /// A record is invalid.
    #[error("record of {fen}: {error}")]
    Record {
        /// Four-field FEN of the record.
        fen: String,
        /// The reason.
        error: RecordError,
    },
    /// A position occurs twice.
    #[error("{fen} occurs twice")]
    Duplicate {
        /// Four-field FEN of the position.
        fen: String,
    },
}

impl ChunkErrorKind {
    /// Returns whether the file may have been replaced by that of another build.
    pub fn is_foreign(&self) -> bool {
        matches!(
            self,
            ChunkErrorKind::Length { .. }
                | ChunkErrorKind::Checksum { .. }
                | ChunkErrorKind::Hash { .. }
                | ChunkErrorKind::Other
        )
    }
}

fn version_remedy(found: u64) -> &'static str {
    if found < super::Manifest::FORMAT {
        "build it again from its dump"
    } else {
        "use a newer shelfish"
    }
}
