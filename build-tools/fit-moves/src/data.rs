//! Reads records and splits them into two halves. Runs of neighbouring lines alternate between the halves.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position as _};

use crate::moves::line::LineInfo;

pub(crate) struct Record {
    pub(crate) position: Chess,
    pub(crate) lines: Vec<(LineInfo, Vec<Move>)>,
}

#[derive(Deserialize)]
struct Row {
    fen: String,
    evals: Vec<Evaluation>,
}

#[derive(Deserialize)]
struct Evaluation {
    pvs: Vec<Pv>,
    knodes: u64,
    depth: u16,
}

#[derive(Deserialize)]
struct Pv {
    line: String,
}

/// Number of consecutive lines that stay together. They come from few games.
const RUN: usize = 1000;

pub(crate) fn read(path: &Path, max: usize) -> Result<(Vec<Record>, Vec<Record>), Box<dyn Error>> {
    let file = File::open(path)?;
    let source: Box<dyn Read> = match path.extension() {
        Some(ending) if ending == "zst" => Box::new(zstd::Decoder::new(file)?),
        _ => Box::new(file),
    };
    let mut halves = (Vec::new(), Vec::new());
    for (number, row) in BufReader::new(source).lines().enumerate().take(max) {
        let record = record(serde_json::from_str(&row?)?)?;
        if (number / RUN).is_multiple_of(2) {
            halves.0.push(record)
        } else {
            halves.1.push(record)
        }
    }
    Ok(halves)
}

// The error of shakmaty contains the position, which makes it large.
#[allow(clippy::result_large_err)]
fn record(mut row: Row) -> Result<Record, Box<dyn Error>> {
    let position: Chess = row
        .fen
        .parse::<Fen>()?
        .into_position(CastlingMode::Chess960)
        .or_else(|error| error.ignore_too_much_material())
        .or_else(|error| error.ignore_impossible_check())?;
    row.evals
        .sort_by_key(|e| core::cmp::Reverse((e.depth, e.pvs.len(), e.knodes)));
    let mut lines = Vec::new();
    for evaluation in &row.evals {
        for (i, pv) in evaluation.pvs.iter().enumerate() {
            let mut at = position.clone();
            let mut line = Vec::new();
            for word in pv.line.split_whitespace() {
                let Ok(m) = word.parse::<UciMove>()?.to_move(&at) else {
                    break;
                };
                at.play_unchecked(m);
                line.push(m);
            }
            lines.push((
                LineInfo {
                    is_first_pv: i == 0,
                    depth: evaluation.depth,
                },
                line,
            ));
        }
    }
    Ok(Record { position, lines })
}
