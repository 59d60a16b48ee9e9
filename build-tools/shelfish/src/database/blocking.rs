//! Blocking lookups with a deadline.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use shakmaty::Chess;
use shelfish::position::Position;
use shelfish::reader::{Options, REVALIDATION_INTERVAL, Reader};
use shelfish::table::Record;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::{Args, DatabaseSource, OpenError, address};
use crate::BoxError;

/// Timeout if no other limit applies.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Error of a blocking lookup, or of the opening before it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct BlockingError(#[source] Arc<dyn Error + Send + Sync>);

impl BlockingError {
    fn of(error: impl Into<BoxError>) -> BlockingError {
        BlockingError(Arc::from(error.into()))
    }
}

/// Common deadline of several lookups.
pub struct Deadline {
    time: Duration,
    until: Instant,
    stopped: Option<watch::Receiver<bool>>,
}

impl Deadline {
    /// Starts a deadline that ends after `time`.
    pub fn new(time: Duration) -> Deadline {
        Deadline {
            time,
            until: Instant::now() + time,
            stopped: None,
        }
    }

    /// Adds a signal that ends all waiting.
    pub fn unless(self, stopped: watch::Receiver<bool>) -> Deadline {
        Deadline {
            stopped: Some(stopped),
            ..self
        }
    }

    /// Waits for an answer. Returns an error after the deadline, and `None` after the signal.
    async fn wait<T>(
        &self,
        answer: impl Future<Output = Result<Option<T>, BlockingError>>,
    ) -> Result<Option<T>, BlockingError> {
        let stopped = async {
            match self.stopped.clone() {
                Some(mut stopped) => drop(stopped.wait_for(|is_stopped| *is_stopped).await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            answer = answer => answer,
            () = stopped => Ok(None),
            () = tokio::time::sleep_until(self.until.into()) => {
                let time = self.time.as_millis();
                Err(BlockingError::of(format!("the database did not answer within {time} ms")))
            }
        }
    }
}

/// Reader that may still be opening, or the reason why it cannot be opened.
type Opening<R> = Shared<BoxFuture<'static, Result<Arc<Reader<DatabaseSource, R>>, BlockingError>>>;

/// Database that is open or opening.
pub struct Database<R: Record> {
    runtime: Runtime,
    reader: Opening<R>,
    /// Time after which the manifest is requested again, because an engine may run for days.
    interval: Duration,
}

impl<R: Record> Database<R> {
    /// Opens a database in a directory or at a URL, and waits for the result.
    pub fn open(name: &str) -> Result<Database<R>, BlockingError> {
        let database = Database::begin(name)?;
        database.runtime.block_on(database.reader.clone())?;
        Ok(database)
    }

    /// Starts to open a URL, so that only the first lookup waits. Opens a directory at once.
    ///
    /// Lookups return the errors of a host.
    pub fn begin(name: &str) -> Result<Database<R>, BlockingError> {
        let database = address(name).map_err(BlockingError::of)?;
        let source = Args::of(&database).source().map_err(BlockingError::of)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| {
            BlockingError::of(format!("the threads of the lookups cannot start: {error}"))
        })?;
        let is_near = source.is_directory();
        let reader = async move {
            match tokio::time::timeout(TIMEOUT, source.reader(Options::default())).await {
                Ok(reader) => reader
                    .map(Arc::new)
                    .map_err(|error| BlockingError::of(OpenError::from(error))),
                Err(_) => {
                    let limit = TIMEOUT.as_secs();
                    Err(BlockingError::of(format!(
                        "{database}: no answer within {limit} s"
                    )))
                }
            }
        };
        let reader = reader.boxed().shared();
        if is_near {
            runtime.block_on(reader.clone())?;
        } else {
            drop(runtime.spawn(reader.clone()));
        }
        Ok(Database {
            runtime,
            reader,
            interval: REVALIDATION_INTERVAL,
        })
    }

    /// Looks up a position. Returns `None` if the database lacks the position, or after the signal of the deadline.
    pub fn lookup(&self, chess: &Chess, deadline: &Deadline) -> Result<Option<R>, BlockingError> {
        let position = Position::from_chess(chess);
        let lookup = async {
            let reader = self.reader.clone().await?;
            if reader.is_due(self.interval) {
                let reader = reader.clone();
                // The lookup does not wait for the manifest. After an error, the old database stays in use.
                drop(self.runtime.spawn(async move { reader.revalidate().await }));
            }
            reader.lookup(&position).await.map_err(BlockingError::of)
        };
        self.runtime.block_on(deadline.wait(lookup))
    }
}

impl<R: Record> Drop for Database<R> {
    fn drop(&mut self) {
        // Pending requests are abandoned.
        if let Ok(runtime) = Builder::new_current_thread().build() {
            std::mem::replace(&mut self.runtime, runtime).shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use shelfish::eval::{Evaluation, PositionEval, Pv, Score};
    use shelfish::table::{TableWriter, WriterOptions, encode_block};

    use super::*;

    /// Writes a database whose only record has this depth.
    fn write(dir: &Path, depth: u16) -> Result<(), BoxError> {
        let scratch = tempfile::tempdir()?;
        let pvs = vec![Pv {
            score: Score::Cp(1),
            line: Vec::new(),
        }];
        let evaluations = vec![Evaluation {
            depth,
            knodes: 1,
            pvs,
        }];
        let record = PositionEval {
            position: Position::from_chess(&Chess::default()),
            evaluations,
        };
        let mut writer =
            TableWriter::<PositionEval>::create(dir, scratch.path(), WriterOptions::default());
        writer.append(&encode_block(&[record])?)?;
        writer.finish()?;
        Ok(())
    }

    #[test]
    fn an_open_database_finds_a_new_build_although_its_blocks_are_in_memory() -> Result<(), BoxError>
    {
        let dir = tempfile::tempdir()?;
        write(dir.path(), 20)?;
        let name = dir.path().to_str().ok_or("no UTF-8")?;
        let (mut database, long) = (Database::open(name)?, Database::open(name)?);
        database.interval = Duration::ZERO;
        let depth = |database: &Database<PositionEval>| {
            let found =
                database.lookup(&Chess::default(), &Deadline::new(Duration::from_secs(120)))?;
            Ok::<_, BlockingError>(found.map(|record| record.evaluations[0].depth))
        };
        assert_eq!([depth(&database)?, depth(&long)?], [Some(20); 2]);
        write(dir.path(), 30)?;
        let deadline = Instant::now() + Duration::from_secs(120);
        while depth(&database)? != Some(30) {
            assert!(
                Instant::now() < deadline,
                "the old database is still in use"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(depth(&long)?, Some(20), "not before the interval is over");
        Ok(())
    }
}
