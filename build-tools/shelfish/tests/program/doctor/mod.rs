//! `shelfish doctor` against good hosts, and against hosts with one fault each.

mod delivery;
#[cfg(unix)]
mod nginx;

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::faulty::{FaultyHost, Files, Reply, Request};
use crate::common::*;

/// Examines a host and returns the report.
fn examine(url: &str, more: &[&str]) -> (i32, Value) {
    let run = shelfish([&["doctor", url, "--json"], more].concat());
    assert_eq!(run.err, "");
    (
        run.code,
        serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.out)),
    )
}

/// Returns a check of a report.
fn check<'a>(report: &'a Value, id: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks
        .iter()
        .find(|check| check["id"] == id)
        .unwrap_or_else(|| panic!("no check {id}: {report}"))
}

/// Returns the ids of the checks with a result.
fn with_result<'a>(report: &'a Value, result: &str) -> Vec<&'a str> {
    let checks = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["result"] == result);
    checks.map(|check| check["id"].as_str().unwrap()).collect()
}

/// Asserts the result of a check and words in the value found and in the remedy.
#[track_caller]
fn expect(report: &Value, id: &str, result: &str, found: &str, remedy: &str) {
    let check = check(report, id);
    assert_eq!(check["result"], result, "{check}");
    assert!(
        check["found"].as_str().unwrap().contains(found),
        "expected {found:?}: {check}"
    );
    assert!(
        check["remedy"]
            .as_str()
            .unwrap_or_default()
            .contains(remedy),
        "expected {remedy:?}: {check}"
    );
}

/// Examines a host with a fault.
fn with_fault(
    fault: impl Fn(&Request, &mut Reply, &Files, usize) + Send + Sync + 'static,
) -> (i32, Value) {
    let host = FaultyHost::new(&Fixture::of_sample(), fault);
    examine(&host.url(), &[])
}

/// Asserts that a fault is the only problem, or the only warning.
#[track_caller]
fn is_only(result: &str, (code, report): &(i32, Value), ids: &[&str]) {
    assert_eq!(with_result(report, result), ids, "{report:#}");
    let problems = with_result(report, "problem").len();
    assert_eq!(*code, i32::from(problems > 0), "{report:#}");
    assert_eq!(
        (report["ok"].as_bool(), report["problems"].as_u64()),
        (Some(problems == 0), Some(problems as u64))
    );
}

#[test]
fn shelfish_serve_passes_every_check_for_databases_and_books() {
    let fixture = Fixture::of_sample();
    let host = Host::new(&fixture);
    for url in [
        host.url("db"),
        host.url("db/"),
        host.url("db/manifest.json"),
    ] {
        let (code, report) = examine(&url, &[]);
        assert_eq!(
            (code, with_result(&report, "ok").len()),
            (0, 14),
            "{report:#}"
        );
        expect(
            &report,
            "manifest",
            "ok",
            "format 2, evaluations, 1,574 positions",
            "",
        );
        assert!(
            report["speed"]["first_lookup_ms"].as_f64().unwrap() > 0.0,
            "{report:#}"
        );
        assert!(
            (10..60).contains(&report["requests"].as_u64().unwrap()),
            "{report:#}"
        );
    }
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static-shards/famous.pgn");
    fixture.book_build_to("book", &[&games], &[]).succeeds();
    let (code, report) = examine(&host.url("book"), &[]);
    assert_eq!(
        (code, with_result(&report, "ok").len()),
        (0, 14),
        "{report:#}"
    );
    expect(&report, "manifest", "ok", "a book", "");
}

#[test]
fn the_report_for_people_has_a_line_for_each_check_and_a_summary() {
    let fixture = Fixture::of_sample();
    let out = shelfish(["doctor", &Host::new(&fixture).url("db")]).succeeds();
    assert!(
        out.starts_with("http://127.0.0.1:") && out.contains("for pages of https://example.org"),
        "{out}"
    );
    assert_eq!(
        out.lines().filter(|line| line.starts_with("ok ")).count(),
        14,
        "{out}"
    );
    assert!(out.contains("\n0 problems, 0 warnings, 14 ok; "), "{out}");
    let host = FaultyHost::new(&fixture, |request, reply, _, _| {
        reply.set("server", "nginx");
        reply.set(
            "content-encoding",
            if request.is_range() { "gzip" } else { "" },
        );
    });
    let run = shelfish(["doctor", &host.url()]);
    assert_eq!(run.code, 1, "{}", run.out);
    for words in [
        "on nginx\n",
        "PROBLEM      compression           range: gzip, manifest: none\n",
        "             expected: a range without Content-Encoding\n",
        "             remedy:   nginx, in `location ~ \\.silo$`: gzip off;",
        "             remedy:   the same as for ranges\n",
        "\n2 problems, 0 warnings, ",
        " 1 not checked; ",
    ] {
        assert!(run.out.contains(words), "expected {words:?}: {}", run.out);
    }
}

