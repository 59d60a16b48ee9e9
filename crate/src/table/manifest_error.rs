//! Errors of manifests.

use core::str::Utf8Error;

use super::{ContentHash, Manifest, Page};
use crate::quoted::Quoted;

/// The reason why bytes are not a manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The file is larger than [`Manifest::MAX_BYTES`].
    #[error("it has {found} bytes, expected at most {}", Manifest::MAX_BYTES)]
    TooLarge {
        /// Length of the file in bytes.
        found: usize,
    },
    /// The file does not begin with the number of its format.
    #[error("it begins with {}, expected {{\"format\":", Quoted(found))]
    Beginning {
        /// The first bytes, a character each.
        found: String,
    },
    /// The file does not end with a checksum.
    #[error("it has no checksum")]
    NoChecksum,
    /// The checksum differs from that of the bytes.
    #[error(
        "its checksum is {expected:016x}, it ends {}: the bytes were changed",
        Quoted(found)
    )]
    Checksum {
        /// Checksum of the bytes.
        expected: u64,
        /// End of the file with the expected place of the checksum, a character for each byte.
        found: String,
    },
    /// The file is not UTF-8.
    #[error(transparent)]
    Utf8(Utf8Error),
    /// The text is not the expected JSON.
    #[error("expected {expected} at byte {at}")]
    Json {
        /// Kind of value or character that is expected.
        expected: &'static str,
        /// Offset in the text, in bytes.
        at: usize,
    },
    /// A required member is missing or empty.
    #[error("it has no {0}")]
    Missing(&'static str),
    /// An object has too many members.
    #[error("totals and info have at most {most} members, found more")]
    Members {
        /// Maximum number of members.
        most: usize,
    },
    /// A text is not a separator, a page or its hash, or the name of a shard.
    #[error("{} is not {expected}", Quoted(found))]
    Text {
        /// Description of the expected text.
        expected: &'static str,
        /// The text.
        found: String,
    },
    /// The separator of a page is not above that of the page before. The separator of the first page is empty.
    #[error("the separator of page {page} is out of order")]
    Order {
        /// Number of the page.
        page: usize,
    },
    /// The length of a page is that of a hash or less, or above [`Page::MAX_BYTES`].
    #[error("page of {found} bytes, expected {} to {}", ContentHash::BYTES + 1, Page::MAX_BYTES)]
    PageLength {
        /// Length in bytes.
        found: u64,
    },
    /// The pages of a shard are longer than the shard.
    #[error("{file} of {found} bytes is shorter than its pages of {expected} bytes")]
    ShardLength {
        /// Name of the shard.
        file: String,
        /// Length of its pages in bytes.
        expected: u64,
        /// Length of the shard in bytes.
        found: u64,
    },
}
