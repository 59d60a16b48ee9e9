//! The second half of a build: sorted runs to a database.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use shelfish::eval::{Eval, Evaluation};
use shelfish::table::{Block, Cutter, EncodedBlock, Manifest, TableWriter, WriteError, WriterOptions, encode_block};

use super::record::MAX_EVALUATIONS;
use super::rejects::{self, RejectFile};
use super::sort::{Merge, Run, Shelf};
use super::workspace::Workspace;
use super::{BuildError, Options, OverLimit, Selection, spool};
use crate::ordered::ordered;
use crate::progress::{Progress, Work};

/// Bytes by column, in the order of [`Block::column_names`].
pub type ColumnBytes = Vec<(&'static str, u64)>;

/// What was written.
pub struct Written {
    /// The database's manifest.
    pub manifest: Manifest,
    /// Bytes by column.
    pub columns: ColumnBytes,
    /// What was left out.
    pub over_limit: OverLimit,
}

/// Merges the runs and writes the database.
pub fn write(
    options: &Options,
    workspace: &Workspace,
    shelf: &Shelf,
    runs: Vec<Run>,
    rejects: Option<&RejectFile>,
) -> Result<Written, BuildError> {
    let at_temporary = |error| BuildError::Temporary { path: workspace.dir().to_owned(), error };
    let positions = Arc::new(AtomicU64::new(0));
    // Positions that several runs hold count several times: enough for an estimate.
    let total = Some(runs.iter().map(|run| run.records).sum());
    let work = Work { phase: "writing", done: positions.clone(), total, is_bytes: false, positions: positions.clone() };
    let progress = Progress::start(work, options.quiet);

    let merge = Merge::new(runs, shelf, options.max_memory / 2).map_err(at_temporary)?;
    let selection = Arc::new(options.selection.clone());
    let cutter = Some(Cutter::new(Eval::BLOCK_WEIGHT));
    let blocks = Blocks { merge, cutter, selection: selection.clone() };
    let encode = move |block: io::Result<Vec<Vec<u8>>>| encode(&block.map_err(Fault::Run)?, &selection);
    let writer_options = WriterOptions { info: options.selection.describe(), ..WriterOptions::default() };
    let mut writer = TableWriter::<Eval>::create(&options.out, workspace.dir(), writer_options);
    let mut columns: ColumnBytes = Block::<Eval>::column_names().map(|name| (name, 0)).collect();
    let mut over_limit = OverLimit::default();
    for encoded in ordered(blocks, options.threads, encode) {
        let Encoded { block, over_limit: more, rows } = encoded.map_err(|fault| match fault {
            Fault::Run(error) => at_temporary(error),
            Fault::Write(error) => BuildError::Write(error),
        })?;
        over_limit.add(more);
        if let Some(rejects) = rejects.filter(|_| !rows.is_empty()) {
            rejects.append(&rows)?;
        }
        writer.append(&block).map_err(BuildError::Write)?;
        positions.fetch_add(block.positions, Relaxed);
        columns.iter_mut().zip(&block.columns).for_each(|((_, sum), bytes)| *sum += *bytes as u64);
    }
    drop(progress);
    Ok(Written { manifest: writer.finish().map_err(BuildError::Write)?, columns, over_limit })
}

/// What can fail on the way of a block.
enum Fault {
    Run(io::Error),
    Write(WriteError),
}

/// Merged records, still spooled, cut into blocks.
struct Blocks {
    merge: Merge,
    cutter: Option<Cutter<Vec<u8>>>,
    selection: Arc<Selection>,
}

impl Iterator for Blocks {
    type Item = io::Result<Vec<Vec<u8>>>;

    fn next(&mut self) -> Option<io::Result<Vec<Vec<u8>>>> {
        let cutter = self.cutter.as_mut()?;
        loop {
            let (key, payload) = match self.merge.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => return self.cutter.take()?.finish().map(Ok),
                Err(error) => return Some(Err(error)),
            };
            let weight = match weight(payload, &self.selection) {
                Ok(weight) => weight,
                Err(error) => return Some(Err(error.into())),
            };
            let mut record = Vec::with_capacity(key.len() + payload.len() + 4);
            spool::push_parts(&mut record, key, payload);
            if let Some(block) = cutter.push(key, weight, record) {
                return Some(Ok(block));
            }
        }
    }
}

/// The weight of what the selection will leave of a payload.
fn weight(payload: &[u8], selection: &Selection) -> Result<usize, spool::SpoolError> {
    let (max_pvs, max_plies) = (selection.max_pvs.unwrap_or(usize::MAX), selection.max_plies.unwrap_or(usize::MAX));
    let mut outlines = spool::outlines(payload, max_pvs, max_plies)?;
    let count = if selection.best_only { 1 } else { MAX_EVALUATIONS };
    if outlines.len() > count {
        outlines.sort_unstable_by(|a, b| b.cmp(a));
        outlines.truncate(count);
    }
    let pvs = outlines.iter().map(|outline| outline.pvs.min(max_pvs)).sum();
    Ok(Eval::weight(outlines.len(), pvs, outlines.iter().map(|outline| outline.plies).sum()))
}

/// A block, and what was left out of it.
struct Encoded {
    block: EncodedBlock,
    over_limit: OverLimit,
    /// Rows of the file of rejects.
    rows: String,
}

fn encode(records: &[Vec<u8>], selection: &Selection) -> Result<Encoded, Fault> {
    let mut over_limit = OverLimit::default();
    let mut rows = String::new();
    let decode = |record: &Vec<u8>| {
        let mut eval = spool::take(&mut &record[..])?;
        selection.settle(&mut eval.evaluations);
        if eval.evaluations.len() > MAX_EVALUATIONS {
            rows.push_str(&rejects::crowded_row(&eval));
            over_limit.add(cap(&mut eval.evaluations));
        }
        Ok(eval)
    };
    let evals: Vec<Eval> =
        records.iter().map(decode).collect::<Result<_, spool::SpoolError>>().map_err(|e| Fault::Run(e.into()))?;
    Ok(Encoded { block: encode_block(&evals).map_err(Fault::Write)?, over_limit, rows })
}

/// Takes off what is beyond the best evaluations of a position.
fn cap(evaluations: &mut Vec<Evaluation>) -> OverLimit {
    let beyond = evaluations.split_off(MAX_EVALUATIONS);
    let pvs = beyond.iter().map(|evaluation| evaluation.pvs.len() as u64).sum();
    OverLimit { positions: 1, evaluations: beyond.len() as u64, pvs }
}
