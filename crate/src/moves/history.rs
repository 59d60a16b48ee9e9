//! History of moves in the earlier lines of a record, as engines keep history, countermove and follow-up tables.

use shakmaty::{Color, Move, Square};

use super::prefix::{LinePrefix, origin};

/// Statistics of a legal move in the earlier lines.
#[derive(Copy, Clone, Default)]
pub(super) struct MoveHistory {
    /// Whether there are earlier lines at all.
    pub(super) any_line: bool,
    /// At which ply the side to move last played it: 0 never, 1 this ply, 2 an earlier one, 3 two plies later, 4 any other
    /// later one.
    pub(super) when: usize,
    /// Frequency in the earlier lines: 0 for at most once, 1 for twice, 2 for more often.
    pub(super) times: usize,
    /// Whether it was the last one played on the same board: 0 none was played, 1 no, 2 yes.
    pub(super) same_board: usize,
    /// Whether it was the last one played after the opponent's last move: 0 none was played, 1 no, 2 yes.
    pub(super) countermove: usize,
    /// Whether it was the last one played after the own last move: 0 none was played, 1 no, 2 yes.
    pub(super) follow_up: usize,
}

/// The moves of the earlier lines of one record.
#[derive(Default)]
pub(super) struct History {
    /// Indexed by colour, origin and target; empty until a line is added.
    counts: Vec<MoveCount>,
    /// Oldest first.
    moves: Vec<PlayedBefore>,
}

#[derive(Copy, Clone, Default)]
struct MoveCount {
    /// Ply + 1 of the latest occurrence.
    ply: u8,
    times: u8,
}

/// A move of an earlier line and the move before it.
struct PlayedBefore {
    board_hash: u32,
    last: Option<u16>,
    own: Option<u16>,
    code: u16,
}

const COLORS: usize = 2;

/// Maximum number of moves in [`History::moves`]. Each move is compared with every position.
const MAX_MOVES: usize = 1024;

/// Returns origin and target as one number below 4,096.
fn code(from: Square, to: Square) -> u16 {
    (from as u16) << 6 | to as u16
}

fn code_of(m: Move) -> u16 {
    code(origin(m), m.to())
}

/// Statistics of the earlier lines for one position of a line.
pub(super) struct PositionHistory<'a> {
    history: &'a History,
    side: usize,
    ply: usize,
    same_board: Option<u16>,
    countermove: Option<u16>,
    follow_up: Option<u16>,
}

impl History {
    /// Adds a line that starts with `turn` to move.
    pub(super) fn add(&mut self, turn: Color, line: &[Move]) {
        if self.counts.is_empty() {
            self.counts = vec![MoveCount::default(); COLORS << 12];
        }
        let mut prefix = LinePrefix::default();
        let mut side = usize::from(turn.is_black());
        let (mut last, mut own) = (None, None);
        for (ply, m) in line.iter().enumerate() {
            let code = code_of(*m);
            let counts = &mut self.counts[side << 12 | usize::from(code)];
            counts.ply = ply.min(253) as u8 + 1;
            counts.times = counts.times.saturating_add(1);
            if self.moves.len() < MAX_MOVES {
                self.moves.push(PlayedBefore {
                    board_hash: prefix.board_hash,
                    last,
                    own,
                    code,
                });
            }
            (last, own) = (Some(code), last);
            prefix.push(*m);
            side ^= 1;
        }
    }

    /// Returns the statistics for the position after `prefix`.
    pub(super) fn at(&self, turn: Color, prefix: &LinePrefix) -> PositionHistory<'_> {
        let mut found = PositionHistory {
            history: self,
            side: usize::from(turn.is_black()),
            ply: prefix.ply,
            same_board: None,
            countermove: None,
            follow_up: None,
        };
        let [last, own] = prefix.moves.map(|m| m.map(code_of));
        for before in &self.moves {
            if before.board_hash == prefix.board_hash {
                found.same_board = Some(before.code);
            }
            if before.last == last && last.is_some() {
                found.countermove = Some(before.code);
            }
            if before.own == own && own.is_some() {
                found.follow_up = Some(before.code);
            }
        }
        found
    }
}

impl PositionHistory<'_> {
    /// Returns the statistics of a legal move of the position.
    #[inline]
    pub(super) fn of_move(&self, m: Move) -> MoveHistory {
        if self.history.counts.is_empty() {
            return MoveHistory::default();
        }
        let code = code_of(m);
        let counts = self.history.counts[self.side << 12 | usize::from(code)];
        let when = match usize::from(counts.ply) {
            0 => 0,
            ply if ply == self.ply + 1 => 1,
            ply if ply <= self.ply => 2,
            ply if ply == self.ply + 3 => 3,
            _ => 4,
        };
        let compare =
            |played: Option<u16>| played.map_or(0, |played| 1 + usize::from(played == code));
        MoveHistory {
            any_line: true,
            when,
            times: usize::from(counts.times.clamp(1, 3)) - 1,
            same_board: compare(self.same_board),
            countermove: compare(self.countermove),
            follow_up: compare(self.follow_up),
        }
    }
}
