//! What the earlier lines of a record say about the next move.

use shakmaty::{Color, Move, Square};

/// What is remembered of one move; 0 is nothing.
#[derive(Copy, Clone, Default)]
pub(super) struct Recall(pub(super) u16);

/// The moves of the earlier lines of one record.
#[derive(Default)]
pub(super) struct Memory {
    /// Indexed by colour, origin and target: ply + 1 and whether more than one line had it; empty until a line is told.
    seen: Vec<Seen>,
    /// (move, move that followed), newest last.
    replies: Vec<(u16, u16)>,
}

#[derive(Copy, Clone, Default)]
struct Seen {
    /// Ply + 1 of the latest occurrence.
    ply: u8,
    times: u8,
}

const COLORS: usize = 2;

/// Origin and target as one number below 4,096.
fn code(m: Move) -> u16 {
    (m.from().unwrap_or(Square::A1) as u16) << 6 | m.to() as u16
}

fn slot(turn: Color, code: u16) -> usize {
    (turn.is_black() as usize) << 12 | code as usize
}

/// What the memory says about the position at hand.
pub(super) struct Hint<'a> {
    seen: &'a [Seen],
    turn: Color,
    ply: usize,
    reply: Option<u16>,
}

impl Memory {
    /// Learns a line that starts with `turn` to move.
    pub(super) fn learn(&mut self, mut turn: Color, line: &[Move]) {
        if self.seen.is_empty() {
            self.seen = vec![Seen::default(); COLORS << 12];
        }
        let mut before = None;
        for (ply, m) in line.iter().enumerate() {
            let code = code(*m);
            let seen = &mut self.seen[slot(turn, code)];
            seen.ply = ply.min(253) as u8 + 1;
            seen.times = seen.times.saturating_add(1);
            if let Some(before) = before {
                self.replies.push((before, code));
            }
            before = Some(code);
            turn = !turn;
        }
    }

    pub(super) fn hint(&self, turn: Color, ply: usize, last: Option<Move>) -> Hint<'_> {
        let reply = last.and_then(|last| {
            let last = code(last);
            self.replies.iter().rev().find(|(before, _)| *before == last).map(|(_, reply)| *reply)
        });
        Hint { seen: &self.seen, turn, ply, reply }
    }
}

impl Hint<'_> {
    #[inline]
    pub(super) fn recall(&self, m: Move) -> Recall {
        if self.seen.is_empty() {
            return Recall(0);
        }
        let code = code(m);
        let seen = self.seen[slot(self.turn, code)];
        let when = match seen.ply as usize {
            0 => 0,
            _ if seen.ply as usize == self.ply + 1 => 1,
            _ if seen.ply as usize <= self.ply => 2,
            _ if seen.ply as usize == self.ply + 3 => 3,
            _ => 4,
        };
        let times = (seen.times > 1) as u16;
        let reply = self.reply.map_or(0, |reply| 1 + (reply == code) as u16);
        let ply = self.ply.min(2) as u16;
        Recall(((when * 2 + times) * 3 + reply) * 3 + ply)
    }
}
