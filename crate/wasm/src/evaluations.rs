//! Evaluations as the kind of record that the module reads.

use js_sys::{Array, JsString, Reflect};
use serde::Serialize;
use shelfish::eval::{self, Score};
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
pub type Record = eval::PositionEval;

/// What is told of a record, and how it is written.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Castling as `e1g1` or as `e1h1`.
    pub castling: CastlingMode,
    /// SAN beside UCI.
    pub san: bool,
    /// Evaluations of less depth are left out.
    pub min_depth: f64,
    /// Evaluations of fewer kilonodes are left out.
    pub min_knodes: f64,
}

#[derive(Serialize)]
struct Eval {
    fen: String,
    evaluations: Vec<Evaluation>,
}

#[derive(Serialize)]
struct Evaluation {
    depth: u16,
    knodes: f64,
    pvs: Vec<Pv>,
}

#[derive(Serialize)]
struct Pv {
    #[serde(skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
    score: String,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    uci: Array,
    #[serde(with = "serde_wasm_bindgen::preserve", skip_serializing_if = "JsValue::is_undefined")]
    san: JsValue,
}

impl Style {
    /// By the options of a lookup.
    pub fn of(values: &Values<'_>, _: &Manifest) -> Result<Style, Failure> {
        Ok(Style {
            castling: values.castling()?,
            san: values.flag("san"),
            min_depth: values.number("minDepth", 0.0, 0.0)?,
            min_knodes: values.number("minKnodes", 0.0, 0.0)?,
        })
    }
}

/// What is known of a position without the database: how the game has ended, if it has.
#[derive(Clone, Copy)]
pub struct Asked(Option<Outcome>);

#[derive(Clone, Copy)]
enum Outcome {
    Checkmate,
    Stalemate,
}

impl Asked {
    /// Of a position.
    pub fn of(position: &Position) -> Asked {
        let chess = position.chess();
        let is_over = chess.legal_moves().is_empty();
        Asked(is_over.then_some(if chess.is_check() { Outcome::Checkmate } else { Outcome::Stalemate }))
    }
}

/// What is told of an answer. That a game is over is told apart from that the database does not have the position.
pub fn tell(answer: Result<Option<Record>, ReadError>, style: &Style, asked: &Asked) -> Result<JsValue, Failure> {
    match (answer?, asked.0) {
        (Some(eval), _) => Ok(told(&eval, *style)),
        (None, None) => Ok(JsValue::NULL),
        (None, Some(outcome)) => Err(Failure::over(matches!(outcome, Outcome::Checkmate))),
    }
}

/// A record, or `null` if the style leaves nothing of it.
fn told(eval: &eval::PositionEval, style: Style) -> JsValue {
    let is_told = |evaluation: &&eval::Evaluation| {
        f64::from(evaluation.depth) >= style.min_depth && evaluation.knodes as f64 >= style.min_knodes
    };
    let evaluations = eval.evaluations.iter().filter(is_told).map(|evaluation| Evaluation {
        depth: evaluation.depth,
        knodes: evaluation.knodes as f64,
        pvs: evaluation.pvs.iter().map(|pv| Pv::new(pv, &eval.position, style)).collect(),
    });
    let evaluations: Vec<Evaluation> = evaluations.collect();
    if evaluations.is_empty() {
        return JsValue::NULL;
    }
    let value = plain(&Eval { fen: eval.position.to_string(), evaluations });
    // One object, not two that are alike.
    let best = Reflect::get(&value, &"evaluations".into()).and_then(|list| Reflect::get_u32(&list, 0));
    if let Ok(best) = best {
        let _ = Reflect::set(&value, &"best".into(), &best);
    }
    value
}

impl Pv {
    fn new(pv: &eval::Pv, position: &Position, style: Style) -> Pv {
        let (cp, mate) = match pv.score {
            Score::Cp(cp) => (Some(cp), None),
            Score::Mate(moves) => (None, Some(moves)),
        };
        let san = if style.san {
            let mut chess = position.chess().clone();
            words(pv.line.iter().map(|&m| SanPlus::from_move_and_play_unchecked(&mut chess, m).to_string())).into()
        } else {
            JsValue::UNDEFINED
        };
        let uci = words(pv.line.iter().map(|&m| uci(m, style.castling).to_string()));
        Pv { cp, mate, score: pv.score.to_string(), uci, san }
    }
}

/// A list of words without spaces: one text across the boundary is quicker than many.
fn words(words: impl Iterator<Item = String>) -> Array {
    let text = words.collect::<Vec<_>>().join(" ");
    if text.is_empty() { Array::new() } else { JsString::from(text).split(" ") }
}
