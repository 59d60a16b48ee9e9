//! Tests of the reader without the feature `write`, as in browsers, on a database that is part of the repository.
//!
//! `tests/data/database` contains the test vectors of `FORMAT.md`: records as JSON, and the database made of them.
//! These tests need no writer; `cargo test -p shelfish` runs them without it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use futures_executor::block_on;
use serde_json::Value;
use shelfish::eval::{Evaluation, PositionEval, Pv, Score};
use shelfish::played::{Played, PlayedMove, Results};
use shelfish::position::Position;
use shelfish::reader::{ReadError, Reader};
use shelfish::shakmaty::{CastlingMode, Chess, Move, Position as _, uci::UciMove};
use shelfish::source::{Source, file::Directory, memory::Memory};
use shelfish::table::{ChunkErrorKind, Manifest, TableError};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/database")
}

fn line(chess: &Chess, words: &str) -> Vec<Move> {
    let mut chess = chess.clone();
    let play = |word: &str| {
        let m = word
            .parse::<UciMove>()
            .expect("UCI")
            .to_move(&chess)
            .expect("a legal move");
        chess.play_unchecked(m);
        m
    };
    words.split_whitespace().map(play).collect()
}

/// Returns the records of the vectors, in their order.
fn records() -> Vec<PositionEval> {
    let number =
        |value: &Value| i32::try_from(value.as_i64().expect("an integer")).expect("a small number");
    let record = |text: &str| {
        let record: Value = serde_json::from_str(text).expect("JSON");
        let position: Position = record["fen"].as_str().unwrap().parse().expect("a FEN");
        let pv = |pv: &Value| Pv {
            score: match pv.get("mate") {
                Some(mate) => Score::Mate(number(mate)),
                None => Score::Cp(number(&pv["cp"])),
            },
            line: line(position.chess(), pv["line"].as_str().unwrap()),
        };
        let evaluation = |evaluation: &Value| Evaluation {
            depth: evaluation["depth"].as_u64().unwrap().try_into().unwrap(),
            knodes: evaluation["knodes"].as_u64().unwrap(),
            pvs: evaluation["pvs"]
                .as_array()
                .unwrap()
                .iter()
                .map(pv)
                .collect(),
        };
        let evaluations = record["evals"]
            .as_array()
            .unwrap()
            .iter()
            .map(evaluation)
            .collect();
        PositionEval {
            position,
            evaluations,
        }
    };
    fs::read_to_string(data().join("records.jsonl"))
        .unwrap()
        .lines()
        .map(record)
        .collect()
}

/// Returns the files of the database by name.
fn files() -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(data().join("db"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .map(|path| {
            (
                path.file_name().unwrap().to_str().unwrap().to_string(),
                fs::read(path).unwrap(),
            )
        })
        .collect()
}

fn open<S: Source>(source: S) -> Reader<S> {
    block_on(Reader::builder(source).open()).expect("a database")
}

#[test]
fn every_record_is_found_by_single_lookups_and_by_a_batch_lookup() {
    let records = records();
    let positions: Vec<Position> = records
        .iter()
        .map(|record| record.position.clone())
        .collect();
    let one_by_one = open(Directory::new(data().join("db")));
    for record in &records {
        assert_eq!(
            block_on(one_by_one.lookup(&record.position)),
            Ok(Some(record.clone()))
        );
    }
    let at_once = open(Memory::new(files()));
    let expected: Vec<_> = records.into_iter().map(|record| Ok(Some(record))).collect();
    assert_eq!(block_on(at_once.lookup_many(&positions)), expected);
    assert_eq!(at_once.manifest().positions, positions.len() as u64);
}

#[test]
fn a_book_contains_the_played_moves_with_their_counts() {
    let book = data().with_file_name("book");
    let reader: Reader<_, Played> =
        block_on(Reader::builder(Directory::new(book.join("db"))).open()).expect("a book");
    let counts =
        |results: Results| serde_json::json!([results.white, results.draws, results.black]);
    let mut moves = 0;
    let records = fs::read_to_string(book.join("moves.jsonl")).unwrap();
    for line in records.lines() {
        let record: Value = serde_json::from_str(line).expect("JSON");
        let position: Position = record["fen"].as_str().unwrap().parse().expect("a FEN");
        let played = block_on(reader.lookup(&position))
            .expect("an answer")
            .expect("a position of the book");
        assert_eq!(counts(played.ended), record["ended"], "{position}");
        let expected = record["moves"].as_object().unwrap();
        assert_eq!(played.moves.len(), expected.len(), "{position}");
        for PlayedMove { m, results, .. } in played.moves {
            assert_eq!(
                counts(results),
                expected[&m.to_uci(CastlingMode::Chess960).to_string()],
                "{position}"
            );
            moves += 1;
        }
    }
    let manifest = reader.manifest();
    assert_eq!(
        (manifest.positions, manifest.total("moves")),
        (records.lines().count() as u64, moves)
    );
    let absent: Position = "8/8/8/4k3/8/4K3/4P3/8 w - -".parse().expect("a FEN");
    assert_eq!(block_on(reader.lookup(&absent)), Ok(None));
}

#[test]
fn positions_that_are_not_in_the_database_are_not_found() {
    let records = records();
    let known: BTreeSet<_> = records.iter().map(|record| record.position.key()).collect();
    let after = |chess: &Chess, m: Move| {
        Position::from_chess(&chess.clone().play(m).expect("a legal move"))
    };
    let absent: Vec<Position> = records
        .iter()
        .map(|record| record.position.chess())
        .flat_map(|chess| {
            chess
                .legal_moves()
                .into_iter()
                .map(move |m| after(chess, m))
        })
        .filter(|position| !known.contains(&position.key()))
        .collect();
    assert!(absent.len() > 1000);
    let reader = open(Memory::new(files()));
    assert!(
        block_on(reader.lookup_many(&absent))
            .into_iter()
            .all(|answer| answer == Ok(None::<PositionEval>))
    );
}

/// If any byte of a shard is changed, every lookup fails with the exact error or returns the correct answer.
#[test]
fn a_changed_byte_gives_an_error_or_the_right_answer() {
    let records = records();
    let files = files();
    let positions: Vec<Position> = records
        .iter()
        .map(|record| record.position.clone())
        .collect();
    let is_shard = |name: &str| name != Manifest::FILE;
    let length = files
        .iter()
        .find(|(name, _)| is_shard(name))
        .expect("a shard")
        .1
        .len();
    let mut failed = 0;
    for at in (0..length).step_by(41) {
        let changed = files.iter().cloned().map(|(name, mut bytes)| {
            if is_shard(&name) {
                bytes[at] ^= 0x10;
            }
            (name, bytes)
        });
        let reader = open(Memory::new(changed));
        for (answer, record) in block_on(reader.lookup_many(&positions))
            .into_iter()
            .zip(&records)
        {
            match answer {
                Ok(answer) => assert_eq!(answer.as_ref(), Some(record), "byte {at}"),
                Err(ReadError::Table {
                    error:
                        TableError::Chunk {
                            kind: ChunkErrorKind::Checksum { .. },
                            ..
                        },
                    ..
                }) => {
                    failed += 1;
                }
                Err(error) => panic!("byte {at}: {error}"),
            }
        }
    }
    assert!(failed > 0);
}
