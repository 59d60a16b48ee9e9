//! Dumps of evaluations and games: files, hosts or standard input, plain or compressed, told apart by their content.
//! Evaluations are read as chunks of whole lines; or from Parquet files, as chunks of whole positions.

use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::frames;
use super::remote::{Download, Patience, Remote};
use super::rows::Rows;
use crate::book::{BookFile, is_polyglot_name};
use crate::build::BuildError;
#[cfg(feature = "parquet")]
use crate::input::parquet;
pub use crate::input::source::Source;

/// The longest line that is looked at.
pub const MAX_LINE: usize = 16 << 20;

/// How much of a dump goes to a worker at a time.
const CHUNK: usize = 1 << 20;

/// How much of a line that is too long is kept, to recognise it by.
const BEGINNING: usize = 256;

/// The largest window of a zstd frame that is accepted: what `zstd -d` accepts by default.
pub(super) const MAX_WINDOW_LOG: u32 = 27;

/// Enough of a file to tell its kind and, for zstd, its window.
const HEAD: usize = 8;

/// Bytes of a text that are looked at to tell what it is.
const LOOK: u64 = 4 << 10;

/// What a Parquet file begins with.
const MAGIC_PARQUET: &[u8] = b"PAR1";

/// Why Parquet cannot be read where it is.
const NOT_HERE: &str = if cfg!(feature = "parquet") {
    "Parquet has its index at the end, so it cannot be read from a pipe or a host: save it as a file and name that"
} else {
    "this shelfish was built without Parquet: build it with the feature `parquet`"
};

/// Why a book of an engine cannot be read where it is.
const NO_STREAM: &str = "a book of an engine cannot be read from a pipe or a host: save it as a file and name that";

/// How dumps are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct How {
    /// How hosts are asked.
    pub patience: Patience,
    /// Threads that decode the frames of a file of `pzstd`, see [`frames::decoders`].
    pub decoders: usize,
}

/// A dump, opened.
pub struct Dump {
    content: Content,
    /// Memory that decompression needs.
    pub window: usize,
    /// Bytes of the file, compressed as it is; unknown for pipes.
    pub size: Option<u64>,
    /// Whether it begins like games in PGN.
    is_games: bool,
    /// What becomes of it where it is read of a host.
    download: Option<Arc<Mutex<Download>>>,
}

/// The dumps of a build, opened.
pub struct Dumps {
    /// In the order of the sources.
    pub dumps: Vec<Dump>,
    /// Bytes that were read of all.
    pub read: Arc<AtomicU64>,
}

/// What dumps hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpKind {
    /// Evaluations of positions.
    Evaluations,
    /// Games in PGN.
    Games,
}

impl Dumps {
    /// Opens all sources.
    ///
    /// # Errors
    ///
    /// One cannot be opened.
    pub fn open(sources: &[Source], how: How) -> Result<Dumps, BuildError> {
        let read = Arc::new(AtomicU64::new(0));
        let open = |source: &Source| {
            Dump::open(source, read.clone(), how).map_err(|error| BuildError::Source { source: source.clone(), error })
        };
        Ok(Dumps { dumps: sources.iter().map(open).collect::<Result<_, _>>()?, read })
    }

    /// What becomes of those that are read of hosts.
    pub fn downloads(&self) -> Downloads {
        Downloads(self.dumps.iter().filter_map(|dump| dump.download.clone()).collect())
    }

    /// What they hold, all of them; `None` if there are none.
    ///
    /// # Errors
    ///
    /// They are not alike.
    pub fn kind(&self, sources: &[Source]) -> Result<Option<DumpKind>, BuildError> {
        let kind = |source: &Source, dump: &Dump| {
            let is_named = source.file_name().is_some_and(|name| {
                let name = name.to_ascii_lowercase();
                name.ends_with(".pgn") || name.contains(".pgn.")
            });
            if dump.is_games || is_named { DumpKind::Games } else { DumpKind::Evaluations }
        };
        let mut kinds = sources.iter().zip(&self.dumps).map(|(source, dump)| (source, kind(source, dump)));
        let Some((first, kind)) = kinds.next() else { return Ok(None) };
        match kinds.find(|(_, other)| *other != kind) {
            None => Ok(Some(kind)),
            Some((other, _)) => {
                let is_games = kind == DumpKind::Games;
                let [games, evaluations] = if is_games { [first, other] } else { [other, first] }.map(Source::clone);
                Err(BuildError::Mixed { games, evaluations })
            }
        }
    }
}

