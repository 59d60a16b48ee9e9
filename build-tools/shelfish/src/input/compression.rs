//! Compressed texts, recognised by their first bytes.

use std::fmt;
use std::io::{self, Read};

use super::frames;
use super::zstd_stream::{Decompressed, MAX_WINDOW_LOG, zstd_stream};

/// Returns the largest window of a zstd frame that is accepted with `memory` bytes of memory for all, as a power of two: at
/// most a quarter of the memory.
pub fn max_window_log(memory: usize) -> u32 {
    (memory / 4)
        .checked_ilog2()
        .unwrap_or(0)
        .clamp(10, MAX_WINDOW_LOG)
}

/// Error of a zstd frame whose window exceeds the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WindowError {
    /// Size of the window in bytes.
    window: usize,
    /// Maximum size of a window in bytes.
    max: usize,
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WindowError { window, max } = self;
        write!(
            f,
            "its zstd frames need {window} bytes of memory, expected at most {max}: "
        )?;
        match max.ilog2() {
            MAX_WINDOW_LOG => f.write_str("decompress it with `zstd -d --long=31` first"),
            _ => f.write_str("use four times as much --max-memory, or decompress it first"),
        }
    }
}

impl std::error::Error for WindowError {}

/// Compression of a text.
#[derive(Clone, Copy)]
pub(super) enum Compression {
    /// No compression.
    None,
    /// zstd, decoded as a stream.
    Zstd,
    /// zstd as `pzstd` writes it, decoded by several threads.
    Pzstd {
        /// The number of threads.
        decoders: usize,
    },
    /// gzip.
    Gzip,
    /// bzip2.
    Bzip2,
}

impl Compression {
    /// Recognises the compression of a file by its first bytes, and returns the memory that decompression takes.
    pub fn of(head: &[u8], decoders: usize) -> (Compression, usize) {
        let is_zstd = matches!(
            head,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]
        );
        match head {
            _ if decoders > 0 && frames::is_pzstd(head) => {
                (Compression::Pzstd { decoders }, frames::memory(decoders))
            }
            _ if is_zstd => (Compression::Zstd, zstd_window(head)),
            [0x1f, 0x8b, ..] => (Compression::Gzip, 0),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => (Compression::Bzip2, 0),
            _ => (Compression::None, 0),
        }
    }

    /// Checks the window of the first frame of a file.
    pub fn check_window(self, window: usize, max_window_log: u32) -> io::Result<()> {
        let max = 1 << max_window_log;
        match self {
            Compression::Zstd if window > max => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                WindowError { window, max },
            )),
            _ => Ok(()),
        }
    }

    /// Returns a reader that decompresses on this thread. For [`Compression::Pzstd`], only the beginning can be read.
    pub fn stream<'a>(
        self,
        bytes: impl Read + Send + 'a,
        max_window_log: u32,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Compression::None => Box::new(bytes),
            Compression::Zstd | Compression::Pzstd { .. } => {
                // Frames for several threads are decoded in memory, without a window; here only the beginning is read.
                let is_beginning = matches!(self, Compression::Pzstd { .. });
                zstd_stream(bytes, if is_beginning { 30 } else { max_window_log })?
            }
            Compression::Gzip => {
                let bytes = io::BufReader::with_capacity(128 << 10, bytes);
                Box::new(Decompressed(flate2::bufread::MultiGzDecoder::new(bytes)))
            }
            Compression::Bzip2 => Box::new(Decompressed(bzip2::read::MultiBzDecoder::new(bytes))),
        })
    }
}

/// A compressed text whose decoder, which takes memory, is created when it is read.
pub(super) struct CompressedText {
    /// The bytes of the file.
    pub bytes: Box<dyn Read + Send>,
    /// Compression of the text.
    pub compression: Compression,
    /// Largest window of a zstd frame, as a power of two.
    pub max_window_log: u32,
}

impl CompressedText {
    /// Returns a reader of the text.
    pub fn decode(self) -> io::Result<Box<dyn Read + Send>> {
        match self.compression {
            Compression::Pzstd { decoders } => Ok(Box::new(frames::Text::new(
                self.bytes,
                decoders,
                self.max_window_log,
            ))),
            compression => compression.stream(self.bytes, self.max_window_log),
        }
    }
}

/// Returns the window of the zstd frame that begins with `head`. Guesses for a single-segment or skippable frame.
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
