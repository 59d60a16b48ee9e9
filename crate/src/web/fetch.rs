//! Files behind `fetch`.

use core::cell::{Cell, RefCell};
use core::fmt;
use core::ops::Range;
use core::time::Duration;
use std::rc::Rc;

use futures_util::FutureExt as _;
use js_sys::{Function, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, Headers, ReadableStreamDefaultReader, RequestCache, RequestInit, Response,
};

use super::reason;
use super::time::{Attempt, is_foreign, is_offline, send};
use crate::source::http::{Body, Head, Requested, TIMEOUT, folder};
use crate::source::retry::{AttemptError, RetryPolicy};
use crate::source::{Source, SourceError, SourceErrorKind, Traffic};
use crate::sync::OnceCell;
use crate::table::Manifest;

#[wasm_bindgen]
extern "C" {
    /// Calls the `fetch` of a window, a worker or another runtime.
    #[wasm_bindgen(js_name = fetch, catch)]
    fn global_fetch(url: &str, init: &RequestInit) -> Result<Promise, JsValue>;
}

/// A whole file, once it was received.
type Whole = Rc<OnceCell<Vec<u8>>>;

/// Maximum number of whole files in memory.
const MAX_WHOLE: usize = 8;

/// A request for the manifest that was sent before the source was created.
pub struct Early {
    /// The promise of its response.
    pub response: Promise,
    /// Controller that aborts the request.
    pub controller: AbortController,
}

/// The database of a manifest's URL, by `fetch`.
///
/// Ranges are requested with `cache: "no-store"`: the cache of Chromium allows only one range request per URL at a time,
/// and the reader caches ranges itself. If the request for the manifest is redirected, the other files are read from the
/// folder of its final URL ([`folder`] has an exception). If a host ignores ranges, each small file is requested once, until
/// the manifest is read again, and one warning is logged.
pub struct Fetch {
    manifest: String,
    /// Name of the file at the URL of the manifest.
    manifest_file: &'static str,
    /// The folder of the files, with a trailing slash; known after the manifest was received.
    folder: RefCell<String>,
    retry: RetryPolicy,
    headers: JsValue,
    function: Option<Function>,
    early: RefCell<Option<Early>>,
    /// Files that were received whole instead of a range since the manifest was last read.
    whole: RefCell<Vec<(String, Whole)>>,
    /// Whether the warning about ignored ranges was logged.
    is_warned: Cell<bool>,
    /// Whether the host has answered.
    has_answered: Cell<bool>,
    traffic: Cell<Traffic>,
}

impl fmt::Debug for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetch")
            .field("manifest", &self.manifest)
            .finish_non_exhaustive()
    }
}

impl Fetch {
    /// Creates a source of the database whose manifest is at an absolute URL.
    pub fn new(manifest: &str) -> Fetch {
        Fetch {
            manifest: manifest.to_string(),
            manifest_file: Manifest::FILE,
            folder: RefCell::new(folder(manifest, manifest).to_string()),
            retry: RetryPolicy {
                total_time: TIMEOUT,
                ..RetryPolicy::default()
            },
            headers: JsValue::UNDEFINED,
            function: None,
            early: RefCell::new(None),
            whole: RefCell::new(Vec::new()),
            is_warned: Cell::new(false),
            has_answered: Cell::new(false),
            traffic: Cell::default(),
        }
    }

    /// Sets the name under which the file at the URL of the manifest is requested, `manifest.json` by default.
    pub fn with_manifest_file(self, manifest_file: &'static str) -> Fetch {
        Fetch {
            manifest_file,
            ..self
        }
    }

    /// Sets the retry policy. Its total time is the timeout of a request, 20 seconds by default. Each 16 KiB received extend
    /// it by one second.
    pub fn with_retry(self, retry: RetryPolicy) -> Fetch {
        Fetch { retry, ..self }
    }

    /// Sends these headers with every request. Another origin must allow them (`Access-Control-Allow-Headers`), and each
    /// range takes a preflight there. `Range` is not for the caller to set.
    pub fn with_headers(self, headers: &Headers) -> Fetch {
        Fetch {
            headers: headers.into(),
            ..self
        }
    }

    /// Uses this function instead of the global `fetch`.
    pub fn with_function(self, function: Function) -> Fetch {
        Fetch {
            function: Some(function),
            ..self
        }
    }

