//! A chunk: a byte range of an immutable file that proves itself. What a source is asked for and a cache is keyed by.
//!
//! Its bytes are a zstd frame and a seal, the checksum of the frame. Whether they are those of this chunk and not of
//! another one shows in the keys: no two chunks of a kind hold the same stretch of them.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;

use twox_hash::XxHash64;

use super::ColumnError;
use crate::position::KeyError;
use crate::quoted::Quoted;

/// A byte range of a file, and the keys that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The file's name, beside the manifest; it holds the hash of the file's content.
    pub file: Arc<str>,
    /// The bytes.
    pub range: Range<u64>,
    /// Where its keys lie.
    pub keys: KeyRange,
}

/// A stretch of keys, told by separators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// Not above the first key, above every key before.
    pub from: Arc<[u8]>,
    /// Above every key, not above the keys after; none where no keys follow.
    pub until: Option<Arc<[u8]>>,
}

impl KeyRange {
    /// All keys there are.
    pub fn all() -> KeyRange {
        KeyRange { from: Arc::default(), until: None }
    }

    /// Stretches that follow one another, from each separator until the next, from the last one until `end`.
    pub(super) fn between(separators: Vec<Arc<[u8]>>, end: Option<Arc<[u8]>>) -> impl Iterator<Item = KeyRange> {
        let untils: Vec<_> = separators.iter().skip(1).cloned().map(Some).chain([end]).collect();
        separators.into_iter().zip(untils).map(|(from, until)| KeyRange { from, until })
    }

    /// Whether a key lies in the stretch.
    pub fn contains(&self, key: &[u8]) -> bool {
        *self.from <= *key && self.until.as_ref().is_none_or(|until| key < until)
    }

    /// Of chunks that hold ascending stretches, the one that holds `key`.
    pub(super) fn find<'a>(chunks: &'a [Chunk], key: &[u8]) -> Option<&'a Chunk> {
        let after = chunks.partition_point(|chunk| *chunk.keys.from <= *key);
        chunks.get(after.checked_sub(1)?)
    }
}

/// What stands between a frame and its checksum: the header of a skippable zstd frame of eight bytes, so that decoders
/// pass over the seal.
const SEAL: [u8; 8] = [0x50, 0x2a, 0x4d, 0x18, 8, 0, 0, 0];

/// Puts a seal behind a frame.
#[cfg(feature = "write")]
pub fn seal(frame: &mut Vec<u8>) {
    frame.extend_from_slice(&SEAL);
    frame.extend_from_slice(&checksum(frame).to_le_bytes());
}

impl Chunk {
    /// The length in bytes; capped by the manifest and pages that told of the chunk.
    pub fn len(&self) -> usize {
        usize::try_from(self.range.end.saturating_sub(self.range.start)).unwrap_or(usize::MAX)
    }

    /// Whether there are no bytes; no writer makes such a chunk.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its bytes among those that were read from `start` of the file on; none where there are none, which no check
    /// passes.
    pub fn within<'a>(&self, bytes: &'a [u8], start: u64) -> &'a [u8] {
        let place = |at: u64| usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
        bytes.get(place(self.range.start)..place(self.range.end)).unwrap_or_default()
    }

    /// The frame in bytes that came from outside.
    ///
    /// # Errors
    ///
    /// Bytes of another length than told, or of another checksum than they state.
    pub fn unseal<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], TableError> {
        let length = || TableError::Length { chunk: self.clone(), found: bytes.len() };
        let (sealed, stated) = bytes.split_last_chunk().filter(|_| bytes.len() == self.len()).ok_or_else(length)?;
        let (stated, found) = (u64::from_le_bytes(*stated), checksum(sealed));
        match sealed.strip_suffix(&SEAL) {
            Some(frame) if stated == found => Ok(frame),
            _ => Err(TableError::Checksum { chunk: self.clone(), stated, found }),
        }
    }
}

impl fmt::Display for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes {}-{}", self.file, self.range.start, self.range.end.saturating_sub(1))
    }
}

/// The checksum of a frame or a manifest.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

/// Why bytes are not part of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableError {
    /// The manifest is of a later format than this reader knows.
    Version {
        /// The manifest's format.
        found: u64,
    },
    /// The manifest holds another kind of record.
    Kind {
        /// The kind that was asked for.
        expected: &'static str,
        /// The manifest's.
        found: String,
    },
    /// The manifest is not one.
    Manifest(String),
    /// A chunk has another length than told.
    Length {
        /// The chunk as told.
        chunk: Chunk,
        /// Bytes found.
        found: usize,
    },
    /// A chunk's bytes have another checksum than they state.
    Checksum {
        /// The chunk.
        chunk: Chunk,
        /// The checksum that ends it.
        stated: u64,
        /// The bytes' checksum.
        found: u64,
    },
    /// A chunk with the right checksum cannot be read: its writer was at fault.
    Columns {
        /// The chunk.
        chunk: Chunk,
        /// Why it cannot be read.
        error: ColumnError,
    },
    /// A position of a block is not canonical or cannot be played on.
    Key {
        /// The block.
        chunk: Chunk,
        /// What is wrong with the position.
        error: KeyError,
    },
    /// A line of a block is not one of legal moves.
    Line {
        /// The block.
        chunk: Chunk,
        /// Four-field FEN of the record.
        fen: String,
        /// What is wrong with the line.
        why: String,
    },
    /// The positions of a block are not those that its page puts there: it is another block, or its writer was at fault.
    Order {
        /// The block.
        chunk: Chunk,
        /// Four-field FEN of the misplaced position.
        fen: String,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Version { found } => write!(
                f,
                "manifest.json is of format {found}, this reader knows format {}: use a newer shelfish",
                super::Manifest::FORMAT
            ),
            TableError::Kind { expected, found } => {
                write!(f, "manifest.json holds {}, expected {}", Quoted(found), Quoted(expected))
            }
            TableError::Manifest(why) => write!(f, "manifest.json is not a manifest: {why}"),
            TableError::Length { chunk, found } => {
                write!(f, "{chunk}: expected {} bytes, found {found}", chunk.len())
            }
            TableError::Checksum { chunk, stated, found } => {
                write!(f, "{chunk}: checksum {found:016x}, expected {stated:016x}: the bytes were changed")
            }
            TableError::Columns { chunk, error } => write!(f, "{chunk}: {error}"),
            TableError::Key { chunk, error } => write!(f, "{chunk}: {error}"),
            TableError::Line { chunk, fen, why } => write!(f, "{chunk}: line of {fen}: {why}"),
            TableError::Order { chunk, fen } => write!(f, "{chunk}: {fen} stands out of order"),
        }
    }
}

impl core::error::Error for TableError {}
