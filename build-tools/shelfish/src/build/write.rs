//! The second half of a build: sorted runs to a database.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use shelfish::position::Key;
use shelfish::table::{
    Block, Cutter, EncodedBlock, KeptShard, Manifest, TableWriter, WriteError, WriterOptions,
    encode_block_of,
};

use super::base::{BaseReader, BaseRecord};
use super::join::{Draft, Join, JoinError};
use super::kind::Kind;
use super::kind::Total;
use super::merge::Merge;
use super::rejects::RejectFile;
use super::runs::{Run, RunFiles};
use super::spool;
use super::{BuildError, Options};
use crate::system::ordered::ordered;
use crate::system::workspace::Workspace;
use crate::terminal::progress::{Progress, Work};

/// Size of each column in bytes, in the order of [`Block::column_names`].
pub type ColumnBytes = Vec<(&'static str, u64)>;

/// A written database. `S` counts what records had no room for.
pub struct Written<S = ()> {
    /// The manifest.
    pub manifest: Manifest,
    /// Size of each column of the blocks.
    pub columns: ColumnBytes,
    /// Number of blocks.
    pub blocks: u64,
    /// Number of blocks that were copied from a base.
    pub blocks_kept: u64,
    /// Counts above the limits of records.
    pub surplus: S,
    /// Number of positions that were left out.
    pub left_out: u64,
}

/// The content of a database.
pub struct Content<K: Kind> {
    /// The kind of record.
    pub kind: K,
    /// The runs of the inputs.
    pub runs: Vec<Run>,
    /// The bases.
    pub bases: Vec<BaseReader<K::Record>>,
    /// Number of positions in the bases.
    pub base_positions: u64,
    /// `info` of the manifest.
    pub info: BTreeMap<String, String>,
    /// The shards whose blocks are not written again.
    pub kept: Vec<KeptShard>,
    /// Approximate number of blocks of a page.
    pub page_blocks: usize,
}

/// The sizes of all files for which a database is kept, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    /// Minimum size.
    pub min_bytes: u64,
    /// Maximum size.
    pub max_bytes: Option<u64>,
}

/// Merges the runs and the bases and writes the database, unless its size is not one of `sizes`.
pub fn write<K: Kind>(
    options: &Options,
    workspace: &Workspace,
    run_files: &RunFiles,
    content: Content<K>,
    sizes: Sizes,
    rejects: Option<&RejectFile>,
) -> Result<Written<K::Surplus>, BuildError> {
    let (kind, info, kept, page_blocks) = (
        content.kind.clone(),
        content.info.clone(),
        content.kept.clone(),
        content.page_blocks,
    );
    let positions = Arc::new(AtomicU64::new(0));
    // An estimate: positions in several runs are counted several times.
    let total =
        Some(content.runs.iter().map(|run| run.records).sum::<u64>() + content.base_positions);
    let progress = Progress::start(Work::positions("writing", &positions, total), options.quiet);

    let join = join(options, workspace, run_files, content)?;
    let writer_options = WriterOptions::default()
        .with_shard_bytes(options.shard_bytes)
        .with_page_blocks(page_blocks)
        .with_inline_page_bytes(options.inline_page_bytes)
        .with_info(info)
        .with_kept(kept);
    let mut writer =
        TableWriter::<K::Record>::create(&options.out, workspace.dir(), writer_options);
    let mut columns: ColumnBytes = Block::<K::Record>::column_names()
        .map(|name| (name, 0))
        .collect();
    let mut surplus = K::Surplus::default();
    let (mut blocks_written, mut blocks_kept) = (0, 0);
    let (encoded, left_out) = encoded(join, &options.boundaries, options.threads, kind);
    for encoded in encoded {
        let Encoded {
            block,
            from,
            is_kept,
            surplus: more,
            rows,
        } = encoded.map_err(|error| match error {
            EncodeError::Join(error) => error.of(workspace),
            EncodeError::Write(error) => BuildError::Write(error),
        })?;
        surplus.add(&more);
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
        disk.take(writer.bytes() - before)
            .map_err(|error| JoinError::Run(error).of(workspace))?;
        positions.fetch_add(block.positions, Relaxed);
        if let Some(max_bytes) = sizes
            .max_bytes
            .filter(|max_bytes| writer.bytes() > *max_bytes)
        {
            let bytes = writer.bytes();
            writer.discard().map_err(BuildError::Write)?;
            disk.give(bytes);
            return Err(BuildError::TooLarge {
                max_bytes,
                bytes,
                positions: positions.load(Relaxed),
            });
        }
        columns
            .iter_mut()
            .zip(&block.columns)
            .for_each(|((_, sum), bytes)| *sum += *bytes as u64);
    }
    drop(progress);
    let taken = writer.bytes();
    let table = writer.complete().map_err(BuildError::Write)?;
    let bytes = table.bytes();
    let excess = sizes.max_bytes.filter(|max_bytes| bytes > *max_bytes);
    if excess.is_some() || bytes < sizes.min_bytes {
        table.discard().map_err(BuildError::Write)?;
        run_files.disk().give(taken);
        let positions = positions.load(Relaxed);
        return Err(match excess {
            Some(max_bytes) => BuildError::TooLarge {
                max_bytes,
                bytes,
                positions,
            },
            None => BuildError::TooSmall { bytes },
        });
    }
    // The rejects are complete before the database changes.
    rejects.map_or(Ok(()), RejectFile::flush)?;
    let manifest = table.publish().map_err(BuildError::Write)?;
    Ok(Written {
        manifest,
        columns,
        blocks: blocks_written,
        blocks_kept,
        surplus,
        left_out: left_out.load(Relaxed),
    })
}

