//! Durations, as options of commands.

use std::time::Duration;

use thiserror::Error;

/// An error of a text that is not a valid duration.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DurationError {
    /// The text is not a number with a unit.
    #[error("{0}, expected a number such as 7d or 12h")]
    Text(#[from] humantime::DurationError),
    /// The duration is zero.
    #[error("expected at least 1s")]
    Zero,
}

/// Parses a duration of more than zero, such as `7d`.
pub fn positive(text: &str) -> Result<Duration, DurationError> {
    match humantime::parse_duration(text)? {
        Duration::ZERO => Err(DurationError::Zero),
        time => Ok(time),
    }
}
