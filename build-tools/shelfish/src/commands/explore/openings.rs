//! Names of openings, by position.
//!
//! A position has one name, whatever moves reached it.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Position as _};
use shelfish::position::Position;

/// List of lichess-org/chess-openings, in the public domain: ECO code, name and moves, separated by tabs.
const LIST: [&str; 5] = [
    include_str!("../../../openings/a.tsv"),
    include_str!("../../../openings/b.tsv"),
    include_str!("../../../openings/c.tsv"),
    include_str!("../../../openings/d.tsv"),
    include_str!("../../../openings/e.tsv"),
];

/// Opening of the Encyclopaedia of Chess Openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Opening {
    /// ECO code, for example `B90`.
    pub eco: &'static str,
    /// Name, for example `Sicilian Defense: Najdorf Variation`.
    pub name: &'static str,
}

/// The openings by position.
static OPENINGS: LazyLock<HashMap<Position, Opening>> = LazyLock::new(|| {
    let lines = LIST.iter().flat_map(|volume| volume.lines().skip(1));
    lines.filter_map(named).collect()
});

impl Opening {
    /// Returns the opening that a position belongs to.
    pub fn of(position: &Position) -> Option<Opening> {
        OPENINGS.get(position).copied()
    }
}

/// Parses a line of the list.
fn named(line: &'static str) -> Option<(Position, Opening)> {
    let mut columns = line.split('\t');
    let (eco, name, moves) = (columns.next()?, columns.next()?, columns.next()?);
    let mut chess = Chess::default();
    for word in moves.split(' ').filter(|word| !word.ends_with('.')) {
        let m = word.parse::<SanPlus>().ok()?.san.to_move(&chess).ok()?;
        chess.play_unchecked(m);
    }
    Some((Position::from_chess(&chess), Opening { eco, name }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_names_a_different_position() {
        let lines = LIST
            .iter()
            .map(|volume| volume.lines().count() - 1)
            .sum::<usize>();
        assert!(lines > 3_500);
        assert_eq!(OPENINGS.len(), lines);
    }

    #[test]
    fn the_name_of_a_position_does_not_depend_on_the_moves() {
        let najdorf = "rnbqkb1r/1p2pppp/p2p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R w KQkq - 0 6"
            .parse()
            .expect("a position");
        assert_eq!(
            Opening::of(&najdorf).map(|opening| opening.eco),
            Some("B90")
        );
        assert_eq!(
            Opening::of(&"8/8/8/4k3/8/4K3/8/8 w - -".parse().expect("a position")),
            None
        );
    }
}
