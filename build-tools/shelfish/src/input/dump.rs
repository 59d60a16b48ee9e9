//! An opened dump. Its content decides its kind and its compression.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::compression::{CompressedText, Compression, MEMORY, max_window_log};
use super::lines::{Chunk, Chunks};
#[cfg(feature = "parquet")]
use super::parquet;
use super::remote::{Download, LIST, Remote};
use super::rows::PARQUET_MARK;
use super::{Input, InputError};

/// Bytes of a file that decide its compression and the window of zstd.
const HEAD: usize = 8;

/// Bytes of a text that decide whether it contains games.
const SNIFFED: usize = 4 << 10;

/// The error for Parquet that is not in a file.
const PARQUET_FROM_FILES_ONLY: &str = if cfg!(feature = "parquet") {
    "Parquet has its index at the end, so it cannot be read from a pipe or a host: save it as a file and name that"
} else {
    "this shelfish was built without Parquet: build it with the feature `parquet`"
};

/// First bytes of files that are not read, the place of these bytes, and how to convert the files.
const FOREIGN: [(&[u8], usize, &str); 7] = [
    (b"\xfd7zXZ\0", 0, "xz; convert it with `xz -d`"),
    (b"PK\x03\x04", 0, "a zip archive; unpack it with `unzip`"),
    (
        b"7z\xbc\xaf\x27\x1c",
        0,
        "a 7z archive; unpack it with `7z x`",
    ),
    (
        b"Rar!\x1a\x07",
        0,
        "a rar archive; unpack it with `unrar x`",
    ),
    (b"\x04\x22\x4d\x18", 0, "lz4; convert it with `lz4 -d`"),
    (b"\x1f\x9d", 0, "compress (.Z); convert it with `gzip -d`"),
    (b"ustar", 257, "a tar archive; unpack it with `tar -xf`"),
];

/// Returns an error for files that are not read.
fn check_format(beginning: &[u8]) -> io::Result<()> {
    let is_of = |(mark, at, _): &&(&[u8], usize, &str)| {
        beginning
            .get(*at..)
            .is_some_and(|rest| rest.starts_with(mark))
    };
    match FOREIGN.iter().find(is_of) {
        None => Ok(()),
        Some((.., what)) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("expected a plain text, zstd, gzip, bzip2 or Parquet, found {what}"),
        )),
    }
}

/// The first bytes of a SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Returns whether a file is a learning book or another file of SQLite.
pub fn is_sqlite(path: &Path) -> io::Result<bool> {
    Ok(head_of(File::open(path)?, SQLITE.len())? == SQLITE)
}

