//! The moves of a node: pruning, extensions, reductions, and updates of the histories.

use std::ops::ControlFlow;

use shakmaty::Move;

use super::Search;
use crate::{
    Position,
    generate::is_noisy,
    history::{PieceTo, Quiet, bonus},
    margins,
    order::{Hints, Next, Picker, Wanted},
    packed::Packed,
    reduction::reduction,
    score::{self, DRAW, INFINITE, MATED_WITHIN, MAX_PLY},
    see,
    tt::{Bound, Entry},
};

/// State of a node before its moves are searched.
pub(super) struct Node {
    pub depth: i32,
    pub ply: usize,
    pub cut_node: bool,
    pub improving: bool,
    /// The corrected evaluation.
    pub eval: i32,
    /// Evaluation of the network, without corrections.
    pub raw: i32,
    /// Entry of the transposition table.
    pub entry: Option<Entry>,
    /// Legal move of the entry.
    pub table_move: Option<Move>,
    pub was_pv: bool,
    /// Minimum and maximum of the score, by endgame tables.
    pub range: (i32, i32),
}

/// A move of a node before its search.
struct Candidate {
    m: Move,
    is_quiet: bool,
    /// Whether the move is a capture that loses material.
    loses: bool,
    /// Number of the move in the order of the search, from 1.
    number: usize,
    /// Success of the move so far.
    history: i32,
    /// Reduction by depth and number, in 1/1024 plies.
    reduction: i32,
}

/// Result of the searched moves of a node.
struct Searched {
    score: i32,
    /// The best move, if it raised alpha.
    best: Option<Move>,
    bound: Bound,
}

