//! Attacks: bytes that a hostile host can send, with valid seals and checksums.
//!
//! The tests of this crate assert the answers of a native reader, and the tests of the npm package those of a reader in
//! WebAssembly.

pub mod columns;

use std::fs;
use std::path::Path;

use shakmaty::{Chess, Move, Position as _};
use shelfish::eval::{Evaluation, PositionEval, Pv, Score};
use shelfish::leb128;
use shelfish::played::{Details, Played, Results};
use shelfish::position::Position;
use shelfish::table::{Manifest, Record, TableWriter, WriteError, WriterOptions, encode_block};

use columns::{BlockBuilder, column, sealed, sealed_frame, zstd_block_header};

/// The initial position.
pub const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
/// A position with the maximum number of legal moves, and many attacks.
pub const CROWD: &str = "kBQQQQQQ/BR5Q/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/KQQQQQQQ w - -";

/// A position with few legal moves, but nearly every piece attacks and is attacked. The features of the position take longer than
/// its moves.
pub const MELEE: &str =
    "BkBQBBrN/pqqQrbNn/bnnbRq1b/qbr1RRnB/BRrqQKBn/bpprRNBP/QqnbqrqR/QB1q2rB w - -";

/// Expected result of an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// An answer, because a writer may produce these bytes.
    Answer,
    /// An error.
    Refused,
}

/// A hostile block.
#[derive(Clone, Debug)]
pub struct Attack {
    /// Description of the attack.
    pub name: &'static str,
    /// Position whose lookup opens the block.
    pub fen: &'static str,
    /// The block, sealed.
    pub block: Vec<u8>,
    /// Expected result.
    pub outcome: Outcome,
}

fn position(fen: &str) -> Position {
    fen.parse().expect("the positions of this crate are valid")
}

/// Returns an evaluation of lines of `plies` moves that share no moves.
fn evaluation(position: &Position, depth: u16, pvs: usize, plies: usize) -> Evaluation {
    let line = |n: usize| -> Vec<Move> {
        let mut chess: Chess = position.chess().clone();
        let (mut line, mut choose) = (Vec::new(), n + usize::from(depth) * pvs);
        while line.len() < plies {
            let moves = chess.legal_moves();
            let Some(&m) = moves.get(choose % moves.len().max(1)) else {
                break;
            };
            choose = choose / moves.len() + 7 * n + line.len();
            chess.play_unchecked(m);
            line.push(m);
        }
        line
    };
    Evaluation {
        depth,
        knodes: 1,
        pvs: (0..pvs)
            .map(|n| Pv {
                score: Score::Cp(0),
                line: line(n),
            })
            .collect(),
    }
}

/// Returns the largest record that a writer makes of evaluations with these numbers of PVs and moves.
fn largest(fen: &str, pvs: usize, plies: usize) -> Vec<u8> {
    let position = position(fen);
    let mut evaluations: Vec<Evaluation> = (1..=300)
        .rev()
        .map(|depth| evaluation(&position, depth, pvs, plies))
        .collect();
    evaluations.truncate(PositionEval::fit(&position, &evaluations).max(1));
    encode_block(&[PositionEval {
        position,
        evaluations,
    }])
    .expect("what fits can be written")
    .bytes
}

/// Returns a record of evaluations with 256 PVs each. `line` is called for each PV and appends its line.
fn record(chess: &Chess, evaluations: u64, line: impl Fn(&mut BlockBuilder, u64)) -> BlockBuilder {
    let mut builder = BlockBuilder::of(chess);
    builder.numbers(evaluations, 256);
    (0..evaluations * 256).for_each(|n| line(&mut builder, n));
    builder.end_record(true);
    builder
}

