//! Options from JavaScript.

use core::time::Duration;

use js_sys::{Function, Reflect};
use shelfish::reader;
use shelfish::shakmaty::CastlingMode;
use shelfish::source::integrity::Pin;
use shelfish::source::retry::RetryPolicy;
use shelfish_wasm_shared::WasmError;
use wasm_bindgen::prelude::*;
use web_sys::{AbortSignal, Headers};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = String)]
    fn text(value: &JsValue) -> String;
}

/// Options by name. `undefined` and `null` are missing options.
pub struct Values<'a>(pub &'a JsValue);

impl Values<'_> {
    /// Returns an option.
    fn get(&self, name: &str) -> Option<JsValue> {
        if !self.0.is_object() {
            return None;
        }
        Reflect::get(self.0, &name.into()).ok().filter(|value| !value.is_undefined() && !value.is_null())
    }

    fn string(&self, name: &str) -> Result<Option<String>, WasmError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_string().map(Some).ok_or_else(|| wrong(name, "a text", &value))
    }

    /// Returns a number of at least `least`.
    pub fn number(&self, name: &str, least: f64, otherwise: f64) -> Result<f64, WasmError> {
        let Some(value) = self.get(name) else { return Ok(otherwise) };
        let number = value.as_f64().filter(|number| *number >= least);
        // JavaScript formats the number: the code for it in Rust would be as large as this file.
        number.ok_or_else(|| wrong(name, &format!("a number of at least {}", text(&least.into())), &value))
    }

    /// Returns a list of strings.
    pub fn strings(&self, name: &str) -> Result<Option<Vec<String>>, WasmError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let all = value.dyn_ref::<js_sys::Array>();
        let list = all.and_then(|all| all.iter().map(|text| text.as_string()).collect::<Option<Vec<String>>>());
        list.map(Some).ok_or_else(|| wrong(name, "a list of texts", &value))
    }

    /// Whether an option is set.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.is_truthy())
    }

    /// Returns the signal.
    pub(crate) fn signal(&self) -> Result<Option<AbortSignal>, WasmError> {
        let Some(signal) = self.get("signal") else { return Ok(None) };
        let is_signal = signal.is_object() && Reflect::has(&signal, &"aborted".into()).unwrap_or(false);
        if is_signal { Ok(Some(signal.unchecked_into())) } else { Err(wrong("signal", "an AbortSignal", &signal)) }
    }

    fn function(&self, name: &str) -> Result<Option<Function>, WasmError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.dyn_into().map(Some).map_err(|value| wrong(name, "a function", &value))
    }

    /// Returns the notation of castling.
    pub fn castling(&self) -> Result<CastlingMode, WasmError> {
        let Some(value) = self.get("castling") else { return Ok(CastlingMode::Standard) };
        match value.as_string().as_deref() {
            Some("standard") => Ok(CastlingMode::Standard),
            Some("chess960") => Ok(CastlingMode::Chess960),
            _ => Err(wrong("castling", "\"standard\" or \"chess960\"", &value)),
        }
    }

    /// Returns the options of `open`.
    pub(crate) fn open(&self) -> Result<Open, WasmError> {
        let memory = self.number("memoryBytes", 0.0, (16 << 20) as f64)? as usize;
        let concurrency = self.number("concurrency", 1.0, 12.0)? as usize;
        let timeout = self.number("timeout", 1.0, 15_000.0)?;
        // At most a year, so that the conversion cannot fail.
        let timeout = Duration::from_secs_f64((timeout / 1e3).min(3e7));
        let integrity = self.get("integrity");
        let integrity = integrity.map(|value| {
            let text = value.as_string();
            let pin = text.and_then(|text| text.parse::<Pin>().ok());
            pin.ok_or_else(|| wrong("integrity", "sha256- and a hash in Base64", &value))
        });
        let cache = match self.get("indexedDB") {
            Some(value) if !value.is_truthy() => None,
            value => {
                let value = value.unwrap_or_default();
                let values = Values(&value);
                let name = values.string("name");
                let both = name.and_then(|name| Ok((name, values.number("bytes", 0.0, (64 << 20) as f64)?)));
                let (name, bytes) = both.map_err(|mut error: WasmError| {
                    error.message = ["indexedDB.", &error.message].concat();
                    error
                })?;
                Some((name.unwrap_or_else(|| "shelfish".to_string()), bytes as u64))
            }
        };
        let headers = self.get("headers").map(|value| {
            // An object, a list of pairs, or `Headers`.
            Headers::new_with_headers(value.unchecked_ref()).map_err(|_| wrong("headers", "names and values", &value))
        });
        Ok(Open {
            reader: reader::Options::default().with_memory(memory).with_concurrency(concurrency),
            retry: RetryPolicy::default().with_total_time(timeout),
            pin: integrity.transpose()?,
            cache,
            fetch: self.function("fetch")?,
            headers: headers.transpose()?,
            on_request: self.function("onRequest")?,
        })
    }
}

/// Options of `open`.
pub struct Open {
    pub reader: reader::Options,
    pub retry: RetryPolicy,
    /// Allowed hashes of the manifest.
    pub pin: Option<Pin>,
    /// Name and maximum size of the cache in IndexedDB.
    pub cache: Option<(String, u64)>,
    pub fetch: Option<Function>,
    pub headers: Option<Headers>,
    pub on_request: Option<Function>,
}

fn wrong(name: &str, expected: &str, found: &JsValue) -> WasmError {
    WasmError::usage(format!("{name}: expected {expected}, found {}", describe(found)))
}

/// Describes a value.
fn describe(value: &JsValue) -> String {
    if value.is_string() {
        return js_sys::JSON::stringify(value).map_or_else(|_| String::new(), |text| text.slice(0, 82).into());
    }
    if value.is_object() || value.is_function() {
        format!("a value of type {}", text(&value.js_typeof()))
    } else {
        text(value)
    }
}
