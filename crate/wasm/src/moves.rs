//! Played moves as the kind of record that the module reads.

use serde::Serialize;
use shelfish::played::{Bucket, Bucketing, Details, GameId, GameRef, Played, PlayedMove, Results};
use shelfish::position::Position;
use shelfish::reader::ReadError;
use shelfish::shakmaty::Position as _;
use shelfish::shakmaty::san::SanPlus;
use shelfish::table::Manifest;
use wasm_bindgen::JsValue;

use crate::answer::{plain, uci};
use crate::failure::Failure;
use crate::options::Values;

/// What is looked up.
pub type Record = Played;

/// How moves are told.
pub struct Style {
    /// Castling as `e1h1` instead of `e1g1`.
    chess960: bool,
    /// The buckets that count, if not all do.
    chosen: Option<Vec<usize>>,
    /// The names of the book's sources, one a line.
    sources: String,
}

/// The buckets of a book; none if it has one.
fn bucketing(manifest: &Manifest) -> Option<Bucketing> {
    manifest.info_of("buckets")?.parse().ok()
}

impl Style {
    /// By the options of a lookup.
    pub fn of(values: &Values<'_>, manifest: &Manifest) -> Result<Style, Failure> {
        let chosen = values.texts("buckets")?.map(|wanted| {
            let names: Vec<String> = buckets(manifest).into_iter().map(|bucket| bucket.name).collect();
            let number = |name: &String| {
                let found = names.iter().position(|other| other == name);
                found.ok_or_else(|| Failure::usage(format!("buckets: the book has no bucket {name:?}")))
            };
            wanted.iter().map(number).collect::<Result<Vec<usize>, Failure>>()
        });
        let sources = manifest.info_of("source_names").unwrap_or_default().to_string();
        Ok(Style { chess960: values.chess960()?, chosen: chosen.transpose()?, sources })
    }
}

/// What is known of a position without the database: its FEN.
pub struct Asked(String);

impl Asked {
    /// Of a position.
    pub fn of(position: &Position) -> Asked {
        Asked(position.to_string())
    }
}

/// A bucket of a book.
#[derive(Serialize)]
pub struct NamedBucket {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratings: Option<[Option<f64>; 2]>,
}

/// The buckets of a book, in their order.
pub fn buckets(manifest: &Manifest) -> Vec<NamedBucket> {
    let Some(buckets) = bucketing(manifest) else { return Vec::new() };
    let end = |end: Option<u64>| end.map(|end| end as f64);
    let named = |n| NamedBucket {
        name: buckets.name(n),
        speed: buckets.speed(n),
        ratings: buckets.ratings(n).map(|(least, most)| [end(least), end(most)]),
    };
    (0..buckets.count()).map(named).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    fen: String,
    white: f64,
    draws: f64,
    black: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    average_rating: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    buckets: Vec<Games>,
    ended: Games,
    moves: Vec<Move>,
}

/// Games that went the same way.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Games {
    white: f64,
    draws: f64,
    black: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    average_rating: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    buckets: Vec<Games>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    games: Vec<Game>,
}

#[derive(Serialize)]
struct Game {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<f64>,
    winner: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rating: Option<f64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Move {
    uci: String,
    san: String,
    fen: String,
    white: f64,
    draws: f64,
    black: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    average_rating: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    buckets: Vec<Games>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    games: Vec<Game>,
    share: f64,
    score: f64,
}

/// What is told of an answer; a position that no game reached has no games.
pub fn tell(answer: Result<Option<Played>, ReadError>, style: &Style, asked: &Asked) -> Result<JsValue, Failure> {
    let mut played = match answer? {
        Some(played) => played,
        None => {
            let (ended, moves) = (Games::default(), Vec::new());
            let fen = asked.0.clone();
            let (buckets, average_rating) = (Vec::new(), None);
            return Ok(plain(&Told { fen, white: 0.0, draws: 0.0, black: 0.0, average_rating, buckets, ended, moves }));
        }
    };
    // Which buckets there are games in is told of all.
    let buckets = by_bucket(&played.buckets());
    if let Some(chosen) = &style.chosen {
        played = played.of_buckets(|n| chosen.contains(&n));
    }
    let results = played.results().unwrap_or_default();
    let average_rating = Details { buckets: played.buckets(), games: Vec::new() }.ratings().average();
    let Results { white, draws, black } = results;
    Ok(plain(&Told {
        fen: asked.0.clone(),
        white: white as f64,
        draws: draws as f64,
        black: black as f64,
        average_rating,
        buckets,
        ended: Games::of(played.ended, &played.ended_details, style),
        moves: moves(&played, results.games() as f64, style),
    }))
}

impl Games {
    fn of(Results { white, draws, black }: Results, details: &Details, style: &Style) -> Games {
        Games {
            white: white as f64,
            draws: draws as f64,
            black: black as f64,
            average_rating: details.ratings().average(),
            buckets: by_bucket(&details.buckets),
            games: details.games.iter().map(|game| Game::of(*game, style)).collect(),
        }
    }
}

fn by_bucket(buckets: &[Bucket]) -> Vec<Games> {
    // One is all.
    if buckets.len() < 2 {
        return Vec::new();
    }
    let told = |&Bucket { results: Results { white, draws, black }, ratings }: &Bucket| Games {
        white: white as f64,
        draws: draws as f64,
        black: black as f64,
        average_rating: ratings.average(),
        ..Games::default()
    };
    buckets.iter().map(told).collect()
}

impl Game {
    fn of(game: GameRef, style: &Style) -> Game {
        let winner = match game.result() {
            Results { white: 1, .. } => Some("white"),
            Results { black: 1, .. } => Some("black"),
            _ => None,
        };
        let rating = game.rating().map(|rating| rating as f64);
        let told = Game { id: None, url: None, source: None, number: None, winner, rating };
        match game.id() {
            id @ GameId::Lichess(_) => {
                Game { id: Some(id.to_string()), url: Some(format!("https://lichess.org/{id}")), ..told }
            }
            GameId::Listed { source, game } => {
                let name = style.sources.lines().nth(source.into()).unwrap_or_default().to_string();
                Game { source: Some(name), number: Some(f64::from(game) + 1.0), ..told }
            }
        }
    }
}

fn moves(played: &Played, all: f64, style: &Style) -> Vec<Move> {
    let told = |of_move: &PlayedMove| {
        let PlayedMove { m, results, details } = of_move;
        let mut chess = played.position.chess().clone();
        let wins = chess.turn().fold_wb(results.white, results.black) as f64;
        let count = results.games() as f64;
        let san = SanPlus::from_move_and_play_unchecked(&mut chess, *m).to_string();
        let (share, score) = (count / all, (wins + results.draws as f64 / 2.0) / count);
        let fen = Position::from_chess(&chess).to_string();
        let uci = uci(*m, style.chess960).to_string();
        let Games { white, draws, black, average_rating, buckets, games } = Games::of(*results, details, style);
        Move { uci, san, fen, white, draws, black, average_rating, buckets, games, share, score }
    };
    played.moves.iter().map(told).collect()
}
