//! `lab grow`: writes a dump of any size, of positions of games and of positions near them.
//!
//! Lines are drawn by the probabilities of the move model, so that their moves take as many bits as the model expects. This
//! module stands among the modules of the library because it needs these probabilities.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context as _, Result};
use fastrand::Rng;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Move, Position as _};
use shelfish::eval::{Evaluation, PositionEval, Pv, Score};
use shelfish::position::Position;
use shelfish_analysis::pgn;
use shelfish_cli::lichess;

use super::history::History;
use super::order::MoveOrder;
use super::prefix::LinePrefix;
use super::range::RangeReader;
use crate::judgments::texts;

/// Options of `lab grow`.
#[derive(clap::Args)]
#[command(after_help = "Example:
  lab grow games.pgn.zst --moves 6 | zstd > large.jsonl.zst")]
pub struct Args {
    /// Games
    games: PathBuf,
    /// Number of random moves in each position of the games, whose results are written too
    #[arg(long, default_value_t = 0)]
    moves: usize,
}

/// Lines of a record.
const LINES: usize = 2;
/// Moves of a line.
const LENGTH: usize = 6;
/// Games that a thread takes at once.
const BATCH: usize = 64;

/// Writes a record for each position.
pub fn run(args: &Args) -> Result<()> {
    let games = Mutex::new(texts(&args.games)?);
    let seen = Mutex::new(HashSet::new());
    let out = Mutex::new(BufWriter::new(io::stdout()));
    let write = || -> Result<()> {
        loop {
            let batch: Vec<_> = {
                let mut games = games.lock().expect("no thread panics");
                games.by_ref().take(BATCH).collect()
            };
            if batch.is_empty() {
                return Ok(());
            }
            let mut lines = Vec::new();
            for text in batch {
                let Ok(game) = pgn::read(&text?.text, 1).checked() else {
                    continue;
                };
                let mut chess = game.start().clone();
                for m in game.game.moves() {
                    chess.play_unchecked(*m);
                    for position in new(&chess, args.moves, &seen) {
                        lines.extend(lichess::line(&record(position))?.into_bytes());
                    }
                }
            }
            out.lock().expect("no thread panics").write_all(&lines)?;
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..thread::available_parallelism()?.get())
            .map(|_| scope.spawn(write))
            .collect();
        let mut done = threads
            .into_iter()
            .map(|thread| thread.join().expect("no thread panics"));
        done.try_for_each(|done| done)
    })?;
    let mut out = out.into_inner().expect("no thread panics");
    out.flush().context("standard output")
}

/// A number that depends on the position only, so that a dump does not depend on the order of the threads.
fn hash(chess: &Chess) -> u64 {
    chess.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0
}

/// Returns a position and the results of random moves in it, without positions that were seen or that end the game.
fn new(chess: &Chess, moves: usize, seen: &Mutex<HashSet<u64>>) -> Vec<Chess> {
    let insert = |hash: u64| seen.lock().expect("no thread panics").insert(hash);
    let start = hash(chess);
    if chess.is_game_over() || !insert(start) {
        return Vec::new();
    }
    let (mut rng, legal) = (Rng::with_seed(start), chess.legal_moves());
    let near = (0..moves).map(|_| {
        let mut near = chess.clone();
        near.play_unchecked(legal[rng.usize(..legal.len())]);
        near
    });
    let near = near.filter(|near| !near.is_game_over() && insert(hash(near)));
    near.chain([chess.clone()]).collect()
}

/// Draws the record of a position.
fn record(chess: Chess) -> PositionEval {
    let mut rng = Rng::with_seed(hash(&chess));
    // Scores near 0 are frequent, and the next line is a little worse.
    let best = (300.0 * (rng.f32() - 0.5) / (0.05 + rng.f32())) as i32;
    let mut pvs: Vec<Pv> = Vec::new();
    for _ in 0..LINES.min(chess.legal_moves().len()) {
        let first: Vec<Move> = pvs.iter().map(|pv| pv.line[0]).collect();
        let worse = chess.turn().fold_wb(-1, 1) * rng.i32(0..40) * pvs.len() as i32;
        pvs.push(Pv {
            score: Score::Cp(best + worse),
            line: line(chess.clone(), first, &mut rng),
        });
    }
    let evaluation = Evaluation {
        depth: rng.u16(20..44),
        knodes: 1 << rng.u32(9..20),
        pvs,
    };
    PositionEval {
        position: Position::from(&chess),
        evaluations: vec![evaluation],
    }
}

/// Draws a line. The stream of each move has random bits.
fn line(mut chess: Chess, mut barred: Vec<Move>, rng: &mut Rng) -> Vec<Move> {
    let (mut prefix, mut line) = (LinePrefix::default(), Vec::new());
    while line.len() < LENGTH && !chess.is_game_over() {
        let order = MoveOrder::new(&chess, &prefix, &History::default(), &barred);
        let bits = rng.u64(..).to_le_bytes();
        // A few bits stand for no move.
        let Some(m) = order.read(&mut RangeReader::new(&bits, 0..8)) else {
            continue;
        };
        chess.play_unchecked(m);
        prefix.push(m);
        line.push(m);
        barred.clear();
    }
    line
}
