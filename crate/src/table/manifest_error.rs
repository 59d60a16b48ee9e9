//! Errors of manifests.

use core::fmt;
use core::str::Utf8Error;

use super::{Manifest, Page};
use crate::quoted::Quoted;

/// The reason why bytes are not a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestError {
    /// The file is empty.
    Empty,
    /// The file is larger than [`Manifest::MAX_BYTES`].
    TooLarge {
        /// Length of the file in bytes.
        found: usize,
    },
    /// The file does not begin with the number of its format.
    Beginning {
        /// The first bytes, a character each.
        found: String,
    },
    /// The file does not end with a checksum.
    NoChecksum,
    /// The checksum differs from that of the bytes.
    Checksum {
        /// Checksum of the bytes.
        expected: u64,
        /// End of the file with the expected place of the checksum, a character for each byte.
        found: String,
    },
    /// The file is not UTF-8.
    Utf8(Utf8Error),
    /// The text is not the expected JSON.
    Json {
        /// Kind of value or character that is expected.
        expected: &'static str,
        /// Offset in the text, in bytes.
        at: usize,
    },
    /// A required member is missing or empty.
    Missing(&'static str),
    /// An object has too many members.
    Members {
        /// Maximum number of members.
        most: usize,
    },
    /// A page does not consist of a separator, a length and a hash.
    PageItems,
    /// The hash of a page is not 16 bytes in Base64.
    PageHash {
        /// The text.
        found: String,
    },
    /// The separator of a page is not hexadecimal, or is too long.
    Separator {
        /// The separator.
        found: String,
    },
    /// The separator of a page is not above that of the page before. The separator of the first page is empty.
    Order {
        /// Number of the page.
        page: usize,
    },
    /// The length of a page is 0, or above [`Page::MAX_BYTES`].
    PageLength {
        /// Length in bytes.
        found: u64,
    },
    /// The name of a shard is not that of its content.
    ShardName {
        /// The name.
        found: String,
    },
    /// The pages of a shard are longer than the shard.
    ShardLength {
        /// Name of the shard.
        file: String,
        /// Length of its pages in bytes.
        expected: u64,
        /// Length of the shard in bytes.
        found: u64,
    },
    /// Inline pages are not Base64.
    Base64,
    /// The inline pages of a shard have another length than its pages.
    InlinePages {
        /// Name of the shard.
        file: String,
        /// Length of its pages in bytes.
        expected: u64,
        /// Length of its inline pages in bytes.
        found: usize,
    },
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ManifestError::Empty => f.write_str("the file is empty"),
            ManifestError::TooLarge { found } => {
                write!(
                    f,
                    "it has {found} bytes, expected at most {}",
                    Manifest::MAX_BYTES
                )
            }
            ManifestError::Beginning { found } => write!(
                f,
                "it begins with {}, expected {{\"format\":",
                Quoted(found)
            ),
            ManifestError::NoChecksum => f.write_str("it has no checksum"),
            ManifestError::Checksum { expected, found } => {
                write!(
                    f,
                    "its checksum is {expected:016x}, it ends {}: the bytes were changed",
                    Quoted(found)
                )
            }
            ManifestError::Utf8(error) => error.fmt(f),
            ManifestError::Json { expected, at } => write!(f, "expected {expected} at byte {at}"),
            ManifestError::Missing(member) => write!(f, "it has no {member}"),
            ManifestError::Members { most } => {
                write!(f, "totals and info have at most {most} members, found more")
            }
            ManifestError::PageItems => {
                f.write_str("a page has a separator, a length and a hash, found more or less")
            }
            ManifestError::PageHash { found } => {
                write!(
                    f,
                    "{} is not the hash of a page, expected 16 bytes in Base64",
                    Quoted(found)
                )
            }
            ManifestError::Separator { found } => write!(f, "{} is not a separator", Quoted(found)),
            ManifestError::Order { page } => {
                write!(f, "the separator of page {page} is out of order")
            }
            ManifestError::PageLength { found } => {
                write!(
                    f,
                    "page of {found} bytes, expected at most {}",
                    Page::MAX_BYTES
                )
            }
            ManifestError::ShardName { found } => {
                write!(f, "{} is not the name of a shard", Quoted(found))
            }
            ManifestError::ShardLength {
                file,
                expected,
                found,
            } => {
                write!(
                    f,
                    "{file} of {found} bytes is shorter than its pages of {expected} bytes"
                )
            }
            ManifestError::Base64 => f.write_str("inline pages are not Base64"),
            ManifestError::InlinePages {
                file,
                expected,
                found,
            } => {
                write!(
                    f,
                    "{found} bytes of inline pages of {file}, expected {expected}"
                )
            }
        }
    }
}

impl core::error::Error for ManifestError {}
