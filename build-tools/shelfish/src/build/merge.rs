//! The merge of sorted runs.

use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;
use std::marker::PhantomData;

use super::runs::{Run, RunFiles, RunReader, RunWriter};
use super::sort::Merging;

/// Memory of a merge for each run: buffers and the window of zstd.
pub const MERGE_MEMORY: usize = 640 << 10;

/// Iterates over the records of runs, with merged payloads.
pub struct Merge<M> {
    heap: BinaryHeap<RunReader>,
    key: Vec<u8>,
    payload: Vec<u8>,
    merging: PhantomData<M>,
}

impl<M: Merging> Merge<M> {
    /// Merges any number of runs with at most `memory` bytes, in several passes if necessary.
    pub fn new(mut runs: Vec<Run>, run_files: &RunFiles, memory: usize) -> io::Result<Merge<M>> {
        let fan_in = (memory / MERGE_MEMORY).max(2);
        while runs.len() > fan_in {
            // Merge no more than necessary, the shortest runs first, because they are read twice.
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
        let readers = runs
            .into_iter()
            .filter_map(|run| RunReader::open(run).transpose());
        let heap = readers.collect::<io::Result<_>>()?;
        Ok(Merge {
            heap,
            key: Vec::new(),
            payload: Vec::new(),
            merging: PhantomData,
        })
    }

    /// Returns the key of the next record.
    pub fn peek(&self) -> Option<&[u8]> {
        self.heap.peek().map(|top| &top.key[..])
    }

    /// Returns the next key and its payload, in ascending order without duplicates.
    pub fn next_record(&mut self) -> io::Result<Option<(&[u8], &[u8])>> {
        let Some(mut top) = self.heap.peek_mut() else {
            return Ok(None);
        };
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
    use std::fs;

    use shakmaty::{Chess, Position as _};
    use shelfish::eval::{Evaluation, Pv, Score};
    use shelfish::position::{Key, Position};

    use super::super::disk::Disk;
    use super::super::sort::Sorter;
    use super::super::spool;
    use super::*;
    use crate::evaluations::merged::Merged;
    use crate::evaluations::payload::{self, Surplus};

    /// Returns positions of pseudo-random games, many of them several times.
    fn records(count: u64) -> Vec<(Key, Evaluation)> {
        let mut state = 7u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
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
                let pv = Pv {
                    score: Score::Cp(1),
                    line: chess.legal_moves().first().copied().into_iter().collect(),
                };
                let depth = random() as u16 % 3;
                (
                    Position::from_chess(&chess).key(),
                    Evaluation {
                        depth,
                        knodes: 1,
                        pvs: vec![pv],
                    },
                )
            })
            .collect()
    }

    fn sorted(records: &[(Key, Evaluation)], arena: usize, memory: usize) -> io::Result<Vec<u8>> {
        let dir = tempfile::tempdir()?;
        let mut run_files = RunFiles::new(dir.path(), Disk::new(None));
        run_files.part = arena / 3;
        let mut sorters = [
            Sorter::<Merged>::new(&run_files, arena)?,
            Sorter::new(&run_files, arena / 2)?,
        ];
        for (n, (key, evaluation)) in records.iter().enumerate() {
            sorters[n % 2].push(
                key,
                &payload::encode(std::slice::from_ref(evaluation), Surplus::default()),
            )?;
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
        assert_eq!(
            fs::read_dir(dir.path())?.count(),
            0,
            "runs are removed when they have been read"
        );
        Ok(whole)
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
            shelfish::eval::PositionEval::normalise(&mut evaluations);
            assert_eq!(eval.position.key(), key);
            assert_eq!(eval.evaluations, evaluations);
        }
        assert!(rest.is_empty());

        assert_eq!(sorted(&records, 64 << 10, 64 << 20)?, whole, "many runs");
        assert_eq!(
            sorted(&records, 64 << 10, 0)?,
            whole,
            "many runs, merged two by two"
        );
        records.reverse();
        assert_eq!(
            sorted(&records, 300 << 10, 5 * MERGE_MEMORY)?,
            whole,
            "in another order"
        );
        Ok(())
    }
}
