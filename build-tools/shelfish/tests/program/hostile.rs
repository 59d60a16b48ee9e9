//! Hostile stores and hosts: each answer is an error within the memory limit and the timeout.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::common::hostile::*;
use crate::common::stores::{Protocol, http};
use crate::common::{Fixture, START, command, gzip, zstd};

/// Maximum memory of the program, including the memory that it needs for an honest answer.
const MEMORY: u64 = 64 << 20;

/// Protocol of a hostile host.
#[derive(Clone, Copy, Debug)]
enum Place {
    Store(Protocol),
    Http,
}

const PLACES: [Place; 3] = [
    Place::Store(Protocol::S3),
    Place::Store(Protocol::Google),
    Place::Http,
];

impl Place {
    fn command(self, host: &HostileHost) -> Command {
        match self {
            Place::Store(protocol) => protocol.command(host.at),
            Place::Http => command(),
        }
    }

    fn url(self, host: &HostileHost) -> String {
        match self {
            Place::Store(protocol) => protocol.url("db"),
            Place::Http => format!("http://{}/shelf/db", host.at),
        }
    }
}

/// File whose request gets a hostile answer. Other requests get honest answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Manifest,
    Shard,
}

type Answer = fn(&Request, &mut TcpStream) -> io::Result<()>;

/// Formats the status and the headers of an honest answer to a range request.
fn partial(request: &Request) -> String {
    let (first, last) = request.range.unwrap_or((0, 9));
    format!("206 Partial Content\r\n{FILE}content-range: bytes {first}-{last}/9999999\r\n")
}

fn whole() -> String {
    format!("200 OK\r\n{FILE}")
}

fn bomb() -> Vec<u8> {
    gzip(&"x".repeat(256 << 20))
}

const ANSWERS: [(Target, &str, Answer); 12] = [
    (Target::Manifest, "error with a huge length", |_, out| {
        send_endlessly(
            out,
            "400 Bad Request\r\ncontent-length: 4611686018427387904\r\n",
        )
    }),
    (Target::Manifest, "error in endless chunks", |_, out| {
        send_chunks(out, "400 Bad Request\r\n")
    }),
    (Target::Manifest, "manifest with a huge length", |_, out| {
        send_endlessly(
            out,
            &format!("{}content-length: 4611686018427387904\r\n", whole()),
        )
    }),
    (Target::Manifest, "manifest in endless chunks", |_, out| {
        send_chunks(out, &whole())
    }),
    (Target::Manifest, "manifest without an end", |_, out| {
        send_endlessly(out, &whole())
    }),
    (Target::Manifest, "manifest that breaks off", |_, out| {
        write!(out, "HTTP/1.1 {}content-length: 100\r\n\r\n{{", whole())
    }),
    (Target::Manifest, "manifest that drips", |_, out| {
        send_slowly(out, &format!("{}content-length: 1000000\r\n", whole()))
    }),
    (Target::Manifest, "compressed bomb", |_, out| {
        send(
            out,
            "200 OK",
            &format!("{FILE}content-encoding: gzip\r\n"),
            &bomb(),
        )
    }),
    (Target::Manifest, "redirection to itself", |request, out| {
        send(
            out,
            "307 Temporary Redirect",
            &format!("location: {}\r\n", request.path),
            b"",
        )
    }),
    (Target::Shard, "range with a huge length", |request, out| {
        send_endlessly(
            out,
            &format!(
                "{}content-length: 4611686018427387904\r\n",
                partial(request)
            ),
        )
    }),
    (Target::Shard, "range in endless chunks", |request, out| {
        send_chunks(out, &partial(request))
    }),
    (
        Target::Shard,
        "endless file instead of a range",
        |_, out| send_endlessly(out, &whole()),
    ),
];

/// Starts a host that answers requests for `target` with `answer`, and other requests with files of the database. Counts the
/// requests for `target`.
fn host(fixture: &Fixture, target: Target, answer: Answer) -> (HostileHost, Arc<AtomicU64>) {
    let folder = fixture.path("db");
    let asked = Arc::new(AtomicU64::new(0));
    let count = asked.clone();
    let host = HostileHost::new(move |request, out| {
        let is_target = match target {
            Target::Manifest => request.file() == "manifest.json",
            Target::Shard => request.file().ends_with(".silo"),
        };
        if !is_target {
            return send_file(request, out, &folder);
        }
        count.fetch_add(1, SeqCst);
        answer(request, out)
    });
    (host, asked)
}

/// Runs a command that must fail with an error within the memory. Returns a description of any other end.
fn unexpected(memory: u64, command: &Command) -> Option<String> {
    let (run, peak) = run_within(memory, command);
    let is_error =
        run.code == 1 && run.err.starts_with("shelfish: ") && !run.err.contains("panicked");
    let beginning: String = run.err.chars().take(300).collect();
    (!is_error).then(|| {
        format!(
            "exit code {}, {} MiB: {}{beginning}",
            run.code,
            peak >> 20,
            run.out
        )
    })
}

