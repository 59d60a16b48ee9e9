//! The second half of a build: sorted runs to a database.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use shelfish::position::Key;
use shelfish::table::{Block, Cutter, EncodedBlock, Manifest, TableWriter, WriteError, WriterOptions, encode_block_of};

use super::base::{BaseReader, BaseRecord};
use super::join::{Draft, Join, JoinError};
use super::kind::Kind;
use super::rejects::RejectFile;
use super::sort::{Merge, Run, RunFiles};
use super::{BuildError, Options};
use crate::evaluations::OverLimit;
use crate::system::ordered::ordered;
use crate::system::workspace::Workspace;
use crate::terminal::progress::{Progress, Work};

/// Bytes by column, in the order of [`Block::column_names`].
pub type ColumnBytes = Vec<(&'static str, u64)>;

/// What was written.
pub struct Written {
    /// The database's manifest.
    pub manifest: Manifest,
    /// Bytes by column.
    pub columns: ColumnBytes,
    /// Blocks.
    pub blocks: u64,
    /// Of these, blocks that were copied from a base.
    pub blocks_kept: u64,
    /// What was left out of positions.
    pub over_limit: OverLimit,
    /// Positions that were left out.
    pub left_out: u64,
}

/// What goes into a database.
pub struct Parts<K: Kind> {
    /// What is wanted.
    pub kind: K,
    /// The runs of the sources.
    pub runs: Vec<Run>,
    /// The bases.
    pub bases: Vec<BaseReader<K::Record>>,
    /// Positions of the bases.
    pub base_positions: u64,
    /// `info` of the manifest.
    pub info: BTreeMap<String, String>,
    /// The most bytes of all files, if there is such a limit.
    pub max_bytes: Option<u64>,
}

/// Merges the runs and the bases and writes the database.
///
/// # Errors
///
/// [`BuildError::TooLarge`] as soon as there is more than there may be; else see [`BuildError`].
pub fn write<K: Kind>(
    options: &Options,
    workspace: &Workspace,
    run_files: &RunFiles,
    parts: Parts<K>,
    rejects: Option<&RejectFile>,
) -> Result<Written, BuildError> {
    let (kind, info, max_bytes) = (parts.kind.clone(), parts.info.clone(), parts.max_bytes);
    let positions = Arc::new(AtomicU64::new(0));
    // Positions that several runs hold count several times: enough for an estimate.
    let total = Some(parts.runs.iter().map(|run| run.records).sum::<u64>() + parts.base_positions);
    let progress = Progress::start(Work::positions("writing", &positions, total), options.quiet);

    let join = join(options, workspace, run_files, parts)?;
    let writer_options = WriterOptions::default()
        .with_shard_bytes(options.shard_bytes)
        .with_inline_page_bytes(options.inline_page_bytes)
        .with_info(info);
    let mut writer = TableWriter::<K::Record>::create(&options.out, workspace.dir(), writer_options);
    let mut columns: ColumnBytes = Block::<K::Record>::column_names().map(|name| (name, 0)).collect();
    let mut over_limit = OverLimit::default();
    let (mut blocks_written, mut blocks_kept) = (0, 0);
    let boundaries = options.plan.as_ref().map_or(&[][..], |plan| plan.boundaries());
    let (encoded, left_out) = encoded(join, boundaries, options.threads, kind);
    for encoded in encoded {
        let Encoded { block, from, is_kept, over_limit: more, rows } = encoded.map_err(|fault| match fault {
            Fault::Join(error) => error.of(workspace),
            Fault::Write(error) => BuildError::Write(error),
        })?;
        over_limit = over_limit.and(more);
        blocks_written += 1;
        blocks_kept += u64::from(is_kept);
        if let Some(rejects) = rejects.filter(|_| !rows.is_empty()) {
            rejects.append(&rows)?;
        }
        let before = writer.bytes();
        if let Some(from) = from {
            writer.begin_part(&from).map_err(BuildError::Write)?;
        }
        writer.append(&block).map_err(BuildError::Write)?;
        let disk = run_files.disk();
        disk.take(writer.bytes() - before).map_err(|error| JoinError::Run(error).of(workspace))?;
        if let Some(max_bytes) = max_bytes.filter(|max_bytes| writer.bytes_at_most() > *max_bytes) {
            let bytes = writer.bytes();
            writer.discard().map_err(BuildError::Write)?;
            disk.give(bytes);
            return Err(BuildError::TooLarge { max_bytes, positions: positions.load(Relaxed) + block.positions });
        }
        positions.fetch_add(block.positions, Relaxed);
        columns.iter_mut().zip(&block.columns).for_each(|((_, sum), bytes)| *sum += *bytes as u64);
    }
    drop(progress);
    // What is known of the sources is safe before the database changes.
    rejects.map_or(Ok(()), RejectFile::flush)?;
    let manifest = writer.finish().map_err(BuildError::Write)?;
    Ok(Written { manifest, columns, blocks: blocks_written, blocks_kept, over_limit, left_out: left_out.load(Relaxed) })
}

/// Joins the runs and the bases.
///
/// # Errors
///
/// Runs cannot be read or written.
pub fn join<K: Kind>(
    options: &Options,
    workspace: &Workspace,
    run_files: &RunFiles,
    Parts { kind, runs, bases, .. }: Parts<K>,
) -> Result<Join<K>, BuildError> {
    let runs = Merge::<K::Merging>::new(runs, run_files, options.max_memory / 2);
    let runs = runs.map_err(|error| JoinError::Run(error).of(workspace))?;
    Ok(Join { runs: Box::new(runs), bases, replace: options.replace, kind, left_out: 0 })
}

/// Records as encoded blocks, cut anew at each of the boundaries; and how many positions were left out, once all are.
pub fn encoded<K: Kind>(
    join: Join<K>,
    boundaries: &[Vec<u8>],
    threads: usize,
    kind: K,
) -> (impl Iterator<Item = Result<Encoded, Fault>> + use<K>, Arc<AtomicU64>) {
    let left_out = Arc::new(AtomicU64::new(0));
    let blocks = Blocks {
        join,
        cutter: Some(Cutter::new(K::BLOCK_WEIGHT)),
        boundaries: boundaries.to_vec().into(),
        from: None,
        key: Vec::new(),
        left_out: left_out.clone(),
    };
    let encode = move |block: Result<Cut<K>, JoinError>| {
        let Cut { drafts, from } = block.map_err(Fault::Join)?;
        Ok(Encoded { from, ..encode(&drafts, &kind)? })
    };
    (ordered(blocks, threads, encode), left_out)
}

/// What can fail on the way of a block.
pub enum Fault {
    /// Its records cannot be read.
    Join(JoinError),
    /// It cannot be encoded.
    Write(WriteError),
}

/// Records, still coded, cut into blocks.
struct Blocks<K: Kind> {
    join: Join<K>,
    cutter: Option<Cutter<Draft<K>>>,
    /// Where parts begin, those aside that were reached.
    boundaries: VecDeque<Vec<u8>>,
    /// Where the part begins of which no block was cut yet; `None` if one was.
    from: Option<Vec<u8>>,
    /// The key of the last record.
    key: Vec<u8>,
    left_out: Arc<AtomicU64>,
}

/// The records of a block.
struct Cut<K: Kind> {
    drafts: Vec<Draft<K>>,
    /// Where the part begins whose first block it is.
    from: Option<Vec<u8>>,
}

impl<K: Kind> Blocks<K> {
    fn next_block(&mut self) -> Result<Option<Cut<K>>, JoinError> {
        while let Some(cutter) = &mut self.cutter {
            let Some((draft, weight)) = self.join.next_record()? else {
                self.left_out.store(self.join.left_out, Relaxed);
                let from = self.from.take();
                return Ok(self.cutter.take().and_then(Cutter::finish).map(|drafts| Cut { drafts, from }));
            };
            self.key.clear();
            self.key.extend_from_slice(draft.key());
            let mut before = None;
            let mut begins = None;
            while let Some(boundary) = self.boundaries.pop_front_if(|boundary| *boundary <= self.key) {
                begins = Some(boundary);
            }
            if let Some(boundary) = begins {
                let full = std::mem::replace(cutter, Cutter::new(K::BLOCK_WEIGHT));
                let from = self.from.replace(boundary);
                before = full.finish().map(|drafts| Cut { drafts, from });
            }
            let cut = cutter.push(&self.key, weight, draft);
            if before.is_some() {
                // A cutter that has one record cuts nothing.
                return Ok(before);
            }
            if let Some(drafts) = cut {
                return Ok(Some(Cut { drafts, from: self.from.take() }));
            }
        }
        Ok(None)
    }
}

impl<K: Kind> Iterator for Blocks<K> {
    type Item = Result<Cut<K>, JoinError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_block().transpose()
    }
}

