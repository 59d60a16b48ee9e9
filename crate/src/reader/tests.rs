#![allow(clippy::unwrap_used)]

use core::future::{poll_fn, ready};
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll};
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_executor::block_on;
use shakmaty::{Chess, Position as _};

use super::*;
use crate::eval::{Evaluation, PositionEval, Pv, Score};
use crate::position::Position;
use crate::source::file::Directory;
use crate::source::integrity::{Integrity, Pin};
use crate::source::{Source, SourceError, SourceErrorKind};
use crate::table::{
    Chunk, ChunkErrorKind, Manifest, TableError, TableWriter, WriterOptions, encode_block,
};

mod pinned;

/// Returns positions of some games in ascending order, each with a different evaluation.
fn records(games: usize) -> Vec<PositionEval> {
    let mut records = Vec::new();
    for game in 0..games {
        let mut chess = Chess::default();
        for ply in 0..40 {
            let moves = chess.legal_moves();
            let line = moves.iter().copied().take(1).collect();
            let pvs = vec![Pv {
                score: Score::Cp((game * 100 + ply) as i32),
                line,
            }];
            records.push(PositionEval {
                position: Position::from_chess(&chess),
                evaluations: vec![Evaluation {
                    depth: 20,
                    knodes: 1,
                    pvs,
                }],
            });
            let Some(&m) = moves.get((game * 7 + ply * (3 + game)) % moves.len().max(1)) else {
                break;
            };
            chess = chess.play(m).unwrap();
        }
    }
    records.sort_by_cached_key(|record| record.position.key());
    records.dedup_by(|a, b| a.position == b.position);
    records
}

/// A database of many small blocks, pages and shards.
struct Database(PathBuf);

impl Database {
    fn new(name: &str, records: &[PositionEval]) -> Database {
        Database::with_inline_pages(name, records, 0)
    }

    /// Creates a database whose manifest has at most this number of bytes of inline pages.
    fn with_inline_pages(
        name: &str,
        records: &[PositionEval],
        inline_page_bytes: usize,
    ) -> Database {
        let dir =
            std::env::temp_dir().join(format!("shelfish-reader-{}-{name}", std::process::id()));
        let scratch = dir.join("scratch");
        fs::create_dir_all(&scratch).unwrap();
        let options = WriterOptions {
            shard_bytes: 4000,
            page_blocks: 4,
            inline_page_bytes,
            ..WriterOptions::default()
        };
        let mut writer = TableWriter::<PositionEval>::create(&dir, &scratch, options);
        for block in records.chunks(4) {
            writer.append(&encode_block(block).unwrap()).unwrap();
        }
        writer.finish().unwrap();
        Database(dir)
    }

    fn files(&self) -> HashMap<String, Vec<u8>> {
        let files = fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file());
        files
            .map(|path| {
                (
                    path.file_name().unwrap().to_str().unwrap().to_string(),
                    fs::read(path).unwrap(),
                )
            })
            .collect()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A host in memory that records its requests and can be set to fail.
#[derive(Clone, Debug, Default)]
struct Host(Arc<HostState>);

#[derive(Debug, Default)]
struct HostState {
    files: Mutex<HashMap<String, Vec<u8>>>,
    asked: Mutex<Vec<(String, Range<u64>)>>,
    under_way: AtomicUsize,
    most: AtomicUsize,
    kind: Mutex<Option<SourceErrorKind>>,
}

impl Host {
    fn new(database: &Database) -> Host {
        let host = Host::default();
        *host.files() = database.files();
        host
    }

    fn files(&self) -> MutexGuard<'_, HashMap<String, Vec<u8>>> {
        self.0.files.lock().unwrap()
    }

