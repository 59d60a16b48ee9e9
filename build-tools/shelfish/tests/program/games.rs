//! `shelfish book build`, and reports on the book.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use crate::common::*;
use pgn_reader::{Outcome, Reader as PgnReader, SanPlus, Skip, Visitor};
use serde_json::{Value, json};
use shakmaty::{CastlingMode, Chess, KnownOutcome, Move, Position as _};
use shelfish::position::Position;

type Counts = [u64; 3];

/// Played moves by FEN and move, counted with a hash map and another PGN parser.
#[derive(Default)]
struct Plain {
    max_plies: usize,
    positions: HashMap<String, BTreeMap<String, Counts>>,
}

struct Game {
    chess: Chess,
    moves: Vec<Move>,
    result: Option<usize>,
}

impl Visitor for Plain {
    type Tags = ();
    type Movetext = Game;
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<(), ()> {
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<(), Game> {
        ControlFlow::Continue(Game {
            chess: Chess::default(),
            moves: Vec::new(),
            result: None,
        })
    }

    fn begin_variation(&mut self, _: &mut Game) -> ControlFlow<(), Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn san(&mut self, game: &mut Game, san: SanPlus) -> ControlFlow<()> {
        let m = san.san.to_move(&game.chess).unwrap();
        game.chess.play_unchecked(m);
        game.moves.push(m);
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, game: &mut Game, outcome: Outcome) -> ControlFlow<()> {
        game.result = match outcome {
            Outcome::Known(KnownOutcome::Decisive { winner }) => Some(winner.fold_wb(0, 2)),
            Outcome::Known(KnownOutcome::Draw) => Some(1),
            Outcome::Unknown => None,
        };
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, game: Game) {
        let Some(result) = game.result else { return };
        let mut chess = Chess::default();
        let mut last: HashMap<String, String> = HashMap::new();
        let fen = |chess: &Chess| Position::from_chess(chess).to_string();
        for m in game.moves.iter().take(self.max_plies) {
            last.insert(fen(&chess), m.to_uci(CastlingMode::Chess960).to_string());
            chess.play_unchecked(*m);
        }
        last.insert(fen(&chess), "ended".to_owned());
        for (fen, m) in last {
            self.positions.entry(fen).or_default().entry(m).or_default()[result] += 1;
        }
    }
}

fn counted(pgn: &str, max_plies: usize) -> HashMap<String, BTreeMap<String, Counts>> {
    let mut plain = Plain {
        max_plies,
        ..Plain::default()
    };
    let mut reader = PgnReader::new(pgn.as_bytes());
    while reader.read_game(&mut plain).unwrap().is_some() {}
    plain.positions
}

/// Reads the contents of a book in the format of [`counted`].
fn contents(lines: &[String]) -> HashMap<String, BTreeMap<String, Counts>> {
    let counts = |value: &Value| -> Counts { serde_json::from_value(value.clone()).unwrap() };
    let position = |line: &String| {
        let record: Value = serde_json::from_str(line).unwrap();
        let mut moves: BTreeMap<String, Counts> = record["moves"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(m, value)| (m.clone(), counts(value)))
            .collect();
        let ended = counts(&record["ended"]);
        if ended != [0; 3] {
            moves.insert("ended".to_owned(), ended);
        }
        (record["fen"].as_str().unwrap().to_owned(), moves)
    };
    lines.iter().map(position).collect()
}

/// Creates games of random moves with shared openings, repetitions and castling.
fn random_games(seed: u64, count: usize) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut pgn = String::new();
    for n in 0..count {
        let mut chess = Chess::default();
        let mut text = String::new();
        for ply in 0..random.usize(0..90) {
            let legal = chess.legal_moves();
            if legal.is_empty() {
                break;
            }
            let choices = if ply < 14 {
                legal.len().min(2)
            } else {
                legal.len()
            };
            let quiet = legal.iter().rev().find(|m| m.is_castle());
            let m = *quiet.unwrap_or(&legal[random.usize(..choices)]);
            if ply % 2 == 0 {
                write!(text, "{}. ", ply / 2 + 1).unwrap();
            }
            write!(
                text,
                "{} ",
                SanPlus::from_move_and_play_unchecked(&mut chess, m)
            )
            .unwrap();
        }
        let result = ["1-0", "1/2-1/2", "0-1", "*"][random.usize(..if n % 9 == 0 { 4 } else { 3 })];
        write!(
            pgn,
            "[Event \"{n}\"]\n[Result \"{result}\"]\n\n{text}{result}\n\n"
        )
        .unwrap();
    }
    pgn
}

#[track_caller]
fn book_of(fixture: &Fixture, pgn: &Path, options: &[&str]) -> Vec<String> {
    fixture.book_build(&[pgn], options).succeeds();
    fixture.verify("db").succeeds();
    fixture.export("db")
}

