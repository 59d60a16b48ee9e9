//! Sorted runs of records in temporary files.
//!
//! A run consists of parts, which are removed as they are read. So the disk holds either the runs or the files made of them,
//! unless the reader keeps a clone to read a run again.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use shelfish::leb128;

use super::disk::Disk;
use super::spool;

/// The window of zstd for runs. It is small, because a merge reads many runs.
const WINDOW_LOG: u32 = 17;
/// The level of zstd. Higher levels take longer than they save.
const LEVEL: i32 = 3;
const WRITE_BUFFER: usize = 64 << 10;
/// See [`RunFiles::part`].
const PART: usize = 8 << 20;
const READ_BUFFER: usize = 32 << 10;

/// Names the files of runs.
pub struct RunFiles {
    dir: PathBuf,
    count: AtomicUsize,
    /// Size of a part of a run before compression, in bytes.
    pub(super) part: usize,
    disk: Arc<Disk>,
}

impl RunFiles {
    /// Creates the files in `dir`. `disk` counts their bytes.
    pub fn new(dir: &Path, disk: Disk) -> RunFiles {
        RunFiles {
            dir: dir.to_owned(),
            count: AtomicUsize::new(0),
            part: PART,
            disk: Arc::new(disk),
        }
    }

    /// Returns the counter of bytes on the disk.
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    fn path(&self) -> PathBuf {
        self.dir
            .join(format!("{}.run", self.count.fetch_add(1, Relaxed)))
    }
}

/// A sorted sequence of records. Clones share their files.
#[derive(Clone, Default)]
pub struct Run {
    parts: VecDeque<Arc<Part>>,
    /// Number of records.
    pub records: u64,
}

/// A file of records, removed when its last clone is dropped.
struct Part {
    path: PathBuf,
    bytes: u64,
    disk: Arc<Disk>,
}

impl Drop for Part {
    fn drop(&mut self) {
        // After an error, the file is removed with the directory.
        let _ = fs::remove_file(&self.path);
        self.disk.give(self.bytes);
    }
}

/// Writes a run. Each key is stored as the length shared with the key before, and the rest.
pub(super) struct RunWriter<'a> {
    run_files: &'a RunFiles,
    run: Run,
    /// The encoder of the last part, and the number of bytes that the part may still take.
    encoder: Option<(zstd::Encoder<'static, File>, usize)>,
    buffer: Vec<u8>,
    key: Vec<u8>,
}

impl<'a> RunWriter<'a> {
    pub fn new(run_files: &'a RunFiles) -> RunWriter<'a> {
        let buffer = Vec::with_capacity(2 * WRITE_BUFFER);
        RunWriter {
            run_files,
            run: Run::default(),
            encoder: None,
            buffer,
            key: Vec::new(),
        }
    }

    pub fn push(&mut self, key: &[u8], payload: &[u8]) -> io::Result<()> {
        let shared = self.key.iter().zip(key).take_while(|(a, b)| a == b).count();
        leb128::push(&mut self.buffer, shared as u64);
        spool::push_parts(&mut self.buffer, &key[shared..], payload);
        self.key.truncate(shared);
        self.key.extend_from_slice(&key[shared..]);
        self.run.records += 1;
        if self.buffer.len() >= WRITE_BUFFER {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let (mut encoder, left) = match self.encoder.take() {
            Some(open) => open,
            None => (self.begin_part()?, self.run_files.part),
        };
        encoder.write_all(&self.buffer)?;
        match left.checked_sub(self.buffer.len()) {
            Some(left) => self.encoder = Some((encoder, left)),
            None => self.end_part(encoder)?,
        }
        self.buffer.clear();
        Ok(())
    }

    fn end_part(&mut self, encoder: zstd::Encoder<'static, File>) -> io::Result<()> {
        let bytes = encoder.finish()?.metadata()?.len();
        // The part has no clone before the run is finished.
        if let Some(part) = self.run.parts.back_mut().and_then(Arc::get_mut) {
            part.bytes = bytes;
            part.disk.take(bytes)?;
        }
        Ok(())
    }

    fn begin_part(&mut self) -> io::Result<zstd::Encoder<'static, File>> {
        let path = self.run_files.path();
        let mut encoder = zstd::Encoder::new(File::create(&path)?, LEVEL)?;
        encoder.window_log(WINDOW_LOG)?;
        encoder.include_checksum(true)?;
        self.run.parts.push_back(Arc::new(Part {
            path,
            bytes: 0,
            disk: self.run_files.disk.clone(),
        }));
        Ok(encoder)
    }

    pub fn finish(mut self) -> io::Result<Run> {
        if !self.buffer.is_empty() {
            self.flush()?;
        }
        if let Some((encoder, _)) = self.encoder.take() {
            self.end_part(encoder)?;
        }
        Ok(self.run)
    }
}

/// Reads a run, positioned at a record.
pub(super) struct RunReader {
    /// The reader of the first remaining part.
    reader: Option<BufReader<zstd::Decoder<'static, BufReader<File>>>>,
    run: Run,
    pub key: Vec<u8>,
    pub payload: Vec<u8>,
}

impl RunReader {
    /// Opens a run at its first record. Returns `None` for an empty run.
    pub fn open(run: Run) -> io::Result<Option<RunReader>> {
        let mut reader = RunReader {
            reader: None,
            run,
            key: Vec::new(),
            payload: Vec::new(),
        };
        Ok(reader.advance()?.then_some(reader))
    }

    /// Moves to the next record. Returns false at the end.
    pub fn advance(&mut self) -> io::Result<bool> {
        loop {
            if let Some(reader) = &mut self.reader {
                if !reader.fill_buf()?.is_empty() {
                    let shared = read_length(reader)?;
                    self.key.truncate(shared);
                    let length = read_length(reader)?;
                    read_onto(reader, length, &mut self.key)?;
                    let length = read_length(reader)?;
                    self.payload.clear();
                    read_onto(reader, length, &mut self.payload)?;
                    return Ok(true);
                }
                self.reader = None;
                self.run.parts.pop_front();
            }
            let Some(part) = self.run.parts.front() else {
                return Ok(false);
            };
            let file = BufReader::with_capacity(READ_BUFFER, File::open(&part.path)?);
            self.reader = Some(BufReader::with_capacity(
                READ_BUFFER,
                zstd::Decoder::with_buffer(file)?,
            ));
        }
    }
}

fn read_length(reader: &mut impl Read) -> io::Result<usize> {
    let next = || {
        let mut byte = [0];
        reader.read_exact(&mut byte).map(|()| byte[0])
    };
    let length = leb128::read(next)?.and_then(|length| usize::try_from(length).ok());
    length.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn read_onto(reader: &mut impl Read, length: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    let start = bytes.len();
    bytes.resize(start + length, 0);
    reader.read_exact(&mut bytes[start..])
}

/// Reversed, so that the reader with the least key is the greatest in a heap.
impl Ord for RunReader {
    fn cmp(&self, other: &RunReader) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl PartialOrd for RunReader {
    fn partial_cmp(&self, other: &RunReader) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RunReader {
    fn eq(&self, other: &RunReader) -> bool {
        self.key == other.key
    }
}

impl Eq for RunReader {}
