//! Times of the parts of a lookup and of a build, compared with alternatives outside this crate.
//!
//! `cargo bench -p shelfish --features write`. The data are the first positions of the repository's sample. The blocks
//! have the usual size.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "the macros of criterion; a bench may panic"
)]

mod sample;

use std::collections::HashMap;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
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

/// Measures FEN to a canonical position, compared with FEN to a position.
fn canonicalise(c: &mut Criterion) {
    let Sample { records, .. } = sample();
    let fens: Vec<String> = records
        .iter()
        .map(|record| record.position.to_string())
        .collect();
    let mut group = c.benchmark_group("canonicalise");
    group.throughput(Throughput::Elements(fens.len() as u64));
    group.bench_function("canonical position", |b| {
        b.iter(|| each(&fens, |fen| fen.parse::<Position>().unwrap()))
    });
    group.bench_function("baseline: shakmaty's Fen", |b| {
        let parse = |fen: &String| -> Chess {
            Fen::from_ascii(fen.as_bytes())
                .unwrap()
                .into_position(CastlingMode::Chess960)
                .unwrap()
        };
        b.iter(|| each(&fens, parse))
    });
    group.finish();
}

/// Measures the exact code of a position, compared with a hash.
fn key(c: &mut Criterion) {
    let Sample { records, .. } = sample();
    let mut group = c.benchmark_group("key");
    group.throughput(Throughput::Elements(records.len() as u64));
    group.bench_function("exact key", |b| {
        b.iter(|| each(&records, |record| record.position.key()))
    });
    group.bench_function("baseline: Zobrist hash", |b| {
        let hash = |record: &PositionEval| {
            record
                .position
                .chess()
                .zobrist_hash::<Zobrist64>(EnPassantMode::Legal)
        };
        b.iter(|| each(&records, hash))
    });
    group.finish();
}

/// Lines from ranks of moves, compared with generating the legal moves of the same lines.
fn lines(c: &mut Criterion) {
    let sample = sample();
    let block = sample.open();
    let lines = || {
        sample.records.iter().flat_map(|record| {
            let pvs = record
                .evaluations
                .iter()
                .flat_map(|evaluation| &evaluation.pvs);
            pvs.map(|pv| (record.position.chess(), &pv.line))
        })
    };
    let mut group = c.benchmark_group("rank lines");
    group.throughput(Throughput::Elements(
        lines().map(|(_, line)| line.len() as u64).sum(),
    ));
    group.bench_function("moves from ranks", |b| {
        b.iter(|| {
            block
                .records()
                .map(|record| black_box(record.unwrap()).evaluations.len())
                .sum::<usize>()
        })
    });
    group.bench_function("baseline: legal moves", |b| {
        b.iter(|| {
            for (start, line) in lines() {
                let mut chess = start.clone();
                for &m in line {
                    black_box(chess.legal_moves());
                    chess.play_unchecked(m);
                }
            }
        })
    });
    group.finish();
}

/// Measures a block from records, compared with zstd of their lines.
fn encode(c: &mut Criterion) {
    let sample = sample();
    let mut group = c.benchmark_group("encode a block");
    group
        .sample_size(20)
        .throughput(Throughput::Elements(sample.records.len() as u64));
    group.bench_function("block", |b| {
        b.iter(|| encode_block(black_box(&sample.records)).unwrap())
    });
    group.bench_function("baseline: zstd -19 of the lines", |b| {
        b.iter(|| zstd::bulk::compress(black_box(&sample.lines), 19).unwrap())
    });
    group.finish();
}

/// Measures a block from bytes, compared with their decompression.
fn decode(c: &mut Criterion) {
    let sample = sample();
    let mut group = c.benchmark_group("decode a block");
    group.throughput(Throughput::Bytes(sample.bytes.len() as u64));
    group.bench_function("block", |b| b.iter(|| black_box(&sample).open()));
    group.bench_function("baseline: zstd of the same bytes", |b| {
        b.iter(|| {
            zstd::bulk::decompress(black_box(sample.at.unseal(&sample.bytes).unwrap()), 1 << 20)
                .unwrap()
        })
    });
    group.finish();
}

/// Measures a position that a block does not contain, so that no record is decoded, compared with a hash map and a scan
/// of keys.
fn search(c: &mut Criterion) {
    let sample = sample();
    let block = sample.open();
    let absent: Position = "8/8/8/4k3/8/4K3/4P3/8 w - -".parse().unwrap();
    let keys: Vec<Key> = sample
        .records
        .iter()
        .map(|record| record.position.key())
        .collect();
    let map: HashMap<&Position, &PositionEval> = sample
        .records
        .iter()
        .map(|record| (&record.position, record))
        .collect();
    let mut group = c.benchmark_group("search in a block");
    group.bench_function("block", |b| {
        b.iter(|| block.find(black_box(&absent)).unwrap())
    });
    group.bench_function("baseline: scan of keys", |b| {
        b.iter(|| {
            let wanted = black_box(&absent).key();
            keys.iter().position(|key| *key == wanted)
        })
    });
    group.bench_function("baseline: hash map", |b| {
        b.iter(|| map.get(black_box(&absent)))
    });
    group.finish();
}

criterion_group!(codec, canonicalise, key, lines, encode, decode, search);
criterion_main!(codec);