/// Returns the hostile blocks of evaluations.
pub fn blocks() -> Vec<Attack> {
    use Outcome::{Answer, Refused};
    let mut all = Vec::new();
    let mut add = |name, fen, block, outcome| {
        all.push(Attack {
            name,
            fen,
            block,
            outcome,
        })
    };

    // The maximum that a writer makes.
    add(
        "the most moves, long lines",
        START,
        largest(START, 1, 400),
        Answer,
    );
    add(
        "the most moves, short lines",
        START,
        largest(START, 256, 2),
        Answer,
    );
    add(
        "the most PVs without a move",
        START,
        largest(START, 256, 0),
        Answer,
    );
    add("the most choices", CROWD, largest(CROWD, 240, 1), Answer);
    add(
        "the most choices, deep",
        CROWD,
        largest(CROWD, 20, 30),
        Answer,
    );

    // Lines that share few moves. A writer would not share in this way.
    let lines = |fen: &str, moves: u64| {
        let chess = position(fen).chess().clone();
        let legal = chess.legal_moves().len() as u64;
        let line = |builder: &mut BlockBuilder, n: u64| {
            let shared = n / legal;
            builder.line(n, shared, shared + moves);
        };
        record(&chess, 1, line).build()
    };
    add(
        "the most moves of a melee",
        MELEE,
        largest(MELEE, 40, 30),
        Answer,
    );
    add("1,024 moves of a crowd", CROWD, lines(CROWD, 4), Refused);
    add("256 moves of a crowd", CROWD, lines(CROWD, 1), Answer);

    // More than a writer makes.
    let start = Chess::default();
    let shared =
        |builder: &mut BlockBuilder, n: u64| builder.line(n, if n > 0 { 40 } else { 0 }, 40);
    add(
        "256 evaluations of 256 PVs that share all moves",
        START,
        record(&start, 256, shared).build(),
        Refused,
    );
    add(
        "4,096 PVs that share 40 moves",
        START,
        record(&start, 16, shared).build(),
        Refused,
    );
    let long = |builder: &mut BlockBuilder, n: u64| builder.line(n, 0, 60);
    add(
        "4,096 PVs of 60 moves each",
        START,
        record(&start, 16, long).build(),
        Refused,
    );
    let mut too_many = BlockBuilder::of(&start);
    too_many.numbers(257, 1);
    add("257 evaluations", START, too_many.build(), Refused);
    let mut too_many = BlockBuilder::of(&start);
    too_many.numbers(1, 1);
    too_many.columns[column::PVS].clear();
    // The greatest number of this column.
    too_many.count(column::PVS, (1 << 30) - 2);
    add("2^29 PVs", START, too_many.build(), Refused);
    let mut wide = BlockBuilder::of(&start);
    wide.numbers(1, 2);
    (0..2).for_each(|n| wide.line(n, 0, u64::MAX / 4));
    add("lines of 2^62 moves", START, wide.build(), Refused);
    let mut beyond_mate = BlockBuilder::of(&start);
    beyond_mate.numbers(1, 1);
    beyond_mate.columns[column::SCORE_FIRST_PV].clear();
    beyond_mate.score(column::SCORE_FIRST_PV, i64::from(i32::MAX) + 32_768 + 5);
    beyond_mate.line(0, 0, 0);
    beyond_mate.end_record(true);
    add("a score beyond mate", START, beyond_mate.build(), Refused);

    // Positions.
    let walk = |count: usize| {
        let mut builder = steps(BlockBuilder::of(&start), count);
        for n in 1..=count {
            builder.numbers(1, 1);
            builder.line(0, 0, 0);
            builder.end_record(n == count);
        }
        builder.build()
    };
    add(
        "as many positions as a block has, a step each",
        START,
        walk(8192),
        Answer,
    );
    add("one position more", START, walk(8193), Refused);

    // Frames.
    let zeros = |size: u32| {
        let mut blocks = Vec::new();
        let mut left = size;
        while left > 0 {
            let part = left.min(1 << 17);
            left -= part;
            blocks.extend(zstd_block_header(left == 0, 1, part));
            blocks.push(0);
        }
        sealed_frame(size, &blocks)
    };
    add(
        "the largest content, of zeros",
        START,
        zeros(256 << 10),
        Refused,
    );
    add(
        "a content of 8 MiB in 300 bytes",
        START,
        zeros(8 << 20),
        Refused,
    );
    add(
        "a content of 4 GiB, announced",
        START,
        sealed_frame(u32::MAX, &[1, 0, 0]),
        Refused,
    );
    let empty_blocks = |count: usize| {
        let blocks: Vec<u8> = (0..count)
            .flat_map(|n| zstd_block_header(n + 1 == count, 0, 0))
            .collect();
        sealed_frame(0, &blocks)
    };
    add(
        "80,000 empty zstd blocks",
        START,
        empty_blocks(80_000),
        Refused,
    );
    add(
        "as many zstd blocks as a frame has, a table each",
        START,
        tables(256),
        Refused,
    );
    add(
        "80,000 zstd blocks with a table each",
        START,
        tables(8_000),
        Refused,
    );
    let mut columns = Vec::new();
    leb128::push(&mut columns, u64::MAX);
    add("2^64 columns", START, sealed(&columns), Refused);
    let mut lengths = Vec::new();
    leb128::push(&mut lengths, 16);
    (0..16).for_each(|_| leb128::push(&mut lengths, u64::MAX));
    add("columns of 2^64 bytes", START, sealed(&lengths), Refused);
    let mut noise = 1u64;
    let content: Vec<u8> = (0..250 << 10)
        .map(|_| {
            noise = noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (noise >> 60) as u8
        })
        .collect();
    add("as much noise as fits", START, sealed(&content), Refused);
    all
}

