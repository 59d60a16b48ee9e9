//! Limits of a search.

use std::time::Duration;

use shakmaty::{Chess, Move};

/// Limits of a search. Without limits a search runs until its control stops it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum depth of an iteration, in plies.
    pub depth: Option<usize>,
    /// Maximum number of nodes, exact.
    pub nodes: Option<u64>,
    /// Time after which no iteration begins. The search scales it: up while the best move is in doubt, else down.
    pub target: Option<Duration>,
    /// Time at which the search stops.
    pub deadline: Option<Duration>,
    /// The search stops after it found a mate in this many moves.
    pub mate: Option<u32>,
    /// Moves to search. Illegal moves are ignored. All legal moves if no move of the list is legal.
    pub moves: Vec<Move>,
    /// Number of best lines. 0 means 1.
    pub lines: usize,
}

/// The clock of the side to move.
#[derive(Clone, Copy, Debug)]
pub struct Remaining {
    /// Time left.
    pub time: Duration,
    /// Time added after each move.
    pub increment: Duration,
    /// Moves until the next time control, if known.
    pub moves: Option<u32>,
}

impl Limits {
    /// Returns limits by depth.
    pub fn to_depth(depth: usize) -> Limits {
        Limits {
            depth: Some(depth),
            ..Limits::default()
        }
    }

    /// Returns limits by nodes.
    pub fn to_nodes(nodes: u64) -> Limits {
        Limits {
            nodes: Some(nodes),
            ..Limits::default()
        }
    }

    /// Sets times so that the search keeps within a clock. Each move costs `overhead` between clock and search.
    pub fn on_clock(mut self, clock: Remaining, overhead: Duration) -> Limits {
        let usable = clock
            .time
            .saturating_sub(overhead)
            .max(Duration::from_millis(1));
        let moves = clock.moves.unwrap_or(u32::MAX).clamp(1, 24);
        let share = usable / moves + clock.increment * 3 / 4;
        self.target = Some(share.min(usable * 7 / 10));
        self.deadline = Some((share * 4).min(usable * 8 / 10));
        self
    }
}

/// The caller's side of a search.
pub trait Control {
    /// Returns the time used so far. It stays at zero while the engine ponders.
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns whether to stop at once. The search calls this about every thousand nodes, with the number of nodes so far.
    fn stopped(&self, _nodes: u64) -> bool {
        false
    }

    /// Receives the lines after an iteration, complete or stopped, best first.
    fn found(&mut self, _lines: &[crate::Line]) {}

    /// Returns the maximum number of pieces of positions in endgame tables, 0 without tables. The search asks once.
    fn table_pieces(&self) -> usize {
        0
    }

    /// Returns the result of a position by endgame tables, or `None` if the tables do not contain the position.
    ///
    /// The search calls this for positions after a capture or pawn move, with at most
    /// [`table_pieces`](Control::table_pieces) pieces.
    fn table_result(&mut self, _chess: &Chess) -> Option<TableResult> {
        None
    }
}

/// The result of a position for the side to move, by endgame tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableResult {
    /// Win.
    Win,
    /// Draw, also by the 50-move rule.
    Draw,
    /// Loss.
    Loss,
}

/// A control that never stops the search and ignores its lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Control for Silent {}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn limits(time: u64, increment: u64, moves: Option<u32>) -> (Duration, Duration) {
        let clock = Remaining {
            time: MS(time),
            increment: MS(increment),
            moves,
        };
        let limits = Limits::default().on_clock(clock, MS(30));
        (limits.target.unwrap(), limits.deadline.unwrap())
    }

    #[test]
    fn the_deadline_is_never_beyond_the_clock() {
        for time in [1, 10, 31, 100, 1_000, 60_000, 10_000_000] {
            for increment in [0, 1, 100, 10_000] {
                for moves in [None, Some(0), Some(1), Some(40)] {
                    let (target, deadline) = limits(time, increment, moves);
                    assert!(
                        deadline <= MS(time) && target <= deadline.max(MS(1)),
                        "{time}+{increment} {moves:?}"
                    );
                }
            }
        }
    }
}
