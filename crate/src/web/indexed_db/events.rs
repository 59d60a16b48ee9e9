//! Results of requests and transactions, by their events.

use core::cell::Cell;
use std::rc::Rc;

use futures_channel::oneshot;
use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;
use gloo_events::EventListener;
use wasm_bindgen::JsValue;
use web_sys::{EventTarget, IdbRequest, IdbTransaction};

/// Returns the result of a request. Its events are observed from now on, even before the future is polled.
pub(super) fn answer(request: &IdbRequest) -> LocalBoxFuture<'static, Result<JsValue, JsValue>> {
    let events = first_event(request, ["success", "error"]);
    let request = request.clone();
    let answer = async move {
        match events.await {
            "success" => request.result(),
            _ => Err(request.error().ok().flatten().into()),
        }
    };
    // The box keeps the many callers small.
    answer.boxed_local()
}

/// Waits for the end of a transaction; the name of its error, or `None`.
pub(super) async fn ended(
    transaction: IdbTransaction,
    events: LocalBoxFuture<'static, &'static str>,
) -> Option<String> {
    match events.await {
        "complete" => None,
        _ => transaction.error().map(|error| error.name()),
    }
}

/// Waits for the first of two events of a target that has no others to come.
pub(super) fn first_event(
    target: &EventTarget,
    events: [&'static str; 2],
) -> LocalBoxFuture<'static, &'static str> {
    let (send, receive) = oneshot::channel();
    let send = Rc::new(Cell::new(Some(send)));
    let listeners = events.map(|event| {
        let send = send.clone();
        EventListener::new(target, event, move |_| {
            if let Some(send) = send.take() {
                let _ = send.send(event);
            }
        })
    });
    let event = async move {
        // The sender lives as long as the listeners.
        let event = receive.await.unwrap_or_default();
        drop(listeners);
        event
    };
    event.boxed_local()
}
