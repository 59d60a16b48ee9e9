//! What the earlier lines of a record say about the next move.

use shakmaty::{Color, Move, Square};

use super::trail::{Trail, origin};

/// What is remembered of one legal move.
#[derive(Copy, Clone, Default)]
pub(super) struct Recall {
    /// Whether there are earlier lines at all.
    pub(super) any: bool,
    /// When the side to move last played it: 0 never, 1 at this ply, 2 before, 3 at its next turn, 4 later.
    pub(super) when: usize,
    /// 0 to 2: played in one line, two, more.
    pub(super) times: usize,
    /// Whether it was played in the very position: 0 unknown position, 1 no, 2 yes.
    pub(super) twin: usize,
    /// Whether it answered the opponent's last move: 0 unknown move, 1 no, 2 yes.
    pub(super) reply: usize,
    /// Whether it followed the mover's own last move: 0 unknown move, 1 no, 2 yes.
    pub(super) follow: usize,
}

/// The moves of the earlier lines of one record.
#[derive(Default)]
pub(super) struct Memory {
    /// Indexed by colour, origin and target; empty until a line is told.
    seen: Vec<Seen>,
    /// Newest last.
    steps: Vec<Step>,
}

#[derive(Copy, Clone, Default)]
struct Seen {
    /// Ply + 1 of the latest occurrence.
    ply: u8,
    times: u8,
}

/// A move of an earlier line and what came before it.
struct Step {
    place: u32,
    last: Option<u16>,
    own: Option<u16>,
    code: u16,
}

const COLORS: usize = 2;

/// Moves whose circumstances are remembered: more would make long records slow.
const MOST: usize = 1024;

/// Origin and target as one number below 4,096.
fn code(from: Square, to: Square) -> u16 {
    (from as u16) << 6 | to as u16
}

fn code_of(m: Move) -> u16 {
    code(origin(m), m.to())
}

/// What the memory says about the position at hand.
pub(super) struct Hint<'a> {
    memory: &'a Memory,
    side: usize,
    ply: usize,
    twin: Option<u16>,
    reply: Option<u16>,
    follow: Option<u16>,
}

impl Memory {
    /// Learns a line that starts with `turn` to move.
    pub(super) fn learn(&mut self, turn: Color, line: &[Move]) {
        if self.seen.is_empty() {
            self.seen = vec![Seen::default(); COLORS << 12];
        }
        let mut trail = Trail::default();
        let mut side = usize::from(turn.is_black());
        let (mut last, mut own) = (None, None);
        for (ply, m) in line.iter().enumerate() {
            let code = code_of(*m);
            let seen = &mut self.seen[side << 12 | usize::from(code)];
            seen.ply = ply.min(253) as u8 + 1;
            seen.times = seen.times.saturating_add(1);
            if self.steps.len() < MOST {
                self.steps.push(Step { place: trail.place, last, own, code });
            }
            (last, own) = (Some(code), last);
            trail.push(*m);
            side ^= 1;
        }
    }

    /// What it says after a trail.
    pub(super) fn hint(&self, turn: Color, trail: &Trail) -> Hint<'_> {
        let mut hint = Hint {
            memory: self,
            side: usize::from(turn.is_black()),
            ply: trail.ply,
            twin: None,
            reply: None,
            follow: None,
        };
        let [last, own] = trail.moves.map(|m| m.map(code_of));
        for step in &self.steps {
            if step.place == trail.place {
                hint.twin = Some(step.code);
            }
            if step.last == last && last.is_some() {
                hint.reply = Some(step.code);
            }
            if step.own == own && own.is_some() {
                hint.follow = Some(step.code);
            }
        }
        hint
    }
}

impl Hint<'_> {
    #[inline]
    pub(super) fn recall(&self, m: Move) -> Recall {
        if self.memory.seen.is_empty() {
            return Recall::default();
        }
        let code = code_of(m);
        let seen = self.memory.seen[self.side << 12 | usize::from(code)];
        let when = match usize::from(seen.ply) {
            0 => 0,
            ply if ply == self.ply + 1 => 1,
            ply if ply <= self.ply => 2,
            ply if ply == self.ply + 3 => 3,
            _ => 4,
        };
        let guess = |guess: Option<u16>| guess.map_or(0, |guess| 1 + usize::from(guess == code));
        Recall {
            any: true,
            when,
            times: usize::from(seen.times.clamp(1, 3)) - 1,
            twin: guess(self.twin),
            reply: guess(self.reply),
            follow: guess(self.follow),
        }
    }
}
