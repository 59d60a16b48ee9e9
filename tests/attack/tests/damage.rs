//! Random damage with valid seals and checksums. The bytes are read or refused, and nothing panics. `SHELFISH_LONG=1` damages a
//! hundred times as often. The seed is printed, and `SHELFISH_SEED` repeats it.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::fs;
use std::path::Path;

use fastrand::Rng;
use shelfish::eval::PositionEval;
use shelfish::leb128;
use shelfish::played::Played;
use shelfish::table::{Block, Chunk, Manifest, Page, Record};
use shelfish_attack::columns::sealed;
use shelfish_attack::manifest;
use shelfish_cli::evaluations::{Options, build};
use shelfish_cli::games;

/// Returns the number of damaged inputs.
fn times(short: usize) -> usize {
    if std::env::var_os("SHELFISH_LONG").is_some() { 100 * short } else { short }
}

fn random(what: &str) -> Rng {
    let seed = std::env::var("SHELFISH_SEED").ok().and_then(|seed| seed.parse().ok());
    let rng = seed.map_or_else(Rng::new, Rng::with_seed);
    println!("{what}: SHELFISH_SEED={}", rng.get_seed());
    rng
}

/// A database: its manifest, the text of the manifest, and a shard.
struct Database {
    manifest: Manifest,
    text: String,
    shard: Vec<u8>,
}

/// Builds a database of 1,574 positions.
fn database() -> Database {
    let (_dir, options) = options("../../tests/data/evaluations.jsonl.zst");
    build(&options).unwrap();
    files::<PositionEval>(&options)
}

/// Builds a book of the same games with these details.
fn book(details: games::Wanted) -> Database {
    let (_dir, options) = options("../../static-shards/famous.pgn");
    let selection = games::Selection { details, ..games::Selection::default() };
    games::build(&options.table, &selection, false).unwrap();
    files::<Played>(&options)
}

fn options(source: &str) -> (tempfile::TempDir, Options) {
    let dir = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let mut options = Options::new(vec![source.as_path().into()], &dir.path().join("db"));
    options.table.max_memory = 64 << 20;
    options.table.threads = 2;
    (dir, options)
}

fn files<R: Record>(options: &Options) -> Database {
    let text = fs::read_to_string(options.table.out.join(Manifest::FILE)).unwrap();
    let manifest = Manifest::parse::<R>(text.as_bytes()).unwrap();
    let shard = fs::read(options.table.out.join(&manifest.shards()[0].file)).unwrap();
    Database { manifest, text, shard }
}

/// Returns the columns of a frame.
fn columns(bytes: &[u8]) -> Vec<Vec<u8>> {
    let content = zstd::decode_all(&bytes[..bytes.len() - 8]).unwrap();
    let mut rest = &content[..];
    let mut number = || {
        let mut value = 0u64;
        for shift in (0..).step_by(7) {
            let (&byte, after) = rest.split_first().unwrap();
            rest = after;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        usize::try_from(value).unwrap()
    };
    let count = number();
    let lengths: Vec<usize> = (0..count).map(|_| number()).collect();
    lengths
        .into_iter()
        .map(|length| {
            let (column, after) = rest.split_at(length);
            rest = after;
            column.to_vec()
        })
        .collect()
}

/// Changes bytes of columns, shortens and lengthens columns, and seals the result.
fn damaged(columns: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let mut columns = columns.to_vec();
    for _ in 0..random.usize(1..6) {
        let n = random.usize(..columns.len());
        let column = &mut columns[n];
        let at = random.usize(..=column.len());
        match random.u8(..8) {
            0 => column.truncate(at),
            1 => column.insert(at, random.u8(..)),
            2 => column.extend(vec![random.u8(..); random.usize(..2000)]),
            3 => column.clear(),
            4 => column.iter_mut().skip(at).take(8).for_each(|byte| *byte = 255),
            _ => column.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.u8(..)),
        }
    }
    let mut content = Vec::new();
    leb128::push(&mut content, columns.len() as u64);
    columns.iter().for_each(|column| leb128::push(&mut content, column.len() as u64));
    content.extend(columns.concat());
    sealed(&content)
}

