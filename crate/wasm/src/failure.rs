//! Failures as the package tells them.

use std::io::ErrorKind;

use js_sys::{Function, Reflect};
use serde::Serialize;
use shelfish::position::FenError;
use shelfish::reader::ReadError;
use shelfish::source::{SourceError, SourceErrorKind};
use shelfish::table::TableError;
use wasm_bindgen::JsValue;

/// What went wrong, with its code as documented in the package.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The status with which the host answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// How the game ended, if it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    /// Seconds for which the host asks to be left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<f64>,
    /// What it was made of in JavaScript.
    #[serde(skip)]
    cause: JsValue,
}

impl Failure {
    fn new(code: &'static str, message: impl Into<String>) -> Failure {
        let (url, status, outcome, retry_after, cause) = (None, None, None, None, JsValue::UNDEFINED);
        Failure { code, message: message.into(), url, status, outcome, retry_after, cause }
    }

    /// An argument that is not what it should be.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::new("usage", message)
    }

    /// What it tells of is inside of this.
    pub fn within(mut self, name: &str) -> Failure {
        self.message = format!("{name}.{}", self.message);
        self
    }

    /// The lookup or opening was aborted, for a reason that the caller gave.
    pub fn aborted(reason: JsValue) -> Failure {
        Failure { cause: reason, ..Failure::new("aborted", "the lookup was aborted") }
    }

    /// The database was closed.
    pub fn closed() -> Failure {
        Failure::new("closed", "the database was closed")
    }

    /// The side to move has no move, so there is nothing to evaluate: checkmate or stalemate.
    #[cfg(not(feature = "moves"))]
    pub fn over(is_checkmate: bool) -> Failure {
        let outcome = if is_checkmate { "checkmate" } else { "stalemate" };
        let message = format!("the game is over by {outcome}, so there is nothing to evaluate");
        Failure { outcome: Some(outcome), ..Failure::new("over", message) }
    }

    /// What may be wrong with the URL by which a database was opened.
    pub fn at_opening(mut self, url: &str) -> Failure {
        // Texts that are split or asked what they contain bring the search for texts.
        let mut name = url.bytes().rev().take_while(|byte| *byte != b'/');
        if matches!(self.code, "manifest" | "status") && !name.any(|byte| byte == b'.') {
            self.message.push_str("; if it is the URL of a folder, it must end with a slash");
        }
        self
    }

    /// The package's error, by what makes one of a plain object and a cause.
    pub fn into_error(mut self, make: &Function) -> JsValue {
        if self.code == "network" && self.url.as_deref().is_some_and(is_foreign) {
            self.message.push_str(
                "; as it is of another origin, its host must send Access-Control-Allow-Origin, and a \
                 Content-Security-Policy of the page must have it in connect-src",
            );
        }
        let plain = serde_wasm_bindgen::to_value(&self).unwrap_or_default();
        make.call2(&JsValue::UNDEFINED, &plain, &self.cause).unwrap_or_else(|thrown| thrown)
    }
}

/// Whether a URL is of another origin than the page or worker; nothing is where there is neither.
fn is_foreign(url: &str) -> bool {
    let get = |object: &JsValue, name: &str| Reflect::get(object, &name.into()).ok();
    let origin = get(&js_sys::global(), "location").and_then(|location| get(&location, "origin")?.as_string());
    origin.is_some_and(|origin| url.strip_prefix(&origin).is_none_or(|rest| !rest.starts_with('/')))
}

impl From<FenError> for Failure {
    fn from(error: FenError) -> Failure {
        Failure::new("fen", error.to_string())
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Failure {
        let mut failure = Failure::new(code(&error), error.to_string());
        let mut inner = &error;
        while let ReadError::Stale(error) = inner {
            inner = error;
        }
        match inner {
            ReadError::Source(SourceError { at, kind, retry_after }) => {
                failure.url = Some(at.clone());
                failure.retry_after = retry_after.map(|time| time.as_secs_f64());
                failure.status = if let SourceErrorKind::Status(status) = kind { Some(*status) } else { None };
            }
            ReadError::Table { at, .. } => failure.url = Some(at.clone()),
            _ => {}
        }
        failure
    }
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
