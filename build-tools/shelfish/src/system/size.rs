//! Sizes in bytes, as options of commands.

use indicatif::HumanBytes;
use thiserror::Error;

/// An error of a text that is not a valid size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    /// The text does not begin with a whole number.
    #[error("expected a number such as 512MiB or 1GiB")]
    Number,
    /// The unit is unknown.
    #[error("unknown unit {0:?}, expected KiB, MiB, GiB, kB, MB or GB")]
    Unit(String),
    /// The number of bytes exceeds 64 bits.
    #[error("the size is too large, expected at most 64 bits of bytes")]
    TooLarge,
    /// The size is below the minimum, in bytes.
    #[error("expected at least {}", HumanBytes(*.0))]
    BelowMinimum(u64),
}

/// Parses a size: a number and a unit.
///
/// `KiB`, `MiB`, `GiB` and `K`, `M`, `G` are powers of 1,024; `kB`, `MB` and `GB` are powers of 1,000; `B` is a byte. The
/// case of the letters does not matter. A number without a unit counts MiB.
pub fn parse(text: &str) -> Result<u64, SizeError> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "k" | "kib" => 1 << 10,
        "" | "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        unit => return Err(SizeError::Unit(unit.to_owned())),
    };
    let number: u64 = digits.trim().parse().map_err(|_| SizeError::Number)?;
    number.checked_mul(unit).ok_or(SizeError::TooLarge)
}

/// Returns a parser of sizes that are at least `minimum` bytes.
pub fn at_least(
    minimum: u64,
) -> impl Fn(&str) -> Result<u64, SizeError> + Clone + Send + Sync + 'static {
    move |text| match parse(text)? {
        bytes if bytes < minimum => Err(SizeError::BelowMinimum(minimum)),
        bytes => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1000_or_1024() {
        for (text, bytes) in [
            ("64", 64 << 20),
            ("26000B", 26_000),
            ("1kB", 1_000),
            ("1KiB", 1_024),
            ("2 MB", 2_000_000),
            ("2M", 2 << 20),
            ("1GB", 1_000_000_000),
            ("1gib", 1 << 30),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        assert_eq!(parse("MiB"), Err(SizeError::Number));
        assert_eq!(parse("1TB"), Err(SizeError::Unit("tb".to_owned())));
        assert_eq!(parse("99999999999999999G"), Err(SizeError::TooLarge));
    }
}