    /// Uses the response of a request for the manifest that was sent before.
    pub fn with_early(self, early: Early) -> Fetch {
        Fetch {
            early: RefCell::new(Some(early)),
            ..self
        }
    }

    fn init(
        &self,
        range: Option<&str>,
        controller: &AbortController,
    ) -> Result<RequestInit, JsValue> {
        let init = RequestInit::new();
        init.set_signal(Some(&controller.signal()));
        init.set_cache(if range.is_some() {
            RequestCache::NoStore
        } else {
            RequestCache::NoCache
        });
        let headers = if self.headers.is_undefined() {
            Headers::new()?
        } else {
            Headers::new_with_headers(self.headers.unchecked_ref())?
        };
        if let Some(range) = range {
            headers.set("Range", range)?;
        }
        init.set_headers(&headers);
        Ok(init)
    }

    fn send(
        &self,
        url: &str,
        range: Option<&str>,
        controller: &AbortController,
    ) -> Result<Promise, JsValue> {
        let init = self.init(range, controller)?;
        match &self.function {
            Some(function) => Ok(Promise::resolve(&function.call2(
                &JsValue::UNDEFINED,
                &url.into(),
                &init,
            )?)),
            None => global_fetch(url, &init),
        }
    }

    /// Converts the error of a request without an answer.
    fn unanswered(&self, url: &str, error: &JsValue) -> SourceErrorKind {
        if is_offline() {
            return SourceErrorKind::Network("the device is offline".to_string());
        }
        let kind = if !self.has_answered.get() && is_foreign(url) {
            SourceErrorKind::Blocked
        } else {
            SourceErrorKind::Network
        };
        kind(reason(error))
    }

    /// Sends a request once, and counts the bytes of its body in `received`.
    async fn attempt(
        &self,
        url: &str,
        file: &str,
        requested: &Requested,
        received: &Cell<u64>,
    ) -> Attempt {
        received.set(0);
        let network = |error: JsValue| self.unanswered(url, &error);
        self.count(|traffic| traffic.requests += 1);
        let early = if matches!(requested, Requested::Whole { .. }) {
            self.early.take()
        } else {
            None
        };
        let (response, _request) = match early {
            Some(Early {
                response,
                controller,
            }) => (response, Abort(controller)),
            None => {
                let request = Abort(AbortController::new().map_err(network)?);
                let response = self
                    .send(url, requested.range_header().as_deref(), &request.0)
                    .map_err(network)?;
                (response, request)
            }
        };
        let response = JsFuture::from(response).await.map_err(network)?;
        let is_response = response.is_instance_of::<Response>()
            || Reflect::get(&response, &"headers".into()).is_ok_and(|headers| headers.is_object());
        if !is_response {
            return Err(SourceErrorKind::Network("fetch returned no Response".to_string()).into());
        }
        self.has_answered.set(true);
        let response: Response = response.unchecked_into();
        let (body, retry_after) = check_head(requested, &response);
        let late = |kind| AttemptError { kind, retry_after };
        let body = body.map_err(late)?;
        let bytes = if let Some(part) = body.part() {
            let whole = self.whole(file);
            // The first caller reads the file for all callers.
            let read = async { self.read(&response, body, received).await?.finish_whole() };
            let bytes = whole.get_or_try_init(read).await.map_err(late)?;
            self.warn(url, bytes.len());
            cut(bytes, &part)
        } else {
            self.read(&response, body, received)
                .await
                .and_then(Body::finish)
        };
        let bytes = bytes.map_err(late)?;
        if file == self.manifest_file {
            // The next response may be redirected elsewhere, or not at all.
            let found = if response.redirected() {
                response.url()
            } else {
                self.manifest.clone()
            };
            self.folder
                .replace(folder(&self.manifest, &found).to_string());
        }
        Ok(bytes)
    }

    /// Reads a body until it ends or is too long.
    async fn read(
        &self,
        response: &Response,
        mut body: Body,
        received: &Cell<u64>,
    ) -> Result<Body, SourceErrorKind> {
        let network = |error: JsValue| SourceErrorKind::Network(reason(&error));
        let mut push = |bytes: &JsValue| {
            let bytes = Uint8Array::new(bytes).to_vec();
            received.set(received.get() + bytes.len() as u64);
            self.count(|traffic| traffic.bytes += bytes.len() as u64);
            body.push(&bytes)
        };
        match response.body() {
            Some(stream) => {
                let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
                loop {
                    let piece = JsFuture::from(reader.read()).await.map_err(network)?;
                    let get = |name: &str| Reflect::get(&piece, &name.into()).map_err(network);
                    if get("done")?.is_truthy() {
                        break;
                    }
                    push(&get("value")?)?;
                }
            }
            // An empty body, or a runtime without streams.
            None => push(
                &JsFuture::from(response.array_buffer().map_err(network)?)
                    .await
                    .map_err(network)?,
            )?,
        }
        Ok(body)
    }

