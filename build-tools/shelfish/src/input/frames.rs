//! Parallel decompression of files that `pzstd` wrote.
//!
//! Such a file is a sequence of independent zstd frames. Before each frame, a skippable frame of twelve bytes contains
//! its compressed length. Other files, and frames that exceed the limits, are decompressed as a stream.

use std::io::{self, Cursor, Read};

use super::zstd_stream::zstd_stream;
use crate::system::ordered::{Ordered, ordered};

/// Minimum number of threads. Decompression takes an eightieth of the time for the text.
const MIN_THREADS: usize = 4;
/// Maximum compressed size of a frame in bytes. Frames of Lichess have about 5 MB.
const MAX_COMPRESSED: usize = 8 << 20;
/// Maximum decompressed size of a frame in bytes, which is the default of `pzstd`.
const MAX_TEXT: usize = 32 << 20;
/// Largest window of a frame that is decompressed as a stream, as a power of two. Each thread has memory for two frames.
const MAX_FRAME_WINDOW_LOG: u32 = 26;
/// Memory for a frame in bytes.
const FRAME: usize = MAX_COMPRESSED + MAX_TEXT;

/// Length of the skippable frame in bytes.
const HEADER: usize = 12;
/// Start of the skippable frame: its magic number and its content size of four bytes.
const MARK: [u8; 8] = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0];

/// Returns the number of threads that decompress, or 0 if a stream is as fast or memory is short.
pub fn decoders(threads: usize, memory: usize) -> usize {
    let room = (memory / 4).saturating_sub(FRAME) / (2 * FRAME);
    if threads < MIN_THREADS || room < 2 {
        0
    } else {
        room.min(threads / 2).min(8)
    }
}

/// Returns the memory for `decoders` threads.
pub fn memory(decoders: usize) -> usize {
    // Two frames per thread, and one frame that is being read.
    (2 * decoders + 1) * FRAME
}

/// Returns whether a file begins like a file of `pzstd`.
pub fn is_pzstd(head: &[u8]) -> bool {
    head.starts_with(&MARK)
}

/// Decompressed text of a file.
pub struct Text {
    pieces: Ordered<Frames, io::Result<Piece>, io::Result<Reader>>,
    piece: Reader,
}

type Reader = Box<dyn Read + Send>;

impl Text {
    /// Starts at the beginning of a file.
    pub fn new(file: impl Read + Send + 'static, decoders: usize, max_window_log: u32) -> Text {
        let frames = Frames {
            file: Some(Box::new(file)),
            header: None,
        };
        let pieces = ordered(frames, decoders, move |piece: io::Result<Piece>| {
            piece?.decode(max_window_log)
        });
        Text {
            pieces,
            piece: Box::new(io::empty()),
        }
    }
}

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.piece.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            match self.pieces.next() {
                Some(piece) => self.piece = piece?,
                None => return Ok(0),
            }
        }
    }
}

/// Part of a file.
enum Piece {
    /// Single frame.
    Frame(Vec<u8>),
    /// Rest of the file, which does not consist of frames of `pzstd`.
    Rest(Reader),
}

impl Piece {
    fn decode(self, max_window_log: u32) -> io::Result<Reader> {
        let frame = match self {
            Piece::Frame(frame) => frame,
            Piece::Rest(rest) => return stream(rest, max_window_log),
        };
        let mut text = Vec::new();
        // A frame in memory needs no window, so it may exceed the limit of streams.
        let fits = text.try_reserve_exact(MAX_TEXT).is_ok()
            && zstd::bulk::Decompressor::new()?
                .decompress_to_buffer(&frame, &mut text)
                .is_ok();
        // A stream handles larger frames, and reports damage.
        if fits {
            return Ok(Box::new(Cursor::new(text)));
        }
        drop(text);
        stream(Cursor::new(frame), max_window_log.min(MAX_FRAME_WINDOW_LOG))
    }
}

fn stream(file: impl Read + Send + 'static, max_window_log: u32) -> io::Result<Reader> {
    zstd_stream(file, max_window_log)
}

/// Iterator over the frames of a file.
struct Frames {
    /// File from the next header on; `None` at the end of the file.
    file: Option<Reader>,
    /// First bytes of the next header.
    header: Option<Vec<u8>>,
}

impl Frames {
    fn next_piece(&mut self) -> io::Result<Option<Piece>> {
        let Some(mut file) = self.file.take() else {
            return Ok(None);
        };
        let header = match self.header.take() {
            Some(header) => header,
            None => up_to(&mut file, HEADER)?,
        };
        if header.is_empty() {
            return Ok(None);
        }
        let rest =
            |read: Vec<u8>, file| Ok(Some(Piece::Rest(Box::new(Cursor::new(read).chain(file)))));
        let length = match header.strip_prefix(&MARK) {
            Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]) as usize,
            _ => return rest(header, file),
        };
        if length > MAX_COMPRESSED {
            return rest(header, file);
        }
        let frame = up_to(&mut file, length)?;
        let next = up_to(&mut file, HEADER)?;
        // A header is trusted only if another header follows the frame.
        if frame.len() < length || !(next.is_empty() || is_pzstd(&next)) {
            return rest([frame, next].concat(), file);
        }
        (self.file, self.header) = (Some(file), Some(next));
        Ok(Some(Piece::Frame(frame)))
    }
}

impl Iterator for Frames {
    type Item = io::Result<Piece>;

