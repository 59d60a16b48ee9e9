//! A range coder: a stream of choices takes as many bits as their probabilities say. Streams are strings of nibbles (half
//! bytes), first nibble first. Zeros at the end are left out.

/// A range below this is too small for the next choice.
const LEAST: u32 = 1 << 28;

/// Returns a nibble: each byte has two, the low one first.
pub(crate) fn nibble(bytes: &[u8], n: usize) -> u8 {
    bytes.get(n / 2).map_or(0, |byte| byte >> (n % 2 * 4) & 15)
}

/// A stream being read.
pub(crate) struct RangeReader<'a> {
    bytes: &'a [u8],
    nibbles: core::ops::Range<usize>,
    range: u32,
    /// The distance from the start of the range; below `range`.
    code: u32,
}

impl<'a> RangeReader<'a> {
    /// Reads a stream among others.
    pub(crate) fn new(bytes: &'a [u8], nibbles: core::ops::Range<usize>) -> RangeReader<'a> {
        let mut reader = RangeReader {
            bytes,
            nibbles,
            range: u32::MAX,
            code: 0,
        };
        for _ in 0..8 {
            reader.shift();
        }
        reader
    }

    fn shift(&mut self) {
        let nibble = self.nibbles.next().map_or(0, |n| nibble(self.bytes, n));
        self.code = self.code << 4 | u32::from(nibble);
    }

    /// Returns a number that lies among those of the next choice; `None` if it is not below their `total`.
    pub(super) fn point(&self, total: u32) -> Option<u32> {
        let unit = self.range.checked_div(total)?;
        Some(self.code / unit).filter(|&point| point < total)
    }

    /// Accepts the choice of the numbers from `start` on, `size` of `total`. The point lies among them.
    pub(super) fn accept(&mut self, start: u32, size: u32, total: u32) {
        let unit = self.range / total;
        self.code -= start * unit;
        self.range = size * unit;
        while self.range < LEAST {
            self.range <<= 4;
            self.shift();
        }
    }
}

/// A stream being written.
#[cfg(any(feature = "write", test))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RangeWriter {
    low: u64,
    range: u32,
    nibbles: Vec<u8>,
}

#[cfg(any(feature = "write", test))]
impl Default for RangeWriter {
    fn default() -> RangeWriter {
        RangeWriter {
            low: 0,
            range: u32::MAX,
            nibbles: Vec::new(),
        }
    }
}

#[cfg(any(feature = "write", test))]
impl RangeWriter {
    /// Writes the choice of the numbers from `start` on, `size` of `total`.
    pub(super) fn push(&mut self, start: u32, size: u32, total: u32) {
        let unit = self.range / total;
        self.low += u64::from(start * unit);
        self.range = size * unit;
        self.carry();
        while self.range < LEAST {
            self.range <<= 4;
            self.shift();
        }
    }

    fn carry(&mut self) {
        if self.low >> 32 > 0 {
            self.low &= u64::from(u32::MAX);
            for nibble in self.nibbles.iter_mut().rev() {
                *nibble = (*nibble + 1) & 15;
                if *nibble > 0 {
                    break;
                }
            }
        }
    }

    fn shift(&mut self) {
        self.nibbles.push((self.low >> 28) as u8);
        self.low = self.low << 4 & u64::from(u32::MAX);
    }

    /// Ends the stream with the fewest nibbles, and returns them.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let last = self.low + u64::from(self.range) - 1;
        let ends = (0..=8)
            .rev()
            .map(|zeros| last >> (4 * zeros) << (4 * zeros));
        self.low = ends
            .into_iter()
            .find(|end| *end >= self.low)
            .unwrap_or(last);
        self.carry();
        for _ in 0..8 {
            self.shift();
        }
        let used = self.nibbles.iter().rposition(|nibble| *nibble > 0);
        self.nibbles.truncate(used.map_or(0, |last| last + 1));
        self.nibbles
    }
}
