//! Promises and abort signals.

use core::cell::RefCell;
use core::future::ready;

use futures_channel::oneshot;
use futures_util::FutureExt as _;
use futures_util::future::{Either, LocalBoxFuture, select};
use gloo_events::{EventListener, EventListenerOptions};
use js_sys::Promise;
use shelfish_wasm_shared::WasmError;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::future_to_promise;
use web_sys::AbortSignal;

use crate::error::{aborted, closed, into_js};

/// Work that a promise waits for.
pub type Pending<'a> = LocalBoxFuture<'a, Result<JsValue, WasmError>>;

/// Makes a promise. All promises have the same type, so that its code exists once.
pub fn promise(work: LocalBoxFuture<'static, Result<JsValue, JsValue>>) -> Promise {
    future_to_promise(work)
}

/// Makes the promise of a call, or a promise that is rejected at once.
pub fn call(work: Result<Pending<'static>, WasmError>) -> Promise {
    let work = work.unwrap_or_else(|error| ready(Err(error)).boxed_local());
    promise(async move { work.await.map_err(into_js) }.boxed_local())
}

/// Fails if the signal is aborted.
pub fn check(signal: Option<&AbortSignal>) -> Result<(), WasmError> {
    match signal {
        Some(signal) if signal.aborted() => Err(aborted(signal.reason())),
        _ => Ok(()),
    }
}

/// Waits for `work`. Fails if the signal is aborted first.
pub fn unless_aborted(signal: Option<AbortSignal>, work: Pending<'_>) -> Pending<'_> {
    let Some(signal) = signal else { return work };
    let work = async move {
        check(Some(&signal))?;
        let (send, receive) = oneshot::channel();
        // Cloudflare's Workers refuse passive listeners, which are the default of gloo.
        let options = EventListenerOptions::enable_prevent_default();
        let _listener = EventListener::once_with_options(&signal, "abort", options, move |_| {
            let _ = send.send(());
        });
        match select(work, receive).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => Err(aborted(signal.reason())),
        }
    };
    work.boxed_local()
}

/// Calls in progress, which end when the database is closed.
#[derive(Default)]
pub struct Running(
    /// A sender for each call, whose end closes the call. The listeners of a signal would be too many for Node.
    RefCell<Vec<oneshot::Sender<()>>>,
);

impl Running {
    /// Returns a receiver that ends with the database.
    pub fn closing(&self) -> oneshot::Receiver<()> {
        let (send, receive) = oneshot::channel();
        let mut running = self.0.borrow_mut();
        running.retain(|call| !call.is_canceled());
        running.push(send);
        receive
    }

    /// Returns work that fails if the signal is aborted or the database is closed.
    pub fn guard(&self, signal: Option<AbortSignal>, work: Pending<'static>) -> Pending<'static> {
        let closing = self.closing();
        let work = async move {
            match select(unless_aborted(signal, work), closing).await {
                Either::Left((answer, _)) => answer,
                Either::Right(_) => Err(closed()),
            }
        };
        work.boxed_local()
    }
}