#[test]
fn a_damaged_block_with_a_valid_checksum_does_not_panic() {
    damage_blocks::<PositionEval>(&database(), "blocks");
}

#[test]
fn a_damaged_block_of_moves_with_a_valid_checksum_does_not_panic() {
    damage_blocks::<Played>(&book(games::Wanted::default()), "blocks of moves");
    let details = games::Wanted { buckets: "speeds,2000".parse().ok(), ratings: true, game_ids: 3, linked_only: false };
    damage_blocks::<Played>(&book(details), "blocks of buckets, ratings and references");
}

fn damage_blocks<R: Record>(Database { manifest, shard, .. }: &Database, what: &str) {
    let blocks: Vec<Chunk> = manifest
        .pages()
        .flat_map(|page| Page::parse(page.within(shard, 0), &page).unwrap().blocks().collect::<Vec<_>>())
        .collect();
    let mut random = random(what);
    let mut read = [0, 0];
    for _ in 0..times(1000) {
        let at = &blocks[random.usize(..blocks.len())];
        let honest = at.within(shard, 0);
        let position = Block::<R>::open(honest, at).unwrap().positions().last().unwrap().unwrap();
        let bytes = damaged(&columns(honest), &mut random);
        let at = Chunk { range: 0..bytes.len() as u64, ..at.clone() };
        if let Ok(block) = Block::<R>::open(&bytes, &at) {
            read[0] += usize::from(block.find(&position).is_ok());
            read[1] += block.records().filter(Result::is_ok).count();
        }
    }
    println!("{} positions were looked up, {} records read", read[0], read[1]);
    assert!(read.iter().all(|&count| count > 0), "not all damage makes a block unreadable");
}

#[test]
fn a_damaged_page_with_a_valid_checksum_is_an_error_or_plausible() {
    let Database { manifest, shard, .. } = database();
    let page = manifest.pages().next().unwrap();
    let columns = columns(page.within(&shard, 0));
    let mut random = random("pages");
    let mut read = 0;
    for _ in 0..times(3000) {
        let bytes = damaged(&columns, &mut random);
        let at = Chunk { range: page.range.start..page.range.start + bytes.len() as u64, ..page.clone() };
        if let Ok(page) = Page::parse(&bytes, &at) {
            read += 1;
            for block in page.blocks() {
                assert!(
                    !block.is_empty()
                        && block.range.end <= at.range.start
                        && block.len() <= Block::<PositionEval>::MAX_BYTES
                );
            }
        }
    }
    println!("{read} pages were read");
}

#[test]
fn a_damaged_manifest_with_a_valid_checksum_is_an_error_or_plausible() {
    let Database { text, .. } = database();
    let body = text.split(",\"checksum\"").next().unwrap();
    let mut random = random("manifests");
    let mut read = 0;
    for _ in 0..times(3000) {
        let mut damaged = body.as_bytes().to_vec();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..damaged.len());
            match random.u8(..4) {
                0 => drop(damaged.remove(at)),
                1 => damaged.insert(at, *random.choice(b"[]{},:\"0a\\").unwrap()),
                2 => damaged[at] = random.u8(b' '..127),
                _ => {
                    let until = (at + random.usize(..40)).min(damaged.len());
                    damaged.extend_from_within(at..until);
                }
            }
        }
        let Ok(damaged) = String::from_utf8(damaged) else { continue };
        if let Ok(manifest) = Manifest::parse::<PositionEval>(&manifest(&damaged)) {
            read += 1;
            for page in manifest.pages() {
                assert!(!page.is_empty() && page.len() <= Page::MAX_BYTES);
                let inline = manifest.inline_page(&page);
                assert!(inline.is_none_or(|inline| inline.len() == page.len()));
            }
        }
    }
    println!("{read} manifests were read");
}
