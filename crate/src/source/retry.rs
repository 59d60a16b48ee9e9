//! Which requests are sent again, and when.
//!
//! | fault | what is done |
//! |---|---|
//! | no connection, an answer that breaks off | sent again, at most [`Retry::times`] times |
//! | status 429, 500, 502, 503, 504 | sent again likewise, not before `Retry-After` |
//! | no complete answer in time | an error: the time of the lookup is used up |
//! | status 403, 404, 410, 416, a wrong range, another length | the manifest is read again, as another build may have taken the database's place |
//! | other bytes than the seals say | as before: with the same manifest the bytes are asked for once more |
//! | another status, a compressed range | an error |
//!
//! So nothing is asked for more than three times for one fault.

use core::time::Duration;

use super::SourceErrorKind;

/// When a request that failed on the way is sent again: exponential backoff with jitter.
///
/// ```
/// use core::time::Duration;
/// use shelfish::source::SourceErrorKind;
/// use shelfish::source::retry::Retry;
///
/// let retry = Retry::default();
/// // The first request failed; half of the jitter.
/// let pause = retry.pause(1, &SourceErrorKind::Status(503), None, 0.5);
/// assert_eq!(pause, Some(Duration::from_millis(150)));
/// // The host says when.
/// let pause = retry.pause(1, &SourceErrorKind::Status(429), Some(Duration::from_secs(2)), 0.5);
/// assert_eq!(pause, Some(Duration::from_secs(2)));
/// // What cannot get better.
/// assert_eq!(retry.pause(1, &SourceErrorKind::Status(404), None, 0.5), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How often a request is sent again at most.
    pub times: u32,
    /// The pause before it is sent again for the first time, without jitter; each further one is twice as long.
    pub first: Duration,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry { times: 2, first: Duration::from_millis(200) }
    }
}

impl Retry {
    /// How long to wait before a request is sent again that was sent `sent` times and failed; `None` if it is not. The
    /// caller knows how much time there is: a pause that does not fit is none.
    ///
    /// `retry_after` is what the host asked for; `random`, from 0 to 1, keeps clients from coming back all at once: a pause
    /// is between a half and the whole of what backoff makes it.
    pub fn pause(
        &self,
        sent: u32,
        kind: &SourceErrorKind,
        retry_after: Option<Duration>,
        random: f64,
    ) -> Option<Duration> {
        if sent > self.times || !kind.is_transient() {
            return None;
        }
        let whole = self.first * (1 << sent.saturating_sub(1).min(16));
        // In thousandths; not a number is no share of anything.
        let share = (random * 1000.0).clamp(0.0, 1000.0) as u32;
        Some((whole * (1000 + share) / 2000).max(retry_after.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_get_better_is_sent_again_twice_and_later_each_time() {
        let retry = Retry::default();
        let network = SourceErrorKind::Network("connection refused".to_string());
        for kind in [network].into_iter().chain([429, 500, 502, 503, 504].map(SourceErrorKind::Status)) {
            let pauses = [1, 2, 3].map(|sent| retry.pause(sent, &kind, None, 1.0));
            assert_eq!(pauses, [Some(Duration::from_millis(200)), Some(Duration::from_millis(400)), None], "{kind}");
        }
    }

    #[test]
    fn what_cannot_get_better_is_not_sent_again() {
        let others = [400, 401, 403, 404, 410, 416, 501].map(SourceErrorKind::Status);
        let faults = [
            SourceErrorKind::Timeout(Duration::from_secs(1)),
            SourceErrorKind::RangeIgnored { length: None, cap: 1 },
            SourceErrorKind::ContentRange { expected: 0..1, found: String::new() },
            SourceErrorKind::ContentEncoding("gzip".to_string()),
            SourceErrorKind::Short { expected: 2, found: 1 },
            SourceErrorKind::Long { expected: 2 },
        ];
        for kind in faults.into_iter().chain(others) {
            assert_eq!(Retry::default().pause(1, &kind, None, 0.5), None, "{kind}");
        }
    }

    #[test]
    fn jitter_is_at_most_half_of_a_pause_and_the_host_may_ask_for_more() {
        let pause = |after, random| Retry::default().pause(1, &SourceErrorKind::Status(503), after, random);
        assert_eq!(pause(None, 0.0), Some(Duration::from_millis(100)));
        assert_eq!(pause(None, f64::NAN), Some(Duration::from_millis(100)));
        assert_eq!(pause(Some(Duration::from_secs(7)), 0.0), Some(Duration::from_secs(7)));
        assert_eq!(pause(Some(Duration::ZERO), 1.0), Some(Duration::from_millis(200)));
    }
}
