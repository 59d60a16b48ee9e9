//! `shelfish extract`, compared with a walk through the whole database.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::common::{Fixture, Host, START, sample, shelfish, shelfish_with, sorted};
use serde_json::Value;
use shakmaty::Position as _;
use shelfish::position::Position;

const SICILIAN: &str = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -";

fn fixture() -> Fixture {
    Fixture::shared("extract", |fixture| {
        let dump = fixture.file("dump.jsonl", sample());
        fixture.build(&[&dump], &["--min-depth", "1"]).succeeds();
    })
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn extract(fixture: &Fixture, from: &str, args: &[&str]) -> Value {
    let out = fixture.path("part");
    let args = [&["extract", "-d", from, "-o", text(&out), "--json"], args].concat();
    serde_json::from_str(&shelfish(args).succeeds()).unwrap()
}

/// Returns the lines of the database that a walk from `starts` visits, by distance.
fn walk(fixture: &Fixture, starts: &[&str], plies: usize) -> Vec<Vec<String>> {
    let lines: BTreeMap<String, String> = fixture
        .export("db")
        .into_iter()
        .map(|line| {
            (
                serde_json::from_str::<Value>(&line).unwrap()["fen"]
                    .as_str()
                    .unwrap()
                    .to_owned(),
                line,
            )
        })
        .collect();
    let (mut seen, mut met) = (BTreeSet::new(), Vec::new());
    let mut next: BTreeSet<String> = starts
        .iter()
        .map(|fen| fen.parse::<Position>().unwrap().to_string())
        .collect();
    for ply in 0..=plies {
        let mut children = BTreeSet::new();
        let mut here = Vec::new();
        for fen in next {
            let line = lines.get(&fen);
            if (line.is_none() && ply > 0) || !seen.insert(fen.clone()) {
                continue;
            }
            here.extend(line.cloned());
            let position: Position = fen.parse().unwrap();
            for m in position.chess().legal_moves() {
                children.insert(
                    Position::from_chess(&position.chess().clone().play(m).unwrap()).to_string(),
                );
            }
        }
        if here.is_empty() && children.is_empty() {
            break;
        }
        met.push(here);
        next = children;
    }
    met
}

fn all(met: Vec<Vec<String>>) -> Vec<String> {
    sorted(&met.concat().join("\n"))
}

#[test]
fn an_opening_contains_the_positions_of_a_walk_through_the_whole_database() {
    let fixture = fixture();
    for plies in [0, 1, 4, 60] {
        let expected = all(walk(&fixture, &[SICILIAN], plies));
        let report = extract(
            &fixture,
            text(&fixture.path("db")),
            &["--start", SICILIAN, "--max-plies", &plies.to_string()],
        );
        assert_eq!(fixture.export("part"), expected, "{plies} plies");
        assert_eq!(report["positions"], expected.len());
        fixture.verify("part").succeeds();
    }
    let whole = extract(&fixture, text(&fixture.path("db")), &["--start", SICILIAN]);
    assert_eq!(
        fixture.export("part"),
        all(walk(&fixture, &[SICILIAN], 600))
    );
    assert!(whole["positions"].as_u64().unwrap() > 100, "{whole}");
    let files = fixture.files("part");
    assert_eq!(
        whole["bytes"],
        files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
    );

    // A build of the same positions writes the same files.
    let dump = fixture.file("part.jsonl", fixture.export("part").join("\n"));
    fixture
        .build_to("built", &[&dump], &["--min-depth", "1"])
        .succeeds();
    assert_eq!(files, fixture.files("built"));
}

#[test]
fn games_are_extracted_with_neighbouring_positions_and_a_host_sends_only_the_necessary_blocks() {
    let fixture = fixture();
    let host = Host::new(&fixture);
    let pgn = fixture.file(
        "games.pgn",
        "[White \"A\"]\n\n1. e4 c5 2. Nf3 d6 *\n\n[White \"B\"]\n\n1. e4 Ke4 *\n",
    );
    let out = fixture.path("part");
    let run = shelfish([
        "extract",
        "-d",
        &host.url("db"),
        "--pgn",
        text(&pgn),
        "-o",
        text(&out),
        "--json",
    ]);
    assert_eq!(run.code, 1, "a game could not be read: {}", run.err);
    assert!(run.err.contains("Ke4 is not a legal move"), "{}", run.err);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    let game = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -",
        SICILIAN,
        "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq -",
        "rnbqkbnr/pp2pppp/3p4/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq -",
    ];
    assert_eq!(fixture.export("part"), all(walk(&fixture, &game, 0)));
    let bytes: usize = fixture
        .files("db")
        .iter()
        .map(|(_, bytes)| bytes.len())
        .sum();
    assert!(
        report["read_bytes"].as_u64().unwrap() < bytes as u64,
        "{report}"
    );
    let games = "1. e4 c5 2. Nf3 d6 *";
    let args = [
        "extract",
        "-d",
        &host.url("db"),
        "--pgn",
        "-",
        "--max-plies",
        "2",
        "-o",
        text(&out),
    ];
    shelfish_with(args, games.as_bytes()).succeeds();
    assert_eq!(fixture.export("part"), all(walk(&fixture, &game, 2)));
}

