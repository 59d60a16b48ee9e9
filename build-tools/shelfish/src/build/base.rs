//! Base of a build: an existing database as an additional sorted run, which is read in place.
//!
//! Workers check and open its blocks, but do not decode the lines: the cutter needs only keys and weights. A block that
//! is unchanged is copied. A record is decoded only if its block changes. An unchanged record of such a block keeps the codes of
//! its moves.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use shelfish::played::Played;
use shelfish::position::Key;
use shelfish::source::Source as _;
use shelfish::table::{
    Block, Chunk, EncodedBlock, Manifest, Record, RecordWeight, Shard, StoredRecord, TableError,
    shard_name,
};

use crate::database::scan::{RawBlock, Scan, ScanError};
use crate::database::{self, DatabaseSource, DatabaseSourceError, OpenError};
use crate::system::ordered::{Ordered, ordered};
use crate::terminal::shown::shown;

/// Bytes of a shard that are copied at a time.
const COPIED: u64 = 4 << 20;

/// Error of a base.
#[derive(Debug, thiserror::Error)]
#[error("cannot build on {base}: {kind}")]
pub struct BaseError {
    /// Address of the base.
    pub base: Arc<str>,
    /// Problem of the base.
    #[source]
    pub kind: Box<BaseErrorKind>,
}

/// Problems of a base.
#[derive(Debug, thiserror::Error)]
pub enum BaseErrorKind {
    /// The system cannot create a client for the host.
    #[error(transparent)]
    Client(#[from] DatabaseSourceError),
    /// The manifest is missing or unreadable.
    #[error("{}", manifest_text(.0))]
    Manifest(#[from] OpenError),
    /// The manifest describes an unknown selection.
    #[error(
        "its manifest says {name} = {value:?}, which this shelfish does not know: use a newer one, or build of its export"
    )]
    Selection {
        /// Name of the selection.
        name: String,
        /// Value in the manifest.
        value: String,
    },
    /// Positions of few games were left out of the base. Contains the minimum number of games, from the manifest.
    #[error(
        "positions of fewer than {0} games were left out of it, so counts would be wrong: build it with --min-games 1"
    )]
    MinGames(String),
    /// The base is a part of a book.
    #[error(
        "it is a part of a book (`shelfish extract`) and lacks positions of its games, so counts would be wrong: build on \
         the whole book"
    )]
    Part,
    /// The base has games that are used whole, and the build leaves out positions of few games.
    #[error(
        "it has games that are used whole, and does not say which positions are theirs, so --min-games would leave them \
         out: build from all inputs at once"
    )]
    WholeGames,
    /// An earlier base has games of the same input. Contains its name, which may be empty.
    #[error(
        "it has games of an input of another base{}{}",
        if .0.is_empty() { "" } else { ", " }, shown(.0)
    )]
    SameInput(String),
    /// A setting differs.
    #[error("{}: give the same options", setting_text(name, base.as_deref(), build.as_deref()))]
    Setting {
        /// Name of the setting.
        name: String,
        /// Value in the manifest of the base.
        base: Option<String>,
        /// Value of the build.
        build: Option<String>,
    },
    /// A file contradicts the manifest.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// A block contradicts its page.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The keys of a block are not above those of the previous block.
    #[error("{0}: the positions are not above those of the previous block")]
    Order(Chunk),
    /// The system cannot start the threads or the runtime.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn manifest_text(error: &OpenError) -> String {
    let OpenError::Kind {
        found, expected, ..
    } = error
    else {
        return error.to_string();
    };
    let command = if found == Played::KIND {
        "shelfish book build"
    } else {
        "shelfish build"
    };
    format!("it contains {found:?}, expected {expected:?}: use `{command}`")
}

fn setting_text(name: &str, base: Option<&str>, build: Option<&str>) -> String {
    match (base, build) {
        (Some(base), Some(build)) => {
            format!("its manifest says {name} = {base:?}, this build says {build:?}")
        }
        (Some(base), None) => {
            format!("its manifest says {name} = {base:?}, this build does not")
        }
        (None, build) => {
            let build = build.unwrap_or_default();
            format!("this build says {name} = {build:?}, its manifest does not")
        }
    }
}

fn base_error(base: &Arc<str>) -> impl Fn(BaseErrorKind) -> BaseError + use<> {
    let base = base.clone();
    move |kind| BaseError {
        base: base.clone(),
        kind: Box::new(kind),
    }
}

/// Function that reduces a record of a base and returns its new weight, or `None` if nothing remains.
pub type Narrow<R> = Box<dyn Fn(R) -> Result<Option<(R, usize)>, BaseErrorKind> + Send + Sync>;

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
            let manifest = Arc::new(database::wait(database::manifest::<R>(&source))??);
            Ok(Base {
                name: name.clone(),
                source,
                manifest,
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
        copied.map_err(|error| self.error(error.into()))
    }

    /// Returns the values that the build recorded.
    pub fn info(&self) -> &[(String, String)] {
        &self.manifest.info
    }

    /// Creates an error of this base.
    pub fn error(&self, kind: BaseErrorKind) -> BaseError {
        base_error(&self.name)(kind)
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
                    None => Content::Whole(Box::new(block), bytes),
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
                return Err(block.error(BaseErrorKind::Order(block.chunk.clone())));
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
    /// Partly decoded block, with its bytes.
    Whole(Box<Block<R>>, Vec<u8>),
    /// Remaining records after the selection.
    Narrowed(Vec<R>),
}

impl<R: Record + Clone> OpenBlock<R> {
    fn error(&self, kind: impl Into<BaseErrorKind>) -> BaseError {
        base_error(&self.base)(kind.into())
    }
}

/// Applies the selection to a block.
fn narrowed<R: Record>(
    block: &Block<R>,
    record_weights: &mut Vec<RecordWeight>,
    narrow: &Narrow<R>,
) -> Result<Vec<R>, BaseErrorKind> {
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
            Content::Whole(block, _) => block.get(n).map_err(|error| self.block.error(error)),
            Content::Narrowed(records) => Ok(records[n].clone()),
        }
    }

    /// Returns the codes of the record, if the base contains it unchanged.
    pub fn stored(&self) -> Option<StoredRecord<'_, R>> {
        match &self.block.content {
            Content::Whole(block, _) => Some(block.stored(self.block.record_weights[self.n].n)),
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
            Content::Whole(whole, bytes) if count == block.record_weights.len() => {
                Ok(Some(whole.reuse(bytes.clone())))
            }
            _ => Ok(None),
        }
    }
}
