//! Base of a build: an existing database as an additional sorted run, which is read in place.
//!
//! Workers check and open its blocks, but do not decode the lines: the cutter needs only keys and weights. A block that
//! is unchanged is copied. A record is decoded only if its block changes. An unchanged record of such a block keeps the codes of
//! its moves.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use sha2::{Digest as _, Sha256};
use shelfish::played::Played;
use shelfish::position::Key;
use shelfish::source::Source as _;
use shelfish::table::{
    Block, Chunk, EncodedBlock, Manifest, Record, RecordWeight, Shard, StoredRecord, shard_name,
};

use crate::BoxError;
use crate::database::scan::{RawBlock, Scan, ScanError};
use crate::database::{self, DatabaseSource, OpenError};
use crate::system::ordered::{Ordered, ordered};

/// Bytes of a shard that are copied at a time.
const COPIED: u64 = 4 << 20;

/// Error of a base.
#[derive(Debug, thiserror::Error)]
#[error("cannot build on {base}: {error}")]
pub struct BaseError {
    base: Arc<str>,
    #[source]
    error: BoxError,
}

/// Returns the error of a manifest, with the command for another kind of database.
fn of_manifest(error: OpenError) -> BoxError {
    let OpenError::Kind {
        found, expected, ..
    } = error
    else {
        return error.into();
    };
    let command = if found == Played::KIND {
        "shelfish book build"
    } else {
        "shelfish build"
    };
    format!("it contains {found:?}, expected {expected:?}: use `{command}`").into()
}

fn base_error(base: &Arc<str>) -> impl Fn(BoxError) -> BaseError + use<> {
    let base = base.clone();
    move |error| BaseError {
        base: base.clone(),
        error,
    }
}

/// Function that reduces a record of a base and returns its new weight, or `None` if nothing remains.
pub type Narrow<R> = Box<dyn Fn(R) -> Result<Option<(R, usize)>, BoxError> + Send + Sync>;

/// Base with its manifest.
#[derive(Clone)]
pub struct Base<R> {
    name: Arc<str>,
    source: DatabaseSource,
    manifest: Arc<Manifest>,
    kind: PhantomData<R>,
}

impl<R: Record + Clone> Base<R> {
    /// Opens a base.
    pub fn open(at: &database::Args) -> Result<Base<R>, BaseError> {
        let name: Arc<str> = at.database.as_str().into();
        let open = || {
            let source = at.source()?;
            let manifest =
                database::wait(database::manifest::<R>(&source))?.map_err(of_manifest)?;
            Ok(Base {
                name: name.clone(),
                source,
                manifest: Arc::new(manifest),
                kind: PhantomData,
            })
        };
        open().map_err(base_error(&name))
    }

    /// Returns the number of positions.
    pub fn positions(&self) -> u64 {
        self.manifest.positions
    }

    /// Returns the shards.
    pub fn shards(&self) -> &[Shard] {
        self.manifest.shards()
    }

    /// Copies shards to a folder.
    pub fn copy(&self, shards: &[&Shard], folder: &Path) -> Result<(), BaseError> {
        let copy = async {
            for shard in shards {
                let mut out = File::create(folder.join(&shard.file))?;
                let (mut hash, mut start) = (Sha256::new(), 0);
                while start < shard.bytes {
                    let end = shard.bytes.min(start + COPIED);
                    let range = self.source.range(&shard.file, start..end).await;
                    let bytes = range.map_err(io::Error::other)?;
                    hash.update(&bytes);
                    out.write_all(&bytes)?;
                    start = end;
                }
                if shard_name(&hash.finalize()) != shard.file {
                    let what = format!(
                        "{}: its content does not have the hash of its name",
                        shard.file
                    );
                    return Err(io::Error::new(ErrorKind::InvalidData, what));
                }
                out.sync_all()?;
            }
            Ok(())
        };
        let copied = database::wait(copy).and_then(|copied| copied);
        copied.map_err(|error| self.error(error))
    }

    /// Returns the values that the build recorded.
    pub fn info(&self) -> &[(String, String)] {
        &self.manifest.info
    }

    /// Creates an error of this base.
    pub fn error(&self, error: impl Into<BoxError>) -> BaseError {
        base_error(&self.name)(error.into())
    }

    /// Starts to read, at the first record that remains after `narrow`.
    pub fn read(
        self,
        narrow: Option<Narrow<R>>,
        threads: usize,
    ) -> Result<BaseReader<R>, BaseError> {
        let base = self.name.clone();
        let scan = Scan::new(self.source, self.manifest)
            .map_err(|error| base_error(&base)(error.into()))?;
        let open: Open<R> = Box::new(move |raw| {
            let open = || {
                let RawBlock { at, bytes } = raw?;
                let block = Block::<R>::open(&bytes, &at)?;
                let mut record_weights = block.record_weights()?;
                let content = match &narrow {
                    None => Content::Whole(Box::new(block), bytes, OnceLock::new()),
                    Some(narrow) => {
                        Content::Narrowed(narrowed(&block, &mut record_weights, narrow)?)
                    }
                };
                Ok(OpenBlock {
                    base: base.clone(),
                    chunk: at,
                    record_weights,
                    content,
                })
            };
            open().map_err(base_error(&base))
        });
        let mut reader = BaseReader {
            blocks: ordered(scan, threads, open),
            block: None,
            next: 0,
        };
        reader.fill()?;
        Ok(reader)
    }
}