/// Returns a block of positions that are a step apart each.
fn steps(first: BlockBuilder, count: usize) -> BlockBuilder {
    let links: Vec<u8> = (1..count).map(|n| 16 | u8::from(n % 4 > 1)).collect();
    first.with(&[
        (column::LINKS, &links),
        (column::STEP_TARGETS, &vec![0; count - 1]),
    ])
}

/// Returns the hostile blocks of played moves.
pub fn books() -> Vec<Attack> {
    use Outcome::{Answer, Refused};
    use column::*;
    let root = || BlockBuilder::of_moves(&Chess::default());
    let zeros = |count: usize| vec![0; count];
    let one_game = steps(root(), 8192).with(&[
        (ARRIVALS, &[0]),
        (ARRIVED_WHITE, &[1]),
        (MORE_ARRIVALS, &[0; 8191]),
        (NEXT, &[0; 8191]),
        (LAST, &[0]),
    ]);
    // Games that arrive at each position and leave it by many moves.
    let crowded = |count: usize, moves: u8| {
        let all = count * usize::from(moves);
        steps(root(), count).with(&[
            (ARRIVALS, &vec![moves - 1; count]),
            (ARRIVED_WHITE, &vec![moves; count]),
            (STEP_SHARES, &zeros(count - 1)),
            (OTHER_SHARES, &zeros(all)),
            (MOVE_RANKS, &zeros(all)),
        ])
    };
    // 20 has a symbol and low bits; the low bits of 21 differ.
    let last_move = |low_bits: u8| {
        root().with(&[
            (ARRIVALS, &[0]),
            (ARRIVED_WHITE, &[1]),
            (LAST, &[17]),
            (MOVES_LOW_BITS, &[low_bits]),
        ])
    };
    let most = |symbol: u8| {
        root().with(&[
            (ARRIVALS, &[symbol]),
            (MOVES_LOW_BITS, &[255; 32]),
            (ARRIVED_WHITE, &[0]),
            (ARRIVED_DRAWS, &[0]),
        ])
    };
    // A single game with a rating and a reference, through many positions with many buckets.
    let one_of_buckets = |count: usize, layout: [u8; 3], reference: u64| {
        let mut builder = steps(root(), count).detail(layout).with(&[
            (ARRIVALS, &[0]),
            (BUCKET_OF_ONE, &[15]),
            (ARRIVED_WHITE, &[1]),
            (UNRATED, &[0]),
            (ARRIVED_RATINGS, &[0]),
            (MORE_ARRIVALS, &zeros(count - 1)),
            (NEXT, &zeros(count - 1)),
            (LAST, &[0]),
            (MISSING_REFERENCES, &zeros(count)),
            (KNOWN_REFERENCES, &vec![1; count - 1]),
        ]);
        builder.reference(reference);
        builder
    };
    // Two games arrive at each position, in the last of 64 buckets, and end there.
    let buckets = steps(root(), 2048).detail([64, 0, 0]).with(&[
        (ARRIVALS, &[1; 2048]),
        (ARRIVED_BUCKETS, &[0; 63 * 2048]),
        (ARRIVED_WHITE, &[2; 2048]),
        (STEP_SHARES, &[0; 2047]),
        (OTHER_SHARES, &[2; 2048]),
    ]);
    // As many games as references arrive at each position and end there.
    let mut references = steps(root(), 1850).detail([0, 0, 15]).with(&[
        (ARRIVALS, &[14; 1850]),
        (ARRIVED_WHITE, &[15; 1850]),
        (STEP_SHARES, &[0; 1849]),
        (OTHER_SHARES, &[15; 1850]),
        (MISSING_REFERENCES, &[0; 1850]),
    ]);
    for n in 0..1850 {
        (0..15)
            .rev()
            .for_each(|game| references.reference(n << 8 | game));
    }
    let all = [
        (
            "one game through as many positions as a block has",
            one_game,
            Answer,
        ),
        ("65,536 moves", crowded(8192, 8), Answer),
        ("65,545 moves", crowded(7_283, 9), Refused),
        ("the last legal move", last_move(0), Answer),
        ("the one after the last legal move", last_move(1), Refused),
        ("no game", root(), Refused),
        ("2^64 games", most(255), Refused),
        ("2^53 games", most(4 * (53 - 4) + 16), Refused),
        (
            "262,144 buckets",
            one_of_buckets(2048, [64, 1, 1], 0),
            Answer,
        ),
        (
            "262,272 buckets",
            one_of_buckets(2049, [64, 1, 1], 0),
            Refused,
        ),
        (
            "65 buckets a move",
            one_of_buckets(9, [65, 1, 1], 0),
            Refused,
        ),
        (
            "17 references a move",
            one_of_buckets(9, [64, 1, 17], 0),
            Refused,
        ),
        (
            "a layout that says nothing",
            one_of_buckets(9, [0, 0, 0], 0),
            Refused,
        ),
        (
            "a reference to no game",
            one_of_buckets(9, [64, 1, 1], u64::MAX),
            Refused,
        ),
        ("games of 129,024 buckets", buckets, Answer),
        ("27,750 references", references, Answer),
    ];
    all.map(|(name, builder, outcome)| Attack {
        name,
        fen: START,
        block: builder.build(),
        outcome,
    })
    .into()
}

