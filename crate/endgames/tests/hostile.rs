//! The cost of tables that a hostile host can send. `cargo test -p shelfish-endgames --test hostile -- --nocapture` prints the cost.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::time::Instant;

use futures_executor::block_on;
use peak_alloc::PeakAlloc;
use shakmaty::{CastlingMode, Chess, fen::Fen};
use shelfish::source::memory::Memory;
use shelfish_endgames::{EndgameError, Endgames, Index, IndexBuilder, TableName};
use support::table::{Coding, VALUE, table};
use twox_hash::XxHash64;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Maximum memory for a position in bytes.
const MAX_MEMORY: usize = 16 << 20;
/// Number of runs. The fastest run counts, because other work of the machine slows runs down.
const RUNS: usize = 5;

/// Both queens have many moves, and each move has many replies.
const QUEENS: &str = "7q/8/1k6/8/2Q5/8/4R3/6K1 w - - 0 1";
const PAWN: &str = "8/8/1k6/8/8/3KP3/4R3/r7 w - - 0 1";

/// A hostile table of results.
struct Attack {
    name: &'static str,
    material: &'static str,
    fen: &'static str,
    /// Bytes of a table.
    table: Vec<u8>,
    /// Bytes of the hostile table, if the writer of an index would refuse them.
    hostile: Option<Vec<u8>>,
}

/// Returns pairs that are changed in a table of equal values.
fn with_pairs(pairs: Vec<[u16; 2]>) -> Coding {
    Coding {
        pairs,
        ..Coding::of_equal(4, 8)
    }
}

fn attacks() -> Vec<Attack> {
    let changed = |material: &str, coding: Coding| table(&format!("{material}.rtbw"), &[coding]);
    let leaf = [4, VALUE];
    // A table of the same layout, from which the hostile host makes the index.
    let valid = |symbols| changed("KRPvKR", with_pairs(vec![leaf; symbols]));
    let cycle: Vec<[u16; 2]> = (0..255).map(|n| [n + 1, n + 1]).chain([[0, 0]]).collect();
    let chain: Vec<[u16; 2]> = (0..4094).map(|n| [n + 1, 4094]).chain([leaf]).collect();
    // Codes of one bit, in blocks of the greatest length. The values that are needed are the last of their blocks. White wins, so that
    // the distances of all moves and replies are needed.
    let bits = |value| Coding {
        block_bits: 10,
        span_bits: 13,
        code: [1, 1],
        pairs: vec![[value, VALUE]; 2],
        values: 8192,
        place: Some(0x1fff),
        ..Coding::of_equal(value, 8)
    };
    let walk = |value| Coding {
        place: Some(0xf00),
        length: Some(0),
        ..Coding::of_equal(value, 3)
    };
    let both = |coding: &dyn Fn(u16) -> Coding| table("KQRvKQ.rtbw", &[coding(4), coding(0)]);
    let widest = with_pairs((0..4095).map(|_| leaf).collect());
    let contradictory = |name, symbols, pairs| Attack {
        name,
        material: "KRPvKR",
        fen: PAWN,
        table: valid(symbols),
        hostile: Some(changed("KRPvKR", with_pairs(pairs))),
    };
    vec![
        contradictory("symbols in a cycle", 256, cycle),
        contradictory("a chain of symbols", 4095, chain),
        Attack {
            name: "eight parts with 4,095 symbols each",
            material: "KRPvKR",
            fen: PAWN,
            table: changed("KRPvKR", widest),
            hostile: None,
        },
        Attack {
            name: "blocks of one value, far from their entries",
            material: "KQRvKQ",
            fen: QUEENS,
            table: both(&walk),
            hostile: None,
        },
        Attack {
            name: "blocks of 8,192 codes of one bit",
            material: "KQRvKQ",
            fen: QUEENS,
            table: both(&bits),
            hostile: None,
        },
    ]
}

/// Replaces the checksums of a table by those of other bytes of the same length.
fn with_sums(index: &Index, table: &[u8], hostile: &[u8]) -> Index {
    let sums = |bytes: &[u8]| -> Vec<u8> {
        let sums = bytes
            .chunks(4096)
            .map(|page| XxHash64::oneshot(0, page) as u32);
        sums.flat_map(u32::to_le_bytes).collect()
    };
    let (mut bytes, old) = (index.encode(), sums(table));
    bytes.truncate(bytes.len() - 8);
    let at = bytes
        .windows(old.len())
        .position(|window| window == old)
        .unwrap();
    bytes[at..at + old.len()].copy_from_slice(&sums(hostile));
    let seal = XxHash64::oneshot(0, &bytes);
    bytes.extend(seal.to_le_bytes());
    Index::decode(&bytes).unwrap()
}

/// Returns a reader of the tables of a hostile host, whose index fits the tables.
fn reader(attack: &Attack) -> Endgames<Memory> {
    let name = format!("{}.rtbw", attack.material);
    let distances = format!("{}.rtbz", attack.material);
    let mut files = vec![(name.clone(), attack.table.clone())];
    files.push((
        distances.clone(),
        table(&distances, &[Coding::of_equal(10, 8)]),
    ));
    for entry in std::fs::read_dir(support::root().join("static-shards/endgames")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if name.parse::<TableName>().is_ok() {
            files.push((name, std::fs::read(path).unwrap()));
        }
    }
    let mut builder = IndexBuilder::default();
    builder.max_inline = Some(1 << 20);
    for (name, bytes) in &files {
        builder.add(&name.parse().unwrap(), bytes).unwrap();
    }
    let mut index: Index = builder.finish().0;
    if let Some(hostile) = &attack.hostile {
        index = with_sums(&index, &attack.table, hostile);
        files[0].1.clone_from(hostile);
    }
    Endgames::new(Memory::new(files), index, None)
}

#[test]
fn hostile_tables_take_little_time_and_memory() {
    println!("| table | bytes | ms | memory, MB | outcome |\n|---|---:|---:|---:|---|");
    for attack in attacks() {
        let endgames = reader(&attack);
        let chess: Chess = attack
            .fen
            .parse::<Fen>()
            .unwrap()
            .into_position(CastlingMode::Standard)
            .unwrap();
        let (mut least, mut most, mut outcome) = (f64::INFINITY, 0, None);
        for _ in 0..RUNS {
            endgames.clear_memory();
            let before = MEMORY.current_usage();
            MEMORY.reset_peak_usage();
            let start = Instant::now();
            outcome = Some(block_on(endgames.probe(&chess)));
            least = least.min(start.elapsed().as_secs_f64() * 1e3);
            most = MEMORY.peak_usage().saturating_sub(before);
        }
        let error = outcome.unwrap().err();
        let shown = error
            .as_ref()
            .map_or("a value".to_string(), ToString::to_string);
        let bytes = attack.hostile.as_ref().unwrap_or(&attack.table).len();
        println!(
            "| {} | {bytes} | {least:.1} | {:.1} | {shown} |",
            attack.name,
            most as f64 / 1e6
        );
        assert!(
            most <= MAX_MEMORY,
            "{}: {most} bytes of memory",
            attack.name
        );
        assert!(least < 1000.0, "{}: {least} ms", attack.name);
        assert!(
            matches!(
                error,
                None | Some(
                    EndgameError::TooMuch { .. }
                        | EndgameError::Uncovered(_)
                        | EndgameError::Table { .. }
                )
            ),
            "{}: {error:?}",
            attack.name
        );
    }
}
