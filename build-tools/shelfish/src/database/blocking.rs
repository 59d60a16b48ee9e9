//! A database that is asked from code that waits, and not longer than it wants to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use shakmaty::Chess;
use shelfish::position::Position;
use shelfish::reader::{Options, Reader};
use shelfish::table::Record;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::{Args, Place, address};

/// How long an answer is waited for where nothing else bounds it.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// How long answers are waited for, all together.
pub struct Deadline {
    time: Duration,
    until: Instant,
    stopped: Option<watch::Receiver<bool>>,
}

impl Deadline {
    /// So much time from now on.
    pub fn new(time: Duration) -> Deadline {
        Deadline { time, until: Instant::now() + time, stopped: None }
    }

    /// Nothing is waited for any more once this is true.
    pub fn unless(self, stopped: watch::Receiver<bool>) -> Deadline {
        Deadline { stopped: Some(stopped), ..self }
    }

    /// Waits for an answer; an error if it did not come in time, none if it is no longer wanted.
    async fn wait<T>(&self, answer: impl Future<Output = Result<Option<T>, String>>) -> Result<Option<T>, String> {
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
                Err(format!("the database did not answer within {} ms", self.time.as_millis()))
            }
        }
    }
}

/// A reader that may not be open yet, or why it cannot be opened.
type Opening<R> = Shared<BoxFuture<'static, Result<Arc<Reader<Place, R>>, String>>>;

/// A database, open or about to be.
pub struct Database<R: Record> {
    runtime: Runtime,
    reader: Opening<R>,
}

impl<R: Record> Database<R> {
    /// Opens a directory or URL.
    ///
    /// # Errors
    ///
    /// Why there is no database.
    pub fn open(name: &str) -> Result<Database<R>, String> {
        let database = Database::begin(name)?;
        database.runtime.block_on(database.reader.clone())?;
        Ok(database)
    }

    /// Begins to open a URL, which the first lookup waits for. A directory is opened at once.
    ///
    /// # Errors
    ///
    /// Why there is no database; a host's reason comes of the lookups.
    pub fn begin(name: &str) -> Result<Database<R>, String> {
        let name = address(name).map_err(|error| error.to_string())?;
        let place = Args::of(&name).source().map_err(|error| error.to_string())?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let is_near = place.is_directory();
        let reader = async move {
            match tokio::time::timeout(PATIENCE, Reader::open(place, Options::default())).await {
                Ok(reader) => reader.map(Arc::new).map_err(|error| error.to_string()),
                Err(_) => Err(format!("{name}: no answer within {} s", PATIENCE.as_secs())),
            }
        };
        let reader = reader.boxed().shared();
        if is_near {
            runtime.block_on(reader.clone())?;
        } else {
            drop(runtime.spawn(reader.clone()));
        }
        Ok(Database { runtime, reader })
    }

    /// The record of a position; none if the database does not have it, or no answer is wanted any more.
    ///
    /// # Errors
    ///
    /// Why the database does not answer.
    pub fn lookup(&self, chess: &Chess, deadline: &Deadline) -> Result<Option<R>, String> {
        let position = Position::from_chess(chess);
        let lookup = async {
            let reader = self.reader.clone().await?;
            reader.lookup(&position).await.map_err(|error| error.to_string())
        };
        self.runtime.block_on(deadline.wait(lookup))
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