fn lookups_fail(place: Place) {
    let fixture = Fixture::of_sample();
    let mut failures = Vec::new();
    for (target, name, answer) in ANSWERS {
        let (host, asked) = host(&fixture, target, answer);
        let mut lookup = place.command(&host);
        let args = ["lookup", "-d", &place.url(&host), START];
        lookup.env("SHELFISH_TIMEOUT", "1");
        let failure = unexpected(MEMORY, lookup.args(args));
        failures.extend(failure.map(|failure| format!("{name}: {failure}\n")));
        assert!(asked.load(SeqCst) > 0, "{name}: nothing was requested");
    }
    assert!(failures.is_empty(), "{}", failures.concat());
}

#[test]
fn a_lookup_in_a_hostile_store_or_on_a_hostile_host_is_an_error() {
    PLACES.into_iter().for_each(lookups_fail);
}

#[test]
fn the_honest_answers_of_the_hostile_host_are_accepted() {
    let fixture = Fixture::of_sample();
    let folder = Arc::new(fixture.path("db"));
    for place in PLACES {
        let folder = folder.clone();
        let host = HostileHost::new(move |request, out| send_file(request, out, &folder));
        let mut lookup = place.command(&host);
        lookup.args(["lookup", "-d", &place.url(&host), START]);
        let (run, peak) = run_within(MEMORY, &lookup);
        assert!(run.code == 0, "{place:?}: {} MiB: {}", peak >> 20, run.err);
    }
}

/// Formats a page of a listing for all protocols.
fn page(files: &str, next: &str) -> String {
    format!(
        "<Result><Blobs/>{files}<NextContinuationToken>{next}</NextContinuationToken><NextMarker>{next}</NextMarker></Result>"
    )
}

fn send_page(out: &mut TcpStream, files: &str, next: &str) -> io::Result<()> {
    send(
        out,
        "200 OK",
        "content-type: application/xml\r\n",
        page(files, next).as_bytes(),
    )
}

/// A file of a listing of S3 and Google.
const LISTED: &str = "<Contents><Key>db/x</Key><Size>18446744073709551615</Size><LastModified>2026-11-03T10:00:00Z</LastModified></Contents>";

const LISTINGS: [(&str, Answer); 5] = [
    ("huge length", |_, out| {
        send_endlessly(out, "200 OK\r\ncontent-length: 4611686018427387904\r\n")
    }),
    ("error in endless chunks", |_, out| {
        send_chunks(out, "403 Forbidden\r\n")
    }),
    ("page that breaks off", |_, out| {
        write!(
            out,
            "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n<Result>"
        )
    }),
    ("endless pages", |_, out| {
        static PAGES: AtomicU64 = AtomicU64::new(0);
        let page = PAGES.fetch_add(1, SeqCst);
        let name = |n| LISTED.replace("db/x", &format!("db/{:0900}", page * 1_000 + n));
        send_page(
            out,
            &(0..1_000).map(name).collect::<String>(),
            &page.to_string(),
        )
    }),
    ("nested tags", |_, out| {
        send_page(out, &"<a>".repeat(1_000_000), "")
    }),
];

#[test]
fn a_publication_to_a_hostile_store_is_an_error() {
    let fixture = Fixture::of_sample();
    std::fs::create_dir(fixture.path("empty")).unwrap();
    let mut failures = Vec::new();
    for protocol in [Protocol::S3, Protocol::Google] {
        for (name, answer) in LISTINGS {
            let folder = fixture.path("empty");
            let host = HostileHost::new(move |request, out| match request.is_listing() {
                true => answer(request, out),
                false => send_file(request, out, &folder),
            });
            let (db, to) = (fixture.path("db"), protocol.url("db"));
            let mut publish = protocol.command(host.at);
            let args = ["publish", "--quiet", db.to_str().unwrap(), &to];
            publish.env("SHELFISH_TIMEOUT", "1");
            let failure = unexpected(2 * MEMORY, publish.args(args));
            failures.extend(failure.map(|failure| format!("{protocol:?}, {name}: {failure}\n")));
        }
    }
    assert!(failures.is_empty(), "{}", failures.concat());
}

#[test]
fn impossible_sizes_in_a_listing_are_no_error_of_arithmetic() {
    let fixture = Fixture::of_sample();
    std::fs::create_dir(fixture.path("empty")).unwrap();
    let folder = fixture.path("empty");
    let files: String = (0..9)
        .map(|n| {
            LISTED
                .replace("db/x", &format!("db/{n:032x}.silo"))
                .replace("2026-11", "2020-11")
        })
        .collect();
    let host = HostileHost::new(move |request, out| match request.is_listing() {
        true => send_page(out, &files, ""),
        false => send_file(request, out, &folder),
    });
    let (db, to) = (fixture.path("db"), Protocol::S3.url("db"));
    for (option, words) in [
        ("--pages", "a site may have"),
        ("--prune", "9 old files would be removed"),
    ] {
        let mut publish = Protocol::S3.command(host.at);
        publish.args(["publish", "--dry-run", option, db.to_str().unwrap(), &to]);
        let (run, _) = run_within(MEMORY, &publish);
        assert!((run.out + &run.err).contains(words), "{option}");
    }
}

