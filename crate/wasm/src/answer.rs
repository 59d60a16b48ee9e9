//! Answers as plain JavaScript values.

use js_sys::{Array, JsString, Object, Reflect};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use shelfish::eval::{self, Score};
use shelfish::position::Position;
use shelfish::reader::{self, Fetched, Origin};
use shelfish::shakmaty::san::SanPlus;
use shelfish::shakmaty::uci::UciMove;
use shelfish::shakmaty::{CastlingMode, File, Move};
use shelfish::table;
use wasm_bindgen::JsValue;

/// What is told of a record, and how it is written.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Castling as `e1h1` instead of `e1g1`.
    pub chess960: bool,
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

/// A record, or `null` if the style leaves nothing of it.
pub fn eval(eval: &eval::Eval, style: Style) -> JsValue {
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
        let uci = words(pv.line.iter().map(|&m| uci(m, style).to_string()));
        Pv { cp, mate, score: pv.score.to_string(), uci, san }
    }
}

/// Only castling that begins as in standard chess can be written as there.
fn uci(m: Move, style: Style) -> UciMove {
    let standard = match m {
        Move::Castle { king, rook } => king.file() == File::E && matches!(rook.file(), File::A | File::H),
        _ => true,
    };
    m.to_uci(if standard && !style.chess960 { CastlingMode::Standard } else { CastlingMode::Chess960 })
}

/// A list of words without spaces: one text across the boundary is quicker than many.
fn words(words: impl Iterator<Item = String>) -> Array {
    let text = words.collect::<Vec<_>>().join(" ");
    if text.is_empty() { Array::new() } else { JsString::from(text).split(" ") }
}

/// What the database says of itself.
pub fn manifest(manifest: &table::Manifest) -> JsValue {
    #[derive(Serialize)]
    struct Manifest<'a> {
        format: u64,
        positions: f64,
        evaluations: f64,
        pvs: f64,
        bytes: f64,
        shards: Vec<Shard<'a>>,
        #[serde(with = "serde_wasm_bindgen::preserve")]
        info: Object,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Shard<'a> {
        file: &'a str,
        bytes: f64,
        page_bytes: f64,
        positions: f64,
    }
    let shards = manifest.shards().iter().enumerate().map(|(n, shard)| Shard {
        file: &shard.file,
        bytes: shard.bytes as f64,
        page_bytes: manifest.pages_of(n).map(|page| page.len()).sum::<usize>() as f64,
        positions: shard.positions as f64,
    });
    let info = Object::new();
    for (name, value) in &manifest.info {
        let _ = Reflect::set(&info, &name.into(), &value.into());
    }
    plain(&Manifest {
        format: table::Manifest::FORMAT,
        positions: manifest.positions as f64,
        evaluations: manifest.total("evaluations") as f64,
        pvs: manifest.total("pvs") as f64,
        bytes: manifest.bytes() as f64,
        shards: shards.collect(),
        info,
    })
}

/// What was done since the database was opened.
pub fn stats(stats: &reader::Stats) -> JsValue {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Stats {
        requests: f64,
        bytes: f64,
        memory_hits: f64,
        #[serde(rename = "indexedDBHits")]
        indexed_db_hits: f64,
        network_blocks: f64,
        lookups: f64,
        milliseconds: f64,
    }
    plain(&Stats {
        requests: stats.requests as f64,
        bytes: stats.bytes as f64,
        memory_hits: stats.memory_hits as f64,
        indexed_db_hits: stats.cache_hits as f64,
        network_blocks: stats.network_blocks as f64,
        lookups: stats.lookups as f64,
        milliseconds: stats.milliseconds,
    })
}

/// Bytes that were fetched, or not.
pub fn fetched(fetched: &Fetched<'_>, url: &str) -> JsValue {
    #[derive(Serialize)]
    struct Request<'a> {
        url: &'a str,
        start: f64,
        end: f64,
        bytes: f64,
        parts: usize,
        milliseconds: f64,
        from: &'static str,
        ok: bool,
    }
    let (start, end) = (fetched.range.start as f64, fetched.range.end as f64);
    plain(&Request {
        url,
        start,
        end,
        bytes: if fetched.is_good { end - start } else { 0.0 },
        parts: fetched.parts,
        milliseconds: fetched.elapsed.as_secs_f64() * 1e3,
        from: if fetched.origin == Origin::Cache { "indexedDB" } else { "network" },
        ok: fetched.is_good,
    })
}

/// Of what is written here, nothing can fail.
fn plain(value: &impl Serialize) -> JsValue {
    value.serialize(&Serializer::json_compatible()).unwrap_or_default()
}
