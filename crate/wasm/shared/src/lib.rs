//! Shared parts of the WASM modules of the npm package: errors, conversion to JavaScript, and the allocator.
#![cfg(target_arch = "wasm32")]

use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::JsValue;

/// Smaller and faster than the allocator of the standard library.
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// An error with the fields of the package's `ErrorFields`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WasmError {
    /// Code of the error, as documented in the package.
    pub code: &'static str,
    /// Reason.
    pub message: String,
    /// URL of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Status of the host's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// End of the game: checkmate or stalemate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
    /// Seconds to wait, if the host requests it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<f64>,
}

impl WasmError {
    /// Returns an error with a code and a message.
    pub fn new(code: &'static str, message: impl Into<String>) -> WasmError {
        let (url, status, outcome, retry_after) = (None, None, None, None);
        WasmError {
            code,
            message: message.into(),
            url,
            status,
            outcome,
            retry_after,
        }
    }

    /// Reports a wrong argument.
    pub fn usage(message: impl Into<String>) -> WasmError {
        WasmError::new("usage", message)
    }

    /// Reports that the game is over, so that there is nothing to evaluate.
    pub fn over(is_checkmate: bool) -> WasmError {
        let outcome = if is_checkmate {
            "checkmate"
        } else {
            "stalemate"
        };
        let message = [
            "the game is over by ",
            outcome,
            ", so there is nothing to evaluate",
        ]
        .concat();
        WasmError {
            outcome: Some(outcome),
            ..WasmError::new("over", message)
        }
    }
}

impl From<WasmError> for JsValue {
    fn from(error: WasmError) -> JsValue {
        to_js(&error)
    }
}

/// Converts a value to plain JavaScript. The types of the modules cannot fail.
pub fn to_js(value: &impl Serialize) -> JsValue {
    value
        .serialize(&Serializer::json_compatible())
        .unwrap_or_default()
}