/// Running `python3 -m http.server`, which is killed when dropped.
struct Python(std::process::Child);

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_server_of_python_has_neither_ranges_nor_cors() {
    let fixture = Fixture::of_sample();
    let mut command = Command::new("python3");
    command
        .args(["-u", "-m", "http.server", "--bind", "127.0.0.1", "0"])
        .current_dir(fixture.dir.path());
    let Ok(child) = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
        skipped("python3 is missing");
        return;
    };
    let mut python = Python(child);
    let mut line = String::new();
    BufReader::new(python.0.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let port = line
        .split_whitespace()
        .skip_while(|word| *word != "port")
        .nth(1)
        .unwrap();
    let (code, report) = examine(&format!("http://127.0.0.1:{port}/db"), &[]);
    assert_eq!(
        (code, report["host"].as_str()),
        (1, Some("Python's http.server")),
        "{report:#}"
    );
    assert_eq!(
        with_result(&report, "problem"),
        ["ranges", "cors"],
        "{report:#}"
    );
    expect(&report, "manifest", "ok", "1,574 positions", "");
    expect(
        &report,
        "ranges",
        "problem",
        "status 200 with the whole shard",
        "`shelfish serve FOLDER`",
    );
    expect(
        &report,
        "cors",
        "problem",
        "none",
        "`shelfish serve FOLDER`",
    );
    expect(&report, "speed", "not-checked", "ranges do not work", "");
}

#[test]
fn a_page_of_html_is_not_a_manifest_and_shards_are_not_checked() {
    let answer = with_fault(|_, reply, _, _| {
        (reply.status, reply.body) = (200, b"<!doctype html><title>App</title>".to_vec());
    });
    is_only("problem", &answer, &["manifest", "missing"]);
    let skipped = [
        "ranges",
        "compression",
        "cors-exposed",
        "preflight",
        "caching-manifest",
        "caching-shards",
        "speed",
    ];
    is_only("not-checked", &answer, &skipped);
    expect(
        &answer.1,
        "manifest",
        "problem",
        "status 200 with a page of HTML",
        "fallback of an application",
    );
}

#[test]
fn an_unusable_manifest_is_a_problem_with_its_reason() {
    type Change = fn(&mut Reply);
    let changes: [(Change, &str, &str); 6] = [
        (|reply| reply.status = 404, "status 404", "shelfish publish"),
        (|reply| reply.status = 403, "status 403", "permissions"),
        (
            |reply| reply.body = b"{}".to_vec(),
            "not a manifest",
            "shelfish publish",
        ),
        (
            |reply| reply.body = b"{\"format\":3}".to_vec(),
            "3",
            "newer",
        ),
        (
            |reply| reply.body.truncate(100),
            "not a manifest",
            "shelfish publish",
        ),
        (
            |reply| reply.set("content-encoding", "gzip"),
            "gzip, damaged",
            "gzip off",
        ),
    ];
    for (change, found, remedy) in changes {
        let answer = with_fault(move |request, reply, _, _| {
            if request.is_manifest() {
                change(reply);
            }
        });
        is_only("problem", &answer, &["manifest"]);
        expect(&answer.1, "manifest", "problem", found, remedy);
    }
}

#[test]
fn a_manifest_may_be_compressed() {
    let answer = with_fault(|request, reply, _, _| {
        if request.is_manifest() && reply.status == 200 {
            reply.body = gzip(std::str::from_utf8(&reply.body).unwrap());
            reply.set("content-encoding", "gzip");
        }
    });
    is_only("problem", &answer, &[]);
    expect(
        &answer.1,
        "compression",
        "ok",
        "range: none, manifest: gzip",
        "",
    );
}

#[test]
fn a_host_that_does_not_answer_is_a_problem() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let answer = examine(&format!("http://{free}/db"), &[]);
    is_only("problem", &answer, &["manifest"]);
    expect(
        &answer.1,
        "manifest",
        "problem",
        "no answer (",
        "check the name",
    );
    // A host that accepts connections and is silent.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let answer = examine(
        &format!("http://{}/db", silent.local_addr().unwrap()),
        &["--timeout", "1"],
    );
    is_only("problem", &answer, &["manifest"]);
    expect(
        &answer.1,
        "manifest",
        "problem",
        "within 1000 ms",
        "--timeout",
    );
}

