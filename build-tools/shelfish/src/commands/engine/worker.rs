//! Searches in separate threads, so that the engine always accepts commands.

use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use shakmaty::{CastlingMode, Chess, Move, Position as _};
use shelfish::eval::PositionEval;
use shelfish_analysis::TABLE_WIN;
use shelfish_endgames::{EndgameError, Outcome, Tables};
use shelfish_engine::{
    Bound, Control, Game, Histories, Level, Limits, Line, Table, TableResult, UciScore, play,
    search_thread,
};
use tokio::sync::watch;

use super::database::lines;
use super::{output, print, report};
use crate::book::Book;
use crate::book::choice::{choose, sorted};
use crate::database::blocking::{Database, Deadline, TIMEOUT};

/// Destination of answers.
pub type Output = Arc<Mutex<Box<dyn Write + Send>>>;

/// Parameters of a search.
pub struct Task {
    /// Position and the moves that led to it.
    pub game: Game,
    /// Limits of the search.
    pub limits: Limits,
    /// Whether the answer waits for `stop` or `ponderhit`.
    pub hold: bool,
    /// Notation of castling.
    pub mode: CastlingMode,
    /// Database to look up before the search.
    pub database: Option<Arc<Database<PositionEval>>>,
    /// Book to play from while it contains moves.
    pub book: Option<Arc<Mutex<Book>>>,
    /// Endgame tables to look up before the search.
    pub endgames: Option<Arc<Tables>>,
    /// Level of a weaker player, who uses no database.
    pub level: Option<Level>,
}

/// Running search.
pub struct Worker {
    signals: Arc<Signals>,
    thread: JoinHandle<Vec<Histories>>,
}

