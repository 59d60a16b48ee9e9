//! Names of shards: the hash of their content.

use super::ContentHash;
#[cfg(feature = "write")]
use crate::digits::from_hex;
use crate::digits::hex;

/// The ending of the name of a shard. Its media type in mime-db, model/mesh, is among the few types that static hosts
/// neither compress nor transform. Hosts compress unknown types.
pub const SHARD_ENDING: &str = ".silo";

/// Bytes of the hash that are part of the name.
pub(super) const HASH_BYTES: usize = ContentHash::BYTES;

/// Returns the name of a shard from the SHA-256 of its content.
pub fn shard_name(sha256: &[u8]) -> String {
    hex(&sha256[..HASH_BYTES.min(sha256.len())]) + SHARD_ENDING
}

/// Returns whether a file has a name that a writer may give to a shard. Such a name cannot lead out of the database's
/// folder.
pub fn is_shard_name(name: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.strip_suffix(SHARD_ENDING)
        .is_some_and(|digits| digits.len() == 2 * HASH_BYTES && digits.bytes().all(is_digit))
}

/// Returns the bytes of the hash in the name of a shard.
#[cfg(feature = "write")]
pub(super) fn hash_in(name: &str) -> Option<[u8; HASH_BYTES]> {
    let digits = name
        .strip_suffix(SHARD_ENDING)
        .filter(|_| is_shard_name(name))?;
    from_hex(digits.as_bytes())?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_name_consists_of_32_hexadecimal_digits_and_the_ending() {
        let name = shard_name(&[0xab; 32]);
        assert_eq!(name, "abababababababababababababababab.silo");
        assert!(is_shard_name(&name));
        for name in [
            "abababababababababababababababab",
            "ab.silo",
            "ABABABABABABABABABABABABABABABAB.silo",
            ".silo",
        ] {
            assert!(!is_shard_name(name), "{name}");
        }
    }
}
