//! Whole data sets, where they are at hand: heavy, so run by `cargo xtask test --only data`, which is
//! `cargo test --release -p shelfish-cli --test data -- --ignored`.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::HashSet;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::*;
use shakmaty::{EnPassantMode, Position as _};
use shelfish::eval::Eval;
use shelfish::position::Position;
use shelfish::reader::{Options, Reader};
use shelfish::source::file::Directory;
use shelfish_cli::database::wait;
use shelfish_cli::json;

/// The data set, unless it is not there, which is said aloud.
fn data(name: &str) -> Option<PathBuf> {
    let dir = std::env::var_os("SHELFISH_DATA").map_or("../../../shared/data".into(), PathBuf::from);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir).join(name);
    if !path.exists() {
        eprintln!("SKIPPED: {} is not there; SHELFISH_DATA says where data sets are", path.display());
    }
    path.exists().then_some(path)
}

/// Sorted hashes of lines, small and equal for equal sets of records. The evaluations of a record are a set, too: those
/// of equal depth, PVs and nodes have no order of their own.
fn hashes(reader: impl Read) -> Vec<u64> {
    let mut hashes: Vec<u64> = BufReader::new(reader)
        .lines()
        .map(|line| {
            let line = line.unwrap();
            let mut parts: Vec<&str> =
                line.split(r#"{"pvs":"#).map(|part| part.trim_end_matches([',', ']', '}'])).collect();
            parts.sort_unstable();
            let mut hasher = DefaultHasher::new();
            parts.hash(&mut hasher);
            hasher.finish()
        })
        .collect();
    hashes.sort_unstable();
    hashes
}

fn round_trip(name: &str) {
    let Some(path) = data(name) else { return };
    let desk = Desk::new();
    println!("{}", desk.build(&[&path], &["--threads", "2"]).succeeds());
    let db = desk.path("db");
    let mut child =
        command().args(["export".as_ref(), "-d".as_ref(), db.as_os_str()]).stdout(Stdio::piped()).spawn().unwrap();
    let found = hashes(child.stdout.take().unwrap());
    assert!(child.wait().unwrap().success());
    let source = File::open(&path).unwrap();
    let given = if name.ends_with(".zst") { hashes(zstd::Decoder::new(source).unwrap()) } else { hashes(source) };
    assert!(found == given, "{} records given, {} found", given.len(), found.len());
    println!("{}", desk.verify("db").succeeds());
    let dump = desk.path("dump.jsonl");
    shelfish(["export".as_ref(), "-d".as_ref(), db.as_os_str(), "-o".as_ref(), dump.as_os_str()]).succeeds();
    every_position_is_found_and_no_other(&db, &dump);
}

/// Looks every position of a dump up, and as many others as there are, but 100,000 at most.
fn every_position_is_found_and_no_other(db: &Path, dump: &Path) {
    let reader = wait(Reader::<_, Eval>::open(Directory::new(db), Options::default())).unwrap().unwrap();
    let lines: Vec<String> = BufReader::new(File::open(dump).unwrap()).lines().map(Result::unwrap).collect();
    let fen = |line: &str| line.split('"').nth(3).unwrap().to_owned();
    let there: HashSet<String> = lines.iter().map(|line| fen(line)).collect();
    let (mut found, mut absent) = (0, 0);
    for lines in lines.chunks(10_000) {
        let positions: Vec<Position> = lines.iter().map(|line| fen(line).parse().unwrap()).collect();
        let answers = wait(reader.lookup_many(&positions)).unwrap();
        for (line, answer) in lines.iter().zip(answers) {
            let mut answered = Vec::new();
            json::push_line(&mut answered, &answer.unwrap().unwrap());
            assert_eq!(answered.trim_ascii_end(), line.as_bytes());
            found += 1;
        }
        // The same boards with the other side to move.
        let others: Vec<Position> = positions
            .iter()
            .filter_map(|position| {
                let mut setup = position.chess().to_setup(EnPassantMode::Legal);
                setup.swap_turn();
                Position::from_setup(setup).ok().filter(|other| !there.contains(&other.to_string()))
            })
            .take(100_000 - absent)
            .collect();
        absent += others.len();
        assert!(wait(reader.lookup_many(&others)).unwrap().iter().all(|answer| matches!(answer, Ok(None))));
    }
    println!("{found} positions found, {absent} absent ones not");
}

#[test]
#[ignore = "heavy"]
fn evals_sf_comes_back() {
    round_trip("evals-sf.jsonl.zst");
}

#[test]
#[ignore = "heavy"]
fn evals_lichess_seed_comes_back() {
    round_trip("evals-lichess-seed.jsonl");
}

#[test]
#[ignore = "heavy"]
fn evals_tcec_comes_back() {
    round_trip("evals-tcec.jsonl.zst");
}

#[test]
#[ignore = "heavy"]
fn threads_and_memory_change_no_byte() {
    let Some(path) = data("evals-sf.jsonl.zst") else { return };
    let desk = Desk::new();
    desk.build(&[&path], &["--threads", "1", "--max-memory", "64MiB"]).succeeds();
    let expected = desk.files("db");
    fs::remove_dir_all(desk.path("db")).unwrap();
    desk.build(&[&path], &["--threads", "3", "--max-memory", "1GiB"]).succeeds();
    assert!(desk.files("db") == expected);
}
