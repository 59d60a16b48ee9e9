//! The end of every line: captures, until nothing hangs.

use shakmaty::Role;

use super::Search;
use crate::{
    Position,
    order::{self, Hints, is_noisy},
    packed::Packed,
    parts::{Part, on},
    score::{self, DRAW, INFINITE, MATED_WITHIN, MAX_PLY, NONE},
    see,
    tt::{Bound, Entry},
};

impl Search<'_> {
    /// Captures and promotions only, until nothing hangs; in check, all moves.
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
        self.deepest = self.deepest.max(ply);
        let in_check = position.in_check();
        if let Some(score) = self.drawn(position, in_check, ply) {
            return score;
        }
        if ply >= MAX_PLY - 1 {
            return if in_check { DRAW } else { self.evaluate(position) };
        }
        let known = self.table.get(position.key());
        if let Some(entry) = known
            && !PV
        {
            let score = score::from_table(entry.score, ply);
            let decides = match entry.bound {
                Bound::Exact => true,
                Bound::Lower => score >= beta,
                Bound::Upper => score <= alpha,
            };
            if decides {
                return score;
            }
        }

        let mut best_score = -INFINITE;
        let mut raw = NONE;
        if !in_check {
            raw = known.map(|entry| entry.eval).filter(|&eval| eval != NONE).unwrap_or_else(|| self.evaluate(position));
            best_score = self.corrected(position, raw, ply);
            if let Some(entry) = known {
                let score = score::from_table(entry.score, ply);
                let tells = match entry.bound {
                    Bound::Exact => true,
                    Bound::Lower => score > best_score,
                    Bound::Upper => score < best_score,
                };
                if tells && !score::is_mate(score) {
                    best_score = score;
                }
            }
            if best_score >= beta {
                return best_score;
            }
            alpha = alpha.max(best_score);
        }
        let stand_pat = best_score;

        let start = self.moves.len();
        let before = self.before(ply);
        {
            let hints = Hints {
                best: known.map_or(Packed::NONE, |entry| entry.best),
                killers: [Packed::NONE; 2],
                before,
                histories: &*self.histories,
            };
            order::rank(&mut self.moves, position, &hints, !in_check);
        }
        let end = self.moves.len();
        if in_check && start == end {
            return score::mated_in(ply);
        }
        let mut best = None;
        let mut at = start;
        while let Some(next) = order::next(&mut self.moves[at..end], position) {
            at += 1;
            let m = next.m;
            if best_score > -MATED_WITHIN {
                // What loses material is no answer; nor in check are quiet moves, once one is found.
                if next.loses || (in_check && !is_noisy(m)) {
                    break;
                }
                if on(Part::Delta) && !in_check {
                    let gain = m.capture().map_or(0, see::value) + m.promotion().map_or(0, |_| see::value(Role::Queen));
                    let most = stand_pat + 180 + gain;
                    if most <= alpha {
                        best_score = best_score.max(most);
                        continue;
                    }
                }
            }
            let child = position.play(m);
            self.enter(position, Some(m), ply, &child);
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
        let entry = Entry {
            best: best.map_or(Packed::NONE, Packed::from),
            score: score::to_table(best_score, ply),
            eval: raw,
            depth: 0,
            bound: if best_score >= beta { Bound::Lower } else { Bound::Upper },
            pv: known.is_some_and(|entry| entry.pv),
        };
        self.table.put(position.key(), entry);
        best_score
    }
}
