//! A web app that looks up chess positions with the crate `shelfish`. `README.md` explains how to build it.
#![cfg(target_arch = "wasm32")]

mod database;

use futures_util::future::{AbortHandle, abortable};
use shelfish::eval::PositionEval;
use shelfish::shakmaty::san::SanPlus;
use sycamore::prelude::*;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{SubmitEvent, UrlSearchParams};

use crate::database::OpenDatabase;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// State of the last lookup.
#[derive(Clone)]
enum Outcome {
    Idle,
    Waiting,
    Found(PositionEval),
    Absent,
    Failed(String),
}

/// Renders the page when the module is loaded.
#[wasm_bindgen(start)]
fn start() {
    sycamore::render(App);
}

#[component]
fn App() -> View {
    let database =
        create_signal(parameter("database").unwrap_or_else(|| "db/manifest.json".to_string()));
    let fen = create_signal(START.to_string());
    let outcome = create_signal(Outcome::Idle);
    let running = create_signal(None::<AbortHandle>);
    let open = OpenDatabase::default();

    let ask = move |event: SubmitEvent| {
        event.prevent_default();
        let open = open.clone();
        let (lookup, handle) =
            abortable(async move { open.look_up(&database.get_clone(), &fen.get_clone()).await });
        // A new lookup replaces the previous lookup. Dropping a lookup aborts its requests.
        if let Some(previous) = running.replace(Some(handle)) {
            previous.abort();
        }
        outcome.set(Outcome::Waiting);
        spawn_local(async move {
            match lookup.await {
                Ok(Ok(Some(eval))) => outcome.set(Outcome::Found(eval)),
                Ok(Ok(None)) => outcome.set(Outcome::Absent),
                Ok(Err(error)) => outcome.set(Outcome::Failed(error.to_string())),
                Err(_aborted) => {}
            }
        });
    };

    view! {
        main {
            h1 { "Chess evaluations" }
            form(autocomplete="off", spellcheck="false", on:submit=ask) {
                label(r#for="database") { "Database (URL of its manifest)" }
                input(id="database", inputmode="url", required=true, bind:value=database)
                label(r#for="fen") { "Position (FEN)" }
                input(id="fen", required=true, bind:value=fen)
                button(r#type="submit") { "Look up" }
            }
            // A live region: screen readers announce its changes without moving the focus.
            output(r#for="database fen", role="status", aria-live="polite", aria-atomic="true") {
                (match outcome.get_clone() {
                    Outcome::Idle => View::new(),
                    Outcome::Waiting => view! { "Looking it up …" },
                    Outcome::Found(eval) => answer(&eval),
                    Outcome::Absent => view! { "The position is not in the database." },
                    Outcome::Failed(why) => view! { "That failed: " (why) },
                })
            }
        }
    }
}

/// Shows the best line of the deepest evaluation, with its score.
fn answer(eval: &PositionEval) -> View {
    let Some((best, pv)) = eval.best().and_then(|best| Some((best, best.pvs.first()?))) else {
        return View::new();
    };
    let (score, depth) = (pv.score.to_string(), best.depth.to_string());
    let mut board = eval.position.chess().clone();
    let moves = pv
        .line
        .iter()
        .map(|&m| SanPlus::from_move_and_play_unchecked(&mut board, m).to_string());
    let line = moves.collect::<Vec<_>>().join(" ");
    view! {
        dl {
            dt { "Score, for White" }
            dd { (score) }
            dt { "Depth" }
            dd { (depth) }
            dt { "Best line" }
            dd { (line) }
        }
    }
}

/// Returns a parameter of the page's URL.
fn parameter(name: &str) -> Option<String> {
    let search = web_sys::window()?.location().search().ok()?;
    UrlSearchParams::new_with_str(&search).ok()?.get(name)
}
