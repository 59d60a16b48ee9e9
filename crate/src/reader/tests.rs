#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::task::{Context, Waker};

use futures_executor::{LocalPool, block_on};
use futures_util::future::join_all;
use futures_util::task::LocalSpawnExt;
use shakmaty::{Chess, Position as _};

use super::*;
use crate::cache::Memory;
use crate::eval::{Evaluation, Pv, Score};
use crate::source::Fault;
use crate::source::file::Directory;
use crate::table::{TableWriter, WriterOptions, encode_block};

/// Positions of some games, ascending, each with an evaluation that tells them apart.
fn records(games: usize) -> Vec<Eval> {
    let mut records = Vec::new();
    for game in 0..games {
        let mut chess = Chess::default();
        for ply in 0..40 {
            let moves = chess.legal_moves();
            let line = moves.iter().copied().take(1).collect();
            let pvs = vec![Pv { score: Score::Cp((game * 100 + ply) as i32), line }];
            records.push(Eval {
                position: Position::from_chess(&chess),
                evaluations: vec![Evaluation { depth: 20, knodes: 1, pvs }],
            });
            let Some(&m) = moves.get((game * 7 + ply * (3 + game)) % moves.len().max(1)) else { break };
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
    fn new(name: &str, records: &[Eval]) -> Database {
        let dir = std::env::temp_dir().join(format!("shelfish-reader-{}-{name}", std::process::id()));
        let scratch = dir.join("scratch");
        fs::create_dir_all(&scratch).unwrap();
        let options = WriterOptions { shard_bytes: 4000, page_blocks: 4, ..WriterOptions::default() };
        let mut writer = TableWriter::<Eval>::create(&dir, &scratch, options);
        for block in records.chunks(4) {
            writer.append(&encode_block(block).unwrap()).unwrap();
        }
        writer.finish().unwrap();
        Database(dir)
    }

    fn files(&self) -> HashMap<String, Vec<u8>> {
        let files = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        files.map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), fs::read(path).unwrap())).collect()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A host in memory that notes what it is asked for, answers when it is let, and fails when it is told to.
#[derive(Clone, Debug, Default)]
struct Host(Rc<HostState>);

#[derive(Debug, Default)]
struct HostState {
    files: RefCell<HashMap<String, Vec<u8>>>,
    asked: RefCell<Vec<(String, Range<u64>)>>,
    held: Cell<bool>,
    wakers: RefCell<Vec<Waker>>,
    under_way: Cell<usize>,
    given_up: Cell<usize>,
    fault: RefCell<Option<Fault>>,
}

/// Counts a request while it lasts.
struct UnderWay(Host, bool);

impl Drop for UnderWay {
    fn drop(&mut self) {
        let host = &self.0.0;
        host.under_way.set(host.under_way.get() - 1);
        host.given_up.set(host.given_up.get() + usize::from(!self.1));
    }
}

impl Host {
    fn new(database: &Database) -> Host {
        let host = Host::default();
        host.0.files.replace(database.files());
        host
    }

    fn requests(&self) -> usize {
        self.0.asked.borrow().len()
    }

    fn release(&self) {
        self.0.held.set(false);
        self.0.wakers.take().into_iter().for_each(Waker::wake);
    }

    fn corrupt_shards(&self) {
        for (name, bytes) in self.0.files.borrow_mut().iter_mut() {
            if name != Manifest::FILE {
                bytes.iter_mut().for_each(|byte| *byte ^= 1);
            }
        }
    }

    async fn answer(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        let host = &self.0;
        host.asked.borrow_mut().push((file.to_string(), range.clone()));
        host.under_way.set(host.under_way.get() + 1);
        let mut under_way = UnderWay(self.clone(), false);
        // Always once to sleep, as on a wire.
        let mut polled = false;
        poll_fn(|context: &mut Context<'_>| {
            if polled && !host.held.get() {
                return Poll::Ready(());
            }
            polled = true;
            match host.held.get() {
                true => host.wakers.borrow_mut().push(context.waker().clone()),
                false => context.waker().wake_by_ref(),
            }
            Poll::Pending
        })
        .await;
        under_way.1 = true;
        let error = |fault| SourceError { at: self.locate(file), fault };
        if let Some(fault) = host.fault.borrow().clone() {
            return Err(error(fault));
        }
        let files = host.files.borrow();
        let bytes = files.get(file).ok_or_else(|| error(Fault::Status(404)))?;
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

fn open<C: Cache + 'static>(host: &Host, cache: C) -> Reader<Host, C> {
    block_on(Reader::open(host.clone(), cache, Options::default())).unwrap()
}

/// Lets what is under way go as far as it can.
fn settle(pool: &mut LocalPool) {
    pool.run_until_stalled();
}

#[test]
fn every_position_is_found_and_no_other() {
    let records = records(12);
    let (there, absent): (Vec<_>, Vec<_>) = records.into_iter().enumerate().partition(|(n, _)| n % 5 > 0);
    let there: Vec<Eval> = there.into_iter().map(|(_, record)| record).collect();
    let database = Database::new("every", &there);
    let reader: Reader<_, _> =
        block_on(Reader::open(Directory::new(&database.0), (), Options { memory: 20_000, ..Options::default() }))
            .unwrap();
    for record in &there {
        assert_eq!(block_on(reader.lookup(&record.position)), Ok(Some(record.clone())));
    }
    for (_, record) in &absent {
        assert_eq!(block_on(reader.lookup(&record.position)), Ok(None::<Eval>));
    }
    let mixed: Vec<Position> = there.iter().map(|record| record.position.clone()).rev().collect();
    let expected: Vec<_> = there.into_iter().rev().map(|record| Ok(Some(record))).collect();
    assert_eq!(block_on(reader.lookup_many(&mixed)), expected);
}

#[test]
fn a_cold_lookup_takes_three_requests_and_a_warm_one_none() {
    let records = records(4);
    let host = Host::new(&Database::new("cold", &records));
    let reader = open(&host, ());
    block_on(reader.lookup(&records[1].position)).unwrap();
    assert_eq!(host.requests(), 3);
    block_on(reader.lookup(&records[1].position)).unwrap();
    block_on(reader.lookup(&records[2].position)).unwrap();
    assert_eq!(host.requests(), 3);
    let stats = reader.stats();
    assert_eq!((stats.requests, stats.lookups, stats.network_blocks, stats.memory_hits), (3, 3, 1, 2));
    let bytes: u64 = host.0.asked.borrow()[1..].iter().map(|(_, range)| range.end - range.start).sum();
    assert_eq!(stats.bytes, bytes + host.0.files.borrow()[Manifest::FILE].len() as u64);
}

#[test]
fn many_positions_take_each_byte_once_and_what_touches_in_one_request() {
    let records = records(12);
    let host = Host::new(&Database::new("many", &records));
    let reader = open(&host, ());
    let positions: Vec<Position> = records.iter().rev().chain(&records).map(|record| record.position.clone()).collect();
    let mut pool = LocalPool::new();
    host.0.held.set(true);
    let many = async move { reader.lookup_many(&positions).await.iter().all(|answer| matches!(answer, Ok(Some(_)))) };
    let many = pool.spawner().spawn_local_with_handle(many).unwrap();
    settle(&mut pool);
    let most = host.0.under_way.get();
    assert!((2..=6).contains(&most), "{most} requests at a time");
    host.release();
    assert!(pool.run_until(many));
    let mut asked: Vec<_> = host.0.asked.borrow()[1..].to_vec();
    asked.sort_by_key(|(file, range)| (file.clone(), range.start));
    for pair in asked.windows(2) {
        assert!(pair[0].0 != pair[1].0 || pair[0].1.end <= pair[1].1.start, "{pair:?}");
    }
    let shards = host.0.files.borrow().len() - 1;
    assert!(shards > 2 && host.requests() <= 1 + 2 * shards, "{} requests for {shards} shards", host.requests());
}

#[test]
fn lookups_at_the_same_time_share_their_requests() {
    let records = records(4);
    let host = Host::new(&Database::new("share", &records));
    let reader = open(&host, ());
    let positions = [&records[0].position, &records[1].position, &records[0].position];
    let answers = block_on(join_all(positions.map(|position| reader.lookup(position))));
    assert!(answers.iter().all(|answer| matches!(answer, Ok(Some(_)))));
    assert_eq!(host.requests(), 3);
}

#[test]
fn a_request_outlives_one_who_leaves_but_not_all() {
    let records = records(4);
    let host = Host::new(&Database::new("leave", &records));
    let reader = block_on(Reader::<_, _>::open(host.clone(), (), Options { concurrency: 1, ..Options::default() }));
    let reader = reader.unwrap();
    let mut pool = LocalPool::new();
    let ask = |pool: &LocalPool, n: usize| {
        let (reader, position) = (reader.clone(), records[n].position.clone());
        pool.spawner().spawn_local_with_handle(async move { reader.lookup(&position).await }).unwrap()
    };

    host.0.held.set(true);
    let (first, second) = (ask(&pool, 0), ask(&pool, 1));
    // Far away: waits at the gate, and leaves from there.
    let third = ask(&pool, records.len() - 1);
    settle(&mut pool);
    drop((first, third));
    settle(&mut pool);
    host.release();
    assert_eq!(pool.run_until(second), Ok(Some(records[1].clone())));
    assert_eq!((host.requests(), host.0.given_up.get()), (3, 0));

    host.0.held.set(true);
    let far = ask(&pool, records.len() - 1);
    settle(&mut pool);
    drop(far);
    settle(&mut pool);
    assert_eq!((host.0.under_way.get(), host.0.given_up.get()), (0, 1));

    host.release();
    let again = ask(&pool, records.len() - 1);
    assert_eq!(pool.run_until(again), Ok(records.last().cloned()));
}

#[test]
fn the_cache_saves_requests_and_is_not_trusted() {
    let records = records(4);
    let host = Host::new(&Database::new("cache", &records));
    let cache = Rc::new(Memory::new(1 << 20));
    let position = &records[5].position;
    block_on(open(&host, cache.clone()).lookup(position)).unwrap();
    assert_eq!(host.requests(), 3);

    let reader = open(&host, cache.clone());
    assert_eq!(block_on(reader.lookup(position)), Ok(Some(records[5].clone())));
    assert_eq!((host.requests(), reader.stats().cache_hits, reader.stats().network_blocks), (4, 1, 0));

    let (file, range) = host.0.asked.borrow()[2].clone();
    let name = format!("{file}:{}-{}", range.start, range.end);
    let whole = block_on(cache.get(core::slice::from_ref(&name))).pop().flatten().unwrap();
    let mut damaged = whole.clone();
    damaged[7] ^= 1;
    cache.put(&name, &damaged, Keep::WhileUsed);
    let reader = open(&host, cache.clone());
    assert_eq!(block_on(reader.lookup(position)), Ok(Some(records[5].clone())));
    assert_eq!((host.requests(), reader.stats().cache_hits, reader.stats().network_blocks), (6, 0, 1));
    assert_eq!(block_on(cache.get(&[name])), [Some(whole)]);
}

#[test]
fn without_a_connection_the_last_manifest_serves_what_was_seen() {
    let records = records(4);
    let host = Host::new(&Database::new("offline", &records));
    let cache = Rc::new(Memory::new(1 << 20));
    block_on(open(&host, cache.clone()).lookup(&records[5].position)).unwrap();

    let offline = Fault::Network("offline".to_string());
    host.0.fault.replace(Some(offline.clone()));
    let reader = open(&host, cache);
    assert_eq!(block_on(reader.lookup(&records[5].position)), Ok(Some(records[5].clone())));
    let error = block_on(reader.lookup(&records[records.len() - 1].position)).unwrap_err();
    assert!(matches!(error, ReadError::Source(SourceError { fault, .. }) if fault == offline));

    let nothing = block_on(Reader::<_, _>::open(host.clone(), (), Options::default())).unwrap_err();
    assert_eq!(nothing.to_string(), "host/manifest.json: no answer (offline)");
}

#[test]
fn a_database_that_is_replaced_while_open_goes_on() {
    let (former, new) = (records(4), records(9));
    let host = Host::new(&Database::new("former", &former));
    let reader = open(&host, ());
    block_on(reader.lookup(&former[0].position)).unwrap();

    host.0.files.replace(Database::new("new", &new).files());
    let before = host.requests();
    let last = new.last().unwrap();
    let positions: Vec<Position> = new.iter().map(|record| record.position.clone()).collect();
    assert_eq!(block_on(reader.lookup(&last.position)), Ok(Some(last.clone())));
    let manifests = host.0.asked.borrow()[before..].iter().filter(|(file, _)| file == Manifest::FILE).count();
    assert_eq!(manifests, 1);
    assert!(block_on(reader.lookup_many(&positions)).iter().all(|answer| matches!(answer, Ok(Some(_)))));
    assert_eq!(reader.manifest().positions, new.len() as u64);
}

#[test]
fn a_database_that_stays_broken_is_an_error_after_one_more_try() {
    let records = records(4);
    let host = Host::new(&Database::new("broken", &records));
    let reader = open(&host, ());
    host.corrupt_shards();
    let error = block_on(reader.lookup(&records[0].position)).unwrap_err();
    assert!(matches!(&error, ReadError::Table { error: TableError::Checksum { .. }, .. }), "{error}");
    // The manifest; the page; the manifest and the page again.
    assert_eq!(host.requests(), 4);

    host.0.files.borrow_mut().retain(|name, _| name == Manifest::FILE);
    let error = block_on(reader.lookup(&records[0].position)).unwrap_err();
    assert!(matches!(&error, ReadError::Source(SourceError { fault: Fault::Status(404), .. })), "{error}");

    host.0.files.replace(Database::new("mended", &self::records(5)).files());
    host.corrupt_shards();
    let error = block_on(reader.lookup(&records[0].position)).unwrap_err();
    assert!(matches!(&error, ReadError::Stale(_)), "{error}");
}

#[test]
fn a_failure_is_not_remembered() {
    let records = records(4);
    let host = Host::new(&Database::new("moment", &records));
    let reader = open(&host, ());
    host.0.fault.replace(Some(Fault::Status(503)));
    assert!(block_on(reader.lookup(&records[0].position)).is_err());
    assert_eq!(host.requests(), 2);
    host.0.fault.replace(None);
    assert_eq!(block_on(reader.lookup(&records[0].position)), Ok(Some(records[0].clone())));
}

#[test]
fn one_broken_shard_leaves_the_others_readable() {
    let records = records(12);
    let host = Host::new(&Database::new("partly", &records));
    let reader = open(&host, ());
    let gone = reader.manifest().shards[1].file.clone();
    host.0.files.borrow_mut().remove(&gone);
    let positions: Vec<Position> = records.iter().map(|record| record.position.clone()).collect();
    let answers = block_on(reader.lookup_many(&positions));
    let failed = answers.iter().filter(|answer| answer.is_err()).count() as u64;
    assert_eq!(failed, reader.manifest().shards[1].positions);
    assert!(answers.iter().flatten().all(Option::is_some));
}
