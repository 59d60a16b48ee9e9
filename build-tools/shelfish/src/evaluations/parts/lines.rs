//! Keyed records as lines of text, which any engine can sort.
//!
//! A line contains the number of the part in five digits, the key in hexadecimal digits, and the record in Base64,
//! separated by tabs. The byte order of lines (`LC_ALL=C sort`) is the order of parts, then of keys.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use base64ct::{Base64Unpadded, Encoding};
use shelfish::table::KeyRange;
use twox_hash::XxHash64;

use crate::build::join::Sorted;
use crate::build::sort::Merging;
use crate::build::spool::SpoolError;
use crate::evaluations::payload;
use crate::terminal::shown::shown;

/// Maximum length of a line, which is several times the size of the largest record.
const MAX_LINE: usize = 1 << 20;
/// Size of the checksum at the end of a record, in bytes.
const CHECKSUM: usize = 8;

/// Problems of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum LineError {
    /// The line does not have the three fields of a line of `shelfish parts partition`.
    Fields(String),
    /// The checksum is wrong.
    Damaged,
    /// The line belongs to another part.
    Part {
        /// Number of the encoded part.
        expected: usize,
        /// Number of the part of the line.
        found: usize,
    },
    /// The key is outside of the part.
    Key,
    /// The key is below the key of the previous line.
    Order,
    /// The line is longer than every record.
    TooLong,
    /// The input ends without the empty last line.
    BrokenOff,
    /// The record is invalid.
    Record(SpoolError),
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineError::Fields(found) => write!(
                f,
                "expected the number of a part, a key and a record, as `shelfish parts partition` writes them, found {found:?}"
            ),
            LineError::Damaged => {
                f.write_str("wrong checksum: the line was changed after `shelfish parts partition` wrote it")
            }
            LineError::Part { expected, found } => write!(
                f,
                "expected part {expected} (--part), found part {found}: \
                 select the lines with `grep ^{expected:05}`"
            ),
            LineError::Key => f.write_str("the key is outside of this part: partition the dump with this plan"),
            LineError::Order => {
                f.write_str("the key is below the key of the previous line: sort the lines with `LC_ALL=C sort`")
            }
            LineError::Record(error) => write!(f, "{error}: expected a record from `shelfish parts partition`"),
            LineError::TooLong => write!(f, "the line has more than {MAX_LINE} bytes"),
            LineError::BrokenOff => {
                f.write_str("the input is incomplete: expected more lines, or the empty line that --ended requires")
            }
        }
    }
}

impl std::error::Error for LineError {}

