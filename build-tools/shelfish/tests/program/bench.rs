//! `shelfish bench` on the sample: predictable figures in all output formats.

use std::path::{Path, PathBuf};

use crate::common::*;
use serde_json::Value;

/// Returns the games whose positions the sample contains.
fn games() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static-shards/famous.pgn")
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&shelfish([&["bench"], args, &["--json"]].concat()).succeeds()).unwrap()
}

#[test]
fn traffic_counts_the_requests_of_the_reader() {
    let fixture = Fixture::of_sample();
    let (db, games) = (fixture.path("db"), games());
    let (db, games) = (db.to_str().unwrap(), games.to_str().unwrap());
    let found = json(&["traffic", "-q", "-d", db, "--games", games]);
    assert_eq!(found["games"]["count"], 22);
    let replays = found["replays"].as_array().unwrap();
    assert_eq!(replays.len(), 4);
    for replay in replays {
        // The dump contains all positions of the games except for the last position of each game.
        assert!(replay["misses"].as_u64().unwrap() <= 22, "{replay}");
    }
    let [at_once, warm, one_by_one, _] = replays.as_slice() else {
        panic!("{replays:?}")
    };
    // Requests for the manifest, which contains the pages, and for blocks.
    assert_eq!(at_once["games"]["rounds"]["max"], 2.0);
    assert_eq!(at_once["games"]["requests for pages"]["max"], 0.0);
    assert_eq!(
        at_once["games"]["bytes of the manifest"]["max"],
        found["database"]["manifest_bytes"].as_f64().unwrap()
    );
    // Position by position, blocks are fetched separately, but the same blocks.
    assert_eq!(
        one_by_one["games"]["blocks fetched"],
        at_once["games"]["blocks fetched"]
    );
    assert!(
        one_by_one["games"]["rounds"]["mean"].as_f64()
            >= at_once["games"]["rounds"]["mean"].as_f64()
    );
    // Memory holds all of these few blocks, so later games send no requests.
    assert_eq!(warm["games"]["requests"]["median"], 0.0);
    // Minimum time on a network: two round trips and the bytes.
    let time = &at_once["times"][0];
    let least = 2.0 * time["round_trip_ms"].as_f64().unwrap();
    assert!(time["all_ms"]["median"].as_f64().unwrap() > least, "{time}");

    // Requests and bytes, with and without the gaps between two blocks.
    let apart = json(&["traffic", "-q", "-d", db, "--games", games, "--gap", "0"]);
    let [near, apart] = [at_once, &apart["replays"][0]].map(|replay| {
        ["requests", "bytes"].map(|name| replay["games"][name]["mean"].as_f64().unwrap())
    });
    assert!(
        near[0] < apart[0] && near[1] > apart[1],
        "{near:?} {apart:?}"
    );

    let table = shelfish([
        "bench",
        "traffic",
        "-q",
        "-d",
        db,
        "--games",
        games,
        "--limit",
        "2",
        "--markdown",
    ])
    .succeeds();
    assert!(table.contains("| requests for blocks |"), "{table}");
}

#[test]
fn a_measured_build_leaves_no_files() {
    let fixture = Fixture::of_sample();
    let dump = fixture.path("dump.jsonl");
    let dir = fixture.path("scratch");
    std::fs::create_dir(&dir).unwrap();
    let paths = [dump.to_str().unwrap(), "--dir", dir.to_str().unwrap()];
    let run = shelfish(
        [
            &["bench", "build", "--json"],
            &paths[..],
            &["--", "--max-pvs", "1"],
        ]
        .concat(),
    );
    let found: Value = serde_json::from_str(&run.succeeds()).unwrap();
    assert_eq!(found["positions"], 1574);
    assert!(
        found["pvs"].as_u64() < found["evaluations"].as_u64().map(|n| n + 1),
        "{found}"
    );
    assert!(
        found["peak_disk_bytes"].as_u64() >= found["bytes"].as_u64(),
        "{found}"
    );
    assert!(
        cfg!(not(unix)) || found["peak_memory_bytes"].as_u64().unwrap() > 1 << 20,
        "{found}"
    );
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);

    let games = games();
    let book = shelfish([
        "bench",
        "build",
        "--book",
        "--json",
        games.to_str().unwrap(),
        "--",
        "--max-plies",
        "4",
    ])
    .succeeds();
    let book: Value = serde_json::from_str(&book).unwrap();
    assert!(
        book["positions"].as_u64() > Some(1) && book["pvs"].is_null(),
        "{book}"
    );

    let failed = shelfish([
        "bench",
        "build",
        "no such file",
        "--dir",
        dir.to_str().unwrap(),
    ]);
    failed.fails(&["no such file"]);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
}

#[test]
fn lookups_use_positions_of_the_database_or_of_files() {
    let fixture = Fixture::of_sample();
    let (db, games) = (fixture.path("db"), games());
    let db = db.to_str().unwrap();
    let found = json(&["lookup", "-d", db, "--count", "40"]);
    assert_eq!(
        (&found["positions"], &found["hits"]),
        (&40.into(), &40.into())
    );
    assert!(
        found["cold_microseconds"]["median"].as_f64()
            > found["warm_microseconds"]["median"].as_f64(),
        "{found}"
    );
    let found = json(&[
        "lookup",
        "-d",
        db,
        "--count",
        "40",
        "--games",
        games.to_str().unwrap(),
    ]);
    assert_eq!(found["positions"], 40);
    let fens = fixture.file(
        "fens.txt",
        format!("{START}\n\n8/8/8/4k3/8/4K3/4P3/8 w - - 0 1\n"),
    );
    let found = json(&["lookup", "-d", db, "--fens", fens.to_str().unwrap()]);
    assert_eq!(
        (&found["positions"], &found["hits"]),
        (&2.into(), &1.into())
    );
    let empty = fixture.file("empty.txt", "");
    shelfish([
        "bench",
        "lookup",
        "-d",
        db,
        "--fens",
        empty.to_str().unwrap(),
    ])
    .fails(&["empty.txt", "no position"]);
}

#[test]
fn skipping_more_games_than_the_file_has_is_an_error() {
    let fixture = Fixture::of_sample();
    let (db, games) = (fixture.path("db"), games());
    let args = [
        "traffic",
        "-q",
        "-d",
        db.to_str().unwrap(),
        "--games",
        games.to_str().unwrap(),
    ];
    let found = json(&[&args[..], &["--every", "4294967295"]].concat());
    assert_eq!(found["games"]["count"], 1);
    shelfish([&["bench"], &args[..], &["--skip", "18446744073709551615"]].concat())
        .fails(&["no game"]);
}
