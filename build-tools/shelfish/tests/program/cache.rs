//! Cache of databases on the disk.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::hostile::run_within;
use crate::common::{Fixture, Host, command, sample, shelfish};
use serde_json::Value;

/// Positions of the database.
const FENS: [&str; 2] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -",
];

/// Looks up positions. Returns the answers without their times, and the number of bytes from the network.
fn look_up(url: &str, cache: &Path, more: &[&str]) -> (Vec<Value>, u64) {
    let args = ["lookup", "-d", url, "--json", "--timing", "--cache-dir", cache.to_str().unwrap()];
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
fn cached_blocks_serve_without_the_host_and_damaged_blocks_are_fetched_again() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump.jsonl", sample());
    fixture.build(&[&dump], &["--inline-pages", "0B"]).succeeds();
    let host = Host::new(&fixture);
    let (url, cache) = (host.url("db"), fixture.path("cache"));
    let (first, bytes) = look_up(&url, &cache, &[]);
    assert!(first.iter().all(|answer| answer["found"] == true) && bytes > 0, "{first:?}");

    let manifest = fs::metadata(fixture.path("db").join("manifest.json")).unwrap().len();
    let again = look_up(&url, &cache, &[]);
    assert_eq!(again, (first.clone(), manifest), "only the manifest is fetched again");

    for entry in entries(&cache) {
        let mut bytes = fs::read(&entry).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(entry, bytes).unwrap();
    }
    assert_eq!(look_up(&url, &cache, &[]), (first.clone(), bytes), "damaged blocks are fetched again");
    assert_eq!(look_up(&url, &cache, &["--cache-size", "0"]), (first.clone(), bytes), "no cache");

    drop(host);
    assert_eq!(look_up(&url, &cache, &[]), (first, 0), "without the host");
    let other = url.replace("/db", "/other");
    shelfish(["lookup", "-d", &other, "--cache-dir", cache.to_str().unwrap(), FENS[0]]).fails(&["no answer"]);
}

#[test]
fn an_unusable_cache_is_an_error_unless_it_is_the_default_cache() {
    let fixture = Fixture::of_sample();
    let host = Host::new(&fixture);
    let url = host.url("db");
    let file = fixture.file("file", "");
    shelfish(["lookup", "-d", &url, "--cache-dir", file.to_str().unwrap(), FENS[0]]).fails(&["file", "--cache-dir"]);
    shelfish(["lookup", "-d", &url, FENS[0]]).succeeds();
}

/// Replaces a file by a named pipe.
#[cfg(unix)]
fn make_pipe(path: &Path) {
    let _ = fs::remove_file(path);
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
#[cfg(unix)]
fn pipes_in_the_cache_are_ignored() {
    let fixture = Fixture::of_sample();
    let host = Host::new(&fixture);
    let (url, cache) = (host.url("db"), fixture.path("cache"));
    let (first, _) = look_up(&url, &cache, &[]);
    let entries = entries(&cache);
    assert!(!entries.is_empty());
    entries.iter().for_each(|entry| make_pipe(entry));
    make_pipe(&cache.join("written"));
    let args = ["lookup", "-d", &url, "--json", "--cache-dir", cache.to_str().unwrap(), FENS[0], FENS[1]];
    let (run, _) = run_within(1 << 30, command().args(args));
    assert_eq!((run.code, run.out.lines().count()), (0, 2), "{}", run.err);
    assert_eq!(look_up(&url, &cache, &[]).0, first);
}

#[test]
#[cfg(unix)]
fn pipes_in_a_folder_are_an_error() {
    let fixture = Fixture::of_sample();
    let shard = fixture.files("db").into_iter().find(|(name, _)| name.ends_with(".silo")).unwrap().0;
    let db = fixture.path("db");
    for name in [&*shard, "manifest.json"] {
        make_pipe(&db.join(name));
        let mut lookup = command();
        let (run, _) = run_within(1 << 30, lookup.args(["lookup", "-d", db.to_str().unwrap(), FENS[0]]));
        run.fails(&[name, "expected a regular file"]);
    }
}
