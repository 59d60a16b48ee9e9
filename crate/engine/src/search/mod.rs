//! Principal variation search: alpha-beta with a null window for all but the first move, with pruning, reductions and
//! extensions.
//!
//! Scores are from the point of view of the side to move.

mod moves;
mod node;
mod quiescence;

use shakmaty::Move;

use crate::{
    Position,
    generate::is_noisy,
    history::{Histories, PieceTo, Quiet},
    limits::{Control, Limits},
    network::{AccumulatorStack, Network},
    order::Moves,
    packed::Packed,
    position::Changes,
    score::{self, DRAW, MAX_EVAL, MAX_PLY, NONE},
    tt::Table,
};

/// Nodes between two calls of the control.
const POLL: u64 = 1_024;

/// State of a ply of the current line.
#[derive(Clone, Copy)]
struct Ply {
    /// The corrected evaluation; [`NONE`] in check.
    eval: i32,
    /// The move played here; [`PieceTo::NONE`] for a null move.
    played: PieceTo,
    /// The move played here, if it is quiet.
    quiet: Option<Quiet>,
    killers: [Packed; 2],
    /// Move that a singular search skips.
    excluded: Packed,
    /// Number of double extensions on the line.
    double_extensions: i32,
    /// Number of moves that refuted nodes of this ply, below the present node two plies earlier.
    cutoffs: u32,
}

impl Ply {
    /// State of a ply before the search.
    const NEW: Ply = Ply {
        eval: NONE,
        played: PieceTo::NONE,
        quiet: None,
        killers: [Packed::NONE; 2],
        excluded: Packed::NONE,
        double_extensions: 0,
        cutoffs: 0,
    };
}

/// A search of one position.
pub struct Search<'a> {
    pub table: &'a Table,
    histories: &'a mut Histories,
    network: &'static Network,
    limits: &'a Limits,
    pub control: &'a mut dyn Control,
    /// Keys of the game and of the current line, to detect repetitions.
    keys: Vec<u64>,
    /// Number of keys of the game.
    game_length: usize,
    plies: Vec<Ply>,
    /// First layer of the network, for each position of the line.
    accumulators: AccumulatorStack,
    moves: Moves,
    /// Moves that the nodes of the line searched.
    tried: Vec<Move>,
    /// Principal variation from each ply on. The first is empty if no root move was better than alpha.
    pub lines: Vec<Vec<Move>>,
    /// Moves to search at the root.
    root_moves: Vec<Move>,
    /// Nodes of each root move.
    root_nodes: Vec<(Move, u64)>,
    /// Score of the best root move so far, if it is better than alpha.
    pub root_score: Option<i32>,
    pub nodes: u64,
    /// Length of the longest line of the last root search, in plies.
    pub seldepth: usize,
    pub stopped: bool,
    /// Maximum number of pieces of positions in endgame tables.
    table_pieces: usize,
}

