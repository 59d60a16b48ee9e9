//! Times of the parts of a lookup and of a build, compared with alternatives outside this crate.
//!
//! `cargo bench -p shelfish --features write`. The data are the first positions of the repository's sample. The blocks
//! have the usual size.
//! The best of 50 runs counts. An argument selects the rows whose names contain it.
#![allow(missing_docs, clippy::unwrap_used, reason = "a bench may panic")]

mod sample;

use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use shakmaty::fen::Fen;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _};
use shelfish::eval::PositionEval;
use shelfish::position::{Key, Position};
use shelfish::table::{Block, Chunk, Cutter, KeyRange, Record as _, encode_block};

/// Positions of the sample that are read.
const POSITIONS: usize = 4_000;

/// A block of the usual size, and its content.
struct Sample {
    records: Vec<PositionEval>,
    /// The same records as the lines of the dump.
    lines: Vec<u8>,
    bytes: Vec<u8>,
    at: Chunk,
}

impl Sample {
    fn open(&self) -> Block<PositionEval> {
        Block::open(&self.bytes, &self.at).unwrap()
    }
}

/// Returns the middle block of the first positions of the sample.
fn sample() -> Sample {
    let records = sample::records(POSITIONS);
    let mut cutter = Cutter::new(PositionEval::BLOCK_WEIGHT);
    let mut blocks = Vec::new();
    for (line, eval) in records {
        blocks.extend(cutter.push(
            eval.position.key().as_bytes(),
            sample::weight(&eval),
            (line, eval),
        ));
    }
    let block = blocks.swap_remove(blocks.len() / 2);
    let lines = block
        .iter()
        .flat_map(|(line, _)| [line, &b"\n"[..]].concat())
        .collect();
    let records: Vec<PositionEval> = block.into_iter().map(|(_, eval)| eval).collect();
    let bytes = encode_block(&records).unwrap().bytes;
    let at = Chunk {
        file: "".into(),
        range: 0..bytes.len() as u64,
        keys: KeyRange::all(),
    };
    Sample {
        records,
        lines,
        bytes,
        at,
    }
}

/// Does `work` for each item, unseen by the optimiser.
fn each<T, R>(items: &[T], work: impl Fn(&T) -> R) {
    for item in items {
        black_box(work(black_box(item)));
    }
}

/// Prints the shortest time of a run, and of each of `count` items in it.
fn row<R>(name: &str, count: usize, mut run: impl FnMut() -> R) {
    let is_selected = |text: String| text.starts_with('-') || name.contains(&text);
    if !std::env::args().skip(1).all(is_selected) {
        return;
    }
    let mut best = Duration::MAX;
    for _ in 0..50 {
        let start = Instant::now();
        black_box(run());
        best = best.min(start.elapsed());
    }
    let each = best.as_nanos() as f64 / count as f64;
    println!("{name:42} {best:>12.1?} {each:>12.1} ns each");
}

fn main() {
    let sample = sample();
    let (records, block) = (&sample.records, sample.open());
    let fens: Vec<String> = records
        .iter()
        .map(|record| record.position.to_string())
        .collect();
    row("canonicalise: canonical position", fens.len(), || {
        each(&fens, |fen| fen.parse::<Position>().unwrap())
    });
    row("canonicalise: shakmaty's Fen", fens.len(), || {
        each(&fens, |fen| {
            let fen = Fen::from_ascii(fen.as_bytes()).unwrap();
            fen.into_position::<Chess>(CastlingMode::Chess960).unwrap()
        })
    });
    row("key: exact key", records.len(), || {
        each(records, |record| record.position.key())
    });
    row("key: Zobrist hash", records.len(), || {
        let legal = EnPassantMode::Legal;
        each(records, |record| {
            record.position.chess().zobrist_hash::<Zobrist64>(legal)
        })
    });
    let lines = || {
        records.iter().flat_map(|record| {
            let pvs = record
                .evaluations
                .iter()
                .flat_map(|evaluation| &evaluation.pvs);
            pvs.map(|pv| (record.position.chess(), &pv.line))
        })
    };
    let moves = lines().map(|(_, line)| line.len()).sum();
    row("rank lines: moves from ranks", moves, || {
        block
            .records()
            .map(|record| black_box(record.unwrap()).evaluations.len())
            .sum::<usize>()
    });
    row("rank lines: legal moves", moves, || {
        for (start, line) in lines() {
            let mut chess = start.clone();
            for &m in line {
                black_box(chess.legal_moves());
                chess.play_unchecked(m);
            }
        }
    });
    row("encode: block", 1, || {
        encode_block(black_box(records)).unwrap()
    });
    row("encode: zstd -19 of the lines", 1, || {
        zstd::bulk::compress(black_box(&sample.lines), 19).unwrap()
    });
    row("decode: block", sample.bytes.len(), || {
        black_box(&sample).open()
    });
    row("decode: zstd of the same bytes", sample.bytes.len(), || {
        let bytes = sample.at.unseal(&sample.bytes).unwrap();
        zstd::bulk::decompress(black_box(bytes), 1 << 20).unwrap()
    });
    // A position that a block does not contain, so that no record is decoded.
    let absent: Position = "8/8/8/4k3/8/4K3/4P3/8 w - -".parse().unwrap();
    let keys: Vec<Key> = records.iter().map(|record| record.position.key()).collect();
    let map: HashMap<&Position, &PositionEval> = records
        .iter()
        .map(|record| (&record.position, record))
        .collect();
    row("search: block", 1, || {
        block.find(black_box(&absent)).unwrap().is_some()
    });
    row("search: scan of keys", 1, || {
        let wanted = black_box(&absent).key();
        keys.iter().position(|key| *key == wanted)
    });
    row("search: hash map", 1, || {
        map.contains_key(black_box(&absent))
    });
}
