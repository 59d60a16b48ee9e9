//! Appends encoded blocks to shards, and publishes the shards by writing the manifest, atomically.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use twox_hash::XxHash64;

use super::part::limit_inline_pages;
use super::{Cutter, EncodedBlock, LEVEL, Part, WriteError};
use crate::position::Key;
use crate::table::page::PlacedBlock;
use crate::table::shard_name::{hash_in, shard_name};
use crate::table::{ContentHash, ListedPage, Manifest, Record, Shard, page};

/// Options of a [`TableWriter`].
#[derive(Clone, Debug)]
pub struct WriterOptions {
    /// About how many bytes a shard has; default 64 MiB.
    pub shard_bytes: u64,
    /// About how many blocks a page has; default 1,024. See [`page_blocks`].
    pub page_blocks: usize,
    /// Pages are inlined in the manifest if they have at most so many bytes together, which spares every first lookup a
    /// request. Default 26,000, with which a first lookup takes some 40 KiB. If they have more, only the pages around
    /// the initial position are inlined, up to a fifth of these bytes.
    pub inline_page_bytes: usize,
    /// `info` of the manifest: how the database was made.
    pub info: BTreeMap<String, String>,
    /// Shards of the table before, whose blocks are not written again. They are in the folder of the table.
    pub kept: Vec<KeptShard>,
}

/// A shard of the table before an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptShard {
    /// The file's name.
    pub file: String,
    /// The file's length in bytes.
    pub bytes: u64,
}

impl Default for WriterOptions {
    fn default() -> WriterOptions {
        WriterOptions {
            shard_bytes: 64 << 20,
            page_blocks: page_blocks(0),
            inline_page_bytes: 26_000,
            info: BTreeMap::new(),
            kept: Vec::new(),
        }
    }
}

/// Returns how many blocks a page should have, from the number of positions of the table.
///
/// A game touches fewer bytes of small pages, but the manifest lists all pages. Pages have 1,024 blocks up to a billion positions,
/// 2,048 up to four billion, and 4,096 beyond. A page of more blocks could exceed the limit of readers.
///
/// ```
/// use shelfish::table::page_blocks;
///
/// assert_eq!(page_blocks(400_000_000), 1_024);
/// assert_eq!(page_blocks(64_000_000_000), 4_096);
/// ```
pub const fn page_blocks(positions: u64) -> usize {
    match positions {
        0..=1_000_000_000 => 1_024,
        1_000_000_001..=4_000_000_000 => 2_048,
        _ => 4_096,
    }
}

/// Writes shards into a scratch folder; [`TableWriter::finish`] publishes them.
#[derive(Debug)]
pub struct TableWriter<R: Record> {
    dir: PathBuf,
    scratch: PathBuf,
    options: WriterOptions,
    open: Option<OpenShard>,
    /// The kept shards, each with the end of its last block in use.
    kept: Vec<(Shard, u64)>,
    shards: Vec<Shard>,
    last: Option<Key>,
    /// Start of the part whose first block comes next.
    from: Option<Vec<u8>>,
    blocks: u64,
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
    pages: Cutter<PlacedBlock>,
    closed: Vec<Vec<PlacedBlock>>,
}

impl<R: Record> TableWriter<R> {
    /// Begins a table for the folder `dir`, which is left alone until [`TableWriter::finish`]. Shards are gathered in
    /// `scratch`, an existing folder on the same file system.
    pub fn create(dir: &Path, scratch: &Path, options: WriterOptions) -> TableWriter<R> {
        TableWriter {
            dir: dir.to_owned(),
            scratch: scratch.to_owned(),
            kept: options.kept.iter().map(kept_shard).collect(),
            options,
            open: None,
            shards: Vec::new(),
            last: None,
            from: None,
            blocks: 0,
            positions: 0,
            totals: vec![0; R::TOTALS.len()],
            kind: core::marker::PhantomData,
        }
    }

