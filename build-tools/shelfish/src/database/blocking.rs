//! Blocking lookups with a deadline.

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

use super::{Args, DatabaseSource, OpenError, address};

/// Timeout if no other limit applies.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Common deadline of several lookups.
pub struct Deadline {
    time: Duration,
    until: Instant,
    stopped: Option<watch::Receiver<bool>>,
}

impl Deadline {
    /// Starts a deadline that ends after `time`.
    pub fn new(time: Duration) -> Deadline {
        Deadline { time, until: Instant::now() + time, stopped: None }
    }

    /// Adds a signal that ends all waiting.
    pub fn unless(self, stopped: watch::Receiver<bool>) -> Deadline {
        Deadline { stopped: Some(stopped), ..self }
    }

    /// Waits for an answer. Returns an error after the deadline, and `None` after the signal.
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

/// Reader that may still be opening, or the reason why it cannot be opened.
type Opening<R> = Shared<BoxFuture<'static, Result<Arc<Reader<DatabaseSource, R>>, String>>>;

/// Database that is open or opening.
pub struct Database<R: Record> {
    runtime: Runtime,
    reader: Opening<R>,
}

impl<R: Record> Database<R> {
    /// Opens a database in a directory or at a URL, and waits for the result.
    pub fn open(name: &str) -> Result<Database<R>, String> {
        let database = Database::begin(name)?;
        database.runtime.block_on(database.reader.clone())?;
        Ok(database)
    }

    /// Starts to open a URL, so that only the first lookup waits. Opens a directory at once.
    ///
    /// Lookups return the errors of a host.
    pub fn begin(name: &str) -> Result<Database<R>, String> {
        let name = address(name).map_err(|error| error.to_string())?;
        let source = Args::of(&name).source().map_err(|error| error.to_string())?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let is_near = source.is_directory();
        let reader = async move {
            match tokio::time::timeout(TIMEOUT, Reader::open(source, Options::default())).await {
                Ok(reader) => reader.map(Arc::new).map_err(|error| OpenError::from(error).to_string()),
                Err(_) => Err(format!("{name}: no answer within {} s", TIMEOUT.as_secs())),
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

    /// Looks up a position. Returns `None` if the database lacks the position, or after the signal of the deadline.
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
        // Pending requests are abandoned.
        if let Ok(runtime) = Builder::new_current_thread().build() {
            std::mem::replace(&mut self.runtime, runtime).shutdown_background();
        }
    }
}
