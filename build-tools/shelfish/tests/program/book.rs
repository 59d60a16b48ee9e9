//! Polyglot books and learning books.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::common::*;
use serde_json::Value;

/// Sums of results by move, by position. Ignores games that end at the position.
type Moves = BTreeMap<String, BTreeMap<String, Vec<u64>>>;

fn moves(fixture: &Fixture, db: &str) -> Moves {
    let position = |line: &String| {
        let record: Value = serde_json::from_str(line).unwrap();
        let moves: BTreeMap<String, Vec<u64>> =
            serde_json::from_value(record["moves"].clone()).unwrap();
        (record["fen"].as_str().unwrap().to_owned(), moves)
    };
    fixture
        .export(db)
        .iter()
        .map(position)
        .filter(|(_, moves)| !moves.is_empty())
        .collect()
}

fn polyglot(fixture: &Fixture, db: &str, options: &[&str]) -> Vec<u8> {
    let (db, out) = (fixture.path(db), fixture.path("out.bin"));
    let mut args = vec![
        "export",
        "-d",
        db.to_str().unwrap(),
        "--format",
        "polyglot",
        "-o",
        out.to_str().unwrap(),
    ];
    args.extend(options);
    shelfish(args).succeeds();
    fs::read(out).unwrap()
}

fn learn(book: &Path, games: &Path, options: &[&str]) -> Run {
    let args = [
        "book",
        "learn",
        "--json",
        "--into",
        book.to_str().unwrap(),
        games.to_str().unwrap(),
    ];
    shelfish(args.iter().chain(options))
}

fn summary(run: Run) -> Value {
    serde_json::from_str(&run.succeeds()).unwrap()
}

fn pick(book: &Path, fen: &str, options: &[&str]) -> Value {
    let args = [
        "book",
        "pick",
        "--json",
        "--book",
        book.to_str().unwrap(),
        fen,
    ];
    serde_json::from_str(&shelfish(args.iter().chain(options)).succeeds()).unwrap()
}

#[test]
fn weights_are_frequencies() {
    let fixture = Fixture::new();
    let pgn = "1. e4 e5 1-0\n\n1. e4 e5 1-0\n\n1. e4 c5 0-1\n\n1. d4 d5 1/2-1/2\n";
    let pgn = fixture.file("games.pgn", pgn);
    fixture.book_build_to("book", &[&pgn], &[]).succeeds();
    let file = |options: &[&str]| fixture.file("w.bin", polyglot(&fixture, "book", options));
    let of = |book: &Path, fen: &str| -> Vec<(String, u64)> {
        let picked = pick(book, fen, &["--greedy"]);
        let moves = picked["moves"].as_array().unwrap().iter();
        moves
            .map(|m| {
                (
                    m["uci"].as_str().unwrap().to_owned(),
                    m["frequency"].as_u64().unwrap(),
                )
            })
            .collect()
    };
    let named = |moves: &[(&str, u64)]| {
        moves
            .iter()
            .map(|(m, n)| ((*m).to_owned(), *n))
            .collect::<Vec<_>>()
    };
    let after = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
    let book = file(&[]);
    assert_eq!(of(&book, START), named(&[("e2e4", 3), ("d2d4", 1)]));
    assert_eq!(of(&book, after), named(&[("e7e5", 2), ("c7c5", 1)]));
    let book = file(&["--min-games", "2"]);
    assert_eq!(of(&book, START), named(&[("e2e4", 3)]));
    let db = fixture.path("book");
    let base = ["export", "-d", db.to_str().unwrap(), "--format"];
    shelfish(base.iter().chain(&["polyglot", "--min-games", "9"]))
        .fails(&["nothing to write", "9 games"]);
    assert_eq!(
        shelfish(base.iter().chain(&["jsonl", "--min-games", "2"])).code,
        2
    );
}

/// Game with all special moves of both sides, also in Chess960.
const SPECIAL: &str = "[White \"Me\"]\n[Black \"You\"]\n[FEN \"r3k2r/8/8/8/8/8/6p1/R3K2R w KQkq - 0 1\"]\n\n\
    1. O-O-O gxh1=N 2. Rxh1 O-O 1-0\n\n\
    [White \"you\"]\n[Black \"ME\"]\n[Variant \"Chess960\"]\n[FEN \"1k6/8/8/8/8/8/8/RK4R1 w GA - 0 1\"]\n\n1. O-O-O Kc7 0-1\n";

