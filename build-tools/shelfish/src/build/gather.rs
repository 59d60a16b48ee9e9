//! The first half of a build: inputs to sorted runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::kind::Kind;
use super::rejects::RejectFile;
use super::runs::{Run, RunFiles, Sorter};
use super::{BuildError, MIN_MEMORY, Options};
use crate::input::{Dumps, InputError};
use crate::system::workspace::Workspace;
use crate::terminal::progress::{Progress, Work};

/// Memory of a build without its arenas: code, stacks, compression and waiting lines.
const BASE_MEMORY: usize = 36 << 20;
/// Memory of each worker without its arena: the current chunk, a waiting chunk and the compression of a run.
const WORKER_MEMORY: usize = 4 << 20;
/// Minimum size of an arena.
const MIN_ARENA: usize = 4 << 20;

/// The state that the workers share.
struct Job<'a, K> {
    kind: &'a K,
    options: &'a Options,
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
pub fn gather<K: Kind>(
    kind: &K,
    options: &Options,
    Dumps { dumps, read }: Dumps,
    workspace: &Workspace,
    run_files: &RunFiles,
    rejects: Option<&RejectFile>,
) -> Result<(Vec<Run>, K::Counts), BuildError> {
    let window = dumps.iter().map(|dump| dump.window).max().unwrap_or(0);
    let spare = options
        .max_memory
        .max(MIN_MEMORY)
        .saturating_sub(BASE_MEMORY + window);
    // With little memory, fewer workers with larger arenas are faster.
    let workers = (spare / (WORKER_MEMORY + MIN_ARENA)).clamp(1, options.threads);
    let job = Job {
        kind,
        options,
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
            for chunk in kind.chunks(dump) {
                let chunk = chunk.map_err(|error| {
                    job.stop.store(true, Relaxed);
                    InputError::Read {
                        input: options.inputs[input].clone(),
                        error,
                    }
                })?;
                let (alone, done) = channel();
                let is_large = K::bytes(&chunk) > LARGE;
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
    let mut counts = K::Counts::default();
    for result in worked {
        let (some, more) = result.map_err(|error| error.in_workspace(workspace))?;
        runs.extend(some);
        counts += more;
    }
    // The rejects are complete before the database changes.
    rejects.map_or(Ok(()), RejectFile::flush)?;
    Ok((runs, counts))
}

/// Parses chunks into sorted runs until there are no more.
fn work_on<K: Kind>(
    job: &Job<K>,
    inbox: &Mutex<Receiver<Numbered<K::Chunk>>>,
) -> Result<(Vec<Run>, K::Counts), BuildError> {
    let mut counts = K::Counts::default();
    let mut sorter = Sorter::new(job.kind, job.run_files, job.arena)
        .map_err(|_| BuildError::Memory(job.arena))?;
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
        if K::bytes(&chunk) > LARGE {
            sorter.make_room()?;
        }
        let mut rows = String::new();
        let input = &job.options.inputs[input];
        let mut push = |key: &_, payload: &_| sorter.push(key, payload);
        let positions = job
            .kind
            .parse(input, &chunk, &mut counts, &mut push, &mut rows)?;
        job.positions.fetch_add(positions, Relaxed);
        if let Some(file) = &job.rejects {
            file.put(number, rows)?;
        }
    }
    Ok((sorter.finish()?, counts))
}
