//! Files behind `fetch`.

use core::cell::{Cell, RefCell};
use core::ops::Range;
use core::time::Duration;
use std::io::ErrorKind;

use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use js_sys::{Array, Function, IteratorNext, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, Headers, ReadableStreamDefaultReader, RequestCache, RequestInit, Response,
};
use web_time::Instant;

use super::time::{is_foreign, is_isolated, is_offline, pause};
use super::{bytes_of, reason};
use crate::source::http::{Body, Head, Requested, TIMEOUT, base, split_query, time_limit};
use crate::source::retry::RetryPolicy;
use crate::source::{Source, SourceError, SourceErrorKind, Traffic};
use crate::table::Manifest;

#[wasm_bindgen]
extern "C" {
    /// Calls the `fetch` of a window, a worker or another runtime.
    #[wasm_bindgen(js_name = fetch, catch)]
    fn global_fetch(url: &str, init: &RequestInit) -> Result<Promise, JsValue>;
}

/// Maximum number of whole files in memory.
const MAX_WHOLE: usize = 8;

/// Options of a [`Fetch`].
#[derive(Debug)]
pub struct FetchOptions {
    /// The name under which the file at the URL of the manifest is requested, `manifest.json` by default.
    pub manifest_file: &'static str,
    /// The retry policy. Its total time is the timeout of a request, 20 seconds by default. Each 16 KiB received extend it by one
    /// second.
    pub retry: RetryPolicy,
    /// Headers of every request. Another origin must allow them (`Access-Control-Allow-Headers`), and each range takes a preflight
    /// there. `Range` is not for the caller to set.
    pub headers: Option<Headers>,
    /// A function instead of the global `fetch`.
    pub function: Option<Function>,
    /// An object instead of `fetch`, with `whole(file, cap)` and `range(file, start, end)`, which return promises of bytes. The URL is
    /// then that of the folder.
    pub object: Option<JsValue>,
    /// The promise of the response to a request for the manifest that was sent before, and the controller that aborts the request.
    pub early: Option<(Promise, AbortController)>,
}

impl Default for FetchOptions {
    fn default() -> FetchOptions {
        FetchOptions {
            manifest_file: Manifest::FILE,
            retry: RetryPolicy::default().with_total_time(TIMEOUT),
            headers: None,
            function: None,
            object: None,
            early: None,
        }
    }
}

/// The database of a manifest's URL, by `fetch`.
///
/// Ranges are requested with `cache: "no-store"`: the cache of Chromium allows only one range request per URL at a time,
/// and the reader caches ranges itself. If the request for the manifest is redirected, the other files are read from the
/// folder of its final URL ([`base`] has an exception), with its query, which is no part of [`locate`](Source::locate). If a host
/// ignores ranges, a small file is kept whole until the manifest is read again, and one warning is logged.
pub struct Fetch {
    manifest: String,
    options: FetchOptions,
    /// The folder of the files, with a trailing slash, and their query; known after the manifest was received.
    base: RefCell<(String, String)>,
    early: RefCell<Option<(Promise, AbortController)>>,
    /// Files that were received whole instead of a range since the manifest was last read.
    whole: RefCell<Vec<(String, Vec<u8>)>>,
    /// Whether the warning about ignored ranges was logged.
    is_warned: Cell<bool>,
    /// Whether each call must send its own requests.
    is_isolated: bool,
    /// Whether the host has answered.
    has_answered: Cell<bool>,
    traffic: Cell<Traffic>,
}

impl Fetch {
    /// Creates a source of the database whose manifest is at an absolute URL, or whose files an object returns.
    pub fn new(manifest: &str, mut options: FetchOptions) -> Fetch {
        Fetch {
            manifest: manifest.to_string(),
            base: RefCell::new(match options.object {
                Some(_) => owned((manifest, "")),
                None => owned(base(manifest, manifest)),
            }),
            early: RefCell::new(options.early.take()),
            options,
            whole: RefCell::default(),
            is_warned: Cell::new(false),
            is_isolated: is_isolated(),
            has_answered: Cell::new(false),
            traffic: Cell::default(),
        }
    }

