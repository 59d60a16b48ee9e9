//! The first half of a build: sources to sorted runs.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::rejects::RejectFile;
use super::sort::{Merging, Run, RunFiles, Sorter};
use super::{BuildError, MIN_MEMORY, Options};
use crate::input::dump::{Dump, Dumps, Source};
use crate::system::workspace::Workspace;
use crate::terminal::progress::{Progress, Work};

/// What the sources of a build hold, and how it becomes records.
pub trait Parse: Sync {
    /// A part of a source.
    type Chunk: Send;
    /// What became of it.
    type Counts: Default + Send;
    /// How records of a position become one.
    type Merging: Merging;

    /// The parts of a source.
    fn chunks(&self, dump: Dump) -> Box<dyn Iterator<Item = io::Result<Self::Chunk>>>;

    /// Bytes of a part.
    fn bytes(chunk: &Self::Chunk) -> usize;

    /// Gives the records of a part to `sorter`, and the rows of its rejects to `rows`. Returns how many positions it has.
    ///
    /// # Errors
    ///
    /// The sorter cannot write.
    fn parse(
        &self,
        source: &Source,
        chunk: &Self::Chunk,
        counts: &mut Self::Counts,
        sorter: &mut Sorter<Self::Merging>,
        rows: &mut String,
    ) -> io::Result<u64>;
}

/// The memory that a build needs beside its arenas: code, stacks, compression, lines on their way.
const BASE_MEMORY: usize = 36 << 20;
/// Beside that, each worker's: the chunk that it parses, one that waits for it, a run's compression.
const WORKER_MEMORY: usize = 4 << 20;
/// The least that an arena is of use with.
const MIN_ARENA: usize = 4 << 20;

/// What the workers share.
struct Job<'a, P> {
    parser: &'a P,
    options: &'a Options,
    workspace: &'a Workspace,
    run_files: &'a RunFiles,
    arena: usize,
    rejects: Option<&'a RejectFile>,
    /// Set by whoever fails, so that nobody goes on for nothing.
    stop: AtomicBool,
    positions: Arc<AtomicU64>,
}

struct Numbered<C> {
    number: u64,
    source: usize,
    chunk: C,
    /// Dropped when the chunk is done with, if nothing else is to be read before.
    _alone: Option<Sender<()>>,
}

/// A chunk of more bytes, as a very long line makes it, is one at a time: it takes several times as much to parse.
const LARGE: usize = 4 << 20;

/// Reads all sources into sorted runs. Gives what became of them, by worker.
pub fn gather<P: Parse>(
    parser: &P,
    options: &Options,
    Dumps { dumps, read }: Dumps,
    workspace: &Workspace,
    run_files: &RunFiles,
    rejects: Option<&RejectFile>,
) -> Result<(Vec<Run>, Vec<P::Counts>), BuildError> {
    let window = dumps.iter().map(|dump| dump.window).max().unwrap_or(0);
    let spare = options.max_memory.max(MIN_MEMORY).saturating_sub(BASE_MEMORY + window);
    // Where memory is short, fewer workers do better than ones without room.
    let workers = (spare / (WORKER_MEMORY + MIN_ARENA)).clamp(1, options.threads);
    let job = Job {
        parser,
        options,
        workspace,
        run_files,
        arena: (spare / workers).saturating_sub(WORKER_MEMORY).max(MIN_ARENA),
        rejects,
        stop: AtomicBool::new(false),
        positions: Arc::new(AtomicU64::new(0)),
    };
    let total = dumps.iter().map(|dump| dump.size).sum::<Option<u64>>();
    let work = Work { phase: "reading", done: read, total, is_bytes: true, positions: Some(job.positions.clone()) };
    let progress = Progress::start(work, options.quiet);

    let (chunks, inbox) = sync_channel(workers);
    let inbox = Arc::new(Mutex::new(inbox));
    let (read, worked) = thread::scope(|scope| {
        let job = &job;
        let workers: Vec<_> = (0..workers)
            .map(|_| {
                let inbox = inbox.clone();
                scope.spawn(move || work_on(job, &inbox).inspect_err(|_| job.stop.store(true, Relaxed)))
            })
            .collect();
        // The workers alone hold the inbox: when they end, so does the reading.
        drop(inbox);
        let mut number = 0;
        let read = dumps.into_iter().enumerate().try_for_each(|(source, dump)| {
            for chunk in parser.chunks(dump) {
                let chunk = chunk.map_err(|error| {
                    job.stop.store(true, Relaxed);
                    BuildError::Source { source: options.sources[source].clone(), error }
                })?;
                let (alone, done) = channel();
                let is_large = P::bytes(&chunk) > LARGE;
                if chunks.send(Numbered { number, source, chunk, _alone: is_large.then_some(alone) }).is_err() {
                    break;
                }
                if is_large {
                    // An error: whoever had it is done with it.
                    let _ = done.recv();
                }
                number += 1;
            }
            Ok(())
        });
        drop(chunks);
        let worked: Vec<_> = workers.into_iter().map(|worker| worker.join().expect("a worker died")).collect();
        (read, worked)
    });
    drop(progress);
    read?;
    let mut runs = Vec::new();
    let mut counts = Vec::new();
    for result in worked {
        let (some, count) = result?;
        runs.extend(some);
        counts.push(count);
    }
    Ok((runs, counts))
}

/// Parses chunks into sorted runs until there are no more.
fn work_on<P: Parse>(
    job: &Job<P>,
    inbox: &Mutex<Receiver<Numbered<P::Chunk>>>,
) -> Result<(Vec<Run>, P::Counts), BuildError> {
    let at_temporary = |error| BuildError::Temporary { path: job.workspace.dir().to_owned(), error };
    let mut counts = P::Counts::default();
    let mut sorter = Sorter::new(job.run_files, job.arena).map_err(|_| BuildError::Memory(job.arena))?;
    loop {
        let next = inbox.lock().ok().and_then(|inbox| inbox.recv().ok());
        let Some(Numbered { number, source, chunk, _alone }) = next else { break };
        if job.stop.load(Relaxed) {
            break;
        }
        if P::bytes(&chunk) > LARGE {
            sorter.make_room().map_err(at_temporary)?;
        }
        let mut rows = String::new();
        let source = &job.options.sources[source];
        let positions = job.parser.parse(source, &chunk, &mut counts, &mut sorter, &mut rows);
        job.positions.fetch_add(positions.map_err(at_temporary)?, Relaxed);
        if let Some(file) = &job.rejects {
            file.put(number, rows)?;
        }
    }
    Ok((sorter.finish().map_err(at_temporary)?, counts))
}
