//! Samples from evaluation databases.

use std::sync::Arc;

use shelfish::{
    eval::{PositionEval, Score},
    table::{Block, TableError},
};
use shelfish_cli::database;
use shelfish_cli::database::scan::Scan;
use shelfish_cli::system::ordered::ordered;
use shelfish_engine::Position;

use crate::{BoxError, games::is_quiet, sample::Sample};

/// Inverse of the share of pawn structures that are held out. Neighbouring positions of a game mostly share their pawn
/// structure, and a database contains no games.
const HELD_OUT: u64 = 20;
/// Score of a mate.
const MATE: i32 = 3_000;

/// Reads the samples of a database, which is a directory or a URL.
pub fn read(name: &str, samples: &mut Vec<Sample>) -> Result<(), BoxError> {
    let place = database::Args::of(name).source()?;
    let manifest = Arc::new(database::wait(database::manifest::<PositionEval>(&place))??);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let open = |block: Result<
        shelfish_cli::database::scan::RawBlock,
        shelfish_cli::database::scan::ScanError,
    >|
     -> Result<Vec<Sample>, BoxError> {
        let block = block.map_err(Box::new)?;
        let evals = Block::open(&block.bytes, &block.at)?
            .records()
            .collect::<Result<Vec<PositionEval>, TableError>>()?;
        Ok(evals.iter().filter_map(sample).collect())
    };
    for block in ordered(Scan::new(place, manifest)?, threads, open) {
        samples.extend(block?);
    }
    Ok(())
}

/// Returns the deepest evaluation of a position if its best move is quiet.
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
    Sample::new(
        &position,
        score,
        None,
        position.pawn_key().is_multiple_of(HELD_OUT),
    )
}
