//! Searches of a review, by the engine of this project or by a UCI engine.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::uci::{Engine, Setup};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Position as _};
use shelfish::position::Position;
use shelfish_analysis::{DEFAULT_NODES, KnownEval, Origin, Review, Score, Sequence};
use shelfish_engine::{Bound, Game, Histories, Limits, Line, Silent, Table, UciScore, search};

use crate::BoxError;
use crate::system::ordered::cores;
use crate::system::quantity;
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
    #[arg(long, group = "engines")]
    engine: bool,
    /// Search with this UCI engine: a program, its arguments, and options such as Hash=64
    #[arg(long, value_name = "PROGRAM", group = "engines", value_parser = Setup::parse)]
    uci: Option<Setup>,
    /// Number of searches at the same time [default: number of processors]
    #[arg(long, value_name = "N", requires = "engines", value_parser = quantity::integer(1_u16, 1024))]
    threads: Option<u16>,
    /// Nodes for each position of a doubtful move; a doubt takes up to 1.6 times as many
    #[arg(long, value_name = "N", default_value_t = DEFAULT_NODES, requires = "engines", value_parser = quantity::integer(1_u64, u64::MAX))]
    nodes: u64,
}

/// Error of an engine.
#[derive(Debug, thiserror::Error)]
#[error("--uci: {source} at {fen}")]
struct SearchError {
    /// FEN of the position.
    fen: String,
    source: crate::uci::Error,
}

/// An engine that searches one position at a time.
enum Searcher {
    Own {
        table: Table,
        histories: Box<Histories>,
    },
    Uci(Engine),
}

/// Engines that search in parallel.
pub struct Engines {
    searchers: Vec<Searcher>,
    /// Nodes of the third pass.
    pub nodes: u64,
    quiet: bool,
}

impl Args {
    /// Returns whether an engine searches.
    pub fn is_on(&self) -> bool {
        self.engine || self.uci.is_some()
    }

    /// Starts the engines. Returns `None` if no engine searches.
    pub fn start(&self, quiet: bool) -> Result<Option<Engines>, BoxError> {
        if !self.is_on() {
            return Ok(None);
        }
        let threads = self.threads.map_or_else(cores, usize::from);
        let start = || -> Result<Searcher, BoxError> {
            let Some(setup) = &self.uci else {
                return Ok(Searcher::Own {
                    table: Table::new(TABLE),
                    histories: Box::default(),
                });
            };
            let mut setup = setup.clone();
            // Lines then have one notation of castling in all games.
            setup
                .options
                .push(("UCI_Chess960".to_owned(), "true".to_owned()));
            Ok(Searcher::Uci(
                Engine::start(&setup).map_err(|error| format!("--uci: {error}"))?,
            ))
        };
        let searchers = (0..threads).map(|_| start()).collect::<Result<_, _>>()?;
        Ok(Some(Engines {
            searchers,
            nodes: self.nodes,
            quiet,
        }))
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
                        let mut search_all = || -> Result<(), SearchError> {
                            while let Some(sequence) = sequences.get(next.fetch_add(1, Relaxed)) {
                                for (n, &index) in sequence.positions.iter().enumerate() {
                                    let position = &positions[index];
                                    let found = searcher.search(position, sequence, n == 0);
                                    let found = found.map_err(|source| SearchError {
                                        fen: position.to_string(),
                                        source,
                                    })?;
                                    let mut found = found.into_iter();
                                    if found.any(|known| sender.send(Ok((index, known))).is_err()) {
                                        return Ok(());
                                    }
                                }
                            }
                            Ok(())
                        };
                        search_all().or_else(|error| sender.send(Err(error)))
                    });
                }
                drop(sender);
                for answer in answers {
                    let (index, found) = answer?;
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
    /// Searches a position of a sequence. The first position starts a new game.
    fn search(
        &mut self,
        position: &Position,
        sequence: &Sequence,
        is_first: bool,
    ) -> Result<Option<KnownEval>, crate::uci::Error> {
        let (nodes, lines) = (sequence.nodes, sequence.lines);
        match self {
            Searcher::Own { table, histories } => {
                if is_first {
                    table.clear();
                    **histories = Histories::default();
                }
                Ok(own(position, (nodes, lines), table, histories))
            }
            Searcher::Uci(engine) => {
                if is_first {
                    engine.set_lines(lines)?;
                    engine.new_game()?;
                }
                uci(position, nodes, engine)
            }
        }
    }
}

/// Searches a position with the engine of this project.
fn own(
    position: &Position,
    (nodes, lines): (u64, usize),
    table: &Table,
    histories: &mut Histories,
) -> Option<KnownEval> {
    let game = Game::new(position.to_string().parse().ok()?);
    let mut limits = Limits::to_nodes(nodes);
    limits.lines = lines;
    let mut lines = search(&game, table, histories, &limits, &mut Silent)
        .into_iter()
        .filter(|line| line.depth > 0);
    let Line {
        depth,
        score,
        bound,
        nodes,
        moves,
        ..
    } = lines.next()?;
    // An incomplete iteration has the previous depth.
    let depth = depth - usize::from(bound != Bound::Exact);
    let scores = (score, lines.next().map(|line| line.score));
    let line = moves
        .iter()
        .map(|m| m.to_uci(CastlingMode::Chess960))
        .collect();
    known(
        position,
        scores,
        (depth as u16, nodes),
        line,
        Origin::Engine,
    )
}

/// Searches a position with a UCI engine.
fn uci(
    position: &Position,
    nodes: u64,
    engine: &mut Engine,
) -> Result<Option<KnownEval>, crate::uci::Error> {
    let timeout = Duration::from_secs(60) + Duration::from_millis(nodes / 10);
    let answer = engine.search(
        &format!("fen {position} 0 1"),
        &format!("nodes {nodes}"),
        timeout,
    )?;
    let line: Vec<UciMove> = answer.line.iter().map_while(|m| m.parse().ok()).collect();
    let size = (answer.depth as u16, answer.nodes);
    Ok(answer.score.and_then(|score| {
        known(
            position,
            (score, answer.second.map(|(score, _)| score)),
            size,
            line,
            Origin::Uci,
        )
    }))
}

/// Returns an evaluation of the scores of the first and the second line for the side to move. `size` is the depth in plies and the number of nodes.
fn known(
    position: &Position,
    (score, second): (UciScore, Option<UciScore>),
    (depth, nodes): (u16, u64),
    line: Vec<UciMove>,
    origin: Origin,
) -> Option<KnownEval> {
    let sign = position.chess().turn().fold_wb(1, -1);
    let of_white = |score| {
        let score = match score {
            UciScore::Cp(cp) => Score::Cp(sign * cp),
            UciScore::Mate(moves) => Score::Mate(sign * moves),
        };
        score.is_in_range().then_some(score)
    };
    let score = of_white(score)?;
    let knodes = Some((nodes + 500) / 1_000);
    Some(KnownEval {
        knodes,
        line,
        second: second.and_then(of_white),
        origin,
        ..KnownEval::new(score, Some(depth))
    })
}