    fn asked(&self) -> MutexGuard<'_, Vec<(String, Range<u64>)>> {
        self.0.asked.lock().unwrap()
    }

    fn fail(&self, kind: Option<SourceErrorKind>) {
        *self.0.kind.lock().unwrap() = kind;
    }

    fn requests(&self) -> usize {
        self.asked().len()
    }

    fn corrupt_shards(&self) {
        for (name, bytes) in self.files().iter_mut() {
            if name != Manifest::FILE {
                bytes.iter_mut().for_each(|byte| *byte ^= 1);
            }
        }
    }

    async fn answer(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        let host = &self.0;
        self.asked().push((file.to_string(), range.clone()));
        let under_way = host.under_way.fetch_add(1, Ordering::Relaxed) + 1;
        host.most.fetch_max(under_way, Ordering::Relaxed);
        // Once to sleep, as on a wire.
        let mut polled = false;
        poll_fn(|context: &mut Context<'_>| {
            context.waker().wake_by_ref();
            if core::mem::replace(&mut polled, true) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        host.under_way.fetch_sub(1, Ordering::Relaxed);
        let error = |kind| SourceError::new(self.locate(file), kind);
        if let Some(kind) = host.kind.lock().unwrap().clone() {
            return Err(error(kind));
        }
        let files = self.files();
        let bytes = files
            .get(file)
            .ok_or_else(|| error(SourceErrorKind::Status(404)))?;
        let range = range.start as usize..(range.end as usize).min(bytes.len());
        Ok(bytes[range].to_vec())
    }
}

impl Source for Host {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        self.answer(file, range).await
    }

    async fn whole(&self, file: &str, _: u64) -> Result<Vec<u8>, SourceError> {
        self.answer(file, 0..u64::MAX).await
    }

    fn locate(&self, file: &str) -> String {
        format!("host/{file}")
    }
}

fn open(host: &Host) -> Reader<Host> {
    block_on(Reader::builder(host.clone()).open()).unwrap()
}

#[test]
fn stored_positions_are_found_and_other_positions_are_not() {
    let records = records(12);
    let (there, absent): (Vec<_>, Vec<_>) = records
        .into_iter()
        .enumerate()
        .partition(|(n, _)| n % 5 > 0);
    let there: Vec<PositionEval> = there.into_iter().map(|(_, record)| record).collect();
    let database = Database::new("every", &there);
    let options = Options::default().with_memory(20_000);
    let reader: Reader<_> = block_on(
        Reader::builder(Directory::new(&database.0))
            .options(options)
            .open(),
    )
    .unwrap();
    for record in &there {
        assert_eq!(
            block_on(reader.lookup(&record.position)),
            Ok(Some(record.clone()))
        );
    }
    for (_, record) in &absent {
        assert_eq!(
            block_on(reader.lookup(&record.position)),
            Ok(None::<PositionEval>)
        );
    }
    let mixed: Vec<Position> = there
        .iter()
        .map(|record| record.position.clone())
        .rev()
        .collect();
    let expected: Vec<_> = there
        .into_iter()
        .rev()
        .map(|record| Ok(Some(record)))
        .collect();
    assert_eq!(block_on(reader.lookup_many(&mixed)), expected);
}

#[test]
fn a_cold_lookup_takes_three_requests_and_a_warm_lookup_takes_no_request() {
    let records = records(4);
    let host = Host::new(&Database::new("cold", &records));
    let reader = open(&host);
    block_on(reader.lookup(&records[1].position)).unwrap();
    assert_eq!(host.requests(), 3);
    block_on(reader.lookup(&records[1].position)).unwrap();
    block_on(reader.lookup(&records[2].position)).unwrap();
    assert_eq!(host.requests(), 3);
    let stats = reader.stats();
    assert_eq!(
        (
            stats.requests,
            stats.lookups,
            stats.network_blocks,
            stats.memory_hits
        ),
        (3, 3, 1, 2)
    );
    let bytes: u64 = host.asked()[1..]
        .iter()
        .map(|(_, range)| range.end - range.start)
        .sum();
    assert_eq!(
        stats.bytes,
        bytes + host.files()[Manifest::FILE].len() as u64
    );
}