    fn next(&mut self) -> Option<io::Result<Piece>> {
        self.next_piece().transpose()
    }
}

/// Reads `length` bytes, or fewer at the end of the file.
fn up_to(file: &mut Reader, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    file.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::super::zstd_stream::MAX_WINDOW_LOG;
    use super::*;

    type Test = Result<(), Box<dyn std::error::Error>>;

    /// Builds a header for a frame of `length` bytes.
    fn header(length: usize) -> Vec<u8> {
        [&MARK[..], &(length as u32).to_le_bytes()].concat()
    }

    /// Builds a file of `pzstd` with a frame for each text.
    fn pzstd(texts: &[&[u8]]) -> io::Result<Vec<u8>> {
        let mut file = Vec::new();
        for text in texts {
            let frame = zstd::encode_all(*text, 1)?;
            file.extend([header(frame.len()), frame].concat());
        }
        Ok(file)
    }

    /// Returns the text that could be read, and whether reading succeeded.
    fn read(mut reader: impl Read) -> (Vec<u8>, bool) {
        let mut text = Vec::new();
        let is_whole = reader.read_to_end(&mut text).is_ok();
        (text, is_whole)
    }

    fn texts() -> Vec<Vec<u8>> {
        let text = |n: u32| {
            (0..3000 * (n % 7))
                .flat_map(|m| (n ^ m.wrapping_mul(m)).to_le_bytes())
                .collect()
        };
        (0..40).map(text).collect()
    }

    #[test]
    fn frames_keep_their_order_for_any_number_of_threads() -> Test {
        let texts = texts();
        let file = pzstd(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        for decoders in [1, 2, 5] {
            assert!(
                read(Text::new(
                    Cursor::new(file.clone()),
                    decoders,
                    MAX_WINDOW_LOG
                )) == (texts.concat(), true),
                "{decoders}"
            );
        }
        Ok(())
    }

    #[test]
    fn other_zstd_files_are_read_as_a_stream() -> Test {
        let [one, two] = [&b"one\n"[..], &b"two\n"[..]].map(|text| zstd::encode_all(text, 1));
        let (one, two) = (one?, two?);
        let none = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        for file in [
            [&header(one.len())[..], &one, &two].concat(),
            [&header(one.len())[..], &one, &none, &two].concat(),
            [&header(one.len() - 3)[..], &one, &header(two.len()), &two].concat(),
            [&header(one.len() + two.len())[..], &one, &two].concat(),
            [&header(u32::MAX as usize)[..], &one, &two].concat(),
            [&header(0)[..], &one, &header(two.len()), &two].concat(),
        ] {
            assert_eq!(
                read(Text::new(Cursor::new(file), 2, MAX_WINDOW_LOG)),
                (b"one\ntwo\n".to_vec(), true)
            );
        }
        Ok(())
    }

    #[test]
    fn a_frame_that_exceeds_its_memory_is_read_as_a_stream() -> Test {
        let long = vec![b'x'; MAX_TEXT + 5];
        let file = pzstd(&[b"a\n", &long, b"b\n"])?;
        let (text, is_whole) = read(Text::new(Cursor::new(file), 2, MAX_WINDOW_LOG));
        assert!(is_whole && text == [b"a\n", &long[..], b"b\n"].concat());
        Ok(())
    }

    #[test]
    fn a_frame_with_a_large_window_is_read_in_memory() -> Test {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1)?;
        encoder.window_log(MAX_WINDOW_LOG + 1)?;
        encoder.write_all(b"one\n")?;
        let frame = encoder.finish()?;
        assert!(!read(stream(Cursor::new(frame.clone()), MAX_WINDOW_LOG)?).1);
        let file = [header(frame.len()), frame].concat();
        assert_eq!(
            read(Text::new(Cursor::new(file), 2, MAX_WINDOW_LOG)),
            (b"one\n".to_vec(), true)
        );
        Ok(())
    }

    #[test]
    fn damage_is_detected_as_in_a_stream() -> Test {
        let texts = texts();
        let file = pzstd(&texts[..9].iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        let mut random = fastrand::Rng::with_seed(14);
        for n in 0..300 {
            let mut file = file.clone();
            if n % 3 > 0 {
                file.truncate(random.usize(13..file.len()));
            }
            if n % 3 < 2 {
                let at = random.usize(0..file.len());
                file[at] ^= 1 << random.u8(0..8);
            }
            let (expected, is_whole) = read(stream(Cursor::new(file.clone()), MAX_WINDOW_LOG)?);
            let (found, is_found_whole) = read(Text::new(Cursor::new(file), 2, MAX_WINDOW_LOG));
            // A stream returns the beginning of a frame whose end is damaged.
            assert!(is_found_whole == is_whole, "{n}");
            assert!(if is_whole {
                found == expected
            } else {
                expected.starts_with(&found) || found.starts_with(&expected)
            });
        }
        Ok(())
    }

    #[test]
    fn a_stream_is_used_for_few_threads_or_little_memory() {
        for (threads, memory, expected) in [
            (2, 1 << 30, 0),
            (4, 64 << 20, 0),
            (4, 1 << 30, 2),
            (64, 1 << 30, 2),
            (64, 16 << 30, 8),
        ] {
            assert_eq!(
                decoders(threads, memory),
                expected,
                "{threads} threads, {memory}"
            );
            assert!(expected == 0 || super::memory(expected) <= memory / 4);
        }
    }
}
