//! Endgame tables: their index, probes, reports and the engine.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Outcome, Position};

use crate::common::*;

fn tables() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static-shards/endgames")
}

/// Copies the tables, because the directory of the repository has an index.
fn copied(fixture: &Fixture) -> PathBuf {
    let folder = fixture.path("tables");
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(tables()).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|ending| ending == "rtbw" || ending == "rtbz")
        {
            fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
        }
    }
    folder
}

fn probe(database: impl AsRef<std::ffi::OsStr>, fens: &[&str]) -> Run {
    let mut args = vec![
        "endgames".as_ref(),
        "probe".as_ref(),
        "--json".as_ref(),
        "-d".as_ref(),
        database.as_ref(),
    ];
    args.extend(fens.iter().map(std::ffi::OsStr::new));
    shelfish(args)
}

const LUCENA: &str = "1K6/1P1k4/8/8/8/8/r7/2R5 w - - 0 1";
const BISHOP_AND_KNIGHT: &str = "8/8/8/4k3/8/8/8/2B1KN2 w - - 60 80";
const KINGS_AND_PAWN: &str = "8/8/8/8/3k4/8/3P4/3K4 w - - 0 1";

#[test]
fn a_host_gives_the_same_results_as_a_directory() {
    let fixture = Fixture::new();
    let folder = copied(&fixture);
    let host = Host::new(&fixture);
    probe(host.url("tables"), &[KINGS_AND_PAWN]).fails(&[
        "endgames.index",
        "404",
        "shelfish endgames index",
    ]);
    let index = shelfish(["endgames".as_ref(), "index".as_ref(), folder.as_os_str()]).succeeds();
    assert!(
        index.contains("70 tables, 4.15 MiB; index 5.50 KiB"),
        "{index}"
    );
    let hosted = fixture.path("hosted");
    let args = [
        "endgames".as_ref(),
        "index".as_ref(),
        folder.as_os_str(),
        "-o".as_ref(),
        hosted.as_os_str(),
        "--copy-with".as_ref(),
        ".silo".as_ref(),
    ];
    shelfish(args).succeeds();
    assert!(hosted.join("KQvK.rtbw.silo").exists() && !hosted.join("KQvK.rtbw").exists());
    let fens = [
        KINGS_AND_PAWN,
        BISHOP_AND_KNIGHT,
        "8/8/1r6/8/3k4/8/3P4/3K4 b - - 3 1",
    ];
    let expected = probe(&folder, &fens).succeeds();
    assert_eq!(probe(host.url("tables/"), &fens).succeeds(), expected);
    assert_eq!(probe(host.url("hosted/"), &fens).succeeds(), expected);
    let answers: Vec<Value> = expected
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (answers[0]["outcome"].as_str(), answers[0]["dtz"].as_i64()),
        (Some("draw"), Some(0))
    );
    // 56 plies and a half-move clock of 60 exceed 100 plies.
    assert_eq!(
        (answers[1]["outcome"].as_str(), answers[1]["dtz"].as_i64()),
        (Some("cursed-win"), Some(56))
    );
    assert_eq!(answers[2]["outcome"], "win");
    // The distance is rounded, so that the line may have one ply more.
    assert!(matches!(
        answers[1]["line"].as_array().unwrap().len(),
        56 | 57
    ));
}

