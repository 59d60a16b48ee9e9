//! The Huffman code of the symbols of a table.

use crate::error::TableError;
use crate::header::Fields;

/// Maximum length of a Huffman code in bits. A window of 64 bits then always contains a whole code.
const MAX_CODE: u64 = 32;

/// Name of the length of a code.
const LENGTH: &str = "the length of a Huffman code";

/// A canonical Huffman code: codes of equal length are consecutive numbers, and so are their symbols. Longer codes are smaller
/// numbers, if zeros follow them.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    /// Length of the shortest codes in bits.
    min: u32,
    /// The smallest code of each length, at the upper end of 64 bits.
    smallest: Vec<u64>,
    /// The symbol of the smallest code of each length.
    symbols: Vec<u16>,
}

impl Code {
    pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<Code, TableError> {
        let max = fields.limited(LENGTH, 1, 1, MAX_CODE)?;
        let min = fields.limited(LENGTH, 1, 1, max)?;
        let byte = fields.at as u64;
        let mut symbols = Vec::new();
        for _ in min..=max {
            symbols.push(fields.number(2)? as u16);
        }
        // The smallest code of the greatest length is zero. A code of a smaller length follows the last code of the next length.
        let mut smallest = vec![0_u64; symbols.len()];
        for at in (0..symbols.len() - 1).rev() {
            let longer =
                (smallest[at + 1] + u64::from(symbols[at])).checked_sub(symbols[at + 1].into());
            smallest[at] = longer.ok_or(TableError::Code { byte })? / 2;
        }
        let min = min as u32;
        for (length, code) in (min..).zip(&mut smallest) {
            if *code >> length != 0 {
                return Err(TableError::Code { byte });
            }
            *code <<= u64::BITS - length;
        }
        Ok(Code {
            min,
            smallest,
            symbols,
        })
    }

    /// Returns the symbol at the upper end of the window, and the length of its code. The symbol may not exist.
    pub(crate) fn first(&self, window: u64) -> (u64, u32) {
        // The last code is zero, so that a code is always found.
        let at = self
            .smallest
            .iter()
            .position(|code| *code <= window)
            .unwrap_or_default();
        let length = self.min + at as u32;
        let after = (window - self.smallest[at]) >> (u64::BITS - length);
        (u64::from(self.symbols[at]) + after, length)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn short_codes_are_larger_than_long_codes() {
        // Symbols 0 and 1 have three bits, symbol 2 has two bits, symbol 3 has one bit.
        let bytes = [3, 1, 3, 0, 2, 0, 0, 0];
        let code = Code::parse(&mut Fields::new(&bytes)).unwrap();
        let of =
            |text: &str| code.first(u64::from_str_radix(text, 2).unwrap() << (64 - text.len()));
        assert_eq!(
            [of("1"), of("01"), of("001"), of("000")],
            [(3, 1), (2, 2), (1, 3), (0, 3)]
        );
    }
}
