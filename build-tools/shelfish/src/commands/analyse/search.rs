//! Searches of a review by the engine.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread;

use shakmaty::{CastlingMode, Color, Position as _};
use shelfish::position::Position;
use shelfish_analysis::{DEFAULT_NODES, KnownEval, Origin, Review, Score, Sequence};
use shelfish_engine::{Bound, Game, Histories, Limits, Line, Silent, Table, UciScore, search};

use crate::BoxError;
use crate::terminal::progress::{Progress, Work};

/// Size of a transposition table in bytes. The npm package has the same default, so that both find the same.
const TABLE: usize = 16 << 20;

/// Names of the passes.
const PASSES: [&str; 6] = [
    "Pass 1 of 4",
    "Pass 2 of 4",
    "Pass 3 of 4",
    "Pass 4 of 4",
    "Only moves, pass 1 of 2",
    "Only moves, pass 2 of 2",
];

/// Options of the engine.
#[derive(clap::Args, Debug)]
#[group(id = "search_args")]
pub struct Args {
    /// Search positions that the database lacks, and settle every judgment
    #[arg(long)]
    pub engine: bool,
    /// Number of searches at the same time [default: number of processors]
    #[arg(long, value_name = "N", requires = "engine")]
    threads: Option<NonZero<usize>>,
    /// Nodes for each position of a doubtful move; a doubt takes up to three times as many
    #[arg(long, value_name = "N", default_value_t = DEFAULT_NODES, requires = "engine", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
}

/// An engine that searches one position at a time.
struct Searcher {
    table: Table,
    histories: Box<Histories>,
}

/// Engines that search in parallel.
pub struct Engines {
    searchers: Vec<Searcher>,
    /// Nodes of the third pass.
    pub nodes: u64,
    quiet: bool,
}

impl Args {
    /// Starts the engines. Returns `None` if no engine searches.
    pub fn start(&self, quiet: bool) -> Option<Engines> {
        let threads = self
            .threads
            .or_else(|| thread::available_parallelism().ok())
            .map_or(1, NonZero::get);
        let searcher = || Searcher {
            table: Table::new(TABLE),
            histories: Box::default(),
        };
        self.engine.then(|| Engines {
            searchers: (0..threads).map(|_| searcher()).collect(),
            nodes: self.nodes,
            quiet,
        })
    }
}

impl Engines {
    /// Searches until the review is settled.
    pub fn settle(&mut self, review: &mut Review) -> Result<(), BoxError> {
        loop {
            let sequences = review.next_pass();
            if sequences.is_empty() {
                return Ok(());
            }
            let total = sequences
                .iter()
                .map(|sequence| sequence.positions.len() as u64)
                .sum();
            let done = Arc::new(AtomicU64::new(0));
            let phase = PASSES
                .get(review.passes() - 1)
                .copied()
                .unwrap_or("Searching");
            let progress = Progress::start(Work::positions(phase, &done, Some(total)), self.quiet);
            let positions = review.positions().to_vec();
            let (sender, answers) = mpsc::channel();
            let next = AtomicUsize::new(0);
            thread::scope(|scope| {
                for searcher in &mut self.searchers {
                    let (sender, next, sequences, positions) =
                        (sender.clone(), &next, &sequences, &positions);
                    scope.spawn(move || {
                        while let Some(sequence) = sequences.get(next.fetch_add(1, Relaxed)) {
                            searcher.table.clear();
                            *searcher.histories = Histories::default();
                            for &index in &sequence.positions {
                                let found = searcher.search(&positions[index], sequence);
                                if found.is_some_and(|found| sender.send((index, found)).is_err()) {
                                    return;
                                }
                            }
                        }
                    });
                }
                drop(sender);
                for (index, found) in answers {
                    review.answer(index, found)?;
                    done.fetch_add(1, Relaxed);
                }
                Ok::<(), BoxError>(())
            })?;
            drop(progress);
        }
    }
}

impl Searcher {
    /// Searches a position. Returns an evaluation from White's point of view.
    fn search(&mut self, position: &Position, sequence: &Sequence) -> Option<KnownEval> {
        let game = Game::new(position.to_string().parse().ok()?);
        let mut limits = Limits::to_nodes(sequence.nodes);
        limits.lines = sequence.lines;
        let found = search(
            &game,
            &self.table,
            &mut self.histories,
            &limits,
            &mut Silent,
        );
        let mut lines = found.into_iter().filter(|line| line.depth > 0);
        let best = lines.next()?;
        let sign = if position.chess().turn() == Color::White {
            1
        } else {
            -1
        };
        let score = |line: &Line| match line.score {
            UciScore::Cp(cp) => Score::Cp(sign * cp),
            UciScore::Mate(moves) => Score::Mate(sign * moves),
        };
        let second = lines.next().as_ref().map(score);
        // An incomplete iteration has the previous depth.
        let depth = best.depth - usize::from(best.bound != Bound::Exact);
        let moves = best.moves.iter();
        score(&best).is_in_range().then(|| KnownEval {
            knodes: Some((best.nodes + 500) / 1_000),
            line: moves.map(|m| m.to_uci(CastlingMode::Chess960)).collect(),
            second: second.filter(|score| score.is_in_range()),
            origin: Origin::Engine,
            ..KnownEval::new(score(&best), Some(depth as u16))
        })
    }
}
