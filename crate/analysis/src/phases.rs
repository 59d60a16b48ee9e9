//! Beginning of middlegame and endgame.

use core::ops::Range;

use serde::Serialize;
use shakmaty::{Bitboard, Board, ByColor};

use crate::accuracy::{MIN_SETTLED, of_side};

/// Phases of a game, by the number of moves before each begins. A game may have neither phase, or go from the opening to the
/// endgame.
///
/// The source is `Divider` of scalachess. Pieces are queens, rooks, bishops and knights of both sides. The middlegame begins
/// when ten pieces are left, when a side has fewer than four men on its first rank, or when the men of both sides are mixed. Each group of
/// 2 × 2 squares has a number that depends on its men and its rank. Men are mixed if the sum is above 150. The endgame begins
/// when six pieces are left.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Phases {
    /// Number of moves before the middlegame.
    pub middlegame: Option<usize>,
    /// Number of moves before the endgame.
    pub endgame: Option<usize>,
}

/// Accuracy of a side in each phase, in percent: see [`of_side`]. `None` if the side has no moves there, or if less than
/// [`MIN_SETTLED`] percent of them have an accuracy.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct PhaseAccuracy {
    /// Accuracy in the opening.
    pub opening: Option<f64>,
    /// Accuracy in the middlegame.
    pub middlegame: Option<f64>,
    /// Accuracy in the endgame.
    pub endgame: Option<f64>,
}

impl PhaseAccuracy {
    /// Summarizes the accuracies of moves, as [`of_side`] does.
    pub(crate) fn of(
        percents: &[Option<f64>],
        accuracies: &[Option<f64>],
        phases: Phases,
        first: bool,
    ) -> PhaseAccuracy {
        let [opening, middlegame, endgame] = phases.bounds(accuracies.len()).map(|range| {
            let own = || range.clone().filter(|ply| ply.is_multiple_of(2) == first);
            let known = own().filter(|ply| accuracies[*ply].is_some()).count();
            of_side(percents, accuracies, range.clone(), first)
                .filter(|_| known * 100 >= own().count() * MIN_SETTLED)
        });
        PhaseAccuracy {
            opening,
            middlegame,
            endgame,
        }
    }
}

impl Phases {
    /// Returns the plies of the opening, the middlegame and the endgame of a game with a number of moves.
    fn bounds(self, moves: usize) -> [Range<usize>; 3] {
        let endgame = self.endgame.unwrap_or(moves).min(moves);
        let middlegame = self.middlegame.unwrap_or(endgame).min(endgame);
        [0..middlegame, middlegame..endgame, endgame..moves]
    }

    /// Returns the phases of a game with these boards, including the first and the last.
    pub fn of<'a>(boards: impl IntoIterator<Item = &'a Board>) -> Phases {
        let mut phases = Phases::default();
        let mut begun = None;
        for (ply, board) in boards.into_iter().enumerate() {
            let pieces = (board.occupied() & !board.kings() & !board.pawns()).count();
            if begun.is_none() && (pieces <= 10 || is_developed(board) || mixedness(board) > 150) {
                begun = Some(ply);
            }
            if begun.is_some() && pieces <= 6 {
                phases.endgame = Some(ply);
                break;
            }
        }
        phases.middlegame = begun.filter(|ply| phases.endgame.is_none_or(|endgame| *ply < endgame));
        phases
    }
}

/// Returns whether a side has fewer than four men on its first rank.
fn is_developed(board: &Board) -> bool {
    let first = ByColor {
        white: Bitboard(0xff),
        black: Bitboard(0xff << 56),
    };
    shakmaty::Color::ALL
        .into_iter()
        .any(|side| (board.by_color(side) & *first.get(side)).count() < 4)
}

/// Returns how much the men of both sides are mixed: the sum over all groups of 2 × 2 squares.
fn mixedness(board: &Board) -> usize {
    let group = |rank: usize, file: usize| Bitboard(0x0303 << (file + 8 * rank));
    let groups = (0..7).flat_map(|rank| (0..7).map(move |file| (rank + 1, group(rank, file))));
    groups
        .map(|(rank, group)| {
            mixed(
                rank,
                (board.white() & group).count(),
                (board.black() & group).count(),
            )
        })
        .sum()
}

