//! Quiescence search.

use super::Search;
use crate::{
    Position,
    generate::is_noisy,
    order::{Hints, Next, Picker, Wanted},
    packed::Packed,
    score::{self, DRAW, INFINITE, MATED_WITHIN, MAX_PLY, NONE},
    tt::{Bound, Entry},
};

impl Search<'_> {
    /// Searches captures and promotions, or all moves in check.
    pub(super) fn quiescence<const PV: bool>(
        &mut self,
        position: &Position,
        mut alpha: i32,
        beta: i32,
        ply: usize,
    ) -> i32 {
        self.lines[ply].clear();
        if self.must_stop() {
            return 0;
        }
        self.seldepth = self.seldepth.max(ply);
        let in_check = position.in_check();
        if let Some(score) = self.drawn(position, in_check, ply) {
            return score;
        }
        if ply >= MAX_PLY - 1 {
            return if in_check {
                DRAW
            } else {
                self.evaluate(position)
            };
        }
        let entry = self.table.get(position.key());
        if let Some(entry) = entry
            && !PV
        {
            let score = score::from_table(entry.score, ply);
            if entry.bound.cuts(score, alpha, beta) {
                return score;
            }
        }

        let mut best_score = -INFINITE;
        let mut raw = NONE;
        if !in_check {
            raw = entry
                .map(|entry| entry.eval)
                .filter(|&eval| eval != NONE)
                .unwrap_or_else(|| self.evaluate(position));
            best_score = self.corrected(position, raw, ply);
            if let Some(entry) = entry {
                let score = score::from_table(entry.score, ply);
                if entry.bound.corrects(score, best_score) && !score::is_decisive(score) {
                    best_score = score;
                }
            }
            if best_score >= beta {
                return best_score;
            }
            alpha = alpha.max(best_score);
        }

        let table_move = position.move_of(entry.map_or(Packed::NONE, |entry| entry.best));
        let (killers, before) = ([Packed::NONE; 2], self.before(ply));
        let mut best = None;
        let mut is_mate = in_check;
        let start = self.moves.len();
        let wanted = if in_check { Wanted::All } else { Wanted::Noisy };
        let mut picker = Picker::new(wanted);
        loop {
            let hints = Hints {
                table_move,
                killers,
                before,
                histories: self.histories,
            };
            let Some(Next { m, loses }) = picker.next(&mut self.moves, position, &hints) else {
                break;
            };
            is_mate = false;
            if best_score > -MATED_WITHIN {
                // Once a move avoids being mated, losing captures are skipped, and quiet moves in check.
                if loses || (in_check && !is_noisy(m)) {
                    break;
                }
            }
            let child = self.play(position, m, ply);
            let score = -self.quiescence::<PV>(&child, -beta, -alpha, ply + 1);
            self.leave();
            if self.stopped {
                break;
            }
            best_score = best_score.max(score);
            if score > alpha {
                alpha = score;
                best = Some(m);
                if PV {
                    self.set_line(ply, m);
                }
                if score >= beta {
                    break;
                }
            }
        }
        self.moves.truncate(start);
        if self.stopped {
            return 0;
        }
        if is_mate {
            return score::mated_in(ply);
        }
        let entry = Entry {
            best: best.into(),
            score: score::to_table(best_score, ply),
            eval: raw,
            depth: 0,
            bound: if best_score >= beta {
                Bound::Lower
            } else {
                Bound::Upper
            },
            pv: entry.is_some_and(|entry| entry.pv),
        };
        self.table.put(position.key(), entry);
        best_score
    }
}
