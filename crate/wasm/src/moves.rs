//! Moves that games played, as plain JavaScript.

use std::sync::Arc;

use serde::Serialize;
use shelfish::played::{Bucket, Bucketing, GameId, GameRef, Played, PlayedMove, Ratings, Results};
use shelfish::position::{Position, uci};
use shelfish::reader::ReadError;
use shelfish::shakmaty::san::SanPlus;
use shelfish::shakmaty::{CastlingMode, Position as _};
use shelfish::table::Manifest;
use shelfish_wasm_shared::{WasmError, to_js};
use wasm_bindgen::JsValue;

use crate::answer;
use crate::error::read_error;
use crate::options::Values;

/// Options of a lookup.
pub struct Style {
    /// Notation of castling: `e1g1` or `e1h1`.
    castling: CastlingMode,
    /// Indices of the buckets whose games count. `None` for all.
    chosen: Option<Vec<usize>>,
    /// The manifest, with the names of the book's sources.
    pub manifest: Arc<Manifest>,
    /// Whether to add the `topGames` of Lichess' opening explorer.
    has_top_games: bool,
}

/// Returns the division into buckets. `None` if all games are in a single bucket.
fn bucketing(manifest: &Manifest) -> Option<Bucketing> {
    manifest.info_of("buckets")?.parse().ok()
}

impl Style {
    /// Reads the options of a lookup.
    pub fn new(values: &Values<'_>, manifest: &Arc<Manifest>) -> Result<Style, WasmError> {
        let names: Vec<String> = buckets(manifest)
            .into_iter()
            .map(|bucket| bucket.name)
            .collect();
        let index = |name: &String| {
            let found = names.iter().position(|other| other == name);
            found.ok_or_else(|| {
                WasmError::usage(["buckets: the book has no bucket “", name, "”"].concat())
            })
        };
        let chosen = values
            .strings("buckets")
            .map(|wanted| wanted.iter().map(index).collect::<Result<_, _>>());
        Ok(Style {
            castling: values.castling(),
            chosen: chosen.transpose()?,
            manifest: manifest.clone(),
            has_top_games: values.flag("topGames"),
        })
    }
}

/// Converts an answer. A position that no game reached has no games.
pub fn encode(
    answer: Result<Option<Played>, ReadError>,
    style: &Style,
    position: &Position,
) -> Result<JsValue, WasmError> {
    let played = answer.map_err(read_error)?;
    let mut games = Games {
        ended: Some(Box::default()),
        moves: Some(Vec::new()),
        ..Games::default()
    };
    if let Some(mut played) = played {
        // The option does not affect the results by bucket.
        let buckets = played.buckets();
        if let Some(chosen) = &style.chosen {
            played = played.of_buckets(|n| chosen.contains(&n));
        }
        let results = played.results().unwrap_or_default();
        let ended = &played.ended_details;
        games = Games {
            average_rating: average_rating(&played.buckets()),
            ended: Some(Box::new(Games::of(
                played.ended,
                &ended.buckets,
                &ended.games,
                style,
            ))),
            moves: Some(moves(&played, results.games() as f64, style)),
            top_games: if style.has_top_games {
                top_games(&played, style)
            } else {
                Vec::new()
            },
            ..Games::of(results, &buckets, &[], style)
        };
    }
    games.fen = Some(position.to_string());
    Ok(to_js(&games))
}

/// Converts the manifest of a book.
pub fn manifest(manifest: &Manifest) -> JsValue {
    let moves = (manifest.total("moves") as f64).into();
    answer::manifest(
        manifest,
        [("moves", moves), ("buckets", to_js(&buckets(manifest)))],
    )
}

