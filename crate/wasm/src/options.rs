//! Options from JavaScript.

use core::time::Duration;

use js_sys::{Array, Function, Reflect};
use shelfish::reader::Options;
use shelfish::shakmaty::CastlingMode;
use shelfish::source::http::TIMEOUT;
use shelfish::source::integrity::Pin;
use shelfish::source::retry::RetryPolicy;
use shelfish::web::FetchOptions;
use shelfish_wasm_shared::WasmError;
use wasm_bindgen::prelude::*;
use web_sys::Headers;

/// Options by name. `undefined` and `null` are missing options. The package's TypeScript has checked their types.
pub struct Values<'a>(pub &'a JsValue);

impl Values<'_> {
    /// Returns an option.
    fn get(&self, name: &str) -> Option<JsValue> {
        if !self.0.is_object() {
            return None;
        }
        Reflect::get(self.0, &name.into())
            .ok()
            .filter(|value| !value.is_undefined() && !value.is_null())
    }

    /// Returns a number.
    pub fn number(&self, name: &str, otherwise: f64) -> f64 {
        self.get(name)
            .and_then(|value| value.as_f64())
            .unwrap_or(otherwise)
    }

    /// Returns a list of strings.
    pub fn strings(&self, name: &str) -> Option<Vec<String>> {
        let all: Array = self.get(name)?.unchecked_into();
        Some(all.iter().filter_map(|text| text.as_string()).collect())
    }

    /// Returns whether an option is set.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.is_truthy())
    }

    /// Returns the notation of castling.
    pub fn castling(&self) -> CastlingMode {
        let is_chess960 = self
            .get("castling")
            .is_some_and(|value| value == "chess960");
        if is_chess960 {
            CastlingMode::Chess960
        } else {
            CastlingMode::Standard
        }
    }

    /// Returns the options of `open`. `source` may be an object of the caller.
    pub fn open(&self, source: JsValue) -> Result<Open, WasmError> {
        let object = source.is_object().then_some(source);
        let memory = self.number("memoryBytes", (16 << 20) as f64) as usize;
        let concurrency = self.number("concurrency", 32.0) as usize;
        let timeout = self.number("timeout", TIMEOUT.as_millis() as f64);
        // A limit of a year prevents an overflow of the conversion.
        let timeout = Duration::from_secs_f64((timeout / 1e3).min(3e7));
        let integrity = self.get("integrity");
        let integrity = integrity.map(|value| {
            let text = value.as_string().unwrap_or_default();
            let wrong = |_| {
                let expected = "integrity: expected sha256- and a hash in Base64, found ";
                WasmError::usage([expected, &text].concat())
            };
            text.parse::<Pin>().map_err(wrong)
        });
        let cache = match self.get("indexedDB") {
            Some(value) if !value.is_truthy() => None,
            value => {
                let value = value.unwrap_or_default();
                let values = Values(&value);
                let name = values.get("name").and_then(|name| name.as_string());
                Some((
                    name.unwrap_or_else(|| "shelfish".to_string()),
                    values.number("bytes", (64 << 20) as f64) as u64,
                ))
            }
        };
        let headers = self.get("headers").map(|value| {
            // An object, a list of pairs, or `Headers`.
            let headers = Headers::new_with_headers(value.unchecked_ref());
            headers.map_err(|_| WasmError::usage("headers: expected names and values of HTTP"))
        });
        Ok(Open {
            limits: Options::default()
                .with_memory(memory)
                .with_concurrency(concurrency),
            fetch: FetchOptions {
                retry: RetryPolicy::default().with_total_time(timeout),
                function: self.get("fetch").map(JsCast::unchecked_into),
                object,
                headers: headers.transpose()?,
                ..FetchOptions::default()
            },
            pin: integrity.transpose()?,
            cache,
            on_request: self.get("onRequest").map(JsCast::unchecked_into),
        })
    }
}

/// Options of `open`.
pub struct Open {
    /// Limits of the reader.
    pub limits: Options,
    /// Options of requests.
    pub fetch: FetchOptions,
    /// Allowed hashes of the manifest.
    pub pin: Option<Pin>,
    /// Name and maximum size of the cache in IndexedDB.
    pub cache: Option<(String, u64)>,
    /// Listener of requests.
    pub on_request: Option<Function>,
}