#[test]
fn counts_agree_with_a_hash_map() {
    let fixture = Fixture::new();
    let games = random_games(1, 300);
    let pgn = fixture.file("games.pgn", &games);
    let expected = counted(&games, 50);
    assert!(contents(&book_of(&fixture, &pgn, &[])) == expected);
    assert!(contents(&book_of(&fixture, &pgn, &["--max-plies", "1000"])) == counted(&games, 1000));
    for (threads, memory) in [("1", "64MiB"), ("3", "100MiB")] {
        assert!(
            contents(&book_of(
                &fixture,
                &pgn,
                &["--threads", threads, "--max-memory", memory]
            )) == expected
        );
    }
    let is_frequent = |moves: &BTreeMap<String, Counts>| moves.values().flatten().sum::<u64>() >= 5;
    let frequent: HashMap<_, _> = expected
        .clone()
        .into_iter()
        .filter(|(_, moves)| is_frequent(moves))
        .collect();
    let out = fixture
        .book_build(&[&pgn], &["--min-games", "5", "--json"])
        .succeeds();
    let out: Value = serde_json::from_str(&out).unwrap();
    let left_out = expected.len() - frequent.len();
    assert_eq!(out["positions_left_out"], left_out);
    assert!(contents(&fixture.export("db")) == frequent);
}

#[test]
fn months_on_a_base_give_the_bytes_of_a_single_build() {
    let fixture = Fixture::new();
    let [january, february] =
        [3, 4].map(|seed| fixture.file(&format!("{seed}.pgn"), random_games(seed, 250)));
    fixture
        .book_build_to("both", &[&january, &february], &[])
        .succeeds();
    let expected = fixture.files("both");
    fixture.book_build_to("one", &[&january], &[]).succeeds();
    fixture.book_build_to("two", &[&february], &[]).succeeds();
    let [one, two] = ["one", "two"].map(|name| fixture.path(name).to_str().unwrap().to_owned());
    fixture
        .book_build(&[&february], &["--base", &one])
        .succeeds();
    assert!(fixture.files("db") == expected, "February on January");
    fixture
        .book_build(&[], &["--base", &two, "--base", &one])
        .succeeds();
    assert!(fixture.files("db") == expected, "both, built already");
    fixture
        .book_build_to("one", &[&february], &["--base", &one])
        .succeeds();
    assert!(fixture.files("one") == expected, "in place");

    let words = ["4.pgn", "same games"];
    fixture
        .book_build_to("one", &[&february], &["--base", &one])
        .fails(&words);
    fixture
        .book_build(&[&january, &january], &[])
        .fails(&["3.pgn", "same games"]);
    assert!(
        fixture.files("one") == expected,
        "a rejected build changes nothing"
    );
    fixture
        .book_build(&[&january], &["--base", &two, "--max-plies", "30"])
        .fails(&["max_plies", "50"]);
    fixture
        .book_build_to("few", &[&january], &["--min-games", "3"])
        .succeeds();
    let few = fixture.path("few").to_str().unwrap().to_owned();
    fixture
        .book_build(&[&february], &["--base", &few])
        .fails(&["--min-games 1"]);
}

#[test]
fn rare_positions_are_excluded_from_the_base_and_from_the_sources() {
    let fixture = Fixture::new();
    let [january, february, whole] =
        [3, 4, 5].map(|seed| fixture.file(&format!("{seed}.pgn"), random_games(seed, 250)));
    fixture.book_build_to("one", &[&january], &[]).succeeds();
    fixture.book_build_to("two", &[&february], &[]).succeeds();
    let [one, two] = ["one", "two"].map(|name| fixture.path(name).to_str().unwrap().to_owned());
    fixture
        .book_build_to("both", &[&january, &february], &["--min-games", "5"])
        .succeeds();
    fixture
        .book_build(&[&february], &["--base", &one, "--min-games", "5"])
        .succeeds();
    assert!(fixture.files("db") == fixture.files("both"));
    fixture
        .book_build(&[], &["--base", &one, "--base", &two, "--min-games", "5"])
        .succeeds();
    assert!(
        fixture.files("db") == fixture.files("both"),
        "both, built already"
    );

    // A book does not record which of its positions come from games with all positions.
    fixture
        .book_build_to("one", &[&january], &["--whole", whole.to_str().unwrap()])
        .succeeds();
    fixture
        .book_build(&[&february], &["--base", &one, "--min-games", "5"])
        .fails(&["used whole", "--min-games"]);
    assert!(
        fixture.files("db") == fixture.files("both"),
        "a rejected build changes nothing"
    );
}

