//! External merge sort of spooled records by key.
//!
//! Each worker fills an arena of fixed size; when it is full, the worker sorts an index of it and writes the records
//! as one compressed run. Runs are merged by a heap; records of one key become one. Memory is what was given, whatever
//! the input; equal multisets of records give equal output, whatever the arenas and workers. A run is in parts that are
//! removed as they are read, so that the disk takes the runs or what comes of them, not both, unless whoever reads them
//! keeps a clone to read them again.
//!
//! The sorting crates at hand fall short here: `extsort` counts records instead of bytes, `ext-sort` holds each
//! record in allocations of its own and sorts on a pool of its own; neither merges equal keys, compresses runs or
//! bounds how many it opens at once.

use std::cmp::Ordering;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, TryReserveError, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use shelfish::leb128;
use shelfish::position::Key;

use super::disk::Disk;
use super::spool::{self, SpoolError};

/// Memory that a merge needs for each run that it reads: buffers and the window of zstd.
pub const MERGE_MEMORY: usize = 640 << 10;
/// The window of compressed runs: small, as every run of a merge has one.
const WINDOW_LOG: u32 = 17;
/// How hard zstd tries: more takes longer than it saves.
const LEVEL: i32 = 3;
const WRITE_BUFFER: usize = 64 << 10;
/// See [`RunFiles::part`].
const PART: usize = 8 << 20;
const READ_BUFFER: usize = 32 << 10;

/// Makes one payload of those of a position that comes in many. The result must not depend on their order.
pub trait Merging: Default {
    /// As much of a key as decides nearly all comparisons: more takes memory, less has records looked at.
    type Start: KeyStart;

    /// Adds a payload.
    ///
    /// # Errors
    ///
    /// The payload is malformed.
    fn push(&mut self, payload: &[u8]) -> Result<(), SpoolError>;

    /// The payload of all.
    ///
    /// # Errors
    ///
    /// A payload that was added is malformed.
    fn finish(self) -> Result<Vec<u8>, SpoolError>;
}

/// Names the files of runs.
pub struct RunFiles {
    dir: PathBuf,
    count: AtomicUsize,
    /// Bytes of a part of a run, before compression.
    part: usize,
    disk: Arc<Disk>,
}

impl RunFiles {
    /// All of them in `dir`, `disk` counting their bytes.
    pub fn new(dir: &Path, disk: Disk) -> RunFiles {
        RunFiles { dir: dir.to_owned(), count: AtomicUsize::new(0), part: PART, disk: Arc::new(disk) }
    }

    /// What counts their bytes.
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    fn path(&self) -> PathBuf {
        self.dir.join(format!("{}.run", self.count.fetch_add(1, Relaxed)))
    }
}

/// A sorted sequence of records. Clones share their files.
#[derive(Clone, Default)]
pub struct Run {
    parts: VecDeque<Arc<Part>>,
    /// Records in it.
    pub records: u64,
}

/// A file of records, removed with its last clone.
struct Part {
    path: PathBuf,
    bytes: u64,
    disk: Arc<Disk>,
}

impl Drop for Part {
    fn drop(&mut self) {
        // The whole directory goes in the end; an error here is of no consequence.
        let _ = fs::remove_file(&self.path);
        self.disk.give(self.bytes);
    }
}

/// One worker's arena of records, and the runs that came of it.
pub struct Sorter<'a, M: Merging> {
    run_files: &'a RunFiles,
    memory: usize,
    records: Vec<u8>,
    index: Vec<Entry<M::Start>>,
    scratch: Vec<u8>,
    runs: Vec<Run>,
    merging: PhantomData<M>,
}

/// The beginning of a key, in the order of keys.
pub trait KeyStart: Copy + Ord {
    /// That of a key.
    fn of(key: &[u8]) -> Self;
}

impl<const WORDS: usize> KeyStart for [u32; WORDS] {
    fn of(key: &[u8]) -> [u32; WORDS] {
        std::array::from_fn(|n| {
            let byte = |m: usize| u32::from(key.get(4 * n + m).copied().unwrap_or(0));
            byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3)
        })
    }
}

/// A record of the arena: the beginning of its key and its place.
#[derive(Clone, Copy)]
struct Entry<S> {
    start: S,
    at: u32,
}

