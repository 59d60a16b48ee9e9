//! The WASM module of `shelfish/endgames`: exact results of endgames from Syzygy tables.
#![cfg(target_arch = "wasm32")]

use core::cell::RefCell;
use std::rc::Rc;

use futures_util::FutureExt as _;
use js_sys::{Array, Promise};
use serde::Serialize;
use shelfish::position::{Position, uci};
use shelfish::shakmaty::san::SanPlus;
use shelfish::shakmaty::{CastlingMode, Chess};
use shelfish::source::Source as _;
use shelfish::web::{Early, IndexedDb};
use shelfish_endgames::{
    EndgameError, INDEX_FILE, IndexError, Probe, ProbedMove, Uncovered, line, parse_fen, read_index,
};
use shelfish_wasm_reader::{
    DatabaseSource, Open, Pending, Running, Values, at_opening, call, check, closed, into_js,
    invalid_fen, observer, promise, source_error, unless_aborted,
};
use shelfish_wasm_shared::{WasmError, to_js};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::AbortController;

type Reader = shelfish_endgames::Endgames<DatabaseSource, Option<IndexedDb>>;

/// Open tables. Every method returns a promise. Errors are plain objects, also among the answers.
#[wasm_bindgen]
pub struct Endgames(RefCell<Option<State>>);

struct State {
    reader: Rc<Reader>,
    running: Running,
}

/// Opens the tables of an index's URL.
///
/// `source` is an object of the caller, instead of `fetch`. `response` is the promise of a response to a request for the index,
/// and `controller` aborts the request.
#[wasm_bindgen]
pub fn open(
    url: String,
    source: JsValue,
    options: JsValue,
    response: Option<Promise>,
    controller: Option<AbortController>,
) -> Promise {
    let values = Values(&options);
    let early = response
        .zip(controller)
        .map(|(response, controller)| Early {
            response,
            controller,
        });
    let opening = values.open().map(|open| {
        let at = url.clone();
        let connecting = async move {
            let reader = Rc::new(connect(&at, source, open, early).await?);
            Ok(Endgames(RefCell::new(Some(State {
                reader,
                running: Running::default(),
            })))
            .into())
        };
        unless_aborted(values.signal(), connecting.boxed_local())
    });
    let opening = async move {
        let opened = match opening {
            Ok(opening) => opening.await,
            Err(error) => Err(error),
        };
        opened.map_err(|error| into_js(at_opening(error, &url)))
    };
    promise(opening.boxed_local())
}

async fn connect(
    url: &str,
    source: JsValue,
    open: Open,
    early: Option<Early>,
) -> Result<Reader, WasmError> {
    let Open {
        request,
        cache,
        on_request,
        memory,
        concurrency,
        ..
    } = open;
    let files = DatabaseSource::new(url, INDEX_FILE, source, request, early);
    let index = read_index(&files)
        .await
        .map_err(|error| endgame_error(&error))?;
    let cache = cache.map(|(name, bytes)| IndexedDb::open(&name, bytes, &files.locate("")));
    let reader = Reader::new(files, index, cache)
        .with_memory(memory)
        .with_concurrency(concurrency);
    Ok(reader.with_observer(on_request.map(observer)))
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
    }
}

fn encode(chess: &Chess, probe: &Probe, castling: CastlingMode) -> JsValue {
    to_js(&Answer {
        fen: Position::from_chess(chess).to_string(),
        outcome: probe.verdict.outcome.name(),
        dtz: probe.verdict.dtz,
        is_rounded: probe.verdict.is_rounded,
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
    pub fn lookup(&self, fens: &Array, options: &JsValue) -> Promise {
        let castling = Values(options).castling();
        let fens = fens.clone();
        call(self.start(options, |reader| {
            let answers = Array::new_with_length(fens.length());
            let mut numbers = Vec::new();
            let mut positions = Vec::new();
            for (number, fen) in (0..).zip(fens.iter()) {
                match parse_fen(&fen.as_string().unwrap_or_default()) {
                    Ok(chess) => {
                        numbers.push(number);
                        positions.push(chess);
                    }
                    Err(error) => answers.set(number, into_js(invalid_fen(error))),
                }
            }
            let work = async move {
                let found = reader.probe_many(&positions).await;
                for ((number, chess), probe) in numbers.into_iter().zip(&positions).zip(found) {
                    let answer = match probe {
                        Ok(probe) => encode(chess, &probe, castling),
                        Err(error) => into_js(endgame_error(&error)),
                    };
                    answers.set(number, answer);
                }
                Ok(answers.into())
            };
            work.boxed_local()
        }))
    }

    /// Returns the best moves of both sides until the next capture or pawn move.
    pub fn line(&self, fen: &str, options: &JsValue) -> Promise {
        let castling = Values(options).castling();
        let parsed = parse_fen(fen);
        call(self.start(options, |reader| {
            let work = async move {
                let mut chess = parsed.map_err(invalid_fen)?;
                let found = line(&chess, async |chess| reader.probe(&chess).await).await;
                let line = found.map_err(|error| endgame_error(&error))?;
                let moves: Vec<Move> = line
                    .iter()
                    .map(|probed| encode_move(&mut chess, probed, castling))
                    .collect();
                Ok(to_js(&moves))
            };
            work.boxed_local()
        }))
    }

    /// Returns the maximum number of pieces of a table.
    #[wasm_bindgen(js_name = maxPieces)]
    pub fn max_pieces(&self) -> Result<u32, JsValue> {
        Ok(self.reader()?.index().max_pieces() as u32)
    }

    /// Returns the requests and bytes since the tables were opened.
    pub fn stats(&self) -> Result<Vec<f64>, JsValue> {
        let traffic = self.reader()?.source().traffic().unwrap_or_default();
        Ok(vec![traffic.requests as f64, traffic.bytes as f64])
    }

    /// Clears the caches of the tables in memory and in IndexedDB.
    pub fn clear(&self) -> Promise {
        call(self.reader().map(|reader| {
            reader.clear_memory();
            let work = async move {
                if let Some(cache) = reader.cache() {
                    cache.clear();
                    cache.written().await;
                }
                Ok(JsValue::UNDEFINED)
            };
            work.boxed_local()
        }))
    }

    /// Ends all probes and frees the memory.
    pub fn close(&self) {
        if let Some(state) = self.0.take()
            && let Some(cache) = state.reader.cache()
        {
            cache.close();
        }
    }

    fn reader(&self) -> Result<Rc<Reader>, WasmError> {
        let state = self.0.borrow();
        state
            .as_ref()
            .map(|state| state.reader.clone())
            .ok_or_else(closed)
    }

    fn start(
        &self,
        options: &JsValue,
        work: impl FnOnce(Rc<Reader>) -> Pending<'static>,
    ) -> Result<Pending<'static>, WasmError> {
        let signal = Values(options).signal();
        check(signal.as_ref())?;
        let state = self.0.borrow();
        let state = state.as_ref().ok_or_else(closed)?;
        Ok(state.running.guard(signal, work(state.reader.clone())))
    }
}
