//! The moves of a node: pruning, extensions, reductions, and updates of the histories.

use shakmaty::Move;

use super::Search;
use crate::{
    Position,
    generate::is_noisy,
    history::{PieceTo, Quiet, bonus},
    margins,
    order::{Hints, Next, Picker, Wanted},
    packed::Packed,
    parts::{Part, on},
    reduction::reduction,
    score::{self, DRAW, INFINITE, MATED_WITHIN, MAX_PLY},
    see,
    tt::{Bound, Entry},
};

/// State of a node before its moves are searched.
pub(super) struct Node {
    pub cut_node: bool,
    pub improving: bool,
    pub eval: i32,
    /// Evaluation of the network, without corrections.
    pub raw: i32,
    /// Entry of the transposition table.
    pub entry: Option<Entry>,
    pub was_pv: bool,
    /// Minimum and maximum of the score, by endgame tables.
    pub range: (i32, i32),
}

impl Search<'_> {
    /// Searches the moves of a node.
    pub(super) fn moves<const PV: bool>(
        &mut self,
        position: &Position,
        (mut alpha, beta): (i32, i32),
        depth: i32,
        ply: usize,
        node: Node,
    ) -> i32 {
        let (us, root, in_check) = (position.turn(), ply == 0, position.in_check());
        let Node { cut_node, improving, eval, raw, entry, was_pv, range } = node;
        let excluded = self.plies[ply].excluded;
        let before = self.before(ply);
        let first_alpha = alpha;
        let correction = if in_check { 0 } else { (eval - raw).abs() };
        let table_move = entry.map_or(Packed::NONE, |entry| entry.best);
        let killers = self.plies[ply].killers;
        // If the limits exclude root moves, the result is not stored.
        let is_whole = !root || self.root_moves.len() == position.legal_moves().len();
        let first = position.move_of(table_move);
        let is_table_move_noisy = first.is_some_and(is_noisy);
        let mut picker = Picker::new(Wanted::All);

        let mut best_score = -INFINITE;
        let mut best: Option<Move> = None;
        let mut number = 0;
        let tried = self.tried.len();
        loop {
            let hints = Hints { table_move: first, killers, before, histories: self.histories };
            let Some(Next { m, loses }) = picker.next(&mut self.moves, position, &hints) else { break };
            let packed = Packed::from(m);
            if packed == excluded || (root && !self.root_moves.contains(&m)) {
                continue;
            }
            let quiet = !is_noisy(m);
            number += 1;
            let history = match quiet {
                true => self.histories.success(position, &before).of(m),
                false => self.histories.of_capture(us, m),
            };
            let mut reduced = reduction(depth, number);

            // Pruning, once a move avoids being mated.
            if !root && best_score > -MATED_WITHIN && position.pieces(us).any() {
                let reduced_depth = (depth - 1 - reduced / 1_024).max(0);
                if quiet {
                    // Late moves, and moves that cannot raise alpha. Checks are searched nevertheless.
                    let late = on(Part::LateMoves)
                        && number as i32 > (margins::LATE_MOVES + depth * depth) / (2 - i32::from(improving));
                    let futile = on(Part::Futility)
                        && !in_check
                        && reduced_depth <= margins::FUTILITY_DEPTH
                        && eval
                            + margins::FUTILITY
                            + margins::FUTILITY_SLOPE * reduced_depth
                            + history / margins::FUTILITY_HISTORY
                            <= alpha;
                    if late || futile {
                        picker.skip_quiet(&mut self.moves, position);
                        if !(on(Part::LateChecks) && position.checks(m)) {
                            continue;
                        }
                    }
                    if on(Part::QuietExchange)
                        && reduced_depth <= margins::QUIET_EXCHANGE_DEPTH
                        && !see::wins(position, m, -margins::QUIET_EXCHANGE * reduced_depth * reduced_depth)
                    {
                        continue;
                    }
                } else if on(Part::CaptureExchange)
                    && depth <= margins::CAPTURE_EXCHANGE_DEPTH
                    && loses
                    && !see::wins(position, m, -margins::CAPTURE_EXCHANGE * depth)
                {
                    continue;
                }
            }

            // Singular extension, if the move of the table is better than all other moves.
            let mut extension = 0;
            if on(Part::Singular)
                && !root
                && depth >= margins::SINGULAR_DEPTH
                && packed == table_move
                && !excluded.is_some()
                && ply < 2 * MAX_PLY / 3
                && let Some(entry) = entry
                && entry.depth >= depth - margins::SINGULAR_ENTRY
                && entry.bound != Bound::Upper
                && !score::is_decisive(entry.score)
            {
                let table_score = score::from_table(entry.score, ply);
                let below = table_score - margins::SINGULAR * depth;
                self.plies[ply].excluded = packed;
                let others = self.node::<false>(position, below - 1, below, (depth - 1) / 2, ply, cut_node);
                self.plies[ply].excluded = Packed::NONE;
                if self.stopped {
                    return 0;
                }
                if others < below {
                    extension = 1;
                    if !PV
                        && others < below - margins::DOUBLE_EXTENSION
                        && self.plies[ply].double_extensions < margins::DOUBLE_EXTENSIONS
                    {
                        extension = 2;
                        self.plies[ply].double_extensions += 1;
                    }
                } else if below >= beta {
                    // Several moves refute the position.
                    return below;
                } else if table_score >= beta {
                    extension = -2;
                } else if cut_node {
                    extension = -1;
                }
            }

            let nodes_before = self.nodes;
            let child = self.play(position, m, ply);
            let new_depth = depth - 1 + extension;
            let mut score = 0;
            let mut full = !PV || number > 1;
            let mut is_reduced = false;
            if on(Part::Reductions)
                && depth >= margins::REDUCTION_DEPTH
                && number > 1 + usize::from(root)
                && (quiet || loses || !was_pv)
            {
                // Late move reduction.
                reduced += [
                    (was_pv, margins::REDUCE_WAS_PV),
                    (PV, margins::REDUCE_PV),
                    (cut_node, margins::REDUCE_CUT_NODE),
                    (!improving, margins::REDUCE_NOT_IMPROVING),
                    (child.in_check(), margins::REDUCE_CHECK),
                    (is_table_move_noisy && quiet, margins::REDUCE_AFTER_CAPTURE),
                    (!quiet, margins::REDUCE_CAPTURE),
                    (quiet && on(Part::ReductionHistory), -history / margins::REDUCTION_HISTORY),
                    (!quiet && on(Part::CaptureReduction), -history / margins::REDUCTION_CAPTURE_HISTORY),
                    (on(Part::CorrectionReduction), -margins::REDUCTION_CORRECTION * correction),
                    (on(Part::CutoffReduction) && self.plies[ply + 1].cutoffs > 3, margins::REDUCE_CUTOFFS),
                    (self.plies[ply].killers.contains(&packed), margins::REDUCE_KILLER),
                ]
                .iter()
                .map(|&(applies, change)| if applies { change } else { 0 })
                .sum::<i32>();
                let reduced_depth = (new_depth - reduced.max(0) / 1_024).clamp(1.min(new_depth), new_depth);
                score = -self.node::<false>(&child, -alpha - 1, -alpha, reduced_depth, ply + 1, true);
                full = score > alpha && reduced_depth < new_depth;
                is_reduced = true;
            }
            if full {
                score = -self.node::<false>(&child, -alpha - 1, -alpha, new_depth, ply + 1, !cut_node);
                if on(Part::Research)
                    && is_reduced
                    && !self.stopped
                    && let Some(m) = self.plies[ply].quiet
                {
                    let sign = if score >= beta { 1 } else { -i32::from(score <= alpha) };
                    self.histories.learn_after(m, &before, sign * bonus(new_depth));
                }
            }
            if PV && (number == 1 || score > alpha) {
                score = -self.node::<true>(&child, -beta, -alpha, new_depth, ply + 1, false);
            }
            self.leave();
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
                false if in_check => score::mated_in(ply),
                false => DRAW,
            };
        }
        best_score = best_score.clamp(range.0, range.1);
        if best_score >= beta
            && let Some(m) = best
        {
            let is_far = on(Part::FarAbove) && best_score > beta + margins::FAR_ABOVE;
            self.learn(position, m, tried, depth + i32::from(is_far), ply, &before);
        }
        if on(Part::Unrefuted)
            && best.is_none()
            && !excluded.is_some()
            && let Some(last) = ply.checked_sub(1)
            && let Some(m) = self.plies[last].quiet
        {
            let before = self.before(last);
            self.histories.learn_quiet(m, &before, bonus(depth) * margins::UNREFUTED / 16);
        }
        if !excluded.is_some() && is_whole {
            let bound = match best_score {
                _ if best_score >= beta => Bound::Lower,
                _ if best_score > first_alpha => Bound::Exact,
                _ => Bound::Upper,
            };
            let eval = self.plies[ply].eval;
            let corrects = bound.corrects(best_score, eval) && best.is_none_or(|m| !is_noisy(m));
            if !in_check && corrects && !score::is_decisive(best_score) {
                let error = best_score - eval + self.correction(position, ply);
                self.histories.learn_correction(position, &before, depth, error);
            }
            let entry = Entry {
                best: best.into(),
                score: score::to_table(best_score, ply),
                eval: raw,
                depth,
                bound,
                pv: was_pv,
            };
            self.table.put(position.key(), entry);
        }
        best_score
    }

    /// Rewards the move that refuted a position, and punishes the moves tried before, from index `tried` on. A capture does not
    /// punish quiet moves.
    fn learn(&mut self, position: &Position, best: Move, tried: usize, depth: i32, ply: usize, before: &[PieceTo; 3]) {
        let us = position.turn();
        let bonus = bonus(depth);
        let is_quiet = !is_noisy(best);
        if is_quiet {
            let killers = &mut self.plies[ply].killers;
            let packed = Packed::from(best);
            if on(Part::Killers) && killers[0] != packed {
                *killers = [packed, killers[0]];
            }
            self.histories.learn_quiet(Quiet::of(position, best), before, bonus);
        } else {
            self.histories.learn_capture(us, best, bonus);
        }
        for &m in &self.tried[tried..] {
            if is_noisy(m) {
                self.histories.learn_capture(us, m, -bonus);
            } else if is_quiet {
                self.histories.learn_quiet(Quiet::of(position, m), before, -bonus);
            }
        }
    }
}
