//! The retry of failed requests: one policy and one loop for all sources.
//!
//! | failure of a request | reaction |
//! |---|---|
//! | no connection, connection closed | retry, at most [`RetryPolicy::max_retries`] times |
//! | in a browser: no answer from another origin that has not answered before | error, because CORS or a policy may forbid the request |
//! | status 429, 500, 502, 503, 504 | retry, not before `Retry-After` |
//! | timeout | error |
//! | status 403, 404, 410, 416, wrong range, wrong length | the reader reads the manifest again, because a new build may have replaced the database |
//! | wrong checksum | the same; if the manifest is unchanged, the reader requests the bytes once more |
//! | other status, compressed range | error |

use core::time::Duration;

use super::{MaybeSend, SourceErrorKind};
use crate::setters::setters;

/// Policy of retries of failed requests: exponential backoff with jitter.
///
/// ```
/// use core::time::Duration;
/// use shelfish::source::SourceErrorKind;
/// use shelfish::source::retry::{AttemptError, RetryPolicy};
///
/// let policy = RetryPolicy::default();
/// let mut error = AttemptError::from(SourceErrorKind::Status(503));
/// assert_eq!(policy.delay(1, &error, 0.5), Some(Duration::from_millis(150)));
/// // The header `Retry-After` of the response.
/// error.retry_after = Some(Duration::from_secs(2));
/// assert_eq!(policy.delay(1, &error, 0.5), Some(Duration::from_secs(2)));
/// // A file that does not exist.
/// assert_eq!(policy.delay(1, &AttemptError::from(SourceErrorKind::Status(404)), 0.5), None);
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
        with_max_delay => max_delay: Duration,
        with_max_retry_after => max_retry_after: Duration,
        with_total_time => total_time: Duration,
    }
}

/// The failure of a single attempt to read from a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptError {
    /// The reason.
    pub kind: SourceErrorKind,
    /// Time for which the host asks the client to wait.
    pub retry_after: Option<Duration>,
}

impl From<SourceErrorKind> for AttemptError {
    fn from(kind: SourceErrorKind) -> AttemptError {
        AttemptError {
            kind,
            retry_after: None,
        }
    }
}

/// Time, sleep and random numbers of the environment.
pub trait Clock {
    /// Returns the time since the first attempt.
    fn elapsed(&self) -> Duration;

    /// Waits.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + MaybeSend;

    /// Returns a random number from 0 to 1.
    fn random(&self) -> f64;

    /// Returns whether the device has no connection, so that a retry is pointless.
    fn is_offline(&self) -> bool {
        false
    }
}

impl RetryPolicy {
    /// Returns the delay before the next attempt after `failures` failed attempts; `None` if there is no next attempt.
    ///
    /// `random`, from 0 to 1, keeps clients from retrying at the same time: the delay is between half and all of the
    /// backoff.
    pub fn delay(&self, failures: u32, error: &AttemptError, random: f64) -> Option<Duration> {
        if failures > self.max_retries || !error.kind.is_transient() {
            return None;
        }
        let backoff =
            (self.first_delay * (1 << failures.saturating_sub(1).min(16))).min(self.max_delay);
        // In thousandths; a NaN becomes 0.
        let jitter = (random * 1000.0).clamp(0.0, 1000.0) as u32;
        let retry_after = error.retry_after.unwrap_or_default();
        let retry_after = retry_after.min(self.max_retry_after);
        Some((backoff * (1000 + jitter) / 2000).max(retry_after))
    }