/// Returns the first bytes of a file.
fn head_of(file: impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(length);
    file.take(length as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// An opened dump.
pub struct Dump {
    content: Content,
    /// Memory of decompression, in bytes.
    pub window: usize,
    /// Size of the compressed file in bytes; `None` for pipes.
    pub size: Option<u64>,
    /// The content, if its beginning shows it.
    kind: Option<DumpKind>,
    /// State of the download, if the dump is on a host.
    download: Option<Arc<Mutex<Download>>>,
}

/// The opened dumps of a build.
pub struct Dumps {
    /// The dumps, in the order of the inputs.
    pub dumps: Vec<Dump>,
    /// Number of bytes read of all dumps.
    pub read: Arc<AtomicU64>,
}

/// The content of dumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpKind {
    /// Evaluations of positions.
    Evaluations,
    /// Games in PGN.
    Games,
}

impl Dumps {
    /// Opens all inputs. Each may take a quarter of `memory` for decompression.
    pub fn open(inputs: &[Input], memory: usize) -> Result<Dumps, InputError> {
        let read = Arc::new(AtomicU64::new(0));
        let open = |input: &Input| {
            Dump::open(input, read.clone(), memory).map_err(InputError::read(input))
        };
        Ok(Dumps {
            dumps: inputs.iter().map(open).collect::<Result<_, _>>()?,
            read,
        })
    }

    /// Returns the states of the downloads, which change until the dumps are read.
    pub fn downloads(&self) -> Vec<Arc<Mutex<Download>>> {
        let downloads = self.dumps.iter().map(|dump| dump.download.clone());
        downloads.flatten().collect()
    }

    /// Checks that all dumps are of a kind.
    pub fn expect(&self, inputs: &[Input], kind: DumpKind) -> Result<(), InputError> {
        for (input, dump) in inputs.iter().zip(&self.dumps) {
            let what = match (dump.kind(input), kind) {
                (Some(DumpKind::Games), DumpKind::Evaluations) => {
                    " contains games, expected evaluations: `shelfish book build` builds a database of games"
                }
                (Some(DumpKind::Evaluations), DumpKind::Games) => {
                    " contains evaluations, expected games: `shelfish build` builds a database of evaluations"
                }
                (None, DumpKind::Games) => {
                    ": neither games in PGN nor a Lichess dump of evaluations"
                }
                // Lines that are not evaluations are rejected, each with its reason.
                (None, DumpKind::Evaluations) | (Some(_), _) => continue,
            };
            return Err(InputError(format!("{input}{what}")));
        }
        Ok(())
    }
}

enum Content {
    Text(CompressedText<Box<dyn Read + Send>>),
    #[cfg(feature = "parquet")]
    Rows(Box<parquet::Table>),
}

/// A reader that keeps the bytes read.
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
    /// Opens a dump, with `memory` as for [`Dumps::open`]. `read` counts the bytes that are read of it.
    pub fn open(input: &Input, read: Arc<AtomicU64>, memory: usize) -> io::Result<Dump> {
        let mut download = None;
        let (reader, size): (Box<dyn Read + Send>, _) = match input {
            Input::Stdin => (Box::new(io::stdin()), None),
            Input::Url(url) => {
                let remote = Remote::open(url)?;
                download = Some(remote.download());
                let size = remote.size();
                (Box::new(remote), size)
            }
            Input::File(path) => {
                let file = File::open(path)?;
                let metadata = file.metadata()?;
                #[cfg(feature = "parquet")]
                if metadata.is_file() && head_of(File::open(path)?, 4)? == PARQUET_MARK {
                    let table = Box::new(parquet::Table::open(file, read, memory)?);
                    let window = table.memory();
                    return Ok(Dump {
                        content: Content::Rows(table),
                        window,
                        size: Some(metadata.len()),
                        kind: Some(DumpKind::Evaluations),
                        download: None,
                    });
                }
                (Box::new(file), metadata.is_file().then_some(metadata.len()))
            }
        };
        let dump = Dump {
            download,
            ..Dump::sniff(Counted { reader, read }, size, max_window_log(memory))?
        };
        let is_endless = |download: &Arc<Mutex<Download>>| {
            download.lock().is_ok_and(|download| download.endless)
        };
        if dump.download.as_ref().is_some_and(is_endless) {
            // A compressed frame has its own end.
            if matches!(&dump.content, Content::Text(text) if matches!(text.compression, Compression::None))
            {
                return Err(io::Error::other(format!(
                    "the host sends neither its length, nor chunks, nor a checksum, so a missing end would not be noticed: \
                     download it with another program and compare its size, or publish {LIST} next to it"
                )));
            }
            let what =
                "the host sends no length, so that missing frames at the end are not noticed";
            let _ = writeln!(io::stderr(), "shelfish: WARNING: {input}: {what}");
        }
        Ok(dump)
    }

    fn sniff(
        mut reader: impl Read + Send + 'static,
        size: Option<u64>,
        max_window_log: u32,
    ) -> io::Result<Dump> {
        let mut head = head_of(&mut reader, HEAD)?;
        if head.starts_with(PARQUET_MARK) {
            let kind = io::ErrorKind::Unsupported;
            return Err(io::Error::new(kind, PARQUET_FROM_FILES_ONLY));
        }
        let (compression, first) = (Compression::of(&head), head.clone());
        let rest = Keeping {
            reader: &mut reader,
            kept: &mut head,
        };
        let beginning = CompressedText {
            bytes: io::Cursor::new(first).chain(rest),
            compression,
            max_window_log,
        };
        let beginning = head_of(beginning.decode()?, SNIFFED)?;
        check_format(&beginning)?;
        let text = CompressedText {
            bytes: Box::new(io::Cursor::new(head).chain(reader)) as Box<dyn Read + Send>,
            compression,
            max_window_log,
        };
        Ok(Dump {
            content: Content::Text(text),
            window: compression.memory(),
            size,
            kind: kind_of(&beginning),
            download: None,
        })
    }

    /// Returns the kind of the content. `.pgn` in the name of the input decides before the content does.
    fn kind(&self, input: &Input) -> Option<DumpKind> {
        let is_named = input.file_name().is_some_and(|name| {
            let name = name.to_ascii_lowercase();
            name.ends_with(".pgn") || name.contains(".pgn.")
        });
        if is_named {
            Some(DumpKind::Games)
        } else {
            self.kind
        }
    }

    /// Returns the decompressed text of an input, without a count of the bytes that are read.
    pub fn text_of(input: &Input) -> io::Result<Box<dyn Read + Send>> {
        Dump::open(input, Arc::default(), MEMORY)?.text()
    }

    /// Returns the decompressed text.
    pub fn text(self) -> io::Result<Box<dyn Read + Send>> {
        match self.content {
            Content::Text(text) => text.decode(),
            #[cfg(feature = "parquet")]
            Content::Rows(_) => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "expected text, found Parquet",
            )),
        }
    }

    /// Returns the evaluations, in chunks.
    pub fn chunks(self) -> Box<dyn Iterator<Item = io::Result<Chunk>>> {
        match self.content {
            Content::Text(text) => match text.decode() {
                Ok(reader) => Box::new(Chunks::new(reader)),
                Err(error) => Box::new(core::iter::once(Err(error))),
            },
            #[cfg(feature = "parquet")]
            Content::Rows(table) => Box::new(table.chunks()),
        }
    }
}

