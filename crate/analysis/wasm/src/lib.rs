//! The WASM module of `shelfish/analysis`: reports and annotated PGN.
//!
//! The package's TypeScript encodes evaluations as numbers and text. Reports and errors are plain objects.
#![cfg(target_arch = "wasm32")]

use serde::Serialize;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess};
use shelfish_analysis::pgn::{self, Note, PgnGame, Splitter};
use shelfish_analysis::{Game, GameError, KnownEval, ReportError, Score};
use shelfish_wasm_shared::{WasmError, to_js};
use wasm_bindgen::prelude::*;

fn game_error(error: GameError) -> WasmError {
    let code = if matches!(error, GameError::Fen(_)) { "fen" } else { "usage" };
    WasmError::new(code, error.to_string())
}

fn report_error(error: ReportError) -> WasmError {
    WasmError::usage(error.to_string())
}

/// Numbers of an evaluation: centipawns, moves to mate and depth. A missing number is NaN.
const NUMBERS: usize = 3;

/// Decodes evaluations from their numbers and from lines of moves in UCI.
fn evaluations(numbers: &[f64], lines: &str) -> Result<Vec<Option<KnownEval>>, WasmError> {
    let mut lines = lines.split('\n');
    let known = |(index, numbers): (usize, &[f64])| {
        let line = lines.next().unwrap_or_default();
        let [cp, mate, depth] = numbers else { return Ok(None) };
        let score = match (cp.is_nan(), mate.is_nan()) {
            (true, true) => return Ok(None),
            (false, _) => Score::Cp(*cp as i32),
            (true, _) => Score::Mate(*mate as i32),
        };
        if !score.is_in_range() {
            let message =
                format!("evaluations[{index}]: expected a score, and no mate in 0, as a game that is over needs none");
            return Err(WasmError::usage(message));
        }
        let uci = |text: &str| UciMove::from_ascii(text.as_bytes());
        let line = line.split(' ').filter(|text| !text.is_empty()).map(uci).collect::<Result<_, _>>();
        let line = line
            .map_err(|_| WasmError::usage(format!("evaluations[{index}].line: expected moves in UCI such as e2e4")))?;
        Ok(Some(KnownEval { score, depth: (!depth.is_nan()).then_some(*depth as u16), line }))
    };
    numbers.chunks(NUMBERS).enumerate().map(known).collect()
}

/// Reports on a game. `moves` are in UCI, separated by spaces.
#[wasm_bindgen]
pub fn report(fen: Option<String>, moves: &str, numbers: &[f64], lines: &str) -> Result<JsValue, JsValue> {
    let work = || -> Result<_, WasmError> {
        let game =
            Game::from_uci(fen.as_deref(), moves.split(' ').filter(|text| !text.is_empty())).map_err(game_error)?;
        shelfish_analysis::report(&game, &evaluations(numbers, lines)?).map_err(report_error)
    };
    Ok(to_js(&work()?))
}

/// Annotates the first game of a PGN.
#[wasm_bindgen]
pub fn annotate(text: &str, numbers: &[f64], lines: &str) -> Result<String, JsValue> {
    let work = || -> Result<_, WasmError> {
        let mut game = first_game(text)?;
        shelfish_analysis::annotate(&mut game, &evaluations(numbers, lines)?).map_err(report_error)?;
        Ok(game.to_string())
    };
    Ok(work()?)
}

/// A game of a PGN.
#[derive(Serialize)]
struct Read {
    tags: Vec<(String, String)>,
    moves: Vec<String>,
    positions: Vec<String>,
    evaluations: Vec<Option<Given>>,
}

/// An evaluation from a comment.
#[derive(Serialize)]
struct Given {
    #[serde(skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u16>,
    from: &'static str,
}

/// Reads the first game of a PGN.
#[wasm_bindgen]
pub fn read(text: &str) -> Result<JsValue, JsValue> {
    let game = first_game(text)?;
    let positions: Vec<Chess> = game.game.positions().collect();
    let notes = core::iter::once(&game.line.notes).chain(game.line.moves.iter().map(|step| &step.notes));
    Ok(to_js(&Read {
        moves: game.game.moves().iter().map(|m| m.to_uci(CastlingMode::Chess960).to_string()).collect(),
        positions: positions.iter().map(fen).collect(),
        evaluations: notes.map(|notes| given(notes)).collect(),
        tags: game.tags,
    }))
}

fn fen(position: &Chess) -> String {
    shakmaty::fen::Epd::from_position(position, shakmaty::EnPassantMode::Legal).to_string()
}

fn given(notes: &[Note]) -> Option<Given> {
    let comment = |note: &Note| if let Note::Comment(text) = note { pgn::evaluation(text) } else { None };
    let (score, depth) = notes.iter().find_map(comment)?;
    let (cp, mate) = score.cp_and_mate();
    Some(Given { cp, mate, depth, from: "pgn" })
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