#[test]
fn inline_pages_take_no_request() {
    let records = records(12);
    let host = Host::new(&Database::with_inline_pages("inline", &records, 1 << 20));
    let reader = open(&host);
    for record in &records {
        assert_eq!(
            block_on(reader.lookup(&record.position)),
            Ok(Some(record.clone()))
        );
    }
    assert_eq!(host.requests() as u64, 1 + reader.stats().network_blocks);
}

#[test]
fn a_lookup_of_many_positions_fetches_each_byte_once_and_joins_adjacent_ranges() {
    let records = records(12);
    let host = Host::new(&Database::new("many", &records));
    let reader = open(&host);
    let positions: Vec<Position> = records
        .iter()
        .rev()
        .chain(&records)
        .map(|record| record.position.clone())
        .collect();
    assert!(
        block_on(reader.lookup_many(&positions))
            .iter()
            .all(|answer| matches!(answer, Ok(Some(_))))
    );
    let most = host.0.most.load(Ordering::Relaxed);
    assert!((2..=12).contains(&most), "{most} requests at a time");
    let mut asked: Vec<_> = host.asked()[1..].to_vec();
    asked.sort_by_key(|(file, range)| (file.clone(), range.start));
    for pair in asked.windows(2) {
        assert!(
            pair[0].0 != pair[1].0 || pair[0].1.end <= pair[1].1.start,
            "{pair:?}"
        );
    }
    let shards = host.files().len() - 1;
    assert!(
        shards > 2 && host.requests() <= 1 + 2 * shards,
        "{} requests for {shards} shards",
        host.requests()
    );
}

#[test]
fn blocks_with_a_small_gap_between_them_share_a_request() {
    let records = records(12);
    let database = Database::with_inline_pages("gap", &records, 1 << 20);
    // Positions of the first, third and seventh block.
    let positions = [0, 8, 24].map(|n| records[n].position.clone());
    let host = Host::new(&database);
    let reader = open(&host);
    assert!(
        block_on(reader.lookup_many(&positions))
            .iter()
            .all(|answer| matches!(answer, Ok(Some(_))))
    );
    assert_eq!((reader.stats().network_blocks, host.requests()), (3, 2));
}

#[test]
fn a_database_that_is_replaced_while_open_stays_readable() {
    let (former, new) = (records(4), records(9));
    let host = Host::new(&Database::new("former", &former));
    let reader = open(&host);
    block_on(reader.lookup(&former[0].position)).unwrap();

    *host.files() = Database::new("new", &new).files();
    let before = host.requests();
    let last = new.last().unwrap();
    let positions: Vec<Position> = new.iter().map(|record| record.position.clone()).collect();
    assert_eq!(
        block_on(reader.lookup(&last.position)),
        Ok(Some(last.clone()))
    );
    let manifests = host.asked()[before..]
        .iter()
        .filter(|(file, _)| file == Manifest::FILE)
        .count();
    assert_eq!(manifests, 1);
    assert!(
        block_on(reader.lookup_many(&positions))
            .iter()
            .all(|answer| matches!(answer, Ok(Some(_))))
    );
    assert_eq!(reader.manifest().positions, new.len() as u64);
}

#[test]
fn a_damaged_database_is_an_error_after_one_retry() {
    let records = records(4);
    let host = Host::new(&Database::new("broken", &records));
    let reader = open(&host);
    host.corrupt_shards();
    let error = block_on(reader.lookup(&records[0].position)).unwrap_err();
    assert!(
        matches!(
            &error,
            ReadError::Table {
                error: TableError::Chunk {
                    kind: ChunkErrorKind::Checksum { .. },
                    ..
                },
                ..
            }
        ),
        "{error}"
    );
    // The manifest; the page; the manifest and the page again.
    assert_eq!(host.requests(), 4);

    host.files().retain(|name, _| name == Manifest::FILE);
    let error = block_on(reader.lookup(&records[0].position)).unwrap_err();
    assert!(
        matches!(
            &error,
            ReadError::Source(SourceError {
                kind: SourceErrorKind::Status(404),
                ..
            })
        ),
        "{error}"
    );

    *host.files() = Database::new("mended", &self::records(5)).files();
    host.corrupt_shards();
    let error = block_on(reader.lookup(&records[0].position)).unwrap_err();
    assert!(matches!(&error, ReadError::Stale(_)), "{error}");
}