/// Returns a frame of zstd blocks that contain a Huffman table each, for a single literal.
fn tables(count: usize) -> Vec<u8> {
    // zstd codes the literals of this text with a separate table. The frame repeats that zstd block.
    let text: Vec<u8> = (0..600u32)
        .map(|n| b'a' + (n.wrapping_mul(n) % 23) as u8)
        .collect();
    let frame = zstd::bulk::compress(&text, 19).unwrap_or_default();
    // Single segment: a content size follows the descriptor, in one byte, or in two bytes from 256 on.
    let start = if frame.get(4).is_some_and(|descriptor| descriptor >> 6 == 0) {
        6
    } else {
        7
    };
    let block = frame.get(start..).unwrap_or_default();
    let mut blocks = Vec::new();
    for n in 0..count {
        let mut block = block.to_vec();
        if let Some(first) = block.first_mut() {
            *first = *first & !1 | u8::from(n + 1 == count);
        }
        blocks.extend(block);
    }
    sealed_frame((count * text.len()) as u32, &blocks)
}

/// Writes a database with the single block of an attack.
///
/// # Errors
///
/// The folder cannot be written.
pub fn write_database(dir: &Path, fen: &str, block: Vec<u8>) -> Result<Manifest, WriteError> {
    let pv = Pv {
        score: Score::Cp(0),
        line: Vec::new(),
    };
    let evaluations = vec![Evaluation {
        depth: 1,
        knodes: 1,
        pvs: vec![pv],
    }];
    write_record(
        dir,
        &PositionEval {
            position: position(fen),
            evaluations,
        },
        block,
    )
}

/// Writes a book with the single block of an attack.
///
/// # Errors
///
/// The folder cannot be written.
pub fn write_book(dir: &Path, fen: &str, block: Vec<u8>) -> Result<Manifest, WriteError> {
    let ended = Results {
        white: 1,
        draws: 0,
        black: 0,
    };
    let ended_details = Details::default();
    write_record(
        dir,
        &Played {
            position: position(fen),
            ended,
            ended_details,
            moves: Vec::new(),
        },
        block,
    )
}