/// State shared between the command thread and the search threads.
struct Signals {
    stop: AtomicBool,
    /// Value of `stop` for the lookups before the search.
    stopped: watch::Sender<bool>,
    /// Whether the answer is held back and no time counts.
    held: Mutex<bool>,
    released: Condvar,
    /// Time from which the search time counts.
    since: Mutex<Instant>,
    /// Nodes of each helper thread.
    helper_nodes: Vec<AtomicU64>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Worker {
    /// Starts a search with one thread per history.
    pub fn start(
        mut task: Task,
        table: Arc<Table>,
        mut histories: Vec<Histories>,
        out: Output,
    ) -> Worker {
        let signals = Arc::new(Signals {
            stop: AtomicBool::new(false),
            stopped: watch::Sender::new(false),
            held: Mutex::new(task.hold),
            released: Condvar::new(),
            since: Mutex::new(Instant::now()),
            helper_nodes: histories
                .iter()
                .skip(1)
                .map(|_| AtomicU64::new(0))
                .collect(),
        });
        let shared = Arc::clone(&signals);
        let thread = thread::spawn(move || {
            let time = task.limits.target.or(task.limits.deadline);
            let time = time.map_or(TIMEOUT, |time| (time / 2).min(TIMEOUT));
            let deadline = Deadline::new(time).unless(shared.stopped.subscribe());
            let chess = task.game.position().chess();
            if chess.legal_moves().is_empty() {
                let kind = if chess.is_checkmate() { "mate" } else { "cp" };
                print(&out, &format!("info depth 0 score {kind} 0\n"));
            }
            if let Some(best) = known(&mut task, &deadline, &out) {
                print(&out, &output::best_move(&best, task.mode));
                return histories;
            }
            table.next_search();
            let search = Search {
                start: Instant::now(),
                task: &task,
                // A weaker player searches without tables.
                tables: task.endgames.as_deref().filter(|_| task.level.is_none()),
                out: &out,
                signals: &shared,
                hits: AtomicU64::new(0),
                has_failed: AtomicBool::new(false),
            };
            let (lines, chosen) = thread::scope(|scope| {
                let Some((own, helpers)) = histories.split_first_mut() else {
                    return (Vec::new(), 0);
                };
                // A weaker player searches with a single thread.
                let helpers = helpers.iter_mut().filter(|_| task.level.is_none());
                for (index, histories) in helpers.enumerate() {
                    let (task, table, search) = (&task, &table, &search);
                    scope.spawn(move || {
                        let mut limits = Limits::default();
                        limits.moves.clone_from(&task.limits.moves);
                        let helper = Some(index);
                        let mut control = Thread { search, helper };
                        search_thread(&task.game, table, histories, &limits, &mut control)
                    });
                }
                let mut main = Thread {
                    search: &search,
                    helper: None,
                };
                let found = match task.level {
                    Some(level) => {
                        let seed = RandomState::new().hash_one(());
                        play(&task.game, level, seed, &task.limits, &mut main)
                    }
                    None => (
                        search_thread(&task.game, &table, own, &task.limits, &mut main),
                        0,
                    ),
                };
                let mut held = locked(&shared.held);
                while *held {
                    held = shared
                        .released
                        .wait(held)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                drop(held);
                shared.stop.store(true, Relaxed);
                found
            });
            let best = lines
                .get(chosen)
                .map(|line| line.moves.as_slice())
                .unwrap_or_default();
            print(&out, &output::best_move(best, task.mode));
            histories
        });
        Worker { signals, thread }
    }

    /// Starts the search time.
    pub fn ponder_hit(&self) {
        *locked(&self.signals.since) = Instant::now();
        self.release();
    }

    /// Stops the search, which then prints its answer.
    pub fn stop(&self) {
        self.signals.stop.store(true, Relaxed);
        self.signals.stopped.send_replace(true);
        self.release();
    }

    /// Waits for the answer and returns the histories.
    pub fn join(self) -> Vec<Histories> {
        self.thread.join().unwrap_or_default()
    }

    /// Returns whether the answer waits for `stop` or `ponderhit`.
    pub fn is_held(&self) -> bool {
        *locked(&self.signals.held)
    }

    fn release(&self) {
        *locked(&self.signals.held) = false;
        self.signals.released.notify_all();
    }
}

/// Returns moves that make a search unnecessary: of the book, the endgame tables or the database. Moves that keep a draw limit
/// the search.
///
/// A search of certain moves or of a mate is an analysis, so it uses no known move. A weaker player uses only the book.
fn known(task: &mut Task, deadline: &Deadline, out: &Output) -> Option<Vec<Move>> {
    if !task.limits.moves.is_empty() || task.limits.mate.is_some() {
        return None;
    }
    if let Some(best) = from_book(task, deadline, out) {
        return Some(vec![best]);
    }
    if task.level.is_some() {
        return None;
    }
    match from_tables(task, out) {
        Some(Exact::Best(best)) => return Some(vec![best]),
        // The database ignores the limit to some moves.
        Some(Exact::Drawn(moves)) => {
            task.limits.moves = moves;
            return None;
        }
        None => {}
    }
    from_database(task, deadline, out)
}

/// Returns a move of the book.
///
/// Infinite searches are analyses, which use no book.
fn from_book(task: &Task, deadline: &Deadline, out: &Output) -> Option<Move> {
    if task.hold {
        return None;
    }
    let candidates = locked(task.book.as_ref()?).candidates(task.game.position().chess(), deadline);
    match candidates {
        Ok(candidates) => {
            // A book ignores repetitions and could move in circles.
            let repeats = |m| {
                let mut game = task.game.clone();
                game.play(m);
                game.occurrences() > 1
            };
            let mut candidates = sorted(candidates);
            candidates.retain(|candidate| !repeats(candidate.m));
            let chosen = candidates.get(choose(&candidates, fastrand::f64())?)?;
            print(
                out,
                &format!("info string from the book, {} moves\n", candidates.len()),
            );
            Some(chosen.m)
        }
        Err(error) => {
            report(out, &format_args!("BookFile: {error}"));
            None
        }
    }
}

/// Moves that endgame tables allow.
enum Exact {
    /// The best move of a won or lost ending.
    Best(Move),
    /// The moves that keep a draw. The search chooses the move that is most difficult for the opponent.
    Drawn(Vec<Move>),
}

/// Prints the result of endgame tables. Returns the moves that keep the result.
///
/// An analysis shows the scores of the search, and all lines.
fn from_tables(task: &Task, out: &Output) -> Option<Exact> {
    let probe = match task.endgames.as_ref()?.probe(task.game.position().chess()) {
        Ok(probe) => probe,
        Err(EndgameError::Uncovered(_)) => return None,
        Err(error) => {
            report(out, &format_args!("SyzygyPath: {error}"));
            return None;
        }
    };
    let best = probe.moves.first()?;
    let outcome = best.outcome();
    print(
        out,
        &format!("info string from the endgame tables, {outcome}\n"),
    );
    if task.hold || task.limits.lines > 1 {
        return None;
    }
    let sign = match outcome {
        Outcome::Win | Outcome::MaybeWin => 1,
        Outcome::Loss | Outcome::MaybeLoss => -1,
        _ => {
            let drawn = probe
                .moves
                .iter()
                .filter(|probed| probed.outcome() == outcome);
            return Some(Exact::Drawn(drawn.map(|probed| probed.m).collect()));
        }
    };
    let line = Line {
        depth: 1,
        seldepth: 1,
        rank: 1,
        score: UciScore::Cp(sign * TABLE_WIN),
        bound: Bound::Exact,
        nodes: 0,
        hashfull: 0,
        moves: vec![best.m],
    };
    print(out, &output::info(&line, 0, 1, Duration::ZERO, task.mode));
    Some(Exact::Best(best.m))
}

/// Prints the evaluation of the database. Returns its best line if the evaluation makes a search unnecessary.
fn from_database(task: &Task, deadline: &Deadline, out: &Output) -> Option<Vec<Move>> {
    let limits = &task.limits;
    // A database ignores earlier moves of the game.
    if task.game.occurrences() > 1 {
        return None;
    }
    match task
        .database
        .as_ref()?
        .lookup(task.game.position().chess(), deadline)
    {
        Ok(eval) => {
            let lines = eval.as_ref().map(lines).unwrap_or_default();
            let best = lines.first()?;
            // A GUI limits depth or nodes to choose the strength.
            if limits.depth.is_some_and(|depth| depth < best.depth)
                || limits.nodes.is_some_and(|nodes| nodes < best.nodes)
            {
                return None;
            }
            let first = best.moves.clone();
            print(out, "info string from the database\n");
            for line in lines.iter().take(limits.lines.max(1)) {
                print(
                    out,
                    &output::info(line, line.nodes, 0, Duration::ZERO, task.mode),
                );
            }
            (!task.hold && lines.len() >= limits.lines).then_some(first)
        }
        Err(error) => {
            report(out, &error);
            None
        }
    }
}

/// State shared by all threads of a search.
struct Search<'a> {
    start: Instant,
    task: &'a Task,
    /// The endgame tables, if the search uses tables.
    tables: Option<&'a Tables>,
    out: &'a Output,
    signals: &'a Signals,
    /// Number of results of the tables.
    hits: AtomicU64,
    /// Whether an error was printed. Further errors are not printed.
    has_failed: AtomicBool,
}

/// Control of a thread.
struct Thread<'a> {
    search: &'a Search<'a>,
    /// Index of a thread that only fills the transposition table. The other thread prints the answer.
    helper: Option<usize>,
}