#[test]
fn positions_without_tables_are_errors_with_a_reason() {
    let run = probe(
        tables(),
        &[LUCENA, "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "not a fen"],
    );
    assert_eq!(run.code, 1);
    let errors: Vec<Value> = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let reasons = [
        "5 pieces, the tables have at most 4",
        "castling rights",
        "FEN has 3 fields",
    ];
    for (error, reason) in errors.iter().zip(reasons) {
        assert!(error["error"].as_str().unwrap().contains(reason), "{error}");
    }
    let fixture = Fixture::new();
    probe(fixture.dir.path(), &[LUCENA]).fails(&["found no Syzygy table", "KQvK.rtbw"]);
    probe(fixture.path("none"), &[LUCENA]).fails(&["none"]);
    let pinned = "https://127.0.0.1:1/tables#sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    probe(pinned, &[LUCENA]).fails(&["endgame tables have no manifest"]);
    shelfish([
        "endgames".as_ref(),
        "index".as_ref(),
        fixture.dir.path().as_os_str(),
    ])
    .fails(&["found no Syzygy table"]);
    fs::write(fixture.path("KQvK.rtbw"), b"short").unwrap();
    shelfish([
        "endgames".as_ref(),
        "index".as_ref(),
        fixture.dir.path().as_os_str(),
    ])
    .fails(&["KQvK.rtbw"]);
    assert!(!fixture.path("endgames.index").exists());
}

#[test]
fn a_damaged_table_of_a_host_is_an_error() {
    let fixture = Fixture::new();
    let folder = copied(&fixture);
    shelfish(["endgames".as_ref(), "index".as_ref(), folder.as_os_str()]).succeeds();
    let path = folder.join("KPvK.rtbw");
    let mut bytes = fs::read(&path).unwrap();
    for byte in &mut bytes[2000..] {
        *byte ^= 1;
    }
    fs::write(&path, bytes).unwrap();
    let host = Host::new(&fixture);
    let run = probe(host.url("tables"), &[KINGS_AND_PAWN]);
    assert_eq!(run.code, 1);
    assert!(
        run.out.contains("KPvK.rtbw") && run.out.contains("do not have their checksum"),
        "{}",
        run.out
    );
}

#[test]
fn a_move_that_spoils_a_won_ending_is_a_blunder_in_the_report() {
    let fixture = Fixture::new();
    // White gives the opposition away, and Black gives it back.
    let fen = "8/8/3k4/8/3K4/8/3P4/8 w - - 0 1";
    let pgn = format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n1. Kd3 Ke6 2. Ke4 Kd6 1/2-1/2\n");
    fs::write(fixture.path("game.pgn"), pgn).unwrap();
    let args = [
        "analyse".into(),
        fixture.path("game.pgn"),
        "--endgames".into(),
        tables(),
        "--json".into(),
    ];
    let report: Value = serde_json::from_str(&shelfish(args).succeeds()).unwrap();
    let outcomes = report["evaluations"].as_array().unwrap().iter();
    let values: Vec<Option<i64>> = outcomes
        .map(|evaluation| evaluation["cp"].as_i64())
        .collect();
    assert!(
        report["evaluations"]
            .as_array()
            .unwrap()
            .iter()
            .all(|evaluation| evaluation["source"] == "endgames")
    );
    assert_eq!(
        report["white"]["judged"].as_u64().unwrap() + report["black"]["judged"].as_u64().unwrap(),
        4
    );
    for (ply, pair) in values.windows(2).enumerate() {
        let found = &report["moves"][ply];
        let sign = if ply % 2 == 0 { 1 } else { -1 };
        let changes = sign * (pair[1].unwrap() - pair[0].unwrap()) < 0;
        assert_eq!(found["judgment"] == "blunder", changes, "{found}");
        if changes {
            let text = found["explanation"]["text"].as_str().unwrap();
            assert!(
                text.starts_with("gives away the ") && text.contains("(tables: "),
                "{text}"
            );
        }
    }
    assert_eq!(values[..3], [Some(20_000), Some(0), Some(20_000)]);
}

/// Returns `count` positions of an ending that White wins, with White to move.
fn won(material: [&str; 2], count: usize) -> Vec<String> {
    let tables = shelfish_endgames::Tables::open(tables()).unwrap();
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % 64
    };
    let mut found = Vec::new();
    while found.len() < count {
        let mut squares = [b'1'; 64];
        for piece in material.concat().bytes() {
            squares[next()] = piece;
        }
        let board: Vec<&str> = squares
            .chunks(8)
            .map(|rank| std::str::from_utf8(rank).unwrap())
            .collect();
        let fen = format!("{} w - - 0 1", board.join("/"));
        let Ok(fen) = fen.parse::<Fen>() else {
            continue;
        };
        let Ok(chess) = fen.clone().into_position::<Chess>(CastlingMode::Standard) else {
            continue;
        };
        let is_complete = chess.board().occupied().count() == material.concat().len();
        if is_complete
            && tables
                .verdict(&chess)
                .is_ok_and(|verdict| verdict.outcome == shelfish_endgames::Outcome::Win)
        {
            found.push(Fen::from_position(&chess, EnPassantMode::Legal).to_string());
        }
    }
    found
}