#[test]
fn errors_are_not_cached() {
    let records = records(4);
    let host = Host::new(&Database::new("moment", &records));
    let reader = open(&host);
    host.fail(Some(SourceErrorKind::Status(503)));
    assert!(block_on(reader.lookup(&records[0].position)).is_err());
    assert_eq!(host.requests(), 2);
    host.fail(None);
    assert_eq!(
        block_on(reader.lookup(&records[0].position)),
        Ok(Some(records[0].clone()))
    );
}

#[test]
fn a_missing_shard_does_not_affect_other_shards() {
    let records = records(12);
    let host = Host::new(&Database::new("partly", &records));
    let reader = open(&host);
    let gone = reader.manifest().shards()[1].file.clone();
    host.files().remove(&gone);
    let positions: Vec<Position> = records
        .iter()
        .map(|record| record.position.clone())
        .collect();
    let answers = block_on(reader.lookup_many(&positions));
    let failed = answers.iter().filter(|answer| answer.is_err()).count() as u64;
    assert_eq!(failed, reader.manifest().shards()[1].positions);
    assert!(answers.iter().flatten().all(Option::is_some));
}

#[test]
fn threads_can_share_a_reader() {
    fn is_shared<T: Send + Sync>(value: T) -> T {
        value
    }
    fn moves_to_another_thread<F: Future + Send>(future: F) -> F {
        future
    }
    let records = records(20);
    let database = Database::new("threads", &records);
    let builder = Reader::builder(Directory::new(&database.0));
    let open = moves_to_another_thread(builder.open::<PositionEval>());
    let reader = is_shared(block_on(open).unwrap());
    std::thread::scope(|scope| {
        for n in 0..4 {
            let (reader, records) = (&reader, &records);
            scope.spawn(move || {
                for record in records.iter().skip(n).step_by(3) {
                    let positions = [record.position.clone()];
                    let many = moves_to_another_thread(reader.lookup_many(&positions));
                    assert_eq!(block_on(many), [Ok(Some(record.clone()))]);
                    let one = moves_to_another_thread(reader.lookup(&record.position));
                    assert_eq!(block_on(one), Ok(Some(record.clone())));
                }
            });
        }
    });
    assert!(reader.stats().lookups > records.len() as u64);
    assert_eq!(
        reader.stats().network_blocks as usize,
        records.len().div_ceil(4),
        "each block is read once"
    );
}

/// Returns the page that a lookup of a position wants.
fn page_of(reader: &Reader<Host>, position: &Position) -> Chunk {
    reader.manifest().page_of(&position.key()).unwrap().0
}

/// Returns an active request for a page that brings nothing.
fn empty_request(reader: &Reader<Host>, page: Chunk) -> requests::Request {
    let empty = Box::pin(core::future::ready(requests::Parts::default()));
    let wants = vec![catalog::Want {
        chunk: page,
        hash: None,
        kind: catalog::Kind::Page,
    }];
    crate::sync::held(&reader.0.pending).add(wants, &requests::Sent::default(), empty)
}

#[test]
fn a_request_for_the_same_bytes_with_another_range_of_keys_is_not_shared() {
    let records = records(4);
    let host = Host::new(&Database::new("other-keys", &records));
    let reader = open(&host);
    let mut page = page_of(&reader, &records[0].position);
    // As in the manifest of a build that has other files after this one.
    page.keys.until = Some(vec![1]);
    let _request = empty_request(&reader, page);
    assert_eq!(
        block_on(reader.lookup(&records[0].position)),
        Ok(Some(records[0].clone()))
    );
}

