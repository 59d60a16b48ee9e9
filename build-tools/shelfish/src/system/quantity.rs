//! Sizes and times, as options of commands: numbers with units.

use std::time::Duration;

use indicatif::HumanBytes;
use thiserror::Error;

/// Units of a kind of quantity.
struct Units {
    /// Names of each unit, in lower case, and its amount.
    amounts: &'static [(&'static str, u64)],
    example: &'static str,
    known: &'static str,
}

/// Units of sizes, in bytes.
const SIZES: Units = Units {
    amounts: &[
        ("b", 1),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("tb", 1_000_000_000_000),
        ("k kib", 1 << 10),
        ("m mib", 1 << 20),
        ("g gib", 1 << 30),
        ("t tib", 1 << 40),
    ],
    example: "512MiB or 1.5GiB",
    known: "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB",
};

/// Units of times, in milliseconds.
const TIMES: Units = Units {
    amounts: &[
        ("ms", 1),
        ("s sec secs second seconds", 1_000),
        ("m min mins minute minutes", 60_000),
        ("h hr hrs hour hours", 3_600_000),
        ("d day days", 86_400_000),
        ("w week weeks", 604_800_000),
    ],
    example: "20s, 2min or 7d",
    known: "ms, s, min, h, d or w",
};

/// An error of a text that is not a valid size or time.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// The text is no number with a unit.
    #[error("expected a number with or without a unit, such as {0}")]
    Number(&'static str),
    /// The unit is unknown.
    #[error("unknown unit {0:?}, expected {1}")]
    Unit(String, &'static str),
    /// The number exceeds 64 bits.
    #[error("the number is too large, expected less than 2^64 bytes or milliseconds")]
    TooLarge,
    /// The text is no integer between these bounds.
    #[error("expected an integer from {0} to {1}")]
    Integer(u64, u64),
    /// The quantity is below this minimum.
    #[error("expected at least {0}")]
    TooSmall(String),
}

/// Parses numbers with units and adds them. A number without a unit counts `plain`.
fn parse(text: &str, units: &Units, plain: u64) -> Result<u64, QuantityError> {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let (mut rest, mut sum) = (text.trim(), 0.0);
    loop {
        let (number, after) = rest.split_at(rest.find(|c| !is_digit(c)).unwrap_or(rest.len()));
        let (unit, next) = after.split_at(after.find(is_digit).unwrap_or(after.len()));
        let unit = unit.trim().to_ascii_lowercase();
        let number: f64 = number
            .parse()
            .map_err(|_| QuantityError::Number(units.example))?;
        let has_name = |(names, _): &&(&str, u64)| names.split(' ').any(|name| name == unit);
        let amount = match units.amounts.iter().find(has_name) {
            Some((_, amount)) => *amount,
            None if unit.is_empty() => plain,
            None => return Err(QuantityError::Unit(unit, units.known)),
        };
        sum += number * amount as f64;
        if next.is_empty() {
            break;
        }
        rest = next;
    }
    if sum < u64::MAX as f64 {
        Ok(sum.round() as u64)
    } else {
        Err(QuantityError::TooLarge)
    }
}

/// Returns a parser of integers between two bounds.
pub fn integer<T: Copy + Into<u64> + TryFrom<u64>>(
    least: T,
    most: T,
) -> impl Fn(&str) -> Result<T, QuantityError> + Clone {
    let (least, most) = (least.into(), most.into());
    move |text| {
        let number: Option<u64> = text.trim().parse().ok();
        number
            .filter(|number| (least..=most).contains(number))
            .and_then(|number| T::try_from(number).ok())
            .ok_or(QuantityError::Integer(least, most))
    }
}

/// Returns a parser of sizes that are at least `minimum` bytes. A number without a unit counts MiB.
///
/// `KiB`, `MiB`, `GiB` and `K`, `M`, `G` are powers of 1,024; `kB`, `MB` and `GB` are powers of 1,000; `B` is a byte.
pub fn size(
    minimum: u64,
) -> impl Fn(&str) -> Result<u64, QuantityError> + Clone + Send + Sync + 'static {
    move |text| match parse(text, &SIZES, 1 << 20)? {
        bytes if bytes < minimum => Err(QuantityError::TooSmall(HumanBytes(minimum).to_string())),
        bytes => Ok(bytes),
    }
}

/// Parses a time. A number without a unit counts seconds.
pub fn time(text: &str) -> Result<Duration, QuantityError> {
    parse(text, &TIMES, 1_000).map(Duration::from_millis)
}

/// Parses a time of at least a second. A number without a unit counts seconds.
pub fn seconds(text: &str) -> Result<Duration, QuantityError> {
    match time(text)? {
        time if time < Duration::from_secs(1) => Err(QuantityError::TooSmall("1s".to_owned())),
        time => Ok(time),
    }
}

/// Parses a time of a network. A number without a unit counts milliseconds.
pub fn milliseconds(text: &str) -> Result<Duration, QuantityError> {
    parse(text, &TIMES, 1).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_outside_of_its_bounds_names_them() {
        let parse = integer(1_u16, 1024);
        assert_eq!(parse("1024"), Ok(1024));
        for text in ["0", "1025", "-1", "x", "", "1.5"] {
            let error = parse(text).unwrap_err().to_string();
            assert_eq!(error, "expected an integer from 1 to 1024", "{text}");
        }
    }

    #[test]
    fn units_of_sizes_are_powers_of_1000_or_1024() {
        for (text, bytes) in [
            ("64", 64 << 20),
            ("1.5GiB", 3 << 29),
            ("500MB", 500_000_000),
            ("26000B", 26_000),
            ("1kB", 1_000),
            ("1KiB", 1_024),
            ("2 MB", 2_000_000),
            ("2M", 2 << 20),
            ("1gib", 1 << 30),
            ("0.5", 1 << 19),
            ("1.1kB", 1_100),
        ] {
            assert_eq!(size(0)(text), Ok(bytes), "{text}");
        }
        for text in ["", "MiB", "-1", "1,5GiB", "1.2.3MB", ".", "1e"] {
            assert!(size(0)(text).is_err(), "{text}");
        }
        assert!(matches!(size(0)("1XB"), Err(QuantityError::Unit(unit, _)) if unit == "xb"));
        assert_eq!(size(0)("99999999999999999G"), Err(QuantityError::TooLarge));
        assert_eq!(size(0)("99999999999.5G"), Err(QuantityError::TooLarge));
        assert!(
            matches!(size(1 << 20)("1MB"), Err(QuantityError::TooSmall(least)) if least == "1.00 MiB")
        );
    }

    #[test]
    fn a_time_has_a_unit_or_counts_the_unit_that_the_help_names() {
        for (text, seconds) in [
            ("20", 20.0),
            ("20s", 20.0),
            ("2min", 120.0),
            ("2 m", 120.0),
            ("1.5h", 5_400.0),
            ("1h30m", 5_400.0),
            ("7d", 604_800.0),
            ("1 Week", 604_800.0),
            ("500ms", 0.5),
            ("0", 0.0),
        ] {
            assert_eq!(time(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        assert_eq!(milliseconds("50"), milliseconds("50ms"));
        for text in ["", "s", "-1s", "7x", "7MiB", "inf", "99999999999999w"] {
            assert!(time(text).is_err(), "{text}");
        }
        assert!(seconds("1").is_ok() && seconds("500ms").is_err());
    }
}
