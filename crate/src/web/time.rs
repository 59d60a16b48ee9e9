//! Waiting: time limits and the pauses before a request is sent again.

use core::time::Duration;

use futures_util::future::{Either, LocalBoxFuture, select};
use gloo_timers::future::TimeoutFuture;
use web_time::Instant;

use crate::source::retry::Retry;
use crate::source::{SourceError, SourceErrorKind};

/// What `work` gives, unless that takes longer than `limit`.
async fn timeout<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    match select(core::pin::pin!(work), pause(limit)).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => None,
    }
}

/// Timers count milliseconds to 2³¹ - 1; what is more would fire at once.
pub(super) fn pause(time: Duration) -> TimeoutFuture {
    TimeoutFuture::new(time.as_millis().min(i32::MAX as u128) as u32)
}

/// What comes of an attempt: bytes, or why there are none and for how long the host asks to be left alone.
pub type Answer = Result<Vec<u8>, (SourceErrorKind, Option<Duration>)>;

/// How long a request is waited for, with the times that it is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The time from the first attempt to the end of the last.
    pub timeout: Duration,
    /// When it is sent again.
    pub retry: Retry,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { timeout: Duration::from_secs(15), retry: Retry::default() }
    }
}

impl Patience {
    /// Sends a request until there is an answer, or no use in sending it again. An attempt gives its error with the time
    /// for which the host asked to be left alone.
    ///
    /// # Errors
    ///
    /// That of the last attempt, or that the time is over.
    pub async fn send<'a>(
        &self,
        at: &str,
        attempt: &mut dyn FnMut() -> LocalBoxFuture<'a, Answer>,
    ) -> Result<Vec<u8>, SourceError> {
        let start = Instant::now();
        let work = async {
            let mut sent = 0;
            loop {
                sent += 1;
                let (kind, retry_after) = match attempt().await {
                    Ok(answer) => return Ok(answer),
                    Err(failed) => failed,
                };
                let next = self.retry.pause(sent, &kind, retry_after, js_sys::Math::random());
                // Without a connection there is nothing to wait for.
                match next.filter(|next| start.elapsed().saturating_add(*next) < self.timeout && !is_offline()) {
                    Some(next) => pause(next).await,
                    None => return Err(SourceError { at: at.to_string(), kind, retry_after }),
                }
            }
        };
        match timeout(self.timeout, work).await {
            Some(done) => done,
            None => Err(SourceError::new(at, SourceErrorKind::Timeout(self.timeout))),
        }
    }
}

/// Whether the browser knows that it has no connection.
pub(super) fn is_offline() -> bool {
    let get = |object: &wasm_bindgen::JsValue, name: &str| js_sys::Reflect::get(object, &name.into()).ok();
    let online = get(&js_sys::global(), "navigator").and_then(|navigator| get(&navigator, "onLine"));
    online.is_some_and(|online| online == false)
}
