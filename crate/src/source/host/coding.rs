//! Compressed responses that contain whole files.
//!
//! The HTTP client could decode them, but it removes the header `Content-Encoding` and has no size limit.

use core::fmt;
use std::io::{self, Read};

use flate2::{Decompress, FlushDecompress, Status};

use crate::quoted::Quoted;

/// The codings that are decoded, as a request says it.
pub const ACCEPTED: &str = "gzip, deflate, br, zstd";

/// No browser decodes zstd with a larger window either (RFC 9659): 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;

/// The compression of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// `gzip`, or `x-gzip`.
    Gzip,
    /// `deflate`: a zlib stream.
    Deflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
}

/// Reasons why a body cannot be decoded.
#[derive(Debug)]
pub enum CodingError {
    /// The host compresses in a way that was not asked for.
    Unknown(String),
    /// The body is no such stream, or ends early.
    Damaged {
        /// The expected compression.
        coding: Coding,
        /// The message of the decoder.
        why: io::Error,
    },
}

impl fmt::Display for CodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodingError::Unknown(found) => {
                write!(
                    f,
                    "the host compresses it (Content-Encoding {}), expected none or one of {ACCEPTED}",
                    Quoted(found)
                )
            }
            CodingError::Damaged { coding, why } => {
                write!(f, "the host compresses it as {coding}, damaged: {why}")
            }
        }
    }
}

impl core::error::Error for CodingError {}

impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        })
    }
}

impl Coding {
    /// Parses a `Content-Encoding` header; `None` if the body is not compressed.
    ///
    /// # Errors
    ///
    /// Returns an error for an unknown coding, or for several codings.
    pub fn parse(header: &str) -> Result<Option<Coding>, CodingError> {
        let is_some =
            |coding: &&str| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity");
        let mut codings = header.split(',').map(str::trim).filter(is_some);
        let Some(first) = codings.next() else {
            return Ok(None);
        };
        let known = [
            ("gzip", Coding::Gzip),
            ("x-gzip", Coding::Gzip),
            ("deflate", Coding::Deflate),
            ("br", Coding::Brotli),
            ("zstd", Coding::Zstd),
        ];
        let known = known
            .into_iter()
            .find(|(name, _)| first.eq_ignore_ascii_case(name));
        match (known, codings.next()) {
            (Some((_, coding)), None) => Ok(Some(coding)),
            _ => Err(CodingError::Unknown(header.trim().to_owned())),
        }
    }

    /// Decodes a body. If the result is longer than `cap`, returns enough of it to show that.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream is invalid or ends early.
    pub fn decode(self, body: &[u8], cap: u64) -> Result<Vec<u8>, CodingError> {
        let most = cap.saturating_add(1);
        let mut bytes = Vec::new();
        let decoded = match self {
            Coding::Gzip => flate2::read::MultiGzDecoder::new(body)
                .take(most)
                .read_to_end(&mut bytes)
                .map(drop),
            Coding::Deflate => inflate(body, most, &mut bytes),
            Coding::Brotli => brotli_decompressor::Decompressor::new(body, 1 << 12)
                .take(most)
                .read_to_end(&mut bytes)
                .map(drop),
            Coding::Zstd => zstd::Decoder::with_buffer(body).and_then(|mut decoder| {
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                decoder.take(most).read_to_end(&mut bytes).map(drop)
            }),
        };
        decoded
            .map(|()| bytes)
            .map_err(|why| CodingError::Damaged { coding: self, why })
    }
}

