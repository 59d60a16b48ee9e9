//! `shelfish build --base`: a build on a base equals a build from all sources.

use std::fs;
use std::path::PathBuf;

use crate::common::*;

/// Divides the sample into two overlapping parts. They share lines, and evaluations of one position.
fn parts() -> [String; 2] {
    let text = sample();
    let lines: Vec<&str> = text.lines().collect();
    let join = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let deeper = join(&lines[300..500]).replace("\"depth\":17", "\"depth\":21");
    [join(&lines[..900]), join(&lines[800..]) + &deeper]
}

fn fixture_with_parts() -> (Fixture, [PathBuf; 2]) {
    let fixture = Fixture::new();
    let [old, new] = parts();
    let parts = [fixture.file("old", old), fixture.file("new", new)];
    (fixture, parts)
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_build_on_a_base_gives_the_bytes_of_a_single_build() {
    let (fixture, [old, new]) = fixture_with_parts();
    fixture.build_to("both", &[&old, &new], &[]).succeeds();
    let expected = fixture.files("both");
    fixture.build_to("base", &[&old], &[]).succeeds();
    fixture.build_to("other", &[&new], &[]).succeeds();
    let (base, other) = (fixture.path("base"), fixture.path("other"));
    let [base, other] = [base.to_str().unwrap(), other.to_str().unwrap()];
    for (threads, memory) in [("1", "64MiB"), ("2", "1GiB"), ("5", "100MiB")] {
        let build = |bases: &[&str], sources: &[&std::path::Path]| {
            let mut options = vec!["--threads", threads, "--max-memory", memory];
            bases
                .iter()
                .for_each(|base| options.extend(["--base", base]));
            fixture.build_to("db", sources, &options).succeeds();
            fixture.files("db")
        };
        assert!(
            build(&[base], &[&new]) == expected,
            "{threads} threads, {memory}"
        );
        assert!(build(&[base, other], &[]) == expected, "databases alone");
        assert!(
            build(&[other, base, other], &[&old]) == expected,
            "more than once"
        );
    }
}

#[test]
fn a_database_can_be_its_own_base() {
    let (fixture, [old, new]) = fixture_with_parts();
    fixture.build_to("both", &[&old, &new], &[]).succeeds();
    fixture.build(&[&old], &[]).succeeds();
    let before = fixture.files("db");
    let db = fixture.path("db");
    let db = db.to_str().unwrap();
    let summary = json(&fixture.build(&[], &["--base", db, "--json"]).succeeds());
    assert_eq!(fixture.files("db"), before);
    assert!(summary["blocks"].as_u64().unwrap() > 1);
    assert_eq!(
        summary["blocks_kept"], summary["blocks"],
        "blocks are copied where nothing changes"
    );
    assert_eq!(summary["base_positions"], 900);
    fixture.build(&[&new], &["--base", db]).succeeds();
    assert_eq!(fixture.files("db"), fixture.files("both"));
}

#[test]
fn a_build_on_a_base_applies_the_selection_of_the_base() {
    let fixture = Fixture::new();
    let [old, new] = parts();
    let (old, new) = (fixture.file("old", old), fixture.file("new", new));
    for (of_base, of_build, of_all) in [
        (
            &["--min-depth", "20"][..],
            &[][..],
            &["--min-depth", "20"][..],
        ),
        (
            &[],
            &["--min-depth", "20", "--max-plies", "3"],
            &["--min-depth", "20", "--max-plies", "3"],
        ),
        (
            &["--max-pvs", "2"],
            &["--max-plies", "3"],
            &["--max-pvs", "2", "--max-plies", "3"],
        ),
        (
            &["--best-only"],
            &["--min-depth", "18"],
            &["--best-only", "--min-depth", "18"],
        ),
        (
            &[],
            &["--best-only", "--max-pvs", "1"],
            &["--best-only", "--max-pvs", "1"],
        ),
        (
            &["--max-pvs", "1"],
            &["--max-pvs", "3"],
            &["--max-pvs", "1"],
        ),
    ] {
        fixture.build_to("base", &[&old], of_base).succeeds();
        let base = fixture.path("base");
        let options = [of_build, &["--base", base.to_str().unwrap()]].concat();
        fixture.build(&[&new], &options).succeeds();
        fixture.build_to("both", &[&old, &new], of_all).succeeds();
        assert!(
            fixture.files("db") == fixture.files("both"),
            "{of_base:?}, {of_build:?}"
        );
    }
    // A selection may remove all positions.
    fixture.build_to("base", &[&old], &[]).succeeds();
    let base = fixture.path("base");
    let options = ["--base", base.to_str().unwrap(), "--min-depth", "99"];
    fixture
        .build_to("none", &[], &options)
        .fails(&["nothing to write"]);
    assert!(!fixture.path("none").exists());
}

#[test]
fn the_error_of_a_damaged_base_names_file_and_block_and_the_base_is_unchanged() {
    let fixture = Fixture::new();
    let [old, new] = parts();
    let (old, new) = (fixture.file("old", old), fixture.file("new", new));
    fixture.build(&[&old], &[]).succeeds();
    let db = fixture.path("db");
    let on_base = ["--base", db.to_str().unwrap()];
    let shard = fixture
        .files("db")
        .into_iter()
        .find(|(name, _)| name.ends_with(".silo"))
        .unwrap();
    for at in [0, shard.1.len() / 2, shard.1.len() - 1] {
        let mut bytes = shard.1.clone();
        bytes[at] ^= 1;
        fs::write(db.join(&shard.0), &bytes).unwrap();
        let before = fixture.files("db");
        fixture.build(&[&new], &on_base).fails(&[
            "cannot build on",
            db.to_str().unwrap(),
            &shard.0,
            "bytes",
        ]);
        fixture
            .build_to("next", &[&new], &on_base)
            .fails(&["checksum"]);
        assert_eq!(fixture.files("db"), before);
        assert!(!fixture.path("next").exists());
    }
    fs::write(db.join(&shard.0), &shard.1[..shard.1.len() - 5]).unwrap();
    fixture
        .build(&[&new], &on_base)
        .fails(&[&shard.0, "expected"]);
    fs::remove_file(db.join(&shard.0)).unwrap();
    fixture
        .build(&[&new], &on_base)
        .fails(&[&shard.0, "no such file"]);
    fs::write(db.join("manifest.json"), "{}").unwrap();
    fixture.build(&[&new], &on_base).fails(&["manifest.json"]);
    fixture
        .build_to("next", &[&new], &on_base)
        .fails(&["cannot build on", "manifest.json"]);
    let nowhere = fixture.path("nowhere");
    fixture
        .build_to("next", &[&new], &["--base", nowhere.to_str().unwrap()])
        .fails(&["cannot build on", "no database in", "nowhere"]);
}
