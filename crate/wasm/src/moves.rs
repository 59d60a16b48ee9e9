//! Played moves as the kind of record that the module reads.

use serde::Serialize;
use shelfish::played::{Played, Results};
use shelfish::position::Position;
use shelfish::reader::ReadError;
use shelfish::shakmaty::Position as _;
use shelfish::shakmaty::san::SanPlus;
use wasm_bindgen::JsValue;

use crate::answer::{plain, uci};
use crate::failure::Failure;
use crate::options::Values;

/// What is looked up.
pub type Record = Played;

/// How moves are written.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Castling as `e1h1` instead of `e1g1`.
    chess960: bool,
}

impl Style {
    /// By the options of a lookup.
    pub fn of(values: &Values<'_>) -> Result<Style, Failure> {
        Ok(Style { chess960: values.chess960()? })
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

#[derive(Serialize)]
struct Told {
    fen: String,
    white: f64,
    draws: f64,
    black: f64,
    ended: Counts,
    moves: Vec<Move>,
}

#[derive(Serialize)]
struct Counts {
    white: f64,
    draws: f64,
    black: f64,
}

impl From<Results> for Counts {
    fn from(Results { white, draws, black }: Results) -> Counts {
        Counts { white: white as f64, draws: draws as f64, black: black as f64 }
    }
}

#[derive(Serialize)]
struct Move {
    uci: String,
    san: String,
    fen: String,
    white: f64,
    draws: f64,
    black: f64,
    share: f64,
    score: f64,
}

/// What is told of an answer; a position that no game reached has no games.
pub fn tell(answer: Result<Option<Played>, ReadError>, style: Style, asked: &Asked) -> Result<JsValue, Failure> {
    let (results, ended, moves) = match answer? {
        Some(played) => {
            let results = played.results().unwrap_or_default();
            (results, played.ended, moves(&played, results.games() as f64, style))
        }
        None => (Results::default(), Results::default(), Vec::new()),
    };
    let Counts { white, draws, black } = results.into();
    Ok(plain(&Told { fen: asked.0.clone(), white, draws, black, ended: ended.into(), moves }))
}

fn moves(played: &Played, all: f64, style: Style) -> Vec<Move> {
    let told = |&shelfish::played::PlayedMove { m, results }| {
        let mut chess = played.position.chess().clone();
        let wins = chess.turn().fold_wb(results.white, results.black) as f64;
        let games = results.games() as f64;
        let san = SanPlus::from_move_and_play_unchecked(&mut chess, m).to_string();
        let Counts { white, draws, black } = results.into();
        let (share, score) = (games / all, (wins + draws / 2.0) / games);
        let fen = Position::from_chess(&chess).to_string();
        Move { uci: uci(m, style.chess960).to_string(), san, fen, white, draws, black, share, score }
    };
    played.moves.iter().map(told).collect()
}