#[test]
fn the_engine_wins_every_won_ending_of_its_tables() {
    let count = 50;
    let mut engine = crate::engine::Gui::new();
    engine.say(&format!(
        "setoption name SyzygyPath value {}",
        tables().display()
    ));
    for material in [["KBN", "k"], ["KQ", "kr"], ["KP", "k"], ["KRP", "k"]] {
        for fen in won(material, count) {
            let mut chess: Chess = fen
                .parse::<Fen>()
                .unwrap()
                .into_position(CastlingMode::Standard)
                .unwrap();
            let mut moves = String::new();
            while !chess.is_game_over() && chess.halfmoves() < 100 {
                engine.say(&format!("position fen {fen} moves{moves}\ngo movetime 100"));
                let lines = engine.until("bestmove");
                let uci: UciMove = lines
                    .last()
                    .unwrap()
                    .split(' ')
                    .nth(1)
                    .unwrap()
                    .parse()
                    .unwrap();
                chess.play_unchecked(uci.to_move(&chess).unwrap());
                moves.push_str(&format!(" {uci}"));
            }
            assert_eq!(
                chess.outcome(),
                Outcome::Known(shakmaty::KnownOutcome::Decisive {
                    winner: Color::White
                }),
                "{fen}{moves}"
            );
        }
    }
    engine.quit();
}

/// Returns the score of the last line that begins with a move, in centipawns, and the hits of endgame tables.
fn line_of(lines: &[String], first: &str) -> (i32, u64) {
    let line = lines
        .iter()
        .rev()
        .find(|line| line.contains(&format!(" pv {first}")))
        .unwrap();
    let field = |name: &str| {
        line.split(' ')
            .skip_while(|word| *word != name)
            .nth(1)
            .map(str::to_string)
    };
    (
        field("cp").unwrap().parse().unwrap(),
        field("tbhits").map_or(0, |hits| hits.parse().unwrap()),
    )
}

#[test]
fn the_search_knows_the_endings_after_captures() {
    // The capture of the knight leaves a bishop that cannot drive the king from the corner: a draw by the tables.
    let fen = "7k/8/8/6KP/4B3/3n4/8/8 w - - 0 1";
    let mut engine = crate::engine::Gui::new();
    let mut search = |before: &str| {
        engine.say(&format!(
            "{before}setoption name MultiPV value 50\nposition fen {fen}\ngo depth 6"
        ));
        line_of(&engine.until("bestmove"), "e4d3")
    };
    let (without, hits) = search("");
    assert!(
        without > 100 && hits == 0,
        "{without} centipawns, {hits} hits"
    );
    let (with, hits) = search(&format!(
        "setoption name SyzygyPath value {}\nucinewgame\n",
        tables().display()
    ));
    assert!(with == 0 && hits > 0, "{with} centipawns, {hits} hits");
    engine.quit();

    // The exchange of the rooks leaves a pawn that promotes.
    let mut engine = crate::engine::Gui::new();
    engine.say(&format!(
        "setoption name SyzygyPath value {}\nsetoption name Threads value 2",
        tables().display()
    ));
    engine.say("position fen 3k4/7r/3K4/3P4/8/8/8/7R w - - 0 1\ngo depth 8");
    let (score, hits) = line_of(&engine.until("bestmove"), "h1h7");
    assert!(
        (19_900..20_000).contains(&score) && hits > 0,
        "{score} centipawns, {hits} hits"
    );
    engine.quit();
}
