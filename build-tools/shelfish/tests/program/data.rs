//! Tests with complete data sets, which are slow. `cargo xtask test --only data` runs them: `cargo test --release -p
//! shelfish-cli --test program -- --ignored --skip spark::`.

use std::collections::HashSet;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;

use crate::common::*;
use shakmaty::{EnPassantMode, Position as _};
use shelfish::eval::PositionEval;
use shelfish::position::Position;
use shelfish::reader::Reader;
use shelfish::source::file::Directory;
use shelfish_cli::database::wait;
use shelfish_cli::lichess;

/// Returns sorted hashes of lines, which are equal for equal sets of records. Evaluations of a record with equal depth,
/// PVs and nodes have no defined order, so they are compared as a set.
fn hashes(reader: impl Read) -> Vec<u64> {
    let mut hashes: Vec<u64> = BufReader::new(reader)
        .lines()
        .map(|line| {
            let line = line.unwrap();
            let mut parts: Vec<&str> = line
                .split(r#"{"pvs":"#)
                .map(|part| part.trim_end_matches([',', ']', '}']))
                .collect();
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
    let fixture = Fixture::new();
    println!(
        "{}",
        fixture.build(&[&path], &["--threads", "2"]).succeeds()
    );
    let db = fixture.path("db");
    let mut child = command()
        .args(["export".as_ref(), "-d".as_ref(), db.as_os_str()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let found = hashes(child.stdout.take().unwrap());
    assert!(child.wait().unwrap().success());
    let source = File::open(&path).unwrap();
    let given = if name.ends_with(".zst") {
        hashes(zstd::Decoder::new(source).unwrap())
    } else {
        hashes(source)
    };
    assert!(
        found == given,
        "{} records given, {} found",
        given.len(),
        found.len()
    );
    println!("{}", fixture.verify("db").succeeds());
    let dump = fixture.path("dump.jsonl");
    shelfish([
        "export".as_ref(),
        "-d".as_ref(),
        db.as_os_str(),
        "-o".as_ref(),
        dump.as_os_str(),
    ])
    .succeeds();
    check_stored_and_absent_positions(&db, &dump);
}

/// Looks up each position of a dump and the same number of missing positions, but at most 100,000.
fn check_stored_and_absent_positions(db: &Path, dump: &Path) {
    let reader = wait(Reader::builder(Directory::new(db)).open::<PositionEval>())
        .unwrap()
        .unwrap();
    let lines: Vec<String> = BufReader::new(File::open(dump).unwrap())
        .lines()
        .map(Result::unwrap)
        .collect();
    let fen = |line: &str| line.split('"').nth(3).unwrap().to_owned();
    let there: HashSet<String> = lines.iter().map(|line| fen(line)).collect();
    let (mut found, mut absent) = (0, 0);
    for lines in lines.chunks(10_000) {
        let positions: Vec<Position> = lines
            .iter()
            .map(|line| fen(line).parse().unwrap())
            .collect();
        let answers = wait(reader.lookup_many(&positions)).unwrap();
        for (line, answer) in lines.iter().zip(answers) {
            let answered = lichess::line(&answer.unwrap().unwrap()).unwrap();
            assert_eq!(answered.trim_end(), line);
            found += 1;
        }
        // The same boards with the other side to move.
        let others: Vec<Position> = positions
            .iter()
            .filter_map(|position| {
                let mut setup = position.chess().to_setup(EnPassantMode::Legal);
                setup.swap_turn();
                Position::from_setup(setup)
                    .ok()
                    .filter(|other| !there.contains(&other.to_string()))
            })
            .take(100_000 - absent)
            .collect();
        absent += others.len();
        assert!(
            wait(reader.lookup_many(&others))
                .unwrap()
                .iter()
                .all(|answer| matches!(answer, Ok(None)))
        );
    }
    println!("{found} positions found, {absent} absent ones not");
}

#[test]
#[ignore = "heavy"]
fn evals_sf_survives_a_round_trip() {
    round_trip("evals-sf.jsonl.zst");
}

#[test]
#[ignore = "heavy"]
fn evals_lichess_seed_survives_a_round_trip() {
    round_trip("evals-lichess-seed.jsonl");
}

#[test]
#[ignore = "heavy"]
fn evals_tcec_survives_a_round_trip() {
    round_trip("evals-tcec.jsonl.zst");
}

#[test]
#[ignore = "heavy"]
fn threads_and_memory_change_no_byte() {
    let Some(path) = data("evals-sf.jsonl.zst") else {
        return;
    };
    let fixture = Fixture::new();
    fixture
        .build(&[&path], &["--threads", "1", "--max-memory", "64MiB"])
        .succeeds();
    let expected = fixture.files("db");
    fs::remove_dir_all(fixture.path("db")).unwrap();
    fixture
        .build(&[&path], &["--threads", "3", "--max-memory", "1GiB"])
        .succeeds();
    assert!(fixture.files("db") == expected);
}
