//! The second half of a build: sorted runs and bases to a database.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::iter::Peekable;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use shelfish::position::Key;
use shelfish::table::{
    Cutter, EncodedBlock, KeptShard, Manifest, Record as _, TableWriter, WriterOptions,
    encode_block_of,
};

use super::base::{BaseReader, BaseRecord};
use super::kind::{Kind, gather_payload};
use super::runs::{Merge, Run, RunFiles};
use super::spool::OverLimit;
use super::{BuildError, Options};
use crate::system::ordered::ordered;
use crate::system::workspace::Workspace;
use crate::terminal::progress::{Progress, Work};

/// A written database.
pub struct Written {
    /// The manifest.
    pub manifest: Manifest,
    /// Number of blocks.
    pub blocks: u64,
    /// Number of blocks that were copied from a base.
    pub blocks_kept: u64,
    /// Counts above the limits of records.
    pub over_limit: OverLimit,
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
    /// Minimum size of all files for which the database is kept, in bytes.
    pub min_bytes: u64,
}

/// Merges the runs and the bases and writes the database, unless it is too small or too large.
pub fn write<K: Kind>(
    options: &Options,
    workspace: &Workspace,
    run_files: &RunFiles,
    mut content: Content<K>,
) -> Result<Written, BuildError> {
    let positions = Arc::new(AtomicU64::new(0));
    // An estimate: positions in several runs are counted several times.
    let total = content.runs.iter().map(|run| run.records).sum::<u64>() + content.base_positions;
    let work = Work::positions("writing", &positions, Some(total));
    let progress = Progress::start(work, options.quiet);

    let writer_options = WriterOptions {
        shard_bytes: options.shard_bytes,
        page_blocks: content.page_blocks,
        inline_page_bytes: options.inline_page_bytes,
        info: std::mem::take(&mut content.info),
        kept: std::mem::take(&mut content.kept),
    };
    let mut writer =
        TableWriter::<K::Record>::create(&options.out, workspace.dir(), writer_options);
    let (min_bytes, max_bytes) = (content.min_bytes, options.max_bytes.unwrap_or(u64::MAX));
    let too_large = |bytes, positions| BuildError::TooLarge {
        max_bytes,
        bytes,
        positions,
    };
    let (mut blocks, mut blocks_kept, mut over_limit) = (0, 0, OverLimit::default());
    let join = Join::new(options, run_files, content)?;
    let (encoded, left_out) = encoded(join, &options.boundaries, options.threads);
    for encoded in encoded {
        let Encoded {
            block,
            from,
            is_kept,
            over_limit: more,
        } = encoded?;
        over_limit += more;
        blocks += 1;
        blocks_kept += u64::from(is_kept);
        if let Some(from) = from {
            writer.begin_part(&from)?;
        }
        writer.append(&block)?;
        let positions = positions.fetch_add(block.positions, Relaxed) + block.positions;
        let bytes = writer.bytes();
        if bytes > max_bytes {
            writer.complete()?.discard()?;
            return Err(too_large(bytes, positions));
        }
    }
    drop(progress);
    let table = writer.complete()?;
    let bytes = table.bytes();
    if bytes > max_bytes || bytes < min_bytes {
        table.discard()?;
        return Err(if bytes < min_bytes {
            BuildError::TooSmall { bytes }
        } else {
            too_large(bytes, positions.load(Relaxed))
        });
    }
    Ok(Written {
        manifest: table.publish()?,
        blocks,
        blocks_kept,
        over_limit,
        left_out: left_out.load(Relaxed),
    })
}

/// A record on its way to a block.
pub enum Draft<K: Kind> {
    /// The key and the payload of a record of the runs, or of several bases.
    Spooled(Vec<u8>, Vec<u8>),
    /// A record that only one base contains.
    Based(BaseRecord<K::Record>),
}

