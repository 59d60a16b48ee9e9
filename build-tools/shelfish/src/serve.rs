//! `shelfish serve`: a static file server for development, as a good static host would serve a database.
//!
//! Single ranges (206 with `Content-Range`, 416 beyond the end), strong ETags and 304, every origin welcome, no
//! compression, `no-cache` so that a rebuilt file is seen at once. It can be as slow as a given network, for measuring.

use std::{
    fmt,
    io::{self, Write},
    net::SocketAddr,
    path::PathBuf,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    handler::HandlerWithoutStateExt,
    http::{
        HeaderName, HeaderValue, Method, StatusCode,
        header::{
            ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, ETAG, IF_RANGE, LAST_MODIFIED, LOCATION, RANGE,
        },
    },
    middleware::{self, Next},
    response::Response,
    routing::any,
    serve::ListenerExt,
};
use futures_util::StreamExt;
use tokio::{net::TcpListener, runtime::Runtime};
use tower_http::{
    cors::{Any, CorsLayer},
    services::ServeDir,
    set_header::SetResponseHeaderLayer,
};

use crate::Outcome;

/// How long answers under way may take once the server was told to stop.
const PATIENCE: Duration = Duration::from_secs(2);

/// What to serve, and where.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The directory to serve
    dir: PathBuf,
    /// The port; 0 takes any that is free
    #[arg(short, long, default_value_t = 8000)]
    port: u16,
    /// The address to listen on; 0.0.0.0 lets other machines in
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Serve under this path instead of `/`, as project pages do
    #[arg(long, default_value = "/", value_name = "PATH")]
    base_path: String,
    /// Print every request to standard error
    #[arg(long)]
    log: bool,
    /// Answer every request this much later, to measure as on a network
    #[arg(long, default_value_t = 0, value_name = "MS")]
    latency_ms: u64,
    /// Send no faster than this, all answers together
    #[arg(long, value_name = "MBIT")]
    bandwidth_mbit: Option<f64>,
}

/// Why nothing is served.
#[derive(Debug)]
pub enum ServeError {
    /// There is no such directory.
    NoDirectory(PathBuf),
    /// The base path has other characters than a plain path.
    BasePath(String),
    /// The bandwidth is not a number above zero.
    Bandwidth(f64),
    /// Another program listens there.
    Taken {
        /// The address asked for.
        host: String,
        /// The port asked for.
        port: u16,
    },
    /// The address cannot be listened on.
    Listen {
        /// The address asked for.
        host: String,
        /// The port asked for.
        port: u16,
        /// What the system says.
        source: io::Error,
    },
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::NoDirectory(dir) => write!(f, "{} is not a directory", dir.display()),
            ServeError::BasePath(path) => {
                write!(f, "--base-path {path}: a path of letters, digits and `-._~/` is needed, such as /shelfish/")
            }
            ServeError::Bandwidth(mbit) => write!(f, "--bandwidth-mbit {mbit}: a number above 0 is needed"),
            ServeError::Taken { host, port } => {
                write!(f, "port {port} of {host} is taken: choose another with --port, or --port 0 for any free one")
            }
            ServeError::Listen { host, port, source } => write!(f, "cannot listen on {host}, port {port}: {source}"),
        }
    }
}

impl std::error::Error for ServeError {}