/// Joins the runs and the bases.
pub fn join<K: Kind>(
    options: &Options,
    workspace: &Workspace,
    run_files: &RunFiles,
    Content {
        kind, runs, bases, ..
    }: Content<K>,
) -> Result<Join<K>, BuildError> {
    let runs = Merge::<K::Merging>::new(runs, run_files, options.max_memory / 2);
    let runs = runs.map_err(|error| JoinError::Run(error).of(workspace))?;
    Ok(Join {
        runs: Box::new(runs),
        bases,
        replace: options.replace,
        kind,
        left_out: 0,
    })
}

/// Returns the records as encoded blocks, cut at each boundary, and the number of positions left out, valid at the end.
pub fn encoded<K: Kind>(
    join: Join<K>,
    boundaries: &[Vec<u8>],
    threads: usize,
    kind: K,
) -> (
    impl Iterator<Item = Result<Encoded<K::Surplus>, EncodeError>> + use<K>,
    Arc<AtomicU64>,
) {
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
        let Cut { drafts, from } = block.map_err(EncodeError::Join)?;
        Ok(Encoded {
            from,
            ..encode(&drafts, &kind)?
        })
    };
    (ordered(blocks, threads, encode), left_out)
}

/// An error of encoding a block.
pub enum EncodeError {
    /// A record cannot be read.
    Join(JoinError),
    /// The block cannot be encoded.
    Write(WriteError),
}

/// Cuts encoded records into blocks.
struct Blocks<K: Kind> {
    join: Join<K>,
    cutter: Option<Cutter<Draft<K>>>,
    /// The keys at which later parts begin.
    boundaries: VecDeque<Vec<u8>>,
    /// The key at which the current part begins, until its first block is cut.
    from: Option<Vec<u8>>,
    /// The key of the last record.
    key: Vec<u8>,
    left_out: Arc<AtomicU64>,
}

/// The records of a block.
struct Cut<K: Kind> {
    drafts: Vec<Draft<K>>,
    /// The key at which a part begins, for the first block of the part.
    from: Option<Vec<u8>>,
}

impl<K: Kind> Blocks<K> {
    fn next_block(&mut self) -> Result<Option<Cut<K>>, JoinError> {
        while let Some(cutter) = &mut self.cutter {
            let Some((draft, weight)) = self.join.next_record()? else {
                self.left_out.store(self.join.left_out, Relaxed);
                let from = self.from.take();
                return Ok(self
                    .cutter
                    .take()
                    .and_then(Cutter::finish)
                    .map(|drafts| Cut { drafts, from }));
            };
            self.key.clear();
            self.key.extend_from_slice(draft.key());
            let mut before = None;
            let mut begins = None;
            while let Some(boundary) = self
                .boundaries
                .pop_front_if(|boundary| *boundary <= self.key)
            {
                begins = Some(boundary);
            }
            if let Some(boundary) = begins {
                let full = std::mem::replace(cutter, Cutter::new(K::BLOCK_WEIGHT));
                let from = self.from.replace(boundary);
                before = full.finish().map(|drafts| Cut { drafts, from });
            }
            let cut = cutter.push(&self.key, weight, draft);
            if before.is_some() {
                // A cutter with one record cuts nothing.
                return Ok(before);
            }
            if let Some(drafts) = cut {
                return Ok(Some(Cut {
                    drafts,
                    from: self.from.take(),
                }));
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

/// An encoded block.
pub struct Encoded<S> {
    /// The block.
    pub block: EncodedBlock,
    /// The key at which a part begins, for the first block of the part.
    pub from: Option<Vec<u8>>,
    /// Whether the block is a copy of a base's block.
    is_kept: bool,
    /// Counts above the limits of its records.
    pub surplus: S,
    /// Rows of the file of rejects.
    rows: String,
}

fn encode<K: Kind>(drafts: &[Draft<K>], kind: &K) -> Result<Encoded<K::Surplus>, EncodeError> {
    let mut surplus = K::Surplus::default();
    let mut rows = String::new();
    let kept = BaseRecord::whole_block(drafts.iter().map(Draft::based));
    if let Some(block) = kept.map_err(|error| EncodeError::Join(JoinError::Base(error)))? {
        return Ok(Encoded {
            block,
            from: None,
            is_kept: true,
            surplus,
            rows,
        });
    }
    let decode = |draft: &Draft<K>| match draft {
        Draft::Spooled(record) => {
            let (key, payload) = spool::take_parts(&mut &record[..])?;
            Ok(kind.decode(key, payload, &mut surplus, &mut rows)?)
        }
        Draft::Based(record) => {
            let mut record = record.record().map_err(JoinError::Base)?;
            kind.settle(&mut record);
            Ok(record)
        }
    };
    let records: Vec<K::Record> = drafts
        .iter()
        .map(decode)
        .collect::<Result<_, _>>()
        .map_err(EncodeError::Join)?;
    // Decoding checked that each key is that of its position.
    let keys: Option<Vec<Key>> = drafts
        .iter()
        .map(|draft| Key::of_bytes(draft.key()))
        .collect();
    let stored: Vec<_> = drafts
        .iter()
        .map(|draft| draft.based().and_then(BaseRecord::stored))
        .collect();
    let block = encode_block_of(&records, &keys.unwrap_or_default(), &stored)
        .map_err(EncodeError::Write)?;
    Ok(Encoded {
        block,
        from: None,
        is_kept: false,
        surplus,
        rows,
    })
}
