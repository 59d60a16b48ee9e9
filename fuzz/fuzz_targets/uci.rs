//! Any lines of a GUI are commands or are ignored. An option is set, or is an error and keeps its value.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "program/engine.rs"]
mod engine;

use engine::command::Command;
use engine::options::Options;

fuzz_target!(|text: &str| {
    let mut options = Options::default();
    for line in text.lines() {
        match Command::parse(line) {
            Some(Command::SetOption { name, value }) => {
                let before = format!("{options:?}");
                if options.set(&name, &value).is_err() {
                    assert_eq!(format!("{options:?}"), before);
                }
            }
            Some(Command::Position {
                fen: Some(fen),
                moves,
            }) => {
                let _ = fen.parse::<shelfish_engine::Position>();
                assert!(moves.len() <= line.len());
            }
            _ => {}
        }
    }
});
