use std::{io::Read, time::Instant};

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{
        HeaderMap, HeaderName, HeaderValue, Method,
        header::{
            ACCEPT_ENCODING, ACCEPT_RANGES, ACCESS_CONTROL_ALLOW_HEADERS,
            ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
            ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS,
            ACCESS_CONTROL_REQUEST_METHOD, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH,
            CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_NONE_MATCH, IF_RANGE, LOCATION, ORIGIN, RANGE,
            VARY,
        },
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
    std::fs::write(
        dir.path().join("index.html"),
        "<!doctype html><title>Shelf</title>",
    )?;
    for (name, content) in [
        ("module.wasm", "\0asm"),
        ("main.js", "export {}"),
        ("style.css", "a{}"),
        ("empty", ""),
    ] {
        std::fs::write(dir.path().join(name), content)?;
    }
    std::fs::write(dir.path().join("db/manifest.json"), "{}")?;
    std::fs::write(dir.path().join("db/0123456789abcdef.shelf"), shard())?;
    let path = dir.path().to_string_lossy().into_owned();
    let line = Line::try_parse_from(["serve", &path].iter().chain(options))?;
    Ok(Site {
        app: observed(&line.args, router(&line.args)?)?,
        dir,
    })
}

/// Serves a directory that does not exist, with default options.
fn args() -> Args {
    Args {
        dir: "no/such/shelf".into(),
        database: None,
        port: 0,
        host: "127.0.0.1".into(),
        base_path: "/".into(),
        log: false,
        latency_ms: 0,
        bandwidth_mbit: None,
        limits: Default::default(),
        api: Default::default(),
    }
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
            Ok(Answer {
                status: head.status.as_u16(),
                headers: head.headers,
                body,
            })
        })
    }

    fn get(
        &self,
        path: &str,
        headers: &[(HeaderName, &str)],
    ) -> Result<Answer, Box<dyn std::error::Error>> {
        self.ask(Method::GET, path, headers)
    }
}

impl Answer {
    fn header(&self, name: HeaderName) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or("")
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
        assert_eq!(
            answer.header(CONTENT_RANGE),
            format!("bytes {start}-{}/1000", end - 1)
        );
        assert_eq!(answer.header(CONTENT_LENGTH), (end - start).to_string());
    }
    Ok(())
}

#[test]
fn a_range_that_ends_beyond_the_file_is_cut_at_its_end() -> Test {
    let answer = site(&[])?.get(SHARD, &[(RANGE, "bytes=990-2000")])?;
    assert_eq!(
        (answer.status, answer.header(CONTENT_RANGE)),
        (206, "bytes 990-999/1000")
    );
    assert_eq!(answer.body, shard()[990..]);
    Ok(())
}