#[test]
fn only_moves_of_the_player_are_learned_with_castling_and_promotion() {
    let fixture = Fixture::new();
    let (book, pgn) = (
        fixture.path("me.sqlite"),
        fixture.file("special.pgn", SPECIAL),
    );
    let report = summary(learn(&book, &pgn, &["--player", "me"]));
    assert_eq!(
        (&report["learned"], &report["moves"]),
        (&2.into(), &3.into())
    );
    let start = "r3k2r/8/8/8/8/8/6p1/R3K2R w KQkq -";
    let picked = pick(&book, start, &[]);
    assert_eq!(
        (&picked["uci"], &picked["san"]),
        (&"e1c1".into(), &"O-O-O".into())
    );
    assert_eq!(
        (&picked["moves"][0]["wins"], &picked["moves"][0]["losses"]),
        (&1.into(), &0.into())
    );
    let promotion = "r3k2r/8/8/8/8/8/6p1/2KR3R b kq -";
    assert_eq!(
        pick(&book, promotion, &[])["uci"],
        Value::Null,
        "that is the other's move"
    );
    let chess960 = "1k6/8/8/8/8/8/8/RK4R1 w GA -";
    assert_eq!(pick(&book, chess960, &[])["uci"], Value::Null);

    // The moves of the opponent are learned later, and known moves are unchanged.
    let report = summary(learn(&book, &pgn, &["--player", "You"]));
    assert_eq!(
        (&report["learned"], &report["moves"]),
        (&2.into(), &3.into())
    );
    assert_eq!(pick(&book, promotion, &[])["uci"], "g2h1n");
    assert_eq!(pick(&book, chess960, &[])["uci"], "b1a1");
    let report = summary(learn(&book, &pgn, &[]));
    assert_eq!(
        (&report["learned"], &report["known"]),
        (&0.into(), &2.into())
    );
    assert_eq!(pick(&book, start, &[])["moves"][0]["frequency"], 1);
    assert_eq!(
        summary(learn(&book, &pgn, &["--player", "Nobody"]))["others"],
        2
    );
}

#[test]
fn games_without_a_result_or_with_an_error_are_learned_up_to_that_point() {
    let fixture = Fixture::new();
    let pgn = "1. e4 e5 *\n\n1. e4 c5 good 1-0\n\n[Result \"0-1\"]\n\n1. e4 Ke4 0-1\n\n[Variant \"Atomic\"]\n\n1. e4 e5 1-0\n\n[Event \"empty\"]\n\n1-0\n";
    let (book, pgn) = (fixture.path("b.sqlite"), fixture.file("odd.pgn", pgn));
    let run = learn(&book, &pgn, &[]);
    assert!(run.err.contains("line 7"), "{}", run.err);
    let report = summary(run);
    let expected = [
        ("read", 5),
        ("learned", 3),
        ("without_result", 1),
        ("errors", 1),
        ("unusable", 2),
        ("skipped", 1),
    ];
    assert!(
        expected.iter().all(|(name, n)| report[*name] == *n),
        "{report}"
    );
    let picked = pick(&book, START, &[]);
    let m = &picked["moves"][0];
    assert_eq!(
        [&m["frequency"], &m["wins"], &m["draws"], &m["losses"]],
        [3, 1, 0, 1]
    );
}

#[test]
fn moves_are_picked_by_weight() {
    let fixture = Fixture::new();
    let book = fixture.path("b.sqlite");
    let game =
        |n: usize, m: &str, result: &str| format!("[Round \"{n}\"]\n\n1. {m} e5 {result}\n\n");
    let games: String = (0..8)
        .map(|n| game(n, "e4", "1-0"))
        .chain((8..12).map(|n| game(n, "d4", "1/2-1/2")))
        .collect();
    learn(&book, &fixture.file("g.pgn", games), &[]).succeeds();
    let picked = pick(&book, START, &["--greedy"]);
    assert_eq!(
        (&picked["uci"], &picked["san"]),
        (&"e2e4".into(), &"e4".into())
    );
    // 8 * 9/10 compared with 4 * 3/6.
    assert!(
        (picked["moves"][0]["chance"].as_f64().unwrap() - 7.2 / 9.2).abs() < 1e-9,
        "{picked}"
    );
    let random = |_| pick(&book, START, &[])["uci"].clone();
    let chosen: Vec<Value> = (0..40).map(random).collect();
    // 40 random moves miss these bounds once in ten thousand runs.
    assert!(
        chosen.contains(&"d2d4".into()) && chosen.iter().filter(|m| **m == "e2e4").count() > 20,
        "{chosen:?}"
    );
    let text = shelfish([
        "book",
        "pick",
        "--greedy",
        "--book",
        book.to_str().unwrap(),
        START,
        "8/8/8/8/8/8/8/8 w - -",
    ]);
    assert!(
        text.code == 1 && text.out.contains("e4 (e2e4) of:") && text.err.contains("8/8/8/8"),
        "{}{}",
        text.out,
        text.err
    );
    let nothing = shelfish([
        "book",
        "pick",
        "--book",
        book.to_str().unwrap(),
        "4k3/8/8/8/8/8/8/4K3 w - -",
    ])
    .succeeds();
    assert!(nothing.contains("no move of the book"), "{nothing}");
}

