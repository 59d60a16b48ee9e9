//! `shelfish analyse`: reports for people and programs, annotated PGN, missing evaluations, and invalid games.

use crate::common::*;
use serde_json::Value;

/// Game, with evaluations of all positions except the position after 1... e5.
const GAME: &str = "[White \"A\"]\n[Black \"B\"]\n\n1. f3 {Hm.} e5 {[%eval -0.80,18]} 2. g4 ( 2. e4 $1 ) Qh4# 0-1\n";
const DUMP: &str = r#"{"fen":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -","evals":[{"pvs":[{"cp":20,"line":"e2e4 e7e5"}],"knodes":100,"depth":30}]}
{"fen":"rnbqkbnr/pppppppp/8/8/8/5P2/PPPPP1PP/RNBQKBNR b KQkq -","evals":[{"pvs":[{"cp":-90,"line":"e7e5"}],"knodes":100,"depth":28}]}
{"fen":"rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq -","evals":[{"pvs":[{"mate":-1,"line":"d8h4"}],"knodes":1,"depth":99}]}
"#;

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let dump = fixture.file("dump", DUMP);
    fixture.build(&[&dump], &[]).succeeds();
    fixture
}

fn analyse(fixture: &Fixture, games: &str, args: &[&str]) -> Run {
    let db = fixture.path("db");
    let args = [&["analyse", "-", "-d", db.to_str().unwrap()], args].concat();
    shelfish_with(args, games.as_bytes())
}

#[test]
fn a_report_for_people_counts_the_moves_that_it_judges() {
    let run = analyse(&fixture(), GAME, &[]);
    assert!(
        run.err
            .contains("1 game, 5 positions, 4 of them known (80.0 %)"),
        "{}",
        run.err
    );
    let report = run.succeeds();
    for line in [
        "1. A - B 0-1",
        "   2 moves, 4 of 5 positions known",
        "   White          -                -    0    1    0  1 of 2",
        "   Black          -                -    0    0    0  1 of 2",
        "   1. f3?         +0.20 to -0.90; better 1. e4 e5",
    ] {
        assert!(
            report.lines().any(|found| found == line),
            "{line}\n{report}"
        );
    }
}

#[test]
fn evaluations_of_the_game_are_used_on_request() {
    let fixture = fixture();
    let report = |args: &[&str]| -> Value {
        serde_json::from_str(&analyse(&fixture, GAME, args).succeeds()).unwrap()
    };
    let without = report(&["--json"]);
    assert_eq!(
        (&without["known"], &without["evaluations"][2]),
        (&4.into(), &Value::Null)
    );
    assert_eq!(without["moves"][2]["judgment"], Value::Null);
    let with = report(&["--json", "--use-pgn-evals"]);
    assert_eq!(with["known"], 5);
    assert_eq!(
        with["evaluations"][2],
        serde_json::json!({ "cp": -80, "depth": 18, "line": "", "source": "pgn" })
    );
    let first = serde_json::json!({ "cp": 20, "depth": 30, "knodes": 100, "line": "e2e4 e7e5", "source": "database" });
    assert_eq!(with["evaluations"][0], first);
    assert_eq!(with["moves"][2]["judgment"], "blunder");
    assert_eq!(
        (
            &with["moves"][0]["best"],
            &with["moves"][0]["uci"],
            &with["moves"][0]["ply"]
        ),
        (&"e2e4".into(), &"f2f3".into(), &1.into())
    );
    let explanation = serde_json::json!({ "kind": "allowsMate", "text": "allows mate in 1", "mate": 1, "role": null, "square": null,
        "begins": "after", "line": ["d8h4"], "san": ["Qh4#"] });
    assert_eq!(with["moves"][2]["explanation"], explanation);
    assert_eq!(with["moves"][0]["explanation"], Value::Null);
    let report = analyse(&fixture, GAME, &["--use-pgn-evals"]).succeeds();
    assert!(
        report.contains("\n                  allows mate in 1: 2... Qh4#\n"),
        "{report}"
    );
    let annotated = analyse(&fixture, GAME, &["--use-pgn-evals", "--pgn"]).succeeds();
    assert!(
        annotated.contains("2. g4 $4 { [%eval #-1,99] } { Allows mate in 1: 2... Qh4#. } ( 2. e4"),
        "{annotated}"
    );
    // 1... e5 is a move from an evaluation of the database to an evaluation of the PGN, and not settled.
    assert_eq!(
        (
            &with["white"]["mistakes"],
            &with["white"]["blunders"],
            &with["black"]["judged"]
        ),
        (&1.into(), &1.into(), &1.into())
    );
    assert_eq!(
        (&with["game"], &with["line"], &with["tags"]["White"]),
        (&1.into(), &1.into(), &"A".into())
    );
}

