//! Timers, and what a browser knows about itself.

use core::time::Duration;

use gloo_timers::future::TimeoutFuture;
use js_sys::Reflect;
use wasm_bindgen::JsValue;

/// Timers support at most 2³¹ - 1 milliseconds; larger values would fire at once.
pub(super) fn pause(time: Duration) -> TimeoutFuture {
    TimeoutFuture::new(time.as_millis().min(i32::MAX as u128) as u32)
}

/// Returns whether the browser knows that it has no connection.
pub(super) fn is_offline() -> bool {
    global(["navigator", "onLine"]).is_some_and(|online| online == false)
}

/// Returns whether no request may serve two calls: Cloudflare's Workers end an incoming request that waits for the request of another.
pub(super) fn is_isolated() -> bool {
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