#[test]
fn wrong_ranges_are_problems() {
    type Change = fn(&Request, &mut Reply, &Files);
    let changes: [(Change, &str); 6] = [
        (
            |_, reply, _| reply.set("content-range", "bytes 0-9/10"),
            "bytes 0-9/10",
        ),
        (
            |_, reply, _| reply.set("content-range", ""),
            "without Content-Range",
        ),
        (|_, reply, _| reply.body.truncate(20), "20"),
        (|_, reply, _| reply.body[20] ^= 1, "checksum"),
        (|_, reply, _| reply.status = 404, "status 404 for a shard"),
        (
            |request, reply, files| {
                (reply.status, reply.body) =
                    (200, files[request.path.rsplit('/').next().unwrap()].clone());
            },
            "status 200 with the whole shard",
        ),
    ];
    for (change, found) in changes {
        let answer = with_fault(move |request, reply, files, _| {
            if request.is_range() {
                change(request, reply, files);
            }
        });
        is_only("problem", &answer, &["ranges"]);
        expect(&answer.1, "ranges", "problem", found, "");
        expect(&answer.1, "speed", "not-checked", "ranges do not work", "");
    }
}

#[test]
fn a_page_outside_of_the_manifest_is_requested_and_checked() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump.jsonl", sample());
    fixture.build(&[&dump], &["--inline-pages", "0"]).succeeds();
    let host = FaultyHost::new(&fixture, |_, _, _, _| {});
    let answer = examine(&host.url(), &[]);
    is_only("problem", &answer, &[]);
    assert_eq!(
        answer.1["speed"]["first_lookup_requests"], 3,
        "{:#}",
        answer.1
    );
    // The page is the first range.
    let ranges = std::sync::atomic::AtomicUsize::new(0);
    let host = FaultyHost::new(&fixture, move |request, reply, _, _| {
        if request.is_range() && ranges.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0 {
            reply.body[9] ^= 1;
        }
    });
    let answer = examine(&host.url(), &[]);
    is_only("problem", &answer, &["ranges"]);
    expect(
        &answer.1,
        "ranges",
        "problem",
        "checksum",
        "publish the files again",
    );
    assert_eq!(
        host.requests
            .lock()
            .unwrap()
            .iter()
            .filter(|request| request.is_range())
            .count(),
        1
    );
}

#[test]
fn ranges_that_differ_from_each_other_are_a_problem() {
    // The first range is correct, so that its checksum is correct too.
    let ranges = std::sync::atomic::AtomicUsize::new(0);
    let answer = with_fault(move |request, reply, _, _| {
        if request.is_range() && ranges.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0 {
            reply.body.rotate_left(1);
        }
    });
    is_only("problem", &answer, &["ranges"]);
    expect(
        &answer.1,
        "ranges",
        "problem",
        "differ in two overlapping ranges",
        "max_ranges",
    );
}

#[test]
fn a_large_file_instead_of_a_range_is_not_read() {
    let host = FaultyHost::new(&Fixture::of_sample(), |request, reply, _, _| {
        if request.is_range() {
            (reply.status, reply.body) = (200, vec![0; 32 << 20]);
        }
    });
    let answer = examine(&host.url(), &[]);
    is_only("problem", &answer, &["ranges"]);
    assert!(
        answer.1["bytes"].as_u64().unwrap() < 1 << 20,
        "{:#}",
        answer.1
    );
}

#[test]
fn a_compressed_range_is_a_problem() {
    let answer = with_fault(|request, reply, _, _| {
        if request.is_range() && request.header("accept-encoding").contains("gzip") {
            reply.set("content-encoding", "gzip");
        }
    });
    is_only("problem", &answer, &["ranges", "compression"]);
    expect(
        &answer.1,
        "compression",
        "problem",
        "range: gzip",
        "gzip off;",
    );
}

#[test]
fn status_200_for_a_missing_file_is_a_problem() {
    let answer = with_fault(|_, reply, _, _| {
        if reply.status == 404 {
            reply.status = 200;
        }
    });
    is_only("problem", &answer, &["missing"]);
    expect(
        &answer.1,
        "missing",
        "problem",
        "status 200",
        "try_files $uri =404;",
    );
    let answer = with_fault(|_, reply, _, _| {
        if reply.status == 404 {
            reply.status = 500;
        }
    });
    is_only("warning", &answer, &["missing"]);
}

#[test]
fn an_address_without_http_is_wrong_usage() {
    for url in ["evals", "s3://bucket/evals", "ftp://example.org/evals"] {
        let run = shelfish(["doctor", url]);
        assert!(
            run.code == 2 && run.err.contains("expected a URL with http:// or https://"),
            "{}",
            run.err
        );
    }
    assert_eq!(shelfish(["doctor"]).code, 2);
    assert_eq!(
        shelfish(["doctor", "http://127.0.0.1:1", "--timeout", "0"]).code,
        2
    );
}