/// Returns the content of a text that begins like PGN, with a tag, a comment, a move or a move number, or like JSON.
fn kind_of(text: &[u8]) -> Option<DumpKind> {
    let text = text
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(text)
        .trim_ascii_start();
    let is_pgn = match text {
        [b'[', letter, ..] => letter.is_ascii_alphabetic(),
        [b';' | b'%', ..] => true,
        // In JSON, a name or the end follows the brace.
        [b'{', rest @ ..] => !matches!(rest.trim_ascii_start(), [] | [b'"' | b'}', ..]),
        [b'1', rest @ ..] => rest.trim_ascii_start().starts_with(b"."),
        _ => false,
    };
    match text {
        _ if is_pgn => Some(DumpKind::Games),
        [b'{', ..] => Some(DumpKind::Evaluations),
        _ => None,
    }
}

/// A reader that counts the bytes read.
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

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::lines::{CHUNK, MAX_LINE, Text};
    use super::*;

    /// Returns the lines of a dump with their numbers; a too long line is "...".
    fn lines(bytes: Vec<u8>) -> io::Result<Vec<(u64, String)>> {
        let mut lines = Vec::new();
        for chunk in Dump::sniff(Cursor::new(bytes), None, max_window_log(MEMORY))?.chunks() {
            let Chunk { line, text } = chunk?;
            match text {
                Text::TooLong(_) => lines.push((line, "...".to_owned())),
                Text::Lines(text) => {
                    let text = String::from_utf8(text).map_err(io::Error::other)?;
                    lines.extend((line..).zip(text.lines().map(str::to_owned)));
                }
                Text::Rows(_) => panic!("lines became rows"),
            }
        }
        Ok(lines)
    }

    fn numbered(lines: &[&str]) -> Vec<(u64, String)> {
        (1..)
            .zip(lines.iter().map(|line| (*line).to_owned()))
            .collect()
    }

    fn zstd(text: &str) -> io::Result<Vec<u8>> {
        zstd::encode_all(text.as_bytes(), 3)
    }

    fn gzip(text: &str) -> io::Result<Vec<u8>> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes())?;
        encoder.finish()
    }

    const SKIPPABLE: [u8; 11] = [0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, b'x', b'\n', b'z'];

    #[test]
    fn compression_is_recognised_by_content() -> io::Result<()> {
        let expected = numbered(&["one", "two", "", "four"]);
        let plain = b"one\ntwo\n\nfour".to_vec();
        assert_eq!(lines(plain)?, expected);
        assert_eq!(lines(zstd("one\ntwo\n\nfour")?)?, expected);
        assert_eq!(lines(gzip("one\ntwo\n\nfour\n")?)?, expected);
        assert_eq!(lines(Vec::new())?, []);
        Ok(())
    }

    #[test]
    fn concatenated_frames_and_members_are_decoded_and_skippable_frames_are_skipped()
    -> io::Result<()> {
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
            assert_eq!(
                lines(frames.into_iter().flatten().copied().collect())?,
                expected
            );
        }
        Ok(())
    }

    #[test]
    fn a_dump_truncated_at_any_place_is_an_error() -> io::Result<()> {
        let text: String = (0..2000).map(|n| format!("line {}\n", n * n)).collect();
        for whole in [zstd(&text)?, gzip(&text)?] {
            for length in (5..whole.len()).step_by(97) {
                assert!(
                    lines(whole[..length].to_vec()).is_err(),
                    "{length} bytes of {}",
                    whole.len()
                );
            }
        }
        Ok(())
    }

    #[test]
    fn a_too_long_line_is_skipped_and_counted() -> io::Result<()> {
        for extra in [0, 1, CHUNK, 3 * CHUNK + 5] {
            let long = "x".repeat(MAX_LINE + extra);
            let found = lines(format!("one\n{long}\nthree\nfour").into_bytes())?;
            let texts: Vec<&str> = found.iter().map(|(_, line)| line.as_str()).collect();
            assert_eq!(
                found.iter().map(|(n, _)| *n).collect::<Vec<_>>(),
                [1, 2, 3, 4]
            );
            assert_eq!([texts[0], texts[2], texts[3]], ["one", "three", "four"]);
            assert!(texts[1] == "..." || texts[1].len() == long.len());
            assert!(
                texts[1] == "..." || extra < CHUNK,
                "{extra}: more than a chunk over is not kept"
            );
        }
        Ok(())
    }
}
