//! Random damage. With valid seals and checksums, the bytes are read or refused, and nothing panics. Otherwise, the answer is right
//! or an error. `SHELFISH_LONG=1` damages more often. The seed is printed, and `SHELFISH_SEED` repeats it.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::ops::Range;
use std::path::Path;

use fastrand::Rng;
use shelfish::eval::PositionEval;
use shelfish::leb128;
use shelfish::played::Played;
use shelfish::position::Position;
use shelfish::reader::Reader;
use shelfish::source::integrity::{Integrity, Pin};
use shelfish::source::memory::Memory;
use shelfish::table::{Block, Chunk, Manifest, Page, Record};
use shelfish_attack::columns::sealed;
use shelfish_attack::manifest;
use shelfish_cli::database::wait;
use shelfish_cli::evaluations::{Options, build};
use shelfish_cli::games;

/// Returns the number of damaged inputs.
fn times(short: usize) -> usize {
    if std::env::var_os("SHELFISH_LONG").is_some() {
        100 * short
    } else {
        short
    }
}

fn random(what: &str) -> Rng {
    let seed = std::env::var("SHELFISH_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
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
    Database {
        manifest,
        text,
        shard,
    }
}

/// Returns the columns of a frame.
fn columns(bytes: &[u8]) -> Vec<Vec<u8>> {
    let content = zstd::decode_all(&bytes[..bytes.len() - 8]).unwrap();
    let mut rest = &content[..];
    let mut number = || leb128::take(&mut rest).unwrap() as usize;
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
            4 => column
                .iter_mut()
                .skip(at)
                .take(8)
                .for_each(|byte| *byte = 255),
            _ => column
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|byte| *byte = random.u8(..)),
        }
    }
    let mut content = Vec::new();
    leb128::push(&mut content, columns.len() as u64);
    columns
        .iter()
        .for_each(|column| leb128::push(&mut content, column.len() as u64));
    content.extend(columns.concat());
    sealed(&content)
}

