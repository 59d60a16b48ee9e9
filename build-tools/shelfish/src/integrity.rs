//! The hash that pins a manifest: a reader that is told it takes no other manifest, whoever sends one.
//!
//! It is written as in HTML's `integrity` attributes: `sha256-` and the SHA-256 in Base64.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The SHA-256 of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integrity([u8; 32]);

impl Integrity {
    /// That of the bytes of a manifest.
    pub fn of(bytes: &[u8]) -> Integrity {
        Integrity(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256-{}", STANDARD.encode(self.0))
    }
}

impl serde::Serialize for Integrity {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text that is not the hash of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegrityError;

impl fmt::Display for IntegrityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected sha256- and the SHA-256 of manifest.json in Base64, as `shelfish stats` prints it")
    }
}

impl std::error::Error for IntegrityError {}

impl FromStr for Integrity {
    type Err = IntegrityError;

    fn from_str(text: &str) -> Result<Integrity, IntegrityError> {
        let digits = text.strip_prefix("sha256-").ok_or(IntegrityError)?;
        let bytes = STANDARD.decode(digits).map_err(|_| IntegrityError)?;
        bytes.try_into().map(Integrity).map_err(|_| IntegrityError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_written_as_html_writes_it_and_read_back() {
        let integrity = Integrity::of(b"");
        assert_eq!(integrity.to_string(), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        assert_eq!(integrity.to_string().parse(), Ok(integrity));
        for text in ["", "sha256-", "sha256-47DE", "sha384-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "47DEQpj8"] {
            assert_eq!(text.parse::<Integrity>(), Err(IntegrityError), "{text}");
        }
    }
}