/// A cache in memory.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<HashMap<String, Vec<u8>>>>);

impl Cache for Kept {
    fn get(&self, names: Vec<String>) -> Entries<'_> {
        let kept = self.0.lock().unwrap();
        let found: Vec<_> = names.iter().map(|name| kept.get(name).cloned()).collect();
        Box::pin(ready(found))
    }

    fn put(&self, name: &str, bytes: &[u8], _: Keep) {
        self.0
            .lock()
            .unwrap()
            .insert(name.to_string(), bytes.to_vec());
    }
}

async fn open_with(host: &Host, cache: &Kept) -> Result<Reader<Host>, ReadError> {
    Reader::builder(host.clone())
        .cache(Some(Arc::new(cache.clone())))
        .open()
        .await
}

#[test]
fn cached_chunks_take_no_request_and_outlive_the_reader() {
    let records = records(12);
    let positions: Vec<Position> = records
        .iter()
        .map(|record| record.position.clone())
        .collect();
    let host = Host::new(&Database::new("cache", &records));
    let cache = Kept::default();
    block_on(async {
        let reader = open_with(&host, &cache).await.unwrap();
        assert!(
            reader
                .lookup_many(&positions)
                .await
                .iter()
                .all(|answer| matches!(answer, Ok(Some(_))))
        );
        let before = host.requests();

        let reader = open_with(&host, &cache).await.unwrap();
        assert!(
            reader
                .lookup_many(&positions)
                .await
                .iter()
                .all(|answer| matches!(answer, Ok(Some(_))))
        );
        assert_eq!(host.requests(), before + 1, "the manifest");
        let stats = reader.stats();
        assert!(
            stats.cache_hits > 0 && stats.network_blocks == 0,
            "{stats:?}"
        );

        host.fail(Some(SourceErrorKind::Network("offline".to_string())));
        let reader = open_with(&host, &cache).await.unwrap();
        assert!(
            reader
                .lookup_many(&positions)
                .await
                .iter()
                .all(|answer| matches!(answer, Ok(Some(_))))
        );
        assert_eq!(reader.stats().bytes, 0);
    });
}

#[test]
fn damaged_cache_entries_are_fetched_again_and_replaced() {
    let records = records(4);
    let host = Host::new(&Database::new("bad-cache", &records));
    let cache = Kept::default();
    block_on(async {
        let expected = Ok(Some(records[0].clone()));
        assert_eq!(
            open_with(&host, &cache)
                .await
                .unwrap()
                .lookup(&records[0].position)
                .await,
            expected
        );
        let good = cache.0.lock().unwrap().clone();
        for (name, bytes) in cache.0.lock().unwrap().iter_mut() {
            if name != Manifest::FILE {
                bytes.iter_mut().for_each(|byte| *byte ^= 0x10);
            }
        }
        let reader = open_with(&host, &cache).await.unwrap();
        assert_eq!(reader.lookup(&records[0].position).await, expected);
        assert_eq!(reader.stats().cache_hits, 0);
        assert_eq!(*cache.0.lock().unwrap(), good);
    });
}

