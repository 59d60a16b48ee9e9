//! Fuzz targets. The variable `SHELFISH_FUZZ` names the target of a run. Each target reads any bytes without a panic, and checks
//! that what was read stays the same when it is written and read again.
#![no_main]

mod endgames;
mod engine;
mod library;
#[cfg(feature = "program")]
mod program;

use std::{env, str, sync::LazyLock};

use libfuzzer_sys::fuzz_target;

/// A target: its input is bytes, or text.
#[derive(Clone, Copy)]
enum Target {
    Bytes(fn(&[u8])),
    Text(fn(&str)),
}

use Target::{Bytes, Text};

/// Targets that need no more than the libraries.
const LIBRARIES: [(&str, Target); 13] = [
    ("fen", Text(library::fen)),
    ("key", Bytes(library::key)),
    ("manifest", Text(library::manifest)),
    ("page", Bytes(library::page)),
    (
        "block",
        Bytes(library::block::<shelfish::eval::PositionEval>),
    ),
    ("played", Bytes(library::block::<shelfish::played::Played>)),
    ("polyglot", Bytes(library::polyglot)),
    ("http", Bytes(library::http)),
    ("pgn", Bytes(library::pgn)),
    ("search", Bytes(engine::search_position)),
    ("network", Bytes(engine::network)),
    ("endgames", Bytes(endgames::index)),
    ("table", Bytes(endgames::table)),
];

/// Targets with the whole program.
#[cfg(feature = "program")]
const PROGRAM: [(&str, Target); 3] = [
    ("dump", Bytes(program::dump)),
    ("uci", Text(program::uci)),
    ("parquet", Bytes(program::parquet)),
];
#[cfg(not(feature = "program"))]
const PROGRAM: [(&str, Target); 0] = [];

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = env::var("SHELFISH_FUZZ").expect("SHELFISH_FUZZ names a target");
    let found = LIBRARIES
        .iter()
        .chain(&PROGRAM)
        .find(|(other, _)| *other == name);
    found.expect("SHELFISH_FUZZ is the name of a target").1
});

fuzz_target!(|data: &[u8]| {
    match *TARGET {
        Bytes(run) => run(data),
        Text(run) => {
            if let Ok(text) = str::from_utf8(data) {
                run(text);
            }
        }
    }
});
