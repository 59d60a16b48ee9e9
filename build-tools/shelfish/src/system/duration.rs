//! Durations, as options of commands.

use std::fmt;
use std::time::Duration;

/// An error of a text that is not a valid duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DurationError {
    /// The text does not begin with a whole number.
    Number,
    /// The unit is unknown.
    Unit(String),
    /// The number of seconds exceeds 64 bits.
    TooLong,
    /// The duration is zero.
    Zero,
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DurationError::Number => f.write_str("expected a number such as 7d or 12h"),
            DurationError::Unit(found) => {
                write!(f, "unknown unit {found:?}, expected d, h, m or s")
            }
            DurationError::TooLong => {
                f.write_str("the time is too long, expected at most 64 bits of seconds")
            }
            DurationError::Zero => f.write_str("expected at least 1s"),
        }
    }
}

impl std::error::Error for DurationError {}

/// Parses a duration: a number and a unit, such as `7d`.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..].trim() {
        "d" => 24 * 60 * 60,
        "h" => 60 * 60,
        "m" => 60,
        "s" => 1,
        unit => return Err(DurationError::Unit(unit.to_owned())),
    };
    let number: u64 = digits.parse().map_err(|_| DurationError::Number)?;
    number
        .checked_mul(unit)
        .map(Duration::from_secs)
        .ok_or(DurationError::TooLong)
}

/// Parses a duration of at least one second.
pub fn positive(text: &str) -> Result<Duration, DurationError> {
    parse(text).and_then(|time| {
        if time.is_zero() {
            Err(DurationError::Zero)
        } else {
            Ok(time)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_and_a_unit() {
        for (text, seconds) in [
            ("7d", 604_800),
            ("12h", 43_200),
            ("5m", 300),
            ("60s", 60),
            ("60 s", 60),
            ("0s", 0),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for (text, error) in [
            ("", DurationError::Unit(String::new())),
            ("s", DurationError::Number),
            ("-1s", DurationError::Number),
            ("1w", DurationError::Unit("w".to_owned())),
            ("7", DurationError::Unit(String::new())),
            ("18446744073709551615d", DurationError::TooLong),
        ] {
            assert_eq!(parse(text), Err(error), "{text:?}");
        }
        assert_eq!(positive("0s"), Err(DurationError::Zero));
    }
}
