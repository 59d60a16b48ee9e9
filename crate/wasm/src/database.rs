//! An open database.

use core::cell::RefCell;
use core::future::ready;

use futures_channel::oneshot;
use futures_util::FutureExt as _;
use futures_util::future::{Either, LocalBoxFuture, select};
use gloo_events::{EventListener, EventListenerOptions};
use js_sys::{Array, Function, Promise};
use shelfish::position::Position;
use shelfish::reader::{Fetched, Observer, ReadError, Reader};
use shelfish::source::Source as _;
use shelfish::web::{Early, Fetch, IndexedDb};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{future_to_promise, spawn_local};
use web_sys::{AbortController, AbortSignal};

use crate::answer;
use crate::failure::Failure;
use crate::kind::{Asked, Record, Style, tell};
use crate::options::{Open, Values};
use crate::place::{Custom, Place};

/// A reader, and what ends all that it does.
struct State {
    reader: Reader<Place, Record, Option<IndexedDb>>,
    /// Whether it holds what a request brings, so that one is worth waiting for.
    has_memory: bool,
    closing: AbortController,
}

/// An open database. Every method gives a promise, and errors as the package makes them.
#[wasm_bindgen]
pub struct Database {
    state: RefCell<Option<State>>,
    make_error: Function,
}

/// Opens the database of a manifest's URL.
///
/// `source` is an object of the caller to read from, in place of `fetch`; `early` the promise of a response to a request
/// for the manifest, and its controller. `make_error` makes an error of a plain object and a cause.
#[wasm_bindgen]
pub fn open(
    url: String,
    source: JsValue,
    options: JsValue,
    response: Option<Promise>,
    controller: Option<AbortController>,
    make_error: Function,
) -> Promise {
    let values = Values(&options);
    let early = response.zip(controller).map(|(response, controller)| Early { response, controller });
    let parsed = values.open().and_then(|open| Ok((open, values.signal()?)));
    let opening = async move {
        let opening = match parsed {
            Ok((open, signal)) => {
                let (makes, url) = (make_error.clone(), url.clone());
                let connecting =
                    async move { connect(&url, source, open, early).await.map(|state| Database::value(state, makes)) };
                unless_aborted(signal, connecting.boxed_local())
            }
            Err(failure) => {
                // Nobody waits for its answer.
                early.inspect(|early| early.controller.abort());
                ready(Err(failure)).boxed_local()
            }
        };
        opening.await.map_err(|failure| failure.at_opening(&url).into_error(&make_error))
    };
    promise(opening.boxed_local())
}

/// One kind of promise, and so one copy of what makes it.
fn promise(work: LocalBoxFuture<'static, Result<JsValue, JsValue>>) -> Promise {
    future_to_promise(work)
}

async fn connect(url: &str, source: JsValue, open: Open, early: Option<Early>) -> Result<State, Failure> {
    let Open { reader: options, retry, pin, cache, fetch, headers, on_request } = open;
    let has_memory = options.memory > 0;
    let place = if source.is_object() {
        Place::Custom(Custom { url: url.to_string(), object: source, retry })
    } else {
        let mut source = Fetch::new(url).with_retry(retry);
        if let Some(headers) = headers {
            source = source.with_headers(&headers);
        }
        if let Some(fetch) = fetch {
            source = source.with_function(fetch);
        }
        if let Some(early) = early {
            source = source.with_early(early);
        }
        Place::Fetch(source)
    };
    let cache = cache.map(|(name, bytes)| IndexedDb::open(&name, bytes, &place.locate("")));
    let observer = on_request.map(|function| -> Observer {
        Box::new(move |fetched: &Fetched<'_>| {
            // What a listener throws is its own affair.
            let _ = function.call1(&JsValue::UNDEFINED, &answer::fetched(fetched));
        })
    });
    let reader = Reader::builder(place).options(options).cache(cache).pin(pin).observer(observer).open().await?;
    let closing = AbortController::new().map_err(|_| Failure::closed())?;
    Ok(State { reader, has_memory, closing })
}

#[wasm_bindgen]
impl Database {
    /// Looks a position up; `null` if the database does not have it.
    pub fn lookup(&self, fen: &str, options: &JsValue) -> Promise {
        self.promise(self.try_lookup(fen, options))
    }

    /// Looks positions up, answers in the same order; or, without telling, only has at hand what that takes.
    #[wasm_bindgen(js_name = lookupMany)]
    pub fn lookup_many(&self, fens: &Array, options: &JsValue, is_told: bool) -> Promise {
        self.promise(self.try_lookup_many(fens, options, is_told))
    }

