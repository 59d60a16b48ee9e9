//! Shards take encoded blocks in order; the manifest makes them a database, all at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use twox_hash::XxHash64;

use super::{Cutter, EncodedBlock, LEVEL, WriteError};
use crate::eval::Eval;
use crate::position::Key;
use crate::table::manifest::{hex, is_shard_name};
use crate::table::{Manifest, Record, Shard, page};

/// Where and how a table is written.
#[derive(Clone, Debug)]
pub struct WriterOptions {
    /// Bytes of a shard, about; default 64 MiB.
    pub shard_bytes: u64,
    /// Blocks of a page, about; default 1,024.
    pub page_blocks: usize,
    /// Pages of at most so many bytes together are carried by the manifest, which spares every first lookup a request;
    /// default 26,000, with which a first lookup takes some 40 KiB.
    pub carried_bytes: usize,
    /// What the manifest says of how the database was made.
    pub info: BTreeMap<String, String>,
}

impl Default for WriterOptions {
    fn default() -> WriterOptions {
        WriterOptions { shard_bytes: 64 << 20, page_blocks: 1024, carried_bytes: 26_000, info: BTreeMap::new() }
    }
}

/// Writes shards into a scratch folder; [`TableWriter::finish`] publishes them.
#[derive(Debug)]
pub struct TableWriter<R: Record = Eval> {
    dir: PathBuf,
    scratch: PathBuf,
    options: WriterOptions,
    open: Option<OpenShard>,
    shards: Vec<Shard>,
    last: Option<Key>,
    positions: u64,
    totals: Vec<u64>,
    kind: core::marker::PhantomData<R>,
}

#[derive(Debug)]
struct OpenShard {
    path: PathBuf,
    file: BufWriter<File>,
    hash: Sha256,
    bytes: u64,
    positions: u64,
    pages: Cutter<Placed>,
    closed: Vec<Vec<Placed>>,
}

/// The separator and the length of a block.
type Placed = (Vec<u8>, u64);

impl<R: Record> TableWriter<R> {
    /// Begins a table for the folder `dir`, which is left alone until [`TableWriter::finish`]. Shards are gathered in
    /// `scratch`, an existing folder on the same file system.
    pub fn create(dir: &Path, scratch: &Path, options: WriterOptions) -> TableWriter<R> {
        TableWriter {
            dir: dir.to_owned(),
            scratch: scratch.to_owned(),
            options,
            open: None,
            shards: Vec::new(),
            last: None,
            positions: 0,
            totals: vec![0; R::TOTALS.len()],
            kind: core::marker::PhantomData,
        }
    }

    /// Appends the next block.
    ///
    /// # Errors
    ///
    /// A block whose keys are not above those before, or a file that cannot be written.
    pub fn append(&mut self, block: &EncodedBlock) -> Result<(), WriteError> {
        if self.last.is_some_and(|last| last >= block.first) {
            return Err(WriteError::Order);
        }
        let separator = separator(self.last.as_ref(), &block.first);
        if let Some(shard) = self.open.take_if(|shard| ends_before(shard.bytes, &separator, &self.options, block)) {
            self.close(shard)?;
        }
        let shard = match &mut self.open {
            Some(shard) => shard,
            None => self.open.insert(OpenShard::create(
                self.scratch.join(format!("shard-{}", self.shards.len())),
                self.options.page_blocks,
            )?),
        };
        shard.write(&block.bytes)?;
        shard.positions += block.positions;
        let page = shard.pages.push(block.first.as_bytes(), 1, (separator, block.bytes.len() as u64));
        shard.closed.extend(page);
        self.last = Some(block.last);
        self.positions += block.positions;
        for (total, more) in self.totals.iter_mut().zip(&block.totals) {
            *total += more;
        }
        Ok(())
    }

