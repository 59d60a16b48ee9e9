//! Options as JavaScript gives them, checked.

use core::time::Duration;

use js_sys::{Function, Reflect};
use shelfish::reader;
use shelfish::shakmaty::CastlingMode;
use shelfish::source::integrity::Pin;
use shelfish::source::retry::RetryPolicy;
use wasm_bindgen::prelude::*;
use web_sys::{AbortSignal, Headers};

use crate::failure::Failure;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = String)]
    fn text(value: &JsValue) -> String;
}

/// Named values; `undefined` and `null` are none.
pub struct Values<'a>(pub &'a JsValue);

impl Values<'_> {
    /// The value of a name, unless it is absent.
    fn get(&self, name: &str) -> Option<JsValue> {
        if !self.0.is_object() {
            return None;
        }
        Reflect::get(self.0, &name.into()).ok().filter(|value| !value.is_undefined() && !value.is_null())
    }

    fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_string().map(Some).ok_or_else(|| wrong(name, "a text", &value))
    }

    pub fn number(&self, name: &str, least: f64, otherwise: f64) -> Result<f64, Failure> {
        let Some(value) = self.get(name) else { return Ok(otherwise) };
        let number = value.as_f64().filter(|number| *number >= least);
        // A number as JavaScript writes it: the code that does so in Rust is as large as all of this.
        number.ok_or_else(|| wrong(name, &format!("a number of at least {}", text(&least.into())), &value))
    }

    /// The texts of a list.
    #[cfg(feature = "moves")]
    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Failure> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let all = value.dyn_ref::<js_sys::Array>();
        let list = all.and_then(|all| all.iter().map(|text| text.as_string()).collect::<Option<Vec<String>>>());
        list.map(Some).ok_or_else(|| wrong(name, "a list of texts", &value))
    }

    #[cfg(not(feature = "moves"))]
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.is_truthy())
    }

    /// The signal, if there is one.
    pub fn signal(&self) -> Result<Option<AbortSignal>, Failure> {
        let Some(signal) = self.get("signal") else { return Ok(None) };
        let is_signal = signal.is_object() && Reflect::has(&signal, &"aborted".into()).unwrap_or(false);
        if is_signal { Ok(Some(signal.unchecked_into())) } else { Err(wrong("signal", "an AbortSignal", &signal)) }
    }

    fn function(&self, name: &str) -> Result<Option<Function>, Failure> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.dyn_into().map(Some).map_err(|value| wrong(name, "a function", &value))
    }

    /// How castling is to be written.
    pub fn castling(&self) -> Result<CastlingMode, Failure> {
        let Some(value) = self.get("castling") else { return Ok(CastlingMode::Standard) };
        match value.as_string().as_deref() {
            Some("standard") => Ok(CastlingMode::Standard),
            Some("chess960") => Ok(CastlingMode::Chess960),
            _ => Err(wrong("castling", "\"standard\" or \"chess960\"", &value)),
        }
    }

    /// How a database is opened.
    pub fn open(&self) -> Result<Open, Failure> {
        let memory = self.number("memoryBytes", 0.0, (16 << 20) as f64)? as usize;
        let concurrency = self.number("concurrency", 1.0, 12.0)? as usize;
        let timeout = self.number("timeout", 1.0, 15_000.0)?;
        // Nobody waits for longer than a year.
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
                let name = values.text("name");
                let both = name.and_then(|name| Ok((name, values.number("bytes", 0.0, (64 << 20) as f64)?)));
                let (name, bytes) = both.map_err(|failure| failure.within("indexedDB"))?;
                Some((name.unwrap_or_else(|| "shelfish".to_string()), bytes as u64))
            }
        };
        let headers = self.get("headers").map(|value| {
            // An object, a list of pairs, or Headers: whatever `fetch` takes.
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

/// How a database is opened.
pub struct Open {
    pub reader: reader::Options,
    pub retry: RetryPolicy,
    /// The hashes that the manifest may have.
    pub pin: Option<Pin>,
    /// Name and bytes of the cache in IndexedDB.
    pub cache: Option<(String, u64)>,
    pub fetch: Option<Function>,
    pub headers: Option<Headers>,
    pub on_request: Option<Function>,
}

fn wrong(name: &str, expected: &str, found: &JsValue) -> Failure {
    Failure::usage(format!("{name}: expected {expected}, found {}", describe(found)))
}

/// A value in a few words.
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
