//! An open database or book.

use core::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::FutureExt as _;
use js_sys::{Array, Promise};
use shelfish::played::Played;
use shelfish::position::Position;
use shelfish::reader::{REVALIDATION_INTERVAL, Reader};
use shelfish::source::Source as _;
use shelfish::table::Manifest;
use shelfish::web::{Fetch, IndexedDb};
use shelfish_wasm_shared::WasmError;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::spawn_local;
use web_sys::{AbortController, AbortSignal};

use crate::error::{at_opening, closed, into_js, open_error};
use crate::options::{Open, Values};
use crate::{answer, evaluations, moves, promise};

/// A reader of either kind of record.
#[derive(Clone)]
enum Records {
    Evaluations(Reader<Fetch>),
    Moves(Reader<Fetch, Played>),
}

/// Evaluates an expression with the reader of either kind.
macro_rules! with_reader {
    ($records:expr, $reader:ident => $value:expr) => {
        match $records {
            Records::Evaluations($reader) => $value,
            Records::Moves($reader) => $value,
        }
    };
}

struct State {
    records: Records,
    cache: Option<IndexedDb>,
    /// Its last reference is dropped when the table is closed.
    open: Rc<()>,
}

/// An open database or book. Errors are plain objects, also among the answers.
#[wasm_bindgen]
pub struct Table(RefCell<Option<State>>);

/// Opens the database or book of a manifest's URL.
///
/// `source` is an object of the caller, instead of `fetch`. `response` is the promise of a response to a request for the manifest, and
/// `controller` aborts the request.
#[wasm_bindgen]
pub fn open(
    is_book: bool,
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
            pin,
            cache,
            on_request,
        } = Values(&options).open(source)?;
        fetch.early = response.zip(controller);
        let files = Fetch::new(&url, fetch);
        let cache = answer::cache(&files, cache);
        let builder = Reader::builder(files)
            .options(limits)
            .cache(answer::shared(&cache))
            .pin(pin)
            .observer(on_request.map(answer::observer));
        let records = if is_book {
            builder.open().await.map(Records::Moves)
        } else {
            builder.open().await.map(Records::Evaluations)
        };
        let records = records.map_err(|error| at_opening(open_error(error, is_book)))?;
        let open = Rc::default();
        Ok(Table(RefCell::new(Some(State {
            records,
            cache,
            open,
        })))
        .into())
    };
    promise(signal, opening.boxed_local(), || {})
}

#[wasm_bindgen]
impl Table {
    /// Looks up positions, and returns the answers in the same order. Without `has_answers`, only fills the caches.
    ///
    /// After an abort, requests in flight continue for the next lookup.
    pub fn lookup(
        &self,
        fens: &Array,
        options: JsValue,
        signal: AbortSignal,
        has_answers: bool,
    ) -> Result<Promise, JsValue> {
        let (answers, places, positions) = answer::parse_fens(fens, |fen| fen.parse::<Position>());
        let (records, open) =
            self.with(|state| (state.records.clone(), Rc::downgrade(&state.open)))?;
        // A page may be open for days. Lookups do not wait for the manifest, and an error leaves the old database in use.
        // Where no call may wait for the request of another, this call waits.
        let mut renewal = None;
        with_reader!(&records, reader => if reader.is_due(REVALIDATION_INTERVAL) {
            let reader = reader.clone();
            let is_isolated = reader.source().is_isolated();
            let renewing = async move { drop(reader.revalidate().await) };
            if is_isolated {
                renewal = Some(renewing.boxed_local());
            } else {
                spawn_local(renewing);
            }
        });
        let lingering = records.clone();
        let work = async move {
            if let Some(renewing) = renewal {
                renewing.await;
            }
            let put = |n: usize, answer: Result<JsValue, WasmError>| {
                if has_answers {
                    answers.set(places[n], answer.unwrap_or_else(into_js));
                }
            };
            let values = Values(&options);
            match records {
                Records::Evaluations(reader) => {
                    let style = evaluations::Style::new(&values);
                    let mut found = |n: usize, found, _: &_| {
                        put(n, evaluations::encode(found, &style, &positions[n]));
                    };
                    reader.lookup_each(&positions, &mut found).await;
                }
                Records::Moves(reader) => {
                    let mut style = moves::Style::new(&values, &reader.manifest())?;
                    let mut found = |n: usize, found, manifest: &Arc<Manifest>| {
                        // The buckets and sources of a new build may have other names.
                        let renewed = if Arc::ptr_eq(&style.manifest, manifest) {
                            Ok(())
                        } else {
                            moves::Style::new(&values, manifest).map(|new| style = new)
                        };
                        let answer = || moves::encode(found, &style, &positions[n]);
                        put(n, renewed.and_then(|()| answer()));
                    };
                    reader.lookup_each(&positions, &mut found).await;
                }
            }
            Ok(answers.into())
        };
        Ok(promise(signal, work.boxed_local(), move || {
            if open.strong_count() > 0 {
                with_reader!(lingering, reader => spawn_local(reader.linger()));
            }
        }))
    }

    /// Clears the caches of the database in memory and in IndexedDB.
    pub async fn clear(&self) -> Result<(), JsValue> {
        let cache = self.with(|state| {
            with_reader!(&state.records, reader => reader.clear_memory());
            state.cache.clone()
        })?;
        if let Some(cache) = cache {
            cache.clear().await;
        }
        Ok(())
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> Result<JsValue, JsValue> {
        self.with(|state| match &state.records {
            Records::Evaluations(reader) => evaluations::manifest(&reader.manifest()),
            Records::Moves(reader) => moves::manifest(&reader.manifest()),
        })
    }

    /// Returns totals since the database was opened.
    pub fn stats(&self) -> Result<JsValue, JsValue> {
        self.with(|state| with_reader!(&state.records, reader => answer::stats(&reader.stats())))
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

    fn with<T>(&self, read: impl FnOnce(&State) -> T) -> Result<T, JsValue> {
        let state = self.0.borrow();
        state.as_ref().map(read).ok_or_else(|| into_js(closed()))
    }
}