/// A bucket of a book.
#[derive(Serialize)]
struct NamedBucket {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratings: Option<[Option<f64>; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    years: Option<[Option<f64>; 2]>,
}

/// Returns the buckets of a book, in order.
fn buckets(manifest: &Manifest) -> Vec<NamedBucket> {
    let Some(buckets) = bucketing(manifest) else {
        return Vec::new();
    };
    let end = |end: Option<u64>| end.map(|end| end as f64);
    let ends = |(least, most)| [end(least), end(most)];
    let named = |n| NamedBucket {
        name: buckets.name(n),
        speed: buckets.speed(n),
        ratings: buckets.ratings(n).map(ends),
        years: buckets.years(n).map(ends),
    };
    (0..buckets.count()).map(named).collect()
}

/// Results of games: of a position, of a move, of games that end, or of a bucket. A single type, because each type adds code
/// that serialises it.
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
    /// The position, or the position after the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    fen: Option<String>,
    /// Games that end in the position.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Box<Games>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<Games>>,
    /// The move.
    #[serde(skip_serializing_if = "Option::is_none")]
    uci: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    san: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<f64>,
    /// Games on Lichess with the highest ratings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    top_games: Vec<Game>,
}

#[derive(Serialize)]
struct Game {
    /// The move, in the shape of Lichess' opening explorer.
    #[serde(skip_serializing_if = "Option::is_none")]
    uci: Option<String>,
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

impl Games {
    fn of(
        Results {
            white,
            draws,
            black,
        }: Results,
        buckets: &[Bucket],
        games: &[GameRef],
        style: &Style,
    ) -> Games {
        let bucket =
            |bucket: &Bucket| Games::of(bucket.results, core::slice::from_ref(bucket), &[], style);
        // A single bucket equals the total.
        let several = buckets.iter().filter(|_| buckets.len() > 1);
        Games {
            white: white as f64,
            draws: draws as f64,
            black: black as f64,
            average_rating: average_rating(buckets),
            buckets: several.map(bucket).collect(),
            games: games.iter().map(|game| Game::of(*game, style)).collect(),
            ..Games::default()
        }
    }
}

/// Returns the mean of the ratings of all games.
fn average_rating(buckets: &[Bucket]) -> Option<f64> {
    let sum = |sum: Ratings, bucket: &Bucket| sum.and(bucket.ratings);
    buckets.iter().fold(Ratings::default(), sum).average()
}

impl Game {
    fn of(game: GameRef, style: &Style) -> Game {
        let rating = game.rating().map(|rating| rating as f64);
        let common = Game {
            uci: None,
            id: None,
            url: None,
            source: None,
            number: None,
            winner: game.winner(),
            rating,
        };
        match game.id() {
            id @ GameId::Lichess(_) => Game {
                id: Some(id.to_string()),
                url: id.url(),
                ..common
            },
            GameId::Listed { source, game } => {
                let names = style.manifest.info_of("source_names").unwrap_or_default();
                let name = names.lines().nth(source.into());
                Game {
                    source: Some(name.unwrap_or_default().to_string()),
                    number: Some(f64::from(game) + 1.0),
                    ..common
                }
            }
        }
    }
}

fn moves(played: &Played, all: f64, style: &Style) -> Vec<Games> {
    let encode = |PlayedMove {
                      m,
                      results,
                      details,
                  }: &PlayedMove| {
        let mut chess = played.position.chess().clone();
        let points = results.score(chess.turn());
        let san = SanPlus::from_move_and_play_unchecked(&mut chess, *m).to_string();
        Games {
            uci: Some(uci(*m, style.castling).to_string()),
            san: Some(san),
            fen: Some(Position::from_chess(&chess).to_string()),
            share: Some(results.games() as f64 / all),
            points: Some(points),
            ..Games::of(*results, &details.buckets, &details.games, style)
        }
    };
    played.moves.iter().map(encode).collect()
}

fn top_games(played: &Played, style: &Style) -> Vec<Game> {
    let game = |(m, game)| Game {
        uci: Some(uci(m, style.castling).to_string()),
        url: None,
        ..Game::of(game, style)
    };
    played.top_games().into_iter().map(game).collect()
}
