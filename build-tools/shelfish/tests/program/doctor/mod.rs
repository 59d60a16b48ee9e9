//! `shelfish doctor` against good hosts, and against hosts with one fault each.

#[cfg(unix)]
mod nginx;

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::faulty::{FaultyHost, Files, Reply, Request};
use crate::common::stores::run;
use crate::common::*;

/// Examines a host and returns the report.
fn examine(url: &str, more: &[&str]) -> (i32, Value) {
    let run = shelfish([&["doctor", url, "--json"], more].concat());
    assert_eq!(run.err, "");
    (run.code, serde_json::from_str(&run.out).unwrap())
}

/// Returns the ids of the checks with a result.
fn with_result<'a>(report: &'a Value, result: &str) -> Vec<&'a str> {
    let checks = report["checks"].as_array().unwrap().iter();
    checks
        .filter(|check| check["result"] == result)
        .map(|check| check["id"].as_str().unwrap())
        .collect()
}

/// Asserts the problems of a host, and the text that the check `id` found.
#[track_caller]
fn finds((code, report): &(i32, Value), problems: &[&str], id: &str, found: &str) {
    assert_eq!(with_result(report, "problem"), problems, "{report:#}");
    assert_eq!(*code, i32::from(!problems.is_empty()), "{report:#}");
    let mut checks = report["checks"].as_array().unwrap().iter();
    let check = checks.find(|check| check["id"] == id).unwrap();
    let text = check["found"].as_str().unwrap();
    assert!(text.contains(found), "expected {found:?}: {check}");
    assert_eq!(
        check["remedy"].is_string(),
        ["problem", "warning", "note"].contains(&check["result"].as_str().unwrap()),
        "{check}"
    );
}

#[test]
fn shelfish_serve_passes_every_check_for_databases_and_books() {
    let fixture = Fixture::of_sample();
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static-shards/famous.pgn");
    fixture.book_build_to("book", &[&games], &[]).succeeds();
    let host = Host::new(&fixture);
    for (path, found) in [
        ("db", "format 3, evaluations, 1,574 positions"),
        ("db/manifest.json", "format 3, evaluations"),
        ("book", "a book"),
    ] {
        let answer = examine(&host.url(path), &[]);
        assert_eq!(with_result(&answer.1, "ok").len(), 8, "{:#}", answer.1);
        finds(&answer, &[], "manifest", found);
    }
}

/// Changes an answer of a good host.
type Fault = fn(&Request, &mut Reply, &Files);

/// A fault, the checks that are then problems, and what a check finds.
type Case = (Fault, &'static [&'static str], &'static str, &'static str);

/// Faults of the manifest.
const OF_MANIFEST: [Case; 10] = [
    (
        |_, r, _| r.status = 404,
        &["manifest"],
        "manifest",
        "status 404",
    ),
    (
        |_, r, _| r.body = b"{\"format\":4}".into(),
        &["manifest"],
        "manifest",
        "format 4",
    ),
    (
        |_, r, _| r.body.truncate(100),
        &["manifest"],
        "manifest",
        "not a manifest",
    ),
    (
        |_, r, _| r.set("content-encoding", "gzip"),
        &["manifest"],
        "manifest",
        "gzip, damaged",
    ),
    (
        |q, r, _| r.redirect(&q.path),
        &["manifest", "redirects"],
        "manifest",
        "status 302",
    ),
    (
        |_, r, _| r.set("cache-control", "max-age=60, S-MaxAge=604800"),
        &["caching-manifest"],
        "caching-manifest",
        "after a new build",
    ),
    (
        |_, r, _| r.set("cache-control", "no-store"),
        &[],
        "caching-manifest",
        "transferred whole",
    ),
    (
        |_, r, _| r.set("cache-control", "no-cache, max-age=31536000"),
        &[],
        "caching-manifest",
        "status 304",
    ),
    (
        |_, r, _| r.set("etag", ""),
        &[],
        "caching-manifest",
        "neither ETag nor Last-Modified",
    ),
    (
        |_, r, _| r.set("access-control-allow-origin", ""),
        &["cors"],
        "cors",
        "manifest, status 200: none",
    ),
];

/// Faults of ranges of shards.
const OF_RANGES: [Case; 8] = [
    (
        |_, r, _| r.set("content-range", "bytes 0-9/10"),
        &["ranges"],
        "ranges",
        "bytes 0-9/10",
    ),
    (
        |_, r, _| r.set("content-range", ""),
        &["ranges"],
        "ranges",
        "without Content-Range",
    ),
    (|_, r, _| r.body[20] ^= 1, &["ranges"], "ranges", "checksum"),
    (
        |_, r, _| r.status = 404,
        &["ranges"],
        "ranges",
        "status 404, for a shard",
    ),
    (
        |_, r, _| (r.status, r.body) = (200, vec![0; 32 << 20]),
        &["ranges"],
        "ranges",
        "status 200 with the whole shard",
    ),
    (
        |_, r, _| r.set("content-encoding", "gzip"),
        &["ranges", "compression"],
        "compression",
        "gzip",
    ),
    (
        |q, r, _| {
            if !q.path.contains('?') {
                r.redirect(&format!("{}?X-Amz-Signature=1", q.path))
            }
        },
        &[],
        "redirects",
        "a signed address expires",
    ),
    (
        |_, r, _| r.status = 429,
        &["ranges"],
        "ranges",
        "status 429",
    ),
];

