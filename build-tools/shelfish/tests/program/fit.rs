//! `shelfish build --max-size`: the deepest evaluations that fit, and no smaller database.

use std::path::Path;

use shelfish_cli::build::Options;
use shelfish_cli::evaluations;
use shelfish_cli::evaluations::share::Share;
use shelfish_cli::input::Input;

use crate::common::*;

/// Returns the size of all files of the database.
fn bytes(fixture: &Fixture, db: &str) -> u64 {
    fixture
        .files(db)
        .iter()
        .map(|(_, bytes)| bytes.len() as u64)
        .sum()
}

fn fitted(summary: Run) -> serde_json::Value {
    serde_json::from_str::<serde_json::Value>(&summary.succeeds()).unwrap()["fitted"].clone()
}

/// Assigns depths from 1 to 40 to `copies` of each evaluation of the sample.
fn dump_of(copies: u64) -> String {
    let mut n = 0;
    let mut deepen = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        let evaluations = line["evals"].as_array().unwrap().clone();
        let copies = evaluations
            .iter()
            .flat_map(|evaluation| (0..copies).map(move |_| evaluation.clone()));
        let copies = copies.map(|mut evaluation| {
            n += 1;
            evaluation["depth"] = (n * 7 % 40 + 1).into();
            evaluation["knodes"] = (n * n % 100_003).into();
            evaluation
        });
        line["evals"] = copies.collect();
        line.to_string()
    };
    sample()
        .lines()
        .map(&mut deepen)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Builds by the selection of a summary.
fn build_same(fixture: &Fixture, db: &str, sources: &[&Path], summary: &serde_json::Value) {
    let inputs = sources.iter().map(|source| Input::from(*source)).collect();
    let selection = evaluations::Selection {
        min_depth: summary["min_depth"].as_u64().unwrap() as u16,
        share: summary["min_depth_share"]
            .as_u64()
            .and_then(|share| Share::new(share as u16)),
        ..evaluations::Selection::default()
    };
    evaluations::build(&Options::new(inputs, &fixture.path(db)), &selection).unwrap();
}

#[test]
fn a_size_is_filled_and_not_exceeded() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump", dump_of(10));
    fixture.build_to("all", &[&dump], &[]).succeeds();
    let all = bytes(&fixture, "all");
    for percent in [7, 22, 45, 59, 83, 99] {
        let room = all * percent / 100;
        let summary =
            fitted(fixture.build(&[&dump], &["--json", "--max-size", &format!("{room}B")]));
        let found = bytes(&fixture, "db");
        println!("{found} of {room} bytes, {summary}");
        assert!(
            found <= room && found >= room * 95 / 100,
            "{found} of {room} bytes: {summary}"
        );
        build_same(&fixture, "same", &[&dump], &summary);
        assert_eq!(fixture.files("db"), fixture.files("same"), "{summary}");
        fixture.verify("db").succeeds();
    }
}

#[test]
fn the_cut_does_not_depend_on_the_order_of_lines_or_the_number_of_threads() {
    let fixture = Fixture::new();
    let text = dump_of(4);
    let reversed = text.lines().rev().collect::<Vec<_>>().join("\n");
    let (dump, reversed) = (
        fixture.file("dump", text),
        fixture.file("reversed", reversed),
    );
    let summary = fitted(fixture.build(
        &[&dump],
        &["--json", "--threads", "1", "--max-size", "60kB"],
    ));
    assert!(summary["min_depth_share"].is_u64(), "{summary}");
    let again = [
        "--json",
        "--threads",
        "4",
        "--max-size",
        "60kB",
        "--max-memory",
        "64MiB",
    ];
    assert_eq!(
        fitted(fixture.build_to("again", &[&reversed], &again)),
        summary
    );
    assert_eq!(fixture.files("again"), fixture.files("db"));
}

#[test]
fn if_nothing_fits_the_build_fails_and_keeps_the_old_database() {
    let fixture = Fixture::new();
    let old = fixture.file("old", line(START, 1, "e2e4", 1, 1));
    fixture.build(&[&old], &[]).succeeds();
    let before = fixture.files("db");
    // One position with 4,000 scores takes more.
    let mut random = fastrand::Rng::with_seed(5);
    let mut pv = || {
        format!(
            r#"{{"cp":{},"line":""}}"#,
            random.i32(-1_000_000..1_000_000)
        )
    };
    let mut evaluation = |knodes: u32| {
        let pvs = (0..200).map(|_| pv()).collect::<Vec<_>>().join(",");
        format!(r#"{{"pvs":[{pvs}],"knodes":{knodes},"depth":1}}"#)
    };
    let evaluations = (0..20).map(&mut evaluation).collect::<Vec<_>>().join(",");
    let sample = fixture.file(
        "dump",
        format!(r#"{{"fen":"{START}","evals":[{evaluations}]}}"#),
    );
    fixture.build(&[&sample], &["--max-size", "4096B"]).fails(&[
        "--max-size",
        "4096 bytes",
        "--best-only",
    ]);
    assert_eq!(fixture.files("db"), before);
    let games = fixture.file("games.pgn", "1. e4 e5 1-0");
    assert_eq!(
        fixture.book_build(&[&games], &["--max-size", "1MB"]).code,
        2
    );
    let small = fixture.build(&[&sample], &["--max-size", "1KiB"]);
    assert!(
        small.code == 2 && small.err.contains("expected at least 4.00 KiB"),
        "{}",
        small.err
    );
}
