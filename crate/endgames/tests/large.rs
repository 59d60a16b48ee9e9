//! Requests of tables of five and six pieces, which are too large for a test. Their values are simple, but layout and size are as in
//! real tables.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use core::future::poll_fn;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use core::task::Poll;
use std::collections::BTreeMap;

use futures_executor::block_on;
use shakmaty::{CastlingMode, Chess, fen::Fen};
use shelfish::source::memory::Memory;
use shelfish::source::{Source, SourceError};
use shelfish_endgames::{EndgameError, Endgames, INDEX_FILE, IndexBuilder, TableError};
use support::root;
use support::table::{Coding, table};

/// Counts bytes, requests, and waves: requests that run at the same time.
struct Counted {
    files: Memory,
    bytes: AtomicU64,
    requests: AtomicU64,
    running: AtomicU64,
    waves: AtomicU64,
}

impl Source for Counted {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        if self.running.fetch_add(1, Ordering::Relaxed) == 0 {
            self.waves.fetch_add(1, Ordering::Relaxed);
        }
        // Waits until all requests of the wave run.
        let mut is_first = true;
        let turn = poll_fn(move |context| {
            context.waker().wake_by_ref();
            if core::mem::replace(&mut is_first, false) {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        });
        turn.await;
        self.running.fetch_sub(1, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes
            .fetch_add(range.end - range.start, Ordering::Relaxed);
        self.files.range(file, range).await
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        self.files.whole(file, cap).await
    }

    fn locate(&self, file: &str) -> String {
        self.files.locate(file)
    }
}

/// Returns made tables with White as the winner of every position, and the real tables of the repository.
fn files(materials: &[&str]) -> Counted {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for material in materials {
        let results = [Coding::of_equal(4, 8), Coding::of_equal(0, 8)];
        for (ending, codings) in [("rtbw", &results[..]), ("rtbz", &[Coding::of_equal(10, 8)])] {
            let name = format!("{material}.{ending}");
            let bytes = table(&name, codings);
            files.insert(name, bytes);
        }
    }
    for entry in std::fs::read_dir(root().join("static-shards/endgames")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if name != INDEX_FILE {
            files.insert(name, std::fs::read(path).unwrap());
        }
    }
    let mut builder = IndexBuilder::default().with_max_inline(1 << 20);
    for (name, bytes) in &files {
        builder.add(&name.parse().unwrap(), bytes).unwrap();
    }
    let length: usize = files.values().map(Vec::len).sum();
    println!("{} tables, {:.1} MB", files.len(), length as f64 / 1e6);
    files.insert(INDEX_FILE.to_string(), builder.finish().0.encode());
    let zero = || AtomicU64::new(0);
    Counted {
        files: Memory::new(files),
        bytes: zero(),
        requests: zero(),
        running: zero(),
        waves: zero(),
    }
}

/// Probes positions one after the other, each with nothing in memory. Asserts limits of waves, requests and bytes.
fn assert_bounded(files: Counted, fens: &[&str], waves: u64, requests: u64, bytes: u64) {
    let endgames = block_on(Endgames::open(files))
        .unwrap()
        .with_concurrency(1000);
    for fen in fens {
        let chess: Chess = fen
            .parse::<Fen>()
            .unwrap()
            .into_position(CastlingMode::Standard)
            .unwrap();
        endgames.clear_memory();
        match block_on(endgames.probe(&chess)) {
            Ok(probe) => assert!(!probe.moves.is_empty()),
            // The results of real tables contradict the made tables.
            Err(error) => assert!(
                matches!(
                    error,
                    EndgameError::Table {
                        error: TableError::Distances,
                        ..
                    }
                ),
                "{error}"
            ),
        }
        let counts = &endgames.source();
        let taken = [&counts.waves, &counts.requests, &counts.bytes]
            .map(|count| count.swap(0, Ordering::Relaxed));
        println!(
            "{fen}: {} waves, {} requests, {} bytes",
            taken[0], taken[1], taken[2]
        );
        assert!(
            taken[0] <= waves && taken[1] <= requests && taken[2] <= bytes,
            "{fen}: {taken:?}"
        );
    }
}

#[test]
fn positions_of_five_pieces_take_few_requests() {
    let files = files(&["KRPvKR", "KQRvKR", "KRRvKR", "KRBvKR", "KRNvKR"]);
    let fens = [
        "8/8/1k6/8/8/3KP3/4R3/r7 w - - 0 1",
        "8/8/1k6/8/8/3KP3/4R3/r7 b - - 0 1",
        "1K1k4/1P6/8/8/8/8/r7/2R5 w - - 0 1",
        "8/8/4k3/8/R7/1r6/4K3/7Q w - - 0 1",
    ];
    assert_bounded(files, &fens, 6, 80, 1 << 20);
}

#[test]
fn positions_of_six_pieces_take_few_requests() {
    let files = files(&["KRPPvKR", "KRPvKR", "KPPvKR", "KRPPvK"]);
    let fens = [
        "8/8/1k6/8/8/3KP1P1/4R3/r7 w - - 0 1",
        "8/8/1k6/8/8/3KP1P1/4R3/r7 b - - 0 1",
    ];
    assert_bounded(files, &fens, 6, 120, 2 << 20);
}
