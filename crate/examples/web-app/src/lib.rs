//! A web app that looks up chess positions with the crate `shelfish`. `README.md` explains how to build it.
#![cfg(target_arch = "wasm32")]

use core::cell::RefCell;
use core::error::Error;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::{AbortHandle, abortable};
use gloo_events::{EventListener, EventListenerOptions};
use shelfish::eval::PositionEval;
use shelfish::position::Position;
use shelfish::reader::Reader;
use shelfish::shakmaty::san::SanPlus;
use shelfish::source::Source as _;
use shelfish::web::{Fetch, FetchOptions, IndexedDb, reason};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Document, Element, HtmlInputElement, Url};

/// Maximum size of the cache in IndexedDB, in bytes.
const CACHE: u64 = 64 << 20;

/// The last database, which stays open so that later lookups use the bytes that it has read, with its URL.
type Open = Rc<RefCell<Option<(String, Reader<Fetch>)>>>;

/// Starts the page when the module is loaded.
#[wasm_bindgen(start)]
fn start() -> Result<(), JsValue> {
    let page = web_sys::window()
        .and_then(|window| window.document())
        .ok_or("no page")?;
    let base = page.url()?;
    let database: HtmlInputElement = element(&page, "database")?.unchecked_into();
    let fen: HtmlInputElement = element(&page, "fen")?.unchecked_into();
    let output = element(&page, "answer")?;
    let form = element(&page, "form")?;
    if let Some(url) = Url::new(&base)?.search_params().get("database") {
        database.set_value(&url);
    }
    let open = Open::default();
    let running = RefCell::new(None::<AbortHandle>);
    let ask = move |event: &web_sys::Event| {
        event.prevent_default();
        let (open, url, fen) = (open.clone(), database.value(), fen.value());
        let url = Url::new_with_base(&url, &base);
        let (lookup, handle) = abortable(async move {
            let url = url.map_err(|error| reason(&error))?;
            look_up(&open, url.href(), &fen).await
        });
        // A new lookup replaces the previous lookup. Dropping a lookup aborts its requests.
        if let Some(previous) = running.replace(Some(handle)) {
            previous.abort();
        }
        output.set_text_content(Some("Looking it up …"));
        let (page, output) = (page.clone(), output.clone());
        spawn_local(async move {
            let text = match lookup.await {
                Ok(Ok(Some(eval))) => return drop(show(&page, &output, &eval)),
                Ok(Ok(None)) => "The position is not in the database.".to_string(),
                Ok(Err(error)) => format!("That failed: {error}"),
                Err(_aborted) => return,
            };
            output.set_text_content(Some(&text));
        });
    };
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(&form, "submit", options, ask).forget();
    Ok(())
}

fn element(page: &Document, id: &str) -> Result<Element, JsValue> {
    page.get_element_by_id(id)
        .ok_or_else(|| format!("no element {id}").into())
}

/// Looks up the position of a FEN in the database whose manifest is at `url`. Returns `None` if the database lacks the position.
async fn look_up(
    open: &Open,
    url: String,
    fen: &str,
) -> Result<Option<PositionEval>, Box<dyn Error>> {
    let position: Position = fen.parse()?;
    let database = database(open, url).await?;
    Ok(database.lookup(&position).await?)
}

#[allow(
    clippy::arc_with_non_send_sync,
    reason = "native readers share the cache among threads"
)]
async fn database(open: &Open, url: String) -> Result<Reader<Fetch>, Box<dyn Error>> {
    if let Some((opened, database)) = &*open.borrow()
        && *opened == url
    {
        return Ok(database.clone());
    }
    let source = Fetch::new(&url, FetchOptions::default());
    let cache = IndexedDb::open("shelfish", CACHE, &source.locate(""));
    let database = Reader::builder(source)
        .cache(Some(Arc::new(cache)))
        .open()
        .await?;
    open.replace(Some((url, database.clone())));
    Ok(database)
}

/// Shows the best line of the deepest evaluation, with its score.
fn show(page: &Document, output: &Element, eval: &PositionEval) -> Result<(), JsValue> {
    output.set_text_content(None);
    let Some((best, pv)) = eval.best().and_then(|best| Some((best, best.pvs.first()?))) else {
        return Ok(());
    };
    let mut board = eval.position.chess().clone();
    let moves = pv
        .line
        .iter()
        .map(|&m| SanPlus::from_move_and_play_unchecked(&mut board, m).to_string());
    let line = moves.collect::<Vec<_>>().join(" ");
    let list = page.create_element("dl")?;
    for (term, description) in [
        ("Score, for White", pv.score.to_string()),
        ("Depth", best.depth.to_string()),
        ("Best line", line),
    ] {
        for (tag, text) in [("dt", term), ("dd", &description)] {
            let item = page.create_element(tag)?;
            item.set_text_content(Some(text));
            list.append_child(&item)?;
        }
    }
    output.append_child(&list)?;
    Ok(())
}
