//! Keyed records as lines of text, which any engine can sort.
//!
//! A line contains the number of the part in five digits, the key in hexadecimal digits, and the record in Base64,
//! separated by tabs. The byte order of lines (`LC_ALL=C sort`) is the order of parts, then of keys.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use shelfish::digits::{from_hex, hex};
use shelfish::table::KeyRange;
use twox_hash::XxHash64;

use crate::evaluations::payload;
use crate::terminal::shown::shown;

/// Maximum length of a line, which is several times the size of the largest record.
const MAX_LINE: usize = 1 << 20;
/// Size of the checksum at the end of a record, in bytes.
const CHECKSUM: usize = 8;

/// Number of consecutive lines of a share.
const TOGETHER: u64 = 1_000;
/// Share of the lines of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineShare {
    n: u64,
    of: u64,
}

impl LineShare {
    /// The share of all lines.
    pub const ALL: LineShare = LineShare { n: 0, of: 1 };

    /// Parses `I/N`.
    pub fn parse(text: &str) -> Result<LineShare, String> {
        let numbers = text.split_once('/');
        numbers
            .and_then(|(n, of)| Some((n.parse().ok()?, of.parse().ok()?)))
            .filter(|(n, of)| n < of)
            .map(|(n, of)| LineShare { n, of })
            .ok_or_else(|| format!("expected I/N such as 0/8, with I below N, found {text:?}"))
    }

    /// Returns whether a line, numbered from 1, belongs to this share.
    pub fn has(self, line: u64) -> bool {
        line.saturating_sub(1) / TOGETHER % self.of == self.n
    }
}

/// Appends a line.
pub fn push(text: &mut String, part: usize, key: &[u8], payload: &[u8]) {
    *text += &format!("{part:05}\t");
    *text += &hex(key);
    text.push('\t');
    let mut record = payload.to_vec();
    record.extend_from_slice(&checksum(key, payload).to_le_bytes());
    text.push_str(&STANDARD_NO_PAD.encode(&record));
    text.push('\n');
}

/// Parses a line without its line ending: part, key and payload.
pub fn parse(line: &[u8]) -> Result<(usize, Vec<u8>, Vec<u8>), String> {
    let fields = || {
        let found = shown(&String::from_utf8_lossy(&line[..line.len().min(80)]));
        format!(
            "expected the number of a part, a key and a record, as `shelfish parts partition` writes them, found {found:?}"
        )
    };
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
    let key = from_hex(key).ok_or_else(fields)?;
    let record = std::str::from_utf8(record)
        .ok()
        .and_then(|record| STANDARD_NO_PAD.decode(record).ok());
    let checked = record.and_then(|mut payload| {
        let sum = payload.split_off(payload.len().checked_sub(CHECKSUM)?);
        (sum == checksum(&key, &payload).to_le_bytes()).then_some(payload)
    });
    let damaged = "wrong checksum: the line was changed after `shelfish parts partition` wrote it";
    let payload = checked.ok_or(damaged)?;
    Ok((part, key, payload))
}

fn checksum(key: &[u8], payload: &[u8]) -> u64 {
    XxHash64::oneshot(XxHash64::oneshot(0, key), payload)
}

/// Iterator over the sorted records of a part.
pub struct Lines<R> {
    /// The input.
    pub reader: R,
    /// Name of the input for errors.
    pub name: String,
    /// Number of the part.
    pub part: usize,
    /// Keys of the part.
    pub keys: KeyRange,
    /// Whether the input must end with an empty line.
    pub ended: bool,
    /// Number of lines read.
    pub read: Arc<AtomicU64>,
    /// The last line, and its key; both are empty at the start.
    pub last: (Vec<u8>, Vec<u8>),
}

impl<R: BufRead> Lines<R> {
    /// Parses the line that was read.
    fn parse(&mut self) -> Result<(Vec<u8>, Vec<u8>), String> {
        let (text, last) = &mut self.last;
        if text.len() > MAX_LINE {
            return Err(format!("the line has more than {MAX_LINE} bytes"));
        }
        let (found, key, payload) = parse(text.strip_suffix(b"\n").unwrap_or(text))?;
        let expected = self.part;
        if found != expected {
            return Err(format!(
                "expected part {expected} (--part), found part {found}: select the lines with `grep ^{expected:05}`"
            ));
        }
        if !self.keys.contains(&key) {
            return Err(
                "the key is outside of this part: partition the dump with this plan".to_owned(),
            );
        }
        if key < *last {
            return Err(
                "the key is below the key of the previous line: sort the lines with `LC_ALL=C sort`"
                    .to_owned(),
            );
        }
        // The checksum detects accidental changes only.
        payload::check(&payload).map_err(|error| {
            format!("{error}: expected a record from `shelfish parts partition`")
        })?;
        last.clone_from(&key);
        Ok((key, payload))
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<(Vec<u8>, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let (text, _) = &mut self.last;
        text.clear();
        let limited = self.reader.by_ref().take(MAX_LINE as u64 + 1);
        let read = { limited }.read_until(b'\n', text);
        let line = self.read.load(Relaxed) + 1;
        let parsed = match read {
            Err(error) => {
                let text = format!("{}: {error}", self.name);
                return Some(Err(io::Error::new(error.kind(), text)));
            }
            Ok(0) if self.ended => Err(
                "the input is incomplete: expected more lines, or the empty line that --ended requires"
                    .to_owned(),
            ),
            Ok(0) => return None,
            Ok(_) if self.ended && text == b"\n" => return None,
            Ok(_) => {
                self.read.store(line, Relaxed);
                self.parse()
            }
        };
        let named = |error| {
            let text = format!("{}, line {line}: {error}", self.name);
            io::Error::new(io::ErrorKind::InvalidData, text)
        };
        Some(parsed.map_err(named))
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
        assert!(
            parse(b"a line of something else")
                .is_err_and(|error| error.contains("expected the number of a part"))
        );
    }

    #[test]
    fn each_line_belongs_to_one_share() {
        let shares = ["0/3", "1/3", "2/3"].map(|text| LineShare::parse(text).ok());
        for line in 1..10_000 {
            let has = |share: &&Option<LineShare>| share.is_some_and(|share| share.has(line));
            assert_eq!(shares.iter().filter(has).count(), 1, "{line}");
        }
        for text in ["3/3", "0/0", "1", "a/b", "-1/2", "1/2/3"] {
            assert!(LineShare::parse(text).is_err(), "{text}");
        }
    }
}