    /// Ends a shard, so that all following blocks, with keys from `from` on, do not depend on earlier blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    pub fn begin_part(&mut self, from: &[u8]) -> Result<(), WriteError> {
        if let Some(shard) = self.open.take() {
            self.close(shard)?;
        }
        self.from = Some(from.to_vec());
        Ok(())
    }

    /// Appends the next block.
    ///
    /// # Errors
    ///
    /// A block whose keys are not above those before, or a file that cannot be written.
    pub fn append(&mut self, block: &EncodedBlock) -> Result<(), WriteError> {
        let is_above = |last: Key| match &self.from {
            Some(from) => last.as_bytes() < &from[..],
            None => last < block.first,
        };
        let is_within = self
            .from
            .as_ref()
            .is_none_or(|from| &from[..] <= block.first.as_bytes());
        if !self.last.is_none_or(is_above) || !is_within {
            return Err(WriteError::Order);
        }
        let separator = self.from.take().unwrap_or_else(|| match &self.last {
            Some(last) => separator(last.as_bytes(), block.first.as_bytes()),
            None => Vec::new(),
        });
        if let Some(shard) = self
            .open
            .take_if(|shard| ends_before(shard.bytes, &separator, &self.options, block))
        {
            self.close(shard)?;
        }
        let shard = match &mut self.open {
            Some(shard) => shard,
            None => self.open.insert(OpenShard::create(
                self.scratch.join(format!("shard-{}", self.shards.len())),
                self.options.page_blocks,
            )?),
        };
        let (length, hash) = (block.bytes.len() as u64, ContentHash::of(&block.bytes));
        let kept = block.origin.as_ref().and_then(|origin| {
            // Pages list the blocks of a file in ascending order. A hostile base may have another order.
            let kept = self
                .kept
                .iter_mut()
                .find(|(kept, end)| kept.file == origin.file && *end <= origin.start)?;
            Some((kept, hash_in(&origin.file)?, origin.start))
        });
        let (file, start) = match kept {
            Some(((kept, end), file, start)) => {
                kept.live = kept.live.map(|live| live + length);
                kept.positions += block.positions;
                *end = start.saturating_add(length);
                (Some(file), start)
            }
            None => {
                let start = shard.bytes;
                shard.write(&block.bytes)?;
                shard.positions += block.positions;
                (None, start)
            }
        };
        let placed = PlacedBlock {
            separator,
            file,
            start,
            length,
            hash,
        };
        shard
            .closed
            .extend(shard.pages.push(block.first.as_bytes(), 1, placed));
        self.last = Some(block.last);
        self.blocks += 1;
        self.positions += block.positions;
        for (total, more) in self.totals.iter_mut().zip(&block.totals) {
            *total += more;
        }
        Ok(())
    }

    /// Writes the lists of hashes and the pages of a shard, and gives it its name.
    fn close(&mut self, mut shard: OpenShard) -> Result<(), WriteError> {
        let pages = core::mem::replace(&mut shard.pages, Cutter::new(1));
        shard.closed.extend(pages.finish());
        let (mut pages, mut lists) = (Vec::new(), Vec::new());
        for blocks in core::mem::take(&mut shard.closed) {
            let start = shard.bytes + lists.len() as u64;
            let (bytes, list) =
                page::encode(start, &blocks, LEVEL).map_err(WriteError::Compress)?;
            let separator = blocks
                .into_iter()
                .next()
                .map_or_else(Vec::new, |first| first.separator);
            pages.push(ListedPage {
                separator,
                bytes: bytes.len() as u64,
                hash: ContentHash::of(&bytes),
                content: bytes,
                start: 0,
            });
            lists.extend_from_slice(&list);
        }
        shard.write(&lists)?;
        pages
            .iter()
            .try_for_each(|page: &ListedPage| shard.write(&page.content))?;
        let file = shard
            .file
            .into_inner()
            .map_err(|error| io(&shard.path)(error.into_error()))?;
        file.sync_all().map_err(io(&shard.path))?;
        let name = shard_name(&shard.hash.finalize());
        let path = self.scratch.join(&name);
        fs::rename(&shard.path, &path).map_err(io(&shard.path))?;
        self.shards.push(Shard {
            file: name,
            bytes: shard.bytes,
            positions: shard.positions,
            live: None,
            pages,
        });
        Ok(())
    }

    /// Returns the number of bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.bytes).sum::<u64>()
            + self.open.as_ref().map_or(0, |shard| shard.bytes)
    }

    /// Returns the maximum number of bytes that all files, the manifest among them, will have if nothing more is
    /// appended.
    pub fn bytes_at_most(&self) -> u64 {
        // A block takes up to 8 bytes in a page and again in the manifest, usually 3, and its hash. A shard takes some
        // 100 bytes; the rest is for its open page and the head of the manifest.
        const SHARD: u64 = 512;
        const HEAD: u64 = 4096;
        self.bytes()
            + (8 + ContentHash::BYTES as u64) * self.blocks
            + SHARD * (self.shards.len() as u64 + 1)
            + HEAD
    }

    /// Ends the last shard. The shards remain in the scratch folder; see [`Part::join`].
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    pub fn finish_part(mut self) -> Result<Part, WriteError> {
        if let Some(shard) = self.open.take() {
            self.close(shard)?;
        }
        let kept = self.kept.into_iter().map(|(kept, _)| kept);
        let kept = kept.filter(|kept| kept.live != Some(0));
        let mut shards: Vec<Shard> = kept.chain(self.shards).collect();
        limit_inline_pages(&mut shards, self.options.inline_page_bytes);
        Ok(Part {
            positions: self.positions,
            totals: self.totals,
            shards,
        })
    }

    /// Completes the table and publishes it, see [`CompleteTable::publish`].
    ///
    /// # Errors
    ///
    /// Returns an error if there are no records, another file has the name of a table's file, or a file cannot be
    /// written.
    pub fn finish(self) -> Result<Manifest, WriteError> {
        self.complete()?.publish()
    }

    /// Ends the last shard and makes the manifest. The files remain in the scratch folder.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no records, or a file cannot be written.
    pub fn complete(self) -> Result<CompleteTable<R>, WriteError> {
        let options = self.options.clone();
        let (dir, scratch_dir) = (self.dir.clone(), self.scratch.clone());
        let manifest = Part::join::<R>([self.finish_part()?], &options)?;
        let bytes = manifest.to_bytes::<R>()?;
        Ok(CompleteTable {
            dir,
            scratch_dir,
            manifest,
            bytes,
            kind: core::marker::PhantomData,
        })
    }
}

