//! Open endgame tables: exact results from Syzygy tables.

use core::cell::RefCell;
use std::rc::Rc;

use futures_util::FutureExt as _;
use js_sys::{Array, Promise};
use serde::Serialize;
use shelfish::position::{Position, uci};
use shelfish::shakmaty::san::SanPlus;
use shelfish::shakmaty::{CastlingMode, Chess, Position as _};
use shelfish::source::Source as _;
use shelfish::web::{Fetch, IndexedDb};
use shelfish_endgames::{
    EndgameError, INDEX_FILE, IndexError, Probe, ProbedMove, Uncovered, parse_fen, read_index,
};
use shelfish_wasm_shared::{WasmError, to_js};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{AbortController, AbortSignal};

use crate::error::{at_opening, closed, into_js, source_error};
use crate::options::{Open, Values};
use crate::{answer, promise};

type Reader = shelfish_endgames::Endgames<Fetch>;

/// Open tables. Errors are plain objects, also among the answers.
#[wasm_bindgen]
pub struct Endgames(RefCell<Option<State>>);

struct State {
    reader: Rc<Reader>,
    cache: Option<IndexedDb>,
}

/// Opens the tables of an index's URL, with the parameters of `open` in `table.rs`.
#[wasm_bindgen]
pub fn open(
    url: String,
    source: JsValue,
    options: JsValue,
    response: Option<Promise>,
    controller: Option<AbortController>,
    signal: AbortSignal,
) -> Promise {
    let opening = async move {
        let Open {
            limits,
            mut fetch,
            cache,
            on_request,
            ..
        } = Values(&options).open(source)?;
        fetch.manifest_file = INDEX_FILE;
        fetch.early = response.zip(controller);
        let files = Fetch::new(&url, fetch);
        let index = read_index(&files).await;
        let index = index.map_err(|error| at_opening(endgame_error(&error)))?;
        let cache = answer::cache(&files, cache);
        let reader = Reader::new(files, index, answer::shared(&cache))
            .with_memory(limits.memory)
            .with_concurrency(limits.concurrency)
            .with_observer(on_request.map(answer::observer));
        let reader = Rc::new(reader);
        Ok(Endgames(RefCell::new(Some(State { reader, cache }))).into())
    };
    promise(signal, opening.boxed_local(), || {})
}

/// Converts an error of the tables.
fn endgame_error(error: &EndgameError) -> WasmError {
    let code = match error {
        EndgameError::Source(error) => return source_error(error),
        EndgameError::Uncovered(Uncovered::Castling) => "castling",
        EndgameError::Uncovered(Uncovered::TooManyPieces { .. }) => "pieces",
        EndgameError::Uncovered(_) => "table",
        EndgameError::Index {
            error: IndexError::Magic,
            ..
        } => "manifest",
        _ => "corrupt",
    };
    let url = match error {
        EndgameError::Index { at, .. } | EndgameError::Damaged { at, .. } => Some(at.clone()),
        _ => None,
    };
    WasmError {
        url,
        ..WasmError::new(code, error.to_string())
    }
}

/// A result for the side to move.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    fen: String,
    outcome: &'static str,
    dtz: i32,
    is_rounded: bool,
    is_insufficient_material: bool,
    moves: Vec<Move>,
    from: &'static str,
}

/// A move and its result for the side that moves.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Move {
    uci: String,
    san: String,
    fen: String,
    outcome: &'static str,
    dtz: i32,
    is_zeroing: bool,
    is_checkmate: bool,
    is_stalemate: bool,
    is_insufficient_material: bool,
    after: After,
}

/// A result for the side that did not move.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct After {
    outcome: &'static str,
    dtz: i32,
    is_rounded: bool,
}

fn encode_move(chess: &mut Chess, probed: &ProbedMove, castling: CastlingMode) -> Move {
    let uci = uci(probed.m, castling).to_string();
    let san = SanPlus::from_move_and_play_unchecked(chess, probed.m).to_string();
    Move {
        uci,
        san,
        fen: Position::from_chess(chess).to_string(),
        outcome: probed.outcome().name(),
        dtz: probed.dtz(),
        is_zeroing: probed.is_zeroing,
        is_checkmate: probed.is_checkmate,
        is_stalemate: probed.is_stalemate,
        is_insufficient_material: probed.is_insufficient_material,
        after: After {
            outcome: probed.after.outcome.name(),
            dtz: probed.after.dtz,
            is_rounded: probed.after.is_rounded,
        },
    }
}

fn encode(chess: &Chess, probe: &Probe, castling: CastlingMode) -> JsValue {
    to_js(&Answer {
        fen: Position::from_chess(chess).to_string(),
        outcome: probe.verdict.outcome.name(),
        dtz: probe.verdict.dtz,
        is_rounded: probe.verdict.is_rounded,
        is_insufficient_material: chess.is_insufficient_material(),
        moves: probe
            .moves
            .iter()
            .map(|probed| encode_move(&mut chess.clone(), probed, castling))
            .collect(),
        from: "endgames",
    })
}

#[wasm_bindgen]
impl Endgames {
    /// Returns the results of positions and their moves, in the same order.
    pub fn lookup(
        &self,
        fens: &Array,
        options: &JsValue,
        signal: AbortSignal,
    ) -> Result<Promise, JsValue> {
        let castling = Values(options).castling();
        let reader = self.reader()?;
        let (answers, places, positions) = answer::parse_fens(fens, parse_fen);
        let work = async move {
            let found = reader.probe_many(&positions).await;
            for ((place, chess), probe) in places.into_iter().zip(&positions).zip(found) {
                let answer = match probe {
                    Ok(probe) => encode(chess, &probe, castling),
                    Err(error) => into_js(endgame_error(&error)),
                };
                answers.set(place, answer);
            }
            Ok(answers.into())
        };
        Ok(promise(signal, work.boxed_local(), || {}))
    }

    /// Returns the maximum number of pieces of a table.
    #[wasm_bindgen(js_name = maxPieces)]
    pub fn max_pieces(&self) -> Result<u32, JsValue> {
        Ok(self.reader()?.index().max_pieces() as u32)
    }

    /// Returns the requests and bytes since the tables were opened.
    pub fn stats(&self) -> Result<JsValue, JsValue> {
        #[derive(Serialize)]
        struct Stats {
            requests: f64,
            bytes: f64,
        }
        let traffic = self.reader()?.source().traffic().unwrap_or_default();
        Ok(to_js(&Stats {
            requests: traffic.requests as f64,
            bytes: traffic.bytes as f64,
        }))
    }

    /// Clears the caches of the tables in memory and in IndexedDB.
    pub async fn clear(&self) -> Result<(), JsValue> {
        self.reader()?.clear_memory();
        let cache = self
            .0
            .borrow()
            .as_ref()
            .and_then(|state| state.cache.clone());
        if let Some(cache) = cache {
            cache.clear().await;
        }
        Ok(())
    }

    /// Frees the memory.
    pub fn close(&self) {
        if let Some(State {
            cache: Some(cache), ..
        }) = self.0.take()
        {
            cache.close();
        }
    }

    fn reader(&self) -> Result<Rc<Reader>, JsValue> {
        let state = self.0.borrow();
        let reader = state.as_ref().map(|state| state.reader.clone());
        reader.ok_or_else(|| into_js(closed()))
    }
}
