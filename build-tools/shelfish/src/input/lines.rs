//! A dump as chunks of whole lines, or of whole positions in rows.

use std::io::{self, Read};

use super::compression::cut_off;
use super::rows::Rows;

/// The longest line that is parsed, in bytes.
pub const MAX_LINE: usize = 16 << 20;

/// Bytes that are read at a time.
pub(super) const CHUNK: usize = 1 << 20;

/// Bytes of a too long line that are kept to recognise it.
const BEGINNING: usize = 256;

/// A part of a dump.
#[derive(Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The number of its first line or row, from 1.
    pub line: u64,
    /// The content.
    pub text: Text,
}

impl Chunk {
    /// Returns the size of the text in bytes.
    pub fn bytes(&self) -> usize {
        match &self.text {
            Text::Lines(text) | Text::TooLong(text) => text.len(),
            Text::Rows(rows) => rows.iter().map(Rows::bytes).sum(),
        }
    }
}

/// The content of a chunk.
#[derive(Debug, PartialEq, Eq)]
pub enum Text {
    /// Whole lines.
    Lines(Vec<u8>),
    /// The beginning of a line that is longer than [`MAX_LINE`].
    TooLong(Vec<u8>),
    /// The rows of each position.
    Rows(Vec<Rows>),
}

/// Iterator over chunks of lines. [`MAX_LINE`] bounds its memory.
pub(super) struct Chunks {
    reader: Box<dyn Read + Send>,
    /// The beginning of a line whose end is not read yet.
    rest: Vec<u8>,
    line: u64,
    is_over: bool,
}

impl Chunks {
    /// Reads the lines of a text.
    pub(super) fn new(reader: Box<dyn Read + Send>) -> Chunks {
        Chunks {
            reader,
            rest: Vec::new(),
            line: 1,
            is_over: false,
        }
    }

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
                let last = self.rest.rsplit(|&byte| byte == b'\n').next();
                let last = last.unwrap_or_default().trim_ascii();
                // If a host does not tell the length, a download may end between two zstd frames without an error of the decoder.
                if last.starts_with(b"{") && !last.ends_with(b"}") {
                    return Err(cut_off("its last line has no end"));
                }
                return Ok(Some(self.cut(self.rest.len())));
            }
            if let Some(end) = self.rest[searched..]
                .iter()
                .rposition(|&byte| byte == b'\n')
            {
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
        self.reader
            .by_ref()
            .take(missing as u64)
            .read_to_end(&mut self.rest)
    }

    /// Removes the first `end` bytes and returns them.
    fn cut(&mut self, end: usize) -> Chunk {
        let rest = self.rest.split_off(end);
        let lines = core::mem::replace(&mut self.rest, rest);
        let line = self.line;
        self.line += lines.iter().filter(|&&byte| byte == b'\n').count() as u64;
        Chunk {
            line,
            text: Text::Lines(lines),
        }
    }

    /// Skips the rest of a too long line and returns its beginning.
    fn skip_line(&mut self) -> io::Result<Chunk> {
        let mut start = core::mem::take(&mut self.rest);
        start.truncate(BEGINNING);
        start.shrink_to_fit();
        let chunk = Chunk {
            line: self.line,
            text: Text::TooLong(start),
        };
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
    use super::*;

    #[test]
    fn a_dump_whose_last_record_has_no_end_is_cut_off() {
        let read = |text: &'static str| {
            Chunks::new(Box::new(text.as_bytes())).collect::<io::Result<Vec<Chunk>>>()
        };
        for whole in ["", "{}", "{}\n", "{}\r\n{} ", "{}\nno record"] {
            assert!(read(whole).is_ok(), "{whole:?}");
        }
        for cut in ["{", "{}\n{\"fen\":\"8/8"] {
            let error = read(cut).unwrap_err().to_string();
            assert!(error.contains("download it again"), "{cut:?}: {error}");
        }
    }
}