#[test]
fn annotated_pgn_keeps_its_comments_and_variations() {
    let fixture = fixture();
    let expected = "[White \"A\"]\n[Black \"B\"]\n\n{ [%eval 0.20,30] } 1. f3 $2 { [%eval -0.90,28] Hm.} ( 1. e4 e5 ) \
        1... e5 {[%eval -0.80,18]} 2. g4 { [%eval #-1,99] } ( 2. e4 $1 ) 2... Qh4# 0-1\n\n";
    assert_eq!(analyse(&fixture, GAME, &["--pgn"]).succeeds(), expected);
    // Writing to a file, and analysing the annotated PGN again, gives the same PGN.
    let (games, out) = (fixture.file("games.pgn", expected), fixture.path("out.pgn"));
    let db = fixture.path("db");
    let args = [
        "analyse",
        games.to_str().unwrap(),
        "-d",
        db.to_str().unwrap(),
        "--pgn",
        "-o",
        out.to_str().unwrap(),
    ];
    shelfish(args).succeeds();
    assert_eq!(std::fs::read_to_string(&out).unwrap(), expected);
    let onto = [
        "analyse",
        games.to_str().unwrap(),
        "-d",
        db.to_str().unwrap(),
        "--pgn",
        "-o",
        games.to_str().unwrap(),
    ];
    shelfish(onto).fails(&["is read"]);
}

#[test]
fn invalid_games_are_reported_and_other_games_are_analysed() {
    let fixture = fixture();
    let games = format!(
        "{GAME}\n[White \"C\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n\n[White \"D\"]\n\n1. e4 e5\n2. Ke3 *\n\n{GAME}"
    );
    let run = analyse(&fixture, &games, &["--json"]);
    assert_eq!(run.code, 1);
    for words in [
        "standard input, game 2, line 7, column 1: the variant is Atomic",
        "standard input, game 3, line 14, column 4: 2. Ke3 is not a legal move",
        "not read to the end: 2 games",
    ] {
        assert!(run.err.contains(words), "{words}\n{}", run.err);
    }
    let lines: Vec<Value> = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        lines
            .iter()
            .map(|line| line["game"].as_u64().unwrap())
            .collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    assert!(
        lines[1]["error"]
            .as_str()
            .unwrap()
            .starts_with("the variant is Atomic")
    );
    assert_eq!(
        (&lines[3]["known"], &lines[3]["line"]),
        (&4.into(), &16.into())
    );
}

#[test]
fn compressed_games_are_read_and_missing_files_are_reported() {
    let fixture = fixture();
    let db = fixture.path("db");
    let games = fixture.path("games.pgn.zst");
    std::fs::write(&games, zstd::encode_all(GAME.as_bytes(), 1).unwrap()).unwrap();
    let args = [
        "analyse",
        games.to_str().unwrap(),
        "-d",
        db.to_str().unwrap(),
        "--quiet",
    ];
    let run = shelfish(args);
    assert_eq!(run.err, "");
    assert!(run.succeeds().starts_with("1. A - B 0-1"));
    let missing = fixture.path("missing.pgn");
    shelfish([
        "analyse",
        missing.to_str().unwrap(),
        "-d",
        db.to_str().unwrap(),
    ])
    .fails(&["missing.pgn"]);
    assert_eq!(
        shelfish(["analyse", "x", "-d", "db", "--json", "--pgn"]).code,
        2
    );
}

/// Lines in which a piece is left hanging at the end of an opening. The move has the glyph `$4`, which is also the judgment of
/// Stockfish. The openings are those of lichess-org/chess-openings.
const HANGING: &str = include_str!("../../../../tests/data/hanging.pgn");

