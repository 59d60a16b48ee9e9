//! Queries, and answers as JSON.

use std::fmt::Display;

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde_json::json;
use shelfish::position::FenError;

use crate::terminal::shown::{beginning, shown};

/// Lifetime of an answer in caches. Databases are published monthly.
const MAX_AGE: &str = "public, max-age=3600";

/// Names the parameters that an answer does not follow exactly.
pub(super) const INEXACT: HeaderName = HeaderName::from_static("shelfish-inexact");

/// Reason why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// A parameter has a wrong value.
    #[error("{parameter}: expected {expected}, found {found:?}")]
    Value {
        parameter: String,
        expected: String,
        found: String,
    },
    /// The value of a parameter is not UTF-8.
    #[error("{0}: expected UTF-8")]
    Utf8(String),
    /// A played move is not legal.
    #[error("play: {0:?} is not a legal move")]
    Move(String),
    /// The query has no FEN.
    #[error("fen: expected {0}?fen=FEN, found no fen")]
    NoFen(&'static str),
    /// The FEN is invalid.
    #[error("fen: {0}")]
    Fen(#[from] FenError),
    /// The source lacks the position, or the server lacks the source.
    #[error("{0}")]
    Missing(String),
    /// The source cannot be read. The log has the reason.
    #[error("the {0} cannot be read, see the server's log")]
    Failed(&'static str),
}

impl Refusal {
    /// Creates the error of a wrong value.
    pub(super) fn value(parameter: &str, expected: impl Into<String>, found: &str) -> Refusal {
        Refusal::Value {
            parameter: beginning(parameter),
            expected: expected.into(),
            found: beginning(found),
        }
    }

    /// Logs that a source cannot be read.
    pub(super) fn failed(what: &'static str, question: &str, error: &impl Display) -> Refusal {
        eprintln!(
            "shelfish: {}: {}",
            shown(&beginning(question)),
            shown(&error.to_string())
        );
        Refusal::Failed(what)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match self {
            Refusal::Missing(_) => StatusCode::NOT_FOUND,
            Refusal::Failed(_) => StatusCode::BAD_GATEWAY,
            _ => StatusCode::BAD_REQUEST,
        };
        answer(status, &json!({ "error": self.to_string() }))
    }
}

/// Formats an answer as JSON.
pub(super) fn answer(status: StatusCode, value: &impl Serialize) -> Response {
    let Ok(body) = serde_json::to_vec(value) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let is_kept = status == StatusCode::OK || status == StatusCode::NOT_FOUND;
    let age = if is_kept { MAX_AGE } else { "no-store" };
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, age)];
    (status, headers, body).into_response()
}

/// Returns the names and decoded values of a query.
pub(super) fn parameters(query: &str) -> impl Iterator<Item = (&str, Result<String, Refusal>)> {
    let decoded = |(name, value): (&'_ str, &str)| {
        let value = value.replace('+', " ");
        let text = percent_decode_str(&value).decode_utf8();
        text.map(|text| text.into_owned())
            .map_err(|_| Refusal::Utf8(beginning(name)))
    };
    query
        .split('&')
        .filter_map(|part| part.split_once('='))
        .map(move |part| (part.0, decoded(part)))
}

/// Returns the FEN of a query.
pub(super) fn fen_of(query: &str) -> Option<String> {
    let fens = parameters(query).filter(|(name, _)| *name == "fen");
    fens.last().and_then(|(_, value)| value.ok())
}

/// Checks that a variant has the rules of chess.
pub(super) fn check_variant(variant: &str) -> Result<(), Refusal> {
    match variant {
        "" | "standard" | "chess960" | "fromPosition" => Ok(()),
        _ => Err(Refusal::value("variant", "standard or chess960", variant)),
    }
}
