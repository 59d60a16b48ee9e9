//! Files, sizes, signals and threads of this machine.

pub mod manifest;
pub mod ordered;
pub mod output;
pub mod quantity;
pub mod signals;
pub mod url;
pub mod workspace;
pub mod write_failure;

use std::time::Duration;

use quantity::QuantityError;

/// Returns the time that a host or store has for an answer, without the second for every 16 KiB: 20 seconds, or the time of
/// `SHELFISH_TIMEOUT`.
pub fn timeout() -> Duration {
    read_timeout().unwrap_or(shelfish::source::http::TIMEOUT)
}

/// Reads `SHELFISH_TIMEOUT`.
pub fn read_timeout() -> Result<Duration, QuantityError> {
    match std::env::var("SHELFISH_TIMEOUT") {
        Ok(time) if !time.is_empty() => quantity::seconds(&time),
        _ => Ok(shelfish::source::http::TIMEOUT),
    }
}

/// Maximum number of retries of a download or an upload, by default.
pub const MAX_RETRIES: u8 = 8;
