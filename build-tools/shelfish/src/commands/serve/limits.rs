//! Limits of connections and requests, so that no client can occupy the server.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use axum::http::{HeaderValue, StatusCode, Version};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

use crate::system::{duration, size};

/// Number of open files besides connections: of the database, of its host, of the runtime.
const OTHER_FILES: u64 = 512;

/// Limits of connections and requests.
#[derive(clap::Args, Clone, Debug, Default)]
#[group(id = "limit_args")]
pub struct Args {
    /// Limit the number of connections. Beyond it, the connection that has waited longest is closed
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) max_connections: u32,
    /// Limit the length of a URL; a longer URL is answered with 414
    #[arg(long, value_name = "SIZE", default_value = "8KiB", value_parser = size::within(256, 1 << 20))]
    max_url: u64,
    /// Limit the size of the URL and the headers together; more bytes, or more than 100 headers, are answered with 431
    #[arg(long, value_name = "SIZE", default_value = "32KiB", value_parser = size::within(8 << 10, 1 << 20))]
    pub(super) max_head: u64,
    /// Time for the URL and the headers of a request. The time that an open connection waits for a request counts: 30s, 1m
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration::positive)]
    pub(super) head_timeout: Duration,
    /// Time that answers may wait for a client that does not read them; every 16 KiB that it reads restore a second
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration::positive)]
    pub(super) answer_timeout: Duration,
    /// Time for pending answers after Ctrl-C or SIGTERM
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::positive)]
    pub(super) stop_timeout: Duration,
}

/// Reasons to refuse a request before it is routed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// The URL is longer than this number of bytes.
    Url { limit: u64 },
    /// The target of the request is not a path.
    Target,
    /// The request has a body.
    Body,
    /// The number of `Host` headers.
    Host { found: usize },
}

impl Args {
    /// Refuses requests that exceed the limits, before `app` answers them.
    pub(super) fn before(&self, app: Router) -> Router {
        app.layer(middleware::from_fn_with_state(
            Arc::new(self.clone()),
            check,
        ))
    }

    /// Raises the limit of open files of this process, and returns the number of connections that it permits.
    pub(super) fn connections(&self) -> usize {
        let wanted = u64::from(self.max_connections);
        let files = open_files(wanted + OTHER_FILES);
        // A low limit of files leaves half of them to connections.
        let permitted = wanted
            .min(files.saturating_sub(OTHER_FILES).max(files / 2))
            .max(1);
        if permitted < wanted {
            eprintln!(
                "shelfish: this process may open {files} files: at most {permitted} connections instead of {wanted}; raise \
                 `ulimit -n`"
            );
        }
        permitted as usize
    }

    fn refusal(&self, request: &Request) -> Option<Refusal> {
        let uri = request.uri();
        let url = uri.path().len() + uri.query().map_or(0, |query| query.len() + 1);
        if url as u64 > self.max_url {
            return Some(Refusal::Url {
                limit: self.max_url,
            });
        }
        if !uri.path().starts_with('/') {
            return Some(Refusal::Target);
        }
        let headers = request.headers();
        let is_empty = headers
            .get_all(CONTENT_LENGTH)
            .iter()
            .all(|length| length == "0");
        if !is_empty || headers.contains_key(TRANSFER_ENCODING) {
            return Some(Refusal::Body);
        }
        let found = headers.get_all(HOST).iter().count();
        let is_named = found == 1 || (found == 0 && request.version() == Version::HTTP_10);
        (!is_named).then_some(Refusal::Host { found })
    }
}

async fn check(State(limits): State<Arc<Args>>, request: Request, next: Next) -> Response {
    match limits.refusal(&request) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, why) = match self {
            Refusal::Url { limit } => (
                StatusCode::URI_TOO_LONG,
                format!("expected a URL of at most {limit} bytes"),
            ),
            Refusal::Target => (
                StatusCode::BAD_REQUEST,
                "expected a path such as /healthz".to_owned(),
            ),
            Refusal::Body => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "expected a request without a body".to_owned(),
            ),
            Refusal::Host { found } => (
                StatusCode::BAD_REQUEST,
                format!("expected one Host header, found {found}"),
            ),
        };
        // The body is not read, so that no other request can follow it.
        let close = [(CONNECTION, HeaderValue::from_static("close"))];
        let kind = [(CONTENT_TYPE, "application/json")];
        (status, close, kind, format!("{{\"error\":\"{why}\"}}")).into_response()
    }
}

/// Raises the limit of open files to `wanted` if the system permits it, and returns the limit.
#[cfg(unix)]
fn open_files(wanted: u64) -> u64 {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return wanted;
    };
    let raised = wanted.clamp(soft, hard.max(soft));
    match setrlimit(Resource::RLIMIT_NOFILE, raised, hard) {
        Ok(()) => raised,
        Err(_) => soft,
    }
}

/// Returns `wanted`, because the number of open files is not limited.
#[cfg(not(unix))]
fn open_files(wanted: u64) -> u64 {
    wanted
}
