//! Streams of compressed bytes, and the error of an input that ends within them.

use std::fmt;
use std::io::{self, ErrorKind, Read};

/// The largest window of a zstd frame that is accepted, as a power of two: the default of `zstd -d`.
pub const MAX_WINDOW_LOG: u32 = 27;

/// Returns a reader of a text in zstd whose window has at most `2^window_log` bytes.
pub(super) fn zstd_stream<'a>(bytes: impl Read + Send + 'a, window_log: u32) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut decoder = zstd::Decoder::new(bytes)?;
    decoder.window_log_max(window_log)?;
    Ok(Box::new(Decompressed(decoder)))
}

/// An error of an input that ends within compressed data.
#[derive(Debug)]
pub struct CutOff {
    /// Error of the decoder, or description of the missing part.
    pub why: String,
}

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the file is cut off ({}): download it again", self.why)
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
            ErrorKind::UnexpectedEof => CutOff { why: error.to_string() }.into(),
            _ => error,
        })
    }
}
