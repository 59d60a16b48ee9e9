//! The WASM modules of the npm package that read files: databases and books, or with the feature `endgames` endgame tables.
//!
//! Options and answers are plain JavaScript values. The package's TypeScript adds the types.
#![cfg(target_arch = "wasm32")]
#![allow(dead_code, reason = "each module uses a part of the shared code")]

mod answer;
#[cfg(feature = "endgames")]
mod endgames;
mod error;
#[cfg(not(feature = "endgames"))]
mod evaluations;
#[cfg(not(feature = "endgames"))]
mod moves;
mod options;
#[cfg(not(feature = "endgames"))]
mod table;

use futures_util::FutureExt as _;
use futures_util::future::{LocalBoxFuture, abortable};
use gloo_events::{EventListener, EventListenerOptions};
use js_sys::Promise;
use shelfish_wasm_shared::WasmError;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::future_to_promise;
use web_sys::AbortSignal;

use crate::error::into_js;

/// Work that a promise waits for.
type Work = LocalBoxFuture<'static, Result<JsValue, WasmError>>;

/// Makes the promise of a call, which is dropped and rejected with the signal's reason when the signal is aborted. All promises have
/// the same type, so that its code exists once.
fn promise(signal: AbortSignal, work: Work, dropped: impl FnOnce() + 'static) -> Promise {
    let (work, handle) = abortable(work);
    // Cloudflare's Workers refuse passive listeners, which are the default of gloo.
    let options = EventListenerOptions::enable_prevent_default();
    // Listens before the work is polled for the first time.
    let listener = EventListener::once_with_options(&signal, "abort", options, move |_| {
        handle.abort();
    });
    let call = async move {
        let _listener = listener;
        match work.await {
            Ok(answer) => answer.map_err(into_js),
            Err(_) => {
                dropped();
                Err(signal.reason())
            }
        }
    };
    future_to_promise(call.boxed_local())
}
