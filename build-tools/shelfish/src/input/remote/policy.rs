//! Timeout and retries of downloads.

use std::time::Duration;

use shelfish::source::retry::RetryPolicy;

use crate::system::retry::MAX_RETRIES;

/// Minimum number of bytes that a host sends in a second, on average over the timeout.
const MIN_RATE: u64 = 1 << 10;
/// Maximum delay that a host may request.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);

/// Timeout and retries of downloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownloadPolicy {
    /// Maximum time without progress. A host makes progress if it sends at least 1 KiB a second.
    pub timeout: Duration,
    /// Maximum time of the whole download.
    pub total: Option<Duration>,
    /// Maximum number of retries in a row without progress.
    pub retries: u32,
}

impl Default for DownloadPolicy {
    fn default() -> DownloadPolicy {
        DownloadPolicy {
            timeout: Duration::from_secs(60),
            total: None,
            retries: MAX_RETRIES.into(),
        }
    }
}

impl DownloadPolicy {
    pub(super) fn retry(&self) -> RetryPolicy {
        RetryPolicy::default()
            .with_max_retries(self.retries)
            .with_max_retry_after(MAX_RETRY_AFTER)
            .with_total_time(self.total.unwrap_or(Duration::MAX))
    }

    /// Returns the number of bytes that are progress.
    pub(super) fn progress(&self) -> u64 {
        MIN_RATE * self.timeout.as_secs().max(1)
    }
}