#[test]
fn every_piece_that_is_left_hanging_at_the_end_of_an_opening_is_a_blunder() {
    let run = shelfish_with(
        ["analyse", "-", "--engine", "--nodes", "50000", "--json"],
        HANGING.as_bytes(),
    );
    let reports = run.succeeds();
    let (mut count, mut explained) = (0, 0);
    for (report, game) in reports.lines().zip(HANGING.split("[Event ").skip(1)) {
        let report: Value = serde_json::from_str(report).unwrap();
        let words: Vec<&str> = game.split_whitespace().collect();
        let blunder = words
            .iter()
            .position(|word| *word == "$4")
            .map(|n| words[n - 1])
            .unwrap();
        let moves = report["moves"].as_array().unwrap();
        let hanging = &moves[moves.len() - 5];
        assert_eq!(hanging["san"], blunder, "{game}");
        assert_eq!(
            (&hanging["judgment"], &hanging["settled"]),
            (&"blunder".into(), &true.into()),
            "{game}{hanging}"
        );
        explained += usize::from(hanging["explanation"]["kind"] == "loses");
        assert_eq!(report["settled"], true, "{game}");
        count += 1;
    }
    assert_eq!(count, 21);
    assert!(
        explained >= 15,
        "{explained} of {count} blunders are explained by the piece that hangs"
    );
}

#[test]
fn the_report_of_an_engine_is_the_same_with_any_number_of_threads() {
    let fixture = fixture();
    let db = fixture.path("db");
    let args = [
        "analyse",
        "-",
        "-d",
        db.to_str().unwrap(),
        "--nodes",
        "3000",
        "--json",
        "--engine",
        "--threads",
    ];
    let reports = ["1", "2", "5"].map(|threads| {
        let games = format!("{GAME}\n{}", HANGING.split("\n\n[Event").next().unwrap());
        shelfish_with([&args[..], &[threads]].concat(), games.as_bytes()).succeeds()
    });
    assert_eq!(reports[0], reports[1]);
    assert_eq!(reports[0], reports[2]);
    let report: Value = serde_json::from_str(reports[0].lines().next().unwrap()).unwrap();
    assert_eq!(
        (&report["known"], &report["settled"]),
        (&5.into(), &true.into())
    );
    assert_eq!(report["evaluations"][2]["source"], "engine");
}

#[test]
fn a_uci_engine_can_analyse_games_and_a_missing_program_is_an_error() {
    let program = format!("{} engine", env!("CARGO_BIN_EXE_shelfish"));
    let args = [
        "analyse",
        "-",
        "--json",
        "--threads",
        "2",
        "--nodes",
        "2000",
        "--uci",
    ];
    let report = shelfish_with([&args[..], &[&program]].concat(), GAME.as_bytes()).succeeds();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(
        (&report["settled"], &report["evaluations"][1]["source"]),
        (&true.into(), &"uci".into())
    );
    assert_eq!(report["moves"][2]["judgment"], "blunder");
    shelfish_with([&args[..], &["./no-such-engine"]].concat(), GAME.as_bytes())
        .fails(&["--uci", "no-such-engine"]);
    // Without an engine or a database, the program has nothing to report.
    assert_eq!(shelfish_with(["analyse", "-"], GAME.as_bytes()).code, 2);
    assert_eq!(
        shelfish_with(
            ["analyse", "-", "--use-pgn-evals", "--nodes", "5"],
            GAME.as_bytes()
        )
        .code,
        2
    );
}

#[test]
fn castling_is_e1g1_in_chess_and_e1h1_in_chess960() {
    let castling = "1. e4 {[%eval 0.2]} e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O *";
    let chess960 = "[Variant \"Chess960\"]\n[FEN \"4k3/8/8/8/8/8/8/1K5R w H - 0 1\"]\n\n1. O-O *";
    let one_corner = chess960.replace("1K5R w H", "1R2K2R w HB");
    for (game, ply, uci) in [
        (castling, 6, "e1g1"),
        (chess960, 0, "b1h1"),
        (&one_corner, 0, "e1g1"),
    ] {
        let args = ["analyse", "-", "--json", "--use-pgn-evals"];
        let report = shelfish_with(args, game.as_bytes()).succeeds();
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["moves"][ply]["uci"], uci, "{report}");
    }
}

#[test]
fn a_file_without_games_is_an_error_that_names_the_file() {
    let fixture = Fixture::new();
    let empty = fixture.file("empty.pgn", "\n");
    let run = shelfish(["analyse", empty.to_str().unwrap(), "--use-pgn-evals"]);
    run.fails(&["empty.pgn", "no game was found", "expected a PGN"]);
}