    /// Writes the pages of a shard and gives it its name.
    fn close(&mut self, mut shard: OpenShard) -> Result<(), WriteError> {
        let pages = core::mem::replace(&mut shard.pages, Cutter::new(1));
        shard.closed.extend(pages.finish());
        let (mut pages, mut carried, mut start) = (Vec::new(), Vec::new(), 0);
        for blocks in core::mem::take(&mut shard.closed) {
            let bytes = page::encode(start, &blocks, LEVEL).map_err(WriteError::Compress)?;
            shard.write(&bytes)?;
            pages.push((blocks.first().map_or(String::new(), |(separator, _)| hex(separator)), bytes.len() as u64));
            start += blocks.iter().map(|(_, length)| length).sum::<u64>();
            carried.extend_from_slice(&bytes);
        }
        let io = |error| WriteError::Io { path: shard.path.clone(), error };
        let file = shard.file.into_inner().map_err(|error| io(error.into_error()))?;
        file.sync_all().map_err(io)?;
        let name = format!("{}{}", hex(&shard.hash.finalize()[..16]), Manifest::SHARD_ENDING);
        let path = self.scratch.join(&name);
        fs::rename(&shard.path, &path).map_err(io)?;
        self.shards.push(Shard { file: name, bytes: shard.bytes, positions: shard.positions, pages, carried });
        Ok(())
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.bytes).sum::<u64>() + self.open.as_ref().map_or(0, |shard| shard.bytes)
    }

    /// Publishes the table: moves the shards into place, replaces the manifest in one step, removes the shards of the
    /// table before. Until the manifest is replaced the table before is whole.
    ///
    /// # Errors
    ///
    /// No records, or a file that cannot be written.
    pub fn finish(mut self) -> Result<Manifest, WriteError> {
        if let Some(shard) = self.open.take() {
            self.close(shard)?;
        }
        if self.shards.is_empty() {
            return Err(WriteError::Empty);
        }
        let totals = R::TOTALS.iter().map(|name| (*name).to_string()).zip(self.totals.iter().copied()).collect();
        let mut shards = core::mem::take(&mut self.shards);
        if shards.iter().map(|shard| shard.carried.len()).sum::<usize>() > self.options.carried_bytes {
            shards.iter_mut().for_each(|shard| shard.carried.clear());
        }
        let manifest = Manifest::new(self.positions, totals, self.options.info.clone().into_iter().collect(), shards)
            .map_err(|_| WriteError::Order)?;
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error| WriteError::Io { path, error }
        };
        for shard in &manifest.shards {
            let path = self.dir.join(&shard.file);
            fs::rename(self.scratch.join(&shard.file), &path).map_err(io(&path))?;
        }
        sync_folder(&self.dir).map_err(io(&self.dir))?;
        let path = self.dir.join(Manifest::FILE);
        let scratch = self.scratch.join(Manifest::FILE);
        let bytes = manifest.to_bytes::<R>().map_err(|error| io(&scratch)(error.into()))?;
        let mut file = File::create(&scratch).map_err(io(&scratch))?;
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(io(&scratch))?;
        fs::rename(&scratch, &path).map_err(io(&path))?;
        sync_folder(&self.dir).map_err(io(&self.dir))?;
        // The table is published whatever becomes of these; what stays is removed by the next.
        remove_strangers(&self.dir, &manifest);
        Ok(manifest)
    }
}

impl OpenShard {
    fn create(path: PathBuf, page_blocks: usize) -> Result<OpenShard, WriteError> {
        let file = File::create(&path).map_err(|error| WriteError::Io { path: path.clone(), error })?;
        Ok(OpenShard {
            path,
            file: BufWriter::with_capacity(1 << 18, file),
            hash: Sha256::new(),
            bytes: 0,
            positions: 0,
            pages: Cutter::new(page_blocks),
            closed: Vec::new(),
        })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes).map_err(|error| WriteError::Io { path: self.path.clone(), error })
    }
}

/// The shortest beginning of `first` that is above `last`.
fn separator(last: Option<&Key>, first: &Key) -> Vec<u8> {
    let Some(last) = last else { return Vec::new() };
    let shared = last.as_bytes().iter().zip(first.as_bytes()).take_while(|(a, b)| a == b).count();
    first.as_bytes()[..(shared + 1).min(first.as_bytes().len())].to_vec()
}

/// Whether a shard ends before `block`: from half its size on at a place that the key tells, at one and a half in any
/// case.
fn ends_before(bytes: u64, separator: &[u8], options: &WriterOptions, block: &EncodedBlock) -> bool {
    let half = options.shard_bytes / 2;
    if bytes >= 3 * half {
        return true;
    }
    // One block in as many as make up half a shard.
    let blocks = (half / block.bytes.len().max(1) as u64).max(1);
    bytes >= half && XxHash64::oneshot(1, separator).is_multiple_of(blocks)
}

/// Makes renames in a folder last.
fn sync_folder(dir: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

/// Removes shards that the manifest does not name, as far as they can be removed.
fn remove_strangers(dir: &Path, manifest: &Manifest) {
    let ours: BTreeSet<&str> = manifest.shards.iter().map(|shard| shard.file.as_str()).collect();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| is_shard_name(name) && !ours.contains(name)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