/// Serves until interrupted; prints the URL on a line of its own.
///
/// # Errors
///
/// The directory does not exist, the address is taken or not ours, an option makes no sense.
pub fn run(args: Args) -> Outcome {
    let app = router(&args)?;
    Runtime::new()?.block_on(async {
        let listener = TcpListener::bind((args.host.as_str(), args.port)).await.map_err(|source| {
            let (host, port) = (args.host.clone(), args.port);
            match source.kind() {
                io::ErrorKind::AddrInUse => ServeError::Taken { host, port },
                _ => ServeError::Listen { host, port, source },
            }
        })?;
        let url = url(listener.local_addr()?, &base_path(&args.base_path)?);
        // Before the URL is out: who reads it may stop the server at once.
        let interrupted = interruption()?;
        eprintln!("Serving {}, Ctrl-C stops", args.dir.display());
        println!("{url}");
        io::stdout().flush()?;

        // A head and a short body must not wait for each other's acknowledgement.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));

        let (told, mut stop) = tokio::sync::watch::channel(());
        let server = axum::serve(listener, app).with_graceful_shutdown(async move {
            interrupted.await;
            drop(told);
        });
        let overdue = async move {
            // An error: the sender is gone, we were told to stop.
            while stop.changed().await.is_ok() {}
            tokio::time::sleep(PATIENCE).await;
        };
        tokio::select! {
            done = server => done?,
            () = overdue => {}
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Ctrl-C, or the polite signal of a supervisor; noticed from the call on, not only when it is waited for.
#[cfg(unix)]
fn interruption() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Ctrl-C.
#[cfg(windows)]
fn interruption() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    Ok(async move { drop(interrupt.recv().await) })
}

fn url(address: SocketAddr, base: &str) -> String {
    match address.ip().is_unspecified() {
        true => format!("http://localhost:{}{base}/", address.port()),
        false => format!("http://{address}{base}/"),
    }
}

/// `/path` without its last slash; empty for the root.
fn base_path(path: &str) -> Result<String, ServeError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    if !path.chars().all(plain) || segments.iter().any(|segment| segment.chars().all(|c| c == '.')) {
        return Err(ServeError::BasePath(path.to_string()));
    }
    Ok(segments.iter().map(|segment| format!("/{segment}")).collect())
}

/// The whole server but its socket.
fn router(args: &Args) -> Result<Router, ServeError> {
    if !args.dir.is_dir() {
        return Err(ServeError::NoDirectory(args.dir.clone()));
    }
    let base = base_path(&args.base_path)?;
    let missing = || async { (StatusCode::NOT_FOUND, "404: there is no such file\n") };
    let files = ServeDir::new(&args.dir)
        .redirect_path_prefix(&base)
        .ignore_multi_range_requests(true)
        .not_found_service(missing.into_service());
    let files = Router::new().fallback_service(files).layer(middleware::from_fn(ranges));

    let app = if base.is_empty() {
        files
    } else {
        // Without its last slash the address of the site would be another base for relative links.
        let slash = format!("{base}/");
        let redirect = move || async move { (StatusCode::PERMANENT_REDIRECT, [(LOCATION, slash)]) };
        Router::new().route(&base, any(redirect)).nest_service(&format!("{base}/"), files).fallback(missing)
    };

    // A range is readable by any page, and so are the headers by which a reader checks it.
    let cors = CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::HEAD, Method::OPTIONS])
        .allow_headers(Any)
        .allow_private_network(true)
        .expose_headers([ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, ETAG, LAST_MODIFIED])
        .max_age(Duration::from_secs(24 * 60 * 60));
    let mut app = app
        .layer(SetResponseHeaderLayer::if_not_present(CACHE_CONTROL, HeaderValue::from_static("no-cache")))
        .layer(SetResponseHeaderLayer::if_not_present(
            HeaderName::from_static("x-content-type-options"),
            HeaderValue::from_static("nosniff"),
        ))
        .layer(cors);
    if args.latency_ms > 0 || args.bandwidth_mbit.is_some() {
        let mbit = args.bandwidth_mbit.unwrap_or(f64::INFINITY);
        if mbit.is_nan() || mbit <= 0.0 {
            return Err(ServeError::Bandwidth(mbit));
        }
        let network = Network {
            latency: Duration::from_millis(args.latency_ms),
            bytes_a_second: mbit * 1e6 / 8.0,
            free: Mutex::new(Instant::now()),
        };
        app = app.layer(middleware::from_fn_with_state(Arc::new(network), delay));
    }
    Ok(if args.log { app.layer(middleware::from_fn(log)) } else { app })
}

/// What `ServeDir` leaves open: `If-Range`, and range units other than bytes, which are to be ignored.
async fn ranges(mut request: Request, next: Next) -> Response {
    let headers = request.headers_mut();
    if headers.get(RANGE).is_some_and(|range| !range.as_bytes().starts_with(b"bytes=")) {
        headers.remove(RANGE);
    }
    let Some(condition) = headers.remove(IF_RANGE).filter(|_| headers.contains_key(RANGE)) else {
        return next.run(request).await;
    };
    let mut whole = Request::new(Body::empty());
    *whole.method_mut() = request.method().clone();
    *whole.uri_mut() = request.uri().clone();
    let part = next.clone().run(request).await;
    // The part is of the file that the client knows, or the client wants all of the new one.
    let same = [ETAG, LAST_MODIFIED].iter().any(|name| part.headers().get(name) == Some(&condition));
    if same { part } else { next.run(whole).await }
}

/// One line a request: status, method, path, range.
async fn log(request: Request, next: Next) -> Response {
    let range = request.headers().get(RANGE).and_then(|range| range.to_str().ok()).unwrap_or("-").to_owned();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = next.run(request).await;
    eprintln!("{} {method} {path} {range}", response.status().as_u16());
    response
}

