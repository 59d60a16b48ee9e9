//! Compressed texts, recognised by their first bytes.

use std::fmt::Display;
use std::io::{self, BufReader, ErrorKind, Read};

/// Memory of a command without an option for it.
pub const MEMORY: usize = 1 << 30;

/// The largest window of a zstd frame that is accepted, as a power of two: the default of `zstd -d`.
const MAX_WINDOW_LOG: u32 = 27;

/// Returns the largest window of a zstd frame that is accepted with `memory` bytes of memory for all, as a power of two: at
/// most a quarter of the memory.
pub(super) fn max_window_log(memory: usize) -> u32 {
    let log = (memory / 4).checked_ilog2().unwrap_or(0);
    log.clamp(10, MAX_WINDOW_LOG)
}

/// Returns the error of an input that ends within its data.
pub(super) fn cut_off(why: impl Display) -> io::Error {
    let what = format!("the file is cut off ({why}): download it again");
    io::Error::new(ErrorKind::UnexpectedEof, what)
}

/// A decoder whose errors at the end of the input are those of [`cut_off`].
struct Decompressed<R>(R);

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => cut_off(error),
            _ => error,
        })
    }
}

/// Compression of a text.
#[derive(Clone, Copy)]
pub(super) enum Compression {
    /// No compression.
    None,
    /// zstd, with the window of the first frame in bytes.
    Zstd(usize),
    /// gzip.
    Gzip,
    /// bzip2.
    Bzip2,
}

impl Compression {
    /// Recognises the compression of a file by its first bytes.
    pub fn of(head: &[u8]) -> Compression {
        match head {
            [0x28, 0xb5, 0x2f, 0xfd, descriptor, window, ..] if descriptor & 0x20 == 0 => {
                let base = 1usize << (10 + (window >> 3)).min(30);
                Compression::Zstd(base + base / 8 * usize::from(window & 7))
            }
            // The window of a single-segment or skippable frame is guessed.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Compression::Zstd(8 << 20)
            }
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => Compression::Bzip2,
            _ => Compression::None,
        }
    }

    /// Returns the memory that decompression takes.
    pub fn memory(self) -> usize {
        match self {
            Compression::Zstd(window) => window,
            _ => 0,
        }
    }
}

/// A compressed text whose decoder, which takes memory, is created when it is read.
pub(super) struct CompressedText<R> {
    /// The bytes of the file.
    pub bytes: R,
    /// Compression of the text.
    pub compression: Compression,
    /// Largest window of a zstd frame, as a power of two.
    pub max_window_log: u32,
}

impl<'a, R: Read + Send + 'a> CompressedText<R> {
    /// Returns a reader of the text.
    pub fn decode(self) -> io::Result<Box<dyn Read + Send + 'a>> {
        let max = 1 << self.max_window_log;
        Ok(match self.compression {
            Compression::None => Box::new(self.bytes),
            Compression::Zstd(window) if window > max => {
                let remedy = match self.max_window_log {
                    MAX_WINDOW_LOG => "decompress it with `zstd -d --long=31` first",
                    _ => "use four times as much --max-memory, or decompress it first",
                };
                let what = format!(
                    "its zstd frames need {window} bytes of memory, expected at most {max}: {remedy}"
                );
                return Err(io::Error::new(ErrorKind::InvalidData, what));
            }
            Compression::Zstd(_) => {
                let mut decoder = zstd::Decoder::new(self.bytes)?;
                decoder.window_log_max(self.max_window_log)?;
                Box::new(Decompressed(decoder))
            }
            Compression::Gzip => {
                let bytes = BufReader::with_capacity(128 << 10, self.bytes);
                Box::new(Decompressed(flate2::bufread::MultiGzDecoder::new(bytes)))
            }
            Compression::Bzip2 => {
                Box::new(Decompressed(bzip2::read::MultiBzDecoder::new(self.bytes)))
            }
        })
    }
}
