//! Iterative deepening: search after search, each one ply deeper, with windows about the score of the one before.

use shakmaty::Move;

use crate::{
    Position,
    history::Histories,
    limits::{Control, Limits},
    parts::{Part, on},
    score::{self, INFINITE, MAX_PLY, Score},
    search::Search,
    tt::{Bound, Table},
};

/// A line of play and what it is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The depth of the iteration, in plies.
    pub depth: usize,
    /// The longest line that was looked at, in plies.
    pub deepest: usize,
    /// 1 for the best line, 2 for the second, and so on.
    pub rank: usize,
    /// What it is worth to the side to move.
    pub score: Score,
    /// Whether the score is exact.
    pub bound: Bound,
    /// Nodes so far.
    pub nodes: u64,
    /// How full the transposition table is, in thousandths.
    pub full: usize,
    /// The moves; the first is to be played.
    pub moves: Vec<Move>,
}

/// A game up to a position: what repetitions are judged by.
#[derive(Clone, Debug)]
pub struct Game {
    position: Position,
    keys: Vec<u64>,
}

impl Game {
    /// A game that begins with a position.
    pub fn new(start: Position) -> Game {
        Game { keys: vec![start.key()], position: start }
    }

    /// Plays a legal move.
    pub fn play(&mut self, m: Move) {
        self.position = self.position.play(m);
        if self.position.halfmoves() == 0 {
            self.keys.clear();
        }
        self.keys.push(self.position.key());
    }

    /// Whether the last position stood on the board before.
    pub fn repeats(&self) -> bool {
        self.keys.iter().filter(|&&key| key == self.position.key()).count() > 1
    }

    /// How many positions there were since something could not be undone.
    pub(crate) fn length(&self) -> usize {
        self.keys.len()
    }

    /// The last position.
    pub fn position(&self) -> &Position {
        &self.position
    }
}

/// A root move that has become a line.
#[derive(Clone)]
struct Candidate {
    score: i32,
    line: Line,
}

/// Searches the last position of a game. The best lines come back, best first; none if there is no legal move.
///
/// ```
/// use shelfish_engine::{Game, Histories, Limits, Score, Silent, Table, search};
/// let game = Game::new("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1".parse().unwrap());
/// let limits = Limits { depth: Some(4), ..Limits::default() };
/// let lines = search(&game, &Table::new(1 << 20), &mut Histories::default(), &limits, &mut Silent);
/// assert_eq!(lines[0].score, Score::Mate(1));
/// ```
pub fn search(
    game: &Game,
    table: &Table,
    histories: &mut Histories,
    limits: &Limits,
    control: &mut dyn Control,
) -> Vec<Line> {
    let position = game.position();
    let mut moves: Vec<Move> = position.legal_moves().into_iter().collect();
    if !limits.moves.is_empty() {
        moves.retain(|m| limits.moves.contains(m));
    }
    let Some(&first) = moves.first() else { return Vec::new() };
    table.next_search();
    let wanted = limits.lines.clamp(1, moves.len());
    let mut best: Vec<Candidate> = Vec::new();
    let mut search = Search::new(game.keys.clone(), table, histories, limits, control);
    let mut stable = 0;

    for depth in 1..=limits.depth.unwrap_or(MAX_PLY).clamp(1, MAX_PLY - 1) {
        let mut found: Vec<Candidate> = Vec::new();
        for rank in 1..=wanted {
            let rest: Vec<Move> =
                moves.iter().copied().filter(|m| found.iter().all(|c| c.line.moves[0] != *m)).collect();
            let guess = best.get(rank - 1).map(|candidate| candidate.score);
            let Some(candidate) = iteration(&mut search, position, &rest, guess, depth, rank) else { break };
            found.push(candidate);
            if search.stopped() {
                break;
            }
        }
        if search.stopped() && found.len() < wanted {
            // The lines that were not searched again stand as they were, behind those that were.
            let known = |m: Move| found.iter().any(|c| c.line.moves[0] == m);
            let old: Vec<Candidate> = best.iter().filter(|c| !known(c.line.moves[0])).cloned().collect();
            found.extend(old);
            found.truncate(wanted);
        }
        if found.is_empty() {
            break;
        }
        if found.len() > 1 && !search.stopped() {
            found.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
        }
        for (index, candidate) in found.iter_mut().enumerate() {
            candidate.line.rank = index + 1;
        }
        search.control().found(&found.iter().map(|candidate| candidate.line.clone()).collect::<Vec<_>>());
        let same = best.first().is_some_and(|old| old.line.moves[0] == found[0].line.moves[0]);
        let fall = best.first().map_or(0, |old| old.score - found[0].score);
        stable = if same { stable + 1 } else { 0 };
        best = found;
        if search.stopped() || enough(&search, limits, &best, moves.len(), (stable, fall)) {
            break;
        }
    }
    if best.is_empty() {
        // Not even the first move was searched.
        let line = Line {
            depth: 0,
            deepest: 0,
            rank: 1,
            score: Score::Cp(0),
            bound: Bound::Lower,
            nodes: search.nodes(),
            full: 0,
            moves: vec![first],
        };
        return vec![line];
    }
    best.into_iter().map(|candidate| candidate.line).collect()
}

