//! Numbers of requests, by which an answer is found in the log.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

/// Header of the number.
pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of the number of a client.
const MAX_LENGTH: usize = 64;

tokio::task_local! {
    /// Number of the current request.
    static CURRENT: String;
}

/// Returns the number of the current request, or `-` outside of a request.
pub(super) fn current() -> String {
    CURRENT
        .try_with(String::clone)
        .unwrap_or_else(|_| "-".to_owned())
}

/// Gives the request the number that its client sent, or a new number, and returns it in the answer.
pub(super) async fn identify(request: Request, next: Next) -> Response {
    let id = sent(request.headers()).unwrap_or_else(|| format!("{:016x}", fastrand::u64(..)));
    let value = HeaderValue::from_str(&id);
    let mut response = CURRENT.scope(id, next.run(request)).await;
    if let Ok(value) = value {
        response.headers_mut().insert(X_REQUEST_ID, value);
    }
    response
}

/// Returns the number that the client sent, if it is short and plain, so that it cannot look like other fields of the log.
fn sent(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(X_REQUEST_ID).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let value = value
        .to_str()
        .ok()
        .filter(|value| (1..=MAX_LENGTH).contains(&value.len()))?;
    value
        .as_bytes()
        .iter()
        .all(is_plain)
        .then(|| value.to_owned())
}
