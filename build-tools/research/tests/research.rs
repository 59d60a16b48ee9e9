//! Measurements with little data and predictable results.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

fn research(command: &str, args: &[&str]) -> Value {
    let mut research = Command::new(env!("CARGO_BIN_EXE_research"));
    let output = research
        .arg(command)
        .args(args)
        .arg("--json")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn orders(args: &[&str]) -> Value {
    let games = file("static-shards/famous.pgn");
    research(
        "orders",
        &[
            args,
            &["--games", games.to_str().unwrap(), "--blocks", "50,100"],
        ]
        .concat(),
    )
}

#[test]
fn orders_are_compared_by_the_blocks_that_games_touch() {
    let found = orders(&[file("static-shards/famous.jsonl.zst").to_str().unwrap()]);
    assert_eq!(found["positions"], 1574);
    let figures = found["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 8);
    assert_eq!(figures[0]["blocks_ratio"]["high"], 1.0);
    let hash = &figures[3];
    assert!(
        hash["order"] == "hash" && hash["blocks_ratio"]["low"].as_f64().unwrap() > 1.5,
        "{hash}"
    );
}

#[test]
fn orders_are_compared_by_the_blocks_that_an_opening_takes() {
    let dump = file("static-shards/famous.jsonl.zst");
    let found = orders(&[
        dump.to_str().unwrap(),
        "--from",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    ]);
    let subtrees = found["subtrees"].as_array().unwrap();
    assert_eq!(subtrees.len(), 8);
    for subtree in subtrees {
        let [positions, used, read] =
            ["positions", "used", "read"].map(|name| subtree[name].as_f64().unwrap());
        // All blocks. The last block is not full.
        assert!(
            positions > 1000.0 && (1.0..=read).contains(&used) && read * positions <= 1600.0,
            "{subtree}"
        );
    }
}

#[test]
fn a_dump_and_its_database_have_equal_figures() {
    let data = file("tests/data/database");
    let [dump, database] = ["records.jsonl", "db"].map(|name| data.join(name));
    assert_eq!(
        orders(&[dump.to_str().unwrap()]),
        orders(&["-d", database.to_str().unwrap()])
    );
}