impl<'a> Search<'a> {
    /// Creates a search of the last position of a game. `keys` are the keys of its positions.
    pub fn new(
        keys: Vec<u64>,
        table: &'a Table,
        histories: &'a mut Histories,
        limits: &'a Limits,
        control: &'a mut dyn Control,
    ) -> Search<'a> {
        let table_pieces = control.table_pieces();
        Search {
            table,
            histories,
            network: Network::embedded(),
            limits,
            control,
            game_length: keys.len(),
            keys,
            plies: vec![Ply::NEW; MAX_PLY + 2],
            accumulators: AccumulatorStack::new(MAX_PLY + 2),
            moves: Moves::default(),
            tried: Vec::with_capacity(1_024),
            lines: vec![Vec::new(); MAX_PLY + 2],
            root_moves: Vec::new(),
            root_nodes: Vec::new(),
            root_score: None,
            nodes: 0,
            seldepth: 0,
            stopped: false,
            table_pieces,
        }
    }

    /// Searches the root within a window. Only `moves` are played.
    pub fn root(
        &mut self,
        position: &Position,
        moves: &[Move],
        alpha: i32,
        beta: i32,
        depth: i32,
    ) -> i32 {
        self.accumulators.start(self.network, position);
        self.root_moves.clear();
        self.root_moves.extend_from_slice(moves);
        self.seldepth = 0;
        self.root_score = None;
        self.node::<true>(position, alpha, beta, depth, 0, false)
    }

    /// Returns the number of nodes of a root move.
    pub fn nodes_of(&self, m: Move) -> u64 {
        self.root_nodes
            .iter()
            .find(|(root, _)| *root == m)
            .map_or(0, |(_, nodes)| *nodes)
    }

    /// Returns whether to stop now.
    fn must_stop(&mut self) -> bool {
        if self.limits.nodes.is_some_and(|most| self.nodes >= most) {
            self.stopped = true;
        } else if self.nodes.is_multiple_of(POLL) {
            self.poll();
        }
        self.stopped
    }

    /// Asks the control whether to stop. In WebAssembly this is the only function in which the search may be suspended, so
    /// it must not be inlined.
    #[cold]
    #[inline(never)]
    fn poll(&mut self) {
        let late = self
            .limits
            .deadline
            .is_some_and(|deadline| self.control.elapsed() >= deadline);
        self.stopped |= late || self.control.stopped(self.nodes);
    }

    /// Returns whether the last position of the line occurred before: once in this search, or twice in the game.
    fn repeated(&self, position: &Position) -> bool {
        let Some((here, before)) = self.keys.split_last() else {
            return false;
        };
        let mut seen = 0;
        for (back, key) in before
            .iter()
            .rev()
            .enumerate()
            .take(position.halfmoves())
            .skip(1)
            .step_by(2)
        {
            if key == here {
                seen += if before.len() - 1 - back >= self.game_length {
                    2
                } else {
                    1
                };
                if seen >= 2 {
                    return true;
                }
            }
        }
        false
    }

    /// Returns the moves of the line one, two and four plies before a ply.
    fn before(&self, ply: usize) -> [PieceTo; 3] {
        [1, 2, 4].map(|back| {
            ply.checked_sub(back)
                .map_or(PieceTo::NONE, |earlier| self.plies[earlier].played)
        })
    }

    /// Returns the correction of the evaluation.
    fn correction(&self, position: &Position, ply: usize) -> i32 {
        self.histories.correction(position, &self.before(ply))
    }

    /// Returns the corrected evaluation.
    fn corrected(&self, position: &Position, raw: i32, ply: usize) -> i32 {
        (raw + self.correction(position, ply)).clamp(-MAX_EVAL, MAX_EVAL)
    }

    fn set_line(&mut self, ply: usize, m: Move) {
        let (head, tail) = self.lines.split_at_mut(ply + 1);
        head[ply].clear();
        head[ply].push(m);
        head[ply].extend_from_slice(&tail[0]);
    }

    /// Returns the evaluation of the network.
    fn evaluate(&mut self, position: &Position) -> i32 {
        self.network
            .evaluate(position, self.accumulators.last(self.network, position))
    }

    /// Plays a move of the line and enters the new position.
    fn play(&mut self, position: &Position, m: Move, ply: usize) -> Position {
        let us = position.turn();
        let changes = Changes::of(us, m);
        // Stable Rust has a prefetch for x86-64 only.
        if cfg!(target_arch = "x86_64") {
            self.table.prefetch(position.key_after(&changes));
        }
        let child = position.play_changes(m, &changes);
        let quiet = Some(m)
            .filter(|m| !is_noisy(*m))
            .map(|m| Quiet::of(position, m));
        self.enter(ply, (PieceTo::of(us, m), quiet), changes, &child);
        child
    }

    /// Enters `child` after a move and its changes.
    fn enter(
        &mut self,
        ply: usize,
        (played, quiet): (PieceTo, Option<Quiet>),
        changes: Changes,
        child: &Position,
    ) {
        self.plies[ply].played = played;
        self.plies[ply].quiet = quiet;
        self.keys.push(child.key());
        self.accumulators.push(changes, child);
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

    /// Returns the score of a draw by repetition, fifty moves or material. A mate by the fiftieth move takes precedence.
    fn drawn(&self, position: &Position, in_check: bool, ply: usize) -> Option<i32> {
        if position.halfmoves() >= 100 {
            let mated = in_check && position.legal_moves().is_empty();
            return Some(if mated { score::mated_in(ply) } else { DRAW });
        }
        (position.insufficient_material() || self.repeated(position)).then_some(DRAW)
    }
}
