//! Books with buckets, ratings and references to games.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use crate::common::*;
use serde_json::{Value, json};
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Position as _};
use shelfish::position::Position;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
const DETAILS: [&str; 5] = [
    "--buckets",
    "speeds,1500,2000",
    "--average-ratings",
    "--game-ids",
    "3",
];

/// Game with the details that the book should contain.
struct Game {
    text: String,
    /// Last move from each position, in UCI. The key of the final position is `end`.
    moves: HashMap<String, String>,
    result: usize,
    bucket: usize,
    rating: Option<u64>,
    /// Id on Lichess, if the game was played there.
    id: Option<String>,
}

fn random_games(seed: u64, count: usize) -> Vec<Game> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count)
        .map(|n| random_game(&mut random, &format!("{seed:02}{n:06}")))
        .collect()
}

fn random_game(random: &mut fastrand::Rng, id: &str) -> Game {
    let mut text = String::new();
    let id = random.bool().then(|| id.to_owned());
    match &id {
        Some(id) => writeln!(text, "[Site \"https://lichess.org/{id}\"]").unwrap(),
        None => text.push_str("[Site \"Baku\"]\n"),
    }
    let rating = (random.u8(..4) > 0).then(|| random.u64(1000..2600));
    if let Some(rating) = rating {
        writeln!(
            text,
            "[WhiteElo \"{}\"]\n[BlackElo \"{}\"]",
            rating + 100,
            rating - 99
        )
        .unwrap();
    }
    let speed = random.usize(..7);
    let control = ["15+0", "60+0", "180+2", "600+5", "1800+0", "-", "?"][speed];
    writeln!(text, "[TimeControl \"{control}\"]\n").unwrap();
    let mut chess = Chess::default();
    let mut moves = HashMap::new();
    for ply in 0..random.usize(0..30) {
        let legal = chess.legal_moves();
        if legal.is_empty() {
            break;
        }
        let m = legal[random.usize(
            ..if ply < 10 {
                legal.len().min(2)
            } else {
                legal.len()
            },
        )];
        moves.insert(
            Position::from_chess(&chess).to_string(),
            m.to_uci(CastlingMode::Chess960).to_string(),
        );
        write!(
            text,
            "{} ",
            SanPlus::from_move_and_play_unchecked(&mut chess, m)
        )
        .unwrap();
    }
    moves.insert(Position::from_chess(&chess).to_string(), "end".to_owned());
    let result = random.usize(..3);
    writeln!(text, "{}\n", ["1-0", "1/2-1/2", "0-1"][result]).unwrap();
    let band = match rating {
        None => 3,
        Some(rating) => usize::from(rating >= 1500) + usize::from(rating >= 2000),
    };
    Game {
        text,
        moves,
        result,
        bucket: speed * 4 + band,
        rating,
        id,
    }
}

fn text(games: &[Game]) -> String {
    games.iter().map(|game| &game.text[..]).collect()
}

type ByMove<T> = HashMap<String, BTreeMap<String, T>>;

/// Counts of a move: White's wins, draws, Black's wins, games with a rating and the sum of ratings by bucket, and
/// references in the order of a book.
struct Counted {
    buckets: Vec<[u64; 5]>,
    games: Vec<([u64; 4], Value)>,
}

/// Counts the details of a book of these sources independently.
fn expected(sources: &[&[Game]]) -> ByMove<Value> {
    let mut counted: ByMove<Counted> = HashMap::new();
    for (n, source) in sources.iter().enumerate() {
        for (number, game) in source.iter().enumerate() {
            for (fen, m) in &game.moves {
                let none = || Counted {
                    buckets: vec![[0; 5]; 28],
                    games: Vec::new(),
                };
                let Counted { buckets, games } = counted
                    .entry(fen.clone())
                    .or_default()
                    .entry(m.clone())
                    .or_insert_with(none);
                let rating = game.rating.unwrap_or(0);
                let sums = &mut buckets[game.bucket];
                sums[game.result] += 1;
                sums[3] += u64::from(game.rating.is_some());
                sums[4] += rating;
                let mut result = [0; 3];
                result[game.result] = 1;
                let (is_listed, place, id) = match &game.id {
                    Some(id) => (0, id.parse().unwrap(), id.clone()),
                    None => (1, (n << 32 | number) as u64, format!("{n}#{number}")),
                };
                games.push((
                    [rating, 2 - game.result as u64, is_listed, place],
                    json!([id, rating, result]),
                ));
            }
        }
    }
    let details = |(m, Counted { buckets, mut games }): (String, Counted)| {
        games.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        let games: Vec<Value> = games.into_iter().take(3).map(|(_, game)| game).collect();
        let numbered = buckets
            .iter()
            .enumerate()
            .filter(|(_, counts)| **counts != [0; 5]);
        let buckets: BTreeMap<String, [u64; 5]> = numbered
            .map(|(n, counts)| (n.to_string(), *counts))
            .collect();
        (m, json!({"buckets": buckets, "games": games}))
    };
    counted
        .into_iter()
        .map(|(fen, moves)| (fen, moves.into_iter().map(details).collect()))
        .collect()
}

/// Reads the contents of a book in the format of [`expected`].
fn contents(lines: &[String]) -> ByMove<Value> {
    let position = |line: &String| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        let details = serde_json::from_value(record["details"].take()).unwrap();
        (record["fen"].as_str().unwrap().to_owned(), details)
    };
    lines.iter().map(position).collect()
}

