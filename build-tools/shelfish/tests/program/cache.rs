//! Cache of databases on the disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::stores::{Protocol, Store, run};
use crate::common::{Fixture, Host, START, line, sample, shelfish};
use serde_json::Value;

/// Positions of the database.
const FENS: [&str; 2] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -",
];

/// Looks up positions. Returns the answers without their times, and the number of bytes from the network.
fn look_up(url: &str, cache: &Path, more: &[&str]) -> (Vec<Value>, u64) {
    let args = [
        "lookup",
        "-d",
        url,
        "--json",
        "--timing",
        "--cache-dir",
        cache.to_str().unwrap(),
    ];
    let out = shelfish([&args[..], more, &FENS].concat()).succeeds();
    let mut answers: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let bytes = |answer: &mut Value| {
        answer.as_object_mut().unwrap().remove("timing").unwrap()["bytes"]
            .as_u64()
            .unwrap()
    };
    let bytes = answers.iter_mut().map(bytes).sum();
    (answers, bytes)
}

fn entries(cache: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(cache)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir());
    folders
        .flat_map(|folder| {
            fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
        })
        .collect()
}

#[test]
fn cached_blocks_serve_without_the_host_and_damaged_blocks_are_fetched_again() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump.jsonl", sample());
    fixture
        .build(&[&dump], &["--inline-pages", "0B"])
        .succeeds();
    let host = Host::new(&fixture);
    let (url, cache) = (host.url("db"), fixture.path("cache"));
    let (first, bytes) = look_up(&url, &cache, &[]);
    assert!(
        first.iter().all(|answer| answer["found"] == true) && bytes > 0,
        "{first:?}"
    );

    let manifest = fs::metadata(fixture.path("db").join("manifest.json"))
        .unwrap()
        .len();
    let again = look_up(&url, &cache, &[]);
    assert_eq!(
        again,
        (first.clone(), manifest),
        "only the manifest is fetched again"
    );

    for entry in entries(&cache) {
        let mut bytes = fs::read(&entry).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(entry, bytes).unwrap();
    }
    assert_eq!(
        look_up(&url, &cache, &[]),
        (first.clone(), bytes),
        "damaged blocks are fetched again"
    );
    assert_eq!(
        look_up(&url, &cache, &["--cache-size", "0"]),
        (first.clone(), bytes),
        "no cache"
    );

    drop(host);
    assert_eq!(look_up(&url, &cache, &[]), (first, 0), "without the host");
    let other = url.replace("/db", "/other");
    shelfish([
        "lookup",
        "-d",
        &other,
        "--cache-dir",
        cache.to_str().unwrap(),
        FENS[0],
    ])
    .fails(&["no answer"]);
}

#[test]
fn an_unusable_cache_is_an_error_unless_it_is_the_default_cache() {
    let fixture = Fixture::of_sample();
    let host = Host::new(&fixture);
    let url = host.url("db");
    let file = fixture.file("file", "");
    shelfish([
        "lookup",
        "-d",
        &url,
        "--cache-dir",
        file.to_str().unwrap(),
        FENS[0],
    ])
    .fails(&["file", "--cache-dir"]);
    shelfish(["lookup", "-d", &url, FENS[0]]).succeeds();
}

/// Builds `honest` with depth 24 and `other` with another depth, so that both have the same layout.
pub fn databases_with_one_layout() -> Fixture {
    let fixture = Fixture::new();
    let build = |db: &str, depth: u16| {
        let dump = fixture.file("dump.jsonl", line(START, 20, "e2e4 e7e5", 500, depth));
        fixture
            .build_to(db, &[&dump], &["--inline-pages", "0B"])
            .succeeds();
        fixture.files(db)
    };
    let lengths = |files: &[(String, Vec<u8>)]| {
        files
            .iter()
            .map(|(_, bytes)| bytes.len())
            .collect::<Vec<_>>()
    };
    let honest = build("honest", 24);
    assert!((9..24).any(|depth| lengths(&build("other", depth)) == lengths(&honest)));
    fixture
}

/// Looks up the start position with a shared cache. Returns the depth.
pub fn depth(command: &mut Command, url: &str, cache: &Path) -> u64 {
    let args = [
        "lookup",
        "-d",
        url,
        "--json",
        "--cache-dir",
        cache.to_str().unwrap(),
        START,
    ];
    let answer: Value = serde_json::from_str(&run(command.args(args)).succeeds()).unwrap();
    answer["evaluations"][0]["depth"].as_u64().unwrap()
}

/// Stores the manifest of `honest` with the blocks of `content`.
fn store_blocks_of(store: &Store, fixture: &Fixture, content: &str) {
    for ((name, bytes), (_, other)) in fixture
        .files("honest")
        .into_iter()
        .zip(fixture.files(content))
    {
        store.put(
            &format!("evals/{name}"),
            if name == "manifest.json" {
                &bytes
            } else {
                &other
            },
        );
    }
}

#[test]
fn a_shared_cache_never_answers_for_a_store_at_another_endpoint() {
    let fixture = databases_with_one_layout();
    let (Some(honest), Some(other)) = (Store::start(Protocol::S3), Store::start(Protocol::S3))
    else {
        return;
    };
    store_blocks_of(&honest, &fixture, "honest");
    store_blocks_of(&other, &fixture, "other");
    let (url, cache) = (honest.url("evals"), fixture.path("cache"));
    let wrong = depth(&mut other.command(), &url, &cache);
    assert_ne!(wrong, 24);
    assert_eq!(depth(&mut honest.command(), &url, &cache), 24);
    assert_eq!(depth(&mut other.command(), &url, &cache), wrong);
    let folders = fs::read_dir(&cache)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert_eq!(folders.count(), 2, "each store has a cache");
}
