//! Sources and caches of browsers and other runtimes with `fetch` and WebAssembly: workers, Node, Deno, Bun.
//!
//! [`Fetch`] is a source that sends range requests, and [`IndexedDb`] is a persistent cache:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use shelfish::eval::PositionEval;
//! use shelfish::reader::{ReadError, Reader};
//! use shelfish::source::Source as _;
//! use shelfish::web::{Fetch, FetchOptions, IndexedDb};
//!
//! # async fn example() -> Result<(), ReadError> {
//! let source = Fetch::new("https://example.org/evals/manifest.json", FetchOptions::default());
//! let cache = IndexedDb::open("shelfish", 64 << 20, &source.locate(""));
//! let reader = Reader::builder(source).cache(Some(Arc::new(cache))).open::<PositionEval>().await?;
//! # Ok(())
//! # }
//! ```

mod fetch;
mod indexed_db;
mod time;

pub use fetch::{Fetch, FetchOptions};
pub use indexed_db::IndexedDb;

use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast as _, JsValue};

/// Returns the bytes of a `Uint8Array`, also of another realm (a frame, jsdom, `vm` of Node), where `instanceof` fails.
fn bytes_of(value: &JsValue) -> Option<Vec<u8>> {
    let is_bytes = ArrayBuffer::is_view(value)
        && js_sys::Reflect::get(value, &"BYTES_PER_ELEMENT".into()).is_ok_and(|size| size == 1);
    is_bytes.then(|| Uint8Array::new(value).to_vec())
}

/// Returns the message of a thrown value, with the message of its cause, which Node uses for the reason.
pub fn reason(error: &JsValue) -> String {
    let message = |error: &JsValue| {
        let message = js_sys::Reflect::get(error, &"message".into())
            .ok()?
            .as_string()?;
        (!message.is_empty()).then_some(message)
    };
    let cause = js_sys::Reflect::get(error, &"cause".into()).ok();
    match (message(error), cause.as_ref().and_then(message)) {
        (Some(message), Some(cause)) => format!("{message}: {cause}"),
        (Some(message), None) => message,
        (None, _) => error
            .dyn_ref::<js_sys::JsString>()
            .map_or_else(|| "unknown error".to_string(), String::from),
    }
}