#[test]
fn a_damaged_page_with_a_valid_checksum_is_an_error_or_plausible() {
    let Database {
        manifest, shard, ..
    } = database();
    let page = manifest.pages().next().unwrap();
    let columns = columns(page.within(&shard, 0));
    let mut random = random("pages");
    let mut read = 0;
    for _ in 0..times(3000) {
        let bytes = damaged(&columns, &mut random);
        let at = Chunk {
            range: page.range.start..page.range.start + bytes.len() as u64,
            ..page.clone()
        };
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
        let Ok(damaged) = String::from_utf8(damaged) else {
            continue;
        };
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

/// Returns the number of flips and cuts of a kind of file, of 100,000 with `SHELFISH_LONG`.
fn flips(long: usize) -> usize {
    if std::env::var_os("SHELFISH_LONG").is_some() {
        long
    } else {
        long / 50
    }
}

/// Flips a bit, or cuts the end off. A tenth of the damage is a lost sector of zeros.
fn damage(bytes: &mut Vec<u8>, random: &mut Rng) -> usize {
    let at = random.usize(..bytes.len());
    match random.u8(..10) {
        0 | 1 => bytes.truncate(at),
        2 => bytes
            .iter_mut()
            .skip(at)
            .take(512)
            .for_each(|byte| *byte = 0),
        _ => bytes[at] ^= 1 << random.u8(..8),
    }
    at
}

/// Number of right answers and errors after flips and cuts of a kind of file.
#[derive(Default)]
struct Counts {
    right: usize,
    errors: usize,
}

impl Counts {
    /// Counts an answer. Fails if it is wrong.
    #[track_caller]
    fn add<T: PartialEq + Debug, E>(&mut self, found: Result<T, E>, expected: &T) {
        match found {
            Ok(found) => {
                assert_eq!(&found, expected);
                self.right += 1;
            }
            Err(_) => self.errors += 1,
        }
    }

    fn print(&self, what: &str, count: usize) {
        println!(
            "{count} flips and cuts of {what}: {} right answers, {} errors, 0 wrong",
            self.right, self.errors
        );
    }
}

type Files = BTreeMap<String, Vec<u8>>;

/// Reads all files of a folder.
fn folder(dir: &Path) -> Files {
    let files = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file());
    files
        .map(|path| {
            (
                path.file_name().unwrap().to_str().unwrap().to_owned(),
                fs::read(path).unwrap(),
            )
        })
        .collect()
}

/// A block of a database: its file, its bytes, and its positions.
type Place = (String, Range<u64>, Vec<Position>);

/// Returns the blocks of a database.
fn places<R: Record>(files: &Files) -> Vec<Place> {
    let manifest = Manifest::parse::<R>(&files[Manifest::FILE]).unwrap();
    let mut places = Vec::new();
    for page in manifest.pages() {
        let parsed = Page::parse(page.within(&files[&page.file], 0), &page).unwrap();
        for at in parsed.blocks() {
            let block = Block::<R>::open(at.within(&files[&at.file], 0), &at).unwrap();
            places.push((
                at.file.clone(),
                at.range.clone(),
                block.positions().map(Result::unwrap).collect(),
            ));
        }
    }
    places
}

async fn answers<R: Record>(
    files: &Files,
    pin: Option<Pin>,
    positions: &[Position],
) -> Result<Vec<Result<Option<R>, ()>>, ()> {
    let reader = Reader::builder(Memory::new(files.clone()));
    let reader = reader.pin(pin).open::<R>().await.map_err(drop)?;
    Ok(reader
        .lookup_many(positions)
        .await
        .into_iter()
        .map(|answer| answer.map_err(drop))
        .collect())
}

/// Damages a file of a database, and looks up positions of the damaged block and of others.
fn flip_database<R: Record + PartialEq + Debug>(
    files: &Files,
    is_pinned: bool,
    what: &str,
    count: usize,
) {
    let places = places::<R>(files);
    let pin = is_pinned.then(|| Pin::from(Integrity::of(&files[Manifest::FILE])));
    let mut random = random(what);
    let mut counts = Counts::default();
    let names: Vec<&String> = files.keys().collect();
    for _ in 0..count {
        let mut damaged = files.clone();
        // Half of the damage is in the manifest, which is smaller than the shards.
        let name = if random.bool() {
            Manifest::FILE
        } else {
            random.choice(&names).unwrap().as_str()
        };
        let at = damage(damaged.get_mut(name).unwrap(), &mut random) as u64;
        let there = places
            .iter()
            .find(|(file, range, _)| file == name && range.contains(&at));
        let place = there.unwrap_or_else(|| random.choice(&places).unwrap());
        let other = random.choice(&places).unwrap();
        let positions: Vec<Position> = [place, place, other]
            .map(|(_, _, positions)| random.choice(positions).unwrap().clone())
            .to_vec();
        let expected = wait(answers::<R>(files, None, &positions))
            .unwrap()
            .unwrap();
        match wait(answers::<R>(&damaged, pin.clone(), &positions)).unwrap() {
            Ok(found) => found
                .into_iter()
                .zip(&expected)
                .for_each(|(found, expected)| {
                    counts.add(found, expected.as_ref().unwrap());
                }),
            Err(()) => counts.errors += 1,
        }
    }
    counts.print(what, count);
    assert!(counts.right > 0 && counts.errors > 0);
}

/// Builds a database and returns its files.
fn built(source: &str, change: impl FnOnce(&mut Options)) -> Files {
    let (_dir, mut options) = options(source);
    change(&mut options);
    build(&options).unwrap();
    folder(&options.table.out)
}

#[test]
fn a_flip_or_cut_in_a_database_gives_the_right_answer_or_an_error() {
    let source = "../../tests/data/evaluations.jsonl.zst";
    flip_database::<PositionEval>(
        &built(source, |_| {}),
        false,
        "a database with inline pages",
        flips(15_000),
    );
    let small = built(source, |options| {
        (options.table.inline_page_bytes, options.table.shard_bytes) = (0, 20_000)
    });
    flip_database::<PositionEval>(
        &small,
        false,
        "a database with pages in its shards",
        flips(10_000),
    );
    flip_database::<PositionEval>(&small, true, "a pinned database", flips(10_000));
}

#[test]
fn a_flip_or_cut_in_a_book_gives_the_right_answer_or_an_error() {
    let (_dir, options) = options("../../static-shards/famous.pgn");
    let details = games::Wanted {
        buckets: "speeds,2000".parse().ok(),
        ratings: true,
        game_ids: 3,
        linked_only: false,
    };
    let selection = games::Selection {
        details,
        ..games::Selection::default()
    };
    games::build(&options.table, &selection).unwrap();
    flip_database::<Played>(&folder(&options.table.out), false, "a book", flips(15_000));
}
