//! Random damage of files: the answer is right or an error. `SHELFISH_LONG=1` damages more often. The seed is printed, and
//! `SHELFISH_SEED` repeats it. The fuzz targets damage pages, blocks and manifests whose checksums are valid.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use fastrand::Rng;
use shelfish::eval::PositionEval;
use shelfish::played::Played;
use shelfish::position::Position;
use shelfish::reader::Reader;
use shelfish::source::integrity::{Integrity, Pin};
use shelfish::source::memory::Memory;
use shelfish::table::{Block, Manifest, Page, Record, TableWriter, WriterOptions, encode_block};

/// Flips a bit, or cuts the end off. A tenth of the damage is a lost sector of zeros. Returns the place.
fn damage(bytes: &mut Vec<u8>, random: &mut Rng) -> u64 {
    let at = random.usize(..bytes.len());
    match random.u8(..10) {
        0 | 1 => bytes.truncate(at),
        2 => bytes[at..].iter_mut().take(512).for_each(|byte| *byte = 0),
        _ => bytes[at] ^= 1 << random.u8(..8),
    }
    at as u64
}

type Files = BTreeMap<String, Vec<u8>>;

/// Reads all files of a folder.
fn folder(dir: &Path) -> Files {
    let entries = fs::read_dir(dir).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|file| {
            let name = file.file_name().into_string().unwrap();
            (name, fs::read(file.path()).unwrap())
        })
        .collect()
}

/// A block of a database: its file, the place of its bytes, and its records.
type Place<R> = (String, Range<u64>, Vec<R>);

/// Returns the blocks of a database.
fn places<R: Record>(files: &Files) -> Vec<Place<R>> {
    let manifest = Manifest::parse::<R>(&files[Manifest::FILE]).unwrap();
    let mut places = Vec::new();
    for page in manifest.pages() {
        let parsed = Page::parse(page.within(&files[&page.file], 0), &page).unwrap();
        for at in parsed.blocks() {
            let block = Block::<R>::open(at.within(&files[&at.file], 0), &at).unwrap();
            let records = block.records().map(Result::unwrap).collect();
            places.push((at.file.clone(), at.range, records));
        }
    }
    places
}

/// Looks up positions. The files are in memory, so that the answers are there at once.
fn answers<R: Record>(
    files: Files,
    pin: Option<Pin>,
    positions: &[Position],
) -> Result<Vec<Result<Option<R>, ()>>, ()> {
    let lookups = async {
        let reader = Reader::builder(Memory::new(files)).pin(pin);
        let reader = reader.open::<R>().await.map_err(drop)?;
        let answers = reader.lookup_many(positions).await;
        Ok(answers
            .into_iter()
            .map(|answer| answer.map_err(drop))
            .collect())
    };
    match pin!(lookups).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answers) => answers,
        Poll::Pending => panic!("a source in memory answers at once"),
    }
}

/// Damages a file of a database, and looks up positions of the damaged block and of others.
fn damage_database<R: Record + PartialEq + Debug>(files: &Files, is_pinned: bool, what: &str) {
    let places = places::<R>(files);
    let pin = is_pinned.then(|| Pin::from(Integrity::of(&files[Manifest::FILE])));
    let seed = std::env::var("SHELFISH_SEED");
    let seed = seed.ok().and_then(|seed| seed.parse().ok());
    let mut random = seed.map_or_else(Rng::new, Rng::with_seed);
    println!("{what}: SHELFISH_SEED={}", random.get_seed());
    let count = match std::env::var_os("SHELFISH_LONG") {
        Some(_) => 10_000,
        None => 200,
    };
    let (mut right, mut errors) = (0, 0);
    let names: Vec<&String> = files.keys().collect();
    for _ in 0..count {
        let mut damaged = files.clone();
        // Half of the damage is in the manifest, which is smaller than the shards.
        let name = match random.bool() {
            true => Manifest::FILE,
            false => random.choice(&names).unwrap().as_str(),
        };
        let at = damage(damaged.get_mut(name).unwrap(), &mut random);
        let there = places
            .iter()
            .find(|(file, range, _)| file == name && range.contains(&at));
        let place = there.unwrap_or_else(|| random.choice(&places).unwrap());
        let other = random.choice(&places).unwrap();
        let expected = [place, place, other].map(|(_, _, records)| random.choice(records).unwrap());
        let positions = expected.map(|record| record.position().clone());
        let Ok(found) = answers::<R>(damaged, pin.clone(), &positions) else {
            errors += 1;
            continue;
        };
        for (found, expected) in found.into_iter().zip(expected) {
            match found {
                Ok(found) => {
                    assert_eq!(found.as_ref(), Some(expected));
                    right += 1;
                }
                Err(()) => errors += 1,
            }
        }
    }
    println!("{count} flips and cuts of {what}: {right} right answers, {errors} errors, 0 wrong");
    assert!(right > 0 && errors > 0);
}

#[test]
fn a_flip_or_cut_gives_the_right_answer_or_an_error() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sample = folder(&root.join("static-shards/package-sample"));
    damage_database::<PositionEval>(&sample, false, "a database with inline pages");
    damage_database::<PositionEval>(&sample, true, "a pinned database");

    let dir = tempfile::tempdir().unwrap();
    let scratch = dir.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    let mut options = WriterOptions::default();
    (options.inline_page_bytes, options.shard_bytes) = (0, 20_000);
    let mut writer = TableWriter::<PositionEval>::create(dir.path(), &scratch, options);
    for (_, _, records) in places::<PositionEval>(&sample) {
        writer.append(&encode_block(&records).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    let shards = folder(dir.path());
    damage_database::<PositionEval>(&shards, false, "a database with pages in its shards");

    for name in ["book", "book-details"] {
        let book = folder(&root.join("tests/data").join(name).join("db"));
        damage_database::<Played>(&book, false, name);
    }
}