/// Returns a manifest whose only shard has more pages than the memory of a build.
fn manifest_of_many_pages() -> Vec<u8> {
    const PAGE: u64 = 266_240;
    const HASH: &str = "\"AAAAAAAAAAAAAAAAAAAAAA\"";
    let pages: Vec<String> = (0..20_000)
        .map(|n| match n {
            0 => format!("[\"\",{PAGE},{HASH}]"),
            n => format!("[\"{n:08x}\",{PAGE},{HASH}]"),
        })
        .collect();
    let body = format!(
        "{{\"format\":3,\"records\":\"evaluations\",\"positions\":1,\"totals\":{{\"evaluations\":1,\"pvs\":1}},\"info\":{{}},\
         \"shards\":[{{\"file\":\"{:032x}.silo\",\"bytes\":{},\"positions\":1,\"pages\":[{}]}}]",
        0,
        pages.len() as u64 * PAGE,
        pages.join(",")
    );
    let sum = twox_hash::XxHash64::oneshot(0, body.as_bytes());
    format!("{body},\"checksum\":\"{sum:016x}\"}}\n").into_bytes()
}

#[test]
fn a_build_on_a_hostile_base_is_an_error() {
    // The debug build of the program needs more than its option says, as it does for an honest base.
    const MEMORY: u64 = 160 << 20;
    let (fixture, manifest) = (Fixture::new(), manifest_of_many_pages());
    let host = HostileHost::new(move |request, out| match request.range {
        None => send(out, "200 OK", FILE, &manifest),
        Some((first, last)) => {
            let length = last + 1 - first;
            write!(
                out,
                "HTTP/1.1 {}content-length: {length}\r\nconnection: close\r\n\r\n",
                partial(request)
            )?;
            io::copy(&mut io::repeat(b'x').take(length), out).map(drop)
        }
    });
    let mut build = command();
    let options = [
        "build",
        "--quiet",
        "--max-memory",
        "64MiB",
        "--threads",
        "1",
        "--base",
    ];
    build.args(options).arg(Place::Http.url(&host));
    let failure = unexpected(MEMORY, build.arg("-o").arg(fixture.path("new")));
    assert_eq!(failure, None);
}

/// Answers to requests for shards, which a long-running program must survive.
fn attacks_on_shards() -> impl Iterator<Item = (Target, &'static str, Answer)> {
    ANSWERS
        .into_iter()
        .filter(|(target, ..)| *target == Target::Shard)
}

#[test]
fn a_server_survives_a_hostile_store() {
    let fixture = Fixture::of_sample();
    for (target, name, answer) in attacks_on_shards() {
        let (host, asked) = host(&fixture, target, answer);
        let mut serve = Protocol::S3.command(host.at);
        serve.args(["serve", "--api", "--port", "0", &Protocol::S3.url("db")]);
        let mut child = limited(128 << 20, &serve)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        let at = url
            .trim()
            .trim_start_matches("http://")
            .trim_end_matches('/')
            .parse()
            .unwrap();
        let (status, ..) = http(
            at,
            "GET",
            &format!("/api/cloud-eval?fen={}", START.replace(' ', "%20")),
            &[],
            b"",
        );
        assert!(status >= 500 && asked.load(SeqCst) > 0, "{name}: {status}");
        assert_eq!(http(at, "GET", "/healthz", &[], b"").0, 200, "{name}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Compresses a text with a window of 2^`window_log` bytes.
fn zstd_with_window(text: &str, window_log: u32) -> Vec<u8> {
    let mut encoder = ::zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(window_log).unwrap();
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn windows_of_zstd_fit_the_memory_of_a_build() {
    let fixture = Fixture::new();
    let (text, noise) = (crate::common::sample(), "x".repeat(200 << 20));
    let build = |name: &str, bytes: Vec<u8>| {
        let dump = fixture.file(name, bytes);
        let mut build = command();
        build
            .args(["build", "--quiet", "--max-memory", "64MiB", "-o"])
            .arg(fixture.path("db"))
            .arg(dump);
        run_within(1 << 30, &build)
    };
    let (run, _) = build("small", zstd_with_window(&text, 24));
    run.succeeds();
    let later = [zstd(&text), zstd_with_window(&noise, 27)].concat();
    for (name, bytes, words) in [
        (
            "large",
            zstd_with_window(&noise, 27),
            ["134217728 bytes", "--max-memory"],
        ),
        ("later", later, ["later", "too much memory"]),
    ] {
        let (run, peak) = build(name, bytes);
        assert!(peak < 100 << 20, "{name}: {} MiB", peak >> 20);
        run.fails(&words);
    }
}