impl<K: Kind> Draft<K> {
    fn key(&self) -> &[u8] {
        match self {
            Draft::Spooled(key, _) => key,
            Draft::Based(record) => record.key(),
        }
    }

    fn based(&self) -> Option<&BaseRecord<K::Record>> {
        match self {
            Draft::Spooled(..) => None,
            Draft::Based(record) => Some(record),
        }
    }
}

/// Keys and payloads in the order of keys.
pub type Records = Box<dyn Iterator<Item = io::Result<(Vec<u8>, Vec<u8>)>>>;

/// Joins sorted records and bases into one ascending sequence without duplicate positions.
pub struct Join<K: Kind> {
    /// The kind of record.
    pub kind: K,
    runs: Peekable<Records>,
    bases: Vec<BaseReader<K::Record>>,
    /// Number of positions that were left out.
    left_out: u64,
}

impl<K: Kind> Join<K> {
    /// Joins the runs and the bases of a database.
    pub fn new(
        options: &Options,
        run_files: &RunFiles,
        content: Content<K>,
    ) -> Result<Join<K>, BuildError> {
        let runs = Merge::new(content.runs, run_files, options.max_memory / 2)?;
        let mut join = Join::of(content.kind, Box::new(runs));
        join.bases = content.bases;
        Ok(join)
    }

    /// Joins sorted records.
    pub fn of(kind: K, records: Records) -> Join<K> {
        Join {
            kind,
            runs: records.peekable(),
            bases: Vec::new(),
            left_out: 0,
        }
    }

    /// Returns the next record and its weight.
    pub fn next_record(&mut self) -> Result<Option<(Draft<K>, usize)>, BuildError> {
        loop {
            let least = self.bases.iter().filter_map(BaseReader::peek).min();
            let least = least.map(|(key, weight)| (key.as_bytes().to_vec(), weight));
            // An error ends the sequence, so it comes first.
            let run = self.runs.next_if(|run| match (run, &least) {
                (Ok((run, _)), Some((key, _))) => run <= key,
                _ => true,
            });
            let is_run = run.is_some();
            let (key, mut payload, weight) = match (run.transpose()?, least) {
                (Some((key, payload)), _) => (key, payload, 0),
                (None, Some((key, weight))) => (key, Vec::new(), weight),
                (None, None) => return Ok(None),
            };
            let mut count = usize::from(is_run);
            let is_same = |next: &io::Result<(Vec<u8>, Vec<u8>)>| {
                next.as_ref().map_or(true, |(next, _)| *next == key)
            };
            while let Some(next) = self.runs.next_if(is_same) {
                gather_payload(&self.kind, &mut payload, &next?.1)?;
                count += 1;
            }
            let mut records = Vec::new();
            for base in &mut self.bases {
                if base.peek().is_some_and(|(next, _)| next.as_bytes() == key) {
                    records.extend(base.take()?);
                }
            }
            if let [record] = &records[..]
                && !is_run
                && self.kind.keeps_bases()
            {
                return Ok(Some((Draft::Based(record.clone()), weight)));
            }
            for record in &records {
                let record = self.kind.payload(&record.record()?);
                gather_payload(&self.kind, &mut payload, &record)?;
                count += 1;
            }
            if count > 1 {
                payload = self.kind.merge(&payload)?;
            }
            match self.kind.fit(&key, payload)? {
                Some((payload, weight)) => {
                    return Ok(Some((Draft::Spooled(key, payload), weight)));
                }
                None => self.left_out += 1,
            }
        }
    }
}

/// Returns the records as encoded blocks, cut at each boundary, and the number of positions left out, valid at the end.
pub fn encoded<K: Kind>(
    join: Join<K>,
    boundaries: &[Vec<u8>],
    threads: usize,
) -> (
    impl Iterator<Item = Result<Encoded, BuildError>> + use<K>,
    Arc<AtomicU64>,
) {
    let (kind, left_out) = (join.kind.clone(), Arc::new(AtomicU64::new(0)));
    let mut blocks = Blocks {
        join,
        cutter: Some(Cutter::new(K::Record::BLOCK_WEIGHT)),
        boundaries: boundaries.to_vec().into(),
        from: None,
        left_out: left_out.clone(),
    };
    let blocks = std::iter::from_fn(move || blocks.next_block().transpose());
    let encode = move |block: Result<Cut<K>, BuildError>| encode(block?, &kind);
    (ordered(blocks, threads, encode), left_out)
}

