//! Positions of evaluation databases, as this project writes them.

use std::sync::Arc;

use shelfish::{
    eval::{PositionEval, Score},
    table::{Block, TableError},
};
use shelfish_cli::database;
use shelfish_cli::database::scan::Scan;
use shelfish_cli::system::ordered::ordered;
use shelfish_engine::Position;

use crate::{Failure, games::is_quiet, sample::Sample};

/// One pawn structure in so many is held out. A database has no games, but what is near in a game has the same pawns.
const HELD_OUT: u64 = 20;
/// What a mate counts.
const MATE: i32 = 3_000;

/// Reads the samples of a database, a directory or a URL.
///
/// # Errors
///
/// It cannot be read.
pub fn read(name: &str, samples: &mut Vec<Sample>) -> Result<(), Failure> {
    let place = database::Args::of(name).source()?;
    let manifest = Arc::new(database::wait(database::manifest::<PositionEval>(&place))??);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let open =
        |block: Result<shelfish_cli::database::scan::RawBlock, shelfish_cli::database::scan::ScanError>| -> Result<Vec<Sample>, Failure> {
            let block = block.map_err(Box::new)?;
            let evals =
                Block::open(&block.bytes, &block.at)?.records().collect::<Result<Vec<PositionEval>, TableError>>()?;
            Ok(evals.iter().filter_map(sample).collect())
        };
    for block in ordered(Scan::new(place, manifest)?, threads, open) {
        samples.extend(block?);
    }
    Ok(())
}

/// The deepest evaluation of a position, if its best move is quiet.
fn sample(eval: &PositionEval) -> Option<Sample> {
    let pv = eval.best()?.pvs.first()?;
    let position = Position::new(eval.position.chess().clone());
    if !is_quiet(&position, *pv.line.first()?) {
        return None;
    }
    let score = match pv.score {
        Score::Cp(cp) => cp,
        Score::Mate(moves) => MATE * moves.signum(),
    };
    Sample::new(&position, score, None, position.pawn_key().is_multiple_of(HELD_OUT))
}