#[test]
fn a_range_that_begins_beyond_the_file_is_answered_with_416() -> Test {
    let answer = site(&[])?.get(SHARD, &[(RANGE, "bytes=1000-1001")])?;
    assert_eq!(
        (answer.status, answer.header(CONTENT_RANGE)),
        (416, "bytes */1000")
    );
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
fn a_request_without_a_range_is_answered_with_the_whole_file() -> Test {
    let answer = site(&[])?.get(SHARD, &[])?;
    assert_eq!(
        (answer.status, answer.header(ACCEPT_RANGES)),
        (200, "bytes")
    );
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
    std::fs::write(site.dir.path().join("db/manifest.json"), "{\"format\":2}")?;
    assert_ne!(site.get("/db/manifest.json", &[])?.header(ETAG), before);
    Ok(())
}

#[test]
fn if_range_returns_a_part_of_an_unchanged_file_and_a_changed_file_as_a_whole() -> Test {
    let site = site(&[])?;
    let etag = site.get(SHARD, &[])?.header(ETAG).to_owned();
    let same = site.get(SHARD, &[(RANGE, "bytes=0-9"), (IF_RANGE, &etag)])?;
    assert_eq!((same.status, same.body.len()), (206, 10));
    let changed = site.get(SHARD, &[(RANGE, "bytes=0-9"), (IF_RANGE, "\"older\"")])?;
    assert_eq!((changed.status, changed.body.len()), (200, 1000));
    Ok(())
}

#[test]
fn pages_of_any_origin_may_read_ranges_and_their_headers() -> Test {
    let site = site(&[])?;
    let answer = site.get(
        SHARD,
        &[(RANGE, "bytes=0-9"), (ORIGIN, "https://example.org")],
    )?;
    assert_eq!(answer.header(ACCESS_CONTROL_ALLOW_ORIGIN), "*");
    let exposed = answer.header(ACCESS_CONTROL_EXPOSE_HEADERS).to_lowercase();
    for name in ["content-range", "content-length", "etag", "accept-ranges"] {
        assert!(exposed.contains(name), "{name} in {exposed}");
    }
    Ok(())
}

#[test]
fn a_cors_preflight_request_is_allowed() -> Test {
    let asks = [
        (ORIGIN, "https://example.org"),
        (ACCESS_CONTROL_REQUEST_METHOD, "GET"),
        (ACCESS_CONTROL_REQUEST_HEADERS, "range,if-none-match"),
        (
            HeaderName::from_static("access-control-request-private-network"),
            "true",
        ),
    ];
    let answer = site(&[])?.ask(Method::OPTIONS, SHARD, &asks)?;
    assert_eq!(
        (answer.status, answer.header(ACCESS_CONTROL_ALLOW_HEADERS)),
        (200, "*")
    );
    assert!(answer.header(ACCESS_CONTROL_ALLOW_METHODS).contains("GET"));
    assert_eq!(
        answer.header(HeaderName::from_static(
            "access-control-allow-private-network"
        )),
        "true"
    );
    Ok(())
}

#[test]
fn files_have_the_content_types_that_browsers_require() -> Test {
    let site = site(&[])?;
    for (path, expected) in [
        ("/", "text/html"),
        ("/module.wasm", "application/wasm"),
        ("/main.js", "text/javascript"),
        ("/style.css", "text/css"),
        ("/db/manifest.json", "application/json"),
        (SHARD, "application/octet-stream"),
    ] {
        assert_eq!(
            site.get(path, &[])?.header(CONTENT_TYPE),
            expected,
            "{path}"
        );
    }
    Ok(())
}

#[test]
fn the_coding_with_the_highest_weight_in_accept_encoding_is_used() {
    for (asked, coding) in [
        ("", None),
        ("identity", None),
        ("deflate, zstd", None),
        ("gzip", Some("gzip")),
        ("GZIP", Some("gzip")),
        ("gzip, br", Some("br")),
        ("gzip, deflate, br, zstd", Some("br")),
        ("br;q=0.5, gzip;q=0.8", Some("gzip")),
        ("br;q=0, gzip", Some("gzip")),
        ("br;q=0, gzip;q=0.0", None),
        ("br; q=1.0 , gzip", Some("br")),
        ("*", Some("br")),
        ("*;q=0", None),
        ("br;q=0, *", Some("gzip")),
        ("identity, gzip;q=0.5", None),
        ("identity;q=0.5, gzip", Some("gzip")),
        ("br;q=nonsense", None),
        (";;,,;q=,", None),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(
            ACCEPT_ENCODING,
            asked.parse().unwrap_or(HeaderValue::from_static("")),
        );
        assert_eq!(
            compress::wanted(&headers).map(compress::Coding::name),
            coding,
            "{asked}"
        );
    }
    assert_eq!(compress::wanted(&HeaderMap::new()), None);
}

fn decoded(answer: &Answer) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut plain = Vec::new();
    match answer.header(CONTENT_ENCODING) {
        "br" => brotli::BrotliDecompress(&mut answer.body.as_slice(), &mut plain)?,
        "gzip" => {
            drop(flate2::read::GzDecoder::new(answer.body.as_slice()).read_to_end(&mut plain)?)
        }
        _ => plain.clone_from(&answer.body),
    }
    Ok(plain)
}

