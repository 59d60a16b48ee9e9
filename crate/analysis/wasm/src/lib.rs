//! The WASM module of `shelfish/analysis`: reports and annotated PGN.
//!
//! The package's TypeScript encodes evaluations as numbers and text. Reports and errors are plain objects.
#![cfg(target_arch = "wasm32")]

use serde::Serialize;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess};
use shelfish_analysis::pgn::{self, PgnGame, Splitter};
use shelfish_analysis::{
    Game, GameError, KnownEval, Origin, ReportError, Review, ReviewOptions, Score, Sequence,
};
use shelfish_wasm_shared::{WasmError, to_js};
use wasm_bindgen::prelude::*;

fn game_error(error: GameError) -> WasmError {
    let code = if matches!(error, GameError::Fen(_)) {
        "fen"
    } else {
        "usage"
    };
    WasmError::new(code, error.to_string())
}

fn report_error(error: ReportError) -> WasmError {
    WasmError::usage(error.to_string())
}

/// Numbers of an evaluation: centipawns, moves to mate, depth, thousands of nodes, the index of its origin, and centipawns and moves to
/// mate of the second line. A missing number is NaN.
const NUMBERS: usize = 7;

/// Origins by their index.
const ORIGINS: [Origin; 6] = [
    Origin::Database,
    Origin::Pgn,
    Origin::Engine,
    Origin::Uci,
    Origin::Endgames,
    Origin::Engine,
];

/// Index of the engine's own scores, which are not on the scale of Stockfish.
const UNSCALED: usize = 5;

/// Decodes evaluations from their numbers and from lines of moves in UCI.
fn evaluations(numbers: &[f64], lines: &str) -> Result<Vec<Option<KnownEval>>, WasmError> {
    let mut lines = lines.split('\n');
    let known = |(index, numbers): (usize, &[f64])| {
        let line = lines.next().unwrap_or_default();
        let [cp, mate, depth, knodes, origin, second_cp, second_mate] = numbers else {
            return Ok(None);
        };
        let score = |cp: &f64, mate: &f64| match (cp.is_nan(), mate.is_nan()) {
            (true, true) => None,
            (false, _) => Some(Score::Cp(*cp as i32)),
            (true, _) => Some(Score::Mate(*mate as i32)),
        };
        let second = score(second_cp, second_mate).filter(|score| score.is_in_range());
        let Some(score) = score(cp, mate) else {
            return Ok(None);
        };
        if !score.is_in_range() {
            let message = format!(
                "evaluations[{index}]: expected a score, and no mate in 0, as a game that is over needs none"
            );
            return Err(WasmError::usage(message));
        }
        let uci = |text: &str| UciMove::from_ascii(text.as_bytes());
        let line = line
            .split(' ')
            .filter(|text| !text.is_empty())
            .map(uci)
            .collect::<Result<_, _>>();
        let line = line.map_err(|_| {
            WasmError::usage(format!(
                "evaluations[{index}].line: expected moves in UCI such as e2e4"
            ))
        })?;
        let is_unscaled = *origin as usize == UNSCALED;
        let Some(origin) = ORIGINS.get(*origin as usize).filter(|_| !origin.is_nan()) else {
            return Err(WasmError::usage(format!(
                "evaluations[{index}].from: expected the index of an origin"
            )));
        };
        let number = |number: &f64| (!number.is_nan()).then_some(*number);
        let known = KnownEval {
            score,
            depth: number(depth).map(|depth| depth as u16),
            knodes: number(knodes).map(|knodes| knodes as u64),
            line,
            second,
            origin: *origin,
        };
        Ok(Some(if is_unscaled { known.scaled() } else { known }))
    };
    numbers.chunks(NUMBERS).enumerate().map(known).collect()
}

/// Reports on a game. `moves` are in UCI, separated by spaces.
#[wasm_bindgen]
pub fn report(
    fen: Option<String>,
    moves: &str,
    numbers: &[f64],
    lines: &str,
) -> Result<JsValue, JsValue> {
    let work = || -> Result<_, WasmError> {
        let game = Game::from_uci(
            fen.as_deref(),
            moves.split(' ').filter(|text| !text.is_empty()),
        )
        .map_err(game_error)?;
        shelfish_analysis::report(&game, &evaluations(numbers, lines)?).map_err(report_error)
    };
    Ok(to_js(&work()?))
}

/// Annotates the first game of a PGN.
#[wasm_bindgen]
pub fn annotate(text: &str, numbers: &[f64], lines: &str) -> Result<String, JsValue> {
    let work = || -> Result<_, WasmError> {
        let mut game = first_game(text)?;
        shelfish_analysis::annotate(&mut game, &evaluations(numbers, lines)?)
            .map_err(report_error)?;
        Ok(game.to_string())
    };
    Ok(work()?)
}

/// A review of a game, which decides what an engine searches.
#[wasm_bindgen]
pub struct GameReview {
    review: Review,
}

