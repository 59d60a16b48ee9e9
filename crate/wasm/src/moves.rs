//! Played moves as the kind of record that the module reads.

use serde::Serialize;
use shelfish::played::{Bucket, Bucketing, Details, GameId, GameRef, Played, PlayedMove, Results};
use shelfish::position::{Position, uci};
use shelfish::reader::ReadError;
use shelfish::shakmaty::san::SanPlus;
use shelfish::shakmaty::{CastlingMode, Position as _};
use shelfish::table::Manifest;
use wasm_bindgen::JsValue;

use crate::answer::plain;
use crate::failure::Failure;
use crate::options::Values;

/// What is looked up.
pub type Record = Played;

/// How moves are told.
pub struct Style {
    /// Castling as `e1g1` or as `e1h1`.
    castling: CastlingMode,
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
                found.ok_or_else(|| Failure::usage(["buckets: the book has no bucket “", name, "”"].concat()))
            };
            wanted.iter().map(number).collect::<Result<Vec<usize>, Failure>>()
        });
        let sources = manifest.info_of("source_names").unwrap_or_default().to_string();
        Ok(Style { castling: values.castling()?, chosen: chosen.transpose()?, sources })
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

/// Games that went the same way: all of a position, those of one of its moves, those that end there, those of a bucket.
/// One for all of them, as each would bring what writes it once more.
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
    /// Of a position, and of a move: where it leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    fen: Option<String>,
    /// Of a position.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Box<Games>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<Games>>,
    /// Of a move.
    #[serde(skip_serializing_if = "Option::is_none")]
    uci: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    san: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
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

/// What is told of an answer; a position that no game reached has no games.
pub fn tell(answer: Result<Option<Played>, ReadError>, style: &Style, asked: &Asked) -> Result<JsValue, Failure> {
    let played = answer?;
    let mut told = Games { ended: Some(Box::default()), moves: Some(Vec::new()), ..Games::default() };
    if let Some(mut played) = played {
        // Which buckets there are games in is told of all.
        let buckets = played.buckets();
        if let Some(chosen) = &style.chosen {
            played = played.of_buckets(|n| chosen.contains(&n));
        }
        let results = played.results().unwrap_or_default();
        let ratings = Details { buckets: played.buckets(), games: Vec::new() };
        told = Games {
            average_rating: ratings.ratings().average(),
            ended: Some(Box::new(Games::of(played.ended, &played.ended_details, style))),
            moves: Some(moves(&played, results.games() as f64, style)),
            ..Games::of(results, &Details { buckets, games: Vec::new() }, style)
        };
    }
    told.fen = Some(asked.0.clone());
    Ok(plain(&told))
}

impl Games {
    fn of(Results { white, draws, black }: Results, details: &Details, style: &Style) -> Games {
        // One bucket is all games.
        let buckets = if details.buckets.len() < 2 { &[][..] } else { &details.buckets };
        let bucket = |bucket: &Bucket| {
            let alone = Details { buckets: vec![*bucket], games: Vec::new() };
            Games::of(bucket.results, &alone, style)
        };
        Games {
            white: white as f64,
            draws: draws as f64,
            black: black as f64,
            average_rating: details.ratings().average(),
            buckets: buckets.iter().map(bucket).collect(),
            games: details.games.iter().map(|game| Game::of(*game, style)).collect(),
            ..Games::default()
        }
    }
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

fn moves(played: &Played, all: f64, style: &Style) -> Vec<Games> {
    let told = |PlayedMove { m, results, details }: &PlayedMove| {
        let mut chess = played.position.chess().clone();
        let wins = chess.turn().fold_wb(results.white, results.black) as f64;
        let count = results.games() as f64;
        let san = SanPlus::from_move_and_play_unchecked(&mut chess, *m).to_string();
        Games {
            uci: Some(uci(*m, style.castling).to_string()),
            san: Some(san),
            fen: Some(Position::from_chess(&chess).to_string()),
            share: Some(count / all),
            score: Some((wins + results.draws as f64 / 2.0) / count),
            ..Games::of(*results, details, style)
        }
    };
    played.moves.iter().map(told).collect()
}
