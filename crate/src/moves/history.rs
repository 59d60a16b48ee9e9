//! History of moves in the earlier lines of a record, as engines keep history, countermove and follow-up tables.

use shakmaty::{Color, Move, Square};

use super::prefix::{LinePrefix, origin};

/// Statistics of a legal move in the earlier lines.
pub(super) struct MoveHistory {
    /// At which ply the side to move last played it: 0 never, 1 this ply, 2 an earlier one, 3 two plies later, 4 any other
    /// later one.
    pub(super) when: usize,
    /// Frequency in the earlier lines: 0 for at most once, 1 for twice, 2 for more often.
    pub(super) times: usize,
    /// Whether it was the last one played on the same board, after the opponent's last move, and after the own last move:
    /// three digits of base 3, each 0 none was played, 1 no, 2 yes.
    pub(super) last_played: usize,
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
    /// The last moves on the same board, after the opponent's last move, and after the own last move.
    last_played: [Option<u16>; 3],
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
            last_played: [None; 3],
        };
        let [last, own] = prefix.moves.map(|m| m.map(code_of));
        for before in &self.moves {
            let is_same = [
                before.board_hash == prefix.board_hash,
                before.last == last && last.is_some(),
                before.own == own && own.is_some(),
            ];
            for (found, _) in found
                .last_played
                .iter_mut()
                .zip(is_same)
                .filter(|(_, same)| *same)
            {
                *found = Some(before.code);
            }
        }
        found
    }
}

impl PositionHistory<'_> {
    /// Returns the statistics of a legal move of the position; `None` without earlier lines.
    #[inline]
    pub(super) fn of_move(&self, m: Move) -> Option<MoveHistory> {
        let code = code_of(m);
        let at = self.side << 12 | usize::from(code);
        let counts = self.history.counts.get(at)?;
        let when = match usize::from(counts.ply) {
            0 => 0,
            ply if ply == self.ply + 1 => 1,
            ply if ply <= self.ply => 2,
            ply if ply == self.ply + 3 => 3,
            _ => 4,
        };
        let last_played = self.last_played.iter().fold(0, |number, played| {
            number * 3 + played.map_or(0, |played| 1 + usize::from(played == code))
        });
        Some(MoveHistory {
            when,
            times: usize::from(counts.times.clamp(1, 3)) - 1,
            last_played,
        })
    }
}