/// Appends a line.
pub fn push(text: &mut String, part: usize, key: &[u8], payload: &[u8]) {
    use fmt::Write;

    let _ = write!(text, "{part:05}\t");
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in key {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text.push('\t');
    let mut record = payload.to_vec();
    record.extend_from_slice(&checksum(key, payload).to_le_bytes());
    text.push_str(&Base64Unpadded::encode_string(&record));
    text.push('\n');
}

/// Parses a line without its line ending: part, key and payload.
pub fn parse(line: &[u8]) -> Result<(usize, Vec<u8>, Vec<u8>), LineError> {
    let fields = || LineError::Fields(shown(&String::from_utf8_lossy(&line[..line.len().min(80)])));
    let mut parts = line.splitn(3, |byte| *byte == b'\t');
    let (Some(part), Some(key), Some(record)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(fields());
    };
    let digits = std::str::from_utf8(part)
        .ok()
        .filter(|part| part.len() == 5);
    let part = digits
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(fields)?;
    let key = from_hexadecimal(key).ok_or_else(fields)?;
    let record = std::str::from_utf8(record)
        .ok()
        .and_then(|record| Base64Unpadded::decode_vec(record).ok());
    let mut payload = record.ok_or(LineError::Damaged)?;
    let end = payload
        .len()
        .checked_sub(CHECKSUM)
        .ok_or(LineError::Damaged)?;
    let sum = payload.split_off(end);
    if sum != checksum(&key, &payload).to_le_bytes() {
        return Err(LineError::Damaged);
    }
    Ok((part, key, payload))
}

fn checksum(key: &[u8], payload: &[u8]) -> u64 {
    XxHash64::oneshot(XxHash64::oneshot(0, key), payload)
}

/// Decodes lowercase hexadecimal digits.
pub fn from_hexadecimal(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits
        .chunks_exact(2)
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect()
}

/// Iterator over the sorted records of a part. It merges the records of a key.
pub struct Lines<R, M> {
    reader: R,
    name: String,
    part: usize,
    keys: KeyRange,
    ended: bool,
    line: u64,
    /// Number of lines read, for progress.
    read: Arc<AtomicU64>,
    text: Vec<u8>,
    /// Next line.
    next: Option<(Vec<u8>, Vec<u8>)>,
    /// Key and payload that were returned last.
    given: (Vec<u8>, Vec<u8>),
    merging: PhantomData<M>,
}

impl<R: BufRead, M: Merging> Lines<R, M> {
    /// Starts to read the lines of a part, whose keys are in `keys`. Counts the lines in `read`. `name` is the name of
    /// the input for errors. If `ended` is set, the input must end with an empty line.
    pub fn new(
        reader: R,
        name: String,
        (part, keys): (usize, KeyRange),
        ended: bool,
        read: Arc<AtomicU64>,
    ) -> io::Result<Lines<R, M>> {
        let (text, given, merging) = (Vec::new(), (Vec::new(), Vec::new()), PhantomData);
        let mut lines = Lines {
            reader,
            name,
            part,
            keys,
            ended,
            line: 0,
            read,
            text,
            next: None,
            given,
            merging,
        };
        lines.next = lines.read()?;
        Ok(lines)
    }

    fn read(&mut self) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
        self.text.clear();
        let read = self
            .reader
            .by_ref()
            .take(MAX_LINE as u64 + 1)
            .read_until(b'\n', &mut self.text);
        let name = &self.name;
        let read =
            read.map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
        let line = self.line + 1;
        let line_error = |error| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{name}, line {line}: {error}"),
            )
        };
        if self.ended && read == 0 {
            return Err(line_error(LineError::BrokenOff));
        }
        if read == 0 || self.ended && self.text == b"\n" {
            return Ok(None);
        }
        self.line = line;
        self.read.fetch_add(1, Relaxed);
        if self.text.len() > MAX_LINE {
            return Err(line_error(LineError::TooLong));
        }
        let (part, key, payload) =
            parse(self.text.strip_suffix(b"\n").unwrap_or(&self.text)).map_err(line_error)?;
        if part != self.part {
            return Err(line_error(LineError::Part {
                expected: self.part,
                found: part,
            }));
        }
        if !self.keys.contains(&key) {
            return Err(line_error(LineError::Key));
        }
        // The checksum detects accidental changes only.
        payload::check(&payload).map_err(|error| line_error(LineError::Record(error)))?;
        Ok(Some((key, payload)))
    }
}

impl<R: BufRead, M: Merging> Sorted for Lines<R, M> {
    fn peek(&self) -> Option<&[u8]> {
        self.next.as_ref().map(|(key, _)| &key[..])
    }

    fn next_record(&mut self) -> io::Result<Option<(&[u8], &[u8])>> {
        let Some((key, payload)) = self.next.take() else {
            return Ok(None);
        };
        self.given = (key, payload);
        let mut merged: Option<M> = None;
        loop {
            let next = self.read()?;
            match next {
                Some((key, payload)) if key == self.given.0 => {
                    let merged = match &mut merged {
                        Some(merged) => merged,
                        None => {
                            let first = merged.insert(M::default());
                            first.push(&self.given.1)?;
                            first
                        }
                    };
                    merged.push(&payload)?;
                }
                Some((key, _)) if key < self.given.0 => {
                    let why = format!("{}, line {}: {}", self.name, self.line, LineError::Order);
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
                next => {
                    self.next = next;
                    break;
                }
            }
        }
        if let Some(merged) = merged {
            self.given.1 = merged.finish()?;
        }
        Ok(Some((&self.given.0, &self.given.1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_a_round_trip_and_sort_like_their_keys() {
        let records: [(usize, &[u8], &[u8]); 5] = [
            (0, b"", b""),
            (0, b"\x00", b"payload"),
            (0, b"\x00\x01", &[0xff; 100]),
            (1, b"\x00", b"x"),
            (2, b"\xff", b"y"),
        ];
        let mut text = String::new();
        records
            .iter()
            .for_each(|(part, key, payload)| push(&mut text, *part, key, payload));
        assert!(text.lines().is_sorted());
        for (line, (part, key, payload)) in text.lines().zip(records) {
            assert_eq!(
                parse(line.as_bytes()),
                Ok((part, key.to_vec(), payload.to_vec()))
            );
        }
    }

    #[test]
    fn a_changed_letter_is_detected() {
        let mut text = String::new();
        push(&mut text, 12, b"key of a position", b"what is known of it");
        let line = text.trim_end().as_bytes();
        for n in 6..line.len() {
            let mut changed = line.to_vec();
            changed[n] = if changed[n] == b'a' { b'b' } else { b'a' };
            assert!(parse(&changed).is_err(), "letter {n}");
            assert!(parse(&line[..n]).is_err(), "cut to {n}");
        }
        assert!(matches!(
            parse(b"a line of something else"),
            Err(LineError::Fields(_))
        ));
    }
}
