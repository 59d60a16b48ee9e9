//! Errors of the reader in JavaScript.

use std::io::ErrorKind;

use js_sys::{Function, Reflect};
use shelfish::position::FenError;
use shelfish::reader::ReadError;
use shelfish::source::{SourceError, SourceErrorKind};
use shelfish::table::TableError;
use shelfish_wasm_shared::{WasmError, to_js};
use wasm_bindgen::JsValue;

/// Reports that the call was aborted, for a reason of the caller.
pub fn aborted(reason: JsValue) -> WasmError {
    WasmError { cause: reason, ..WasmError::new("aborted", "the lookup was aborted") }
}

/// Reports that the database was closed.
pub fn closed() -> WasmError {
    WasmError::new("closed", "the database was closed")
}

/// Reports an invalid FEN.
pub fn invalid_fen(error: FenError) -> WasmError {
    WasmError::new("fen", error.to_string())
}

/// Adds advice about the URL to an error of the opening.
pub fn at_opening(mut error: WasmError, url: &str) -> WasmError {
    // Splitting a text, or searching for a text in it, would add much code.
    let mut name = url.bytes().rev().take_while(|byte| *byte != b'/');
    if matches!(error.code, "manifest" | "status") && !name.any(|byte| byte == b'.') {
        error.message.push_str("; if it is the URL of a folder, it must end with a slash");
    }
    error
}

/// Makes the package's error.
pub fn into_js(mut error: WasmError, make_error: &Function) -> JsValue {
    if error.code == "network" && error.url.as_deref().is_some_and(is_foreign) {
        error.message.push_str(
            "; as it is of another origin, its host must send Access-Control-Allow-Origin, and a \
             Content-Security-Policy of the page must have it in connect-src",
        );
    }
    make_error.call2(&JsValue::UNDEFINED, &to_js(&error), &error.cause).unwrap_or_else(|thrown| thrown)
}

/// Whether a URL has another origin than the page or Worker. Returns `false` if there is neither.
fn is_foreign(url: &str) -> bool {
    let get = |object: &JsValue, name: &str| Reflect::get(object, &name.into()).ok();
    let origin = get(&js_sys::global(), "location").and_then(|location| get(&location, "origin")?.as_string());
    origin.is_some_and(|origin| url.strip_prefix(&origin).is_none_or(|rest| !rest.starts_with('/')))
}

/// Converts an error of the reader.
pub fn read_error(error: ReadError) -> WasmError {
    let mut converted = WasmError::new(code(&error), error.to_string());
    let mut inner = &error;
    while let ReadError::Stale(error) = inner {
        inner = error;
    }
    match inner {
        ReadError::Source(SourceError { at, kind, retry_after }) => {
            converted.url = Some(at.clone());
            converted.retry_after = retry_after.map(|time| time.as_secs_f64());
            converted.status = if let SourceErrorKind::Status(status) = kind { Some(*status) } else { None };
        }
        ReadError::Table { at, .. } => converted.url = Some(at.clone()),
        _ => {}
    }
    converted
}

fn code(error: &ReadError) -> &'static str {
    match error {
        ReadError::Source(SourceError { kind, .. }) => match kind {
            SourceErrorKind::Io(ErrorKind::NotFound, _) => "status",
            SourceErrorKind::Io(ErrorKind::UnexpectedEof, _) => "range",
            SourceErrorKind::Network(_) | SourceErrorKind::Io(..) => "network",
            SourceErrorKind::Timeout(_) => "timeout",
            SourceErrorKind::Status(_) => "status",
            SourceErrorKind::Integrity { .. } => "integrity",
            _ => "range",
        },
        ReadError::Table { error, .. } => match error {
            TableError::Version { .. } => "version",
            TableError::Manifest(_) | TableError::Kind { .. } => "manifest",
            _ => "corrupt",
        },
        ReadError::Stale(_) => "stale",
        _ => "network",
    }
}
