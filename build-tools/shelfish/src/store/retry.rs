//! The retry policy of the library `object_store`.

use object_store::{BackoffConfig, RetryConfig};
use shelfish::source::retry::RetryPolicy;

/// Converts a policy of retries. The library does not support a limit of `Retry-After`.
pub(super) fn retry_config(policy: RetryPolicy) -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: policy.first_delay,
            max_backoff: policy.max_delay,
            base: 2.0,
        },
        max_retries: policy.max_retries as usize,
        retry_timeout: policy.total_time,
    }
}
