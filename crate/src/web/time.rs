//! Waiting: time limits and the pauses before a request is sent again.

use core::cell::Cell;
use core::time::Duration;

use futures_util::future::{Either, LocalBoxFuture, select};
use gloo_timers::future::TimeoutFuture;
use js_sys::Reflect;
use wasm_bindgen::JsValue;
use web_time::Instant;

use crate::source::http::time_limit;
use crate::source::retry::RetryPolicy;
use crate::source::{SourceError, SourceErrorKind};

/// Timers support at most 2³¹ - 1 milliseconds; larger values would fire at once.
pub(super) fn pause(time: Duration) -> TimeoutFuture {
    TimeoutFuture::new(time.as_millis().min(i32::MAX as u128) as u32)
}

/// Sends a request to the URL or path `at`, with retries. All attempts together take at most [`RetryPolicy::total_time`],
/// which the bytes that the current attempt has `received` extend: see [`time_limit`].
///
/// # Errors
///
/// The error of the last attempt, or a timeout.
pub async fn send<'a>(
    at: &str,
    retry: &RetryPolicy,
    received: &Cell<u64>,
    attempt: &mut dyn FnMut() -> LocalBoxFuture<'a, Result<Vec<u8>, SourceError>>,
) -> Result<Vec<u8>, SourceError> {
    let started = Instant::now();
    let mut work = core::pin::pin!(retry.run(attempt, pause));
    loop {
        let limit = time_limit(retry.total_time, received.get());
        let left = limit.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Err(SourceError::new(at, SourceErrorKind::Timeout(limit)));
        }
        // Timers count whole milliseconds.
        let timer = pause(left.saturating_add(Duration::from_millis(1)));
        if let Either::Left((answer, _)) = select(work.as_mut(), timer).await {
            return answer.map_err(|error| SourceError {
                at: at.to_string(),
                ..error
            });
        }
    }
}

/// Returns whether the browser knows that it has no connection.
pub(super) fn is_offline() -> bool {
    global(["navigator", "onLine"]).is_some_and(|online| online == false)
}

/// Returns whether no request may serve two calls: Cloudflare's Workers end an incoming request that waits for the request of another.
pub fn is_isolated() -> bool {
    global(["navigator", "userAgent"]).is_some_and(|agent| agent == "Cloudflare-Workers")
}

/// Returns whether a URL has another origin than the page or Worker. Returns `false` without a page or Worker.
pub(super) fn is_foreign(url: &str) -> bool {
    let origin = global(["location", "origin"]).and_then(|origin| origin.as_string());
    origin.is_some_and(|origin| {
        url.strip_prefix(&origin)
            .is_none_or(|rest| !rest.starts_with('/'))
    })
}

/// Returns a property of a global object.
fn global([object, name]: [&str; 2]) -> Option<JsValue> {
    // An exception would keep a reference in the memory of the module.
    let get = |object: &JsValue, name: &str| {
        let is_object = object.is_object();
        is_object.then(|| Reflect::get(object, &name.into()).ok())?
    };
    get(&get(&js_sys::global(), object)?, name)
}
