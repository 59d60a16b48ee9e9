//! Files with the headers that good hosts send, and a simulated network.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_RANGE,
    LAST_MODIFIED, RANGE,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use futures_util::StreamExt as _;
use tower_http::cors::{AllowHeaders, AllowMethods, Any, CorsLayer};
use tower_http::services::{ServeDir, ServeFile};
use tower_http::set_header::SetResponseHeaderLayer;

use super::{Args, ServeError};

/// Serves files with their headers. `no-cache` makes a rebuilt file visible at once.
pub(super) fn router(args: &Args) -> Result<Router, ServeError> {
    if !args.dir.is_dir() {
        return Err(ServeError::NoDirectory(args.dir.clone()));
    }
    let files = ServeDir::new(&args.dir)
        .ignore_multi_range_requests(true)
        .precompressed_br()
        .precompressed_gzip()
        .precompressed_zstd()
        .not_found_service(ServeFile::new(args.dir.join("404.html")));
    let files = Router::new()
        .fallback_service(files)
        .layer(middleware::from_fn(checked));
    // The headers verify ranges.
    let cors = cors().expose_headers([
        ACCEPT_RANGES,
        CONTENT_LENGTH,
        CONTENT_RANGE,
        CONTENT_TYPE,
        ETAG,
        LAST_MODIFIED,
    ]);
    let header =
        |name, value| SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value));
    Ok(files
        .layer(header(CACHE_CONTROL, "no-cache"))
        .layer(header(
            HeaderName::from_static("x-content-type-options"),
            "nosniff",
        ))
        .layer(cors))
}

/// Lets pages of all origins ask with any headers. They are repeated, because `*` does not include `Authorization`.
pub(super) fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods(AllowMethods::mirror_request())
        .allow_headers(AllowHeaders::mirror_request())
        .allow_private_network(true)
        .max_age(Duration::from_secs(24 * 60 * 60))
}

/// Checks what `ServeDir` does not. A range in other units, or of another version than `If-Range` names, gets the whole file.
/// Refuses paths that a redirect would turn into the name of another host.
async fn checked(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let path = request.uri().path();
    if path.starts_with("//") || path.starts_with("/\\") {
        return Err(StatusCode::NOT_FOUND);
    }
    let headers = request.headers_mut();
    let version = headers.remove(IF_RANGE);
    let is_plain = |range: &HeaderValue| range.as_bytes().starts_with(b"bytes=");
    if !headers.get(RANGE).is_some_and(is_plain) {
        headers.remove(RANGE);
    }
    let mut whole = Request::new(Body::empty());
    *whole.method_mut() = request.method().clone();
    *whole.uri_mut() = request.uri().clone();
    *whole.headers_mut() = request.headers().clone();
    whole.headers_mut().remove(RANGE);
    let answer = next.clone().run(request).await;
    if version.is_some() && answer.headers().get(ETAG) != version.as_ref() {
        return Ok(next.run(whole).await);
    }
    Ok(answer)
}

/// Adds a simulated network with a latency, and a bandwidth that all answers share.
pub(super) fn network(args: &Args, app: Router) -> Result<Router, ServeError> {
    let mbit = args.bandwidth_mbit.unwrap_or(f64::INFINITY);
    if args.latency.is_zero() && mbit.is_infinite() {
        return Ok(app);
    }
    let latency = args.latency;
    // The time when the connection becomes free.
    let free = Arc::new(Mutex::new(Instant::now()));
    let send = move |bytes: usize| {
        let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
        let time = Duration::from_secs_f64(bytes as f64 * 8.0 / (mbit * 1e6));
        *free = (*free).max(Instant::now()) + time;
        *free
    };
    Ok(
        app.layer(middleware::from_fn(move |request: Request, next: Next| {
            let send = send.clone();
            async move {
                tokio::time::sleep(latency).await;
                next.run(request).await.map(|body| {
                    Body::from_stream(body.into_data_stream().then(move |chunk| {
                        let sent = send(chunk.as_ref().map_or(0, |chunk| chunk.len()));
                        async move {
                            tokio::time::sleep_until(sent.into()).await;
                            chunk
                        }
                    }))
                })
            }
        })),
    )
}
