//! `shelfish build URL`: dumps from hosts, including hosts whose connections break.

use std::path::Path;

use crate::common::host::{Behaviour, BreakingHost};
use crate::common::*;
use sha2::{Digest, Sha256};

/// Builds from a file of a host.
fn build(fixture: &Fixture, host: &BreakingHost, name: &str, options: &[&str]) -> Run {
    fixture.build(&[Path::new(&host.url(name))], options)
}

/// Returns the files of the database of the sample.
fn expected(fixture: &Fixture) -> Vec<(String, Vec<u8>)> {
    let dump = fixture.file("dump", sample());
    fixture.build_to("expected", &[&dump], &[]).succeeds();
    fixture.files("expected")
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
fn broken_connections_do_not_change_the_database() {
    let fixture = Fixture::new();
    let expected = expected(&fixture);
    let file = zstd(&sample());
    for behaviour in [
        Behaviour::default(),
        Behaviour {
            breaks_after: file.len() / 9,
            ..Behaviour::default()
        },
        Behaviour {
            sends_length: false,
            ..Behaviour::default()
        },
        Behaviour {
            failures: vec![503, 429],
            breaks_after: file.len() / 2,
            ..Behaviour::default()
        },
    ] {
        let host = BreakingHost::new(file.clone(), behaviour.clone());
        let summary = build(&fixture, &host, "a.zst", &["--json"]);
        let summary: serde_json::Value = serde_json::from_str(&summary.succeeds()).unwrap();
        assert_eq!(fixture.files("db"), expected, "{behaviour:?}");
        let asked = host.asked.lock().unwrap().clone();
        assert!(
            asked.windows(2).all(|pair| pair[0] < pair[1]),
            "{behaviour:?}: {asked:?}"
        );
        let download = &summary["downloads"][0];
        assert_eq!(download["bytes"], file.len());
        assert_eq!(download["sha256"], sum(&file));
        assert_eq!(download["published"], false);
        assert_eq!(download["resumed"], asked.len() - 1, "{behaviour:?}");
    }
}

#[test]
fn the_published_checksum_is_verified_for_every_compression() {
    let fixture = Fixture::new();
    let sample = sample();
    for file in [zstd(&sample), gzip(&sample), sample.clone().into_bytes()] {
        let sums = format!("{}  other.zst\n{} *dump%.zst\n", sum(b"other"), sum(&file));
        let host = BreakingHost::new(
            file.clone(),
            Behaviour {
                sums,
                ..Behaviour::default()
            },
        );
        let text = build(&fixture, &host, "dump%25.zst", &[]).succeeds();
        assert!(text.contains("(as published)"), "{text}");
        let before = fixture.files("db");
        let sums = format!("{}  a.zst\n", sum(b"another file"));
        let host = BreakingHost::new(
            file.clone(),
            Behaviour {
                sums,
                ..Behaviour::default()
            },
        );
        build(&fixture, &host, "a.zst", &[]).fails(&["SHA-256", &sum(&file), "sha256sums.txt"]);
        assert_eq!(fixture.files("db"), before, "the old database stays");
    }
}

#[test]
fn a_failed_download_is_an_error_and_keeps_the_old_database() {
    let fixture = Fixture::new();
    let expected = expected(&fixture);
    let sample = sample();
    let (half, _) = sample[..sample.len() / 2].rsplit_once('\n').unwrap();
    let old = fixture.file("old", half);
    fixture.build(&[&old], &[]).succeeds();
    let before = fixture.files("db");
    assert_ne!(before, expected);
    let half = zstd(&sample).len() / 2;
    let cut = || Behaviour {
        breaks_after: half,
        ..Behaviour::default()
    };
    for (behaviour, words) in [
        (
            Behaviour {
                changes: true,
                ..cut()
            },
            ["same file", "run the command again"],
        ),
        (Behaviour { shift: 1, ..cut() }, ["same file", ""]),
        (
            Behaviour {
                failures: vec![404],
                ..cut()
            },
            ["status 404", "a.zst"],
        ),
        (
            Behaviour {
                ranges: false,
                ..cut()
            },
            ["same file", ""],
        ),
        (
            Behaviour {
                sends_length: false,
                ..cut()
            },
            ["a.zst", ""],
        ),
    ] {
        let host = BreakingHost::new(zstd(&sample), behaviour.clone());
        build(&fixture, &host, "a.zst", &[]).fails(&words);
        assert_eq!(fixture.files("db"), before, "{behaviour:?}");
    }
    fixture
        .build(&[Path::new("ftp://x/a.zst")], &[])
        .fails(&["ftp://", "expected http"]);
}

#[test]
fn a_download_without_a_strong_validator_begins_again_and_never_mixes_two_versions() {
    const MODIFIED: &str = "last-modified: Sat, 01 Aug 2026 10:00:00 GMT\r\n";
    let fixture = Fixture::new();
    let expected = expected(&fixture);
    let file = sample().into_bytes();
    let mut next = sample()
        .replace("\"depth\":17", "\"depth\":18")
        .into_bytes();
    next[..file.len() / 4].copy_from_slice(&file[..file.len() / 4]);
    assert!(next != file && next.len() == file.len());
    let just_now = format!("{MODIFIED}date: Sat, 01 Aug 2026 10:00:00 GMT\r\n").leak();
    for validator in ["", "etag: W/\"old\"\r\n", MODIFIED, just_now] {
        let behaviour = Behaviour {
            breaks_after: file.len() / 2,
            validator: Some(validator),
            ..Behaviour::default()
        };
        let mixed = Behaviour {
            next: Some(next.clone()),
            ..behaviour.clone()
        };
        let host = BreakingHost::new(file.clone(), mixed);
        build(&fixture, &host, "a.jsonl", &[]).fails(&["same file", "a.jsonl"]);
        assert_eq!(*host.asked.lock().unwrap(), [0, 0], "{validator}");
        let host = BreakingHost::new(
            file.clone(),
            Behaviour {
                ranges: false,
                ..behaviour
            },
        );
        build(&fixture, &host, "a.jsonl", &[]).succeeds();
        assert_eq!(*host.asked.lock().unwrap(), [0, 0], "{validator}");
        assert_eq!(fixture.files("db"), expected, "{validator}");
    }
    let later = format!("{MODIFIED}date: Sat, 01 Aug 2026 10:00:01 GMT\r\n").leak();
    let behaviour = Behaviour {
        breaks_after: file.len() / 2,
        validator: Some(later),
        ..Behaviour::default()
    };
    let host = BreakingHost::new(file.clone(), behaviour);
    build(&fixture, &host, "a.jsonl", &[]).succeeds();
    assert_eq!(fixture.files("db"), expected);
    assert_eq!(host.asked.lock().unwrap()[..2], [0, file.len() / 2]);
}

#[test]
fn a_text_whose_end_the_host_does_not_mark_is_an_error() {
    let fixture = Fixture::new();
    let endless = Behaviour {
        sends_length: false,
        ..Behaviour::default()
    };
    let host = BreakingHost::new(sample().into_bytes(), endless.clone());
    build(&fixture, &host, "a.jsonl", &[]).fails(&["a.jsonl", "length", "sha256sums.txt"]);
    // Compressed frames have an end of their own, but a whole frame may be missing.
    let host = BreakingHost::new(zstd(&sample()), endless.clone());
    let run = build(&fixture, &host, "a.zst", &["--quiet"]);
    assert!(run.err.contains("the host sends no length"), "{}", run.err);
    run.succeeds();
    let sums = format!("{}  a.jsonl\n", sum(sample().as_bytes()));
    let host = BreakingHost::new(sample().into_bytes(), Behaviour { sums, ..endless });
    build(&fixture, &host, "a.jsonl", &[]).succeeds();
}

#[test]
fn games_are_read_from_hosts() {
    let fixture = Fixture::new();
    let pgn = "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n";
    let path = fixture.file("games.pgn", pgn);
    fixture.book_build_to("expected", &[&path], &[]).succeeds();
    let host = BreakingHost::new(
        zstd(pgn),
        Behaviour {
            breaks_after: 30,
            ..Behaviour::default()
        },
    );
    let text = fixture
        .book_build(&[Path::new(&host.url("games.pgn.zst"))], &[])
        .succeeds();
    assert_eq!(fixture.files("db"), fixture.files("expected"));
    assert!(text.contains("no checksum is published"), "{text}");
}