/// What becomes of dumps that are read of hosts.
#[derive(Default)]
pub struct Downloads(Vec<Arc<Mutex<Download>>>);

impl Downloads {
    /// What became of them by now.
    pub fn told(&self) -> Vec<Download> {
        self.0.iter().filter_map(|told| Some(told.lock().ok()?.clone())).collect()
    }
}

enum Content {
    Lines(Compressed),
    #[cfg(feature = "parquet")]
    Rows(Box<parquet::Table>),
    /// Moves that are counted already.
    Book(BookFile),
}

/// A text that waits for its turn: what decompresses it takes memory, so that it is made when it is read.
struct Compressed {
    bytes: Box<dyn Read + Send>,
    coding: Coding,
}

impl Compressed {
    fn decode(self) -> io::Result<Box<dyn Read + Send>> {
        match self.coding {
            Coding::Pzstd { decoders } => Ok(Box::new(frames::Text::new(self.bytes, decoders))),
            coding => coding.stream(self.bytes),
        }
    }
}

/// How a text is compressed.
#[derive(Clone, Copy)]
enum Coding {
    None,
    Zstd,
    /// Frames that so many threads can decode.
    Pzstd {
        decoders: usize,
    },
    Gzip,
    Bzip2,
}

impl Coding {
    /// Decodes on this thread; of frames for several threads, the beginning.
    fn stream<'a>(self, bytes: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Coding::None => Box::new(bytes),
            Coding::Zstd | Coding::Pzstd { .. } => {
                let mut decoder = zstd::Decoder::new(bytes)?;
                // Frames that threads decode need no window; of the one that is here only the beginning is used.
                let is_looked_at = matches!(self, Coding::Pzstd { .. });
                decoder.window_log_max(if is_looked_at { 30 } else { MAX_WINDOW_LOG })?;
                Box::new(decoder)
            }
            Coding::Gzip => {
                Box::new(flate2::bufread::MultiGzDecoder::new(io::BufReader::with_capacity(128 << 10, bytes)))
            }
            Coding::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(bytes)),
        })
    }
}

/// Keeps what is read.
struct Keeping<'a, R> {
    reader: R,
    kept: &'a mut Vec<u8>,
}

impl<R: Read> Read for Keeping<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        self.kept.extend_from_slice(&buffer[..length]);
        Ok(length)
    }
}

