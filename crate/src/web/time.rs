//! Waiting: time limits and the pauses before a request is sent again.

use core::time::Duration;

use futures_util::future::{Either, LocalBoxFuture, select};
use gloo_timers::future::TimeoutFuture;
use web_time::Instant;

use crate::source::retry::{AttemptError, Clock, RetryPolicy};
use crate::source::{SourceError, SourceErrorKind};

/// Timers support at most 2³¹ - 1 milliseconds; larger values would fire at once.
pub(super) fn pause(time: Duration) -> TimeoutFuture {
    TimeoutFuture::new(time.as_millis().min(i32::MAX as u128) as u32)
}

/// Result of one attempt to send a request.
pub type Attempt = Result<Vec<u8>, AttemptError>;

/// The clock of a browser, since an instant.
struct BrowserClock(Instant);

impl Clock for BrowserClock {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> {
        pause(time)
    }

    fn random(&self) -> f64 {
        js_sys::Math::random()
    }

    fn is_offline(&self) -> bool {
        is_offline()
    }
}

/// Sends a request to the URL or path `at`, with retries. All attempts together take at most [`RetryPolicy::total_time`].
///
/// # Errors
///
/// The error of the last attempt, or a timeout.
pub async fn send<'a>(
    at: &str,
    retry: &RetryPolicy,
    attempt: &mut dyn FnMut() -> LocalBoxFuture<'a, Attempt>,
) -> Result<Vec<u8>, SourceError> {
    let clock = BrowserClock(Instant::now());
    let work = core::pin::pin!(retry.run(&clock, attempt));
    match select(work, pause(retry.total_time)).await {
        Either::Left((answer, _)) => {
            answer.map_err(|AttemptError { kind, retry_after }| SourceError { at: at.to_string(), kind, retry_after })
        }
        Either::Right(_) => Err(SourceError::new(at, SourceErrorKind::Timeout(retry.total_time))),
    }
}

/// Whether the browser knows that it has no connection.
pub(super) fn is_offline() -> bool {
    let get = |object: &wasm_bindgen::JsValue, name: &str| js_sys::Reflect::get(object, &name.into()).ok();
    let online = get(&js_sys::global(), "navigator").and_then(|navigator| get(&navigator, "onLine"));
    online.is_some_and(|online| online == false)
}
