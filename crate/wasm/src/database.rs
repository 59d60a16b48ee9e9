//! An open database, generic over the kind of record.

use core::cell::RefCell;
use core::future::ready;
use std::sync::Arc;

use futures_channel::oneshot;
use futures_util::FutureExt as _;
use futures_util::future::{Either, LocalBoxFuture, select};
use js_sys::{Array, Promise};
use shelfish::position::Position;
use shelfish::reader::{Options, REVALIDATION_INTERVAL, ReadError, Reader};
use shelfish::source::Source as _;
use shelfish::table::Manifest;
use shelfish::web::{Early, IndexedDb};
use shelfish_wasm_shared::WasmError;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;
use web_sys::{AbortController, AbortSignal};

use crate::answer;
use crate::calls::{Pending, Running, call, check, promise, unless_aborted};
use crate::error::{at_opening, closed, into_js, invalid_fen, open_error, read_error};
use crate::kind::Kind;
use crate::options::{Open, Values};
use crate::source::DatabaseSource;

type DatabaseReader<K> = Reader<DatabaseSource, <K as Kind>::Record, Option<IndexedDb>>;

struct State<K: Kind> {
    reader: DatabaseReader<K>,
    /// Whether blocks are cached in memory, so that a request in flight is useful after an abort.
    has_memory: bool,
    running: Running,
}

/// An open database.
pub struct Database<K: Kind> {
    state: RefCell<Option<State<K>>>,
}

/// Opens the database of a manifest's URL, and converts it with `wrap`. See [`export`](crate::export).
pub fn open<K: Kind>(
    url: String,
    source: JsValue,
    options: JsValue,
    early: Option<(Promise, AbortController)>,
    wrap: fn(Database<K>) -> JsValue,
) -> Promise {
    let values = Values(&options);
    let early = early.map(|(response, controller)| Early {
        response,
        controller,
    });
    let parsed = values.open().map(|open| (open, values.signal()));
    let opening = async move {
        let opening = match parsed {
            Ok((open, signal)) => {
                let url = url.clone();
                let connecting = async move {
                    let state = connect::<K>(&url, source, open, early).await?;
                    Ok(wrap(Database {
                        state: RefCell::new(Some(state)),
                    }))
                };
                unless_aborted(signal, connecting.boxed_local())
            }
            Err(error) => {
                // The answer is not needed.
                early.inspect(|early| early.controller.abort());
                ready(Err(error)).boxed_local()
            }
        };
        opening
            .await
            .map_err(|error| into_js(at_opening(error, &url)))
    };
    promise(opening.boxed_local())
}

async fn connect<K: Kind>(
    url: &str,
    source: JsValue,
    open: Open,
    early: Option<Early>,
) -> Result<State<K>, WasmError> {
    let Open {
        memory,
        concurrency,
        request,
        pin,
        cache,
        on_request,
    } = open;
    let options = Options::default()
        .with_memory(memory)
        .with_concurrency(concurrency);
    let has_memory = memory > 0;
    let files = DatabaseSource::new(url, Manifest::FILE, source, request, early);
    let cache = cache.map(|(name, bytes)| IndexedDb::open(&name, bytes, &files.locate("")));
    let observer = on_request.map(answer::observer);
    let reader = Reader::builder(files)
        .options(options)
        .cache(cache)
        .pin(pin)
        .observer(observer)
        .open()
        .await
        .map_err(open_error::<K>)?;
    Ok(State {
        reader,
        has_memory,
        running: Running::default(),
    })
}

impl<K: Kind> Database<K> {
    /// Looks up a position.
    pub fn lookup(&self, fen: &str, options: &JsValue) -> Promise {
        call(self.try_lookup(fen, options))
    }

    /// Looks up positions, in the same order. Without `has_answers`, only fills the caches.
    pub fn lookup_many(&self, fens: &Array, options: &JsValue, has_answers: bool) -> Promise {
        call(self.try_lookup_many(fens, options, has_answers))
    }

    /// Clears the caches of the database in memory and in IndexedDB.
    pub fn clear(&self) -> Promise {
        call(self.reader().map(|reader| {
            reader.clear_memory();
            async move {
                if let Some(cache) = reader.cache() {
                    cache.clear();
                    cache.written().await;
                }
                Ok(JsValue::UNDEFINED)
            }
            .boxed_local()
        }))
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> Result<JsValue, JsValue> {
        let reader = self.reader()?;
        Ok(answer::manifest(
            &reader.manifest(),
            K::manifest_fields(&reader.manifest()),
        ))
    }

    /// Returns totals since the database was opened.
    pub fn stats(&self) -> Result<JsValue, JsValue> {
        let reader = self.reader()?;
        Ok(answer::stats(&reader.stats()))
    }

    /// Ends all lookups and frees the memory.
    pub fn close(&self) {
        if let Some(state) = self.state.take()
            && let Some(cache) = state.reader.cache()
        {
            cache.close();
        }
    }
}

type Work = Pending<'static>;

impl<K: Kind> Database<K> {
    /// Returns the reader. A page may be open for days, so this also requests the manifest again from time to time.
    /// Lookups do not wait for the manifest, and an error leaves the old database in use.
    // Five copies would add a kilobyte to the module.
    #[inline(never)]
    fn reader(&self) -> Result<DatabaseReader<K>, WasmError> {
        let state = self.state.borrow();
        let state = state.as_ref().ok_or_else(closed)?;
        let reader = state.reader.clone();
        if reader.is_due(REVALIDATION_INTERVAL) {
            let reader = reader.clone();
            continue_until(
                state.running.closing(),
                async move { drop(reader.revalidate().await) }.boxed_local(),
            );
        }
        Ok(reader)
    }

