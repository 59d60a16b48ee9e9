//! `shelfish build --max-size`: the deepest evaluations that fit.

use crate::common::*;

/// Returns the size of all files of the database.
fn bytes(fixture: &Fixture, db: &str) -> u64 {
    fixture.files(db).iter().map(|(_, bytes)| bytes.len() as u64).sum()
}

fn fitted(summary: Run) -> serde_json::Value {
    serde_json::from_str::<serde_json::Value>(&summary.succeeds()).unwrap()["fitted"].clone()
}

/// Assigns depths from 1 to 40 to the evaluations of the sample.
fn dump() -> String {
    let mut n = 0;
    let mut deepen = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        for evaluation in line["evals"].as_array_mut().unwrap() {
            n += 1;
            evaluation["depth"] = (n * 7 % 40 + 1).into();
        }
        line.to_string()
    };
    sample().lines().map(&mut deepen).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_minimum_depth_that_fits_is_used_and_reported() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump", dump());
    fixture.build_to("all", &[&dump], &[]).succeeds();
    let all = bytes(&fixture, "all");
    for share in [40, 60, 80] {
        let room = (all * share / 100).to_string() + "B";
        let summary = fitted(fixture.build(&[&dump], &["--json", "--max-size", &room]));
        let depth = summary["min_depth"].as_u64().unwrap();
        assert!(bytes(&fixture, "db") <= all * share / 100, "{summary}");
        let same = ["--min-depth", &depth.to_string()];
        fixture.build_to("same", &[&dump], &same).succeeds();
        assert_eq!(fixture.files("db"), fixture.files("same"), "{summary}");
        fixture.build_to("more", &[&dump], &["--min-depth", &(depth - 1).to_string()]).succeeds();
        // Space for the largest possible index is reserved.
        assert!(bytes(&fixture, "more") + 6_000 > all * share / 100, "{summary}");
        fixture.verify("db").succeeds();
    }
}

#[test]
fn a_database_that_fits_is_complete_and_has_no_minimum_depth() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump", dump());
    fixture.build_to("all", &[&dump], &[]).succeeds();
    let summary = fitted(fixture.build(&[&dump], &["--json", "--max-size", "10MiB"]));
    assert_eq!(summary.to_string(), r#"{"attempts":1,"max_bytes":10485760,"min_depth":0,"positions_left_out":0}"#);
    assert_eq!(fixture.files("db"), fixture.files("all"));
    let text = fixture.build(&[&dump], &["--max-size", "10MiB"]).succeeds();
    assert!(text.contains("all of it fits in 10.00 MiB"), "{text}");
}

#[test]
fn a_base_is_reduced_like_its_sources() {
    let fixture = Fixture::new();
    let dump = dump();
    let lines: Vec<&str> = dump.lines().collect();
    let (one, two) = lines.split_at(900);
    let (one, two) = (fixture.file("one", one.join("\n")), fixture.file("two", two.join("\n") + "\nrubbish\n"));
    fixture.build_to("base", &[&one], &[]).succeeds();
    let base = fixture.path("base").to_str().unwrap().to_owned();
    let rejects = fixture.path("rejects").to_str().unwrap().to_owned();
    let room = ["--json", "--max-size", "14000B", "--rejects", &rejects, "--base", &base];
    let summary = fitted(fixture.build(&[&two], &room));
    let depth = summary["min_depth"].to_string();
    assert!(summary["attempts"].as_u64().unwrap() >= 1 && depth != "0");
    fixture.build_to("same", &[&one, &two], &["--min-depth", &depth]).succeeds();
    assert_eq!(fixture.files("db"), fixture.files("same"));
    assert_eq!(std::fs::read_to_string(rejects).unwrap().lines().count(), 2);
}

#[test]
fn an_abandoned_attempt_releases_its_disk_space() {
    use shelfish_cli::{build, database, evaluations};

    let fixture = Fixture::new();
    let dump = fixture.file("dump", dump());
    fixture.build_to("base", &[&dump], &[]).succeeds();
    let max_bytes = bytes(&fixture, "base") / 2;
    let mut options = evaluations::Options::new(Vec::new(), &fixture.path("db"));
    options.table = build::Options {
        bases: vec![database::Args::of(fixture.path("base").to_str().unwrap())],
        max_memory: build::MIN_MEMORY,
        // Shards with pages are complete before the attempt is abandoned.
        shard_bytes: 4_000,
        inline_page_bytes: 0,
        threads: 1,
        max_bytes: Some(max_bytes),
        max_disk: Some(2 * max_bytes),
        ..options.table
    };
    let fitted = evaluations::build(&options).unwrap().fitted.unwrap();
    assert!(fitted.attempts > 1 && bytes(&fixture, "db") <= max_bytes, "{fitted}");
}

#[test]
fn if_nothing_fits_the_build_fails_and_keeps_the_old_database() {
    let fixture = Fixture::new();
    let old = fixture.file("old", line(START, 1, "e2e4", 1, 1));
    fixture.build(&[&old], &[]).succeeds();
    let before = fixture.files("db");
    let sample = fixture.file("dump", sample().replace(r#""depth":"#, r#""depth":1,"was":"#));
    fixture.build(&[&sample], &["--max-size", "6000B"]).fails(&["--max-size", "6000 bytes", "--best-only"]);
    assert_eq!(fixture.files("db"), before);
    let games = fixture.file("games.pgn", "1. e4 e5 1-0");
    assert_eq!(fixture.book_build(&[&games], &["--max-size", "1MB"]).code, 2);
    let small = fixture.build(&[&sample], &["--max-size", "1KiB"]);
    assert!(small.code == 2 && small.err.contains("expected at least 4.00 KiB"), "{}", small.err);
}