/// Faults of all answers.
const OF_ALL: [Case; 3] = [
    (
        |_, r, _| (r.status, r.body) = (200, b"\n<!doctype html>".into()),
        &["manifest", "missing"],
        "manifest",
        "a page of HTML",
    ),
    (
        |_, r, _| {
            if r.status == 404 {
                r.status = 500
            }
        },
        &[],
        "missing",
        "status 500",
    ),
    (
        |q, r, _| {
            if q.path == "/db/manifest.json" {
                r.redirect("/other/manifest.json");
            } else if q.path.starts_with("/other/") && !q.is_manifest() {
                (r.status, r.body) = (404, Vec::new());
            }
        },
        &["ranges"],
        "ranges",
        "folder to which the manifest is redirected",
    ),
];

#[test]
fn each_fault_of_a_host_is_found_and_has_a_remedy() {
    let fixture = Fixture::of_sample();
    let is_wanted: [fn(&Request) -> bool; 3] = [Request::is_manifest, Request::is_range, |_| true];
    let faults = [&OF_MANIFEST[..], &OF_RANGES, &OF_ALL];
    for (is_wanted, faults) in is_wanted.into_iter().zip(faults) {
        for (fault, problems, id, found) in faults {
            let fault = *fault;
            let host = FaultyHost::new(&fixture, move |request, reply, files, _| {
                if is_wanted(request) {
                    fault(request, reply, files);
                }
            });
            finds(&examine(&host.url(), &[]), problems, id, found);
        }
    }
}

#[test]
fn the_report_for_people_names_each_problem_and_its_remedy() {
    let host = FaultyHost::new(&Fixture::of_sample(), |request, reply, _, _| {
        reply.set("server", "nginx");
        if request.is_range() {
            reply.set("content-encoding", "gzip");
        }
    });
    let run = shelfish(["doctor", &host.url()]);
    assert_eq!(run.code, 1, "{}", run.out);
    for words in ["on nginx\n", "gzip off;", "\nproblems: 2, warnings: 0\n"] {
        assert!(run.out.contains(words), "expected {words:?}: {}", run.out);
    }
}

#[test]
fn a_page_outside_of_the_manifest_is_requested_and_checked() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump.jsonl", sample());
    fixture.build(&[&dump], &["--inline-pages", "0"]).succeeds();
    for (damage, problems) in [(0, &[][..]), (1, &["ranges"])] {
        let ranges = std::sync::atomic::AtomicUsize::new(0);
        let host = FaultyHost::new(&fixture, move |request, reply, _, _| {
            // The page is the first range.
            if request.is_range() && ranges.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0
            {
                reply.body[9] ^= damage;
            }
        });
        let answer = examine(&host.url(), &[]);
        finds(&answer, problems, "ranges", "checksum");
    }
}

#[test]
fn a_host_that_does_not_answer_is_a_problem() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/db", silent.local_addr().unwrap());
    let mut command = command();
    command.env("SHELFISH_TIMEOUT", "1");
    let run = run(command.args(["doctor", &url]));
    assert!(
        run.code == 1 && run.out.contains("within 1000 ms"),
        "{}",
        run.out
    );
}

#[test]
fn the_origin_of_the_page_is_sent_and_may_be_allowed_alone() {
    let host = FaultyHost::new(&Fixture::of_sample(), |_, reply, _, _| {
        reply.set("access-control-allow-origin", "https://me.github.io");
    });
    let answer = examine(&host.url(), &["--origin", "https://me.github.io/board/"]);
    finds(&answer, &[], "cors", "https://me.github.io");
    let requests = host.requests.lock().unwrap();
    let mut origins = requests.iter().map(|request| request.header("origin"));
    assert!(origins.all(|origin| origin == "https://me.github.io"));
    drop(requests);
    let answer = examine(&host.url(), &["--origin", "https://example.org"]);
    finds(&answer, &["cors"], "cors", "https://me.github.io");
    // A page of the same origin needs no permission. Without an origin, it is only noted that other pages need it.
    let answer = examine(&host.url(), &["--origin", &host.url()]);
    finds(&answer, &[], "cors", "https://me.github.io");
    let answer = examine(&host.url(), &[]);
    finds(&answer, &[], "cors", "only pages of this host");
    assert_eq!(with_result(&answer.1, "note"), ["cors"]);
}

#[test]
fn a_redirect_to_another_origin_hides_the_origin_of_the_page() {
    let fixture = Fixture::of_sample();
    let to = FaultyHost::new(&fixture, |request, reply, _, _| {
        reply.set("access-control-allow-origin", request.header("origin"));
    });
    let target = to.url();
    let from = FaultyHost::new(&fixture, move |request, reply, _, _| {
        let name = request.path.rsplit('/').next().unwrap();
        reply.redirect(&format!("{target}/{name}"));
    });
    let answer = examine(&from.url(), &[]);
    finds(&answer, &[], "redirects", "a round trip");
    // Shards are next to the manifest after its redirect.
    let requests = to.requests.lock().unwrap();
    assert_eq!(requests[0].header("origin"), "null");
    assert!(requests.iter().any(Request::is_range));
    assert!(!from.requests.lock().unwrap().iter().any(Request::is_range));
}

#[test]
fn a_user_in_the_address_is_a_problem_and_is_not_printed() {
    let host = FaultyHost::new(&Fixture::of_sample(), |_, _, _, _| {});
    let url = host.url().replacen("http://", "http://me:secret@", 1);
    let answer = examine(&url, &[]);
    finds(&answer, &["https"], "https", "browsers refuse");
    assert!(!answer.1.to_string().contains("secret"), "{:#}", answer.1);
}

#[test]
fn an_address_without_http_is_wrong_usage() {
    for url in ["evals", "s3://bucket/evals", "ftp://example.org/evals"] {
        let run = shelfish(["doctor", url]);
        let words = "expected a URL with http:// or https://";
        assert!(run.code == 2 && run.err.contains(words), "{}", run.err);
    }
}