    /// Calls `fetch`.
    fn fetch(
        &self,
        url: &str,
        range: Option<&str>,
        controller: &AbortController,
    ) -> Result<Promise, JsValue> {
        let init = RequestInit::new();
        init.set_signal(Some(&controller.signal()));
        init.set_cache(if range.is_some() {
            RequestCache::NoStore
        } else {
            RequestCache::NoCache
        });
        let headers = match &self.options.headers {
            Some(headers) => Headers::new_with_headers(headers)?,
            None => Headers::new()?,
        };
        if let Some(range) = range {
            headers.set("Range", range)?;
        }
        init.set_headers(&headers);
        match &self.options.function {
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
            SourceErrorKind::Offline
        } else if !self.has_answered.get() && is_foreign(url) {
            SourceErrorKind::Blocked(reason(error))
        } else {
            SourceErrorKind::Network(reason(error))
        }
    }

    /// Sends a request once, and counts the bytes of its body in `received`.
    async fn attempt(
        &self,
        url: &str,
        file: &str,
        requested: &Requested,
        received: &Cell<u64>,
    ) -> Result<Vec<u8>, SourceError> {
        received.set(0);
        let network = |error: JsValue| self.unanswered(url, &error);
        self.count(1, 0);
        if let Some(object) = &self.options.object {
            return Ok(self.ask(object, file, requested).await?);
        }
        let range = requested.range_header();
        let early = if range.is_none() {
            self.early.take()
        } else {
            None
        };
        let (response, request) = match early {
            Some((response, controller)) => (Ok(response), Abort(controller)),
            None => {
                let request = Abort(AbortController::new().map_err(network)?);
                (self.fetch(url, range.as_deref(), &request.0), request)
            }
        };
        let response = JsFuture::from(response.map_err(network)?)
            .await
            .map_err(network)?;
        let headers = Reflect::get(&response, &"headers".into());
        if !headers.is_ok_and(|headers| headers.is_object()) {
            return Err(SourceErrorKind::Network("fetch returned no Response".to_string()).into());
        }
        self.has_answered.set(true);
        let response: Response = response.unchecked_into();
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
        let bytes = self.read(&response, file, requested.check(&head), received);
        let bytes = bytes.await.map_err(|kind| SourceError {
            retry_after: header("Retry-After").and_then(|text| seconds_until(&text)),
            ..kind.into()
        })?;
        drop(request);
        if file == self.options.manifest_file {
            // The next response may be redirected elsewhere, or not at all.
            let found = if response.redirected() {
                response.url()
            } else {
                self.manifest.clone()
            };
            self.base.replace(owned(base(&self.manifest, &found)));
        }
        Ok(bytes)
    }

    /// Asks the object of the caller once.
    async fn ask(
        &self,
        object: &JsValue,
        file: &str,
        requested: &Requested,
    ) -> Result<Vec<u8>, SourceErrorKind> {
        let failed = |error: JsValue| {
            let get = |name: &str| Reflect::get(&error, &name.into()).unwrap_or_default();
            match (get("status").as_f64(), get("code").as_string().as_deref()) {
                (Some(status), _) => SourceErrorKind::Status(status as u16),
                (_, Some("missing" | "ENOENT")) => {
                    SourceErrorKind::Io(ErrorKind::NotFound, reason(&error))
                }
                (_, Some("range")) => SourceErrorKind::Io(ErrorKind::UnexpectedEof, reason(&error)),
                _ => SourceErrorKind::Network(reason(&error)),
            }
        };
        let (method, status) = match requested {
            Requested::Range(_) => ("range", 206),
            Requested::Whole { .. } => ("whole", 200),
        };
        let arguments = Array::of1(&file.into());
        match *requested {
            Requested::Range(Range { start, end }) => {
                arguments.push(&(start as f64).into());
                arguments.push(&(end as f64).into())
            }
            Requested::Whole { cap } => arguments.push(&(cap as f64).into()),
        };
        let function: Function = Reflect::get(object, &method.into())
            .and_then(JsCast::dyn_into)
            .map_err(failed)?;
        let promise = function.apply(object, &arguments).map_err(failed)?;
        let bytes = JsFuture::from(Promise::resolve(&promise))
            .await
            .map_err(failed)?;
        let bytes = bytes_of(&bytes)
            .ok_or_else(|| SourceErrorKind::Network(format!("{method} returned no Uint8Array")))?;
        self.count(0, bytes.len() as u64);
        let head = Head {
            status,
            ..Head::default()
        };
        let mut body = requested.check(&head)?;
        body.push(&bytes)?;
        body.finish_whole().map(|(bytes, _)| bytes)
    }