#[test]
fn selected_games_keep_all_their_positions_and_the_counts_of_other_games() {
    let fixture = Fixture::new();
    let (others, few) = (random_games(5, 200), random_games(6, 4));
    let [games, whole] =
        [("games.pgn", &others), ("few.pgn", &few)].map(|(name, text)| fixture.file(name, text));
    let kept = counted(&few, 1000);
    let mut expected = counted(&others, 12);
    for (fen, moves) in &kept {
        for (m, counts) in moves {
            let sum = expected
                .entry(fen.clone())
                .or_default()
                .entry(m.clone())
                .or_default();
            sum.iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum += count);
        }
    }
    let whole = whole.to_str().unwrap();
    let all = contents(&book_of(
        &fixture,
        &games,
        &["--max-plies", "12", "--whole", whole],
    ));
    assert!(all == expected);
    expected
        .retain(|fen, moves| kept.contains_key(fen) || moves.values().flatten().sum::<u64>() >= 5);
    assert!(expected.len() < all.len());
    let options = ["--max-plies", "12", "--min-games", "5", "--whole", whole];
    assert!(contents(&book_of(&fixture, &games, &options)) == expected);
    let of_no_use = [&options[..], &["--average-ratings", "--game-ids", "2"]].concat();
    assert!(contents(&book_of(&fixture, &games, &of_no_use)).len() == expected.len());

    fixture
        .book_build_to("base", &[&games], &["--whole", whole])
        .succeeds();
    let february = fixture.file("february.pgn", random_games(7, 50));
    fixture
        .book_build_to("both", &[&games, &february], &["--whole", whole])
        .succeeds();
    let base = fixture.path("base").to_str().unwrap().to_owned();
    fixture
        .book_build(&[&february], &["--base", &base])
        .succeeds();
    let export = |name: &str| fixture.export(name);
    assert!(export("db") == export("both"));
}

#[test]
fn errors_in_games_are_counted_and_the_moves_before_are_used() {
    let fixture = Fixture::new();
    let pgn = [
        b"\xef\xbb\xbf[Event \"a\"]\r\n[Result \"1-0\"]\r\n\r\n1. e4 {a; b} e5 (1... c5 2. Nf3 (2. c3)) 2. Nf3 $1 1-0\r\n\r\n".to_vec(),
        b"[White \"H\xfcbner\"]\n\n1. e4 e5 2. Nf3 Nc6 1/2-1/2\n\n".to_vec(),
        b"[Event \"illegal\"]\n[Result \"0-1\"]\n\n1. e4 e5 2. Ke3 Nc6 0-1\n\n".to_vec(),
        b"[Event \"German\"]\n[Result \"0-1\"]\n\n1. e4 e5 2. Sf3 0-1\n\n".to_vec(),
        b"[Event \"going on\"]\n\n1. e4 e5 *\n\n".to_vec(),
        b"[Event \"other\"]\n[Variant \"Crazyhouse\"]\n\n1. e4 e5 1-0\n\n".to_vec(),
        b"[Event \"FEN\"]\n[FEN \"x\"]\n\n1. e4 e5 1-0\n\n".to_vec(),
        b"[Event \"open\"]\n[Result \"1-0\"]\n\n1. e4 { no end\n\n".to_vec(),
        b"[Event \"cut\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf".to_vec(),
    ]
    .concat();
    let path = fixture.file("games.pgn", pgn);
    let rejects = fixture.path("rejects.tsv");
    let out = fixture
        .book_build(
            &[&path],
            &["--json", "--rejects", rejects.to_str().unwrap()],
        )
        .succeeds();
    let summary: Value = serde_json::from_str(&out).unwrap();
    let input = &summary["input"];
    assert_eq!(
        (&input["read"], &input["games"], &input["cut"]),
        (&json!(9), &json!(6), &json!(2)),
        "{input}"
    );
    assert_eq!(input["skipped"], 1);
    assert_eq!(
        (&input["without_result"], &input["other_variants"]),
        (&json!(1), &json!(1))
    );
    let errors = json!({"illegal move": 1, "broken comment or variation": 1, "malformed FEN": 1});
    assert_eq!(input["errors"], errors);
    let book = contents(&fixture.export("db"));
    let start = &book["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"];
    assert_eq!(start, &BTreeMap::from([("e2e4".to_owned(), [3, 1, 2])]));
    let rows = std::fs::read_to_string(rejects).unwrap();
    let rows: Vec<Vec<&str>> = rows
        .lines()
        .skip(1)
        .map(|row| row.split('\t').collect())
        .collect();
    assert_eq!(
        rows.iter().map(|row| row[1]).collect::<Vec<_>>(),
        ["13", "25", "30", "37"],
        "{rows:?}"
    );
}