    /// Forgets what is kept of the database, in memory and in IndexedDB.
    pub fn clear(&self) -> Promise {
        self.promise(self.reader().map(|reader| {
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

    /// What the database says of itself.
    pub fn manifest(&self) -> Result<JsValue, JsValue> {
        let reader = self.reader().map_err(|failure| failure.into_error(&self.make_error))?;
        Ok(answer::manifest(&reader.manifest()))
    }

    /// What was done since it was opened.
    pub fn stats(&self) -> Result<JsValue, JsValue> {
        let reader = self.reader().map_err(|failure| failure.into_error(&self.make_error))?;
        Ok(answer::stats(&reader.stats()))
    }

    /// Ends all that is under way and frees what the database holds.
    pub fn close(&self) {
        if let Some(state) = self.state.take() {
            if let Some(cache) = state.reader.cache() {
                cache.close();
            }
            state.closing.abort();
        }
    }
}

type Pending<'a> = LocalBoxFuture<'a, Result<JsValue, Failure>>;
type Work = Pending<'static>;

impl Database {
    fn value(state: State, make_error: Function) -> JsValue {
        Database { state: RefCell::new(Some(state)), make_error }.into()
    }

    fn reader(&self) -> Result<Reader<Place, Record, Option<IndexedDb>>, Failure> {
        self.state.borrow().as_ref().map(|state| state.reader.clone()).ok_or_else(Failure::closed)
    }

    fn promise(&self, work: Result<Work, Failure>) -> Promise {
        let make_error = self.make_error.clone();
        let work = work.unwrap_or_else(|failure| ready(Err(failure)).boxed_local());
        promise(async move { work.await.map_err(|failure| failure.into_error(&make_error)) }.boxed_local())
    }

    fn try_lookup(&self, fen: &str, options: &JsValue) -> Result<Work, Failure> {
        let values = Values(options);
        let signal = values.signal()?;
        check(signal.as_ref())?;
        let reader = self.reader()?;
        let style = Style::of(&values, &reader.manifest())?;
        let position: Position = fen.parse()?;
        if let Some(answer) = reader.peek(&position) {
            return Ok(ready(tell(answer, &style, &Asked::of(&position))).boxed_local());
        }
        let work = async move {
            let mut answer = Err(ReadError::Unanswered.into());
            let asked = Asked::of(&position);
            reader.lookup_each(vec![position], &mut |_, found| answer = tell(found, &style, &asked)).await;
            answer
        };
        self.guard(signal, work.boxed_local())
    }

    fn try_lookup_many(&self, fens: &Array, options: &JsValue, is_told: bool) -> Result<Work, Failure> {
        let values = Values(options);
        let signal = values.signal()?;
        check(signal.as_ref())?;
        let reader = self.reader()?;
        let style = Style::of(&values, &reader.manifest())?;
        let answers = Array::new_with_length(fens.length());
        let mut places = Vec::new();
        let mut positions = Vec::new();
        for (place, fen) in (0..).zip(fens.iter()) {
            match fen.as_string().unwrap_or_default().parse() {
                Ok(position) => {
                    places.push((place, Asked::of(&position)));
                    positions.push(position);
                }
                Err(error) => answers.set(place, Failure::from(error).into_error(&self.make_error)),
            }
        }
        let make_error = self.make_error.clone();
        let work = async move {
            reader
                .lookup_each(positions, &mut |n, found| {
                    if !is_told {
                        return;
                    }
                    let (place, asked) = &places[n];
                    let answer = tell(found, &style, asked);
                    let answer = answer.unwrap_or_else(|failure| failure.into_error(&make_error));
                    answers.set(*place, answer);
                })
                .await;
            Ok(answers.into())
        };
        self.guard(signal, work.boxed_local())
    }

    /// Work that ends when the signal is aborted or the database closed. What is aborted leaves its requests under way,
    /// for whoever asks next.
    fn guard(&self, signal: Option<AbortSignal>, work: Work) -> Result<Work, Failure> {
        let state = self.state.borrow();
        let State { reader, has_memory, closing } = state.as_ref().ok_or_else(Failure::closed)?;
        let (closing, has_memory, reader) = (closing.signal(), *has_memory, reader.clone());
        let work = async move {
            let mut work = unless_closed(closing.clone(), work);
            let answer = unless_aborted(signal.clone(), (&mut work).boxed_local()).await;
            if has_memory && answer.is_err() && signal.is_some_and(|signal| signal.aborted()) {
                // As long as the work is there its requests are under way.
                let linger = reader.linger().map(|()| Ok(JsValue::UNDEFINED)).boxed_local();
                spawn_local(unless_closed(closing, linger).map(drop));
            }
            answer
        };
        Ok(work.boxed_local())
    }
}

fn check(signal: Option<&AbortSignal>) -> Result<(), Failure> {
    match signal {
        Some(signal) if signal.aborted() => Err(Failure::aborted(signal.reason())),
        _ => Ok(()),
    }
}

/// What `work` comes to, unless the signal is aborted before.
fn unless_aborted(signal: Option<AbortSignal>, work: Pending<'_>) -> Pending<'_> {
    match signal {
        Some(signal) => unless(signal, Failure::aborted, work),
        None => work,
    }
}

/// What `work` comes to, unless the database is closed before.
fn unless_closed(closing: AbortSignal, work: Pending<'_>) -> Pending<'_> {
    unless(closing, |_| Failure::closed(), work)
}

fn unless(signal: AbortSignal, failure: fn(JsValue) -> Failure, work: Pending<'_>) -> Pending<'_> {
    let work = async move {
        if signal.aborted() {
            return Err(failure(signal.reason()));
        }
        let (send, aborted) = oneshot::channel();
        // Cloudflare's Workers refuse listeners that are passive, which those of gloo are otherwise.
        let options = EventListenerOptions::enable_prevent_default();
        let _listener = EventListener::once_with_options(&signal, "abort", options, move |_| {
            let _ = send.send(());
        });
        match select(work, aborted).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => Err(failure(signal.reason())),
        }
    };
    work.boxed_local()
}
