//! The first half of a build: inputs to sorted runs.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::kind::Total;
use super::rejects::RejectFile;
use super::runs::{Run, RunFiles};
use super::sort::{Merging, Sorter};
use super::{BuildError, MIN_MEMORY, Options};
use crate::input::{Dump, Dumps, Input, InputError};
use crate::system::workspace::Workspace;
use crate::terminal::progress::{Progress, Work};

/// Parses the inputs of a build into records.
pub trait Parse: Sync {
    /// A part of an input.
    type Chunk: Send;
    /// Counts of the parsed items.
    type Counts: Total;
    /// Merging of the records of a position.
    type Merging: Merging;

    /// Returns the parts of a dump.
    fn chunks(&self, dump: Dump) -> Box<dyn Iterator<Item = io::Result<Self::Chunk>>>;

    /// Returns the size of a part, in bytes.
    fn bytes(chunk: &Self::Chunk) -> usize;

    /// Pushes the records of a part to `sorter`, and the rows of its rejects to `rows`. Returns the number of positions.
    fn parse(
        &self,
        input: &Input,
        chunk: &Self::Chunk,
        counts: &mut Self::Counts,
        sorter: &mut Sorter<Self::Merging>,
        rows: &mut String,
    ) -> io::Result<u64>;
}

/// Memory of a build without its arenas: code, stacks, compression and waiting lines.
const BASE_MEMORY: usize = 36 << 20;
/// Memory of each worker without its arena: the current chunk, a waiting chunk and the compression of a run.
const WORKER_MEMORY: usize = 4 << 20;
/// Minimum size of an arena.
const MIN_ARENA: usize = 4 << 20;

/// The state that the workers share.
struct Job<'a, P> {
    parser: &'a P,
    options: &'a Options,
    workspace: &'a Workspace,
    run_files: &'a RunFiles,
    arena: usize,
    rejects: Option<&'a RejectFile>,
    /// Whether a worker failed, so that all workers stop.
    stop: AtomicBool,
    positions: Arc<AtomicU64>,
}

struct Numbered<C> {
    number: u64,
    input: usize,
    chunk: C,
    /// Dropped when the chunk is parsed, if the reader waits for that.
    _alone: Option<Sender<()>>,
}

/// Chunks of more bytes, such as very long lines, are parsed one at a time, because parsing takes several times as much memory.
const LARGE: usize = 4 << 20;

/// Reads all inputs into sorted runs, and returns the runs and the total counts.
pub fn gather<P: Parse>(
    parser: &P,
    options: &Options,
    Dumps { dumps, read }: Dumps,
    workspace: &Workspace,
    run_files: &RunFiles,
    rejects: Option<&RejectFile>,
) -> Result<(Vec<Run>, P::Counts), BuildError> {
    let window = dumps.iter().map(|dump| dump.window).max().unwrap_or(0);
    let spare = options
        .max_memory
        .max(MIN_MEMORY)
        .saturating_sub(BASE_MEMORY + window);
    // With little memory, fewer workers with larger arenas are faster.
    let workers = (spare / (WORKER_MEMORY + MIN_ARENA)).clamp(1, options.threads);
    let job = Job {
        parser,
        options,
        workspace,
        run_files,
        arena: (spare / workers)
            .saturating_sub(WORKER_MEMORY)
            .max(MIN_ARENA),
        rejects,
        stop: AtomicBool::new(false),
        positions: Arc::new(AtomicU64::new(0)),
    };
    let total = dumps.iter().map(|dump| dump.size).sum::<Option<u64>>();
    let work = Work {
        phase: "reading",
        done: read,
        total,
        is_bytes: true,
        positions: Some(job.positions.clone()),
    };
    let progress = Progress::start(work, options.quiet);

    let (chunks, inbox) = sync_channel(workers);
    let inbox = Arc::new(Mutex::new(inbox));
    let (read, worked) = thread::scope(|scope| {
        let job = &job;
        let workers: Vec<_> = (0..workers)
            .map(|_| {
                let inbox = inbox.clone();
                scope.spawn(move || {
                    work_on(job, &inbox).inspect_err(|_| job.stop.store(true, Relaxed))
                })
            })
            .collect();
        // Only the workers own the inbox now: when they end, sending fails.
        drop(inbox);
        let mut number = 0;
        let read = dumps.into_iter().enumerate().try_for_each(|(input, dump)| {
            for chunk in parser.chunks(dump) {
                let chunk = chunk.map_err(|error| {
                    job.stop.store(true, Relaxed);
                    InputError::Read {
                        input: options.inputs[input].clone(),
                        error,
                    }
                })?;
                let (alone, done) = channel();
                let is_large = P::bytes(&chunk) > LARGE;
                if chunks
                    .send(Numbered {
                        number,
                        input,
                        chunk,
                        _alone: is_large.then_some(alone),
                    })
                    .is_err()
                {
                    break;
                }
                if is_large {
                    // An error means that the chunk was parsed.
                    let _ = done.recv();
                }
                number += 1;
            }
            Ok::<_, InputError>(())
        });
        drop(chunks);
        let worked: Vec<_> = workers
            .into_iter()
            .map(|worker| worker.join().expect("a worker died"))
            .collect();
        (read, worked)
    });
    drop(progress);
    read?;
    let mut runs = Vec::new();
    let mut counts = P::Counts::default();
    for result in worked {
        let (some, more) = result?;
        runs.extend(some);
        counts.add(&more);
    }
    Ok((runs, counts))
}

/// Parses chunks into sorted runs until there are no more.
fn work_on<P: Parse>(
    job: &Job<P>,
    inbox: &Mutex<Receiver<Numbered<P::Chunk>>>,
) -> Result<(Vec<Run>, P::Counts), BuildError> {
    let temporary = |error| BuildError::temporary(job.workspace, error);
    let mut counts = P::Counts::default();
    let mut sorter =
        Sorter::new(job.run_files, job.arena).map_err(|_| BuildError::Memory(job.arena))?;
    loop {
        let next = inbox.lock().ok().and_then(|inbox| inbox.recv().ok());
        let Some(Numbered {
            number,
            input,
            chunk,
            _alone,
        }) = next
        else {
            break;
        };
        if job.stop.load(Relaxed) {
            break;
        }
        if P::bytes(&chunk) > LARGE {
            sorter.make_room().map_err(temporary)?;
        }
        let mut rows = String::new();
        let input = &job.options.inputs[input];
        let positions = job
            .parser
            .parse(input, &chunk, &mut counts, &mut sorter, &mut rows);
        job.positions
            .fetch_add(positions.map_err(temporary)?, Relaxed);
        if let Some(file) = &job.rejects {
            file.put(number, rows)?;
        }
    }
    Ok((sorter.finish().map_err(temporary)?, counts))
}
