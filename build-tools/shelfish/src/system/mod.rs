//! Files, sizes, signals and threads of this machine.

pub mod duration;
pub mod manifest;
pub mod ordered;
pub mod output;
pub mod signals;
pub mod size;
pub mod url;
pub mod workspace;
pub mod write_failure;

use std::time::Duration;

/// Returns the time that a host or store has for an answer, without the second for every 16 KiB: 20 seconds, or as many as
/// `SHELFISH_TIMEOUT` says.
pub fn timeout() -> Duration {
    let seconds = std::env::var("SHELFISH_TIMEOUT").ok();
    let seconds = seconds.and_then(|seconds| seconds.parse().ok());
    let time = seconds.filter(|seconds| *seconds > 0);
    time.map_or(shelfish::source::http::TIMEOUT, Duration::from_secs)
}

/// Maximum number of retries of a download or an upload, by default.
pub const MAX_RETRIES: u8 = 8;