impl Search<'_> {
    /// Searches the moves of a node.
    pub(super) fn moves<const PV: bool>(
        &mut self,
        position: &Position,
        (mut alpha, beta): (i32, i32),
        node: Node,
    ) -> i32 {
        let Node {
            depth,
            ply,
            table_move,
            ..
        } = node;
        let root = ply == 0;
        let excluded = self.plies[ply].excluded;
        let before = self.before(ply);
        let first_alpha = alpha;
        let killers = self.plies[ply].killers;
        let mut picker = Picker::new(Wanted::All);

        let mut best_score = -INFINITE;
        let mut best: Option<Move> = None;
        let mut number = 0;
        let tried = self.tried.len();
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
            if Packed::from(m) == excluded || (root && !self.root_moves.contains(&m)) {
                continue;
            }
            number += 1;
            let is_quiet = !is_noisy(m);
            let history = match is_quiet {
                true => self.histories.success(position, &before).of(m),
                false => self.histories.of_capture(position.turn(), m),
            };
            let candidate = Candidate {
                m,
                is_quiet,
                loses,
                number,
                history,
                reduction: reduction(depth, number),
            };
            let may_skip =
                !root && best_score > -MATED_WITHIN && position.pieces(position.turn()).any();
            if may_skip && self.skips(position, &node, &candidate, alpha, &mut picker) {
                continue;
            }
            let extension = match self.extension::<PV>(position, &node, m, beta) {
                ControlFlow::Continue(extension) => extension,
                ControlFlow::Break(score) => return score,
            };
            if self.stopped {
                return 0;
            }

            let nodes_before = self.nodes;
            let score = self.successor::<PV>(position, (alpha, beta), &node, &candidate, extension);
            if self.stopped {
                return 0;
            }
            if root {
                self.count_root(m, self.nodes - nodes_before);
            }

            best_score = best_score.max(score);
            if score > alpha {
                alpha = score;
                best = Some(m);
                if PV {
                    self.set_line(ply, m);
                }
                if root {
                    self.root_score = Some(score);
                }
                if score >= beta {
                    self.plies[ply].cutoffs += u32::from(PV || extension < 2);
                    break;
                }
            }
            if best != Some(m) {
                self.tried.push(m);
            }
        }

        if number == 0 {
            return match excluded.is_some() {
                // Only the excluded move was legal.
                true => alpha,
                false if position.in_check() => score::mated_in(ply),
                false => DRAW,
            };
        }
        let score = best_score.clamp(node.range.0, node.range.1);
        if score >= beta
            && let Some(m) = best
        {
            let is_far = score > beta + margins::FAR_ABOVE;
            self.learn(position, m, tried, depth + i32::from(is_far), ply, &before);
        }
        if !excluded.is_some() {
            let bound = match score {
                _ if score >= beta => Bound::Lower,
                _ if score > first_alpha => Bound::Exact,
                _ => Bound::Upper,
            };
            self.record(position, &node, &before, &Searched { score, best, bound });
        }
        score
    }

    /// Returns whether to skip a move, because it is late or cannot raise alpha, or because it loses material. After the
    /// first such quiet move, the picker skips the remaining quiet moves that give no check.
    fn skips(
        &mut self,
        position: &Position,
        node: &Node,
        candidate: &Candidate,
        alpha: i32,
        picker: &mut Picker,
    ) -> bool {
        let Node {
            depth,
            improving,
            eval,
            ..
        } = *node;
        let Candidate {
            m,
            is_quiet,
            loses,
            number,
            history,
            reduction,
        } = *candidate;
        if !is_quiet {
            return depth <= margins::CAPTURE_EXCHANGE_DEPTH
                && loses
                && !see::wins(position, m, -margins::CAPTURE_EXCHANGE * depth);
        }
        let reduced_depth = (depth - 1 - reduction / 1_024).max(0);
        let late =
            number as i32 > (margins::LATE_MOVES + depth * depth) / (2 - i32::from(improving));
        let futile = !position.in_check()
            && reduced_depth <= margins::FUTILITY_DEPTH
            && eval
                + margins::FUTILITY
                + margins::FUTILITY_SLOPE * reduced_depth
                + history / margins::FUTILITY_HISTORY
                <= alpha;
        if late || futile {
            picker.skip_quiet(&mut self.moves, position);
            // Checks are searched nevertheless.
            if !position.checks(m) {
                return true;
            }
        }
        reduced_depth <= margins::QUIET_EXCHANGE_DEPTH
            && !see::wins(
                position,
                m,
                -margins::QUIET_EXCHANGE * reduced_depth * reduced_depth,
            )
    }

    /// Returns the extension of a move, in plies. The move of the table is extended if all other moves are worse (singular
    /// extension). Breaks with a score of at least beta if other moves refute the position, too.
    fn extension<const PV: bool>(
        &mut self,
        position: &Position,
        node: &Node,
        m: Move,
        beta: i32,
    ) -> ControlFlow<i32, i32> {
        let Node {
            depth,
            ply,
            cut_node,
            ..
        } = *node;
        let packed = Packed::from(m);
        let Some(entry) = node.entry.filter(|entry| {
            depth >= margins::SINGULAR_DEPTH
                && packed == entry.best
                && entry.depth >= depth - margins::SINGULAR_ENTRY
                && entry.bound != Bound::Upper
                && !score::is_decisive(entry.score)
        }) else {
            return ControlFlow::Continue(0);
        };
        if ply == 0 || ply >= 2 * MAX_PLY / 3 || self.plies[ply].excluded.is_some() {
            return ControlFlow::Continue(0);
        }
        let table_score = score::from_table(entry.score, ply);
        let below = table_score - margins::SINGULAR * depth;
        self.plies[ply].excluded = packed;
        let others = self.node::<false>(position, below - 1, below, (depth - 1) / 2, ply, cut_node);
        self.plies[ply].excluded = Packed::NONE;
        if self.stopped {
            return ControlFlow::Continue(0);
        }
        if others < below {
            let is_far = !PV && others < below - margins::DOUBLE_EXTENSION;
            if !is_far || self.plies[ply].double_extensions >= margins::DOUBLE_EXTENSIONS {
                return ControlFlow::Continue(1);
            }
            self.plies[ply].double_extensions += 1;
            return ControlFlow::Continue(2);
        }
        if below >= beta {
            return ControlFlow::Break(below);
        }
        ControlFlow::Continue(if table_score >= beta {
            -2
        } else {
            -i32::from(cut_node)
        })
    }

    /// Searches the position after a move: with a reduced depth and a null window first, and again if the score is above
    /// alpha.
    fn successor<const PV: bool>(
        &mut self,
        position: &Position,
        (alpha, beta): (i32, i32),
        node: &Node,
        candidate: &Candidate,
        extension: i32,
    ) -> i32 {
        let Node {
            depth,
            ply,
            cut_node,
            was_pv,
            ..
        } = *node;
        let Candidate {
            m,
            is_quiet,
            loses,
            number,
            ..
        } = *candidate;
        let child = self.play(position, m, ply);
        let new_depth = depth - 1 + extension;
        let mut score = 0;
        let mut full = !PV || number > 1;
        let mut is_reduced = false;
        if depth >= margins::REDUCTION_DEPTH
            && number > 1 + usize::from(ply == 0)
            && (is_quiet || loses || !was_pv)
        {
            let reduction = self.reduction::<PV>(node, candidate, child.in_check());
            let reduced_depth =
                (new_depth - reduction.max(0) / 1_024).clamp(1.min(new_depth), new_depth);
            score = -self.node::<false>(&child, -alpha - 1, -alpha, reduced_depth, ply + 1, true);
            full = score > alpha && reduced_depth < new_depth;
            is_reduced = true;
        }
        if full {
            score = -self.node::<false>(&child, -alpha - 1, -alpha, new_depth, ply + 1, !cut_node);
            if is_reduced
                && !self.stopped
                && let Some(m) = self.plies[ply].quiet
            {
                let sign = if score >= beta {
                    1
                } else {
                    -i32::from(score <= alpha)
                };
                self.histories
                    .learn_after(m, &self.before(ply), sign * bonus(new_depth));
            }
        }
        if PV && (number == 1 || score > alpha) {
            score = -self.node::<true>(&child, -beta, -alpha, new_depth, ply + 1, false);
        }
        self.leave();
        score
    }

    /// Returns the reduction of a late move, in 1/1024 plies. It may be negative.
    fn reduction<const PV: bool>(
        &self,
        node: &Node,
        candidate: &Candidate,
        gives_check: bool,
    ) -> i32 {
        let Node { ply, eval, raw, .. } = *node;
        let Candidate {
            m,
            is_quiet,
            history,
            ..
        } = *candidate;
        // The evaluations of a position in check are equal.
        let correction = (eval - raw).abs();
        let changes = [
            (node.was_pv, margins::REDUCE_WAS_PV),
            (PV, margins::REDUCE_PV),
            (node.cut_node, margins::REDUCE_CUT_NODE),
            (!node.improving, margins::REDUCE_NOT_IMPROVING),
            (gives_check, margins::REDUCE_CHECK),
            (
                is_quiet && node.table_move.is_some_and(is_noisy),
                margins::REDUCE_AFTER_CAPTURE,
            ),
            (!is_quiet, margins::REDUCE_CAPTURE),
            (self.plies[ply + 1].cutoffs > 3, margins::REDUCE_CUTOFFS),
            (
                self.plies[ply].killers.contains(&Packed::from(m)),
                margins::REDUCE_KILLER,
            ),
        ];
        let units = match is_quiet {
            true => margins::REDUCTION_HISTORY,
            false => margins::REDUCTION_CAPTURE_HISTORY,
        };
        candidate.reduction - history / units - margins::REDUCTION_CORRECTION * correction
            + changes
                .iter()
                .map(|&(applies, change)| if applies { change } else { 0 })
                .sum::<i32>()
    }

    /// Records the result of a node in the histories and in the transposition table. `before` are the moves played one, two
    /// and four plies ago.
    fn record(
        &mut self,
        position: &Position,
        node: &Node,
        before: &[PieceTo; 3],
        searched: &Searched,
    ) {
        let Node {
            depth,
            ply,
            raw,
            was_pv,
            ..
        } = *node;
        let Searched { score, best, bound } = *searched;
        if best.is_none()
            && let Some(last) = ply.checked_sub(1)
            && let Some(m) = self.plies[last].quiet
        {
            let before = self.before(last);
            self.histories
                .learn_quiet(m, &before, bonus(depth) * margins::UNREFUTED / 16);
        }
        if ply == 0 && self.root_moves.len() != position.legal_moves().len() {
            // The limits exclude moves.
            return;
        }
        // A singular search of this ply may have corrected the evaluation again.
        let eval = self.plies[ply].eval;
        let corrects = bound.corrects(score, eval) && best.is_none_or(|m| !is_noisy(m));
        if !position.in_check() && corrects && !score::is_decisive(score) {
            let error = score - eval + self.correction(position, ply);
            self.histories
                .learn_correction(position, before, depth, error);
        }
        let score = score::to_table(score, ply);
        self.table.put(
            position.key(),
            Entry {
                best: best.into(),
                score,
                eval: raw,
                depth,
                bound,
                pv: was_pv,
            },
        );
    }

    /// Rewards the move that refuted a position, and punishes the moves tried before, from index `tried` on. A capture does not
    /// punish quiet moves.
    fn learn(
        &mut self,
        position: &Position,
        best: Move,
        tried: usize,
        depth: i32,
        ply: usize,
        before: &[PieceTo; 3],
    ) {
        let us = position.turn();
        let bonus = bonus(depth);
        let is_quiet = !is_noisy(best);
        if is_quiet {
            let killers = &mut self.plies[ply].killers;
            let packed = Packed::from(best);
            if killers[0] != packed {
                *killers = [packed, killers[0]];
            }
            self.histories
                .learn_quiet(Quiet::of(position, best), before, bonus);
        } else {
            self.histories.learn_capture(us, best, bonus);
        }
        for &m in &self.tried[tried..] {
            if is_noisy(m) {
                self.histories.learn_capture(us, m, -bonus);
            } else if is_quiet {
                self.histories
                    .learn_quiet(Quiet::of(position, m), before, -bonus);
            }
        }
    }
}
