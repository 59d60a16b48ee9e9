//! `shelfish lookup`, `stats`, `verify` and `export` with directories and hosts.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use crate::common::stores::run;
use crate::common::*;
use serde_json::Value;

fn on(command: &str, database: impl AsRef<OsStr>, args: &[&str]) -> Run {
    let mut all: Vec<&OsStr> = vec![command.as_ref(), "-d".as_ref(), database.as_ref()];
    all.extend(args.iter().map(|arg| OsStr::new(*arg)));
    shelfish(all)
}

#[test]
fn every_position_is_found_with_its_evaluations() {
    let fixture = Fixture::of_sample();
    let fens: String = sample()
        .lines()
        .map(|line| line.split('"').nth(3).unwrap().to_owned() + "\n")
        .collect();
    let db = fixture.path("db");
    let args = [
        "lookup",
        "-d",
        db.to_str().unwrap(),
        "--json",
        "--all",
        "--chess960",
        "-",
    ];
    let out = shelfish_with(args, fens.as_bytes()).succeeds();
    for (answer, source) in out.lines().zip(sample().lines()) {
        let (answer, source): (Value, Value) = (
            serde_json::from_str(answer).unwrap(),
            serde_json::from_str(source).unwrap(),
        );
        assert_eq!(answer["fen"], source["fen"]);
        let (found, given) = (
            answer["evaluations"].as_array().unwrap(),
            source["evals"].as_array().unwrap(),
        );
        assert_eq!(found.len(), given.len());
        for (found, given) in found.iter().zip(given) {
            assert_eq!(
                (&found["depth"], &found["knodes"]),
                (&given["depth"], &given["knodes"])
            );
            for (found, given) in found["pvs"]
                .as_array()
                .unwrap()
                .iter()
                .zip(given["pvs"].as_array().unwrap())
            {
                assert_eq!(
                    (&found["cp"], &found["mate"]),
                    (&given["cp"], &given["mate"])
                );
                assert_eq!(found["uci"], given["line"]);
            }
        }
    }
    assert_eq!(out.lines().count(), sample().lines().count());
}

#[test]
fn answers_can_be_printed_as_text() {
    let fixture = Fixture::new();
    let castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 5 9";
    let mate = "6k1/5ppp/8/8/8/8/8/R6K w - -";
    let dump = [
        line(castling, -125, "e1h1 e8a8 f1f8", 1234, 30),
        line(mate, 0, "a1a8", 7, 9).replace("\"cp\":0", "\"mate\":1"),
    ];
    let dump = fixture.file("dump", dump.join("\n"));
    fixture.build(&[&dump], &[]).succeeds();
    let db = fixture.path("db");
    let look = |args: &[&str]| on("lookup", &db, args);
    let out = look(&[castling, mate, START]).succeeds();
    let expected = format!(
        "{castling}\n  depth 30, 1234 knodes\n      -1.25  O-O O-O-O Rf8\n\
         {mate}\n  depth 9, 7 knodes\n         #1  Ra8#\n{START}\n  not in the database\n"
    );
    assert_eq!(out, expected);
    let json = look(&["--json", castling]).succeeds();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["found"], true);
    assert_eq!(json["evaluations"][0]["pvs"][0]["san"], "O-O O-O-O Rf8");
    assert_eq!(json["evaluations"][0]["pvs"][0]["uci"], "e1g1 e8c8 f1f8");

    let wrong = look(&["nonsense", castling]);
    assert!(wrong.out.contains("-1.25"), "the others are answered");
    wrong.fails(&["nonsense", "1 field"]);
    let wrong: Value =
        serde_json::from_str(&look(&["--json", "8/8/8/8/8/8/8/8 w - -"]).out).unwrap();
    assert!(wrong["error"].as_str().unwrap().contains("legal play"));
}