#[test]
fn buckets_ratings_and_references_agree_with_an_independent_count() {
    let fixture = Fixture::new();
    let [one, two] = [1, 2].map(|seed| random_games(seed, 150));
    let sources =
        [(&one, "one.pgn"), (&two, "two.pgn")].map(|(games, name)| fixture.file(name, text(games)));
    let expected = expected(&[&one, &two]);
    for options in [
        &["--threads", "1", "--max-memory", "64MiB"][..],
        &["--threads", "3"],
    ] {
        fixture
            .book_build(
                &[&sources[0], &sources[1]],
                &[&DETAILS[..], options].concat(),
            )
            .succeeds();
        fixture.verify("db").succeeds();
        assert!(contents(&fixture.export("db")) == expected);
    }
}

#[test]
fn months_with_details_on_a_base_give_the_bytes_of_a_single_build() {
    let fixture = Fixture::new();
    let [january, february, march] =
        [3, 4, 5].map(|seed| fixture.file(&format!("{seed}.pgn"), text(&random_games(seed, 120))));
    for details in [
        &DETAILS[..],
        &["--game-ids", "2"],
        &["--buckets", "1800"],
        &["--average-ratings"],
    ] {
        fixture
            .book_build_to("all", &[&january, &february, &march], details)
            .succeeds();
        let expected = fixture.files("all");
        for (name, source) in [("one", &january), ("two", &february), ("three", &march)] {
            fixture.book_build_to(name, &[source], details).succeeds();
        }
        let build = |sources: &[&Path], bases: &[&str]| {
            let paths: Vec<String> = bases
                .iter()
                .map(|name| fixture.path(name).to_str().unwrap().to_owned())
                .collect();
            let bases = paths.iter().flat_map(|path| ["--base", path]);
            let options: Vec<&str> = details.iter().copied().chain(bases).collect();
            fixture.book_build(sources, &options).succeeds();
            assert!(fixture.files("db") == expected, "{options:?}");
        };
        build(&[&february, &march], &["one"]);
        build(&[&march], &["one", "two"]);
        build(&[], &["one", "two", "three"]);
    }
    let one = fixture.path("one").to_str().unwrap().to_owned();
    fixture
        .book_build(&[&february], &["--base", &one])
        .fails(&["average_ratings", "true"]);
    fixture
        .book_build(
            &[&february],
            &["--base", &one, "--average-ratings", "--buckets", "1800"],
        )
        .fails(&["buckets", "1800"]);
    let run = fixture.book_build(&[&february], &["--buckets", "fast"]);
    assert!(
        run.code == 2 && run.err.contains("speeds,1600,2000"),
        "{}",
        run.err
    );
}

#[test]
fn explore_shows_buckets_ratings_and_games() {
    let fixture = Fixture::new();
    let game = |site: &str, rating: u64, control: &str, moves: &str| {
        format!(
            "[Site \"{site}\"]\n[WhiteElo \"{rating}\"]\n[BlackElo \"{rating}\"]\n[TimeControl \"{control}\"]\n\n{moves}\n\n"
        )
    };
    let games = [
        game("https://lichess.org/abcdefgh", 1500, "60+0", "1. e4 e5 1-0"),
        game(
            "https://lichess.org/ABCDEFGH",
            2500,
            "180+2",
            "1. e4 c5 0-1",
        ),
        game("Baku", 2700, "180+2", "1. d4 1/2-1/2"),
    ];
    let pgn = fixture.file("games.pgn", games.concat());
    fixture
        .book_build_to(
            "book",
            &[&pgn],
            &[
                "--buckets",
                "speeds",
                "--average-ratings",
                "--game-ids",
                "2",
            ],
        )
        .succeeds();
    let book = fixture.path("book").to_str().unwrap().to_owned();
    let explore = |options: &[&str]| shelfish([&["explore", "-d", &book, START], options].concat());
    let explored: Value = serde_json::from_str(&explore(&["--json"]).succeeds()).unwrap();
    assert_eq!(
        (
            &explored["averageRating"],
            &explored["moves"][0]["averageRating"]
        ),
        (&json!(2233), &json!(2000))
    );
    assert_eq!(
        explored["buckets"][2],
        json!({"name": "blitz", "white": 0, "draws": 1, "black": 1, "averageRating": 2600})
    );
    assert_eq!(
        explored["moves"][0]["buckets"][1],
        json!({"white": 1, "draws": 0, "black": 0, "averageRating": 1500})
    );
    assert_eq!(
        explored["moves"][0]["games"][0],
        json!({"id": "ABCDEFGH", "url": "https://lichess.org/ABCDEFGH", "winner": "black", "rating": 2500})
    );
    let listed = json!({"source": "games.pgn", "number": 3, "winner": null, "rating": 2700});
    assert_eq!(
        (
            &explored["moves"][1]["games"],
            &explored["moves"][1]["game"]
        ),
        (&json!([listed]), &Value::Null)
    );
    assert_eq!(
        explored["topGames"][1],
        json!({"uci": "e2e4", "id": "abcdefgh", "winner": "white", "rating": 1500})
    );

    let table = explore(&["--buckets", "blitz"]).succeeds();
    assert!(table.contains("all                  2"), "{table}");
    assert!(
        table.contains("https://lichess.org/ABCDEFGH") && table.contains("games.pgn, game 3"),
        "{table}"
    );
    assert!(
        explore(&["--buckets", "rapid"])
            .succeeds()
            .contains("no game of these buckets")
    );
    explore(&["--buckets", "slow"]).fails(&["slow", "ultraBullet; bullet; blitz"]);
    fixture.book_build_to("plain", &[&pgn], &[]).succeeds();
    let plain = fixture.path("plain").to_str().unwrap().to_owned();
    shelfish(["explore", "-d", &plain, "--buckets", "blitz", START]).fails(&["--buckets"]);
}
