//! The hash that pins a manifest: a reader with a pin rejects all other manifests.
//!
//! The hash has the form of HTML's `integrity` attributes: `sha256-` and the SHA-256 in Base64.

use core::fmt;
use core::str::FromStr;

use sha2::{Digest as _, Sha256};

use super::SourceErrorKind;
use crate::digits;

/// The SHA-256 of a manifest.
///
/// ```
/// use shelfish::source::integrity::Integrity;
///
/// let integrity = Integrity::of(b"");
/// assert_eq!(integrity.to_string(), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
/// assert_eq!(integrity.to_string().parse(), Ok(integrity));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integrity([u8; 32]);

impl Integrity {
    /// Returns the hash of the bytes of a manifest.
    pub fn of(bytes: &[u8]) -> Integrity {
        Integrity(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256-{}=", digits::base64(&self.0))
    }
}

/// A text that is not the hash of a manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected sha256- and the SHA-256 of manifest.json in Base64, as `shelfish stats` prints it"
)]
pub struct IntegrityError;

impl FromStr for Integrity {
    type Err = IntegrityError;

    fn from_str(text: &str) -> Result<Integrity, IntegrityError> {
        let digits = text
            .strip_prefix("sha256-")
            .and_then(|digits| digits.strip_suffix('='));
        let bytes = digits
            .and_then(digits::from_base64)
            .and_then(|bytes| bytes.try_into().ok());
        // The last digit has two bits more than there are bytes.
        bytes
            .map(Integrity)
            .filter(|integrity| integrity.to_string() == text)
            .ok_or(IntegrityError)
    }
}

/// Hashes of the accepted manifests. Their text separates them by spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin(Vec<Integrity>);

impl Pin {
    /// Checks the bytes of a manifest.
    ///
    /// # Errors
    ///
    /// Returns an error if the hash of the manifest is not in the list.
    pub fn check(&self, bytes: &[u8]) -> Result<(), SourceErrorKind> {
        let found = Integrity::of(bytes);
        if self.0.contains(&found) {
            return Ok(());
        }
        let expected: Vec<String> = self.0.iter().map(Integrity::to_string).collect();
        Err(SourceErrorKind::Integrity {
            expected: expected.join(" "),
            found: found.to_string(),
        })
    }
}

impl From<Integrity> for Pin {
    fn from(integrity: Integrity) -> Pin {
        Pin(vec![integrity])
    }
}

impl FromStr for Pin {
    type Err = IntegrityError;

    fn from_str(text: &str) -> Result<Pin, IntegrityError> {
        let hashes: Vec<Integrity> = text
            .split_whitespace()
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        if hashes.is_empty() {
            Err(IntegrityError)
        } else {
            Ok(Pin(hashes))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_survive_a_round_trip_and_invalid_hashes_are_errors() {
        for text in ["", "a", "manifest"] {
            let integrity = Integrity::of(text.as_bytes());
            assert_eq!(integrity.to_string().parse(), Ok(integrity));
        }
        for text in [
            "",
            "sha256-",
            "sha256-47DE",
            "sha384-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "47DEQpj8",
            "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=",
            "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFUA=",
        ] {
            assert_eq!(text.parse::<Integrity>(), Err(IntegrityError), "{text}");
        }
    }

    #[test]
    fn a_pin_accepts_only_its_hashes() -> Result<(), IntegrityError> {
        let pin: Pin = format!("{} {}", Integrity::of(b"a"), Integrity::of(b"b")).parse()?;
        assert_eq!((pin.check(b"a"), pin.check(b"b")), (Ok(()), Ok(())));
        assert!(matches!(
            pin.check(b"c"),
            Err(SourceErrorKind::Integrity { .. })
        ));
        assert_eq!(" ".parse::<Pin>(), Err(IntegrityError));
        Ok(())
    }
}