#[test]
fn a_host_gives_the_same_answers_as_a_directory() {
    let fixture = Fixture::of_sample();
    let (host, db) = (Host::new(&fixture), fixture.path("db"));
    for url in [
        host.url("db"),
        host.url("db/"),
        host.url("db/manifest.json"),
    ] {
        for args in [&["--json", START][..], &[START]] {
            assert_eq!(
                on("lookup", &url, args).succeeds(),
                on("lookup", &db, args).succeeds()
            );
        }
    }
    let url = host.url("db/");
    assert_eq!(
        on("export", &url, &[]).succeeds(),
        on("export", &db, &[]).succeeds()
    );
    assert_eq!(
        on("stats", &url, &[]).succeeds(),
        on("stats", &db, &[]).succeeds()
    );
    assert!(on("verify", &url, &[]).succeeds().contains("all is well"));
    on("lookup", host.url("elsewhere"), &[START]).fails(&["elsewhere", "404", "manifest.json"]);
    assert_eq!(on("verify", &url, &["-q"]).succeeds(), "");
    let nobody = "http://127.0.0.1:9/db";
    on("lookup", nobody, &[START]).fails(&[nobody, "no answer"]);
    assert_eq!(on("verify", nobody, &["-q"]).code, 1);
}

#[test]
fn stats_have_the_totals_of_the_dump() {
    let fixture = Fixture::of_sample();
    let stats = on("stats", fixture.path("db"), &["--json"]).succeeds();
    let stats: Value = serde_json::from_str(&stats).unwrap();
    let manifest = &stats["manifest"];
    assert_eq!(manifest["positions"], sample().lines().count());
    let evaluations = sample().matches("\"depth\"").count();
    assert_eq!(manifest["totals"]["evaluations"], evaluations);
    assert_eq!(manifest["replaced_bytes"], 0);
}

/// Starts a host that answers requests for shards with `answer`, and other requests with files.
fn bad_host(fixture: &Fixture, answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let manifest = fs::read(fixture.path("db/manifest.json")).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = String::new();
            let mut input = BufReader::new(stream.try_clone().unwrap());
            while input.read_line(&mut head).unwrap_or(0) > 2 {}
            let good = [
                b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n",
                &manifest[..],
            ]
            .concat();
            let answer = if head.contains("manifest.json") {
                &good
            } else {
                answer
            };
            let _ = stream.write_all(answer);
            if answer.is_empty() {
                // An empty answer means that the connection stays open without an answer.
                std::mem::forget(stream);
            }
        }
    });
    url
}

