//! A database that is asked from code that waits, and not longer than it wants to.

use std::time::Duration;

use shakmaty::Chess;
use shelfish::position::Position;
use shelfish::reader::{Options, Reader};
use shelfish::table::Record;
use tokio::runtime::{Builder, Runtime};

use crate::database::{Args, Place, address};

/// How long an answer is waited for where nothing else bounds it.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// An open database.
pub struct Database<R: Record> {
    runtime: Runtime,
    reader: Reader<Place, R>,
}

impl<R: Record> Database<R> {
    /// Opens a directory or URL.
    ///
    /// # Errors
    ///
    /// Why there is no database.
    pub fn open(name: &str) -> Result<Database<R>, String> {
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

    /// The record of a position; none if the database does not have it.
    ///
    /// # Errors
    ///
    /// Why the database does not answer.
    pub fn lookup(&self, chess: &Chess, patience: Duration) -> Result<Option<R>, String> {
        let position = Position::from_chess(chess);
        let lookup = self.reader.lookup(&position);
        let answer = self.runtime.block_on(async { tokio::time::timeout(patience, lookup).await });
        match answer {
            Ok(answer) => answer.map_err(|error| error.to_string()),
            Err(_) => Err(format!("the database did not answer within {} ms", patience.as_millis())),
        }
    }
}

impl<R: Record> Drop for Database<R> {
    fn drop(&mut self) {
        // What is still under way is not waited for.
        if let Ok(runtime) = Builder::new_current_thread().build() {
            std::mem::replace(&mut self.runtime, runtime).shutdown_background();
        }
    }
}
