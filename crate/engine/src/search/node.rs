//! A node before its moves: the transposition table, the evaluation, and pruning of the whole node.

use super::{Ply, Search, moves::Node};
use crate::{
    Position,
    generate::is_noisy,
    history::{PieceTo, Quiet, bonus},
    limits::TableResult,
    margins,
    packed::Packed,
    position::Changes,
    score::{self, DRAW, INFINITE, MATE, MAX_EVAL, MAX_PLY, NONE},
    tt::{Bound, Entry},
};

/// Plies that a result of endgame tables adds to the depth of its entry in the transposition table.
const TABLE_DEPTH: i32 = 6;

impl Search<'_> {
    /// Returns the score of a position by endgame tables. A win or loss is a bound, because a mate may be found.
    fn table_score(&mut self, position: &Position, ply: usize) -> Option<(i32, Bound)> {
        if position.halfmoves() != 0 || position.count() > self.table_pieces {
            return None;
        }
        Some(match self.control.table_result(position.chess())? {
            TableResult::Win => (score::table_win_in(ply), Bound::Lower),
            TableResult::Draw => (DRAW, Bound::Exact),
            TableResult::Loss => (-score::table_win_in(ply), Bound::Upper),
        })
    }

    /// Searches a position within a window. Returns its score, or a bound on it.
    pub(super) fn node<const PV: bool>(
        &mut self,
        position: &Position,
        mut alpha: i32,
        mut beta: i32,
        mut depth: i32,
        ply: usize,
        cut_node: bool,
    ) -> i32 {
        self.lines[ply].clear();
        if depth <= 0 {
            return self.quiescence::<PV>(position, alpha, beta, ply);
        }
        if self.must_stop() {
            return 0;
        }
        self.seldepth = self.seldepth.max(ply);
        let in_check = position.in_check();
        let root = ply == 0;
        if !root {
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
            // Mate distance pruning: no mate in this branch is shorter.
            alpha = alpha.max(score::mated_in(ply));
            beta = beta.min(MATE - ply as i32 - 1);
            if alpha >= beta {
                return alpha;
            }
        }

        let excluded = self.plies[ply].excluded;
        let entry = if excluded.is_some() {
            None
        } else {
            self.table.get(position.key())
        };
        if let Some(entry) = entry
            && !PV
            && entry.depth >= depth
            && position.halfmoves() < 90
        {
            let score = score::from_table(entry.score, ply);
            if entry.bound.cuts(score, alpha, beta) {
                if score >= beta
                    && let Some(m) = position.move_of(entry.best).filter(|m| !is_noisy(*m))
                {
                    let before = self.before(ply);
                    self.histories
                        .learn_quiet(Quiet::of(position, m), &before, bonus(depth) / 2);
                }
                return score;
            }
        }
        let was_pv = PV || entry.is_some_and(|entry| entry.pv);
        let mut range = (-INFINITE, INFINITE);
        if !root
            && !excluded.is_some()
            && let Some((score, bound)) = self.table_score(position, ply)
        {
            if bound.cuts(score, alpha, beta) {
                let depth = (depth + TABLE_DEPTH).min(MAX_PLY as i32 - 1);
                let score = score::to_table(score, ply);
                let entry = Entry {
                    best: Packed::NONE,
                    score,
                    eval: NONE,
                    depth,
                    bound,
                    pv: was_pv,
                };
                self.table.put(position.key(), entry);
                return score::from_table(score, ply);
            }
            match bound {
                Bound::Lower => range.0 = score,
                _ => range.1 = score,
            }
            alpha = alpha.max(range.0);
        }
        let has_table_move = entry.is_some_and(|entry| entry.best.is_some());

        let raw = match entry {
            _ if in_check => NONE,
            Some(entry) if entry.eval != NONE => entry.eval,
            _ => self.evaluate(position),
        };
        let eval = if in_check {
            NONE
        } else {
            self.corrected(position, raw, ply)
        };
        self.plies[ply].eval = eval;
        // Evaluations from the point of view of the side to move. The opponent moved between them.
        let last = ply
            .checked_sub(1)
            .map(|last| self.plies[last])
            .filter(|last| !in_check && last.eval != NONE);
        let is_worsening = last.is_some_and(|last| eval > -last.eval);
        if !excluded.is_some()
            && let Some(Ply {
                eval: last,
                quiet: Some(m),
                ..
            }) = last
        {
            let change = -margins::CHANGE_BONUS * (last + eval);
            self.histories.learn_anywhere(
                m,
                change.clamp(-margins::MAX_CHANGE_BONUS, margins::MAX_CHANGE_BONUS),
            );
        }
        self.plies[(ply + 2).min(MAX_PLY + 1)].cutoffs = 0;
        let improving = !in_check && {
            let earlier = [2, 4].into_iter().filter_map(|back| ply.checked_sub(back));
            let earlier = earlier
                .map(|ply| self.plies[ply].eval)
                .find(|&eval| eval != NONE);
            earlier.is_none_or(|earlier| eval > earlier)
        };
        self.plies[ply + 1].killers = [Packed::NONE; 2];
        self.plies[ply + 1].excluded = Packed::NONE;
        self.plies[ply].double_extensions = if root {
            0
        } else {
            self.plies[ply - 1].double_extensions
        };

        if !PV && !in_check && !excluded.is_some() && !score::is_decisive(beta) {
            // Reverse futility: the evaluation is far above beta.
            if depth <= margins::REVERSE_FUTILITY_DEPTH
                && eval - margins::REVERSE_FUTILITY * (depth - i32::from(improving))
                    + margins::REVERSE_FUTILITY_WORSENING * i32::from(is_worsening)
                    >= beta
                && eval < MAX_EVAL
            {
                return beta + (eval - beta) / 3;
            }
            // Razoring: only captures can raise alpha.
            if depth <= margins::RAZORING_DEPTH && eval + margins::RAZORING * depth < alpha {
                let score = self.quiescence::<false>(position, alpha, alpha + 1, ply);
                if self.stopped {
                    return 0;
                }
                if score <= alpha {
                    return score;
                }
            }
            // Null move: the score is above beta even if the opponent moves twice.
            let passed_before = ply > 0 && self.plies[ply - 1].played == PieceTo::NONE;
            if cut_node
                && depth >= margins::NULL_DEPTH
                && eval >= beta.max(beta - margins::NULL_SLOPE * depth + margins::NULL_BELOW)
                && !passed_before
                && position.pieces(position.turn()).any()
                && let Some(child) = position.pass()
            {
                let reduction = margins::NULL_REDUCTION
                    + depth / 3
                    + ((eval - beta) / margins::NULL_MARGIN).min(margins::NULL_EXTRA);
                self.enter(ply, (PieceTo::NONE, None), Changes::default(), &child);
                let score = -self.node::<false>(
                    &child,
                    -beta,
                    -beta + 1,
                    depth - reduction,
                    ply + 1,
                    !cut_node,
                );
                self.leave();
                if self.stopped {
                    return 0;
                }
                if score >= beta {
                    return if score::is_decisive(score) {
                        beta
                    } else {
                        score
                    };
                }
            }
        }

        // Internal reduction: a later iteration returns here with a move in the table.
        if depth >= margins::INTERNAL_REDUCTION_DEPTH && !has_table_move && (PV || cut_node) {
            depth -= 1;
        }

        let (moves, tried) = (self.moves.len(), self.tried.len());
        let table_move = position.move_of(entry.map_or(Packed::NONE, |entry| entry.best));
        let node = Node {
            depth,
            ply,
            cut_node,
            improving,
            eval,
            raw,
            entry,
            table_move,
            was_pv,
            range,
        };
        let score = self.moves::<PV>(position, (alpha, beta), node);
        self.moves.truncate(moves);
        self.tried.truncate(tried);
        score
    }
}