/// Cuts records into blocks.
struct Blocks<K: Kind> {
    join: Join<K>,
    cutter: Option<Cutter<Draft<K>>>,
    /// The keys at which later parts begin.
    boundaries: VecDeque<Vec<u8>>,
    /// The key at which the current part begins, until its first block is cut.
    from: Option<Vec<u8>>,
    left_out: Arc<AtomicU64>,
}

/// The records of a block, and the key at which a part begins, for the first block of the part.
type Cut<K> = (Vec<Draft<K>>, Option<Vec<u8>>);

impl<K: Kind> Blocks<K> {
    fn next_block(&mut self) -> Result<Option<Cut<K>>, BuildError> {
        while let Some(cutter) = &mut self.cutter {
            let Some((draft, weight)) = self.join.next_record()? else {
                self.left_out.store(self.join.left_out, Relaxed);
                let rest = self.cutter.take().and_then(Cutter::finish);
                return Ok(rest.map(|drafts| (drafts, self.from.take())));
            };
            let key = draft.key().to_vec();
            let (mut before, mut begins) = (None, None);
            while let Some(boundary) = self.boundaries.pop_front_if(|boundary| *boundary <= key) {
                begins = Some(boundary);
            }
            if begins.is_some() {
                let new = Cutter::new(K::Record::BLOCK_WEIGHT);
                let full = std::mem::replace(cutter, new);
                let from = std::mem::replace(&mut self.from, begins);
                before = full.finish().map(|drafts| (drafts, from));
            }
            let cut = cutter.push(&key, weight, draft);
            // A cutter with one record cuts nothing.
            let done = before.or_else(|| cut.map(|drafts| (drafts, self.from.take())));
            if done.is_some() {
                return Ok(done);
            }
        }
        Ok(None)
    }
}

/// An encoded block.
pub struct Encoded {
    /// The block.
    pub block: EncodedBlock,
    /// The key at which a part begins, for the first block of the part.
    from: Option<Vec<u8>>,
    /// Whether the block is a copy of a base's block.
    is_kept: bool,
    /// Counts above the limits of its records.
    pub over_limit: OverLimit,
}

fn encode<K: Kind>((drafts, from): Cut<K>, kind: &K) -> Result<Encoded, BuildError> {
    let mut over_limit = OverLimit::default();
    let kept = BaseRecord::whole_block(drafts.iter().map(Draft::based))?;
    let is_kept = kept.is_some();
    let block = match kept {
        Some(block) => block,
        None => {
            let decode = |draft: &Draft<K>| -> Result<K::Record, BuildError> {
                let mut record = match draft {
                    Draft::Spooled(key, payload) => kind.decode(key, payload, &mut over_limit)?,
                    Draft::Based(record) => record.record()?,
                };
                kind.settle(&mut record);
                Ok(record)
            };
            let records: Vec<_> = drafts.iter().map(decode).collect::<Result<_, _>>()?;
            // Decoding checked that each key is that of its position.
            let keys: Option<Vec<Key>> = drafts
                .iter()
                .map(|draft| Key::of_bytes(draft.key()))
                .collect();
            let based = drafts.iter().map(Draft::based);
            let stored: Vec<_> = based
                .map(|record| record.and_then(BaseRecord::stored))
                .collect();
            encode_block_of(&records, &keys.unwrap_or_default(), &stored)?
        }
    };
    Ok(Encoded {
        block,
        from,
        is_kept,
        over_limit,
    })
}