impl Dump {
    /// Opens a dump and tells its kind and its compression by its first bytes. `read` counts the bytes that are read of it.
    ///
    /// # Errors
    ///
    /// The file cannot be opened or read.
    pub fn open(source: &Source, read: Arc<AtomicU64>, how: How) -> io::Result<Dump> {
        let mut download = None;
        if source.path().is_none() && source.file_name().is_some_and(|name| is_polyglot_name(name.as_ref())) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, NO_STREAM));
        }
        let (reader, size): (Box<dyn Read + Send>, _) = match source {
            Source::Stdin => (Box::new(io::stdin()), None),
            Source::Url(url) | Source::Listed { url, .. } => {
                let remote = Remote::open(url, source.checksum(), how.patience)?;
                download = Some(remote.told());
                let size = remote.size();
                (Box::new(remote), size)
            }
            Source::File(path) => {
                let file = File::open(path)?;
                let metadata = file.metadata()?;
                if metadata.is_file()
                    && let Some(book) = BookFile::of(path)?
                {
                    let content = Content::Book(book);
                    return Ok(Dump { content, window: 0, size: Some(metadata.len()), is_games: true, download });
                }
                #[cfg(feature = "parquet")]
                if metadata.is_file() && is_parquet(&file)? {
                    let table = parquet::Table::open(file, read)?;
                    let window = table.memory();
                    let content = Content::Rows(Box::new(table));
                    return Ok(Dump { content, window, size: Some(metadata.len()), is_games: false, download });
                }
                (Box::new(file), metadata.is_file().then_some(metadata.len()))
            }
        };
        Ok(Dump { download, ..Dump::sniff(Counted { reader, read }, size, how.decoders)? })
    }

    fn sniff(mut reader: impl Read + Send + 'static, size: Option<u64>, decoders: usize) -> io::Result<Dump> {
        let mut head = Vec::with_capacity(HEAD);
        reader.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        if head.starts_with(MAGIC_PARQUET) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, NOT_HERE));
        }
        if head.starts_with(b"SQLite f") {
            return Err(io::Error::new(io::ErrorKind::Unsupported, NO_STREAM));
        }
        let is_zstd = matches!(head[..], [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
        let (coding, window) = match head[..] {
            _ if decoders > 0 && frames::is_pzstd(&head) => (Coding::Pzstd { decoders }, frames::memory(decoders)),
            _ if is_zstd => (Coding::Zstd, zstd_window(&head)),
            [0x1f, 0x8b, ..] => (Coding::Gzip, 0),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => (Coding::Bzip2, 0),
            _ => (Coding::None, 0),
        };
        let (mut beginning, first) = (Vec::new(), head.clone());
        let rest = Keeping { reader: &mut reader, kept: &mut head };
        coding.stream(io::Cursor::new(first).chain(rest))?.take(LOOK).read_to_end(&mut beginning)?;
        let text = Compressed { bytes: Box::new(io::Cursor::new(head).chain(reader)), coding };
        Ok(Dump { content: Content::Lines(text), window, size, is_games: is_pgn(&beginning), download: None })
    }

    /// The book of an engine that it is, if it is one.
    pub fn book(&self) -> Option<&BookFile> {
        match &self.content {
            Content::Book(book) => Some(book),
            _ => None,
        }
    }

    /// The dump's text, decompressed.
    ///
    /// # Errors
    ///
    /// It is in Parquet, or a book of an engine.
    pub fn text(self) -> io::Result<Box<dyn Read + Send>> {
        match self.content {
            Content::Lines(text) => text.decode(),
            #[cfg(feature = "parquet")]
            Content::Rows(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "expected text, found Parquet")),
            Content::Book(_) => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "expected games in PGN, found a book of an engine"))
            }
        }
    }

    /// What the dump holds.
    pub fn chunks(self) -> Box<dyn Iterator<Item = io::Result<Chunk>>> {
        match self.content {
            Content::Lines(text) => match text.decode() {
                Ok(reader) => Box::new(Chunks { reader, rest: Vec::new(), line: 1, is_over: false }),
                Err(error) => Box::new(core::iter::once(Err(error))),
            },
            #[cfg(feature = "parquet")]
            Content::Rows(table) => Box::new(table.chunks()),
            Content::Book(_) => Box::new(core::iter::once_with(|| {
                Err(io::Error::new(io::ErrorKind::InvalidData, "expected evaluations, found a book of an engine"))
            })),
        }
    }
}

/// Whether a text begins like PGN: with a tag, a comment, a move or its number.
fn is_pgn(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
    match text {
        [b'[', letter, ..] => letter.is_ascii_alphabetic(),
        [b';' | b'%', ..] => true,
        // That of JSON goes on with a name.
        [b'{', rest @ ..] => !matches!(rest.trim_ascii_start(), [] | [b'"' | b'}', ..]),
        [b'1', rest @ ..] => rest.trim_ascii_start().starts_with(b"."),
        _ => false,
    }
}

/// Whether a file begins like Parquet; it is back at its beginning afterwards.
#[cfg(feature = "parquet")]
fn is_parquet(mut file: &File) -> io::Result<bool> {
    let mut head = Vec::with_capacity(MAGIC_PARQUET.len());
    file.by_ref().take(MAGIC_PARQUET.len() as u64).read_to_end(&mut head)?;
    io::Seek::rewind(&mut file)?;
    Ok(head == MAGIC_PARQUET)
}

/// The window of the zstd frame that begins with `head`; a guess for a single-segment or skippable frame.
fn zstd_window(head: &[u8]) -> usize {
    const USUAL: usize = 8 << 20;
    match head {
        [0x28, 0xb5, 0x2f, 0xfd, descriptor, window, ..] if descriptor & 0x20 == 0 => {
            let base = 1usize << (10 + (window >> 3)).min(30);
            base + base / 8 * usize::from(window & 7)
        }
        _ => USUAL,
    }
}

