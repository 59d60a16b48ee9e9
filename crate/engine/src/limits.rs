//! When a search ends.

use std::time::Duration;

use shakmaty::Move;

/// What bounds a search. Without any bound it goes on until it is stopped.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The deepest iteration.
    pub depth: Option<usize>,
    /// So many nodes, exactly.
    pub nodes: Option<u64>,
    /// No iteration is begun after this; more or less of it is used as the best move is in doubt or not.
    pub target: Option<Duration>,
    /// The search ends here, whatever it does.
    pub deadline: Option<Duration>,
    /// A mate in so many moves is enough.
    pub mate: Option<u32>,
    /// These moves only; all if empty.
    pub moves: Vec<Move>,
    /// How many best lines are wanted; 0 is 1.
    pub lines: usize,
}

/// A chess clock, as a player sees it.
#[derive(Clone, Copy, Debug)]
pub struct Remaining {
    /// The time that is left.
    pub time: Duration,
    /// The time that each move adds.
    pub increment: Duration,
    /// Moves until time is added, if that is known.
    pub moves: Option<u32>,
}

impl Limits {
    /// Ends the search so that a clock is not overstepped. `overhead` is lost for each move between the clock and the
    /// search.
    pub fn on_clock(mut self, clock: Remaining, overhead: Duration) -> Limits {
        let usable = clock.time.saturating_sub(overhead).max(Duration::from_millis(1));
        let moves = clock.moves.unwrap_or(u32::MAX).clamp(1, 24);
        let share = usable / moves + clock.increment * 3 / 4;
        self.target = Some(share.min(usable * 7 / 10));
        self.deadline = Some((share * 4).min(usable * 8 / 10));
        self
    }

    /// Ends the search after a time.
    pub fn within(mut self, time: Duration) -> Limits {
        self.deadline = Some(time);
        self
    }
}

/// What a search asks of whoever started it. The search itself has no clock.
pub trait Control {
    /// The time since the search began to count: a search that ponders stands at zero.
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether to end at once. Asked about every thousand nodes, with how many there were.
    fn stopped(&self, _nodes: u64) -> bool {
        false
    }

    /// An iteration is over, or was broken off: the lines as they are now, best first.
    fn found(&mut self, _lines: &[crate::Line]) {}
}

/// Searches to the limit and tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Control for Silent {}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn limits(time: u64, increment: u64, moves: Option<u32>) -> (Duration, Duration) {
        let clock = Remaining { time: MS(time), increment: MS(increment), moves };
        let limits = Limits::default().on_clock(clock, MS(30));
        (limits.target.unwrap(), limits.deadline.unwrap())
    }

    #[test]
    fn the_deadline_is_never_beyond_the_clock() {
        for time in [1, 10, 31, 100, 1_000, 60_000, 10_000_000] {
            for increment in [0, 1, 100, 10_000] {
                for moves in [None, Some(0), Some(1), Some(40)] {
                    let (target, deadline) = limits(time, increment, moves);
                    assert!(deadline <= MS(time) && target <= deadline.max(MS(1)), "{time}+{increment} {moves:?}");
                }
            }
        }
    }

    #[test]
    fn the_last_move_before_the_time_control_may_take_longer() {
        assert!(limits(10_000, 0, Some(1)).0 > limits(10_000, 0, Some(20)).0);
    }
}