/// A block, and what was left out of it.
pub struct Encoded {
    /// The block.
    pub block: EncodedBlock,
    /// Where the part begins whose first block it is.
    pub from: Option<Vec<u8>>,
    /// Whether it is a copy of a base's.
    is_kept: bool,
    /// What was left out of its positions.
    pub over_limit: OverLimit,
    /// Rows of the file of rejects.
    rows: String,
}

fn encode<K: Kind>(drafts: &[Draft<K>], kind: &K) -> Result<Encoded, Fault> {
    let mut over_limit = OverLimit::default();
    let mut rows = String::new();
    let kept = BaseRecord::whole_block(drafts.iter().map(Draft::based));
    if let Some(block) = kept.map_err(|error| Fault::Join(JoinError::Base(error)))? {
        return Ok(Encoded { block, from: None, is_kept: true, over_limit, rows });
    }
    let decode = |draft: &Draft<K>| {
        let (mut record, surplus) = draft.record()?;
        if let Some(row) = kind.settle(&mut record, surplus) {
            rows.push_str(&row);
            over_limit.add(surplus);
        }
        Ok(record)
    };
    let records: Vec<K::Record> = drafts.iter().map(decode).collect::<Result<_, _>>().map_err(Fault::Join)?;
    // Decoding compared each with its position's.
    let keys: Option<Vec<Key>> = drafts.iter().map(|draft| Key::of_bytes(draft.key())).collect();
    let block = encode_block_of(&records, &keys.unwrap_or_default()).map_err(Fault::Write)?;
    Ok(Encoded { block, from: None, is_kept: false, over_limit, rows })
}
