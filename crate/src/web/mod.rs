//! The surface of the WASM module, as thin as can be: the package's `index.js` makes it pleasant.
//!
//! Answers cross the boundary as JSON text, failures too. What takes time is a [`Task`], a promise that can be
//! cancelled: cancelling drops the lookup, and with it the requests that nobody else waits for.

mod json;

use core::time::Duration;

use futures_util::future::{AbortHandle, Abortable, FutureExt};
use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use self::json::{Failure, Style};
use crate::cache::indexed_db::IndexedDb;
use crate::eval::Eval;
use crate::position::Position;
use crate::reader::{Options, Reader};
use crate::source::fetch::Fetch;

#[wasm_bindgen]
extern "C" {
    /// Milliseconds by a clock that only goes forward.
    #[wasm_bindgen(js_namespace = performance)]
    pub(crate) fn now() -> f64;
}

/// A promise that can be cancelled; it is then rejected with `undefined`.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Task {
    promise: Promise,
    handle: AbortHandle,
}

#[wasm_bindgen]
impl Task {
    fn spawn(work: impl Future<Output = Result<JsValue, JsValue>> + 'static) -> Task {
        let (handle, registration) = AbortHandle::new_pair();
        // Boxed, so that what drives it is compiled once.
        let work = Abortable::new(work.boxed_local(), registration);
        let promise = future_to_promise(async move { work.await.unwrap_or(Err(JsValue::UNDEFINED)) });
        Task { promise, handle }
    }

    /// Settles with the outcome.
    #[wasm_bindgen(getter)]
    pub fn promise(&self) -> Promise {
        self.promise.clone()
    }

    /// Drops the work, if it is not done.
    pub fn cancel(&self) {
        self.handle.abort();
    }
}

/// An open database.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Database(Reader<Fetch, Option<IndexedDb>>);

#[wasm_bindgen]
impl Database {
    /// Opens the database of the manifest at an absolute URL, with a cache of `cache_bytes` in the IndexedDB database
    /// `cache_name`, if there is a name. The outcome is a `Database`.
    pub fn open(
        url: &str,
        memory_bytes: f64,
        cache_name: Option<String>,
        cache_bytes: f64,
        concurrency: u32,
        timeout: f64,
    ) -> Task {
        let source = Fetch::new(url, Duration::from_millis(timeout as u64));
        let cache = cache_name.map(|name| IndexedDb::new(&name, cache_bytes as u64));
        let options = Options { memory: memory_bytes as usize, concurrency: concurrency as usize };
        Task::spawn(async move {
            match Reader::open(source, cache, options).await {
                Ok(reader) => Ok(Database(reader).into()),
                Err(error) => Err(json::failure(error).into()),
            }
        })
    }

    /// The answer as JSON if all that it takes is in memory.
    pub fn peek(&self, fen: &str, chess960: bool, san: bool) -> Option<String> {
        let answer = match fen.parse::<Position>() {
            Ok(position) => self.0.peek(&position)?.map_err(Failure::Read),
            Err(error) => Err(Failure::Fen(error)),
        };
        Some(json::answer(answer, Style { chess960, san }))
    }

    /// The outcome is a JSON array with an answer for each FEN.
    pub fn lookup(&self, fens: Vec<String>, chess960: bool, san: bool) -> Task {
        let reader = self.0.clone();
        Task::spawn(async move {
            let parsed: Vec<_> = fens.iter().map(|fen| fen.parse::<Position>()).collect();
            let positions: Vec<Position> =
                parsed.iter().filter_map(|position| position.as_ref().ok().cloned()).collect();
            let mut answers = reader.lookup_many(&positions).await.into_iter();
            let mut out = String::new();
            json::list(&mut out, ['[', ']'], parsed, |out, position| {
                let answer: Result<Option<Eval>, Failure> = match position {
                    Ok(_) => answers.next().unwrap_or(Ok(None)).map_err(Failure::Read),
                    Err(error) => Err(Failure::Fen(error)),
                };
                out.push_str(&json::answer(answer, Style { chess960, san }));
            });
            Ok(out.into())
        })
    }

    /// What the manifest tells, as JSON.
    pub fn manifest(&self) -> String {
        json::manifest(&self.0.manifest())
    }

    /// What the reader has done, as JSON.
    pub fn stats(&self) -> String {
        json::stats(&self.0.stats())
    }
}
