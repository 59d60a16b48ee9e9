//! The hashes by which a pinned database proves its pages and blocks.

use core::fmt;

use sha2::{Digest as _, Sha256};

use super::{Chunk, TableError};
use crate::digits::hex;

/// The first 16 bytes of a SHA-256: of a page, of a block, or of the list of the hashes of a page's blocks.
///
/// ```
/// use shelfish::table::ContentHash;
///
/// assert_eq!(ContentHash::of(b"").to_string(), "e3b0c44298fc1c149afbf4c8996fb924");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentHash([u8; ContentHash::BYTES]);

impl ContentHash {
    /// Size of a hash in bytes.
    pub const BYTES: usize = 16;

    /// Returns the hash of some bytes.
    pub fn of(bytes: &[u8]) -> ContentHash {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        let mut hash = [0; ContentHash::BYTES];
        hash.copy_from_slice(&digest[..ContentHash::BYTES]);
        ContentHash(hash)
    }

    /// Returns hash number `n` of a list of hashes.
    pub fn nth(list: &[u8], n: usize) -> Option<ContentHash> {
        list.chunks_exact(ContentHash::BYTES)
            .nth(n)
            .and_then(ContentHash::from_bytes)
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<ContentHash> {
        bytes.try_into().ok().map(ContentHash)
    }

    /// Returns the bytes of the hash.
    pub fn to_bytes(self) -> [u8; ContentHash::BYTES] {
        self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// The location of the list of the hashes of a page's blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashList {
    /// The bytes, and the range of keys of the page.
    pub at: Chunk,
    /// Hash of the list.
    pub hash: ContentHash,
}

impl HashList {
    /// Checks the bytes of the list.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes have another hash.
    pub fn check(&self, bytes: &[u8]) -> Result<(), TableError> {
        self.at.check(bytes, self.hash)
    }
}
