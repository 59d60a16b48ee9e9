//! Evaluations of positions, as plain JavaScript.

use js_sys::{Array, JsString, Object, Reflect};
use serde::Serialize;
use shelfish::eval::{self, Score};
use shelfish::position::{Position, uci};
use shelfish::reader::ReadError;
use shelfish::shakmaty::san::SanPlus;
use shelfish::shakmaty::{CastlingMode, Position as _};
use shelfish::table::Manifest;
use shelfish_wasm_shared::{WasmError, to_js};
use wasm_bindgen::{JsCast, JsValue};

use crate::answer;
use crate::error::read_error;
use crate::options::Values;

/// Options of a lookup.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Notation of castling: `e1g1` or `e1h1`.
    castling: CastlingMode,
    /// Whether to add SAN.
    san: bool,
    /// Minimum depth of evaluations.
    min_depth: f64,
    /// Minimum number of nodes, in thousands.
    min_knodes: f64,
    /// Minimum number of variations, or of legal moves if there are fewer.
    min_pvs: f64,
}

#[derive(Serialize)]
struct Eval {
    from: &'static str,
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
    #[serde(
        with = "serde_wasm_bindgen::preserve",
        skip_serializing_if = "JsValue::is_undefined"
    )]
    san: JsValue,
}

impl Style {
    /// Reads the options of a lookup.
    pub fn new(values: &Values<'_>) -> Style {
        Style {
            castling: values.castling(),
            san: values.flag("san"),
            min_depth: values.number("minDepth", 0.0),
            min_knodes: values.number("minKnodes", 0.0),
            min_pvs: values.number("minPvs", 0.0),
        }
    }
}

/// Converts an answer. Distinguishes a game that is over from a position that the database does not contain.
pub fn encode(
    answer: Result<Option<eval::PositionEval>, ReadError>,
    style: &Style,
    position: &Position,
) -> Result<JsValue, WasmError> {
    if let Some(eval) = answer.map_err(read_error)? {
        return Ok(convert(&eval, *style));
    }
    let chess = position.chess();
    if chess.legal_moves().is_empty() {
        return Err(WasmError::over(chess.is_check()));
    }
    Ok(JsValue::NULL)
}

/// Converts the manifest of a database.
pub fn manifest(manifest: &Manifest) -> JsValue {
    let total = |name| (name, (manifest.total(name) as f64).into());
    answer::manifest(manifest, [total("evaluations"), total("pvs")])
}

/// Converts a record. Returns `null` if the style excludes all evaluations.
fn convert(eval: &eval::PositionEval, style: Style) -> JsValue {
    let moves = if style.min_pvs > 1.0 {
        eval.position.chess().legal_moves().len()
    } else {
        1
    };
    let min_pvs = style.min_pvs.min(moves as f64);
    let is_included = |evaluation: &&eval::Evaluation| {
        f64::from(evaluation.depth) >= style.min_depth
            && evaluation.knodes as f64 >= style.min_knodes
            && evaluation.pvs.len() as f64 >= min_pvs
    };
    let evaluations = eval
        .evaluations
        .iter()
        .filter(is_included)
        .map(|evaluation| Evaluation {
            depth: evaluation.depth,
            knodes: evaluation.knodes as f64,
            pvs: evaluation
                .pvs
                .iter()
                .map(|pv| Pv::new(pv, &eval.position, style))
                .collect(),
        });
    let evaluations: Vec<Evaluation> = evaluations.collect();
    if evaluations.is_empty() {
        return JsValue::NULL;
    }
    let value = to_js(&Eval {
        from: "database",
        fen: eval.position.to_string(),
        evaluations,
    });
    // The answer has the shape of its first evaluation, and the same variations, not copies.
    let best =
        Reflect::get(&value, &"evaluations".into()).and_then(|list| Reflect::get_u32(&list, 0));
    if let Ok(best) = best {
        Object::assign(value.unchecked_ref::<Object>(), best.unchecked_ref());
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
            words(
                pv.line
                    .iter()
                    .map(|&m| SanPlus::from_move_and_play_unchecked(&mut chess, m).to_string()),
            )
            .into()
        } else {
            JsValue::UNDEFINED
        };
        let uci = words(pv.line.iter().map(|&m| uci(m, style.castling).to_string()));
        Pv {
            cp,
            mate,
            score: pv.score.to_string(),
            uci,
            san,
        }
    }
}

/// Converts words without spaces to a list. A single string crosses the boundary faster than many strings.
fn words(words: impl Iterator<Item = String>) -> Array {
    let text = words.collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        Array::new()
    } else {
        JsString::from(text).split(" ")
    }
}
