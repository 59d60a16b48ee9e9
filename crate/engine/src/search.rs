//! Principal variation search: alpha-beta with a null window for all but the first move, and the reasons to search a
//! branch less deep, not at all, or deeper.
//!
//! Scores are from the point of view of the side to move. The search knows no threads, clocks or output: it asks its
//! [`Control`](crate::limits::Control).

use std::time::Duration;

use shakmaty::{Move, Role};

use crate::{
    Position,
    history::{Histories, PieceTo},
    limits::{Control, Limits},
    network::{Accumulators, Network},
    order::{self, Hints, Ranked, is_noisy},
    packed::Packed,
    reduction::reduction,
    score::{self, DRAW, INFINITE, MATE, MATED_WITHIN, MAX_EVAL, MAX_PLY, NONE},
    see,
    tt::{Bound, Entry, Table},
};

/// Nodes between two questions whether to stop.
const POLL: u64 = 1_024;

/// What is remembered of a ply of the line that is being searched.
#[derive(Clone, Copy, Default)]
struct Ply {
    /// The corrected evaluation, [`NONE`] in check.
    eval: i32,
    /// The move that was played here; none for a null move.
    played: Option<PieceTo>,
    killers: [Packed; 2],
    /// A move that is left out, to see how good the others are.
    excluded: Packed,
    /// How often the line was searched two plies deeper.
    doubled: i32,
}

/// A search of one position.
pub struct Search<'a> {
    table: &'a Table,
    histories: &'a mut Histories,
    network: &'static Network,
    limits: &'a Limits,
    control: &'a mut dyn Control,
    /// Keys of the game and of the line that is being searched, for repetitions.
    keys: Vec<u64>,
    /// How many keys are of the game.
    game: usize,
    plies: Vec<Ply>,
    /// The first layer of the network for each position of the line.
    accumulators: Vec<Accumulators>,
    moves: Vec<Ranked>,
    /// The best line from each ply on.
    lines: Vec<Vec<Move>>,
    /// Moves that the root may play.
    root_moves: Vec<Move>,
    /// Nodes that each move of the root took.
    root_nodes: Vec<(Move, u64)>,
    /// The score of the best move of the root so far.
    root_score: Option<i32>,
    nodes: u64,
    deepest: usize,
    stopped: bool,
}