/// Returns the number of a group with the lower rank `rank`, from 1 to 7, by its men of each side.
fn mixed(rank: usize, white: usize, black: usize) -> usize {
    match (white, black) {
        (1, 0) => 9 - rank,
        (2, 0) if rank > 2 => rank,
        (3 | 4, 0) if rank > 1 => rank + 2,
        (0, 1) => 1 + rank,
        (1, 1) => 5 + rank.abs_diff(3),
        (2, 1) => 4 + rank,
        (3, 1) => 5 + rank,
        (0, 2) if rank < 6 => 8 - rank,
        (1, 2) => 10 - rank,
        (2, 2) => 7,
        (0, 3 | 4) if rank < 7 => 10 - rank,
        (1, 3) => 11 - rank,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Game;

    fn phases(fen: Option<&str>, moves: &str) -> Phases {
        let game = Game::from_uci(fen, moves.split_whitespace()).expect("a game");
        let boards: Vec<Board> = game
            .positions()
            .map(|chess| shakmaty::Position::board(&chess).clone())
            .collect();
        Phases::of(&boards)
    }

    #[test]
    fn an_opening_alone_has_no_phases() {
        assert_eq!(phases(None, "e2e4 e7e5 g1f3 b8c6"), Phases::default());
        assert_eq!(mixedness(&Board::default()), 0);
    }

    #[test]
    fn the_middlegame_begins_when_a_first_rank_is_left() {
        // White castles long after five men have left the first rank. King, rook and two more men remain there.
        let moves = "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d3 d8d6 e1c1 e8c8 g1f3 g8f6 e2e3 e7e6 f1e2 f8e7 h1e1 h8e8 e2f1 e7f8";
        assert_eq!(phases(None, moves).middlegame, Some(15));
    }

    #[test]
    fn few_pieces_are_an_endgame_from_the_start() {
        let found = phases(Some("4k3/pppp4/8/8/8/8/PPPP4/R3K3 w - - 0 1"), "a1b1");
        assert_eq!(
            found,
            Phases {
                middlegame: None,
                endgame: Some(0)
            }
        );
        let eleven = "rn1qkbnr/pppppppp/8/8/8/8/PPPPPPPP/R1BQKB1R w KQkq - 0 1";
        assert_eq!(phases(Some(eleven), "a2a3").middlegame, None);
        let ten = "rn1qkb1r/pppppppp/8/8/8/8/PPPPPPPP/R1BQKB1R w KQkq - 0 1";
        assert_eq!(
            phases(Some(ten), "a2a3"),
            Phases {
                middlegame: Some(0),
                endgame: None
            }
        );
    }

    #[test]
    fn a_phase_has_the_accuracy_of_its_moves() {
        let phases = Phases {
            middlegame: Some(4),
            endgame: Some(6),
        };
        let accuracies = [90.0, 10.0, 80.0, 20.0, 70.0, 30.0].map(Some);
        let percents = [Some(50.0); 9];
        let found = PhaseAccuracy::of(&percents, &accuracies, phases, true);
        let opening = (85.0 + 2.0 / (1.0 / 90.0 + 1.0 / 80.0)) / 2.0;
        let [first, last] = [found.opening, found.middlegame].map(Option::unwrap_or_default);
        assert!((first - opening).abs() < 1e-9, "{first}");
        assert!((last - 70.0).abs() < 1e-9, "{last}");
        assert_eq!(found.endgame, None);
        // Three of four moves of a phase suffice, two do not.
        let opening = |second: Option<f64>| {
            let [no, known] = [None, Some(90.0)];
            let accuracies = [known, no, known, no, second, no, no, no];
            PhaseAccuracy::of(&percents, &accuracies, Phases::default(), true).opening
        };
        assert!(opening(Some(90.0)).is_some());
        assert_eq!(opening(None), None);
    }

    #[test]
    fn groups_of_one_side_are_symmetric() {
        // Groups of one side mirror each other in scalachess. Mixed groups do not.
        for rank in 1..=7 {
            for men in 1..=4 {
                assert_eq!(
                    mixed(rank, men, 0),
                    mixed(8 - rank, 0, men),
                    "{men} on {rank}"
                );
            }
        }
    }
}