    /// Returns the entry of a whole file.
    fn whole(&self, file: &str) -> Whole {
        let mut files = self.whole.borrow_mut();
        if let Some((_, whole)) = files.iter().find(|(name, _)| name == file) {
            return whole.clone();
        }
        if files.len() >= MAX_WHOLE {
            files.remove(0);
        }
        let whole = Whole::default();
        files.push((file.to_string(), whole.clone()));
        whole
    }

    fn warn(&self, url: &str, bytes: usize) {
        if !self.is_warned.replace(true) {
            let text = format!(
                "shelfish: {url}: the host ignores range requests, so the whole file of {bytes} bytes was fetched; small \
                 databases work all the same, others need a host that answers ranges with 206"
            );
            web_sys::console::warn_1(&text.into());
        }
    }

    fn count(&self, change: impl FnOnce(&mut Traffic)) {
        let mut traffic = self.traffic.get();
        change(&mut traffic);
        self.traffic.set(traffic);
    }

    async fn get(&self, file: &str, requested: Requested) -> Result<Vec<u8>, SourceError> {
        let url = self.locate(file);
        let received = Cell::new(0);
        send(&url, &self.retry, &received, &mut || {
            self.attempt(&url, file, &requested, &received)
                .boxed_local()
        })
        .await
    }
}

impl Source for Fetch {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        let whole = self
            .whole
            .borrow()
            .iter()
            .find(|(name, _)| name == file)
            .map(|(_, whole)| whole.clone());
        if let Some(bytes) = whole.as_ref().and_then(|whole| whole.get()) {
            return cut(bytes, &range).map_err(|kind| SourceError::new(self.locate(file), kind));
        }
        self.get(file, Requested::Range(range)).await
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        // The manifest is read again if the database is inconsistent.
        self.whole.take();
        self.get(file, Requested::Whole { cap }).await
    }

    fn locate(&self, file: &str) -> String {
        if file == self.manifest_file {
            self.manifest.clone()
        } else {
            format!("{}{file}", self.folder.borrow())
        }
    }

    fn is_offline(&self) -> bool {
        is_offline()
    }

    fn traffic(&self) -> Option<Traffic> {
        Some(self.traffic.get())
    }
}

/// Aborts a request that is dropped. A finished request is not affected.
struct Abort(AbortController);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Checks the head of a response. Also returns its `Retry-After`.
fn check_head(
    requested: &Requested,
    response: &Response,
) -> (Result<Body, SourceErrorKind>, Option<Duration>) {
    let headers = response.headers();
    let header = |name| headers.get(name).ok().flatten();
    let [range, length, encoding] =
        ["Content-Range", "Content-Length", "Content-Encoding"].map(header);
    let head = Head {
        status: response.status(),
        content_range: range.as_deref(),
        content_length: length.as_deref(),
        content_encoding: encoding.as_deref(),
    };
    (
        requested.check(&head),
        header("Retry-After").and_then(|text| seconds_until(&text)),
    )
}

/// Returns a range of a file that was received whole.
fn cut(bytes: &[u8], range: &Range<u64>) -> Result<Vec<u8>, SourceErrorKind> {
    let part = bytes
        .get(range.start as usize..range.end as usize)
        .map(<[u8]>::to_vec);
    part.ok_or(SourceErrorKind::Short {
        expected: range.end,
        found: bytes.len() as u64,
    })
}

/// Parses `Retry-After`, in seconds or as a date.
fn seconds_until(text: &str) -> Option<Duration> {
    let seconds = text.trim_ascii().parse::<u32>().map(f64::from).ok();
    let seconds =
        seconds.unwrap_or_else(|| (js_sys::Date::parse(text) - js_sys::Date::now()) / 1e3);
    // Ignores dates that are malformed, in the past or too far away.
    Duration::try_from_secs_f64(seconds).ok()
}
