//! What the program keeps on disk of databases that it reads over the network.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Fixture, Host, sample, shelfish};
use serde_json::Value;

/// Positions that the database has.
const FENS: [&str; 2] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -",
];

/// Looks positions up: the answers without their times, and the bytes that came over the network.
fn look_up(url: &str, cache: &Path, more: &[&str]) -> (Vec<Value>, u64) {
    let args = ["lookup", "-d", url, "--json", "--timing", "--timeout", "2", "--cache-dir", cache.to_str().unwrap()];
    let out = shelfish([&args[..], more, &FENS].concat()).succeeds();
    let mut answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let bytes =
        |answer: &mut Value| answer.as_object_mut().unwrap().remove("timing").unwrap()["bytes"].as_u64().unwrap();
    let bytes = answers.iter_mut().map(bytes).sum();
    (answers, bytes)
}

fn entries(cache: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())).collect()
}

#[test]
fn what_was_read_serves_again_also_without_the_host_and_damage_is_fetched_anew() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump.jsonl", sample());
    fixture.build(&[&dump], &["--inline-pages", "0B"]).succeeds();
    let host = Host::new(&fixture);
    let (url, cache) = (host.url("db"), fixture.path("cache"));
    let (first, bytes) = look_up(&url, &cache, &[]);
    assert!(first.iter().all(|answer| answer["found"] == true) && bytes > 0, "{first:?}");

    let manifest = fs::metadata(fixture.path("db").join("manifest.json")).unwrap().len();
    let again = look_up(&url, &cache, &[]);
    assert_eq!(again, (first.clone(), manifest), "the manifest aside, nothing is fetched again");

    for entry in entries(&cache) {
        let mut bytes = fs::read(&entry).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(entry, bytes).unwrap();
    }
    assert_eq!(look_up(&url, &cache, &[]), (first.clone(), bytes), "what is damaged is fetched, not believed");
    assert_eq!(look_up(&url, &cache, &["--cache-size", "0"]), (first.clone(), bytes), "no cache");

    drop(host);
    assert_eq!(look_up(&url, &cache, &[]), (first, 0), "without the host");
    let other = url.replace("/db", "/other");
    shelfish(["lookup", "-d", &other, "--timeout", "2", "--cache-dir", cache.to_str().unwrap(), FENS[0]])
        .fails(&["no answer"]);
}

#[test]
fn a_cache_that_cannot_be_had_is_named_and_the_usual_one_is_done_without() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump.jsonl", sample());
    fixture.build(&[&dump], &[]).succeeds();
    let host = Host::new(&fixture);
    let url = host.url("db");
    let file = fixture.file("file", "");
    shelfish(["lookup", "-d", &url, "--cache-dir", file.to_str().unwrap(), FENS[0]]).fails(&["file", "--cache-dir"]);
    shelfish(["lookup", "-d", &url, FENS[0]]).succeeds();
}