/// A network of a given latency, and a bandwidth that all answers share.
struct Network {
    latency: Duration,
    bytes_a_second: f64,
    /// When the line will be free again.
    free: Mutex<Instant>,
}

impl Network {
    /// When so many more bytes will be through.
    fn send(&self, bytes: usize) -> Instant {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = (*free).max(Instant::now()) + Duration::from_secs_f64(bytes as f64 / self.bytes_a_second);
        *free
    }
}

async fn delay(State(network): State<Arc<Network>>, request: Request, next: Next) -> Response {
    tokio::time::sleep(network.latency).await;
    next.run(request).await.map(|body| {
        Body::from_stream(body.into_data_stream().then(move |chunk| {
            let through = network.send(chunk.as_ref().map_or(0, |chunk| chunk.len()));
            async move {
                tokio::time::sleep_until(through.into()).await;
                chunk
            }
        }))
    })
}

#[cfg(test)]
mod tests {
    use axum::http::{
        HeaderMap,
        header::{
            ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
            ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD,
            CONTENT_ENCODING, CONTENT_TYPE, IF_NONE_MATCH, ORIGIN,
        },
    };
    use clap::Parser;
    use http_body_util::BodyExt;
    use tempfile::TempDir;
    use tower::ServiceExt;

    use super::*;

    type Test = Result<(), Box<dyn std::error::Error>>;

    /// A directory with a page, a manifest and a shard of 1,000 bytes, and a server for it.
    struct Site {
        app: Router,
        dir: TempDir,
    }

    struct Answer {
        status: u16,
        headers: HeaderMap,
        body: Vec<u8>,
    }

    fn shard() -> Vec<u8> {
        (0..1000u32).map(|i| (i * 7 % 251) as u8).collect()
    }

