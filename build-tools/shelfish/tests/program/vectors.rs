//! Frozen bytes of the format. `tests/data/database` contains records and their database, `tests/data/book` contains
//! games and their book.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::*;

fn vector() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/database")
}

#[test]
fn the_frozen_records_give_the_frozen_database() {
    let fixture = Fixture::new();
    fixture
        .build(&[&vector().join("records.jsonl")], &[])
        .succeeds();
    let frozen = fs::read_dir(vector().join("db")).unwrap().count();
    let built = fixture.files("db");
    assert_eq!(built.len(), frozen);
    for (name, bytes) in built {
        let expected = fs::read(vector().join("db").join(&name)).unwrap_or_default();
        assert!(
            bytes == expected,
            "{name} differs: databases of format 3 must stay readable and reproducible"
        );
    }
}

#[test]
fn the_frozen_database_gives_the_frozen_records() {
    let db = vector().join("db");
    let found = shelfish(["export".as_ref(), "-d".as_ref(), db.as_os_str()]).succeeds();
    let records = fs::read_to_string(vector().join("records.jsonl")).unwrap();
    assert_eq!(sorted(&found), sorted(&records));
    println!(
        "{}",
        shelfish([
            "verify".as_ref(),
            "--quiet".as_ref(),
            "-d".as_ref(),
            db.as_os_str()
        ])
        .succeeds()
    );
}

#[test]
fn the_frozen_games_give_the_frozen_book() {
    builds_frozen_book("book", &["--max-plies", "100"]);
}

#[test]
fn the_frozen_games_give_the_frozen_book_with_details() {
    let options = [
        "--max-plies",
        "100",
        "--buckets",
        "speeds,2000",
        "--average-ratings",
        "--game-ids",
        "2",
    ];
    builds_frozen_book("book-details", &options);
}

#[track_caller]
fn builds_frozen_book(name: &str, options: &[&str]) {
    let book = vector().with_file_name(name);
    let fixture = Fixture::new();
    fixture
        .book_build(&[&book.join("games.pgn")], options)
        .succeeds();
    let built = fixture.files("db");
    assert_eq!(built.len(), fs::read_dir(book.join("db")).unwrap().count());
    for (name, bytes) in built {
        let expected = fs::read(book.join("db").join(&name)).unwrap_or_default();
        assert!(
            bytes == expected,
            "{name} differs: books of format 3 must stay readable and reproducible"
        );
    }
    assert_eq!(
        fixture.export("db"),
        sorted(&fs::read_to_string(book.join("moves.jsonl")).unwrap())
    );
    fixture.verify("db").succeeds();
}