#[test]
fn the_size_limit_leaves_out_the_most_distant_positions() {
    let fixture = fixture();
    let db = fixture.path("db");
    for room in [6_000, 9_000] {
        let report = extract(
            &fixture,
            text(&db),
            &["--start", SICILIAN, "--max-size", &format!("{room}B")],
        );
        let bytes: usize = fixture
            .files("part")
            .iter()
            .map(|(_, bytes)| bytes.len())
            .sum();
        assert!(
            bytes <= room && report["left_out"].as_u64().unwrap() > 0,
            "{bytes} of {room}: {report}"
        );
        fixture.verify("part").succeeds();
        let (kept, met) = (fixture.export("part"), walk(&fixture, &[SICILIAN], 600));
        let plies = report["plies"].as_u64().unwrap() as usize;
        let nearer: Vec<Vec<String>> = met.iter().take(plies).cloned().collect();
        let upto: Vec<Vec<String>> = met.iter().take(plies + 1).cloned().collect();
        let (nearer, upto) = (all(nearer), all(upto));
        assert!(
            nearer.iter().all(|line| kept.contains(line))
                && kept.iter().all(|line| upto.contains(line))
        );
    }
    let out = fixture.path("none");
    shelfish([
        "extract",
        "-d",
        text(&db),
        "--start",
        SICILIAN,
        "-o",
        text(&out),
        "--max-size",
        "100B",
    ])
    .fails(&["no database fits into 100 B"]);
    assert!(!out.exists());
}

/// Builds the book `book` and returns its path.
fn book(fixture: &Fixture) -> String {
    let pgn = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static-shards/famous.pgn");
    let details = [
        "--buckets",
        "speeds,2000",
        "--average-ratings",
        "--game-ids",
        "2",
        "--max-plies",
        "40",
    ];
    fixture.book_build_to("db", &[&pgn], &details).succeeds();
    text(&fixture.path("db")).to_owned()
}

#[test]
fn a_part_of_a_book_contains_the_same_records_and_is_no_base() {
    let fixture = Fixture::new();
    let book = book(&fixture);
    let e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
    for plies in [0, 3, 60] {
        let expected = all(walk(&fixture, &[e4], plies));
        assert!(!expected.is_empty());
        let report = extract(
            &fixture,
            &book,
            &["--start", e4, "--max-plies", &plies.to_string()],
        );
        assert_eq!(
            (report["positions"].as_u64(), fixture.export("part")),
            (Some(expected.len() as u64), expected)
        );
        fixture.verify("part").succeeds();
    }
    let everything = extract(&fixture, &book, &["--start", START]);
    let count = |db: &str| fixture.export(db).len() as u64;
    assert_eq!(everything["positions"], count("db"));
    let part = fixture.path("part");
    let found = shelfish(["explore", "-d", text(&part), e4]).succeeds();
    assert_eq!(found, shelfish(["explore", "-d", &book, e4]).succeeds());
    let games = fixture.file("games.pgn", "1. e4 e5 1-0");
    let details = [
        "--buckets",
        "speeds,2000",
        "--average-ratings",
        "--game-ids",
        "2",
        "--max-plies",
        "40",
    ];
    let on_part = [&details[..], &["--base", text(&part)]].concat();
    fixture
        .book_build_to("next", &[&games], &on_part)
        .fails(&["part of a book", "whole book"]);
}
