//! External merge sort of records by key, in temporary files.
//!
//! Each worker fills an arena of fixed size. When the arena is full, the worker sorts an index of it and writes the records
//! as one compressed *run*, in which a position occurs once. The runs are merged by a heap. The memory is bounded for any
//! input. Equal multisets of records give equal output for any arenas and workers.
//!
//! A run consists of parts, which are removed as they are read. So the disk holds either the runs or the files made of them,
//! unless the reader keeps a clone to read a run again.
//!
//! Existing crates do not suffice: `extsort` counts records instead of bytes, `ext-sort` allocates each record and sorts in
//! a thread pool of its own; neither merges equal keys, compresses runs or bounds the number of open runs.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, TryReserveError, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use shelfish::leb128;
use shelfish::position::Key;
use tempfile::TempPath;

use super::kind::{Kind, gather_payload};
use super::spool;

/// The window of zstd for runs. It is small, because a merge reads many runs.
const WINDOW_LOG: u32 = 17;
/// The level of zstd. Higher levels take longer than they save.
const LEVEL: i32 = 3;
const WRITE_BUFFER: usize = 64 << 10;
const READ_BUFFER: usize = 32 << 10;
/// Size of a part of a run before compression, in bytes.
const PART: usize = 8 << 20;
/// Memory of a merge for each run: buffers and the window of zstd.
const MERGE_MEMORY: usize = 640 << 10;

/// The directory of runs.
pub struct RunFiles {
    dir: PathBuf,
    count: AtomicU64,
    part: usize,
}

impl RunFiles {
    /// Creates the files in `dir`.
    pub fn new(dir: &Path) -> RunFiles {
        RunFiles {
            dir: dir.to_owned(),
            count: AtomicU64::new(0),
            part: PART,
        }
    }
}

/// A sorted sequence of records. Clones share their files.
#[derive(Clone, Default)]
pub struct Run {
    /// The files, each removed when its last clone is dropped.
    parts: VecDeque<Arc<TempPath>>,
    /// Number of records.
    pub records: u64,
}

/// Writes a run. Each key is stored as the length shared with the key before, and the rest.
struct RunWriter<'a> {
    run_files: &'a RunFiles,
    run: Run,
    /// The last part, and the number of bytes that it may still take.
    part: Option<(zstd::Encoder<'static, File>, TempPath, usize)>,
    buffer: Vec<u8>,
    key: Vec<u8>,
}