#[test]
fn errors_of_hosts_are_distinguished_and_timeouts_end_each_request() {
    let fixture = Fixture::of_sample();
    for (answer, words) in [
        (
            &b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"[..],
            "404",
        ),
        (
            b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n",
            "403",
        ),
        (b"HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n", "500"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 67108864\r\n\r\n",
            "ignores range requests",
        ),
        (
            b"HTTP/1.1 206 OK\r\ncontent-range: bytes 0-1/9\r\ncontent-length: 2\r\n\r\nxx",
            "Content-Range",
        ),
        (b"HTTP/1.1 206 OK\r\nconnection: close\r\n\r\nxx", "found 2"),
        (
            b"HTTP/1.1 206 OK\r\ncontent-length: 9\r\n\r\nxx",
            "Content-Length",
        ),
        (b"rubbish", "no answer"),
        (b"", "within 1000 ms"),
    ] {
        // Only the silent host may time out, even on a busy machine.
        let timeout = if answer.is_empty() { "1" } else { "60" };
        let ask = |args: &[&str]| {
            let url = bad_host(&fixture, answer);
            let mut command = command();
            command.env("SHELFISH_TIMEOUT", timeout);
            run(command.args([args[0], "-d", &url]).args(&args[1..]))
        };
        ask(&["lookup", START]).fails(&[".silo", words]);
        let run = ask(&["verify"]);
        assert_eq!(run.code, 1);
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
}

fn shard(fixture: &Fixture) -> PathBuf {
    let files = fixture.files("db");
    fixture.path("db").join(
        &files
            .iter()
            .find(|(name, _)| name.ends_with(".silo"))
            .unwrap()
            .0,
    )
}

/// Verifies a damaged database and returns the problems.
#[track_caller]
fn problems(fixture: &Fixture) -> Vec<(String, String)> {
    let run = on("verify", fixture.path("db"), &["--json", "-q"]);
    assert_eq!(run.code, 1, "{}", run.out);
    assert_eq!(fixture.verify("db").code, 1);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(report["ok"], false);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    report["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (text(&p["file"]), text(&p["what"])))
        .collect()
}

#[test]
fn verify_finds_missing_foreign_truncated_and_too_long_shards() {
    let fixture = Fixture::of_sample();
    let path = shard(&fixture);
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let whole = fs::read(&path).unwrap();

    fs::write(
        path.with_file_name("0123456789abcdef0123456789abcdef.silo"),
        "x",
    )
    .unwrap();
    let found = problems(&fixture);
    assert!(
        found.len() == 1 && found[0].0.starts_with("0123") && found[0].1.contains("foreign"),
        "{found:?}"
    );
    fs::remove_file(path.with_file_name("0123456789abcdef0123456789abcdef.silo")).unwrap();

    fs::remove_file(&path).unwrap();
    let found = problems(&fixture);
    assert!(
        found.len() == 1 && found[0].0 == name && found[0].1.contains("no such file"),
        "{found:?}"
    );

    for length in [0, 1, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let found = problems(&fixture);
        assert!(
            found[0].0 == name && found[0].1.contains("truncated"),
            "{found:?}"
        );
    }
    fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
    let found = problems(&fixture);
    assert!(
        found.len() == 1 && found[0].0 == name && found[0].1.contains("longer"),
        "{found:?}"
    );

    // A shard of another database with the name of this shard.
    let other = fixture.file(
        "other",
        sample().lines().take(50).collect::<Vec<_>>().join("\n"),
    );
    fixture.build_to("other-db", &[&other], &[]).succeeds();
    let (_, bytes) = fixture
        .files("other-db")
        .into_iter()
        .find(|(name, _)| name.ends_with(".silo"))
        .unwrap();
    fs::write(&path, bytes).unwrap();
    assert_eq!(problems(&fixture)[0].0, name);

    fs::write(&path, &whole).unwrap();
    fixture.verify("db").succeeds();
}

#[test]
fn verify_finds_each_flipped_bit_and_its_location() {
    let fixture = Fixture::of_sample();
    let path = shard(&fixture);
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len())
        .step_by(if is_long() { 997 } else { 4_999 })
        .chain([whole.len() - 1])
    {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, &bytes).unwrap();
        let run = on("verify", fixture.path("db"), &["--json", "-q"]);
        assert_eq!(run.code, 1, "byte {at}");
        let report: Value = serde_json::from_str(&run.out).unwrap();
        let range = &report["problems"][0]["bytes"];
        let (first, last) = (
            range[0].as_u64().unwrap() as usize,
            range[1].as_u64().unwrap() as usize,
        );
        assert!((first..=last).contains(&at), "byte {at}: {}", run.out);
    }
    fs::write(&path, &whole).unwrap();
}

#[test]
fn verify_finds_each_change_of_the_manifest() {
    let fixture = Fixture::of_sample();
    let path = fixture.path("db/manifest.json");
    let whole = fs::read(&path).unwrap();
    let changes: Vec<Vec<u8>> = (0..whole.len())
        .step_by(7)
        .map(|at| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        })
        .chain([
            Vec::new(),
            whole[..whole.len() / 2].to_vec(),
            [&whole[..], b" "].concat(),
        ])
        .collect();
    for bytes in changes {
        fs::write(&path, &bytes).unwrap();
        let found = problems(&fixture);
        assert_eq!(
            found[0].0,
            "manifest.json",
            "{}",
            String::from_utf8_lossy(&bytes)
        );
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(problems(&fixture)[0].0, "manifest.json");
    on("lookup", fixture.path("db"), &[START]).fails(&["no database in", "manifest.json"]);
    fs::write(&path, &whole).unwrap();
    fixture.verify("db").succeeds();
}

