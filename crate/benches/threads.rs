//! Lookups per second with one, two and four threads that share a reader.
//!
//! `cargo bench -p shelfish --features write --bench threads`. Threads that share a reader are compared with threads that have
//! a reader each, in turn, in short slices. Both are equally slow if other programs use the machine. Without any waiting
//! for each other, threads that share a reader would be as fast. On free cores, two threads are therefore as many times as
//! fast as one thread as the last column says.
#![allow(missing_docs, clippy::unwrap_used, reason = "a bench may panic")]

mod sample;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use futures_executor::block_on;
use shelfish::eval::PositionEval;
use shelfish::position::Position;
use shelfish::reader::{Options, Reader};
use shelfish::source::file::Directory;
use shelfish::table::{Cutter, Record as _, TableWriter, WriterOptions, encode_block};

const POSITIONS: usize = 20_000;
const THREADS: [usize; 3] = [1, 2, 4];
const ROUNDS: usize = 30;
const SLICE: Duration = Duration::from_millis(100);

fn main() {
    let (records, dir) = (
        sample::records(POSITIONS),
        std::env::temp_dir().join("shelfish-bench-threads"),
    );
    let records: Vec<PositionEval> = records.into_iter().map(|(_, record)| record).collect();
    let positions: Vec<Position> = records
        .iter()
        .map(|record| record.position.clone())
        .collect();

    // As many blocks as a server has in its memory.
    let many = dir.join("many");
    write(&many, records.chunks(4));
    measure("thousands of blocks in memory", &many, 1 << 30, &positions);

    let mut cutter = Cutter::new(PositionEval::BLOCK_WEIGHT);
    let mut blocks = Vec::new();
    for record in records {
        blocks.extend(cutter.push(
            record.position.key().as_bytes(),
            sample::weight(&record),
            record,
        ));
    }
    blocks.extend(cutter.finish());
    let usual = dir.join("usual");
    write(&usual, blocks.iter().map(Vec::as_slice));
    measure(
        "usual blocks, each read and decoded",
        &usual,
        300_000,
        &positions,
    );
    fs::remove_dir_all(dir).unwrap();
}

fn write<'a>(dir: &Path, blocks: impl Iterator<Item = &'a [PositionEval]>) {
    let scratch = dir.join("scratch");
    fs::create_dir_all(&scratch).unwrap();
    let mut writer = TableWriter::<PositionEval>::create(dir, &scratch, WriterOptions::default());
    blocks.for_each(|block| writer.append(&encode_block(block).unwrap()).unwrap());
    writer.finish().unwrap();
}

fn measure(name: &str, dir: &Path, memory: usize, positions: &[Position]) {
    let options = Options::default().with_memory(memory);
    let open = |_| {
        let reader = block_on(Reader::open(Directory::new(dir), options.clone())).unwrap();
        positions
            .iter()
            .for_each(|position| drop(black_box(block_on(reader.lookup(position)))));
        reader
    };
    let readers: Vec<Reader<Directory>> = (0..THREADS[2]).map(open).collect();
    println!("{name}");
    for threads in THREADS {
        let (mut shared, mut own) = (0, 0);
        for _ in 0..ROUNDS {
            shared += count(&readers[..1], threads, positions);
            own += count(&readers, threads, positions);
        }
        let second = |count: usize| count as f64 / (ROUNDS as f64 * SLICE.as_secs_f64());
        let share = shared as f64 / own as f64;
        println!(
            "  {threads} threads: {:.0} lookups a second with a reader, {:.0} with a reader each: {share:.2}, that is {:.2} times",
            second(shared),
            second(own),
            share * threads as f64
        );
    }
}

/// Returns the number of lookups in a slice of time. Each thread looks up all positions in a scattered order.
fn count(readers: &[Reader<Directory>], threads: usize, positions: &[Position]) -> usize {
    let started = Instant::now();
    let work = |thread: usize| {
        let reader = &readers[thread % readers.len()];
        let mut count = 0;
        while started.elapsed() < SLICE {
            let at = (count + thread * positions.len() / THREADS[2]) * 7_919 % positions.len();
            assert!(
                block_on(reader.lookup(black_box(&positions[at])))
                    .unwrap()
                    .is_some()
            );
            count += 1;
        }
        count
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        all.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}