/// Writes a database of one record, and replaces its block.
fn write_record<R: Record>(dir: &Path, record: &R, block: Vec<u8>) -> Result<Manifest, WriteError> {
    fs::create_dir_all(dir).map_err(|error| WriteError::Io {
        path: dir.to_owned(),
        error,
    })?;
    let mut encoded = encode_block(std::slice::from_ref(record))?;
    encoded.bytes = block;
    let scratch = dir.join("scratch");
    fs::create_dir_all(&scratch).map_err(|error| WriteError::Io {
        path: scratch.clone(),
        error,
    })?;
    let mut writer = TableWriter::<R>::create(dir, &scratch, WriterOptions::default());
    writer.append(&encoded)?;
    let manifest = writer.finish()?;
    let _ = fs::remove_dir_all(scratch);
    Ok(manifest)
}

/// Writes two databases of the initial position with the same names. The second database is a forgery of the first, with a
/// different score, and valid checksums.
///
/// # Errors
///
/// A folder cannot be written.
pub fn write_forgery(honest: &Path, forged: &Path) -> Result<(), WriteError> {
    let record = |cp| {
        let pv = Pv {
            score: Score::Cp(cp),
            line: Vec::new(),
        };
        let evaluations = vec![Evaluation {
            depth: 20,
            knodes: 1000,
            pvs: vec![pv],
        }];
        PositionEval {
            position: position(START),
            evaluations,
        }
    };
    write_forged(honest, forged, &record(520), (521..600).map(record))
}

/// Writes two books like [`write_forgery`], with different results.
///
/// # Errors
///
/// A folder cannot be written.
pub fn write_forged_book(honest: &Path, forged: &Path) -> Result<(), WriteError> {
    let record = |white| {
        let ended = Results {
            white,
            draws: 0,
            black: 1000 - white,
        };
        Played {
            position: position(START),
            ended,
            ended_details: Details::default(),
            moves: Vec::new(),
        }
    };
    write_forged(honest, forged, &record(700), (1..700).rev().map(record))
}

/// Writes a database of a record, and its forgery with the first of some lies whose block has the same length.
fn write_forged<R: Record>(
    honest: &Path,
    forged: &Path,
    truth: &R,
    lies: impl Iterator<Item = R>,
) -> Result<(), WriteError> {
    let block = |record: &R| encode_block(std::slice::from_ref(record)).map(|block| block.bytes);
    let true_block = block(truth)?;
    let mut forged_block = true_block.clone();
    for lie in lies {
        forged_block = block(&lie)?;
        if forged_block.len() == true_block.len() {
            break;
        }
    }
    let right = write_record(honest, truth, true_block)?;
    let wrong = write_record(forged, truth, forged_block)?;
    for (right, wrong) in right.shards().iter().zip(wrong.shards()) {
        let path = forged.join(&right.file);
        fs::rename(forged.join(&wrong.file), &path)
            .map_err(|error| WriteError::Io { path, error })?;
    }
    let path = forged.join(Manifest::FILE);
    fs::copy(honest.join(Manifest::FILE), &path)
        .map(drop)
        .map_err(|error| WriteError::Io { path, error })
}

/// Returns the text of a manifest with its checksum.
pub fn manifest(body: &str) -> Vec<u8> {
    let sum = twox_hash::XxHash64::oneshot(0, body.as_bytes());
    format!("{body},\"checksum\":\"{sum:016x}\"}}\n").into_bytes()
}