#[test]
fn an_export_can_be_written_to_a_file_and_its_reader_can_stop() {
    let fixture = Fixture::of_sample();
    let out = fixture.path("out.jsonl");
    for option in ["-o", "--out"] {
        on(
            "export",
            fixture.path("db"),
            &[option, out.to_str().unwrap()],
        )
        .succeeds();
        assert_eq!(
            sorted(&fs::read_to_string(&out).unwrap()),
            fixture.export("db")
        );
        fs::remove_file(&out).unwrap();
    }
    let db = fixture.path("db");
    let mut child = command()
        .args(["export".as_ref(), "-d".as_ref(), db.as_os_str()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Adds the checksum to a modified manifest.
fn sealed(manifest: &str) -> String {
    let (before, _) = manifest.rsplit_once(",\"checksum\":\"").unwrap();
    format!(
        "{before},\"checksum\":\"{:016x}\"}}\n",
        twox_hash::XxHash64::oneshot(0, before.as_bytes())
    )
}

#[test]
fn foreign_text_cannot_control_the_terminal() {
    let fixture = Fixture::of_sample();
    let db = fixture.path("db");
    let is_plain = |text: &str| !text.replace('\n', "").contains(char::is_control);
    for text in [
        "\x1b[2Jx",
        "8/8/8/8/8/8/8/8 \u{9b}2J - -",
        "8/8/8/8/8/8/8/8\x07 w \x7f -",
    ] {
        assert!(is_plain(&on("lookup", &db, &[text]).fails(&["shelfish: "])));
        assert!(is_plain(&on("lookup", &db, &["--json", text]).out));
        assert!(is_plain(
            &on("lookup", &db, &[&START.replace(' ', "\t")]).succeeds()
        ));
        assert!(is_plain(
            &on("stats", format!("no\x1b[2J{text}"), &[]).fails(&["no database in"])
        ));
        assert!(is_plain(
            &shelfish(["serve", &format!("no{text}")]).fails(&["is not a directory"])
        ));
    }
    let manifest = fs::read_to_string(fixture.path("db/manifest.json")).unwrap();
    let (before, after) = manifest.split_once("\"info\":{").unwrap();
    let comma = if after.starts_with('}') { "" } else { "," };
    let manifest =
        format!("{before}\"info\":{{\"a\\u001b[2J\":\"b\\u009b2J\\n\\u007f\"{comma}{after}");
    fs::write(fixture.path("db/manifest.json"), sealed(&manifest)).unwrap();
    for args in [&[][..], &["--json"]] {
        let out = on("stats", &db, args).succeeds();
        assert!(is_plain(&out) && out.contains("[2J"), "{out}");
    }
    let answer = b"HTTP/1.1 206 OK\r\ncontent-range: \x9b2J\xc2\x9b2J\r\n\r\n";
    assert!(is_plain(
        &on("lookup", bad_host(&fixture, answer), &[START]).fails(&["Content-Range"])
    ));
}

#[test]
fn a_compressed_manifest_is_read_and_a_slow_manifest_times_out() {
    let fixture = Fixture::of_sample();
    let manifest = gzip(&fs::read_to_string(fixture.path("db/manifest.json")).unwrap());
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: GZIP\r\ncontent-length: {}\r\n\r\n",
        manifest.len()
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let is_dripping = Arc::new(AtomicBool::new(false));
    let drips = is_dripping.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = BufReader::new(stream.try_clone().unwrap()).read_line(&mut String::new());
            let answer = [head.as_bytes(), &manifest].concat();
            if !drips.load(Relaxed) {
                let _ = stream.write_all(&answer);
                continue;
            }
            for byte in answer {
                if stream.write_all(&[byte]).is_err() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    });
    let stats = || {
        let mut command = command();
        command.env("SHELFISH_TIMEOUT", "1");
        run(command.args(["stats", "-d", &url]))
    };
    assert_eq!(
        stats().succeeds(),
        on("stats", fixture.path("db"), &[]).succeeds()
    );
    is_dripping.store(true, Relaxed);
    stats().fails(&["manifest.json", "no complete answer within 1000 ms"]);
}