/// A table that is complete and not published yet.
#[derive(Debug)]
pub struct CompleteTable<R: Record> {
    dir: PathBuf,
    scratch_dir: PathBuf,
    manifest: Manifest,
    /// The manifest as a file.
    bytes: Vec<u8>,
    kind: core::marker::PhantomData<R>,
}

impl<R: Record> CompleteTable<R> {
    /// Returns the size of all files, the manifest among them.
    pub fn bytes(&self) -> u64 {
        self.manifest.bytes() + self.bytes.len() as u64
    }

    /// Returns the shards in the scratch folder. All other shards are those of the table before.
    fn written(&self) -> impl Iterator<Item = &Shard> {
        let is_here =
            |shard: &&Shard| shard.live.is_none() || self.scratch_dir.join(&shard.file).exists();
        self.manifest.shards().iter().filter(is_here)
    }

    /// Removes the shards from the scratch folder.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be removed.
    pub fn discard(self) -> Result<(), WriteError> {
        self.written().try_for_each(|shard| {
            let path = self.scratch_dir.join(&shard.file);
            fs::remove_file(&path).map_err(io(&path))
        })
    }

    /// Publishes the table: moves the shards into place, replaces the manifest atomically, and removes the shards of
    /// the previous table. The previous table is valid until the manifest is replaced.
    ///
    /// Only files of the previous table are overwritten or removed.
    ///
    /// # Errors
    ///
    /// Returns an error if another file has the name of a table's file, or a file cannot be written.
    pub fn publish(self) -> Result<Manifest, WriteError> {
        let before = manifest_in::<R>(&self.dir)?;
        let written: Vec<String> = self.written().map(|shard| shard.file.clone()).collect();
        let CompleteTable {
            dir,
            scratch_dir,
            manifest,
            bytes,
            ..
        } = self;

        // If the process dies from here on, the manifests in the scratch folder name the files that it leaves behind.
        let scratch = scratch_dir.join(Manifest::FILE);
        let mut file = File::create(&scratch).map_err(io(&scratch))?;
        file.write_all(&bytes)
            .and_then(|()| file.sync_all())
            .map_err(io(&scratch))?;
        let path = dir.join(Manifest::FILE);
        if before.is_some() {
            let copy = scratch_dir.join(PREVIOUS);
            fs::copy(&path, &copy).map_err(io(&copy))?;
        }
        let publish = || {
            for file in &written {
                let path = dir.join(file);
                fs::rename(scratch_dir.join(file), &path).map_err(io(&path))?;
            }
            sync_folder(&dir).map_err(io(&dir))?;
            fs::rename(&scratch, &path).map_err(io(&path))?;
            sync_folder(&dir).map_err(io(&dir))
        };
        if let Err(error) = publish() {
            remove_abandoned(&dir, &manifest, before.as_ref());
            return Err(error);
        }
        // The table is published even if old shards cannot be removed.
        if let Some(before) = before {
            remove_abandoned(&dir, &before, Some(&manifest));
        }
        Ok(manifest)
    }
}