#[test]
fn text_and_modules_are_compressed_if_the_client_accepts_the_coding() -> Test {
    let site = site(&[])?;
    let text = "import { open } from \"shelfish\"; ".repeat(200);
    for name in [
        "page.html",
        "main.js",
        "style.css",
        "module.wasm",
        "db/manifest.json",
        "card.svg",
        "robots.txt",
    ] {
        std::fs::write(site.dir.path().join(name), &text)?;
        let path = format!("/{name}");
        let plain = site.get(&path, &[])?;
        assert_eq!(
            (plain.header(CONTENT_ENCODING), plain.header(CONTENT_LENGTH)),
            ("", "6600"),
            "{name}"
        );
        assert!(plain.header(VARY).contains("accept-encoding"), "{name}");
        let mut tags = vec![plain.header(ETAG).to_owned()];
        for coding in ["br", "gzip"] {
            // The second time out of memory.
            for _ in 0..2 {
                let answer = site.get(&path, &[(ACCEPT_ENCODING, coding)])?;
                assert_eq!(
                    (answer.status, answer.header(CONTENT_ENCODING)),
                    (200, coding),
                    "{name}"
                );
                assert_eq!(answer.header(CONTENT_LENGTH), answer.body.len().to_string());
                assert_eq!(answer.header(CONTENT_TYPE), plain.header(CONTENT_TYPE));
                assert!(answer.header(VARY).contains("accept-encoding"), "{name}");
                assert!(
                    answer.body.len() < 200,
                    "{name}: {} bytes",
                    answer.body.len()
                );
                assert_eq!(decoded(&answer)?, text.as_bytes());
                let head = site.ask(Method::HEAD, &path, &[(ACCEPT_ENCODING, coding)])?;
                assert!(head.body.is_empty());
                for header in [CONTENT_LENGTH, CONTENT_ENCODING, ETAG] {
                    assert_eq!(head.header(header.clone()), answer.header(header), "{name}");
                }
                tags.push(answer.header(ETAG).to_owned());
            }
        }
        tags.dedup();
        assert_eq!(tags.len(), 3, "each coding has its tag: {tags:?}");
    }
    Ok(())
}

#[test]
fn an_unchanged_compressed_file_is_answered_with_304_and_a_changed_file_with_200() -> Test {
    let site = site(&[])?;
    let path = site.dir.path().join("main.js");
    std::fs::write(&path, "x".repeat(500))?;
    for coding in ["br", "gzip"] {
        let ask = |tag: &str| {
            site.get(
                "/main.js",
                &[(ACCEPT_ENCODING, coding), (IF_NONE_MATCH, tag)],
            )
        };
        let etag = site
            .get("/main.js", &[(ACCEPT_ENCODING, coding)])?
            .header(ETAG)
            .to_owned();
        for tag in [&etag, &format!("\"other\", {etag}"), &format!("W/{etag}")] {
            let same = ask(tag)?;
            assert_eq!(
                (same.status, same.header(ETAG), same.body.len()),
                (304, etag.as_str(), 0),
                "{tag}"
            );
            assert!(same.header(VARY).contains("accept-encoding"));
        }
        assert_eq!(ask("\"other\"")?.status, 200);
        std::fs::write(&path, "y".repeat(600))?;
        let changed = ask(&etag)?;
        assert_eq!(
            (changed.status, decoded(&changed)?),
            (200, "y".repeat(600).into_bytes())
        );
        std::fs::write(&path, "x".repeat(500))?;
    }
    Ok(())
}

#[test]
fn shards_and_ranges_are_not_compressed_and_all_files_must_be_revalidated() -> Test {
    let site = site(&[])?;
    let all = (ACCEPT_ENCODING, "gzip, br, zstd");
    let shard = site.get(SHARD, std::slice::from_ref(&all))?;
    assert_eq!(
        (
            shard.header(CONTENT_ENCODING),
            shard.header(VARY).contains("encoding")
        ),
        ("", false)
    );
    assert_eq!(shard.body, self::shard());
    for path in [SHARD, "/style.css", "/db/manifest.json"] {
        let part = site.get(path, &[all.clone(), (RANGE, "bytes=0-0")])?;
        assert_eq!(
            (part.status, part.header(CONTENT_ENCODING), part.body.len()),
            (206, "", 1),
            "{path}"
        );
        assert_eq!(
            site.get(path, std::slice::from_ref(&all))?
                .header(CACHE_CONTROL),
            "no-cache",
            "{path}"
        );
    }
    let head = site.ask(Method::HEAD, SHARD, &[all])?;
    assert_eq!((head.header(CONTENT_LENGTH), head.body.len()), ("1000", 0));
    Ok(())
}

#[test]
fn empty_files_and_404_responses_are_not_compressed() -> Test {
    let site = site(&[])?;
    std::fs::write(site.dir.path().join("empty.js"), "")?;
    let all = (ACCEPT_ENCODING, "gzip, br");
    let empty = site.get("/empty.js", std::slice::from_ref(&all))?;
    assert_eq!(
        (
            empty.status,
            empty.header(CONTENT_ENCODING),
            empty.body.len()
        ),
        (200, "", 0)
    );
    let missing = site.get("/missing.js", &[all])?;
    assert_eq!(
        (missing.status, missing.header(CONTENT_ENCODING)),
        (404, "")
    );
    Ok(())
}

