use std::fs;

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD,
    CONTENT_RANGE, ETAG, IF_RANGE, LOCATION, ORIGIN,
};
use axum::http::{HeaderMap, HeaderName, Method};
use clap::Parser;
use http_body_util::BodyExt;
use tempfile::TempDir;
use tower::ServiceExt;

use super::*;

type Test = Result<(), BoxError>;

/// A directory with a page and a shard of 1,000 bytes, and a server for it.
struct Site {
    app: Router,
    dir: TempDir,
}

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: Args,
}

const SHARD: &str = "/db/0123456789abcdef.shelf";

fn shard() -> Vec<u8> {
    (0..1000u32).map(|i| (i * 7 % 251) as u8).collect()
}

fn started(dir: &str, options: &[&str]) -> Result<Router, BoxError> {
    let line = Line::try_parse_from(["serve", dir].iter().chain(options))?;
    Runtime::new()?.block_on(app(&line.args))
}

fn site(options: &[&str]) -> Result<Site, BoxError> {
    let dir = tempfile::tempdir()?;
    fs::create_dir(dir.path().join("db"))?;
    fs::write(dir.path().join("index.html"), "<title>Shelf</title>")?;
    for name in ["module.wasm", "main.js"] {
        fs::write(dir.path().join(name), name)?;
    }
    fs::write(dir.path().join(&SHARD[1..]), shard())?;
    let app = started(&dir.path().to_string_lossy(), options)?;
    Ok(Site { app, dir })
}

impl Site {
    fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, &str)],
    ) -> Result<Answer, BoxError> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        let request = request.body(Body::empty())?;
        Runtime::new()?.block_on(async {
            let response = self.app.clone().oneshot(request).await?;
            let (head, body) = response.into_parts();
            Ok(Answer {
                status: head.status.as_u16(),
                headers: head.headers,
                body: body.collect().await?.to_bytes().to_vec(),
            })
        })
    }

    fn get(&self, path: &str, headers: &[(HeaderName, &str)]) -> Result<Answer, BoxError> {
        self.ask(Method::GET, path, headers)
    }
}

impl Answer {
    fn header(&self, name: HeaderName) -> &str {
        let value = self.headers.get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}

#[test]
fn ranges_are_answered_with_exactly_their_bytes() -> Test {
    let site = site(&[])?;
    for (range, status, found, content_range) in [
        ("bytes=0-0", 206, 0..1, "bytes 0-0/1000"),
        ("bytes=100-299", 206, 100..300, "bytes 100-299/1000"),
        ("bytes=-10", 206, 990..1000, "bytes 990-999/1000"),
        ("bytes=990-2000", 206, 990..1000, "bytes 990-999/1000"),
        ("bytes=1000-1001", 416, 0..0, "bytes */1000"),
        ("bytes=0-1,5-6", 200, 0..1000, ""),
        ("lines=1-2", 200, 0..1000, ""),
    ] {
        let answer = site.get(SHARD, &[(RANGE, range)])?;
        let found = (status, content_range, &shard()[found]);
        assert_eq!(
            (answer.status, answer.header(CONTENT_RANGE), &*answer.body),
            found,
            "{range}"
        );
    }
    // The file may have changed since its first part was read.
    let conditional = [(RANGE, "bytes=0-9"), (IF_RANGE, "\"older\"")];
    assert_eq!(site.get(SHARD, &conditional)?.body, shard());
    // Chromium completes a part in its cache so.
    let version = site.get(SHARD, &[])?.header(ETAG).to_owned();
    let conditional = [(RANGE, "bytes=0-9"), (IF_RANGE, &*version)];
    assert_eq!(site.get(SHARD, &conditional)?.body, shard()[..10]);
    Ok(())
}

#[test]
fn pages_of_any_origin_may_read_ranges_and_their_headers() -> Test {
    let mut site = site(&[])?;
    let origin = (ORIGIN, "https://example.org");
    let answer = site.get(SHARD, &[(RANGE, "bytes=0-9"), origin.clone()])?;
    assert_eq!(answer.header(ACCESS_CONTROL_ALLOW_ORIGIN), "*");
    let exposed = answer.header(ACCESS_CONTROL_EXPOSE_HEADERS).to_lowercase();
    for name in ["content-range", "content-length", "etag", "accept-ranges"] {
        assert!(exposed.contains(name), "{name} in {exposed}");
    }
    let private = |what| HeaderName::from_static(what);
    // `*` does not include `Authorization`.
    let headers = "range,if-none-match,authorization";
    let asks = [
        origin,
        (ACCESS_CONTROL_REQUEST_METHOD, "GET"),
        (ACCESS_CONTROL_REQUEST_HEADERS, headers),
        (private("access-control-request-private-network"), "true"),
    ];
    let database = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/database/db");
    let api = started(database, &["--api"])?;
    for (app, path) in [(None, SHARD), (Some(api), "/api/cloud-eval")] {
        site.app = app.unwrap_or(site.app);
        let answer = site.ask(Method::OPTIONS, path, &asks)?;
        assert_eq!(answer.header(ACCESS_CONTROL_ALLOW_HEADERS), headers);
        assert_eq!(answer.header(ACCESS_CONTROL_ALLOW_METHODS), "GET");
        let allowed = answer.header(private("access-control-allow-private-network"));
        assert_eq!((answer.status, allowed), (200, "true"));
    }
    Ok(())
}

#[test]
fn missing_files_and_paths_outside_the_directory_are_answered_with_the_404_page() -> Test {
    let site = site(&[])?;
    fs::write(site.dir.path().join("404.html"), "Not here")?;
    for path in [
        "/missing",
        "/../Cargo.toml",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/db/..%2f..%2fx",
        "/..%5cmain.js",
        "/%2fetc/passwd",
        "/db/%00",
        "/%ff",
        "/main.js/x",
    ] {
        let answer = site.get(path, &[])?;
        assert_eq!(
            (answer.status, &*answer.body),
            (404, &b"Not here"[..]),
            "{path:.50}"
        );
    }
    assert_eq!(site.ask(Method::POST, "/", &[])?.status, 405);
    Ok(())
}

#[test]
fn no_redirect_leads_to_another_host() -> Test {
    let site = site(&[])?;
    for path in [
        "//db",
        "///db",
        "/\\db",
        "//db/.",
        "//example.org/%2e%2e/db",
        "/%2fdb",
        "/.//db",
        "/%5cdb",
    ] {
        let answer = site.get(path, &[])?;
        let location = answer.header(LOCATION);
        assert!(
            !location.starts_with("//") && !location.starts_with("/\\"),
            "{path}: {location}"
        );
        assert!(answer.status == 404 || location.starts_with('/'), "{path}");
    }
    assert_eq!(site.get("/db", &[])?.header(LOCATION), "/db/");
    Ok(())
}

#[test]
fn wrong_options_are_errors() {
    for (dir, options, expected) in [
        ("no/such/shelf", &[][..], "no/such/shelf is not a directory"),
        (
            ".",
            &["--bandwidth-mbit", "0"],
            "error: invalid value '0' for '--bandwidth-mbit",
        ),
    ] {
        let error = started(dir, options).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.starts_with(expected)));
    }
}

#[test]
fn a_simulated_network_respects_its_latency_and_bandwidth() -> Test {
    let site = site(&["--latency-ms", "50", "--bandwidth-mbit", "0.08"])?;
    let start = Instant::now();
    // 1,000 bytes at 10,000 bytes a second, after 50 ms.
    assert_eq!(site.get(SHARD, &[])?.body, shard());
    let time = start.elapsed().as_millis();
    assert!(time >= 150, "{time} ms");
    Ok(())
}
