//! Games and evaluations for several tests.

use std::collections::HashMap;

use shakmaty::uci::UciMove;
use shelfish::position::Position;
use shelfish_analysis::pgn::{GameTexts, PgnGame, read};
use shelfish_analysis::{KnownEval, Score};

/// Returns the decompressed text of a file of the shared data sets, if the file exists.
pub fn shared(name: &str) -> Option<Vec<u8>> {
    let path = format!("{}/../../../shared/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path)
        .inspect_err(|_| eprintln!("SKIPPED: {path} is not there"))
        .ok()?;
    Some(if name.ends_with(".zst") {
        zstd::decode_all(&bytes[..]).unwrap()
    } else {
        bytes
    })
}

/// Reads the games of a file. Games with errors are left out.
pub fn games(text: &str) -> Vec<PgnGame> {
    let games = GameTexts::new(text.as_bytes()).map(|text| read(&text.unwrap().text, 1));
    games.filter(|game| game.error.is_none()).collect()
}

/// Reads the deepest evaluation of each position from a file, as Lichess recommends.
pub fn evaluations(text: &[u8]) -> HashMap<Position, KnownEval> {
    let parse = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let position: Position = record["fen"].as_str().unwrap().parse().unwrap();
        let evaluation = record["evals"]
            .as_array()
            .unwrap()
            .iter()
            .max_by_key(|evaluation| evaluation["depth"].as_u64())
            .unwrap();
        let pv = &evaluation["pvs"][0];
        let score = match pv["cp"].as_i64() {
            Some(cp) => Score::Cp(cp as i32),
            None => Score::Mate(pv["mate"].as_i64().unwrap() as i32),
        };
        let line = pv["line"]
            .as_str()
            .unwrap()
            .split(' ')
            .map(|m| m.parse::<UciMove>().unwrap())
            .collect();
        let depth = evaluation["depth"].as_u64().map(|depth| depth as u16);
        (
            position,
            KnownEval {
                line,
                ..KnownEval::new(score, depth)
            },
        )
    };
    std::str::from_utf8(text)
        .unwrap()
        .lines()
        .map(parse)
        .collect()
}