impl<'a> RunWriter<'a> {
    fn new(run_files: &'a RunFiles) -> RunWriter<'a> {
        RunWriter {
            run_files,
            run: Run::default(),
            part: None,
            buffer: Vec::with_capacity(2 * WRITE_BUFFER),
            key: Vec::new(),
        }
    }

    fn push(&mut self, key: &[u8], payload: &[u8]) -> io::Result<()> {
        let shared = self.key.iter().zip(key).take_while(|(a, b)| a == b).count();
        leb128::push(&mut self.buffer, shared as u64);
        spool::push_parts(&mut self.buffer, &key[shared..], payload);
        self.key.truncate(shared);
        self.key.extend_from_slice(&key[shared..]);
        self.run.records += 1;
        if self.buffer.len() >= WRITE_BUFFER {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let (mut encoder, path, left) = match self.part.take() {
            Some(part) => part,
            None => {
                let RunFiles { dir, count, part } = self.run_files;
                let path = dir.join(format!("{}.run", count.fetch_add(1, Relaxed)));
                let mut encoder = zstd::Encoder::new(File::create(&path)?, LEVEL)?;
                encoder.window_log(WINDOW_LOG)?;
                encoder.include_checksum(true)?;
                (encoder, TempPath::try_from_path(path)?, *part)
            }
        };
        encoder.write_all(&self.buffer)?;
        let left = left.checked_sub(self.buffer.len());
        self.buffer.clear();
        self.part = Some((encoder, path, left.unwrap_or(0)));
        match left {
            Some(_) => Ok(()),
            None => self.close(),
        }
    }

    /// Completes the last part.
    fn close(&mut self) -> io::Result<()> {
        if let Some((encoder, path, _)) = self.part.take() {
            encoder.finish()?;
            self.run.parts.push_back(Arc::new(path));
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<Run> {
        if !self.buffer.is_empty() {
            self.flush()?;
        }
        self.close()?;
        Ok(self.run)
    }
}

/// Reads a run.
struct RunReader {
    /// The reader of the first remaining part.
    reader: Option<BufReader<zstd::Decoder<'static, BufReader<File>>>>,
    run: Run,
    payload: Vec<u8>,
}

impl RunReader {
    /// Reads the payload of the next record, and its key over the key before. Returns false at the end.
    fn advance(&mut self, key: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            if let Some(reader) = &mut self.reader {
                if !reader.fill_buf()?.is_empty() {
                    key.truncate(read_length(reader)?);
                    read_onto(reader, key)?;
                    self.payload.clear();
                    read_onto(reader, &mut self.payload)?;
                    return Ok(true);
                }
                self.reader = None;
                self.run.parts.pop_front();
            }
            let Some(part) = self.run.parts.front() else {
                return Ok(false);
            };
            let file = BufReader::with_capacity(READ_BUFFER, File::open(&**part)?);
            let decoder = zstd::Decoder::with_buffer(file)?;
            self.reader = Some(BufReader::with_capacity(READ_BUFFER, decoder));
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

/// Appends bytes that follow their length.
fn read_onto(reader: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<()> {
    let length = read_length(reader)?;
    let start = bytes.len();
    bytes.resize(start + length, 0);
    reader.read_exact(&mut bytes[start..])
}

/// The beginning of a key, which decides nearly all comparisons. Many positions of games have the same pawns and queens.
type KeyStart = [u8; 20];

fn start_of(key: &[u8]) -> KeyStart {
    let mut start = KeyStart::default();
    let length = key.len().min(start.len());
    start[..length].copy_from_slice(&key[..length]);
    start
}

/// The arena of a worker and the runs written from it.
pub struct Sorter<'a, K> {
    run_files: &'a RunFiles,
    memory: usize,
    records: Vec<u8>,
    /// The beginning of the key of each record, and its offset in the arena.
    index: Vec<(KeyStart, u32)>,
    runs: Vec<Run>,
    kind: &'a K,
}

impl<'a, K: Kind> Sorter<'a, K> {
    /// Creates a sorter that uses `memory` bytes, at most about 5 GiB.
    pub fn new(
        kind: &'a K,
        run_files: &'a RunFiles,
        memory: usize,
    ) -> Result<Sorter<'a, K>, TryReserveError> {
        let mut sorter = Sorter {
            run_files,
            memory,
            records: Vec::new(),
            index: Vec::new(),
            runs: Vec::new(),
            kind,
        };
        sorter.reserve()?;
        Ok(sorter)
    }

    fn reserve(&mut self) -> Result<(), TryReserveError> {
        // Records take 50 to 200 bytes. Untouched pages take no memory.
        const RECORD: usize = 64;
        let most = self.memory / (RECORD + size_of::<(KeyStart, u32)>());
        let most = most.min(u32::MAX as usize / RECORD);
        self.records.try_reserve_exact(most * RECORD)?;
        self.index.try_reserve_exact(most)
    }

    /// Writes the arena and releases its memory until the next record.
    pub fn make_room(&mut self) -> io::Result<()> {
        self.spill()?;
        (self.records, self.index) = (Vec::new(), Vec::new());
        Ok(())
    }

    /// Adds a record.
    pub fn push(&mut self, key: &Key, payload: &[u8]) -> io::Result<()> {
        if self.records.capacity() == 0 {
            self.reserve().map_err(|_| io::ErrorKind::OutOfMemory)?;
        }
        let key = key.as_bytes();
        let most = spool::MAX_LENGTHS + key.len() + payload.len();
        if self.records.len() + most > self.records.capacity()
            || self.index.len() == self.index.capacity()
        {
            self.spill()?;
        }
        let at = u32::try_from(self.records.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.index.push((start_of(key), at));
        spool::push_parts(&mut self.records, key, payload);
        Ok(())
    }

    /// Writes the arena and returns all runs.
    pub fn finish(mut self) -> io::Result<Vec<Run>> {
        self.spill()?;
        Ok(self.runs)
    }

    fn spill(&mut self) -> io::Result<()> {
        if self.index.is_empty() {
            return Ok(());
        }
        let record =
            |at: u32| spool::take_parts(&mut &self.records[at as usize..]).unwrap_or_default();
        let order = |a: &(KeyStart, u32), b: &(KeyStart, u32)| {
            a.0.cmp(&b.0).then_with(|| record(a.1).0.cmp(record(b.1).0))
        };
        self.index.sort_unstable_by(order);
        let mut run = RunWriter::new(self.run_files);
        for same in self.index.chunk_by(|a, b| order(a, b).is_eq()) {
            let (key, payload) = record(same[0].1);
            if same.len() == 1 {
                run.push(key, payload)?;
                continue;
            }
            let mut payloads = Vec::new();
            for (_, at) in same {
                gather_payload(self.kind, &mut payloads, record(*at).1)?;
            }
            run.push(key, &self.kind.merge(&payloads)?)?;
        }
        self.runs.push(run.finish()?);
        self.records.clear();
        self.index.clear();
        Ok(())
    }
}

/// Iterates over the keys and payloads of runs in the order of keys. A key may occur several times.
pub struct Merge {
    readers: Vec<RunReader>,
    /// The next key of each reader, and the number of the reader.
    heap: BinaryHeap<(Reverse<Vec<u8>>, usize)>,
}

impl Merge {
    /// Merges any number of runs with at most `memory` bytes, in several passes if necessary.
    pub fn new(mut runs: Vec<Run>, run_files: &RunFiles, memory: usize) -> io::Result<Merge> {
        let fan_in = (memory / MERGE_MEMORY).max(2);
        while runs.len() > fan_in {
            // Merge no more than necessary, the shortest runs first, because they are read twice.
            runs.sort_by_key(|run| Reverse(run.records));
            let many = (runs.len() - fan_in + 1).min(fan_in);
            let some = runs.split_off(runs.len() - many);
            let mut run = RunWriter::new(run_files);
            for record in Merge::open(some)? {
                let (key, payload) = record?;
                run.push(&key, &payload)?;
            }
            runs.push(run.finish()?);
        }
        Merge::open(runs)
    }

    fn open(runs: Vec<Run>) -> io::Result<Merge> {
        let (mut readers, mut heap) = (Vec::new(), BinaryHeap::new());
        for (n, run) in runs.into_iter().enumerate() {
            let (mut key, payload) = (Vec::new(), Vec::new());
            let mut reader = RunReader {
                reader: None,
                run,
                payload,
            };
            if reader.advance(&mut key)? {
                heap.push((Reverse(key), n));
            }
            readers.push(reader);
        }
        Ok(Merge { readers, heap })
    }
}

impl Iterator for Merge {
    type Item = io::Result<(Vec<u8>, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut top = self.heap.peek_mut()?;
        let (Reverse(key), n) = &mut *top;
        let reader = &mut self.readers[*n];
        let record = (key.clone(), mem::take(&mut reader.payload));
        match reader.advance(key) {
            Ok(true) => {}
            Ok(false) => drop(PeekMut::pop(top)),
            Err(error) => return Some(Err(error)),
        }
        Some(Ok(record))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use shakmaty::{Chess, Position as _};
    use shelfish::eval::{Evaluation, PositionEval, Pv, Score};
    use shelfish::position::Position;

    use super::*;
    use crate::evaluations::Selection;
    use crate::evaluations::kind::Evaluations;
    use crate::evaluations::payload::{self, Surplus};

    /// Returns positions of pseudo-random games, many of them several times.
    fn records(count: u64) -> Vec<(Key, Evaluation)> {
        let mut random = fastrand::Rng::with_seed(7);
        let mut chess = Chess::default();
        let mut record = |n| {
            let moves = chess.legal_moves();
            if moves.is_empty() || n % 12 == 0 {
                chess = Chess::default();
            } else {
                chess.play_unchecked(moves[random.usize(..moves.len())]);
            }
            let line = chess.legal_moves().first().copied().into_iter().collect();
            let evaluation = Evaluation {
                depth: random.u16(..3),
                knodes: 1,
                pvs: vec![Pv {
                    score: Score::Cp(1),
                    line,
                }],
            };
            (Position::from_chess(&chess).key(), evaluation)
        };
        (0..count).map(&mut record).collect()
    }

    fn sorted(records: &[(Key, Evaluation)], arena: usize, memory: usize) -> io::Result<Vec<u8>> {
        let dir = tempfile::tempdir()?;
        let mut run_files = RunFiles::new(dir.path());
        run_files.part = arena / 3;
        let kind = Evaluations::new(Selection::default());
        let sorter = |arena| Sorter::new(&kind, &run_files, arena);
        let mut sorters = [sorter(arena)?, sorter(arena / 2)?];
        for (n, (key, evaluation)) in records.iter().enumerate() {
            let payload = payload::encode(std::slice::from_ref(evaluation), Surplus::default());
            sorters[n % 2].push(key, &payload)?;
        }
        let mut runs = Vec::new();
        for sorter in sorters {
            runs.extend(sorter.finish()?);
        }
        let mut whole: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for record in Merge::new(runs, &run_files, memory)? {
            let (key, payload) = record?;
            match whole.last_mut().filter(|last| last.0 == key) {
                Some(last) => last.1 = kind.merge(&[&last.1[..], &payload].concat())?,
                None => whole.push((key, payload)),
            }
        }
        let left = fs::read_dir(dir.path())?.count();
        assert_eq!(left, 0, "runs are removed when they have been read");
        let mut bytes = Vec::new();
        whole
            .iter()
            .for_each(|(key, payload)| spool::push_parts(&mut bytes, key, payload));
        Ok(bytes)
    }

    #[test]
    fn records_are_sorted_and_merged_for_any_memory_and_order() -> io::Result<()> {
        let mut records = records(20_000);
        let mut expected: BTreeMap<Key, Vec<Evaluation>> = BTreeMap::new();
        for (key, evaluation) in &records {
            expected.entry(*key).or_default().push(evaluation.clone());
        }
        let whole = sorted(&records, 64 << 20, 64 << 20)?;
        let mut rest = &whole[..];
        for (key, mut evaluations) in expected {
            let (key_bytes, bytes) = spool::take_parts(&mut rest)?;
            let (eval, _) = payload::decode(key_bytes, bytes)?;
            PositionEval::normalise(&mut evaluations);
            assert_eq!((eval.position.key(), eval.evaluations), (key, evaluations));
        }
        assert!(rest.is_empty());
        assert!(sorted(&records, 64 << 10, 64 << 20)? == whole, "many runs");
        assert!(
            sorted(&records, 64 << 10, 0)? == whole,
            "many runs, merged two by two"
        );
        records.reverse();
        let reversed = sorted(&records, 300 << 10, 5 * MERGE_MEMORY)?;
        assert!(reversed == whole, "in another order");
        Ok(())
    }
}
