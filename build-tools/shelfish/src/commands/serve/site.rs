//! Files, their ranges, and the headers that good hosts send with them.

use std::{
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    handler::HandlerWithoutStateExt,
    http::{
        HeaderName, HeaderValue, Method, StatusCode,
        header::{
            ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
            IF_RANGE, LAST_MODIFIED, LOCATION, RANGE,
        },
    },
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::any,
};
use percent_encoding::percent_decode_str;
use tokio::task::spawn_blocking;
use tower_http::{
    cors::{Any, CorsLayer},
    services::ServeDir,
    set_header::SetResponseHeaderLayer,
};

use super::compress::{Compressor, compress};
use super::{Args, ServeError};

/// Returns `/path` without its last slash, or an empty text for the root.
pub(super) fn base_path(path: &str) -> Result<String, ServeError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
    let segments: Vec<&str> = path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();
    if !path.chars().all(plain)
        || segments
            .iter()
            .any(|segment| segment.chars().all(|c| c == '.'))
    {
        return Err(ServeError::BasePath(path.to_string()));
    }
    Ok(segments
        .iter()
        .map(|segment| format!("/{segment}"))
        .collect())
}

const MISSING: (StatusCode, &str) = (StatusCode::NOT_FOUND, "404: there is no such file\n");

/// Serves files with their headers.
pub(super) fn router(args: &Args) -> Result<Router, ServeError> {
    if !args.dir.is_dir() {
        return Err(ServeError::NoDirectory(args.dir.clone()));
    }
    let base = base_path(&args.base_path)?;
    let missing = || async { MISSING };
    let files = ServeDir::new(&args.dir)
        .redirect_path_prefix(&base)
        .ignore_multi_range_requests(true)
        .not_found_service(missing.into_service());
    let within = middleware::from_fn_with_state(Arc::<Path>::from(args.dir.as_path()), within);
    let compress = middleware::from_fn_with_state(Arc::<Compressor>::default(), compress);
    let files = Router::new()
        .fallback_service(files)
        .layer(middleware::from_fn(ranges))
        .layer(within)
        .layer(compress);

    let app = if base.is_empty() {
        files
    } else {
        // Without the last slash, relative links would have another base.
        let slash = format!("{base}/");
        let redirect = move || async move { (StatusCode::PERMANENT_REDIRECT, [(LOCATION, slash)]) };
        Router::new()
            .route(&base, any(redirect))
            .nest_service(&format!("{base}/"), files)
            .fallback(missing)
    };

    // All pages may read ranges and the headers that verify them.
    let cors = CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::HEAD, Method::OPTIONS])
        .allow_headers(Any)
        .allow_private_network(true)
        .expose_headers([
            ACCEPT_RANGES,
            CONTENT_LENGTH,
            CONTENT_RANGE,
            CONTENT_TYPE,
            ETAG,
            LAST_MODIFIED,
        ])
        .max_age(Duration::from_secs(24 * 60 * 60));
    Ok(app
        .layer(SetResponseHeaderLayer::if_not_present(
            CACHE_CONTROL,
            HeaderValue::from_static("no-cache"),
        ))
        .layer(SetResponseHeaderLayer::if_not_present(
            HeaderName::from_static("x-content-type-options"),
            HeaderValue::from_static("nosniff"),
        ))
        .layer(cors))
}

/// Rejects requests that `ServeDir` would answer incorrectly.
///
/// These are links to files outside of the directory, special files that could block, names that the system rejects,
/// and paths that a redirect would turn into the name of another host.
async fn within(State(root): State<Arc<Path>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let found = spawn_blocking({
        let root = Arc::clone(&root);
        move || is_within(&root, &path)
    });
    match found.await {
        Ok(Ok(true)) => next.run(request).await,
        _ => missing(root, request.method() == Method::HEAD).await,
    }
}

/// Answers 404 with the `404.html` of the site, if the site has that file.
async fn missing(root: Arc<Path>, is_head: bool) -> Response {
    let page = spawn_blocking(move || match is_within(&root, "/404.html") {
        Ok(true) => std::fs::read(root.join("404.html")).ok(),
        _ => None,
    });
    match page.await {
        Ok(Some(page)) => {
            let body = if is_head { Vec::new() } else { page };
            (
                StatusCode::NOT_FOUND,
                [(CONTENT_TYPE, "text/html; charset=utf-8")],
                body,
            )
                .into_response()
        }
        _ => MISSING.into_response(),
    }
}

/// Returns whether a path of a URL leads to a file or directory that can be served.
fn is_within(root: &Path, path: &str) -> io::Result<bool> {
    if path.starts_with("//") || path.starts_with("/\\") {
        return Ok(false);
    }
    let Ok(decoded) = percent_decode_str(path.trim_start_matches('/')).decode_utf8() else {
        return Ok(false);
    };
    let is_plain = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(&*decoded)
        .components()
        .all(|part| is_plain(&part))
    {
        return Ok(false);
    }
    let root = root.canonicalize()?;
    let resolve = |path: PathBuf| {
        path.canonicalize()
            .map(|path| (path.starts_with(&root), path))
    };
    let (is_inside, found) = resolve(root.join(&*decoded))?;
    if !is_inside || !found.is_dir() {
        return Ok(is_inside && found.is_file());
    }
    match resolve(found.join("index.html")) {
        Ok((is_inside, index)) => Ok(is_inside && index.is_file()),
        // A redirect to a directory needs no index.
        Err(error) => Ok(error.kind() == io::ErrorKind::NotFound),
    }
}

/// Handles `If-Range`, and ignores range units other than bytes, which `ServeDir` does not.
async fn ranges(mut request: Request, next: Next) -> Response {
    let headers = request.headers_mut();
    if headers
        .get(RANGE)
        .is_some_and(|range| !range.as_bytes().starts_with(b"bytes="))
    {
        headers.remove(RANGE);
    }
    let Some(condition) = headers
        .remove(IF_RANGE)
        .filter(|_| headers.contains_key(RANGE))
    else {
        return next.run(request).await;
    };
    let mut whole = Request::new(Body::empty());
    *whole.method_mut() = request.method().clone();
    *whole.uri_mut() = request.uri().clone();
    let part = next.clone().run(request).await;
    // If the file has changed, the client wants the whole new file.
    let same = [ETAG, LAST_MODIFIED]
        .iter()
        .any(|name| part.headers().get(name) == Some(&condition));
    if same { part } else { next.run(whole).await }
}
