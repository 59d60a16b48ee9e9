//! Share of the positions, chosen by a hash of their keys.

use std::fmt;

use serde::Serialize;
use twox_hash::XxHash64;

/// A share of the positions, in ten-thousandths. A larger share contains the positions of a smaller share.
///
/// The choice depends on the key alone, and neither on the order of the inputs nor on other positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Share(u16);

impl Share {
    /// Name of the manifest's entry.
    pub const NAME: &str = "min_depth_share";
    /// The number that stands for all positions.
    pub const ALL: u16 = 10_000;
    /// Seed of the hash.
    const SEED: u64 = 3;

    /// Creates a share, unless it is that of all or of no positions.
    pub fn new(ten_thousandths: u16) -> Option<Share> {
        (1..Share::ALL)
            .contains(&ten_thousandths)
            .then_some(Share(ten_thousandths))
    }

    /// Returns the number of ten-thousandths.
    pub fn ten_thousandths(self) -> u16 {
        self.0
    }

    /// Returns whether the share contains a position.
    pub fn contains(self, key: &[u8]) -> bool {
        let hash = XxHash64::oneshot(Share::SEED, key) >> 32;
        (hash * u64::from(Share::ALL)) >> 32 < u64::from(self.0)
    }
}

/// Formats the share as a percentage.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02} %", self.0 / 100, self.0 % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_has_its_size_and_contains_smaller_shares() {
        let keys: Vec<[u8; 4]> = (0..50_000u32).map(u32::to_le_bytes).collect();
        let shares = [1, 37, 2_500, 9_999].map(|share| Share::new(share).unwrap_or(Share(1)));
        for share in shares {
            let count = keys.iter().filter(|key| share.contains(&key[..])).count();
            assert!(
                count.abs_diff(usize::from(share.0) * 5) < 300,
                "{share}: {count}"
            );
        }
        for pair in shares.windows(2) {
            assert!(
                keys.iter()
                    .all(|key| pair[1].contains(&key[..]) || !pair[0].contains(&key[..]))
            );
        }
        assert!(Share::new(0).is_none() && Share::new(Share::ALL).is_none());
        assert_eq!(Share(3_712).to_string(), "37.12 %");
    }
}
