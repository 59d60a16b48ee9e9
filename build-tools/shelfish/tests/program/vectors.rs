//! The bytes that the format froze: `tests/data/database` holds records and the database that they make, `tests/data/book`
//! games and the book.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::*;

fn vector() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/database")
}

#[test]
fn the_records_of_the_format_make_its_database_byte_for_byte() {
    let fixture = Fixture::new();
    fixture.build(&[&vector().join("records.jsonl")], &[]).succeeds();
    let frozen = fs::read_dir(vector().join("db")).unwrap().count();
    let built = fixture.files("db");
    assert_eq!(built.len(), frozen);
    for (name, bytes) in built {
        let expected = fs::read(vector().join("db").join(&name)).unwrap_or_default();
        assert!(bytes == expected, "{name} differs: databases of format 1 must stay readable and reproducible");
    }
}

#[test]
fn the_database_of_the_format_gives_its_records_back() {
    let db = vector().join("db");
    let found = shelfish(["export".as_ref(), "-d".as_ref(), db.as_os_str()]).succeeds();
    let records = fs::read_to_string(vector().join("records.jsonl")).unwrap();
    assert_eq!(sorted(&found), sorted(&records));
    println!("{}", shelfish(["verify".as_ref(), "--quiet".as_ref(), "-d".as_ref(), db.as_os_str()]).succeeds());
}

#[test]
fn the_games_of_the_format_make_its_book_byte_for_byte() {
    makes_its_book("book", &["--max-plies", "100"]);
}

#[test]
fn the_games_of_the_format_make_its_book_of_buckets_ratings_and_references_byte_for_byte() {
    let options = ["--max-plies", "100", "--buckets", "speeds,2000", "--average-ratings", "--game-ids", "2"];
    makes_its_book("book-details", &options);
}

#[track_caller]
fn makes_its_book(name: &str, options: &[&str]) {
    let book = vector().with_file_name(name);
    let fixture = Fixture::new();
    fixture.build(&[&book.join("games.pgn")], options).succeeds();
    let built = fixture.files("db");
    assert_eq!(built.len(), fs::read_dir(book.join("db")).unwrap().count());
    for (name, bytes) in built {
        let expected = fs::read(book.join("db").join(&name)).unwrap_or_default();
        assert!(bytes == expected, "{name} differs: books of format 1 must stay readable and reproducible");
    }
    assert_eq!(fixture.export("db"), sorted(&fs::read_to_string(book.join("moves.jsonl")).unwrap()));
    fixture.verify("db").succeeds();
}