/// Positions to search one after the other.
#[derive(Serialize)]
struct Searches {
    /// Indices of the positions.
    positions: Vec<usize>,
    fens: Vec<String>,
    nodes: u64,
    lines: usize,
}

#[wasm_bindgen]
impl GameReview {
    /// Creates a review of the first game of a PGN. With `nodes` 0, the number of nodes is the default.
    #[wasm_bindgen(constructor)]
    pub fn new(text: &str, nodes: f64) -> Result<GameReview, JsValue> {
        let mut options = ReviewOptions::default();
        if nodes > 0.0 {
            options.nodes = nodes as u64;
        }
        Ok(GameReview {
            review: Review::new(first_game(text)?.game, options),
        })
    }

    /// Adds evaluations of a database or a PGN, one for each position of the game.
    pub fn give(&mut self, numbers: &[f64], lines: &str) -> Result<(), JsValue> {
        Ok(self
            .review
            .give(&evaluations(numbers, lines)?)
            .map_err(report_error)?)
    }

    /// Returns the searches of the next pass, or an empty list after the last pass.
    pub fn next_pass(&mut self) -> JsValue {
        let sequences = self.review.next_pass().into_iter();
        let searches = sequences.map(
            |Sequence {
                 positions,
                 nodes,
                 lines,
             }| Searches {
                fens: positions
                    .iter()
                    .map(|index| self.review.positions()[*index].to_string())
                    .collect(),
                positions,
                nodes,
                lines,
            },
        );
        to_js(&searches.collect::<Vec<_>>())
    }

    /// Adds the result of a search.
    pub fn answer(&mut self, index: usize, numbers: &[f64], line: &str) -> Result<(), JsValue> {
        match evaluations(numbers, line)?.pop().flatten() {
            Some(found) => Ok(self.review.answer(index, found).map_err(report_error)?),
            None => Ok(()),
        }
    }

    /// Returns the report by the evaluations so far.
    pub fn report(&self) -> JsValue {
        to_js(&self.review.report())
    }

    /// Returns the evaluations that count, one for each position of the game.
    pub fn evaluations(&self) -> JsValue {
        to_js(
            &self
                .review
                .evaluations()
                .iter()
                .map(|known| known.as_ref().map(Known::new))
                .collect::<Vec<_>>(),
        )
    }

    /// Annotates the first game of a PGN, which must be the game of the review.
    pub fn annotate(&self, text: &str) -> Result<String, JsValue> {
        let mut game = first_game(text)?;
        shelfish_analysis::annotate_review(&mut game, &self.review).map_err(report_error)?;
        Ok(game.to_string())
    }
}

/// A game of a PGN.
#[derive(Serialize)]
struct Read {
    tags: Vec<(String, String)>,
    moves: Vec<String>,
    positions: Vec<String>,
    evaluations: Vec<Option<Known>>,
}

/// An evaluation.
#[derive(Serialize)]
struct Known {
    #[serde(skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    knodes: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    line: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    second: Option<Second>,
    from: Origin,
}

/// Score of a second line.
#[derive(Serialize)]
struct Second {
    #[serde(skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
}

impl Known {
    fn new(known: &KnownEval) -> Known {
        let (cp, mate) = known.score.cp_and_mate();
        let KnownEval {
            depth,
            knodes,
            origin,
            ..
        } = *known;
        let line = known.line.iter().map(ToString::to_string).collect();
        let second = known.second.map(|score| {
            let (cp, mate) = score.cp_and_mate();
            Second { cp, mate }
        });
        Known {
            cp,
            mate,
            depth,
            knodes,
            line,
            second,
            from: origin,
        }
    }
}

/// Reads the first game of a PGN.
#[wasm_bindgen]
pub fn read(text: &str) -> Result<JsValue, JsValue> {
    let game = first_game(text)?;
    let positions: Vec<Chess> = game.game.positions().collect();
    Ok(to_js(&Read {
        moves: game
            .game
            .moves()
            .iter()
            .map(|m| m.to_uci(CastlingMode::Chess960).to_string())
            .collect(),
        positions: positions.iter().map(fen).collect(),
        evaluations: game
            .evaluations()
            .iter()
            .map(|known| known.as_ref().map(Known::new))
            .collect(),
        tags: game.tags,
    }))
}

fn fen(position: &Chess) -> String {
    shakmaty::fen::Epd::from_position(position, shakmaty::EnPassantMode::Legal).to_string()
}

fn first_game(text: &str) -> Result<PgnGame, WasmError> {
    let mut splitter = Splitter::default();
    let mut at = 0;
    let mut begins = text.split_inclusive('\n').filter_map(|line| {
        let start = at;
        at += line.len();
        splitter.begins_game(line.as_bytes()).then_some(start)
    });
    let end = begins.nth(1).unwrap_or(text.len());
    pgn::read(&text[..end], 1).map_err(|error| WasmError::new("pgn", error.to_string()))
}
