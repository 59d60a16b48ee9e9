//! Times of the parts of a lookup and of a build, compared with alternatives outside this crate.
//!
//! `cargo bench -p shelfish --features write`, with a part of a name to measure only some. The data are a block of the usual size of
//! the sample database of the npm package.
#![allow(clippy::unwrap_used, reason = "a bench may panic")]

use std::collections::HashMap;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use shakmaty::fen::Fen;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _};
use shelfish::eval::PositionEval;
use shelfish::position::{Key, Position};
use shelfish::table::{Block, Chunk, Manifest, Page, encode_block};

/// Time of a measurement.
const TIME: Duration = Duration::from_secs(3);

/// Prints the least time of some work, per item.
fn measure<R>(name: &str, items: usize, mut work: impl FnMut() -> R) {
    if std::env::args()
        .skip(1)
        .any(|part| !part.starts_with("--") && !name.contains(&part))
    {
        return;
    }
    let (start, mut least) = (Instant::now(), Duration::MAX);
    while start.elapsed() < TIME {
        let before = Instant::now();
        black_box(work());
        least = least.min(before.elapsed());
    }
    println!(
        "{name}: {least:.2?}, {:.0} ns for each of {items}",
        least.as_secs_f64() * 1e9 / items as f64
    );
}

/// Does `work` for each item, unseen by the optimiser.
fn each<T, R>(items: &[T], work: impl Fn(&T) -> R) {
    for item in items {
        black_box(work(black_box(item)));
    }
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../static-shards/package-sample");
    let manifest = fs::read(folder.join(Manifest::FILE)).unwrap();
    let manifest = Manifest::parse::<PositionEval>(&manifest).unwrap();
    let page = manifest.pages().next().unwrap();
    let shard = fs::read(folder.join(&*page.file)).unwrap();
    let blocks: Vec<Chunk> = Page::parse(page.within(&shard, 0), &page)
        .unwrap()
        .blocks()
        .collect();
    let at = &blocks[blocks.len() / 2];
    let bytes = at.within(&shard, 0);
    let open = || Block::<PositionEval>::open(black_box(bytes), at).unwrap();
    let block = open();
    let records: Vec<PositionEval> = block.records().map(Result::unwrap).collect();
    let count = records.len();

    let fens: Vec<String> = records
        .iter()
        .map(|record| record.position.to_string())
        .collect();
    measure("canonical position", count, || {
        each(&fens, |fen| fen.parse::<Position>().unwrap())
    });
    measure(
        "canonical position, baseline: shakmaty's Fen",
        count,
        || {
            each(&fens, |fen| -> Chess {
                let fen: Fen = fen.parse().unwrap();
                fen.into_position(CastlingMode::Chess960).unwrap()
            })
        },
    );
    measure("exact key", count, || {
        each(&records, |record| record.position.key())
    });
    measure("exact key, baseline: Zobrist hash", count, || {
        let hash = |record: &PositionEval| {
            record
                .position
                .chess()
                .zobrist_hash::<Zobrist64>(EnPassantMode::Legal)
        };
        each(&records, hash)
    });

    let lines: Vec<_> = records
        .iter()
        .flat_map(|record| {
            record
                .evaluations
                .iter()
                .map(move |evaluation| (record, evaluation))
        })
        .flat_map(|(record, evaluation)| {
            evaluation
                .pvs
                .iter()
                .map(|pv| (record.position.chess(), &pv.line))
        })
        .collect();
    let plies = lines.iter().map(|(_, line)| line.len()).sum();
    measure("moves of lines", plies, || {
        block
            .records()
            .map(Result::unwrap)
            .for_each(|record| drop(black_box(record)))
    });
    measure("moves of lines, baseline: legal moves", plies, || {
        each(&lines, |(start, line)| {
            let mut chess = (*start).clone();
            for &m in *line {
                black_box(chess.legal_moves());
                chess.play_unchecked(m);
            }
        })
    });
    measure("encode a block", count, || {
        encode_block(black_box(&records)).unwrap()
    });
    measure("decode a block", bytes.len(), open);
    measure("decode a block, baseline: zstd", bytes.len(), || {
        zstd::bulk::decompress(at.unseal(black_box(bytes)).unwrap(), 1 << 20).unwrap()
    });

    measure("open a block and find a record", count, || {
        each(&records, |record| open().find(&record.position).unwrap())
    });

    let absent: Position = "8/8/8/4k3/8/4K3/4P3/8 w - -".parse().unwrap();
    let keys: Vec<Key> = records.iter().map(|record| record.position.key()).collect();
    let map: HashMap<&Position, &PositionEval> = records
        .iter()
        .map(|record| (&record.position, record))
        .collect();
    measure("search in a block", 1, || {
        block.find(black_box(&absent)).unwrap()
    });
    measure("search in a block, baseline: scan of keys", 1, || {
        let wanted = black_box(&absent).key();
        keys.iter().position(|key| *key == wanted)
    });
    measure("search in a block, baseline: hash map", 1, || {
        map.get(black_box(&absent))
    });
}