impl<'a, M: Merging> Sorter<'a, M> {
    /// A sorter that uses `memory` bytes, and never more than some 5 GiB.
    ///
    /// # Errors
    ///
    /// The system does not give so much.
    pub fn new(run_files: &'a RunFiles, memory: usize) -> Result<Sorter<'a, M>, TryReserveError> {
        let (records, index) = (Vec::new(), Vec::new());
        let (scratch, runs) = (Vec::new(), Vec::new());
        let mut sorter = Sorter { run_files, memory, records, index, scratch, runs, merging: PhantomData };
        sorter.reserve()?;
        Ok(sorter)
    }

    fn reserve(&mut self) -> Result<(), TryReserveError> {
        // Records take 50 to 200 bytes. Pages that are not touched take no memory.
        const RECORD: usize = 64;
        let most = self.memory / (RECORD + size_of::<Entry<M::Start>>());
        let most = most.min(u32::MAX as usize / RECORD);
        self.records.try_reserve_exact(most * RECORD)?;
        self.index.try_reserve_exact(most)
    }

    /// Writes what there is and gives the memory back until the next record, for something else that takes much.
    ///
    /// # Errors
    ///
    /// The arena cannot be written.
    pub fn make_room(&mut self) -> io::Result<()> {
        self.spill()?;
        (self.records, self.index) = (Vec::new(), Vec::new());
        Ok(())
    }

    /// Adds a record.
    ///
    /// # Errors
    ///
    /// The arena is full and cannot be written.
    pub fn push(&mut self, key: &Key, payload: &[u8]) -> io::Result<()> {
        let mut record = std::mem::take(&mut self.scratch);
        record.clear();
        spool::push_parts(&mut record, key.as_bytes(), payload);
        if self.records.capacity() == 0 {
            self.reserve().map_err(|_| io::ErrorKind::OutOfMemory)?;
        }
        let is_full = self.records.len() + record.len() > self.records.capacity();
        if is_full || self.index.len() == self.index.capacity() {
            self.spill()?;
        }
        let at = u32::try_from(self.records.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.index.push(Entry { start: M::Start::of(key.as_bytes()), at });
        self.records.extend_from_slice(&record);
        self.scratch = record;
        Ok(())
    }

    /// The runs, all records written.
    ///
    /// # Errors
    ///
    /// What is left cannot be written.
    pub fn finish(mut self) -> io::Result<Vec<Run>> {
        self.spill()?;
        Ok(self.runs)
    }

    fn spill(&mut self) -> io::Result<()> {
        if self.index.is_empty() {
            return Ok(());
        }
        let record =
            |entry: &Entry<M::Start>| spool::take_parts(&mut &self.records[entry.at as usize..]).unwrap_or_default();
        self.index.sort_unstable_by(|a, b| a.start.cmp(&b.start).then_with(|| record(a).0.cmp(record(b).0)));
        let mut run = RunWriter::new(self.run_files);
        for same in self.index.chunk_by(|a, b| a.start == b.start && record(a).0 == record(b).0) {
            let (key, payload) = record(&same[0]);
            if same.len() == 1 {
                run.push(key, payload)?;
            } else {
                let mut merged = M::default();
                same.iter().try_for_each(|entry| merged.push(record(entry).1))?;
                run.push(key, &merged.finish()?)?;
            }
        }
        self.runs.push(run.finish()?);
        self.records.clear();
        self.index.clear();
        Ok(())
    }
}

/// Writes a run: keys as what they share with the one before and the rest.
struct RunWriter<'a> {
    run_files: &'a RunFiles,
    run: Run,
    /// What the last part is written with, and the bytes that it may still take.
    encoder: Option<(zstd::Encoder<'static, File>, usize)>,
    buffer: Vec<u8>,
    key: Vec<u8>,
}

impl<'a> RunWriter<'a> {
    fn new(run_files: &'a RunFiles) -> RunWriter<'a> {
        let buffer = Vec::with_capacity(2 * WRITE_BUFFER);
        RunWriter { run_files, run: Run::default(), encoder: None, buffer, key: Vec::new() }
    }

    fn push(&mut self, key: &[u8], payload: &[u8]) -> io::Result<()> {
        let shared = self.key.iter().zip(key).take_while(|(a, b)| a == b).count();
        leb128::push(&mut self.buffer, shared as u64);
        spool::push_parts(&mut self.buffer, &key[shared..], payload);
        self.key.truncate(shared);
        self.key.extend_from_slice(&key[shared..]);
        self.run.records += 1;
        if self.buffer.len() >= WRITE_BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let (mut encoder, left) = match self.encoder.take() {
            Some(open) => open,
            None => (self.begin_part()?, self.run_files.part),
        };
        encoder.write_all(&self.buffer)?;
        match left.checked_sub(self.buffer.len()) {
            Some(left) => self.encoder = Some((encoder, left)),
            None => self.end_part(encoder)?,
        }
        self.buffer.clear();
        Ok(())
    }

    fn end_part(&mut self, encoder: zstd::Encoder<'static, File>) -> io::Result<()> {
        let bytes = encoder.finish()?.metadata()?.len();
        // Nobody else has it before the run is finished.
        if let Some(part) = self.run.parts.back_mut().and_then(Arc::get_mut) {
            part.bytes = bytes;
            part.disk.take(bytes)?;
        }
        Ok(())
    }

    fn begin_part(&mut self) -> io::Result<zstd::Encoder<'static, File>> {
        let path = self.run_files.path();
        let mut encoder = zstd::Encoder::new(File::create(&path)?, LEVEL)?;
        encoder.window_log(WINDOW_LOG)?;
        encoder.include_checksum(true)?;
        self.run.parts.push_back(Arc::new(Part { path, bytes: 0, disk: self.run_files.disk.clone() }));
        Ok(encoder)
    }

    fn finish(mut self) -> io::Result<Run> {
        if !self.buffer.is_empty() {
            self.flush()?;
        }
        if let Some((encoder, _)) = self.encoder.take() {
            self.end_part(encoder)?;
        }
        Ok(self.run)
    }
}

/// A run that is being read, at one of its records.
struct RunReader {
    /// The first of the parts that are left.
    reader: Option<BufReader<zstd::Decoder<'static, BufReader<File>>>>,
    run: Run,
    key: Vec<u8>,
    payload: Vec<u8>,
}

impl RunReader {
    /// Opens a run at its first record; `None` if it has none.
    fn open(run: Run) -> io::Result<Option<RunReader>> {
        let mut reader = RunReader { reader: None, run, key: Vec::new(), payload: Vec::new() };
        Ok(reader.advance()?.then_some(reader))
    }

    /// Goes to the next record; false if there is none.
    fn advance(&mut self) -> io::Result<bool> {
        loop {
            if let Some(reader) = &mut self.reader {
                if !reader.fill_buf()?.is_empty() {
                    let shared = read_length(reader)?;
                    self.key.truncate(shared);
                    let length = read_length(reader)?;
                    read_onto(reader, length, &mut self.key)?;
                    let length = read_length(reader)?;
                    self.payload.clear();
                    read_onto(reader, length, &mut self.payload)?;
                    return Ok(true);
                }
                self.reader = None;
                self.run.parts.pop_front();
            }
            let Some(part) = self.run.parts.front() else { return Ok(false) };
            let file = BufReader::with_capacity(READ_BUFFER, File::open(&part.path)?);
            self.reader = Some(BufReader::with_capacity(READ_BUFFER, zstd::Decoder::with_buffer(file)?));
        }
    }
}

fn read_length(reader: &mut impl Read) -> io::Result<usize> {
    let next = || {
        let mut byte = [0];
        reader.read_exact(&mut byte).map(|()| byte[0])
    };
    let length = leb128::read(next)?.and_then(|length| usize::try_from(length).ok());
    length.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn read_onto(reader: &mut impl Read, length: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    let start = bytes.len();
    bytes.resize(start + length, 0);
    reader.read_exact(&mut bytes[start..])
}

/// In a heap, the reader with the least key is the greatest.
impl Ord for RunReader {
    fn cmp(&self, other: &RunReader) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl PartialOrd for RunReader {
    fn partial_cmp(&self, other: &RunReader) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RunReader {
    fn eq(&self, other: &RunReader) -> bool {
        self.key == other.key
    }
}

impl Eq for RunReader {}

/// Runs, merged.
pub struct Merge<M> {
    heap: BinaryHeap<RunReader>,
    key: Vec<u8>,
    payload: Vec<u8>,
    merging: PhantomData<M>,
}

impl<M: Merging> Merge<M> {
    /// Merges any number of runs with at most `memory` bytes, in several passes if need be.
    ///
    /// # Errors
    ///
    /// A run cannot be read or written.
    pub fn new(mut runs: Vec<Run>, run_files: &RunFiles, memory: usize) -> io::Result<Merge<M>> {
        let fan_in = (memory / MERGE_MEMORY).max(2);
        while runs.len() > fan_in {
            // Only as many as must go; the shortest first, as they will be read twice.
            runs.sort_by_key(|run| std::cmp::Reverse(run.records));
            let many = (runs.len() - fan_in + 1).min(fan_in);
            let some = runs.split_off(runs.len() - many);
            let mut merge = Self::open(some)?;
            let mut run = RunWriter::new(run_files);
            while let Some((key, payload)) = merge.next_record()? {
                run.push(key, payload)?;
            }
            runs.push(run.finish()?);
        }
        Self::open(runs)
    }

    fn open(runs: Vec<Run>) -> io::Result<Merge<M>> {
        let readers = runs.into_iter().filter_map(|run| RunReader::open(run).transpose());
        let heap = readers.collect::<io::Result<_>>()?;
        Ok(Merge { heap, key: Vec::new(), payload: Vec::new(), merging: PhantomData })
    }

    /// The key of the next record, if there is one.
    pub fn peek(&self) -> Option<&[u8]> {
        self.heap.peek().map(|top| &top.key[..])
    }

    /// The next key and its payload, keys ascending and each once.
    ///
    /// # Errors
    ///
    /// A run cannot be read.
    pub fn next_record(&mut self) -> io::Result<Option<(&[u8], &[u8])>> {
        let Some(mut top) = self.heap.peek_mut() else { return Ok(None) };
        self.key.clone_from(&top.key);
        std::mem::swap(&mut self.payload, &mut top.payload);
        Self::step(top)?;
        let mut merged = M::default();
        let mut is_alone = true;
        while let Some(top) = self.heap.peek_mut().filter(|top| top.key == self.key) {
            if is_alone {
                merged.push(&self.payload)?;
            }
            merged.push(&top.payload)?;
            Self::step(top)?;
            is_alone = false;
        }
        if !is_alone {
            self.payload = merged.finish()?;
        }
        Ok(Some((&self.key, &self.payload)))
    }

    fn step(mut top: PeekMut<RunReader>) -> io::Result<()> {
        if !top.advance()? {
            PeekMut::pop(top);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use shakmaty::{Chess, Position as _};
    use shelfish::eval::{Evaluation, Pv, Score};
    use shelfish::position::Position;

    use super::super::spool::{Merged, Surplus};
    use super::*;

    /// Positions of pseudo-random games, many of them more than once.
    fn records(count: u64) -> Vec<(Key, Evaluation)> {
        let mut state = 7u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let mut chess = Chess::default();
        (0..count)
            .map(|n| {
                let moves = chess.legal_moves();
                if moves.is_empty() || n % 12 == 0 {
                    chess = Chess::default();
                } else {
                    chess.play_unchecked(moves[random() % moves.len()]);
                }
                let pv = Pv { score: Score::Cp(1), line: chess.legal_moves().first().copied().into_iter().collect() };
                let depth = random() as u16 % 3;
                (Position::from_chess(&chess).key(), Evaluation { depth, knodes: 1, pvs: vec![pv] })
            })
            .collect()
    }

    fn sorted(records: &[(Key, Evaluation)], arena: usize, memory: usize) -> io::Result<Vec<u8>> {
        let dir = tempfile::tempdir()?;
        let run_files = RunFiles { part: arena / 3, ..RunFiles::new(dir.path(), Disk::new(None)) };
        let mut sorters = [Sorter::<Merged>::new(&run_files, arena)?, Sorter::new(&run_files, arena / 2)?];
        for (n, (key, evaluation)) in records.iter().enumerate() {
            sorters[n % 2].push(key, &spool::payload(std::slice::from_ref(evaluation), Surplus::default()))?;
        }
        let mut runs = Vec::new();
        for sorter in sorters {
            runs.extend(sorter.finish()?);
        }
        let mut merge = Merge::<Merged>::new(runs, &run_files, memory)?;
        let mut whole = Vec::new();
        while let Some((key, payload)) = merge.next_record()? {
            spool::push_parts(&mut whole, key, payload);
        }
        assert_eq!(fs::read_dir(dir.path())?.count(), 0, "runs are removed when they have been read");
        Ok(whole)
    }

    #[test]
    fn records_are_sorted_and_merged_whatever_the_memory_and_their_order() -> io::Result<()> {
        let mut records = records(20_000);
        let mut expected: BTreeMap<Key, Vec<Evaluation>> = BTreeMap::new();
        for (key, evaluation) in &records {
            expected.entry(*key).or_default().push(evaluation.clone());
        }
        let whole = sorted(&records, 64 << 20, 64 << 20)?;
        let mut rest = &whole[..];
        for (key, mut evaluations) in expected {
            let (eval, _) = spool::take(&mut rest)?;
            shelfish::eval::PositionEval::normalise(&mut evaluations);
            assert_eq!(eval.position.key(), key);
            assert_eq!(eval.evaluations, evaluations);
        }
        assert!(rest.is_empty());

        assert_eq!(sorted(&records, 64 << 10, 64 << 20)?, whole, "many runs");
        assert_eq!(sorted(&records, 64 << 10, 0)?, whole, "many runs, merged two by two");
        records.reverse();
        assert_eq!(sorted(&records, 300 << 10, 5 * MERGE_MEMORY)?, whole, "in another order");
        Ok(())
    }
}
