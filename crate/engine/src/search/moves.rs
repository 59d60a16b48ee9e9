//! The moves of a node: pruning, extensions, reductions, and updates of the histories.

use shakmaty::Move;

use super::Search;
use crate::{
    Position,
    history::PieceTo,
    order::{self, Hints, is_noisy},
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
    /// Index of its first move.
    pub start: usize,
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
        let Node { cut_node, improving, eval, raw, entry, was_pv, start, range } = node;
        let excluded = self.plies[ply].excluded;
        let before = self.before(ply);
        let first_alpha = alpha;
        let table_move = entry.map_or(Packed::NONE, |entry| entry.best);
        let killers = self.plies[ply].killers;
        let hints = Hints { table_move, killers, before, histories: self.histories };
        order::rank(&mut self.moves, position, &hints, false);
        let legal = self.moves.len() - start;
        if root {
            let allowed = std::mem::take(&mut self.root_moves);
            self.moves.retain(|ranked| allowed.contains(&ranked.m));
            self.root_moves = allowed;
        }
        let mut end = self.moves.len();
        if start == end {
            return if in_check { score::mated_in(ply) } else { DRAW };
        }
        // If the limits exclude root moves, the result is not stored.
        let is_whole = end - start == legal;
        let is_table_move_noisy = self.moves[start..].iter().any(|r| Packed::from(r.m) == table_move && is_noisy(r.m));

        let mut best_score = -INFINITE;
        let mut best: Option<Move> = None;
        let mut number = 0;
        let mut tried: [Option<Move>; 64] = [None; 64];
        let mut tried_count = 0;
        let mut at = start;
        while let Some(next) = order::next(&mut self.moves[at..end], position) {
            at += 1;
            let m = next.m;
            let packed = Packed::from(m);
            if packed == excluded {
                continue;
            }
            let quiet = !is_noisy(m);
            number += 1;
            let history = if quiet { self.histories.quiet(us, m, &before) } else { 0 };
            let mut reduced = reduction(depth, number);

            // Pruning, once a move avoids being mated.
            if !root && best_score > -MATED_WITHIN && position.pieces(us).any() {
                let reduced_depth = (depth - 1 - reduced / 1_024).max(0);
                if quiet {
                    // Late moves, and moves that cannot raise alpha. Checks are searched nevertheless.
                    let late = on(Part::LateMoves) && number as i32 > (4 + depth * depth) / (2 - i32::from(improving));
                    let futile = on(Part::Futility)
                        && !in_check
                        && reduced_depth <= 7
                        && eval + 90 + 95 * reduced_depth + history / 256 <= alpha;
                    if late || futile {
                        end = at + order::forcing_first(&mut self.moves[at..end], position);
                        if !(on(Part::LateChecks) && position.checks(m)) {
                            continue;
                        }
                    }
                    if on(Part::QuietExchange)
                        && reduced_depth <= 8
                        && !see::wins(position, m, -22 * reduced_depth * reduced_depth)
                    {
                        continue;
                    }
                } else if on(Part::CaptureExchange) && depth <= 7 && next.loses && !see::wins(position, m, -95 * depth)
                {
                    continue;
                }
            }

            // Singular extension, if the move of the table is better than all other moves.
            let mut extension = 0;
            if on(Part::Singular)
                && !root
                && depth >= 7
                && packed == table_move
                && !excluded.is_some()
                && ply < 2 * MAX_PLY / 3
                && let Some(entry) = entry
                && entry.depth >= depth - 3
                && entry.bound != Bound::Upper
                && !score::is_decisive(entry.score)
            {
                let table_score = score::from_table(entry.score, ply);
                let below = table_score - 2 * depth;
                self.plies[ply].excluded = packed;
                let others = self.node::<false>(position, below - 1, below, (depth - 1) / 2, ply, cut_node);
                self.plies[ply].excluded = Packed::NONE;
                if self.stopped {
                    return 0;
                }
                if others < below {
                    extension = 1;
                    if !PV && others < below - 20 && self.plies[ply].double_extensions < 6 {
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

            let child = position.play(m);
            let nodes_before = self.nodes;
            self.enter(position, Some(m), ply, &child);
            let new_depth = depth - 1 + extension;
            let mut score = 0;
            let mut full = !PV || number > 1;
            if on(Part::Reductions) && depth >= 2 && number > 1 + usize::from(root) && (quiet || next.loses || !was_pv)
            {
                // Late move reduction.
                reduced += [
                    (was_pv, -1_024),
                    (PV, -512),
                    (cut_node, 1_536),
                    (!improving, 512),
                    (child.in_check(), -1_024),
                    (is_table_move_noisy && quiet, 768),
                    (!quiet, -1_024),
                    (quiet && on(Part::ReductionHistory), -history / 10),
                    (self.plies[ply].killers.contains(&packed), -1_024),
                ]
                .iter()
                .map(|&(applies, change)| if applies { change } else { 0 })
                .sum::<i32>();
                let reduced_depth = (new_depth - reduced.max(0) / 1_024).clamp(1.min(new_depth), new_depth);
                score = -self.node::<false>(&child, -alpha - 1, -alpha, reduced_depth, ply + 1, true);
                full = score > alpha && reduced_depth < new_depth;
            }
            if full {
                score = -self.node::<false>(&child, -alpha - 1, -alpha, new_depth, ply + 1, !cut_node);
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
                    break;
                }
            }
            if quiet && best != Some(m) && tried_count < tried.len() {
                tried[tried_count] = Some(m);
                tried_count += 1;
            }
        }

        if number == 0 {
            // Only the excluded move was legal.
            return alpha;
        }
        best_score = best_score.clamp(range.0, range.1);
        if best_score >= beta
            && let Some(m) = best.filter(|&m| !is_noisy(m))
        {
            self.learn(position, m, &tried[..tried_count], depth, ply, &before);
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

    /// Rewards the quiet move that refuted a position, and punishes the quiet moves tried before.
    fn learn(
        &mut self,
        position: &Position,
        best: Move,
        tried: &[Option<Move>],
        depth: i32,
        ply: usize,
        before: &[Option<PieceTo>; 3],
    ) {
        let us = position.turn();
        let bonus = (160 * depth - 60).min(1_700);
        let killers = &mut self.plies[ply].killers;
        let packed = Packed::from(best);
        if on(Part::Killers) && killers[0] != packed {
            *killers = [packed, killers[0]];
        }
        self.histories.learn_quiet(us, best, before, bonus);
        for &m in tried.iter().flatten() {
            self.histories.learn_quiet(us, m, before, -bonus);
        }
    }
}
