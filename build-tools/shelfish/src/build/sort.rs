//! External merge sort of spooled records by key.
//!
//! Each worker fills an arena of fixed size. When the arena is full, the worker sorts an index of it and writes the records
//! as one compressed run. The runs are merged by a heap, and records with the same key become one record. The memory is
//! bounded for any input. Equal multisets of records give equal output for any arenas and workers.
//!
//! Existing crates do not suffice: `extsort` counts records instead of bytes, `ext-sort` allocates each record and sorts in
//! a thread pool of its own; neither merges equal keys, compresses runs or bounds the number of open runs.

use std::collections::TryReserveError;
use std::io;
use std::marker::PhantomData;

use shelfish::position::Key;

use super::runs::{Run, RunFiles, RunWriter};
use super::spool::{self, SpoolError};

/// Merges the payloads of a position into one. The result must not depend on their order.
pub trait Merging: Default {
    /// The beginning of a key, which decides nearly all comparisons. A longer beginning takes more memory.
    type Start: KeyStart;

    /// Adds a payload.
    fn push(&mut self, payload: &[u8]) -> Result<(), SpoolError>;

    /// Returns the merged payload.
    fn finish(self) -> Result<Vec<u8>, SpoolError>;
}

/// The arena of a worker and the runs written from it.
pub struct Sorter<'a, M: Merging> {
    run_files: &'a RunFiles,
    memory: usize,
    records: Vec<u8>,
    index: Vec<Entry<M::Start>>,
    scratch: Vec<u8>,
    runs: Vec<Run>,
    merging: PhantomData<M>,
}

/// The beginning of a key. Its order is that of keys.
pub trait KeyStart: Copy + Ord {
    /// Returns the beginning of a key.
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

/// An index entry: the beginning of the key of a record and its offset in the arena.
#[derive(Clone, Copy)]
struct Entry<S> {
    start: S,
    at: u32,
}

impl<'a, M: Merging> Sorter<'a, M> {
    /// Creates a sorter that uses `memory` bytes, at most about 5 GiB.
    pub fn new(run_files: &'a RunFiles, memory: usize) -> Result<Sorter<'a, M>, TryReserveError> {
        let (records, index) = (Vec::new(), Vec::new());
        let (scratch, runs) = (Vec::new(), Vec::new());
        let mut sorter = Sorter {
            run_files,
            memory,
            records,
            index,
            scratch,
            runs,
            merging: PhantomData,
        };
        sorter.reserve()?;
        Ok(sorter)
    }

    fn reserve(&mut self) -> Result<(), TryReserveError> {
        // Records take 50 to 200 bytes. Untouched pages take no memory.
        const RECORD: usize = 64;
        let most = self.memory / (RECORD + size_of::<Entry<M::Start>>());
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
        self.index.push(Entry {
            start: M::Start::of(key.as_bytes()),
            at,
        });
        self.records.extend_from_slice(&record);
        self.scratch = record;
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
        let record = |entry: &Entry<M::Start>| {
            spool::take_parts(&mut &self.records[entry.at as usize..]).unwrap_or_default()
        };
        self.index.sort_unstable_by(|a, b| {
            a.start
                .cmp(&b.start)
                .then_with(|| record(a).0.cmp(record(b).0))
        });
        let mut run = RunWriter::new(self.run_files);
        for same in self
            .index
            .chunk_by(|a, b| a.start == b.start && record(a).0 == record(b).0)
        {
            let (key, payload) = record(&same[0]);
            if same.len() == 1 {
                run.push(key, payload)?;
            } else {
                let mut merged = M::default();
                same.iter()
                    .try_for_each(|entry| merged.push(record(entry).1))?;
                run.push(key, &merged.finish()?)?;
            }
        }
        self.runs.push(run.finish()?);
        self.records.clear();
        self.index.clear();
        Ok(())
    }
}