    fn try_lookup(&self, fen: &str, options: &JsValue) -> Result<Work, WasmError> {
        let values = Values(options);
        let signal = values.signal();
        check(signal.as_ref())?;
        let reader = self.reader()?;
        let mut named = Named::<K>::read(options, &reader)?;
        let position: Position = fen.parse().map_err(invalid_fen)?;
        if let Some(answer) = reader.peek(&position) {
            return Ok(
                ready(K::encode(answer, &named.style, &K::question(&position))).boxed_local(),
            );
        }
        let options = options.clone();
        let work = async move {
            let question = K::question(&position);
            loop {
                let mut answer = Err(read_error(ReadError::Unanswered));
                let mut found = |_, found| answer = K::encode(found, &named.style, &question);
                reader.lookup_each(vec![position.clone()], &mut found).await;
                if named.is_current(&reader) {
                    return answer;
                }
                named = Named::read(&options, &reader)?;
            }
        };
        self.guard(signal, work.boxed_local())
    }

    fn try_lookup_many(
        &self,
        fens: &Array,
        options: &JsValue,
        has_answers: bool,
    ) -> Result<Work, WasmError> {
        let values = Values(options);
        let signal = values.signal();
        check(signal.as_ref())?;
        let reader = self.reader()?;
        let mut named = Named::<K>::read(options, &reader)?;
        let answers = Array::new_with_length(fens.length());
        let mut questions = Vec::new();
        let mut positions = Vec::new();
        for (index, fen) in (0..).zip(fens.iter()) {
            match fen.as_string().unwrap_or_default().parse() {
                Ok(position) => {
                    questions.push((index, K::question(&position)));
                    positions.push(position);
                }
                Err(error) => answers.set(index, into_js(invalid_fen(error))),
            }
        }
        let options = options.clone();
        let work = async move {
            loop {
                let mut found = |n: usize, found| {
                    if !has_answers {
                        return;
                    }
                    let (index, question) = &questions[n];
                    answers.set(
                        *index,
                        K::encode(found, &named.style, question).unwrap_or_else(into_js),
                    );
                };
                reader.lookup_each(positions.clone(), &mut found).await;
                if !has_answers || named.is_current(&reader) {
                    return Ok(answers.into());
                }
                named = Named::read(&options, &reader)?;
            }
        };
        self.guard(signal, work.boxed_local())
    }

    /// Ends `work` if the signal is aborted or the database is closed. After an abort, requests in flight continue, for the next
    /// lookup.
    fn guard(&self, signal: Option<AbortSignal>, mut work: Work) -> Result<Work, WasmError> {
        let state = self.state.borrow();
        let state = state.as_ref().ok_or_else(closed)?;
        let mut closing = state.running.closing();
        let (has_memory, reader) = (state.has_memory, state.reader.clone());
        let work = async move {
            let answer = match select(
                unless_aborted(signal.clone(), (&mut work).boxed_local()),
                &mut closing,
            )
            .await
            {
                Either::Left((answer, _)) => answer,
                Either::Right(_) => return Err(closed()),
            };
            if has_memory && answer.is_err() && signal.is_some_and(|signal| signal.aborted()) {
                // Requests in flight continue until `work` is dropped.
                continue_until(closing, reader.linger().boxed_local());
            }
            answer
        };
        Ok(work.boxed_local())
    }
}

/// Options of a lookup, with names of the manifest.
struct Named<K: Kind> {
    style: K::Style,
    manifest: Arc<Manifest>,
}

impl<K: Kind> Named<K> {
    fn read(options: &JsValue, reader: &DatabaseReader<K>) -> Result<Named<K>, WasmError> {
        let manifest = reader.manifest();
        Ok(Named {
            style: K::style(&Values(options), &manifest)?,
            manifest,
        })
    }

    /// Returns whether answers agree with the names. A new build that replaces the manifest during a lookup may have other
    /// names.
    fn is_current(&self, reader: &DatabaseReader<K>) -> bool {
        !K::HAS_NAMES || *self.manifest == *reader.manifest()
    }
}

/// Continues work that no lookup waits for, until the database is closed.
fn continue_until(closing: oneshot::Receiver<()>, work: LocalBoxFuture<'static, ()>) {
    spawn_local(select(work, closing).map(drop));
}
