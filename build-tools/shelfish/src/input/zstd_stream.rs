//! Streams of compressed bytes, and the error of an input that ends within them.

use std::fmt;
use std::io::{self, ErrorKind, Read};

/// The largest window of a zstd frame that is accepted, as a power of two: the default of `zstd -d`.
pub const MAX_WINDOW_LOG: u32 = 27;

/// Returns a reader of a text in zstd whose window has at most `2^window_log` bytes.
pub(super) fn zstd_stream<'a>(
    bytes: impl Read + Send + 'a,
    window_log: u32,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut decoder = zstd::Decoder::new(bytes)?;
    decoder.window_log_max(window_log)?;
    Ok(Box::new(Decompressed(decoder)))
}

/// An error of an input that ends within compressed data.
#[derive(Debug)]
pub enum CutOff {
    /// The decoder needs more bytes.
    Decoder(io::Error),
    /// The mark at the end of a Parquet file is missing.
    Parquet,
}

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CutOff::Decoder(error) => write!(f, "the file is cut off ({error}): download it again"),
            CutOff::Parquet => {
                f.write_str("the file is cut off (Parquet without its end): download it again")
            }
        }
    }
}

impl std::error::Error for CutOff {}

impl From<CutOff> for io::Error {
    fn from(error: CutOff) -> io::Error {
        io::Error::new(ErrorKind::UnexpectedEof, error)
    }
}

/// A decoder whose errors at the end of the input are [`CutOff`].
pub(super) struct Decompressed<R>(pub R);

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => CutOff::Decoder(error).into(),
            _ => error,
        })
    }
}