#[test]
fn a_response_to_head_has_a_length_and_no_body() -> Test {
    let answer = site(&[])?.ask(Method::HEAD, SHARD, &[])?;
    assert_eq!(
        (
            answer.status,
            answer.header(CONTENT_LENGTH),
            answer.body.len()
        ),
        (200, "1000", 0)
    );
    Ok(())
}

#[test]
fn missing_files_and_paths_outside_the_directory_are_404() -> Test {
    let site = site(&[])?;
    for path in [
        "/missing",
        "/db/missing.shelf",
        "/../Cargo.toml",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/db/..%2f..%2fx",
    ] {
        assert_eq!(site.get(path, &[])?.status, 404, "{path}");
    }
    assert_eq!(site.ask(Method::POST, "/", &[])?.status, 405);
    Ok(())
}

#[test]
fn a_missing_file_is_answered_with_the_404_page_of_the_site() -> Test {
    let site = site(&[])?;
    std::fs::write(site.dir.path().join("404.html"), "<title>Not here</title>")?;
    for path in ["/missing", "/db/missing.shelf", "/a/b/c", "/%00"] {
        let answer = site.get(path, &[])?;
        assert_eq!(
            (answer.status, answer.body.as_slice()),
            (404, b"<title>Not here</title>".as_slice()),
            "{path}"
        );
        assert_eq!(answer.header(CONTENT_TYPE), "text/html; charset=utf-8");
        assert_eq!(
            site.get(path, &[(RANGE, "bytes=0-1")])?.status,
            404,
            "{path}"
        );
        let head = site.ask(Method::HEAD, path, &[])?;
        assert_eq!((head.status, head.body.len()), (404, 0), "{path}");
    }
    Ok(())
}