/// Returns hostile manifests with valid checksums, nearly as large as a manifest may be.
pub fn manifests() -> Vec<(&'static str, Vec<u8>)> {
    const ROOM: usize = Manifest::MAX_BYTES - 200;
    /// A hash in Base64.
    const HASH: &str = "\"AAAAAAAAAAAAAAAAAAAAAA\"";
    let head = |rest: &str| {
        format!("{{\"format\":3,\"records\":\"evaluations\",\"positions\":1,\"totals\":{{}},{rest}")
    };
    let fill = |start: String, item: &dyn Fn(usize) -> String, end: &str| {
        let mut text = start;
        for n in 0.. {
            let item = item(n);
            if text.len() + item.len() + end.len() > ROOM {
                break;
            }
            if n > 0 {
                text.push(',');
            }
            text.push_str(&item);
        }
        text.push_str(end);
        manifest(&text)
    };
    let name = |n: usize| format!("{n:032x}.silo");
    let shards = |rest: &str| head(&format!("\"info\":{{}},\"shards\":[{rest}"));
    vec![
        (
            "zeros in the place of shards",
            fill(shards(""), &|_| "0".to_owned(), "]"),
        ),
        (
            "arrays in the place of shards",
            fill(shards(""), &|_| "[]".to_owned(), "]"),
        ),
        (
            "zeros under a name that nobody knows",
            fill(head("\"x\":["), &|_| "0".to_owned(), "]"),
        ),
        (
            "as many members of info as fit",
            fill(head("\"info\":{"), &|n| format!("\"{n}\":\"\""), "}"),
        ),
        (
            "as many pages as fit",
            fill(
                shards(&format!(
                    "{{\"file\":\"{}\",\"bytes\":999999999999,\"positions\":1,\"pages\":[",
                    name(1)
                )),
                &|n| {
                    if n == 0 {
                        format!("[\"\",32,{HASH}]")
                    } else {
                        format!("[\"{n:06x}\",32,{HASH}]")
                    }
                },
                "]}]",
            ),
        ),
        (
            "as many shards as fit",
            fill(
                shards(""),
                &|n| {
                    let separator = if n == 0 {
                        String::new()
                    } else {
                        format!("{n:06x}")
                    };
                    let file = name(n);
                    format!(
                        "{{\"file\":\"{file}\",\"bytes\":99,\"positions\":1,\"pages\":[[\"{separator}\",32,{HASH}]]}}"
                    )
                },
                "]",
            ),
        ),
        (
            "one string",
            manifest(&head(&format!(
                "\"info\":{{\"x\":\"{}\"}}",
                "\\n".repeat(ROOM / 2 - 100)
            ))),
        ),
        (
            "nesting",
            manifest(&head(&format!("\"x\":{}", "[".repeat(ROOM - 200)))),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use shelfish::table::{Block, Chunk, KeyRange, TableError};

    use super::*;

    fn check<R: Record + std::fmt::Debug>(attacks: Vec<Attack>) {
        for attack in attacks {
            let Attack {
                name, fen, block, ..
            } = attack;
            let at = Chunk {
                file: "attack".into(),
                range: 0..block.len() as u64,
                keys: KeyRange::all(),
            };
            let begin = Instant::now();
            let found = Block::<R>::open(&block, &at).and_then(|block| block.find(&position(fen)));
            println!("{:8.1} ms  {name}", begin.elapsed().as_secs_f64() * 1e3);
            let is_expected = match attack.outcome {
                Outcome::Answer => matches!(found, Ok(Some(_))),
                Outcome::Refused => matches!(found, Err(TableError::Chunk { .. })),
            };
            assert!(is_expected, "{name}: {found:?}");
        }
    }

    #[test]
    fn every_hostile_block_has_the_expected_outcome() {
        check::<PositionEval>(blocks());
        check::<Played>(books());
    }

    #[test]
    fn every_hostile_manifest_has_the_expected_outcome() {
        for (name, bytes) in manifests() {
            assert!(
                bytes.len() <= Manifest::MAX_BYTES,
                "{name}: {} bytes",
                bytes.len()
            );
            let is_one = ["as many pages as fit", "as many shards as fit"].contains(&name);
            let found = Manifest::parse::<PositionEval>(&bytes);
            assert_eq!(found.is_ok(), is_one, "{name}: {:?}", found.err());
            let mut changed = bytes;
            let middle = changed.len() / 2;
            changed[middle] ^= 1;
            let error = Manifest::parse::<PositionEval>(&changed)
                .expect_err(name)
                .to_string();
            assert!(error.contains("checksum"), "{name}, changed: {error}");
        }
    }
}