impl<'a> Search<'a> {
    /// A search from the last position of a game whose keys are given, the last one that of the position.
    pub fn new(
        keys: Vec<u64>,
        table: &'a Table,
        histories: &'a mut Histories,
        limits: &'a Limits,
        control: &'a mut dyn Control,
    ) -> Search<'a> {
        Search {
            table,
            histories,
            network: Network::embedded(),
            limits,
            control,
            game: keys.len(),
            keys,
            plies: vec![Ply { eval: NONE, ..Ply::default() }; MAX_PLY + 2],
            accumulators: Vec::with_capacity(MAX_PLY + 2),
            moves: Vec::with_capacity(1_024),
            lines: vec![Vec::new(); MAX_PLY + 2],
            root_moves: Vec::new(),
            root_nodes: Vec::new(),
            root_score: None,
            nodes: 0,
            deepest: 0,
            stopped: false,
        }
    }

    /// Searches the root within a window, with `moves` alone.
    pub fn root(&mut self, position: &Position, moves: &[Move], alpha: i32, beta: i32, depth: i32) -> i32 {
        self.accumulators.clear();
        self.accumulators.push(Accumulators::of_position(self.network, position));
        self.root_moves.clear();
        self.root_moves.extend_from_slice(moves);
        self.deepest = 0;
        self.root_score = None;
        self.node::<true>(position, alpha, beta, depth, 0, false)
    }

    /// The best line of the last search of the root; empty if no move was better than alpha.
    pub fn line(&self) -> &[Move] {
        &self.lines[0]
    }

    /// Nodes searched.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The longest line of the last search of the root, in plies.
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    /// Nodes that a move of the root took.
    pub fn nodes_of(&self, m: Move) -> u64 {
        self.root_nodes.iter().find(|(root, _)| *root == m).map_or(0, |(_, nodes)| *nodes)
    }

    /// The score of the best line of a root search that was stopped, if a move was better than alpha.
    pub fn partial(&self) -> Option<i32> {
        self.root_score
    }

    /// How full the table is, in thousandths.
    pub fn table_full(&self) -> usize {
        self.table.full()
    }

    /// Whether the search ended before it was done.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// The time that counts.
    pub fn elapsed(&self) -> Duration {
        self.control.elapsed()
    }

    /// Who is told of lines.
    pub fn control(&mut self) -> &mut dyn Control {
        self.control
    }

    /// Whether to stop now.
    fn must_stop(&mut self) -> bool {
        if self.limits.nodes.is_some_and(|most| self.nodes >= most) {
            self.stopped = true;
        } else if self.nodes.is_multiple_of(POLL) {
            self.poll();
        }
        self.stopped
    }

    /// Asks whether to stop. A function of its own: in WebAssembly the search may be suspended within it, and nowhere else.
    #[cold]
    #[inline(never)]
    fn poll(&mut self) {
        let late = self.limits.deadline.is_some_and(|deadline| self.control.elapsed() >= deadline);
        self.stopped |= late || self.control.stopped(self.nodes);
    }

    /// Whether the last position of the line stood on the board before: once in this search, or twice in the game.
    fn repeated(&self, position: &Position) -> bool {
        let Some((here, before)) = self.keys.split_last() else { return false };
        let mut seen = 0;
        for (back, key) in before.iter().rev().enumerate().take(position.halfmoves()).skip(1).step_by(2) {
            if key == here {
                seen += if before.len() - 1 - back >= self.game { 2 } else { 1 };
                if seen >= 2 {
                    return true;
                }
            }
        }
        false
    }

    /// The moves that the line played one, two and four plies before a ply.
    fn before(&self, ply: usize) -> [Option<PieceTo>; 3] {
        [1, 2, 4].map(|back| ply.checked_sub(back).and_then(|earlier| self.plies[earlier].played))
    }

    /// The evaluation with its correction.
    fn corrected(&self, position: &Position, raw: i32) -> i32 {
        (raw + self.histories.correction(position)).clamp(-MAX_EVAL, MAX_EVAL)
    }

    fn set_line(&mut self, ply: usize, m: Move) {
        let (head, tail) = self.lines.split_at_mut(ply + 1);
        head[ply].clear();
        head[ply].push(m);
        head[ply].extend_from_slice(&tail[0]);
    }

    /// The evaluation without search.
    fn evaluate(&self, position: &Position) -> i32 {
        self.accumulators.last().map_or(DRAW, |sums| self.network.evaluate(position, sums))
    }

    /// Goes on to `child` by a move, or by none.
    fn enter(&mut self, position: &Position, m: Option<Move>, ply: usize, child: &Position) {
        self.plies[ply].played = m.map(|m| PieceTo::of(position.turn(), m));
        self.keys.push(child.key());
        if let Some(sums) = self.accumulators.last() {
            self.accumulators.push(m.map_or_else(|| sums.clone(), |m| sums.after(self.network, position, m, child)));
        }
        self.nodes += 1;
    }

    fn leave(&mut self) {
        self.keys.pop();
        self.accumulators.pop();
    }

    fn node<const PV: bool>(
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
        self.deepest = self.deepest.max(ply);
        let in_check = position.in_check();
        let root = ply == 0;
        if !root {
            if let Some(score) = self.drawn(position, in_check, ply) {
                return score;
            }
            if ply >= MAX_PLY - 1 {
                return if in_check { DRAW } else { self.evaluate(position) };
            }
            // A mate that was found already is shorter than any in this branch.
            alpha = alpha.max(score::mated_in(ply));
            beta = beta.min(MATE - ply as i32 - 1);
            if alpha >= beta {
                return alpha;
            }
        }

        let excluded = self.plies[ply].excluded;
        let known = if excluded.is_some() { None } else { self.table.get(position.key()) };
        if let Some(entry) = known
            && !PV
            && entry.depth >= depth
            && position.halfmoves() < 90
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
        let was_pv = PV || known.is_some_and(|entry| entry.pv);
        let best_known = known.map_or(Packed::NONE, |entry| entry.best);

        // The evaluation: raw as the table has it, corrected, and bettered by what the table knows.
        let raw = match known {
            _ if in_check => NONE,
            Some(entry) if entry.eval != NONE => entry.eval,
            _ => self.evaluate(position),
        };
        let mut eval = NONE;
        if !in_check {
            let corrected = self.corrected(position, raw);
            eval = corrected;
            if let Some(entry) = known {
                let score = score::from_table(entry.score, ply);
                let tells = match entry.bound {
                    Bound::Exact => true,
                    Bound::Lower => score > eval,
                    Bound::Upper => score < eval,
                };
                if tells && !score::is_mate(score) {
                    eval = score;
                }
            }
            self.plies[ply].eval = corrected;
        } else {
            self.plies[ply].eval = NONE;
        }
        let improving = !in_check && {
            let earlier = [2, 4].into_iter().filter_map(|back| ply.checked_sub(back));
            let earlier = earlier.map(|ply| self.plies[ply].eval).find(|&eval| eval != NONE);
            earlier.is_none_or(|earlier| self.plies[ply].eval > earlier)
        };
        self.plies[ply + 1].killers = [Packed::NONE; 2];
        self.plies[ply + 1].excluded = Packed::NONE;
        self.plies[ply].doubled = if root { 0 } else { self.plies[ply - 1].doubled };

        if !PV && !in_check && !excluded.is_some() && !score::is_mate(beta) {
            // Reverse futility: so far ahead that the opponent will not come here.
            if depth <= 8 && eval - 75 * (depth - i32::from(improving)) >= beta && eval < MAX_EVAL {
                return beta + (eval - beta) / 3;
            }
            // Razoring: so far behind that only captures can help.
            if depth <= 3 && eval + 200 * depth < alpha {
                let score = self.quiescence::<false>(position, alpha, alpha + 1, ply);
                if self.stopped {
                    return 0;
                }
                if score <= alpha {
                    return score;
                }
            }
            // Null move: good enough even if the opponent moves twice.
            let passed_before = ply > 0 && self.plies[ply - 1].played.is_none();
            if depth >= 3
                && eval >= beta
                && self.plies[ply].eval >= beta - 20 * depth + 120
                && !passed_before
                && position.pieces(position.turn()).any()
                && let Some(child) = position.pass()
            {
                let less = 3 + depth / 3 + ((eval - beta) / 180).min(3);
                self.enter(position, None, ply, &child);
                let score = -self.node::<false>(&child, -beta, -beta + 1, depth - less, ply + 1, !cut_node);
                self.leave();
                if self.stopped {
                    return 0;
                }
                if score >= beta {
                    return if score >= MATED_WITHIN { beta } else { score };
                }
            }
        }

        // A node without a known move is cheaper to come back to.
        if depth >= 4 && !best_known.is_some() && (PV || cut_node) {
            depth -= 1;
        }

        let start = self.moves.len();
        let score = self.moves::<PV>(
            position,
            (alpha, beta),
            depth,
            ply,
            Node { cut_node, improving, eval, raw, known, was_pv, start },
        );
        self.moves.truncate(start);
        score
    }

    /// Tries the moves of a node.
    fn moves<const PV: bool>(
        &mut self,
        position: &Position,
        (mut alpha, beta): (i32, i32),
        depth: i32,
        ply: usize,
        node: Node,
    ) -> i32 {
        let (us, root, in_check) = (position.turn(), ply == 0, position.in_check());
        let Node { cut_node, improving, eval, raw, known, was_pv, start } = node;
        let excluded = self.plies[ply].excluded;
        let before = self.before(ply);
        let first_alpha = alpha;
        let best_known = known.map_or(Packed::NONE, |entry| entry.best);
        {
            let hints =
                Hints { best: best_known, killers: self.plies[ply].killers, before, histories: &*self.histories };
            order::rank(&mut self.moves, position, &hints, false);
        }
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
        // With some moves of the root left out, what is found says nothing of the position.
        let whole = end - start == legal;
        let known_noisy = self.moves[start..].iter().any(|r| Packed::from(r.m) == best_known && is_noisy(r.m));

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
            let history = if quiet { self.histories.quiet(us, m, &before) } else { self.histories.capture(us, m) };
            let mut reduced = reduction(depth, number);

            // Moves that need not be tried, once there is one that does not get mated.
            if !root && best_score > -MATED_WITHIN && position.pieces(us).any() {
                let reduced_depth = (depth - 1 - reduced / 1_024).max(0);
                if quiet {
                    // Late moves, and moves that cannot make good what is missing; a check may.
                    let late = number as i32 > (4 + depth * depth) / (2 - i32::from(improving));
                    let futile =
                        !in_check && reduced_depth <= 7 && eval + 90 + 95 * reduced_depth + history / 256 <= alpha;
                    if late || futile {
                        end = at + order::forcing_first(&mut self.moves[at..end], position);
                        if !position.checks(m) {
                            continue;
                        }
                    }
                    // Moves that were always bad.
                    if reduced_depth <= 4 && history < -3_500 * depth {
                        continue;
                    }
                    if reduced_depth <= 8 && !see::wins(position, m, -22 * reduced_depth * reduced_depth) {
                        continue;
                    }
                } else if depth <= 7 && next.loses && !see::wins(position, m, -95 * depth) {
                    continue;
                }
            }

            // Singular extension: how good is the position without the known best move?
            let mut extension = 0;
            if !root
                && depth >= 7
                && packed == best_known
                && !excluded.is_some()
                && ply < 2 * MAX_PLY / 3
                && let Some(entry) = known
                && entry.depth >= depth - 3
                && entry.bound != Bound::Upper
                && !score::is_mate(entry.score)
            {
                let known_score = score::from_table(entry.score, ply);
                let below = known_score - 2 * depth;
                self.plies[ply].excluded = packed;
                // The moves of the inner search stand after those of this one.
                let others = self.node::<false>(position, below - 1, below, (depth - 1) / 2, ply, cut_node);
                self.plies[ply].excluded = Packed::NONE;
                if self.stopped {
                    return 0;
                }
                if others < below {
                    extension = 1;
                    if !PV && others < below - 20 && self.plies[ply].doubled < 6 {
                        extension = 2;
                        self.plies[ply].doubled += 1;
                    }
                } else if below >= beta {
                    // Several moves refute the position.
                    return below;
                } else if known_score >= beta {
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
            if depth >= 2 && number > 1 + usize::from(root) && (quiet || next.loses || !was_pv) {
                // Late move reduction.
                if was_pv {
                    reduced -= 1_024;
                }
                if PV {
                    reduced -= 512;
                }
                if cut_node {
                    reduced += 1_536;
                }
                if !improving {
                    reduced += 512;
                }
                if child.in_check() {
                    reduced -= 1_024;
                }
                if known_noisy && quiet {
                    reduced += 768;
                }
                if quiet {
                    reduced -= history / 10;
                } else {
                    reduced -= 1_024 + history / 12;
                }
                if self.plies[ply].killers.contains(&packed) {
                    reduced -= 1_024;
                }
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
            if best != Some(m) && tried_count < tried.len() {
                tried[tried_count] = Some(m);
                tried_count += 1;
            }
        }

        if number == 0 {
            // Only the excluded move was legal.
            return alpha;
        }
        if best_score >= beta
            && let Some(m) = best
        {
            self.learn(position, m, &tried[..tried_count], depth, ply, &before);
        }
        if !excluded.is_some() && whole {
            let bound = match best_score {
                _ if best_score >= beta => Bound::Lower,
                _ if best_score > first_alpha => Bound::Exact,
                _ => Bound::Upper,
            };
            let eval = self.plies[ply].eval;
            let tells = match bound {
                Bound::Exact => true,
                Bound::Lower => best_score > eval,
                Bound::Upper => best_score < eval,
            };
            if !in_check && tells && best.is_none_or(|m| !is_noisy(m)) && !score::is_mate(best_score) {
                let error = best_score - eval + self.histories.correction(position);
                self.histories.learn_correction(position, depth, error);
            }
            let entry = Entry {
                best: best.map_or(Packed::NONE, Packed::from),
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

    /// Rewards the move that refuted a position, and lowers those that were tried in vain.
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
        if is_noisy(best) {
            self.histories.learn_capture(us, best, bonus);
        } else {
            let killers = &mut self.plies[ply].killers;
            let packed = Packed::from(best);
            if killers[0] != packed {
                *killers = [packed, killers[0]];
            }
            self.histories.learn_quiet(us, best, before, bonus);
            for &m in tried.iter().flatten().filter(|&&m| !is_noisy(m)) {
                self.histories.learn_quiet(us, m, before, -bonus);
            }
        }
        for &m in tried.iter().flatten().filter(|&&m| is_noisy(m)) {
            self.histories.learn_capture(us, m, -bonus);
        }
    }

    fn count_root(&mut self, m: Move, nodes: u64) {
        match self.root_nodes.iter_mut().find(|(root, _)| *root == m) {
            Some((_, count)) => *count += nodes,
            None => self.root_nodes.push((m, nodes)),
        }
    }

    /// The score of a draw by repetition, fifty moves or material; mate comes before the fiftieth move counts.
    fn drawn(&self, position: &Position, in_check: bool, ply: usize) -> Option<i32> {
        if position.halfmoves() >= 100 {
            let mated = in_check && position.legal_moves().is_empty();
            return Some(if mated { score::mated_in(ply) } else { DRAW });
        }
        (position.insufficient_material() || self.repeated(position)).then_some(DRAW)
    }

    /// Captures and promotions only, until nothing hangs; in check, all moves.
    fn quiescence<const PV: bool>(&mut self, position: &Position, mut alpha: i32, beta: i32, ply: usize) -> i32 {
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
            best_score = self.corrected(position, raw);
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
                if !in_check {
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

/// What is known of a node before its moves are tried.
struct Node {
    cut_node: bool,
    improving: bool,
    eval: i32,
    raw: i32,
    known: Option<Entry>,
    was_pv: bool,
    /// Where its moves begin.
    start: usize,
}
