//! Limits of `shelfish serve --api`: hostile, slow and many clients.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::common::hostile::{HostileHost, current_memory, send_file};
use crate::common::server::{Server, fens, header, read_answer, rest, status};
use crate::common::*;

/// Returns the path of a question for the start position, with a different text for each number.
fn question(number: usize) -> String {
    format!(
        "/api/cloud-eval?fen={}&n={number}",
        START.replace(' ', "%20")
    )
}

/// Malformed requests, and the statuses with which they may be answered. A connection may always be closed.
fn malformed() -> Vec<(&'static str, Vec<u8>, &'static [u16])> {
    let text = |text: &str| text.as_bytes().to_vec();
    let many: String = (0..200).map(|n| format!("x-{n}: y\r\n")).collect();
    let ok = "GET /healthz HTTP/1.1\r\nhost: x\r\n";
    vec![
        (
            "unknown method",
            text("BREW /healthz HTTP/1.1\r\nhost: x\r\n\r\n"),
            &[405],
        ),
        (
            "method with a space",
            text("GE T /healthz HTTP/1.1\r\nhost: x\r\n\r\n"),
            &[400],
        ),
        (
            "method with a control character",
            b"G\x01ET /healthz HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
            &[400],
        ),
        (
            "empty line instead of a request",
            text("\r\n\r\n\r\n\r\n\0"),
            &[400],
        ),
        ("no host", text("GET /healthz HTTP/1.1\r\n\r\n"), &[400]),
        (
            "two hosts",
            text("GET /healthz HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n"),
            &[400],
        ),
        ("no path", text("GET HTTP/1.1\r\nhost: x\r\n\r\n"), &[400]),
        (
            "path without a slash",
            text("GET healthz HTTP/1.1\r\nhost: x\r\n\r\n"),
            &[400],
        ),
        (
            "asterisk",
            text("OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n"),
            &[400],
        ),
        (
            "path with a NUL",
            b"GET /healthz\0 HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
            &[400],
        ),
        (
            "header with a NUL",
            b"GET /healthz HTTP/1.1\r\nhost: x\r\na: b\0c\r\n\r\n".to_vec(),
            &[400],
        ),
        (
            "header name with a NUL",
            b"GET /healthz HTTP/1.1\r\nhost: x\r\na\0: b\r\n\r\n".to_vec(),
            &[400],
        ),
        (
            "header without a colon",
            text("GET /healthz HTTP/1.1\r\nhost: x\r\nabc\r\n\r\n"),
            &[400],
        ),
        (
            "header name with a space",
            text("GET /healthz HTTP/1.1\r\nhost: x\r\na : b\r\n\r\n"),
            &[400],
        ),
        (
            "folded header",
            text("GET /healthz HTTP/1.1\r\nhost: x\r\na: b\r\n c\r\n\r\n"),
            &[400],
        ),
        (
            "carriage return alone",
            text("GET /healthz HTTP/1.1\rhost: x\r\r"),
            &[400],
        ),
        (
            "huge header",
            text(&format!("{ok}a: {}\r\n\r\n", "b".repeat(1 << 20))),
            &[431],
        ),
        (
            "huge header name",
            text(&format!("{ok}{}: b\r\n\r\n", "a".repeat(1 << 20))),
            &[431, 400],
        ),
        ("many headers", text(&format!("{ok}{many}\r\n")), &[431]),
        (
            "huge URL",
            text(&format!(
                "GET /{} HTTP/1.1\r\nhost: x\r\n\r\n",
                "a".repeat(1 << 20)
            )),
            &[414, 431],
        ),
        (
            "two lengths",
            text(&format!(
                "{ok}content-length: 0\r\ncontent-length: 5\r\n\r\nabcde"
            )),
            &[400, 413],
        ),
        (
            "list of lengths",
            text(&format!("{ok}content-length: 5, 5\r\n\r\nabcde")),
            &[400, 413],
        ),
        (
            "negative length",
            text(&format!("{ok}content-length: -1\r\n\r\n")),
            &[400],
        ),
        (
            "length with a sign",
            text(&format!("{ok}content-length: +0\r\n\r\n")),
            &[400, 413],
        ),
        (
            "huge length",
            text(&format!(
                "{ok}content-length: 99999999999999999999999\r\n\r\n"
            )),
            &[400],
        ),
        (
            "length and chunks",
            text(&format!(
                "{ok}content-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n"
            )),
            &[400, 413],
        ),
        (
            "chunks with another coding",
            text(&format!(
                "{ok}transfer-encoding: chunked, x\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n"
            )),
            &[400, 413],
        ),
        (
            "chunks with a space in the name",
            text(&format!(
                "{ok}transfer-encoding : chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n"
            )),
            &[400],
        ),
        (
            "endless chunk",
            text(&format!(
                "{ok}transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\nx"
            )),
            &[400, 413],
        ),
        (
            "broken chunk",
            text(&format!("{ok}transfer-encoding: chunked\r\n\r\nzz\r\n")),
            &[400, 413],
        ),
        ("HTTP/0.9", text("GET /healthz\r\n"), &[400]),
        (
            "HTTP/1.2",
            text("GET /healthz HTTP/1.2\r\nhost: x\r\n\r\n"),
            &[400, 505],
        ),
        (
            "HTTP/2",
            text("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
            &[400, 505],
        ),
        (
            "HTTP/9.9",
            text("GET /healthz HTTP/9.9\r\nhost: x\r\n\r\n"),
            &[400, 505],
        ),
        (
            "lower case http",
            text("GET /healthz http/1.1\r\nhost: x\r\n\r\n"),
            &[400],
        ),
        (
            "hello of TLS",
            [
                &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
                &[7; 64],
            ]
            .concat(),
            &[400],
        ),
        ("hello of SSH", text("SSH-2.0-OpenSSH_9.9\r\n"), &[400]),
        ("request of Redis", text("*1\r\n$4\r\nPING\r\n"), &[400]),
        (
            "CONNECT",
            text("CONNECT example.org:443 HTTP/1.1\r\nhost: example.org:443\r\n\r\n"),
            &[400, 404, 405],
        ),
        ("NULs", vec![0; 10_000], &[400]),
        ("bytes above ASCII", vec![0xff; 10_000], &[400]),
        (
            "upgrade to HTTP/2",
            text(&format!(
                "{ok}connection: upgrade, http2-settings\r\nupgrade: h2c\r\n\r\n"
            )),
            &[200],
        ),
    ]
}

#[test]
fn malformed_requests_are_refused_and_others_are_answered() {
    let fixture = Fixture::of_sample();
    let server = Server::of(&fixture, &["--head-timeout", "1s"]);
    let mut failures = Vec::new();
    for (name, request, expected) in malformed() {
        let answer = server.exchange(&request);
        let found = status(&answer);
        let is_expected =
            answer.is_empty() || found.is_some_and(|status| expected.contains(&status));
        if !is_expected || answer.matches("HTTP/1.").count() > 1 {
            failures.push(format!("{name}: {answer:?}\n"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.concat());
    assert!(server.is_healthy());
}

#[test]
fn arbitrary_bytes_are_answered_by_http_or_by_a_closed_connection() {
    let fixture = Fixture::of_sample();
    let server = Server::of(&fixture, &["--head-timeout", "1s"]);
    let part = prop_oneof![
        vec(any::<u8>(), 0..40),
        prop::sample::select(vec![
            "GET ",
            "POST ",
            "/",
            "/healthz",
            "/api/cloud-eval?fen=",
            "%00",
            "%",
            " HTTP/1.1\r\n",
            " HTTP/1.0\r\n",
            "\r\n",
            "\n",
            "host: x\r\n",
            "content-length: ",
            "7",
            "transfer-encoding: chunked\r\n",
            "connection: close\r\n",
            "expect: 100-continue\r\n",
            "range: bytes=0-",
            "x-request-id: ",
            ": ",
            "\r\n\r\n",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    // A request that is not complete takes the whole time for it, so that the cases run side by side.
    let cases = if is_long() { 4_000 } else { 300 };
    let run = |seed: u64| {
        let config = Config {
            cases: cases / 10,
            failure_persistence: None,
            ..Config::default()
        };
        let random = proptest::test_runner::TestRng::from_seed(
            proptest::test_runner::RngAlgorithm::ChaCha,
            &[[seed as u8; 16], [7; 16]].concat(),
        );
        TestRunner::new_with_rng(config, random)
            .run(&vec(part.clone(), 0..20), |parts| {
                let mut stream = server.connect();
                let _ = stream.write_all(&parts.concat());
                // No more bytes follow.
                let _ = stream.shutdown(std::net::Shutdown::Write);
                let answer = rest(&mut stream);
                prop_assert!(
                    answer.is_empty()
                        || status(&answer).is_some_and(|status| (100..=505).contains(&status))
                );
                Ok(())
            })
            .unwrap();
    };
    std::thread::scope(|scope| (0..10).for_each(|seed| drop(scope.spawn(move || run(seed)))));
    assert!(server.is_healthy());
}

#[test]
fn long_urls_large_heads_and_bodies_have_their_statuses() {
    let fixture = Fixture::of_sample();
    let server = Server::of(&fixture, &["--max-url", "300B", "--max-head", "8KiB"]);
    let ask = |path: &str, more: &str, body: &str| {
        server.exchange(format!("GET {path} HTTP/1.1\r\nhost: x\r\n{more}\r\n{body}").as_bytes())
    };
    let question = question(0);
    for (path, more, body, expected, words) in [
        (
            format!("{question}&x={}", "y".repeat(300)),
            "",
            "",
            414,
            "at most 300 bytes",
        ),
        (
            question.clone(),
            &*format!("a: {}\r\n", "b".repeat(9_000)),
            "",
            431,
            "",
        ),
        (
            question.clone(),
            "content-length: 5\r\n",
            "abcde",
            413,
            "without a body",
        ),
        (
            question.clone(),
            "content-length: 99999999999\r\n",
            "abcde",
            413,
            "without a body",
        ),
        (
            question.clone(),
            "content-length: 5\r\nexpect: 100-continue\r\n",
            "",
            413,
            "without a body",
        ),
        (
            question.clone(),
            "transfer-encoding: chunked\r\n",
            "5\r\nabcde\r\n0\r\n\r\n",
            413,
            "without a body",
        ),
        (
            question.clone(),
            "content-length: 0\r\nconnection: close\r\n",
            "",
            200,
            "\"depth\"",
        ),
        (
            format!("{question}&x={}", "y".repeat(100)),
            "connection: close\r\n",
            "",
            200,
            "\"depth\"",
        ),
    ] {
        let answer = ask(&path, more, body);
        assert!(
            status(&answer) == Some(expected) && answer.contains(words),
            "{expected}: {answer}"
        );
        assert_eq!(
            answer.matches("HTTP/1.").count(),
            1,
            "the connection is closed: {answer}"
        );
    }
    // The limit of hyper, beyond the buffer for a head.
    let answer = ask(&format!("/{}", "a".repeat(100_000)), "", "");
    assert!(
        answer.is_empty() || matches!(status(&answer), Some(414 | 431)),
        "{answer}"
    );
}

/// Returns whether the server closed a connection.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    match stream.read(&mut [0; 256]) {
        Ok(bytes) => bytes == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

#[test]
fn clients_that_send_a_byte_at_a_time_are_disconnected_and_others_are_answered() {
    let fixture = Fixture::of_sample();
    let server = Server::of(&fixture, &["--head-timeout", "2s"]);
    let start = Instant::now();
    let mut slow: Vec<TcpStream> = (0..300).map(|_| server.connect()).collect();
    let count = slow.len();
    let head = format!("GET {} HTTP/1.1\r\nx-slow: ", question(0)).into_bytes();
    let mut turn = 0;
    let mut first = None;
    until("all slow clients are disconnected", || {
        let byte = head.get(turn).copied().unwrap_or(b'x');
        slow.retain_mut(|stream| !(stream.write_all(&[byte]).is_err() || is_closed(stream)));
        if slow.len() < count {
            first.get_or_insert(start.elapsed());
        }
        let begin = Instant::now();
        assert_eq!(server.get(&question(turn)).0, 200);
        // The machine may be busy, but no answer waits for the slow clients.
        assert!(
            begin.elapsed() < Duration::from_secs(10),
            "{:?}",
            begin.elapsed()
        );
        turn += 1;
        slow.is_empty()
    });
    assert!(
        first.is_some_and(|first| first >= Duration::from_millis(1900)),
        "{first:?}"
    );
}

#[test]
fn an_idle_connection_is_closed_after_the_time_for_a_head() {
    let fixture = Fixture::of_sample();
    let server = Server::of(&fixture, &["--head-timeout", "1s"]);
    let mut kept = server.connect();
    write!(kept, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let answer = rest(&mut kept);
    assert!(
        status(&answer) == Some(200) && answer.ends_with("ok\n"),
        "{answer}"
    );
    assert_eq!(rest(&mut server.connect()), "");
}

#[test]
fn a_connection_beyond_the_limit_closes_the_one_that_waited_longest() {
    let fixture = Fixture::of_sample();
    let server = Server::of(&fixture, &["--max-connections", "8"]);
    let mut idle = Vec::new();
    for _ in 0..8 {
        let mut stream = server.connect();
        write!(stream, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        let mut answer = [0; 15];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200 OK");
        idle.push(stream);
    }
    assert_eq!(server.get(&question(0)).0, 200);
    let (first, last) = idle.split_at_mut(1);
    let mut ending = Vec::new();
    first[0].read_to_end(&mut ending).unwrap();
    assert!(
        ending.ends_with(b"ok\n"),
        "{:?}",
        String::from_utf8_lossy(&ending)
    );
    let last = last.last_mut().unwrap();
    write!(
        last,
        "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    assert_eq!(rest(last).matches("HTTP/1.1 200").count(), 1);
}

/// Permits `wanted` open files in this process. Returns whether the system allows so many.
fn may_open(wanted: u64) -> bool {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let is_possible =
        hard >= wanted && setrlimit(Resource::RLIMIT_NOFILE, soft.max(wanted), hard).is_ok();
    if !is_possible {
        skipped(&format!("this process may open {hard} files, not {wanted}"));
    }
    is_possible
}

#[test]
fn ten_thousand_idle_connections_leave_the_server_its_answers_and_its_memory() {
    let count: usize = if is_long() { 10_000 } else { 1_000 };
    if !may_open(count as u64 + 1_000) {
        return;
    }
    let fixture = Fixture::of_sample();
    let server = Server::of(
        &fixture,
        &["--head-timeout", "10m", "--max-connections", "20000"],
    );
    assert_eq!(server.get(&question(0)).0, 200);
    let before = current_memory(server.child.id()).unwrap();
    let mut idle = Vec::new();
    for number in 0..count {
        let mut stream = server.connect();
        // Every other connection is silent.
        if number % 2 == 0 {
            stream
                .write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n")
                .unwrap();
        }
        idle.push(stream);
        if number % 100 == 0 {
            assert_eq!(server.get(&question(number)).0, 200);
        }
    }
    let after = current_memory(server.child.id()).unwrap();
    let each = after.saturating_sub(before) / count as u64;
    println!(
        "{count} idle connections: {} MiB more, {each} bytes each",
        (after - before) >> 20
    );
    assert!(each < 32 << 10, "{each} bytes for each connection");
    let last = idle.iter_mut().step_by(2).last().unwrap();
    last.write_all(b"connection: close\r\n\r\n").unwrap();
    assert_eq!(status(&rest(last)), Some(200));
}

#[test]
fn a_client_that_does_not_read_a_large_answer_is_disconnected() {
    let fixture = Fixture::of_sample();
    fixture.file("db/large", vec![7; 32 << 20]);
    let server = Server::of(&fixture, &["--answer-timeout", "1s"]);
    let mut stream = server.connect();
    write!(stream, "GET /large HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    until("the connection is reset", || {
        assert!(server.is_healthy());
        stream.take_error().unwrap().is_some()
    });
    // A client that reads gets everything.
    assert_eq!(
        server
            .get("/large")
            .1
            .split("\r\n\r\n")
            .nth(1)
            .map(str::len),
        Some(32 << 20)
    );
}

/// Host of a fixture that answers requests for shards only while its gate is open.
struct GatedHost {
    host: HostileHost,
    gate: Arc<(Mutex<bool>, Condvar)>,
    /// Number of requests that wait or waited.
    waiting: Arc<AtomicUsize>,
}

impl GatedHost {
    fn new(fixture: &Fixture) -> GatedHost {
        let (gate, waiting) = (
            Arc::new((Mutex::new(false), Condvar::new())),
            Arc::new(AtomicUsize::new(0)),
        );
        let (folder, at_gate, count) = (fixture.path("db"), gate.clone(), waiting.clone());
        let host = HostileHost::new(move |request, out| {
            if request.range.is_some() {
                count.fetch_add(1, SeqCst);
                let (is_open, changed) = &*at_gate;
                drop(
                    changed
                        .wait_while(is_open.lock().unwrap(), |is_open| !*is_open)
                        .unwrap(),
                );
            }
            send_file(request, out, &folder)
        });
        GatedHost {
            host,
            gate,
            waiting,
        }
    }

    fn open(&self) {
        *self.gate.0.lock().unwrap() = true;
        self.gate.1.notify_all();
    }

    fn serve(&self, options: &[&str]) -> Server {
        let url = format!("http://{}/db", self.host.at);
        Server::start(command(), &[options, &[&url]].concat())
    }
}

impl Drop for GatedHost {
    fn drop(&mut self) {
        self.open();
    }
}

#[test]
fn a_stopped_server_finishes_its_answers_and_refuses_new_connections() {
    let fixture = Fixture::of_sample();
    for signal in ["TERM", "INT"] {
        let host = GatedHost::new(&fixture);
        let mut server = host.serve(&["--stop-timeout", "10m"]);
        let mut pending = server.connect();
        write!(pending, "GET {} HTTP/1.1\r\nhost: x\r\n\r\n", question(0)).unwrap();
        let mut idle = server.connect();
        until("the question waits for the host", || {
            host.waiting.load(SeqCst) > 0
        });
        server.signal(signal);
        until("new connections are refused", || {
            TcpStream::connect(server.at).is_err()
        });
        assert_eq!(rest(&mut idle), "");
        assert_eq!(server.child.try_wait().unwrap(), None);
        host.open();
        let answer = rest(&mut pending);
        assert!(
            status(&answer) == Some(200) && answer.contains("\"depth\""),
            "{signal}: {answer}"
        );
        assert_eq!(server.end(), Some(0), "{signal}");
    }
}

#[test]
fn a_stopped_server_gives_up_answers_that_take_too_long() {
    let fixture = Fixture::of_sample();
    let host = GatedHost::new(&fixture);
    let mut server = host.serve(&["--stop-timeout", "1s", "--timeout", "600"]);
    let mut pending = server.connect();
    write!(pending, "GET {} HTTP/1.1\r\nhost: x\r\n\r\n", question(0)).unwrap();
    until("the question waits for the host", || {
        host.waiting.load(SeqCst) > 0
    });
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
    assert_eq!(rest(&mut pending), "");
}

#[test]
fn questions_beyond_the_limit_are_answered_with_503_and_a_time() {
    let fixture = Fixture::of_sample();
    let host = GatedHost::new(&fixture);
    let server = host.serve(&["--at-once", "1", "--timeout", "600"]);
    let mut pending = server.connect();
    write!(
        pending,
        "GET {} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        question(0)
    )
    .unwrap();
    until("the question waits for the host", || {
        host.waiting.load(SeqCst) > 0
    });
    for number in 1..50 {
        let (status, answer) = server.get(&question(number));
        assert_eq!(
            (status, header(&answer, "retry-after")),
            (503, Some("1")),
            "{answer}"
        );
    }
    assert!(server.is_healthy());
    host.open();
    assert_eq!(status(&rest(&mut pending)), Some(200));
    assert_eq!(server.get(&question(50)).0, 200);
}

#[test]
fn questions_wait_for_the_host_together_up_to_their_limit() {
    let fixture = Fixture::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static-shards/sample.jsonl.zst");
    let lines = String::from_utf8(zstd::decode_all(File::open(path).unwrap()).unwrap()).unwrap();
    let lines: String = lines.split_inclusive('\n').take(12_000).collect();
    fixture
        .build(&[&fixture.file("dump.jsonl", &lines)], &[])
        .succeeds();
    let host = GatedHost::new(&fixture);
    let server = host.serve(&["--at-once", "100", "--timeout", "600"]);
    // 100 positions of some 35 blocks.
    let ask = |fen: String| {
        let mut stream = server.connect();
        write!(
            stream,
            "GET /api/cloud-eval?fen={fen} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        stream
    };
    let pending: Vec<TcpStream> = fens(&lines).into_iter().step_by(120).map(ask).collect();
    until("25 questions wait for the host", || {
        host.waiting.load(SeqCst) >= 25
    });
    host.open();
    assert_eq!(pending.len(), 100);
    for mut stream in pending {
        assert_eq!(status(&rest(&mut stream)), Some(200));
    }
}

#[test]
fn each_answer_has_the_id_of_its_request() {
    let fixture = Fixture::of_sample();
    let server = Server::of(&fixture, &["--log"]);
    let ask = |ids: &[&str]| {
        let ids: String = ids
            .iter()
            .map(|id| format!("x-request-id: {id}\r\n"))
            .collect();
        let path = question(0);
        let answer = server.exchange(
            format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{ids}\r\n").as_bytes(),
        );
        let id = header(&answer, "x-request-id")
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned();
        let line = server.message(&id);
        assert_eq!(line.split(' ').nth(7), Some(id.as_str()), "{line}");
        id
    };
    let longest = "x".repeat(64);
    for plain in [
        "id-7",
        "4bf92f3577b34da6a3ce929d0e0e4736",
        "a-B_c.9",
        &longest,
    ] {
        assert_eq!(ask(&[plain]), plain);
    }
    let long = "x".repeat(65);
    let mut made = Vec::new();
    for refused in [
        &[][..],
        &[""],
        &["a b"],
        &["a\"b"],
        &["a,b"],
        &["\u{e9}"],
        &["../x"],
        &[&long],
        &["a", "b"],
    ] {
        let id = ask(refused);
        assert!(
            id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{refused:?}: {id}"
        );
        assert!(!made.contains(&id));
        made.push(id);
    }
}

#[test]
fn the_message_of_a_failed_question_contains_the_id_of_the_request() {
    let fixture = Fixture::of_sample();
    let folder = fixture.path("db");
    let host = HostileHost::new(move |request, out| match request.range {
        Some(_) => crate::common::hostile::send(out, "400 No", "", b""),
        None => send_file(request, out, &folder),
    });
    let server = Server::start(command(), &[&format!("http://{}/db", host.at)]);
    let ask = format!(
        "GET {} HTTP/1.1\r\nhost: x\r\nx-request-id: mine-7\r\nconnection: close\r\n\r\n",
        question(0)
    );
    let answer = server.exchange(ask.as_bytes());
    assert_eq!(
        (status(&answer), header(&answer, "x-request-id")),
        (Some(502), Some("mine-7")),
        "{answer}"
    );
    assert!(server.message("request mine-7: ").contains("status 400"));
}

#[test]
fn metrics_can_have_an_address_of_their_own() {
    let fixture = Fixture::of_sample();
    let mut server = Server::of(&fixture, &["--metrics-address", "127.0.0.1:0"]);
    let line = server.message("Metrics at http://");
    let at = line
        .trim_start_matches("Metrics at http://")
        .trim_end_matches("/metrics")
        .parse()
        .unwrap();
    assert_eq!(server.get(&question(0)).0, 200);
    for path in ["/metrics", "/healthz"] {
        assert_eq!(server.get(path).0, 404, "{path}");
    }
    let public = std::mem::replace(&mut server.at, at);
    for (path, expected) in [
        ("/metrics", 200),
        ("/healthz", 200),
        (&question(0), 404),
        ("/manifest.json", 404),
    ] {
        assert_eq!(server.get(path).0, expected, "{path}");
    }
    assert!(
        server
            .get("/metrics")
            .1
            .contains("shelfish_questions_total{outcome=\"hit\"} 1\n")
    );
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
    assert!(TcpStream::connect(at).is_err() && TcpStream::connect(public).is_err());
}

/// Ends the loops of the clients when it is dropped, also after a failure: the test waits for their threads.
struct EndsClients<'a>(&'a AtomicBool);

impl Drop for EndsClients<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

#[test]
fn many_clients_do_not_increase_the_memory_of_a_server_on_a_slow_host() {
    let clients = if is_long() { 1_000 } else { 200 };
    if !may_open(clients as u64 + 1_000) {
        return;
    }
    let fixture = Fixture::of_sample();
    let slow = Host::serve(["--latency-ms", "20", fixture.dir.path().to_str().unwrap()]);
    // Decoded blocks do not fit the memory.
    let options = [
        "--memory",
        "1MiB",
        "--answers",
        "64KiB",
        "--at-once",
        "8",
        "--cache-size",
        "0",
    ];
    let server = Server::start(command(), &[&options[..], &[&slow.url("db")]].concat());
    let fens = fens(&sample());
    let (fens, server, is_over) = (&fens, &server, &AtomicBool::new(false));
    let counts: [AtomicUsize; 2] = Default::default();
    let (answered, busy) = (&counts[0], &counts[1]);
    std::thread::scope(|scope| {
        for client in 0..clients {
            let ask = move || {
                let mut stream = server.connect();
                for turn in 0.. {
                    if is_over.load(SeqCst) {
                        return;
                    }
                    let fen = &fens[(client * 31 + turn * 17) % fens.len()];
                    write!(
                        stream,
                        "GET /api/cloud-eval?fen={fen} HTTP/1.1\r\nhost: x\r\n\r\n"
                    )
                    .unwrap();
                    let answer = read_answer(&mut stream)
                        .unwrap_or_else(|| panic!("client {client}, turn {turn}: closed"));
                    match status(&answer) {
                        Some(200) => answered.fetch_add(1, SeqCst),
                        Some(503) if header(&answer, "retry-after").is_some() => {
                            busy.fetch_add(1, SeqCst)
                        }
                        _ => panic!("{answer}"),
                    };
                }
            };
            std::thread::Builder::new()
                .stack_size(256 << 10)
                .spawn_scoped(scope, ask)
                .unwrap();
        }
        let _end = EndsClients(is_over);
        let memory = || current_memory(server.child.id()).unwrap();
        let reached = |count: usize| {
            until("the questions are answered", || {
                answered.load(SeqCst) >= count
            })
        };
        let least = if is_long() { 5_000 } else { 1_000 };
        reached(least);
        let before = memory();
        reached(4 * least);
        let after = memory();
        until("a question is refused", || busy.load(SeqCst) > 0);
        println!(
            "{clients} clients: {} MiB, then {} MiB",
            before >> 20,
            after >> 20
        );
        assert!(
            after < before + before / 10 + (2 << 20),
            "{before} bytes, then {after} bytes"
        );
    });
}