/// Decodes a zlib stream up to `most` bytes. The reader of flate2 would accept a truncated stream.
fn inflate(mut body: &[u8], most: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut decoder = Decompress::new(true);
    let mut piece = vec![0; 1 << 14];
    while (bytes.len() as u64) < most {
        let (taken, given) = (decoder.total_in(), decoder.total_out());
        let status = decoder.decompress(body, &mut piece, FlushDecompress::None)?;
        let (taken, given) = (
            (decoder.total_in() - taken) as usize,
            (decoder.total_out() - given) as usize,
        );
        bytes.extend_from_slice(&piece[..given]);
        body = &body[taken..];
        if status == Status::StreamEnd {
            break;
        }
        if taken == 0 && given == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    /// Returns `text` in each coding, by the name of the coding.
    pub fn coded(text: &[u8]) -> io::Result<[(&'static str, Vec<u8>); 5]> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text)?;
        let gzip = gzip.finish()?;
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(text)?;
        let zlib = zlib.finish()?;
        Ok([
            ("gzip", gzip.clone()),
            ("X-Gzip", gzip),
            ("Deflate", zlib),
            ("BR", brotli(text)),
            ("zstd", zstd::encode_all(text, 3)?),
        ])
    }

    /// Encodes Brotli without compression: meta-blocks of at most 64 KiB with their lengths, and an empty last
    /// meta-block.
    fn brotli(text: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (n, piece) in text.chunks(1 << 16).enumerate() {
            // The first byte begins with a bit for a window of 64 KiB.
            let header = (1 << 19 | (piece.len() as u32 - 1) << 3) << u32::from(n == 0);
            bytes.extend_from_slice(&header.to_le_bytes()[..3]);
            bytes.extend_from_slice(piece);
        }
        bytes.push(3);
        bytes
    }

    fn text() -> Vec<u8> {
        (0..100_000u32)
            .flat_map(|n| n.wrapping_mul(n).to_le_bytes())
            .collect()
    }

    #[test]
    fn every_accepted_coding_is_decoded_regardless_of_case()
    -> Result<(), Box<dyn std::error::Error>> {
        let text = text();
        for (name, body) in coded(&text)? {
            let coding = Coding::parse(name)?.ok_or(name)?;
            assert!(ACCEPTED.contains(&coding.to_string()), "{name}");
            assert!(coding.decode(&body, text.len() as u64)? == text, "{name}");
        }
        for none in ["", " ", "identity", "Identity", "identity, "] {
            assert_eq!(Coding::parse(none)?, None);
        }
        Ok(())
    }

    #[test]
    fn errors_of_unknown_codings_contain_the_name() {
        for unknown in ["compress", "gzip, br", "gzipped", "aws-chunked"] {
            let error = Coding::parse(unknown).map_err(|error| error.to_string());
            assert!(
                error.as_ref().is_err_and(|error| error.contains(unknown)),
                "{error:?}"
            );
        }
    }

    #[test]
    fn decoding_stops_after_the_length_limit() -> Result<(), Box<dyn std::error::Error>> {
        for (name, body) in coded(&vec![0; 64 << 20])? {
            let coding = Coding::parse(name)?.ok_or(name)?;
            let decoded = coding.decode(&body, 1000)?;
            assert!(
                decoded.len() == 1001 && decoded.capacity() < 1 << 16,
                "{name}: {}",
                decoded.capacity()
            );
        }
        Ok(())
    }

    #[test]
    fn the_error_of_a_damaged_or_truncated_stream_contains_the_coding()
    -> Result<(), Box<dyn std::error::Error>> {
        let text = text();
        for (name, body) in coded(&text)? {
            let coding = Coding::parse(name)?.ok_or(name)?;
            for bad in [
                &body[..0],
                &body[..1],
                &body[..body.len() / 2],
                &body[..body.len() - 1],
                b"rubbish \xff\xff",
            ] {
                let error = coding
                    .decode(bad, 1 << 20)
                    .map_err(|error| error.to_string());
                let error = error
                    .err()
                    .ok_or_else(|| format!("{name} of {} bytes", bad.len()))?;
                assert!(error.contains(&coding.to_string()), "{error}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_window_larger_than_in_browsers_is_an_error() -> Result<(), Box<dyn std::error::Error>> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1)?;
        encoder.window_log(27)?;
        encoder.write_all(b"x")?;
        assert!(Coding::Zstd.decode(&encoder.finish()?, 1000).is_err());
        Ok(())
    }
}
