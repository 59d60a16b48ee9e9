//! Targets with the whole program.

use std::cmp::Reverse;
use std::io::{Seek, Write};
use std::sync::Arc;

use shelfish::eval::PositionEval;
use shelfish_cli::commands::engine::{command::Command, options::Options};
use shelfish_cli::evaluations::record::{self, Record, parse_rows};
use shelfish_cli::input::MEMORY;
use shelfish_cli::input::lines::Text;
use shelfish_cli::input::parquet::Table;

use crate::library::assert_kept;

/// Any line of a dump is a record or is rejected. The record of a line can be written, and is read as it was.
pub fn dump(line: &[u8]) {
    let Ok(Record {
        position,
        mut evaluations,
        ..
    }) = record::parse(line)
    else {
        return;
    };
    assert_eq!(
        PositionEval::fit(&position, &evaluations),
        evaluations.len(),
        "a record within its limits"
    );
    // A merge brings the evaluations into this order.
    evaluations.sort_by_key(|evaluation| {
        Reverse((evaluation.depth, evaluation.pvs.len(), evaluation.knodes))
    });
    let eval = PositionEval {
        position,
        evaluations,
    };
    assert_kept(&[eval]);
}

/// Any lines of a GUI are commands or are ignored. An option is set, or is an error and keeps its value.
pub fn uci(text: &str) {
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
}

/// Maximum number of chunks that are read of a file. Each contains up to 4,096 rows.
const MOST_CHUNKS: usize = 20;

/// Any file in Parquet is rows of positions or is an error. A row is a record or is rejected.
///
/// The library panics on some damaged pages, and the program catches these panics.
pub fn parquet(bytes: &[u8]) {
    std::panic::set_hook(Box::new(|_| {}));
    let mut file = tempfile::tempfile().expect("a file in the temporary directory");
    file.write_all(bytes)
        .and_then(|()| file.rewind())
        .expect("a file is written");
    let Ok(table) = Table::open(file, Arc::default(), MEMORY) else {
        return;
    };
    for chunk in table.chunks().take(MOST_CHUNKS) {
        let Ok(chunk) = chunk else { return };
        let Text::Rows(positions) = chunk.text else {
            panic!("a chunk of a table has rows")
        };
        for rows in positions {
            assert_eq!(
                rows.evaluations()
                    .iter()
                    .map(|rows| rows.len())
                    .sum::<usize>(),
                rows.rows.len()
            );
            if let Ok(Record {
                position,
                evaluations,
                ..
            }) = parse_rows(&rows)
            {
                assert_eq!(
                    PositionEval::fit(&position, &evaluations),
                    evaluations.len(),
                    "a record within its limits"
                );
            }
        }
    }
}
