//! A host, asked by the `fetch` of a page, a worker or Node.

use core::ops::Range;
use core::time::Duration;

use wasm_bindgen::prelude::*;

use super::http::{Ask, Head};
use super::{Fault, Source, SourceError};
use crate::table::Manifest;

#[wasm_bindgen(raw_module = "./host.js")]
extern "C" {
    /// A request and its answer. Rejects with a text, or `undefined` if it took too long.
    type Exchange;

    #[wasm_bindgen(constructor)]
    fn new(url: &str, range: Option<String>, timeout: f64) -> Exchange;

    /// Status, `Content-Range`, `Content-Length` and `Content-Encoding`, on a line each.
    #[wasm_bindgen(method, catch)]
    async fn head(this: &Exchange) -> Result<JsValue, JsValue>;

    /// The body, or as much of it as shows that it is longer than `cap`.
    #[wasm_bindgen(method, catch)]
    async fn body(this: &Exchange, cap: f64) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method)]
    fn cancel(this: &Exchange);

    #[wasm_bindgen(js_name = offline)]
    fn is_offline() -> bool;

    #[wasm_bindgen(js_name = resolve)]
    fn resolve_url(file: &str, base: &str) -> String;
}

/// The files beside a manifest, by HTTP.
#[derive(Clone, Debug)]
pub struct Fetch {
    manifest: String,
    timeout: Duration,
}

impl Fetch {
    /// Files beside the manifest at this absolute URL; a request that takes longer than `timeout` is given up.
    pub fn new(manifest: &str, timeout: Duration) -> Fetch {
        Fetch { manifest: manifest.to_string(), timeout }
    }

    async fn ask(&self, file: &str, ask: Ask) -> Result<Vec<u8>, SourceError> {
        let at = self.locate(file);
        let request = Request(Exchange::new(&at, ask.range_header(), self.timeout.as_millis() as f64));
        let answer = request.answer(&ask).await;
        answer.map_err(|fault| SourceError { at, fault: fault.unwrap_or(Fault::Timeout(self.timeout)) })
    }
}

impl Source for Fetch {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        self.ask(file, Ask::Range(range)).await
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        self.ask(file, Ask::Whole { cap }).await
    }

    fn locate(&self, file: &str) -> String {
        if file == Manifest::FILE { self.manifest.clone() } else { resolve_url(file, &self.manifest) }
    }

    fn is_offline(&self) -> bool {
        is_offline()
    }
}

/// Gives the request up when it goes out of scope; once the answer has been read this does nothing.
struct Request(Exchange);

impl Request {
    /// The bytes asked for, or why there are none; `None` if it took too long.
    async fn answer(&self, ask: &Ask) -> Result<Vec<u8>, Option<Fault>> {
        let head = self.0.head().await.map_err(network)?.as_string().unwrap_or_default();
        let mut lines = head.split('\n');
        let status = lines.next().and_then(|status| status.parse().ok()).unwrap_or(0);
        let mut header = || lines.next().filter(|line| !line.is_empty());
        let head = Head { status, content_range: header(), content_length: header(), content_encoding: header() };
        let mut body = ask.judge(&head)?;
        let bytes = self.0.body(body.cap() as f64).await.map_err(network)?;
        body.push(&js_sys::Uint8Array::new(&bytes).to_vec())?;
        Ok(body.finish()?)
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn network(why: JsValue) -> Option<Fault> {
    why.as_string().map(Fault::Network)
}
