//! Names of Syzygy tables.

use core::fmt;
use core::str::FromStr;

use shelfish::quoted::Quoted;

/// Maximum number of pieces of a table.
pub const MAX_PIECES: usize = 7;

/// Letters of pieces, in the order of a name.
const PIECES: &str = "KQRBNP";

/// The values of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Win, draw or loss; the file name ends with `.rtbw`.
    Wdl,
    /// Distance to zeroing: plies until the next capture or pawn move; the file name ends with `.rtbz`.
    Dtz,
}

impl Metric {
    /// Returns the ending of a file name, without its dot.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Metric::Wdl => "rtbw",
            Metric::Dtz => "rtbz",
        }
    }
}

/// The name of a table: its material and its metric.
///
/// ```
/// use shelfish_endgames::{Metric, TableName};
///
/// let name: TableName = "KRPvKR.rtbw".parse()?;
/// assert_eq!((name.metric(), name.pieces()), (Metric::Wdl, 5));
/// assert_eq!(name.to_string(), "KRPvKR.rtbw");
/// assert!("../KRPvKR.rtbw".parse::<TableName>().is_err());
/// # Ok::<(), shelfish_endgames::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// Pieces of both sides, as in `KRPvKR`.
    material: String,
    metric: Metric,
}

/// A text that is not the name of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError {
    /// The text.
    pub found: String,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected the name of a table of 3 to {MAX_PIECES} pieces like KRPvKR.rtbw or KRPvKR.rtbz, found {}",
            Quoted(&self.found)
        )
    }
}

impl core::error::Error for NameError {}

/// Whether the text names the pieces of one side: a king, then other pieces in order.
fn is_side(side: &str) -> bool {
    let ranks: Option<Vec<usize>> = side.chars().map(|piece| PIECES.find(piece)).collect();
    ranks.is_some_and(|ranks| {
        ranks.first() == Some(&0) && ranks.is_sorted() && !ranks[1..].contains(&0)
    })
}

impl FromStr for TableName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<TableName, NameError> {
        let parse = || {
            let (material, ending) = text.split_once('.')?;
            let metric = [Metric::Wdl, Metric::Dtz]
                .into_iter()
                .find(|metric| metric.ending() == ending)?;
            let (white, black) = material.split_once('v')?;
            let is_valid = is_side(white)
                && is_side(black)
                && (3..=MAX_PIECES).contains(&(material.len() - 1));
            is_valid.then(|| TableName {
                material: material.to_string(),
                metric,
            })
        };
        parse().ok_or_else(|| NameError {
            found: text.chars().take(32).collect(),
        })
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.material, self.metric.ending())
    }
}

impl TableName {
    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The pieces of both sides, as in `KRPvKR`.
    pub fn material(&self) -> &str {
        &self.material
    }

    /// Number of pieces of both sides, kings included.
    pub fn pieces(&self) -> usize {
        self.material.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_files_are_rejected() {
        for text in [
            "",
            "KvK.rtbw",
            "KQvK",
            "KQvK.rtb",
            "QKvK.rtbw",
            "KQKvK.rtbw",
            "KPQvK.rtbw",
            "KQvKvK.rtbw",
            "KQRBNPvKQ.rtbw",
        ] {
            assert_eq!(
                text.parse::<TableName>(),
                Err(NameError {
                    found: text.to_string()
                })
            );
        }
    }
}