/// The name, in a scratch folder, of the manifest that is about to be replaced.
pub const PREVIOUS: &str = "previous.json";

/// Returns the manifest of the table in a folder, if there is a table.
///
/// # Errors
///
/// Returns an error if the file of that name is not the manifest of such a table, and must not be overwritten.
pub fn manifest_in<R: Record>(dir: &Path) -> Result<Option<Manifest>, WriteError> {
    let path = dir.join(Manifest::FILE);
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|file| {
        file.take(Manifest::MAX_BYTES as u64 + 1)
            .read_to_end(&mut bytes)
    });
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io(&path)(error)),
        Ok(_) => Manifest::parse::<R>(&bytes)
            .map(Some)
            .map_err(|error| WriteError::InTheWay { path, error }),
    }
}

/// Removes the shards of the manifest `old` that `kept` does not have from a folder: those of a replaced table, or those
/// that a writer which died had moved there. Files that cannot be removed are ignored.
pub fn remove_abandoned(dir: &Path, old: &Manifest, kept: Option<&Manifest>) {
    let kept: BTreeSet<&str> = kept
        .iter()
        .flat_map(|kept| kept.shards())
        .map(|shard| shard.file.as_str())
        .collect();
    for shard in old.shards() {
        if !kept.contains(shard.file.as_str()) {
            let _ = fs::remove_file(dir.join(&shard.file));
        }
    }
}

/// Returns a kept shard without blocks in use.
fn kept_shard(KeptShard { file, bytes }: &KeptShard) -> (Shard, u64) {
    let shard = Shard {
        file: file.clone(),
        bytes: *bytes,
        live: Some(0),
        ..Shard::default()
    };
    (shard, 0)
}

/// Returns a function that adds the path of a file or folder to an error.
fn io(path: &Path) -> impl Fn(std::io::Error) -> WriteError + '_ {
    move |error| WriteError::Io {
        path: path.to_owned(),
        error,
    }
}

impl OpenShard {
    fn create(path: PathBuf, page_blocks: usize) -> Result<OpenShard, WriteError> {
        let file = File::create(&path).map_err(io(&path))?;
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
        self.file.write_all(bytes).map_err(io(&self.path))
    }
}

/// Returns the shortest beginning of the key `first` that is above the key `last`.
pub fn separator(last: &[u8], first: &[u8]) -> Vec<u8> {
    let shared = last.iter().zip(first).take_while(|(a, b)| a == b).count();
    first[..(shared + 1).min(first.len())].to_vec()
}

/// Returns whether a shard ends before `block`. From half the shard size on, the hash of the separator decides; from
/// one and a half of the shard size on, every shard ends.
fn ends_before(
    bytes: u64,
    separator: &[u8],
    options: &WriterOptions,
    block: &EncodedBlock,
) -> bool {
    let half = options.shard_bytes / 2;
    if bytes >= 3 * half {
        return true;
    }
    // On average, one separator in half a shard of blocks.
    let blocks = (half / block.bytes.len().max(1) as u64).max(1);
    bytes >= half && XxHash64::oneshot(1, separator).is_multiple_of(blocks)
}

/// Makes renames in a folder durable.
fn sync_folder(dir: &Path) -> std::io::Result<()> {
    if cfg!(unix) {
        File::open(dir)?.sync_all()
    } else {
        Ok(())
    }
}
