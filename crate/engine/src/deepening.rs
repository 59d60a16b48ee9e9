//! Iterative deepening with aspiration windows.

use std::cmp::Reverse;

use shakmaty::Move;

use crate::{
    Position,
    history::Histories,
    limits::{Control, Limits},
    margins,
    score::{self, INFINITE, MAX_PLY, UciScore},
    search::Search,
    tt::{Bound, Table},
};

/// A principal variation with its score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Depth of the iteration, in plies.
    pub depth: usize,
    /// Selective depth: length of the longest line that was searched, in plies.
    pub seldepth: usize,
    /// 1 for the best line, 2 for the second best, and so on.
    pub rank: usize,
    /// Score for the side to move.
    pub score: UciScore,
    /// The relation of `score` to the true score.
    pub bound: Bound,
    /// Nodes searched so far.
    pub nodes: u64,
    /// How full the transposition table is, in thousandths.
    pub hashfull: usize,
    /// The moves. The first move is the move to play.
    pub moves: Vec<Move>,
}

/// A position with the previous positions of its game, to detect repetitions.
#[derive(Clone, Debug)]
pub struct Game {
    position: Position,
    keys: Vec<u64>,
}

impl Game {
    /// Creates a game that begins with a position.
    pub fn new(start: Position) -> Game {
        Game {
            keys: vec![start.key()],
            position: start,
        }
    }

    /// Plays a legal move.
    pub fn play(&mut self, m: Move) {
        self.position = self.position.play(m);
        if self.position.halfmoves() == 0 {
            self.keys.clear();
        }
        self.keys.push(self.position.key());
    }

    /// Returns how often the last position occurred.
    pub fn occurrences(&self) -> usize {
        let key = self.position.key();
        self.keys.iter().filter(|&&other| other == key).count()
    }

    /// Returns the number of positions since the last capture or pawn move.
    pub(crate) fn length(&self) -> usize {
        self.keys.len()
    }

    /// Returns the last position.
    pub fn position(&self) -> &Position {
        &self.position
    }
}

/// A line with its score as the search counts it.
#[derive(Clone)]
struct Candidate {
    score: i32,
    line: Line,
}

impl Candidate {
    fn first(&self) -> Move {
        self.line.moves[0]
    }
}

/// Searches the last position of a game. Returns the best lines, best first, or an empty list if there is no legal move.
/// Begins a new search of the table.
///
/// ```
/// use shelfish_engine::{Game, Histories, Limits, Silent, Table, UciScore, search};
/// let game = Game::new("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1".parse().unwrap());
/// let limits = Limits::to_depth(4);
/// let lines = search(&game, &Table::new(1 << 20), &mut Histories::default(), &limits, &mut Silent);
/// assert_eq!(lines[0].score, UciScore::Mate(1));
/// ```
pub fn search(
    game: &Game,
    table: &Table,
    histories: &mut Histories,
    limits: &Limits,
    control: &mut dyn Control,
) -> Vec<Line> {
    table.next_search();
    search_thread(game, table, histories, limits, control)
}

/// Searches like [`search`], as one of several threads that share a table. Their caller calls [`Table::next_search`] once,
/// before the threads start.
pub fn search_thread(
    game: &Game,
    table: &Table,
    histories: &mut Histories,
    limits: &Limits,
    control: &mut dyn Control,
) -> Vec<Line> {
    let position = game.position();
    let mut moves: Vec<Move> = position.legal_moves().into_iter().collect();
    if moves.iter().any(|m| limits.moves.contains(m)) {
        moves.retain(|m| limits.moves.contains(m));
    }
    let Some(&first) = moves.first() else {
        return Vec::new();
    };
    let count = limits.lines.clamp(1, moves.len());
    let mut best: Vec<Candidate> = Vec::new();
    let mut search = Search::new(game.keys.clone(), table, histories, limits, control);
    let mut stable = 0;

    for depth in 1..=limits.depth.unwrap_or(MAX_PLY).clamp(1, MAX_PLY - 1) {
        let mut found: Vec<Candidate> = Vec::new();
        for rank in 1..=count {
            let rest: Vec<Move> = moves
                .iter()
                .copied()
                .filter(|m| found.iter().all(|c| c.first() != *m))
                .collect();
            let guess = best.get(rank - 1).map(|candidate| candidate.score);
            let Some(candidate) = iteration(&mut search, position, &rest, guess, depth, rank)
            else {
                break;
            };
            found.push(candidate);
            if search.stopped {
                break;
            }
        }
        if search.stopped && found.len() < count {
            // Lines that this iteration did not reach keep their scores, behind the lines that it searched.
            let is_new = |c: &&Candidate| found.iter().all(|other| other.first() != c.first());
            let old: Vec<Candidate> = best.iter().filter(is_new).cloned().collect();
            found.extend(old);
            found.truncate(count);
        }
        if found.is_empty() {
            break;
        }
        if found.len() > 1 && !search.stopped {
            found.sort_by_key(|candidate| Reverse(candidate.score));
        }
        for (index, candidate) in found.iter_mut().enumerate() {
            candidate.line.rank = index + 1;
        }
        let lines: Vec<Line> = found
            .iter()
            .map(|candidate| candidate.line.clone())
            .collect();
        search.control.found(&lines);
        let is_same = best
            .first()
            .is_some_and(|old| old.first() == found[0].first());
        let fall = best.first().map_or(0, |old| old.score - found[0].score);
        stable = if is_same { stable + 1 } else { 0 };
        best = found;
        if search.stopped || is_enough(&search, limits, &best, moves.len(), (stable, fall)) {
            break;
        }
    }
    if best.is_empty() {
        // The search stopped before the first move.
        let line = Line {
            depth: 0,
            seldepth: 0,
            rank: 1,
            score: UciScore::Cp(0),
            bound: Bound::Lower,
            nodes: search.nodes,
            hashfull: 0,
            moves: vec![first],
        };
        return vec![line];
    }
    best.into_iter().map(|candidate| candidate.line).collect()
}