type Opened<R> = Result<OpenBlock<R>, BaseError>;
type Open<R> = Box<dyn Fn(Result<RawBlock, ScanError>) -> Opened<R> + Send + Sync>;

/// Reader of a base, positioned at a record.
pub struct BaseReader<R: Record> {
    blocks: Ordered<Scan, Result<RawBlock, ScanError>, Opened<R>>,
    block: Option<Arc<OpenBlock<R>>>,
    next: usize,
}

impl<R: Record + Clone> BaseReader<R> {
    /// Returns the key and the weight of the current record, or `None` at the end.
    pub fn peek(&self) -> Option<(&Key, usize)> {
        self.block
            .as_ref()?
            .record_weights
            .get(self.next)
            .map(|entry| (&entry.key, entry.weight))
    }

    /// Returns the current record and moves to the next record.
    pub fn take(&mut self) -> Result<Option<BaseRecord<R>>, BaseError> {
        let record = self.block.clone().map(|block| BaseRecord {
            block,
            n: self.next,
        });
        self.next += 1;
        self.fill()?;
        Ok(record)
    }

    /// Moves to the next block if the current block is finished.
    fn fill(&mut self) -> Result<(), BaseError> {
        while self
            .block
            .as_ref()
            .is_none_or(|block| self.next >= block.record_weights.len())
        {
            let Some(block) = self.blocks.next().transpose()? else {
                break;
            };
            let last = self
                .block
                .as_ref()
                .and_then(|block| block.record_weights.last());
            if last
                .zip(block.record_weights.first())
                .is_some_and(|(last, first)| last.key >= first.key)
            {
                let chunk = &block.chunk;
                let what =
                    format!("{chunk}: the positions are not above those of the previous block");
                return Err(base_error(&block.base)(what.into()));
            }
            // A block without remaining records is skipped, but its order is still checked.
            if !block.record_weights.is_empty() {
                (self.block, self.next) = (Some(Arc::new(block)), 0);
            }
        }
        Ok(())
    }
}

/// Block of a base.
struct OpenBlock<R: Record> {
    base: Arc<str>,
    chunk: Chunk,
    /// Keys and weights of the records, ascending.
    record_weights: Vec<RecordWeight>,
    content: Content<R>,
}

enum Content<R: Record> {
    /// A partly decoded block and its bytes. Its records by stored number follow when the first record is needed.
    Whole(Box<Block<R>>, Vec<u8>, OnceLock<Vec<Option<R>>>),
    /// Remaining records after the selection.
    Narrowed(Vec<R>),
}

/// Applies the selection to a block.
fn narrowed<R: Record>(
    block: &Block<R>,
    record_weights: &mut Vec<RecordWeight>,
    narrow: &Narrow<R>,
) -> Result<Vec<R>, BoxError> {
    let mut records = Vec::new();
    for mut entry in std::mem::take(record_weights) {
        let record = block.get(entry.n)?;
        let Some((record, weight)) = narrow(record)? else {
            continue;
        };
        entry.weight = weight;
        entry.n = records.len();
        record_weights.push(entry);
        records.push(record);
    }
    Ok(records)
}

/// Encoded record of a base.
pub struct BaseRecord<R: Record> {
    block: Arc<OpenBlock<R>>,
    n: usize,
}

impl<R: Record> Clone for BaseRecord<R> {
    fn clone(&self) -> BaseRecord<R> {
        BaseRecord {
            block: self.block.clone(),
            n: self.n,
        }
    }
}

impl<R: Record + Clone> BaseRecord<R> {
    /// Returns the key of the position.
    pub fn key(&self) -> &[u8] {
        self.block.record_weights[self.n].key.as_bytes()
    }

    /// Decodes the record.
    pub fn record(&self) -> Result<R, BaseError> {
        let n = self.block.record_weights[self.n].n;
        match &self.block.content {
            Content::Whole(block, _, records) => {
                let records = records.get_or_init(|| block.decode_all());
                match &records[n] {
                    Some(record) => Ok(record.clone()),
                    None => block
                        .get(n)
                        .map_err(|error| base_error(&self.block.base)(error.into())),
                }
            }
            Content::Narrowed(records) => Ok(records[n].clone()),
        }
    }

    /// Returns the codes of the record, if the base contains it unchanged.
    pub fn stored(&self) -> Option<StoredRecord<'_, R>> {
        match &self.block.content {
            Content::Whole(block, ..) => Some(block.stored(self.block.record_weights[self.n].n)),
            Content::Narrowed(_) => None,
        }
    }

    /// Returns the block that consists of exactly these records.
    pub fn whole_block<'a>(
        records: impl IntoIterator<Item = Option<&'a BaseRecord<R>>>,
    ) -> Result<Option<EncodedBlock>, BaseError>
    where
        R: 'a,
    {
        let mut records = records.into_iter();
        let Some(Some(BaseRecord { block, .. })) = records.next() else {
            return Ok(None);
        };
        let mut count = 1;
        for record in records {
            if record.is_none_or(|record| !Arc::ptr_eq(&record.block, block)) {
                return Ok(None);
            }
            count += 1;
        }
        match &block.content {
            Content::Whole(whole, bytes, _) if count == block.record_weights.len() => {
                Ok(Some(whole.reuse(bytes.clone())))
            }
            _ => Ok(None),
        }
    }
}