#[test]
fn concurrent_lookups_share_requests_and_reload_the_manifest_once() {
    let (former, new) = (records(4), records(9));
    let host = Host::new(&Database::new("share", &former));
    let lookups = |reader: &Reader<Host>, records: &[PositionEval]| {
        let futures: Vec<_> = records
            .iter()
            .map(|record| reader.lookup(&record.position))
            .collect();
        block_on(futures_util::future::join_all(futures))
    };
    let reader = open(&host);
    assert!(
        lookups(&reader, &former)
            .iter()
            .all(|answer| matches!(answer, Ok(Some(_))))
    );
    let distinct = |asked: &[(String, Range<u64>)]| {
        let mut asked = asked.to_vec();
        asked.sort_by_key(|(file, range)| (file.clone(), range.start));
        asked.windows(2).all(|pair| pair[0] != pair[1])
    };
    assert!(distinct(&host.asked()[1..]), "no range is requested twice");

    // Without memory, which may contain chunks of the former database.
    let options = Options {
        memory: 0,
        ..Options::default()
    };
    let reader = block_on(Reader::builder(host.clone()).options(options).open()).unwrap();
    *host.files() = Database::new("share-new", &new).files();
    host.asked().clear();
    assert!(
        lookups(&reader, &new)
            .iter()
            .all(|answer| matches!(answer, Ok(Some(_))))
    );
    assert_eq!(
        host.asked()
            .iter()
            .filter(|(file, _)| file == Manifest::FILE)
            .count(),
        1
    );
}

#[test]
fn a_request_is_cancelled_with_its_last_lookup_unless_linger_completes_the_request() {
    let records = records(4);
    let position = &records[0].position;
    for lingers in [false, true] {
        let host = Host::new(&Database::new(&format!("linger-{lingers}"), &records));
        let reader = open(&host);
        block_on(async {
            let mut lookup = Box::pin(reader.lookup(position));
            // Until its first request has left.
            assert!(
                futures_util::future::poll_immediate(&mut lookup)
                    .await
                    .is_none()
            );
            while host.requests() == 1 {
                assert!(
                    futures_util::future::poll_immediate(&mut lookup)
                        .await
                        .is_none()
                );
            }
            let linger = lingers.then(|| reader.linger());
            drop(lookup);
            if let Some(linger) = linger {
                linger.await;
            }
            assert_eq!(reader.lookup(position).await, Ok(Some(records[0].clone())));
        });
        // The manifest, the page (twice if its request was cancelled), and the block.
        assert_eq!(host.requests(), if lingers { 3 } else { 4 });
    }
}

#[test]
fn an_observer_receives_every_request() {
    let records = records(12);
    let host = Host::new(&Database::new("observer", &records));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observer: Observer = {
        let seen = seen.clone();
        Box::new(move |fetched| {
            assert_eq!(fetched.at, format!("host/{}", fetched.file));
            seen.lock()
                .unwrap()
                .push((fetched.file.to_string(), fetched.range.clone()));
        })
    };
    block_on(async {
        let reader = Reader::builder(host.clone())
            .observer(observer)
            .open::<PositionEval>()
            .await
            .unwrap();
        for record in &records {
            assert!(reader.lookup(&record.position).await.is_ok());
        }
        let stats = reader.stats();
        let seen = seen.lock().unwrap();
        assert_eq!(stats.requests, seen.len() as u64);
        assert_eq!(
            stats.bytes,
            seen.iter()
                .map(|(_, range)| range.end - range.start)
                .sum::<u64>()
        );
    });
}

#[test]
fn only_the_pinned_manifest_is_accepted_also_after_a_new_build() {
    let (former, new) = (records(4), records(9));
    let host = Host::new(&Database::new("pinned", &former));
    let integrity = Integrity::of(&host.files()[Manifest::FILE]);
    let open = |pin: &str| {
        let pin = pin.parse::<Pin>().unwrap();
        block_on(
            Reader::builder(host.clone())
                .pin(pin)
                .open::<PositionEval>(),
        )
    };
    let reader = open(&integrity.to_string()).unwrap();
    assert!(matches!(
        block_on(reader.lookup(&former[0].position)),
        Ok(Some(_))
    ));
    let error = open(&Integrity::of(b"another").to_string()).unwrap_err();
    assert!(
        matches!(
            error,
            ReadError::Source(SourceError {
                kind: SourceErrorKind::Integrity { .. },
                ..
            })
        ),
        "{error}"
    );

    *host.files() = Database::new("pinned-new", &new).files();
    reader.clear_memory();
    // The error says that the database was replaced, not that its file is missing.
    let error = block_on(reader.lookup(&former[0].position)).unwrap_err();
    assert!(
        matches!(
            error,
            ReadError::Source(SourceError {
                kind: SourceErrorKind::Integrity { .. },
                ..
            })
        ),
        "{error}"
    );
    assert_eq!(reader.manifest().positions, former.len() as u64);
}