#[test]
fn a_selection_excludes_games() {
    let fixture = Fixture::new();
    let game = |tags: &str, moves: &str| format!("[Event \"x\"]\n{tags}\n\n{moves}\n\n");
    let games = [
        game(
            "[WhiteElo \"2000\"]\n[BlackElo \"2100\"]\n[TimeControl \"60+0\"]\n[UTCDate \"2013.01.05\"]",
            "1. e4 1-0",
        ),
        game(
            "[WhiteElo \"1500\"]\n[BlackElo \"1400\"]\n[TimeControl \"180+2\"]\n[UTCDate \"2013.02.05\"]",
            "1. d4 1-0",
        ),
        game("", "1. f3 e5 2. g4 Qh4# 0-1"),
    ];
    let pgn = fixture.file("games.pgn", games.concat());
    for (options, expected) in [
        (&["--ratings", "2000-2100"][..], "e2e4"),
        (&["--ratings", "-1999"], "d2d4"),
        (&["--speeds", "blitz,rapid"], "d2d4"),
        (&["--since", "2013-02", "--until", "2013"], "d2d4"),
        (&["--until", "2013-01"], "e2e4"),
    ] {
        let book = contents(&book_of(&fixture, &pgn, options));
        let start = &book["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"];
        assert_eq!(
            start.keys().cloned().collect::<Vec<_>>().join(" "),
            expected,
            "{options:?}"
        );
    }
}

#[test]
fn explore_shows_moves_shares_and_evaluations() {
    let fixture = Fixture::new();
    let games = "[Event \"x\"]\n\n1. e4 e5 1-0\n\n[Event \"x\"]\n\n1. e4 c5 0-1\n\n[Event \"x\"]\n\n1. d4 1/2-1/2\n\n\
                 [Event \"x\"]\n\n1. e4 e5 1/2-1/2\n\n[Event \"x\"]\n\n0-1\n";
    let pgn = fixture.file("games.pgn", games);
    fixture.book_build_to("book", &[&pgn], &[]).succeeds();
    let after_e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
    let dump = format!(
        r#"{{"fen":"{after_e4}","evals":[{{"pvs":[{{"cp":36,"line":"e7e5"}}],"knodes":1,"depth":26}}]}}"#
    );
    fixture
        .build_to("evals", &[&fixture.file("dump.jsonl", dump)], &[])
        .succeeds();
    let [book, evals] =
        ["book", "evals"].map(|name| fixture.path(name).to_str().unwrap().to_owned());
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let out = shelfish([
        "explore",
        "-d",
        &book,
        "--evals",
        &evals,
        "--json",
        start,
        "8/8/8/4k3/8/4K3/8/8 w - -",
    ]);
    let answers: Vec<Value> = out
        .succeeds()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let explored = &answers[0];
    assert_eq!(
        [&explored["white"], &explored["draws"], &explored["black"]],
        [&json!(1), &json!(2), &json!(2)]
    );
    assert_eq!(
        explored["ended"],
        json!({"white": 0, "draws": 0, "black": 1})
    );
    assert_eq!(
        explored["moves"][0],
        json!({"uci": "e2e4", "san": "e4", "white": 1, "draws": 1, "black": 1, "share": 0.6, "score": 0.5,
            "game": null, "opening": {"eco": "B00", "name": "King's Pawn Game"}, "evaluation": {"cp": 36, "depth": 26}})
    );
    assert_eq!(
        (
            &explored["moves"][1]["san"],
            &explored["moves"][1].get("evaluation")
        ),
        (&json!("d4"), &None)
    );
    assert_eq!(
        (&answers[1]["white"], &answers[1]["moves"]),
        (&json!(0), &json!([])),
        "no game reached it"
    );
    let out = shelfish(["explore", "-d", &book, "--evals", &evals, start]).succeeds();
    assert!(out.contains("+0.36") && out.contains("60.0%"), "{out}");
    let named = shelfish(["explore", "-d", &book, after_e4]).succeeds();
    assert!(named.contains("  B00 King's Pawn Game\n"), "{named}");
    assert_eq!(
        (&explored["opening"], &answers[1]["opening"]),
        (&Value::Null, &Value::Null)
    );
    shelfish(["explore", "-d", &book, "nonsense"]).fails(&["nonsense"]);
    let run = shelfish(["explore", "-d", &book, "--json", "nonsense", start]);
    let answers: Vec<Value> = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (run.code, answers.len(), &answers[0]["fen"]),
        (1, 2, &json!("nonsense")),
        "a line for each position"
    );
    assert!(
        answers[0]["error"].as_str().unwrap().contains("FEN") && answers[1].get("error").is_none(),
        "{}",
        run.out
    );
}
