//! A host, asked by the `fetch` of a page, a worker or Node.

use core::ops::Range;
use core::pin::pin;
use core::time::Duration;

use futures_util::future::{Either, select};
use gloo_timers::future::TimeoutFuture;
use js_sys::{Error, IteratorNext, Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, ReadableStreamDefaultReader, RequestCache, RequestInit, Response, Url};

use super::http::{Ask, Head};
use super::{Fault, Source, SourceError};
use crate::table::Manifest;

#[wasm_bindgen]
extern "C" {
    // The global function, whatever the global scope is; web-sys knows only those of windows and workers.
    #[wasm_bindgen(js_name = fetch)]
    fn global_fetch(url: &str, init: &RequestInit) -> Promise;
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
        let giving_up = TimeoutFuture::new(u32::try_from(self.timeout.as_millis()).unwrap_or(u32::MAX));
        let answer = match select(pin!(fetch(&at, &ask)), giving_up).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Err(Fault::Timeout(self.timeout)),
        };
        answer.map_err(|fault| SourceError { at, fault })
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
        if file == Manifest::FILE {
            return self.manifest.clone();
        }
        Url::new_with_base(file, &self.manifest).map_or_else(|_| file.to_string(), |url| url.href())
    }
}

/// Gives the request up when it goes out of scope; once the answer has been read this does nothing.
struct Abort(AbortController);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn fetch(url: &str, ask: &Ask) -> Result<Vec<u8>, Fault> {
    let abort = Abort(AbortController::new().map_err(network)?);
    let init = RequestInit::new();
    init.set_signal(Some(&abort.0.signal()));
    match ask.range_header() {
        // Chromium's cache lets only one range request a URL run at a time, and these are cached elsewhere.
        Some(range) => {
            init.set_cache(RequestCache::NoStore);
            let headers = web_sys::Headers::new().map_err(network)?;
            headers.set("Range", &range).map_err(network)?;
            init.set_headers(&headers);
        }
        None => init.set_cache(RequestCache::NoCache),
    }
    let response: Response = JsFuture::from(global_fetch(url, &init)).await.map_err(network)?.unchecked_into();

    let headers = response.headers();
    let header = |name| headers.get(name).ok().flatten();
    let (content_range, content_length) = (header("Content-Range"), header("Content-Length"));
    let content_encoding = header("Content-Encoding");
    let mut body = ask.judge(&Head {
        status: response.status(),
        content_range: content_range.as_deref(),
        content_length: content_length.as_deref(),
        content_encoding: content_encoding.as_deref(),
    })?;

    // Piece by piece, because the length of what comes is the host's word only.
    if let Some(stream) = response.body() {
        let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
        loop {
            let piece: IteratorNext = JsFuture::from(reader.read()).await.map_err(network)?.unchecked_into();
            if piece.done() {
                break;
            }
            body.push(&piece.value().unchecked_into::<Uint8Array>().to_vec())?;
        }
    }
    body.finish()
}

/// What `fetch` and streams reject with: a `TypeError`, in Node with the reason as its cause.
fn network(error: JsValue) -> Fault {
    let error: Error = error.unchecked_into();
    let message = String::from(error.message());
    Fault::Network(match error.cause().dyn_ref::<Error>() {
        Some(cause) => format!("{message}: {}", cause.message()),
        None => message,
    })
}
