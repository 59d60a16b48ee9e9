//! Principal variation search: alpha-beta with a null window for all but the first move, and the reasons to search a
//! branch less deep, not at all, or deeper.
//!
//! Scores are from the point of view of the side to move. The search knows no threads, clocks or output: it asks its
//! [`Control`](crate::limits::Control).

mod moves;
mod node;
mod quiescence;

use std::time::Duration;

use shakmaty::Move;

use crate::{
    Position,
    history::{Histories, PieceTo},
    limits::{Control, Limits},
    network::{Accumulators, Network},
    order::Ranked,
    packed::Packed,
    parts::{Part, on},
    score::{self, DRAW, MAX_EVAL, MAX_PLY, NONE},
    tt::Table,
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

    /// By how much the evaluation errs in positions like this one.
    fn correction(&self, position: &Position, ply: usize) -> i32 {
        if on(Part::Correction) { self.histories.correction(position, &self.before(ply)) } else { 0 }
    }

    /// The evaluation with its correction.
    fn corrected(&self, position: &Position, raw: i32, ply: usize) -> i32 {
        (raw + self.correction(position, ply)).clamp(-MAX_EVAL, MAX_EVAL)
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
}