#[test]
fn several_processes_write_to_one_book_and_each_game_is_counted_once() {
    let fixture = Fixture::new();
    let book = fixture.path("shared.sqlite");
    let file = |k: usize| {
        let game = |n: usize| format!("[Round \"{n}\"]\n\n1. e4 e5 2. Nf3 1-0\n\n");
        fixture.file(
            &format!("{k}.pgn"),
            (k * 600..k * 600 + 1_200).map(game).collect::<String>(),
        )
    };
    let children: Vec<_> = (0..4)
        .map(file)
        .map(|pgn| {
            let mut learn = command();
            learn
                .args(["book", "learn", "--into"])
                .args([&book, &pgn])
                .stdout(Stdio::null());
            learn.stderr(Stdio::inherit()).spawn().unwrap()
        })
        .collect();
    assert!(
        children
            .into_iter()
            .all(|mut child| child.wait().unwrap().success())
    );
    let picked = pick(&book, START, &[]);
    assert_eq!(
        (
            &picked["moves"][0]["frequency"],
            &picked["moves"][0]["wins"]
        ),
        (&3_000.into(), &3_000.into())
    );
}

/// Creates a folder of dumps in the layout of Lichess.
fn dumps(fixture: &Fixture, host: &Host) -> String {
    use sha2::Digest as _;
    fs::create_dir(fixture.path("standard")).unwrap();
    let mut lists = [String::new(), String::new(), String::new()];
    for (month, pgn) in [
        ("2013-02", "1. d4 d5 1-0\n"),
        ("2013-01", "1. e4 e5 1-0\n\n1. e4 c5 0-1\n"),
    ] {
        let name = format!("lichess_db_standard_rated_{month}.pgn.zst");
        let bytes = zstd(pgn);
        let sum: String = sha2::Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        fixture.file(&format!("standard/{name}"), bytes);
        lists[0] += &format!("{}\n", host.url(&format!("standard/{name}")));
        lists[1] += &format!("{sum}  {name}\n");
        lists[2] += &format!(
            "{name} {}\n",
            pgn.lines().filter(|line| !line.is_empty()).count()
        );
    }
    for (name, list) in ["list.txt", "sha256sums.txt", "counts.txt"]
        .iter()
        .zip(&lists)
    {
        fixture.file(&format!("standard/{name}"), list);
    }
    host.url("standard/list.txt")
}

#[test]
fn months_are_listed_and_built_with_their_checksums() {
    let fixture = Fixture::new();
    let host = Host::new(&fixture);
    let list = dumps(&fixture, &host);
    let report = shelfish(["book", "dumps", "--json", "--list", &list]).succeeds();
    let months: Vec<Value> = report
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let expected = [("2013-01", 2), ("2013-02", 1)];
    for (month, (name, games)) in months.iter().zip(expected) {
        assert_eq!(
            (&month["name"], &month["games"]),
            (&name.into(), &games.into())
        );
        assert_eq!(month["sha256"].as_str().unwrap().len(), 64);
    }
    let text = shelfish(["book", "dumps", "--list", &list]).succeeds();
    assert!(
        text.contains("2013-01             2 games") && text.contains("2 dumps, 3 games"),
        "{text}"
    );

    let urls: Vec<&Path> = months
        .iter()
        .map(|month| Path::new(month["url"].as_str().unwrap()))
        .collect();
    let text = fixture.book_build(&urls, &[]).succeeds();
    assert!(text.matches("(as published)").count() == 2, "{text}");
    assert_eq!(
        moves(&fixture, "db")[START],
        BTreeMap::from([
            ("e2e4".into(), vec![1, 0, 1]),
            ("d2d4".into(), vec![1, 0, 0])
        ])
    );
    fixture.file("standard/list.txt", "hello\n");
    shelfish(["book", "dumps", "--list", &list]).fails(&["list.txt", "none of 1"]);
    shelfish(["book", "dumps", "--list", "file:///etc/passwd"]).fails(&["expected the http"]);
    shelfish(["book", "dumps", "--list", &host.url("none/list.txt")]).fails(&["404"]);
}