struct Counted<R> {
    reader: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// Some lines of a dump.
#[derive(Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The number of its first line or row, from 1.
    pub line: u64,
    /// What it holds.
    pub text: Text,
}

impl Chunk {
    /// Bytes of its text; those of rows are few.
    pub fn bytes(&self) -> usize {
        match &self.text {
            Text::Lines(text) | Text::TooLong(text) => text.len(),
            Text::Rows(_) => 0,
        }
    }
}

/// What a chunk holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Text {
    /// Whole lines.
    Lines(Vec<u8>),
    /// The beginning of one line that is longer than [`MAX_LINE`].
    TooLong(Vec<u8>),
    /// Positions, the rows of each.
    Rows(Vec<Rows>),
}

/// The lines of a dump, some at a time. Memory is bounded by [`MAX_LINE`].
pub struct Chunks {
    reader: Box<dyn Read + Send>,
    /// The beginning of a line whose end has not been read yet.
    rest: Vec<u8>,
    line: u64,
    is_over: bool,
}

impl Chunks {
    fn next_chunk(&mut self) -> io::Result<Option<Chunk>> {
        loop {
            if self.is_over && self.rest.is_empty() {
                return Ok(None);
            }
            let searched = self.rest.len();
            if !self.is_over {
                self.is_over = self.fill()? == 0;
            }
            if self.is_over {
                return Ok(Some(self.cut(self.rest.len())));
            }
            if let Some(end) = self.rest[searched..].iter().rposition(|&byte| byte == b'\n') {
                return Ok(Some(self.cut(searched + end + 1)));
            }
            if self.rest.len() > MAX_LINE {
                return self.skip_line().map(Some);
            }
        }
    }

    fn fill(&mut self) -> io::Result<usize> {
        let missing = CHUNK - self.rest.len() % CHUNK;
        self.rest.reserve_exact(missing);
        self.reader.by_ref().take(missing as u64).read_to_end(&mut self.rest)
    }

    /// Cuts the first `end` bytes off.
    fn cut(&mut self, end: usize) -> Chunk {
        let rest = self.rest.split_off(end);
        let lines = core::mem::replace(&mut self.rest, rest);
        let line = self.line;
        self.line += lines.iter().filter(|&&byte| byte == b'\n').count() as u64;
        Chunk { line, text: Text::Lines(lines) }
    }

    /// Reads on to the end of a line that is too long and keeps only its beginning.
    fn skip_line(&mut self) -> io::Result<Chunk> {
        let mut start = core::mem::take(&mut self.rest);
        start.truncate(BEGINNING);
        start.shrink_to_fit();
        let chunk = Chunk { line: self.line, text: Text::TooLong(start) };
        self.line += 1;
        while self.fill()? > 0 {
            if let Some(end) = self.rest.iter().position(|&byte| byte == b'\n') {
                self.rest.drain(..=end);
                return Ok(chunk);
            }
            self.rest.clear();
        }
        self.is_over = true;
        Ok(chunk)
    }
}

impl Iterator for Chunks {
    type Item = io::Result<Chunk>;