    fn site(options: &[&str]) -> Result<Site, Box<dyn std::error::Error>> {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            args: Args,
        }
        let dir = tempfile::tempdir()?;
        std::fs::create_dir(dir.path().join("db"))?;
        std::fs::write(dir.path().join("index.html"), "<!doctype html><title>Shelf</title>")?;
        for (name, content) in [("module.wasm", "\0asm"), ("main.js", "export {}"), ("style.css", "a{}"), ("empty", "")]
        {
            std::fs::write(dir.path().join(name), content)?;
        }
        std::fs::write(dir.path().join("db/manifest.json"), "{}")?;
        std::fs::write(dir.path().join("db/0123456789abcdef.shelf"), shard())?;
        let path = dir.path().to_string_lossy().into_owned();
        let line = Line::try_parse_from(["serve", &path].iter().chain(options))?;
        Ok(Site { app: router(&line.args)?, dir })
    }

    impl Site {
        fn ask(
            &self,
            method: Method,
            path: &str,
            headers: &[(HeaderName, &str)],
        ) -> Result<Answer, Box<dyn std::error::Error>> {
            let mut request = Request::builder().method(method).uri(path);
            for (name, value) in headers {
                request = request.header(name, *value);
            }
            let request = request.body(Body::empty())?;
            Runtime::new()?.block_on(async {
                let response = self.app.clone().oneshot(request).await?;
                let (head, body) = response.into_parts();
                let body = body.collect().await?.to_bytes().to_vec();
                Ok(Answer { status: head.status.as_u16(), headers: head.headers, body })
            })
        }

        fn get(&self, path: &str, headers: &[(HeaderName, &str)]) -> Result<Answer, Box<dyn std::error::Error>> {
            self.ask(Method::GET, path, headers)
        }
    }

    impl Answer {
        fn header(&self, name: HeaderName) -> &str {
            self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
        }
    }

    const SHARD: &str = "/db/0123456789abcdef.shelf";

    #[test]
    fn a_range_is_answered_with_206_and_exactly_its_bytes() -> Test {
        let site = site(&[])?;
        for (range, start, end) in [
            ("bytes=0-0", 0, 1),
            ("bytes=100-299", 100, 300),
            ("bytes=900-", 900, 1000),
            ("bytes=-10", 990, 1000),
            ("bytes=0-999", 0, 1000),
        ] {
            let answer = site.get(SHARD, &[(RANGE, range)])?;
            assert_eq!(answer.status, 206, "{range}");
            assert_eq!(answer.body, shard()[start..end], "{range}");
            assert_eq!(answer.header(CONTENT_RANGE), format!("bytes {start}-{}/1000", end - 1));
            assert_eq!(answer.header(CONTENT_LENGTH), (end - start).to_string());
        }
        Ok(())
    }

    #[test]
    fn a_range_that_ends_beyond_the_file_is_cut_at_its_end() -> Test {
        let answer = site(&[])?.get(SHARD, &[(RANGE, "bytes=990-2000")])?;
        assert_eq!((answer.status, answer.header(CONTENT_RANGE)), (206, "bytes 990-999/1000"));
        assert_eq!(answer.body, shard()[990..]);
        Ok(())
    }

    #[test]
    fn a_range_that_begins_beyond_the_file_is_answered_with_416() -> Test {
        let answer = site(&[])?.get(SHARD, &[(RANGE, "bytes=1000-1001")])?;
        assert_eq!((answer.status, answer.header(CONTENT_RANGE)), (416, "bytes */1000"));
        assert!(answer.body.is_empty());
        Ok(())
    }

    #[test]
    fn several_ranges_and_other_units_are_ignored() -> Test {
        let site = site(&[])?;
        for range in ["bytes=0-1,5-6", "lines=1-2"] {
            let answer = site.get(SHARD, &[(RANGE, range)])?;
            assert_eq!((answer.status, answer.body.len()), (200, 1000), "{range}");
        }
        Ok(())
    }

    #[test]
    fn a_file_without_a_range_comes_whole_and_offers_ranges() -> Test {
        let answer = site(&[])?.get(SHARD, &[])?;
        assert_eq!((answer.status, answer.header(ACCEPT_RANGES)), (200, "bytes"));
        assert_eq!(answer.body, shard());
        Ok(())
    }

    #[test]
    fn an_unchanged_file_is_answered_with_304() -> Test {
        let site = site(&[])?;
        let etag = site.get("/db/manifest.json", &[])?.header(ETAG).to_owned();
        assert!(etag.starts_with('"'), "a strong ETag: {etag}");
        let answer = site.get("/db/manifest.json", &[(IF_NONE_MATCH, &etag)])?;
        assert_eq!((answer.status, answer.header(ETAG)), (304, etag.as_str()));
        assert!(answer.body.is_empty());
        let other = site.get("/db/manifest.json", &[(IF_NONE_MATCH, "\"other\"")])?;
        assert_eq!(other.status, 200);
        Ok(())
    }

    #[test]
    fn a_changed_file_has_another_etag() -> Test {
        let site = site(&[])?;
        let before = site.get("/db/manifest.json", &[])?.header(ETAG).to_owned();
        std::fs::write(site.dir.path().join("db/manifest.json"), "{\"format\":1}")?;
        assert_ne!(site.get("/db/manifest.json", &[])?.header(ETAG), before);
        Ok(())
    }

    #[test]
    fn a_range_of_the_file_that_the_client_knows_is_a_part_and_else_the_whole() -> Test {
        let site = site(&[])?;
        let etag = site.get(SHARD, &[])?.header(ETAG).to_owned();
        let same = site.get(SHARD, &[(RANGE, "bytes=0-9"), (IF_RANGE, &etag)])?;
        assert_eq!((same.status, same.body.len()), (206, 10));
        let changed = site.get(SHARD, &[(RANGE, "bytes=0-9"), (IF_RANGE, "\"older\"")])?;
        assert_eq!((changed.status, changed.body.len()), (200, 1000));
        Ok(())
    }

    #[test]
    fn pages_of_any_origin_may_read_ranges_and_the_headers_that_prove_them() -> Test {
        let site = site(&[])?;
        let answer = site.get(SHARD, &[(RANGE, "bytes=0-9"), (ORIGIN, "https://example.org")])?;
        assert_eq!(answer.header(ACCESS_CONTROL_ALLOW_ORIGIN), "*");
        let exposed = answer.header(ACCESS_CONTROL_EXPOSE_HEADERS).to_lowercase();
        for name in ["content-range", "content-length", "etag", "accept-ranges"] {
            assert!(exposed.contains(name), "{name} in {exposed}");
        }
        Ok(())
    }

    #[test]
    fn a_preflight_is_granted() -> Test {
        let asks = [
            (ORIGIN, "https://example.org"),
            (ACCESS_CONTROL_REQUEST_METHOD, "GET"),
            (ACCESS_CONTROL_REQUEST_HEADERS, "range,if-none-match"),
            (HeaderName::from_static("access-control-request-private-network"), "true"),
        ];
        let answer = site(&[])?.ask(Method::OPTIONS, SHARD, &asks)?;
        assert_eq!((answer.status, answer.header(ACCESS_CONTROL_ALLOW_HEADERS)), (200, "*"));
        assert!(answer.header(ACCESS_CONTROL_ALLOW_METHODS).contains("GET"));
        assert_eq!(answer.header(HeaderName::from_static("access-control-allow-private-network")), "true");
        Ok(())
    }

    #[test]
    fn types_are_those_that_browsers_insist_on() -> Test {
        let site = site(&[])?;
        for (path, expected) in [
            ("/", "text/html"),
            ("/module.wasm", "application/wasm"),
            ("/main.js", "text/javascript"),
            ("/style.css", "text/css"),
            ("/db/manifest.json", "application/json"),
            (SHARD, "application/octet-stream"),
        ] {
            assert_eq!(site.get(path, &[])?.header(CONTENT_TYPE), expected, "{path}");
        }
        Ok(())
    }

    #[test]
    fn nothing_is_compressed_nor_cached_unasked() -> Test {
        let site = site(&[])?;
        for path in ["/", SHARD, "/db/manifest.json"] {
            let answer = site.get(path, &[(ACCEPT_ENCODING, "gzip, br, zstd")])?;
            assert_eq!((answer.header(CONTENT_ENCODING), answer.header(CACHE_CONTROL)), ("", "no-cache"), "{path}");
        }
        Ok(())
    }

    #[test]
    fn head_tells_the_length_without_a_body() -> Test {
        let answer = site(&[])?.ask(Method::HEAD, SHARD, &[])?;
        assert_eq!((answer.status, answer.header(CONTENT_LENGTH), answer.body.len()), (200, "1000", 0));
        Ok(())
    }

    #[test]
    fn what_is_not_there_is_404_and_nothing_above_the_directory_is_served() -> Test {
        let site = site(&[])?;
        for path in ["/missing", "/db/missing.shelf", "/../Cargo.toml", "/%2e%2e/%2e%2e/etc/passwd", "/db/..%2f..%2fx"]
        {
            assert_eq!(site.get(path, &[])?.status, 404, "{path}");
        }
        assert_eq!(site.ask(Method::POST, "/", &[])?.status, 405);
        Ok(())
    }

    #[test]
    fn a_site_can_live_under_a_path() -> Test {
        for base in ["/chess/shelf/", "chess/shelf"] {
            let site = site(&["--base-path", base])?;
            assert_eq!(site.get("/chess/shelf/", &[])?.header(CONTENT_TYPE), "text/html");
            assert_eq!(site.get(&format!("/chess/shelf{SHARD}"), &[(RANGE, "bytes=1-2")])?.status, 206);
            assert_eq!(site.get(SHARD, &[])?.status, 404);
            assert_eq!(site.get("/", &[])?.status, 404);
            let bare = site.get("/chess/shelf", &[])?;
            assert_eq!((bare.status, bare.header(LOCATION)), (308, "/chess/shelf/"));
            let directory = site.get("/chess/shelf/db", &[])?;
            assert_eq!(directory.header(LOCATION), "/chess/shelf/db/");
        }
        assert!(matches!(base_path("/{id}/"), Err(ServeError::BasePath(_))));
        assert!(matches!(base_path("/a/../b"), Err(ServeError::BasePath(_))));
        Ok(())
    }

    #[test]
    fn a_missing_directory_is_an_error_that_names_it() -> Test {
        let mut args = Args {
            dir: "no/such/shelf".into(),
            port: 0,
            host: "127.0.0.1".into(),
            base_path: "/".into(),
            log: false,
            latency_ms: 0,
            bandwidth_mbit: None,
        };
        assert_eq!(
            run(args.clone()).err().map(|error| error.to_string()).as_deref(),
            Some("no/such/shelf is not a directory")
        );
        args.dir = ".".into();
        args.bandwidth_mbit = Some(0.0);
        assert!(matches!(router(&args), Err(ServeError::Bandwidth(_))));
        Ok(())
    }

    #[test]
    fn a_slow_network_is_as_slow_as_it_was_told() -> Test {
        let site = site(&["--latency-ms", "50", "--bandwidth-mbit", "0.08"])?;
        let start = Instant::now();
        let answer = site.get(SHARD, &[])?;
        // 1,000 bytes at 10,000 bytes a second, after 50 ms.
        let time = start.elapsed().as_millis();
        assert_eq!(answer.body, shard());
        assert!((150..400).contains(&time), "{time} ms");
        Ok(())
    }
}
