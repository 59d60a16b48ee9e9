//! Manifests of databases of either kind.

use shelfish::eval::PositionEval;
use shelfish::played::Played;
use shelfish::table::{Manifest, Record, TableError};

/// The kind of the records in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Evaluations of positions.
    Evaluations,
    /// Played moves.
    Moves,
}

/// Reads a manifest of either kind.
pub fn parse_manifest(bytes: &[u8]) -> Result<(Manifest, Kind), TableError> {
    match Manifest::parse::<PositionEval>(bytes) {
        Err(TableError::Kind { found, .. }) if found == Played::KIND => {
            Manifest::parse::<Played>(bytes).map(|manifest| (manifest, Kind::Moves))
        }
        manifest => manifest.map(|manifest| (manifest, Kind::Evaluations)),
    }
}