#[test]
fn invalid_paths_are_404() -> Test {
    let site = site(&[])?;
    let long = "/".to_owned() + &"a/".repeat(30_000);
    let name = "/".to_owned() + &"a".repeat(1000);
    for path in [
        &long,
        &name,
        "/db/%00",
        "/style.css%00",
        "/%00/style.css",
        "/..%2fstyle.css",
        "/..%5cstyle.css",
        "/..\\style.css",
        "/%2fetc/passwd",
        "/%ff",
        "/style.css/",
        "/style.css/x",
        "/db/",
        "/db/%2e%2e/",
    ] {
        assert_eq!(site.get(path, &[])?.status, 404, "{:.50}", path);
        assert_eq!(
            site.ask(Method::HEAD, path, &[])?.status,
            404,
            "{:.50}",
            path
        );
    }
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
            answer.status == 404 || answer.status == 307 && location.starts_with('/'),
            "{path}"
        );
        assert!(
            !location.starts_with("//") && !location.starts_with("/\\"),
            "{path}: {location}"
        );
    }
    assert_eq!(site.get("/db", &[])?.header(LOCATION), "/db/");
    Ok(())
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_followed_only_within_the_directory() -> Test {
    use std::os::unix::fs::symlink;
    let (site, outside) = (site(&[])?, tempfile::tempdir()?);
    let root = site.dir.path();
    std::fs::write(outside.path().join("index.html"), "secret")?;
    std::fs::create_dir(root.join("listed"))?;
    symlink(
        outside.path().join("index.html"),
        root.join("listed/index.html"),
    )?;
    symlink(outside.path(), root.join("out"))?;
    symlink(outside.path().join("index.html"), root.join("out.html"))?;
    symlink("..", root.join("up"))?;
    symlink("nowhere", root.join("broken"))?;
    symlink("loop", root.join("loop"))?;
    for path in [
        "/out",
        "/out/",
        "/out/index.html",
        "/out.html",
        "/listed/",
        "/up",
        "/up/",
        "/broken",
        "/loop",
        "/loop/",
    ] {
        for range in [&[][..], &[(RANGE, "bytes=0-1")]] {
            assert_eq!(site.get(path, range)?.status, 404, "{path}");
        }
    }
    symlink("db", root.join("latest"))?;
    symlink(root.join("index.html"), root.join("db/index.html"))?;
    for path in ["/latest/manifest.json", "/latest/", "/db/index.html"] {
        assert_eq!(site.get(path, &[])?.status, 200, "{path}");
    }
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_directory_that_is_a_symbolic_link_is_served() -> Test {
    let dir = tempfile::tempdir()?;
    for (name, content) in [("one", "1"), ("two", "2")] {
        std::fs::create_dir(dir.path().join(name))?;
        std::fs::write(dir.path().join(name).join("file"), content)?;
    }
    let link = dir.path().join("current");
    std::os::unix::fs::symlink("one", &link)?;
    let mut site = site(&[])?;
    site.app = router(&Args {
        dir: link.clone(),
        ..args()
    })?;
    assert_eq!(site.get("/file", &[])?.body, b"1");
    // As a new build takes the place of an old one.
    std::fs::remove_file(&link)?;
    std::os::unix::fs::symlink("two", &link)?;
    assert_eq!(site.get("/file", &[])?.body, b"2");
    assert_eq!(site.get("/../one/file", &[])?.status, 404);
    Ok(())
}

#[cfg(unix)]
#[test]
fn pipes_and_sockets_are_404_without_a_wait() -> Test {
    let site = site(&[])?;
    let _socket = std::os::unix::net::UnixListener::bind(site.dir.path().join("socket"))?;
    let pipe = site.dir.path().join("pipe");
    if std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()?
        .success()
    {
        std::fs::create_dir(site.dir.path().join("piped"))?;
        std::os::unix::fs::symlink(&pipe, site.dir.path().join("piped/index.html"))?;
    }
    for path in ["/pipe", "/piped/", "/socket"] {
        assert_eq!(site.get(path, &[])?.status, 404, "{path}");
    }
    Ok(())
}

#[test]
fn a_site_can_be_served_under_a_base_path() -> Test {
    for base in ["/chess/shelf/", "chess/shelf"] {
        let site = site(&["--base-path", base])?;
        assert_eq!(
            site.get("/chess/shelf/", &[])?.header(CONTENT_TYPE),
            "text/html"
        );
        assert_eq!(
            site.get(&format!("/chess/shelf{SHARD}"), &[(RANGE, "bytes=1-2")])?
                .status,
            206
        );
        assert_eq!(site.get(SHARD, &[])?.status, 404);
        assert_eq!(site.get("/", &[])?.status, 404);
        let bare = site.get("/chess/shelf", &[])?;
        assert_eq!((bare.status, bare.header(LOCATION)), (308, "/chess/shelf/"));
        let directory = site.get("/chess/shelf/db", &[])?;
        assert_eq!(directory.header(LOCATION), "/chess/shelf/db/");
        assert_eq!(site.get("//chess/shelf/db", &[])?.status, 404);
        for path in ["/chess/shelf//db", "/chess/shelf///db", "/chess/shelf/\\db"] {
            let answer = site.get(path, &[])?;
            assert!(
                answer.status == 404 || answer.header(LOCATION) == "/chess/shelf/db/",
                "{path}"
            );
        }
    }
    assert!(matches!(base_path("/{id}/"), Err(ServeError::BasePath(_))));
    assert!(matches!(base_path("/a/../b"), Err(ServeError::BasePath(_))));
    Ok(())
}

#[test]
fn a_missing_directory_and_an_invalid_bandwidth_are_errors() -> Test {
    let mut args = args();
    assert_eq!(
        run(args.clone())
            .err()
            .map(|error| error.to_string())
            .as_deref(),
        Some("no/such/shelf is not a directory")
    );
    args.dir = ".".into();
    args.bandwidth_mbit = Some(0.0);
    assert!(matches!(
        observed(&args, router(&args)?),
        Err(ServeError::Bandwidth(_))
    ));
    Ok(())
}

#[test]
fn a_simulated_network_respects_its_latency_and_bandwidth() -> Test {
    let site = site(&["--latency-ms", "50", "--bandwidth-mbit", "0.08"])?;
    let start = Instant::now();
    let answer = site.get(SHARD, &[])?;
    // 1,000 bytes at 10,000 bytes a second, after 50 ms.
    let time = start.elapsed().as_millis();
    assert_eq!(answer.body, shard());
    assert!(time >= 150, "{time} ms");
    Ok(())
}

#[test]
fn log_fields_are_escaped_and_quoted() {
    for (text, expected) in [
        ("bytes=0-9", "bytes=0-9"),
        ("/a%20b", "/a%20b"),
        ("", r#""""#),
        ("-1 200", r#""-1 200""#),
        ("a\"b", r#""a\"b""#),
        (
            "8/8 w\r\n127.0.0.1 200\u{1b}[2J\u{9b}",
            r#""8/8 w\r\n127.0.0.1 200\u001b[2J\u009b""#,
        ),
    ] {
        assert_eq!(field(text), expected);
    }
    assert_eq!(field(&"x".repeat(100_000)).chars().count(), 259);
}