impl Control for Thread<'_> {
    fn elapsed(&self) -> Duration {
        let signals = self.search.signals;
        if self.helper.is_some() || *locked(&signals.held) {
            Duration::ZERO
        } else {
            locked(&signals.since).elapsed()
        }
    }

    fn stopped(&self, nodes: u64) -> bool {
        let signals = self.search.signals;
        if let Some(helper) = self.helper {
            signals.helper_nodes[helper].store(nodes, Relaxed);
        }
        signals.stop.load(Relaxed)
    }

    fn found(&mut self, lines: &[Line]) {
        if self.helper.is_some() {
            return;
        }
        let Search {
            start, task, out, ..
        } = self.search;
        let helpers = self.search.signals.helper_nodes.iter();
        let helper_nodes: u64 = helpers.map(|nodes| nodes.load(Relaxed)).sum();
        for line in lines.iter().take(task.limits.lines.max(1)) {
            let (nodes, hits) = (line.nodes + helper_nodes, self.search.hits.load(Relaxed));
            print(
                out,
                &output::info(line, nodes, hits, start.elapsed(), task.mode),
            );
        }
    }

    fn table_pieces(&self) -> usize {
        self.search.tables.map_or(0, Tables::max_pieces)
    }

    fn table_result(&mut self, chess: &Chess) -> Option<TableResult> {
        let search = self.search;
        let result = match search.tables?.outcome(chess) {
            Ok(Outcome::Win) => TableResult::Win,
            Ok(Outcome::Loss) => TableResult::Loss,
            Ok(_) => TableResult::Draw,
            Err(EndgameError::Uncovered(_)) => return None,
            Err(error) => {
                if !search.has_failed.swap(true, Relaxed) {
                    report(search.out, &format_args!("SyzygyPath: {error}"));
                }
                return None;
            }
        };
        search.hits.fetch_add(1, Relaxed);
        Some(result)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    /// Searches a position to a depth, and waits for the end.
    fn search_to(fen: &str, depth: usize, table: &Arc<Table>, threads: usize) {
        let task = Task {
            game: Game::new(fen.parse().unwrap()),
            limits: Limits::to_depth(depth),
            hold: false,
            mode: CastlingMode::Standard,
            database: None,
            book: None,
            endgames: None,
            level: None,
        };
        let histories = (0..threads).map(|_| Histories::default()).collect();
        Worker::start(
            task,
            Arc::clone(table),
            histories,
            Arc::new(Mutex::new(Box::new(std::io::sink()))),
        )
        .join();
    }

    #[test]
    fn entries_of_an_earlier_search_are_old_for_any_number_of_threads() {
        for threads in [1, 16, 32] {
            let table = Arc::new(Table::new(1 << 16));
            search_to(
                "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
                7,
                &table,
                threads,
            );
            assert!(
                table.hashfull() > 100,
                "{threads} threads: {}",
                table.hashfull()
            );
            for _ in 0..2 {
                // Neither side can mate, so that this search stores almost nothing.
                search_to("8/8/8/4k3/8/8/8/4K3 w - - 0 1", 1, &table, threads);
                assert!(
                    table.hashfull() < 10,
                    "{threads} threads: {}",
                    table.hashfull()
                );
            }
        }
    }
}
