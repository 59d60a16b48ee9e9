//! The database that is asked before anything is searched.

use std::time::Duration;

use shakmaty::Chess;
use shelfish::eval::{Eval, Score as White};
use shelfish::position::Position;
use shelfish::reader::{Options, Reader};
use shelfish_engine::{Bound, Line, Score};
use tokio::runtime::{Builder, Runtime};

use crate::database::{Args, Place, address};

/// How long an answer is waited for where nothing else bounds it.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// An open database.
pub struct Database {
    runtime: Runtime,
    reader: Reader<Place>,
}

impl Database {
    /// Opens a directory or URL.
    ///
    /// # Errors
    ///
    /// Why there is no database.
    pub fn open(name: &str) -> Result<Database, String> {
        let name = address(name).map_err(|error| error.to_string())?;
        let place = Args::of(&name).source().map_err(|error| error.to_string())?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let opened =
            runtime.block_on(async { tokio::time::timeout(PATIENCE, Reader::open(place, Options::default())).await });
        match opened {
            Ok(Ok(reader)) => Ok(Database { runtime, reader }),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("{name}: no answer within {} s", PATIENCE.as_secs())),
        }
    }

    /// The lines of the deepest evaluation of a position; none if the database does not have it.
    ///
    /// # Errors
    ///
    /// Why the database does not answer.
    pub fn lines(&self, chess: &Chess, patience: Duration) -> Result<Vec<Line>, String> {
        let position = Position::from_chess(chess);
        let lookup = self.reader.lookup(&position);
        let answer = self.runtime.block_on(async { tokio::time::timeout(patience, lookup).await });
        match answer {
            Ok(Ok(eval)) => Ok(eval.as_ref().map(lines).unwrap_or_default()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("the database did not answer within {} ms", patience.as_millis())),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // What is still under way is not waited for.
        if let Ok(runtime) = Builder::new_current_thread().build() {
            std::mem::replace(&mut self.runtime, runtime).shutdown_background();
        }
    }
}

/// The lines of a record, from the point of view of the side to move.
fn lines(eval: &Eval) -> Vec<Line> {
    let Some(best) = eval.best() else { return Vec::new() };
    let sign = if shakmaty::Position::turn(eval.position.chess()).is_white() { 1 } else { -1 };
    let played = best.pvs.iter().filter(|pv| !pv.line.is_empty());
    let line = |(index, pv): (usize, &shelfish::eval::Pv)| Line {
        depth: best.depth.into(),
        deepest: best.depth.into(),
        rank: index + 1,
        score: match pv.score {
            White::Cp(cp) => Score::Cp(cp.saturating_mul(sign)),
            White::Mate(moves) => Score::Mate(moves * sign),
        },
        bound: Bound::Exact,
        nodes: best.knodes.saturating_mul(1_000),
        full: 0,
        moves: pv.line.clone(),
    };
    played.enumerate().map(line).collect()
}