    /// Reads a body until it ends or is too long, and returns the requested bytes.
    async fn read(
        &self,
        response: &Response,
        file: &str,
        body: Result<Body, SourceErrorKind>,
        received: &Cell<u64>,
    ) -> Result<Vec<u8>, SourceErrorKind> {
        let mut body = body?;
        let network = |error: JsValue| SourceErrorKind::Network(reason(&error));
        // An empty body is `null`.
        if let Some(stream) = response.body() {
            let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
            loop {
                let piece = JsFuture::from(reader.read()).await.map_err(network)?;
                // The type of the steps of iterators has the same members.
                let piece: IteratorNext = piece.unchecked_into();
                if piece.done() {
                    break;
                }
                let bytes = Uint8Array::new(&piece.value()).to_vec();
                let length = bytes.len() as u64;
                received.set(received.get() + length);
                self.count(0, length);
                body.push(&bytes)?;
            }
        }
        let (whole, part) = body.finish_whole()?;
        let Some(part) = part else {
            return Ok(whole);
        };
        self.warn(file, whole.len());
        let bytes = cut(&whole, &part);
        let mut files = self.whole.borrow_mut();
        files.insert(0, (file.to_string(), whole));
        files.truncate(MAX_WHOLE);
        bytes
    }

    fn warn(&self, file: &str, bytes: usize) {
        if !self.is_warned.replace(true) {
            let text = format!(
                "shelfish: {}: the host ignores range requests, so the whole file of {bytes} bytes was fetched; large \
                 files need status 206",
                self.locate(file)
            );
            web_sys::console::warn_1(&text.into());
        }
    }

    fn count(&self, requests: u64, bytes: u64) {
        let mut traffic = self.traffic.get();
        traffic.requests += requests;
        traffic.bytes += bytes;
        self.traffic.set(traffic);
    }

    /// Requests a part of a file, with retries. All attempts together take at most [`RetryPolicy::total_time`], which the bytes that the
    /// current attempt has received extend: see [`time_limit`].
    async fn get(&self, file: &str, requested: Requested) -> Result<Vec<u8>, SourceError> {
        let at = self.locate(file);
        let url = if file == self.options.manifest_file {
            self.manifest.clone()
        } else {
            [&*at, &self.base.borrow().1].concat()
        };
        let received = Cell::new(0);
        let (started, retry) = (Instant::now(), &self.options.retry);
        let attempt = || {
            self.attempt(&url, file, &requested, &received)
                .boxed_local()
        };
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
                return answer.map_err(|error| SourceError { at, ..error });
            }
        }
    }
}

impl Source for Fetch {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        let part = {
            let whole = self.whole.borrow();
            let whole = whole.iter().find(|(name, _)| name == file);
            whole.map(|(_, bytes)| cut(bytes, &range))
        };
        match part {
            Some(part) => part.map_err(|kind| SourceError::new(self.locate(file), kind)),
            None => self.get(file, Requested::Range(range)).await,
        }
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        // The manifest is read again if the database is inconsistent.
        self.whole.take();
        self.get(file, Requested::Whole { cap }).await
    }

    fn locate(&self, file: &str) -> String {
        if file == self.options.manifest_file && self.options.object.is_none() {
            split_query(&self.manifest).0.to_string()
        } else {
            [&*self.base.borrow().0, file].concat()
        }
    }

    fn is_offline(&self) -> bool {
        self.options.object.is_none() && is_offline()
    }

    fn is_isolated(&self) -> bool {
        self.is_isolated
    }

    fn traffic(&self) -> Option<Traffic> {
        Some(self.traffic.get())
    }
}

fn owned((folder, query): (&str, &str)) -> (String, String) {
    (folder.to_string(), query.to_string())
}

/// Aborts a request that is dropped. A finished request is not affected.
struct Abort(AbortController);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
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