#[test]
fn a_new_build_is_found_by_revalidation_although_the_old_files_stay() {
    let (former, new) = (records(4), records(9));
    let host = Host::new(&Database::new("kept", &former));
    let reader = open(&host);
    block_on(reader.lookup(&former[0].position)).unwrap();
    let last = new
        .iter()
        .find(|record| !former.iter().any(|other| other.position == record.position))
        .unwrap();

    host.files().extend(Database::new("kept-new", &new).files());
    assert_eq!(
        block_on(reader.lookup(&last.position)),
        Ok(None),
        "nothing is missing"
    );
    assert_eq!(
        (block_on(reader.revalidate()), reader.stats().replacements),
        (Ok(true), 1)
    );
    assert_eq!(
        block_on(reader.lookup(&last.position)),
        Ok(Some(last.clone()))
    );
    assert_eq!(
        (block_on(reader.revalidate()), reader.stats().replacements),
        (Ok(false), 1)
    );
    // Requests at the same time are one request.
    let before = host.requests();
    let (one, other) = block_on(futures_util::future::join(
        reader.revalidate(),
        reader.revalidate(),
    ));
    assert_eq!(
        (one, other, host.requests()),
        (Ok(false), Ok(false), before + 1)
    );
}

#[test]
fn a_failed_revalidation_keeps_the_old_database() {
    let records = records(4);
    let host = Host::new(&Database::new("failing", &records));
    let reader = open(&host);
    let age = reader.manifest_age().unwrap();
    host.fail(Some(SourceErrorKind::Status(503)));
    assert!(block_on(reader.revalidate()).is_err());
    host.fail(None);
    let manifest = host
        .files()
        .insert(Manifest::FILE.to_string(), b"{}".to_vec())
        .unwrap();
    assert!(matches!(
        block_on(reader.revalidate()),
        Err(ReadError::Table { .. })
    ));
    assert!(reader.manifest_age().unwrap() > age);
    assert_eq!(
        block_on(reader.lookup(&records[0].position)),
        Ok(Some(records[0].clone()))
    );
    let age = reader.manifest_age().unwrap();
    host.files().insert(Manifest::FILE.to_string(), manifest);
    assert_eq!(block_on(reader.revalidate()), Ok(false));
    assert!(reader.manifest_age().unwrap() < age, "confirmed again");
}

#[test]
fn a_revalidation_is_due_after_the_interval_and_at_once_if_the_manifest_is_from_the_cache() {
    use web_time::Duration;

    let host = Host::new(&Database::new("due", &records(4)));
    let reader = open(&host);
    assert!(reader.is_due(Duration::ZERO) && !reader.is_due(REVALIDATION_INTERVAL));
    let cache = Kept::default();
    block_on(async {
        open_with(&host, &cache).await.unwrap();
        host.fail(Some(SourceErrorKind::Network("offline".to_string())));
        let reader = open_with(&host, &cache).await.unwrap();
        assert!(reader.is_due(REVALIDATION_INTERVAL) && reader.manifest_age().is_none());
        assert!(reader.revalidate().await.is_err());
        assert!(!reader.is_due(REVALIDATION_INTERVAL) && reader.manifest_age().is_none());
        let pin = Integrity::of(&host.files()[Manifest::FILE])
            .to_string()
            .parse::<Pin>()
            .unwrap();
        host.fail(None);
        let pinned = Reader::builder(host.clone())
            .pin(pin)
            .open::<PositionEval>()
            .await
            .unwrap();
        assert!(!pinned.is_due(Duration::ZERO));
    });
}
