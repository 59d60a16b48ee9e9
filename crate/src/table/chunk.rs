//! A chunk: a byte range of an immutable file, with its checksum. What a source is asked for and a cache is keyed by.

use core::fmt;
use core::ops::Range;

use twox_hash::XxHash64;

use super::ColumnError;
use crate::position::KeyError;
use crate::quoted::Quoted;

/// A byte range of a file, and the checksum of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chunk {
    /// The file's name, beside the manifest; it holds the hash of the file's content.
    pub file: String,
    /// The bytes.
    pub range: Range<u64>,
    /// Their XXH64, seed 0.
    pub checksum: u64,
}

impl Chunk {
    /// The chunk that `bytes` make at `start` of a file.
    pub fn of(file: &str, start: u64, bytes: &[u8]) -> Chunk {
        Chunk { file: file.into(), range: start..start + bytes.len() as u64, checksum: checksum(bytes) }
    }

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

    /// Checks bytes that came from outside.
    ///
    /// # Errors
    ///
    /// Another length or another checksum.
    pub fn check(&self, bytes: &[u8]) -> Result<(), TableError> {
        if bytes.len() != self.len() {
            return Err(TableError::Length { chunk: self.clone(), found: bytes.len() });
        }
        let found = checksum(bytes);
        if found != self.checksum {
            return Err(TableError::Checksum { chunk: self.clone(), found });
        }
        Ok(())
    }
}

impl fmt::Display for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes {}-{}", self.file, self.range.start, self.range.end.saturating_sub(1))
    }
}

/// The checksum of a chunk or a manifest.
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
    /// A chunk's bytes have another checksum than told.
    Checksum {
        /// The chunk as told.
        chunk: Chunk,
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
    /// The positions of a block are not those that its page puts there.
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
            TableError::Checksum { chunk, found } => {
                write!(f, "{chunk}: checksum {found:016x}, expected {:016x}: the bytes were changed", chunk.checksum)
            }
            TableError::Columns { chunk, error } => write!(f, "{chunk}: {error}"),
            TableError::Key { chunk, error } => write!(f, "{chunk}: {error}"),
            TableError::Line { chunk, fen, why } => write!(f, "{chunk}: line of {fen}: {why}"),
            TableError::Order { chunk, fen } => write!(f, "{chunk}: {fen} stands out of order"),
        }
    }
}

impl core::error::Error for TableError {}