    /// Repeats an attempt until it succeeds or the policy allows no further retry.
    ///
    /// # Errors
    ///
    /// The error of the last attempt.
    pub async fn run<T, F>(
        &self,
        clock: &impl Clock,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, AttemptError>
    where
        F: Future<Output = Result<T, AttemptError>>,
    {
        let mut failures = 0;
        loop {
            let error = match attempt().await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            failures += 1;
            let delay = self.delay(failures, &error, clock.random());
            let is_in_time =
                |delay: &Duration| clock.elapsed().saturating_add(*delay) < self.total_time;
            match delay.filter(|delay| is_in_time(delay) && !clock.is_offline()) {
                Some(delay) => clock.sleep(delay).await,
                None => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    const POLICY: fn() -> RetryPolicy = RetryPolicy::default;

    fn delay(failures: u32, kind: SourceErrorKind, random: f64) -> Option<Duration> {
        POLICY().delay(failures, &AttemptError::from(kind), random)
    }

    #[test]
    fn transient_errors_are_retried_twice_with_growing_delays() {
        let network = SourceErrorKind::Network("connection refused".to_string());
        for kind in [network]
            .into_iter()
            .chain([429, 500, 502, 503, 504].map(SourceErrorKind::Status))
        {
            let delays = [1, 2, 3].map(|failures| delay(failures, kind.clone(), 1.0));
            assert_eq!(
                delays,
                [
                    Some(Duration::from_millis(200)),
                    Some(Duration::from_millis(400)),
                    None
                ],
                "{kind}"
            );
        }
    }

    #[test]
    fn permanent_errors_are_not_retried() {
        let others = [400, 401, 403, 404, 410, 416, 501].map(SourceErrorKind::Status);
        let kinds = [
            SourceErrorKind::Timeout(Duration::from_secs(1)),
            SourceErrorKind::Blocked("Failed to fetch".to_string()),
            SourceErrorKind::RangeIgnored {
                length: None,
                cap: 1,
            },
            SourceErrorKind::ContentRange {
                expected: 0..1,
                found: String::new(),
            },
            SourceErrorKind::ContentEncoding("gzip".to_string()),
            SourceErrorKind::Short {
                expected: 2,
                found: 1,
            },
            SourceErrorKind::Long { expected: 2 },
        ];
        for kind in kinds.into_iter().chain(others) {
            assert_eq!(delay(1, kind.clone(), 0.5), None, "{kind}");
        }
    }

    #[test]
    fn jitter_is_at_most_half_of_the_delay_and_retry_after_extends_the_delay() {
        let delay = |retry_after, random| {
            let policy = RetryPolicy {
                max_retry_after: Duration::from_secs(9),
                ..POLICY()
            };
            policy.delay(
                1,
                &AttemptError {
                    kind: SourceErrorKind::Status(503),
                    retry_after,
                },
                random,
            )
        };
        assert_eq!(delay(None, 0.0), Some(Duration::from_millis(100)));
        assert_eq!(delay(None, f64::NAN), Some(Duration::from_millis(100)));
        assert_eq!(
            delay(Some(Duration::from_secs(7)), 0.0),
            Some(Duration::from_secs(7))
        );
        assert_eq!(
            delay(Some(Duration::from_secs(70)), 0.0),
            Some(Duration::from_secs(9))
        );
        assert_eq!(
            delay(Some(Duration::ZERO), 1.0),
            Some(Duration::from_millis(200))
        );
    }

    /// A clock whose sleeps pass at once.
    #[derive(Default)]
    struct TestClock {
        now: Cell<Duration>,
        is_offline: bool,
    }

    impl Clock for &TestClock {
        fn elapsed(&self) -> Duration {
            self.now.get()
        }

        fn sleep(&self, time: Duration) -> impl Future<Output = ()> + MaybeSend {
            self.now.set(self.now.get() + time);
            core::future::ready(())
        }

        fn random(&self) -> f64 {
            1.0
        }

        fn is_offline(&self) -> bool {
            self.is_offline
        }
    }

    fn attempts(policy: RetryPolicy, clock: &TestClock) -> u32 {
        let attempts = Cell::new(0);
        let attempt = || {
            attempts.set(attempts.get() + 1);
            core::future::ready(Err::<(), _>(AttemptError::from(SourceErrorKind::Status(
                503,
            ))))
        };
        assert!(futures_executor::block_on(policy.run(&clock, attempt)).is_err());
        attempts.get()
    }

    #[test]
    fn retries_end_at_the_maximum_number_at_the_total_time_or_offline() {
        let clock = TestClock::default();
        assert_eq!(
            attempts(
                RetryPolicy {
                    max_retries: 4,
                    ..POLICY()
                },
                &clock
            ),
            5
        );
        assert_eq!(
            clock.now.get(),
            Duration::from_millis(200 + 400 + 800 + 1600)
        );
        let total_time = Duration::from_millis(500);
        assert_eq!(
            attempts(
                RetryPolicy {
                    total_time,
                    ..POLICY()
                },
                &TestClock::default()
            ),
            2
        );
        assert_eq!(
            attempts(
                POLICY(),
                &TestClock {
                    is_offline: true,
                    ..TestClock::default()
                }
            ),
            1
        );
    }
}