    fn next(&mut self) -> Option<io::Result<Chunk>> {
        self.next_chunk().transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    /// The lines of a dump, numbered; a line that is too long as "...".
    fn lines(bytes: Vec<u8>) -> io::Result<Vec<(u64, String)>> {
        let mut lines = Vec::new();
        for chunk in Dump::sniff(Cursor::new(bytes), None, 2)?.chunks() {
            match chunk? {
                Chunk { line, text: Text::TooLong(_) } => lines.push((line, "...".to_owned())),
                Chunk { line, text: Text::Lines(text) } => {
                    let text = String::from_utf8(text).map_err(io::Error::other)?;
                    lines.extend((line..).zip(text.lines().map(str::to_owned)));
                }
                Chunk { text: Text::Rows(_), .. } => panic!("lines became rows"),
            }
        }
        Ok(lines)
    }

    fn numbered(lines: &[&str]) -> Vec<(u64, String)> {
        (1..).zip(lines.iter().map(|line| (*line).to_owned())).collect()
    }

    fn zstd(text: &str) -> io::Result<Vec<u8>> {
        zstd::encode_all(text.as_bytes(), 3)
    }

    fn gzip(text: &str) -> io::Result<Vec<u8>> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes())?;
        encoder.finish()
    }

    #[test]
    fn little_is_read_of_a_source_before_its_turn() -> io::Result<()> {
        let mut random = fastrand::Rng::with_seed(1);
        let mut file = Vec::new();
        for n in 0..40 {
            let text: String = (0..100_000).map(|_| random.alphanumeric()).collect();
            let frame = zstd(&format!("{n}\n{text}\n"))?;
            file.extend(b"\x50\x2a\x4d\x18\x04\0\0\0");
            file.extend((frame.len() as u32).to_le_bytes());
            file.extend(frame);
        }
        let read = Arc::new(AtomicU64::new(0));
        let reader = Counted { reader: Cursor::new(file.clone()), read: read.clone() };
        let dump = Dump::sniff(reader, None, 4)?;
        assert!(read.load(Ordering::Relaxed) < file.len() as u64 / 10, "{read:?} of {} bytes", file.len());
        let mut text = String::new();
        dump.text()?.read_to_string(&mut text)?;
        let numbers = text.lines().step_by(2).map(str::to_owned);
        assert!(numbers.eq((0..40).map(|n: u32| n.to_string())) && read.load(Ordering::Relaxed) == file.len() as u64);
        Ok(())
    }

    const SKIPPABLE: [u8; 11] = [0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, b'x', b'\n', b'z'];

    #[test]
    fn compression_is_told_by_content() -> io::Result<()> {
        let expected = numbered(&["one", "two", "", "four"]);
        let plain = b"one\ntwo\n\nfour".to_vec();
        assert_eq!(lines(plain)?, expected);
        assert_eq!(lines(zstd("one\ntwo\n\nfour")?)?, expected);
        assert_eq!(lines(gzip("one\ntwo\n\nfour\n")?)?, expected);
        assert_eq!(lines(Vec::new())?, []);
        Ok(())
    }

    #[test]
    fn frames_and_members_follow_each_other_and_skippable_ones_are_skipped() -> io::Result<()> {
        let expected = numbered(&["one", "two", "three"]);
        let two_members = [gzip("one\ntw")?, gzip("o\nthree\n")?].concat();
        assert_eq!(lines(two_members)?, expected);
        let (first, second) = (zstd("one\ntw")?, zstd("o\nthree\n")?);
        let nothing = Vec::new();
        let skip = SKIPPABLE.to_vec();
        for frames in [
            [&nothing, &first, &nothing, &second, &nothing],
            [&skip, &first, &skip, &second, &skip],
            [&skip, &first, &second, &skip, &skip],
        ] {
            assert_eq!(lines(frames.into_iter().flatten().copied().collect())?, expected);
        }
        Ok(())
    }

    #[test]
    fn a_truncated_source_is_an_error_wherever_it_ends() -> io::Result<()> {
        let text: String = (0..2000).map(|n| format!("line {}\n", n * n)).collect();
        for whole in [zstd(&text)?, gzip(&text)?] {
            for length in (5..whole.len()).step_by(97) {
                assert!(lines(whole[..length].to_vec()).is_err(), "{length} bytes of {}", whole.len());
            }
        }
        Ok(())
    }

    #[test]
    fn a_line_over_the_limit_is_passed_over_and_counted() -> io::Result<()> {
        for extra in [0, 1, CHUNK, 3 * CHUNK + 5] {
            let long = "x".repeat(MAX_LINE + extra);
            let found = lines(format!("one\n{long}\nthree\nfour").into_bytes())?;
            let texts: Vec<&str> = found.iter().map(|(_, line)| line.as_str()).collect();
            assert_eq!(found.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [1, 2, 3, 4]);
            assert_eq!([texts[0], texts[2], texts[3]], ["one", "three", "four"]);
            assert!(texts[1] == "..." || texts[1].len() == long.len());
            assert!(texts[1] == "..." || extra < CHUNK, "{extra}: more than a chunk over is not kept");
        }
        Ok(())
    }

    #[test]
    fn many_chunks_lose_nothing() -> io::Result<()> {
        let text: Vec<String> = (0..300_000).map(|n: u64| format!("{n} {}", "y".repeat((n % 40) as usize))).collect();
        let found = lines(text.join("\n").into_bytes())?;
        assert!(found.into_iter().eq((1..).zip(text)));
        Ok(())
    }
}