/// One search of the root, with windows that are widened until the score is inside.
fn iteration(
    search: &mut Search<'_>,
    position: &Position,
    moves: &[Move],
    guess: Option<i32>,
    depth: usize,
    rank: usize,
) -> Option<Candidate> {
    let mut width = 14;
    let (mut alpha, mut beta) = match guess {
        Some(guess) if on(Part::Aspiration) && depth >= 4 && !score::is_mate(guess) => (guess - width, guess + width),
        _ => (-INFINITE, INFINITE),
    };
    let mut less = 0;
    let mut kept: Option<Candidate> = None;
    loop {
        let searched = (depth as i32 - less).max(1);
        let score = search.root(position, moves, alpha, beta, searched);
        let candidate = |bound, score, search: &Search<'_>| Candidate {
            score,
            line: Line {
                depth,
                deepest: search.deepest().max(depth),
                rank,
                score: Score::of(score),
                bound,
                nodes: search.nodes(),
                full: search.table_full(),
                moves: search.line().to_vec(),
            },
        };
        if search.stopped() {
            // What was better than alpha before the end came is better than nothing.
            return match (search.partial(), kept) {
                (Some(score), _) if !search.line().is_empty() => Some(candidate(Bound::Lower, score, search)),
                (_, kept) => kept,
            };
        }
        if score <= alpha {
            beta = (alpha + beta) / 2;
            alpha = (score - width).max(-INFINITE);
            less = 0;
        } else if score >= beta {
            kept = Some(candidate(Bound::Lower, score, search));
            beta = (score + width).min(INFINITE);
            less = (less + 1).min(3);
        } else {
            return Some(candidate(Bound::Exact, score, search));
        }
        width += width / 2;
        if width > 500 {
            (alpha, beta) = (-INFINITE, INFINITE);
        }
    }
}

/// Whether another iteration is not worth its time.
fn enough(search: &Search<'_>, limits: &Limits, best: &[Candidate], choices: usize, doubt: (u32, i32)) -> bool {
    let Some(first) = best.first() else { return true };
    if let (Some(wanted), Score::Mate(found)) = (limits.mate, first.line.score)
        && found > 0
        && found as u32 <= wanted
    {
        return true;
    }
    let Some(target) = limits.target else { return false };
    if choices == 1 {
        return true;
    }
    let (stable, fall) = doubt;
    // More time when the best move is new, when the score falls, and when other moves took many nodes.
    let stability = [160, 130, 105, 90, 80][stable.min(4) as usize];
    let falling = 100 + fall.clamp(-20, 60);
    let share = search.nodes_of(first.line.moves[0]) * 100 / search.nodes().max(1);
    let effort = 190u32.saturating_sub(share as u32 * 13 / 10);
    let scaled = target * stability / 100 * falling as u32 / 100 * effort / 100;
    search.elapsed() >= scaled
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
#[path = "tests.rs"]
mod tests;
