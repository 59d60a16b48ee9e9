//! Long run of `shelfish serve --api` under a mixed load: its memory stays the same.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crate::common::hostile::current_memory;
use crate::common::server::{Server, fens, read_answer, status};
use crate::common::*;

/// Variable with the duration in seconds. The default is half an hour.
const SECONDS: &str = "SHELFISH_SOAK_SECONDS";

/// Builds the databases `one` and `two` of the same positions, with different depths.
fn databases() -> Fixture {
    let fixture = Fixture::new();
    let text = sample();
    for (name, dump) in [
        ("one", text.clone()),
        ("two", text.replace("\"depth\":", "\"depth\":1")),
    ] {
        let dump = fixture.file("dump", dump);
        fixture.build_to(name, &[&dump], &[]).succeeds();
    }
    fixture
}

/// Publishes a database in the folder of the host.
fn publish(fixture: &Fixture, name: &str) {
    let (from, to) = (fixture.path(name), fixture.path("served"));
    shelfish([
        "publish",
        "--quiet",
        "--prune",
        from.to_str().unwrap(),
        to.to_str().unwrap(),
    ])
    .succeeds();
}

#[test]
#[ignore = "takes half an hour"]
fn the_memory_of_a_server_stays_the_same_under_load() {
    let seconds = std::env::var(SECONDS).map_or(1_800, |text| text.parse().unwrap());
    let fixture = databases();
    publish(&fixture, "one");
    let host = Host::serve([fixture.dir.path()]);
    let cache = fixture.path("cache");
    let options = [
        "--revalidate",
        "2s",
        "--memory",
        "1MiB",
        "--answers",
        "256KiB",
        "--at-once",
        "8",
        "--cache-size",
        "2MiB",
    ];
    let limits = [
        "--head-timeout",
        "2s",
        "--answer-timeout",
        "2s",
        "--max-connections",
        "300",
        "--cache-dir",
    ];
    let server = Server::start(
        command(),
        &[
            &options[..],
            &limits,
            &[cache.to_str().unwrap(), &host.url("served")],
        ]
        .concat(),
    );
    let fens = fens(&sample());
    let (fens, server, is_over, answered) = (
        &fens,
        &server,
        &AtomicBool::new(false),
        &AtomicUsize::new(0),
    );
    let is_running = || !is_over.load(SeqCst);
    let start = Instant::now();
    let mut measured: Vec<(Duration, u64)> = Vec::new();
    std::thread::scope(|scope| {
        // Questions on kept connections. The server may close a connection to make room.
        for client in 0..16 {
            scope.spawn(move || {
                let mut stream = server.connect();
                for turn in 0.. {
                    if !is_running() {
                        return;
                    }
                    let fen = &fens[(client * 97 + turn * 13) % fens.len()];
                    let more = ["", "&multiPv=3", "&x=%00", "&multiPv=x"][turn % 4];
                    let ask =
                        format!("GET /api/cloud-eval?fen={fen}{more} HTTP/1.1\r\nhost: x\r\n\r\n");
                    let answer = stream
                        .write_all(ask.as_bytes())
                        .ok()
                        .and_then(|()| read_answer(&mut stream));
                    match answer.as_deref().and_then(status) {
                        Some(200 | 400 | 404 | 503) => drop(answered.fetch_add(1, SeqCst)),
                        Some(other) => panic!("status {other} for {ask}"),
                        None => stream = server.connect(),
                    }
                }
            });
        }
        // Connections that send nothing, a part of a head, or no HTTP.
        scope.spawn(move || {
            let mut open = std::collections::VecDeque::new();
            for turn in 0.. {
                if !is_running() {
                    return;
                }
                let mut stream = server.connect();
                let bytes: &[u8] = match turn % 4 {
                    0 => b"",
                    1 => b"GET /api/cloud-eval?fen=8 HTTP/1.1\r\nhost: x\r\nx: ",
                    2 => b"\x16\x03\x01\x02\x00\x01",
                    _ => b"GET /x HTTP/1.1\r\nhost: x\r\ncontent-length: 9999999\r\n\r\nx",
                };
                let _ = stream.write_all(bytes);
                open.push_back(stream);
                if open.len() > 400 {
                    open.pop_front();
                }
                // Questions must get their turn in the queue of the system.
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let publisher = &fixture;
        // New databases, one after another.
        scope.spawn(move || {
            for name in ["two", "one"].into_iter().cycle() {
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_secs(3) {
                    if !is_running() {
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
                publish(publisher, name);
            }
        });
        let duration = Duration::from_secs(seconds);
        while start.elapsed() < duration {
            measured.push((start.elapsed(), current_memory(server.child.id()).unwrap()));
            std::thread::sleep(duration / 500);
        }
        is_over.store(true, SeqCst);
    });
    assert!(server.is_healthy());
    let metrics = server.get("/metrics").1;
    let replaced = metrics
        .lines()
        .find(|line| line.starts_with("shelfish_manifest_replacements_total"));
    println!(
        "{} answers in {seconds} s, {}",
        answered.load(SeqCst),
        replaced.unwrap_or_default()
    );
    // The greatest memory of each tenth.
    let tenth = |number: u32| {
        let all = Duration::from_secs(seconds);
        let within = |(time, _): &&(Duration, u64)| {
            *time >= all * number / 10 && *time < all * (number + 1) / 10
        };
        measured
            .iter()
            .filter(within)
            .map(|(_, bytes)| *bytes)
            .max()
            .unwrap_or(0)
    };
    let tenths: Vec<u64> = (0..10).map(tenth).collect();
    println!(
        "memory by tenths, in KiB: {:?}",
        tenths.iter().map(|bytes| bytes >> 10).collect::<Vec<_>>()
    );
    let (early, late) = (tenths[1].max(tenths[2]), tenths[8].max(tenths[9]));
    assert!(
        late <= early + early / 20 + (1 << 20),
        "{early} bytes after the first tenth, {late} bytes at the end"
    );
}
