//! `shelfish bench` on the sample.

use crate::common::*;

const GAMES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../static-shards/famous.pgn"
);

#[test]
fn the_cost_of_games_is_a_table_of_databases() {
    let fixture = Fixture::of_sample();
    let db = fixture.path("db");
    let args = ["bench", "--markdown", "--games", GAMES, "-d"];
    let table = shelfish(args.iter().map(AsRef::as_ref).chain([db.as_os_str()])).succeeds();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows[0][..3], ["means of 22 games", "requests", "bytes"]);
    let number = |row: usize, column: usize| rows[row][column].parse::<f64>().unwrap();
    let (cold, warm) = (2, 3);
    // A cold reader requests the manifest and blocks. The sample lacks only the last position of a game.
    assert!(
        number(cold, 1) >= 2.0 && number(cold, 2) > 1_000.0,
        "{table}"
    );
    assert!(number(cold, 5) - number(cold, 6) <= 1.0, "{table}");
    // A warm reader has the blocks of earlier games in memory.
    assert!(
        number(warm, 1) < 1.0 && number(warm, 4) > number(warm, 3),
        "{table}"
    );
}

#[test]
fn a_file_without_games_is_an_error() {
    let fixture = Fixture::of_sample();
    let (db, games) = (fixture.path("db"), fixture.file("games.pgn", "1. e4 Ke4 *"));
    let args = [
        "bench".as_ref(),
        "--games".as_ref(),
        games.as_os_str(),
        "-d".as_ref(),
        db.as_os_str(),
    ];
    shelfish(args).fails(&["games.pgn", "no game"]);
}
