//! The symbols of a table, which stand for one or several values.

use crate::error::TableError;
use crate::header::Fields;

/// Second symbol of a pair that is a value: the first symbol is the value.
const VALUE: u16 = 0xfff;
/// Maximum number of symbols. Symbols in pairs have 12 bits.
const MAX_SYMBOLS: u64 = VALUE as u64;
/// Maximum number of values of a symbol.
const MAX_VALUES: u16 = 256;

/// Symbols: values, and pairs of symbols.
#[derive(Clone, Debug)]
pub(crate) struct Symbols {
    /// The two symbols of each pair. The second symbol of a value is [`VALUE`].
    pairs: Vec<[u16; 2]>,
    /// Number of values of each symbol.
    pub(crate) counts: Vec<u16>,
}

impl Symbols {
    pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<Symbols, TableError> {
        let found = fields.limited("the number of symbols", 2, 1, MAX_SYMBOLS)?;
        let byte = fields.at as u64;
        let bytes = fields.take(3 * found as usize)?;
        fields.align();
        // Three bytes have two numbers of 12 bits.
        let pair = |[low, middle, high]: &[u8; 3]| {
            let [low, middle, high] = [*low, *middle, *high].map(u16::from);
            [low | (middle & 0xf) << 8, middle >> 4 | high << 4]
        };
        let pairs: Vec<[u16; 2]> = bytes.as_chunks().0.iter().map(pair).collect();
        let counts = counts(&pairs).map_err(|symbol| TableError::Pair {
            byte: byte + 3 * u64::from(symbol),
            symbol,
        })?;
        Ok(Symbols { pairs, counts })
    }

    /// Returns the value of a symbol at a place among its values.
    pub(crate) fn value(&self, mut symbol: u16, mut place: u32) -> u16 {
        // A symbol has more values than its two symbols, so that the loop ends.
        loop {
            let [first, second] = self.pairs[usize::from(symbol)];
            if second == VALUE {
                return first;
            }
            let count = u32::from(self.counts[usize::from(first)]);
            if place < count {
                symbol = first;
            } else {
                place -= count;
                symbol = second;
            }
        }
    }
}

/// Counts the values of each symbol. Returns a symbol that contains itself or too many values as the error.
fn counts(pairs: &[[u16; 2]]) -> Result<Vec<u16>, u16> {
    // A count of zero is not known yet.
    let mut counts = vec![0_u16; pairs.len()];
    // Symbols that need each other: each symbol contains the next symbol.
    let mut open: Vec<u16> = Vec::new();
    for root in 0..pairs.len() as u16 {
        open.push(root);
        while let Some(&symbol) = open.last() {
            let [first, second] = pairs[usize::from(symbol)];
            if second == VALUE {
                counts[usize::from(symbol)] = 1;
                open.pop();
                continue;
            }
            let count = |part: u16| counts.get(usize::from(part)).copied().ok_or(symbol);
            match (count(first)?, count(second)?) {
                // Each level has at least one more value than the next level.
                (0, _) | (_, 0) if open.len() > usize::from(MAX_VALUES) => return Err(symbol),
                (0, _) => open.push(first),
                (_, 0) => open.push(second),
                (a, b) if a + b > MAX_VALUES => return Err(symbol),
                (a, b) => {
                    counts[usize::from(symbol)] = a + b;
                    open.pop();
                }
            }
        }
    }
    Ok(counts)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    const A: [u16; 2] = [1, VALUE];

    #[test]
    fn symbols_count_the_values_of_their_pairs() {
        assert_eq!(counts(&[[1, 2], [2, 2], A]), Ok(vec![3, 2, 1]));
        let doubled: Vec<[u16; 2]> = (0..8).map(|n| [n + 1, n + 1]).chain([A]).collect();
        assert_eq!(counts(&doubled).unwrap()[0], 256);
    }

    #[test]
    fn recursive_symbols_and_symbols_with_too_many_values_are_errors() {
        assert_eq!(counts(&[[0, 1], A]), Err(0));
        assert!(counts(&[[1, 2], [0, 2], A]).is_err());
        assert_eq!(counts(&[[1, 5], A]), Err(0), "no symbol 5");
        let doubled: Vec<[u16; 2]> = (0..9).map(|n| [n + 1, n + 1]).chain([A]).collect();
        assert_eq!(counts(&doubled), Err(0));
        let chain: Vec<[u16; 2]> = (0..4000).map(|n| [n + 1, 4000]).chain([A]).collect();
        assert!(counts(&chain).is_err());
    }
}
