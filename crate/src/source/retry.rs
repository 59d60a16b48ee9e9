//! The retry of failed requests: one policy and one loop for all sources.
//!
//! | failure of a request | reaction |
//! |---|---|
//! | no connection, connection closed | retry, at most [`RetryPolicy::max_retries`] times |
//! | in a browser: no answer from another origin that has not answered before | error, because CORS or a policy may forbid the request |
//! | status 429, 500, 502, 503, 504 | retry, not before `Retry-After` |
//! | timeout; the device is offline | error |
//! | status 403, 404, 410, 416, wrong range, wrong length | the reader reads the manifest again, because a new build may have replaced the database |
//! | wrong checksum | the same; if the manifest is unchanged, the reader requests the bytes once more |
//! | other status, compressed range | error |

use core::time::Duration;

use web_time::Instant;

use super::SourceError;
use crate::setters::setters;

/// Policy of retries of failed requests: exponential backoff with jitter.
///
/// ```
/// use core::time::Duration;
/// use shelfish::source::SourceErrorKind;
/// use shelfish::source::retry::RetryPolicy;
///
/// let policy = RetryPolicy::default();
/// assert_eq!(policy.delay(1, Duration::ZERO, &SourceErrorKind::Status(503).into()), Some(Duration::from_millis(100)));
/// // A file that does not exist.
/// assert_eq!(policy.delay(1, Duration::ZERO, &SourceErrorKind::Status(404).into()), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// Maximum number of retries of a request; 2 by default.
    pub max_retries: u32,
    /// Delay before the first retry, without jitter; 200 ms by default. Each further delay is twice as long.
    pub first_delay: Duration,
    /// Longest delay, unless the host asks for a longer one; 30 seconds by default.
    pub max_delay: Duration,
    /// Longest `Retry-After` that is respected; a longer one counts as this. No limit by default.
    pub max_retry_after: Duration,
    /// Maximum time from the first attempt to the start of the last one. No limit by default.
    pub total_time: Duration,
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy {
            max_retries: 2,
            first_delay: Duration::from_millis(200),
            max_delay: Duration::from_secs(30),
            max_retry_after: Duration::MAX,
            total_time: Duration::MAX,
        }
    }
}

setters! {
    RetryPolicy {
        with_max_retries => max_retries: u32,
        with_max_retry_after => max_retry_after: Duration,
        with_total_time => total_time: Duration,
    }
}

impl RetryPolicy {
    /// Returns the delay before the next attempt after so many failures in the `elapsed` time; `None` if there is no next attempt.
    ///
    /// The delay is between half and all of the backoff, by the last digits of the elapsed time, so that clients do not retry at the
    /// same time.
    pub fn delay(&self, failures: u32, elapsed: Duration, error: &SourceError) -> Option<Duration> {
        if failures > self.max_retries || !error.kind.is_transient() {
            return None;
        }
        let backoff =
            (self.first_delay * (1 << failures.saturating_sub(1).min(16))).min(self.max_delay);
        let jitter = elapsed.subsec_nanos().wrapping_mul(0x9e37_79b9) >> 22;
        let retry_after = error.retry_after.unwrap_or_default();
        let retry_after = retry_after.min(self.max_retry_after);
        let delay = (backoff * (1024 + jitter) / 2048).max(retry_after);
        (elapsed.saturating_add(delay) < self.total_time).then_some(delay)
    }

    /// Repeats an attempt until it succeeds or the policy allows no further retry. `pause` waits.
    ///
    /// # Errors
    ///
    /// The error of the last attempt.
    pub async fn run<T, A, P>(
        &self,
        mut attempt: impl FnMut() -> A,
        pause: impl Fn(Duration) -> P,
    ) -> Result<T, SourceError>
    where
        A: Future<Output = Result<T, SourceError>>,
        P: Future<Output = ()>,
    {
        let started = Instant::now();
        let mut failures = 0;
        loop {
            let error = match attempt().await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            failures += 1;
            match self.delay(failures, started.elapsed(), &error) {
                Some(delay) => pause(delay).await,
                None => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::cell::{Cell, RefCell};
    use core::future::ready;

    use super::*;
    use crate::source::SourceErrorKind;

    fn delay(failures: u32, kind: SourceErrorKind) -> Option<Duration> {
        RetryPolicy::default().delay(failures, Duration::ZERO, &kind.into())
    }

    #[test]
    fn transient_errors_are_retried_twice_with_growing_delays() {
        let network = SourceErrorKind::Network("connection refused".to_string());
        for kind in [network]
            .into_iter()
            .chain([429, 500, 502, 503, 504].map(SourceErrorKind::Status))
        {
            let delays = [1, 2, 3].map(|failures| delay(failures, kind.clone()));
            let expected = [100, 200].map(|time| Some(Duration::from_millis(time)));
            assert_eq!(delays, [expected[0], expected[1], None], "{kind}");
        }
    }

    #[test]
    fn permanent_errors_are_not_retried() {
        let others = [400, 401, 403, 404, 410, 416, 501].map(SourceErrorKind::Status);
        let kinds = [
            SourceErrorKind::Timeout(Duration::from_secs(1)),
            SourceErrorKind::Offline,
            SourceErrorKind::Blocked("Failed to fetch".to_string()),
            SourceErrorKind::ContentEncoding("gzip".to_string()),
            SourceErrorKind::Long { expected: 2 },
        ];
        for kind in kinds.into_iter().chain(others) {
            assert_eq!(delay(1, kind.clone()), None, "{kind}");
        }
    }

    #[test]
    fn jitter_is_at_most_half_of_the_delay_and_retry_after_extends_the_delay() {
        let policy = RetryPolicy::default().with_max_retry_after(Duration::from_secs(9));
        let delay = |retry_after, nanos| {
            let error = SourceError {
                retry_after,
                ..SourceErrorKind::Status(503).into()
            };
            policy
                .delay(1, Duration::from_nanos(nanos), &error)
                .unwrap_or_default()
                .as_millis()
        };
        let delays = (0..1000).map(|nanos| delay(None, nanos));
        assert_eq!((delays.clone().min(), delays.max()), (Some(100), Some(199)));
        let after = |seconds| delay(Some(Duration::from_secs(seconds)), 0);
        assert_eq!([0, 7, 70].map(after), [100, 7_000, 9_000]);
    }

    #[test]
    fn retries_end_at_the_maximum_number_or_at_the_total_time() {
        // The first pause takes at least 200 ms.
        for (total_time, attempts) in [(30_000, 5), (150, 1)] {
            let policy = RetryPolicy {
                max_retries: 4,
                total_time: Duration::from_millis(total_time),
                first_delay: Duration::from_millis(400),
                ..RetryPolicy::default()
            };
            let (count, pauses) = (Cell::new(0), RefCell::new(Vec::new()));
            let attempt = || {
                count.set(count.get() + 1);
                ready(Err::<(), _>(SourceErrorKind::Status(503).into()))
            };
            let pause = |time| {
                pauses.borrow_mut().push(time);
                ready(())
            };
            assert!(futures_executor::block_on(policy.run(attempt, pause)).is_err());
            assert_eq!(count.get(), attempts);
            assert_eq!(pauses.borrow().len(), attempts - 1);
        }
    }
}