/// Searches the root to a depth, with windows that widen until they contain the score.
fn iteration(
    search: &mut Search<'_>,
    position: &Position,
    moves: &[Move],
    guess: Option<i32>,
    depth: usize,
    rank: usize,
) -> Option<Candidate> {
    let mut width = margins::WINDOW;
    let (mut alpha, mut beta) = match guess {
        Some(guess) if depth >= margins::WINDOW_DEPTH && !score::is_decisive(guess) => {
            (guess - width, guess + width)
        }
        _ => (-INFINITE, INFINITE),
    };
    let mut reduction = 0;
    let mut lower: Option<Candidate> = None;
    loop {
        let reduced_depth = (depth as i32 - reduction).max(1);
        let score = search.root(position, moves, alpha, beta, reduced_depth);
        let candidate = |bound, score, search: &Search<'_>| Candidate {
            score,
            line: Line {
                depth,
                seldepth: search.seldepth.max(depth),
                rank,
                score: UciScore::from_search(score),
                bound,
                nodes: search.nodes,
                hashfull: search.table.hashfull(),
                moves: search.lines[0].to_vec(),
            },
        };
        if search.stopped {
            // A move that was better than alpha before the stop is used.
            return match (search.root_score, lower) {
                (Some(score), _) if !search.lines[0].is_empty() => {
                    Some(candidate(Bound::Lower, score, search))
                }
                (_, lower) => lower,
            };
        }
        if score <= alpha {
            beta = (alpha + beta) / 2;
            alpha = (score - width).max(-INFINITE);
            reduction = 0;
        } else if score >= beta {
            lower = Some(candidate(Bound::Lower, score, search));
            beta = (score + width).min(INFINITE);
            reduction = (reduction + 1).min(margins::WINDOW_REDUCTION);
        } else {
            return Some(candidate(Bound::Exact, score, search));
        }
        width += width / 2;
        if width > margins::WIDEST_WINDOW {
            (alpha, beta) = (-INFINITE, INFINITE);
        }
    }
}

/// Returns whether no further iteration should begin. `choices` is the number of moves, `stable` the number of iterations
/// with the same best move, and `fall` the loss of its score in the last iteration.
fn is_enough(
    search: &Search<'_>,
    limits: &Limits,
    best: &[Candidate],
    choices: usize,
    (stable, fall): (u32, i32),
) -> bool {
    let Some(first) = best.first() else {
        return true;
    };
    if let (Some(wanted), UciScore::Mate(found)) = (limits.mate, first.line.score)
        && found > 0
        && found as u32 <= wanted
    {
        return true;
    }
    let Some(target) = limits.target else {
        return false;
    };
    if choices == 1 {
        return true;
    }
    // More time if the best move is new, if its score falls, or if other moves took many nodes. All in percent.
    let stability = [160, 130, 105, 90, 80][stable.min(4) as usize];
    let falling = 100 + fall.clamp(-20, 60);
    let share = search.nodes_of(first.first()) * 100 / search.nodes.max(1);
    let effort = 190u32.saturating_sub(share as u32 * 13 / 10);
    let scaled = target * stability / 100 * falling as u32 / 100 * effort / 100;
    search.control.elapsed() >= scaled
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
