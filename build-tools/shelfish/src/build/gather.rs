//! The first half of a build: inputs to sorted runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::kind::Kind;
use super::rejects::RejectFile;
use super::runs::{Run, RunFiles, Sorter};
use super::{BuildError, MIN_MEMORY, Options};
use crate::input::{Dumps, Input, InputError};
use crate::system::workspace::Workspace;
use crate::terminal::progress::{Progress, Work};

/// Memory of a build without its arenas: code, stacks, compression and waiting lines.
const BASE_MEMORY: usize = 36 << 20;
/// Memory of each worker without its arena: the current chunk, a waiting chunk and the compression of a run.
const WORKER_MEMORY: usize = 4 << 20;
/// Minimum size of an arena.
const MIN_ARENA: usize = 4 << 20;

/// Chunks of more bytes, such as very long lines, are parsed one at a time, because parsing takes several times as much memory.
const LARGE: usize = 4 << 20;

/// Reads all inputs into sorted runs, and returns the runs and the total counts.
pub fn gather<K: Kind>(
    kind: &K,
    options: &Options,
    Dumps { dumps, read }: Dumps,
    workspace: &Workspace,
    run_files: &RunFiles,
    rejects: Option<RejectFile>,
) -> Result<(Vec<Run>, K::Counts), BuildError> {
    let window = dumps.iter().map(|dump| dump.window).max().unwrap_or(0);
    let spare = options
        .max_memory
        .max(MIN_MEMORY)
        .saturating_sub(BASE_MEMORY + window);
    // With little memory, fewer workers with larger arenas are faster.
    let workers = (spare / (WORKER_MEMORY + MIN_ARENA)).clamp(1, options.threads);
    let arena = (spare / workers)
        .saturating_sub(WORKER_MEMORY)
        .max(MIN_ARENA);
    let rejects = rejects.map(Mutex::new);
    // Whether a worker failed, so that all workers stop.
    let stop = AtomicBool::new(false);
    let positions = Arc::new(AtomicU64::new(0));
    let total = dumps.iter().map(|dump| dump.size).sum::<Option<u64>>();
    let work = Work {
        phase: "reading",
        done: read,
        total,
        is_bytes: true,
        positions: Some(positions.clone()),
    };
    let progress = Progress::start(work, options.quiet);

    let (chunks, inbox) = sync_channel::<(u64, &Input, K::Chunk, Option<Sender<()>>)>(workers);
    let inbox = Arc::new(Mutex::new(inbox));
    // Parses chunks into sorted runs until there are no more.
    let work = |inbox: Arc<Mutex<Receiver<_>>>| -> Result<_, BuildError> {
        let mut counts = K::Counts::default();
        let mut sorter =
            Sorter::new(kind, run_files, arena).map_err(|_| {
                BuildError::Other(format!(
                    "cannot allocate {arena} bytes of memory for each worker: choose a smaller --max-memory"
                ))
            })?;
        loop {
            let next = inbox.lock().ok().and_then(|inbox| inbox.recv().ok());
            // The sender is dropped when the chunk is parsed, if the reader waits for that.
            let Some((number, input, chunk, _alone)) = next.filter(|_| !stop.load(Relaxed)) else {
                break;
            };
            if K::bytes(&chunk) > LARGE {
                sorter.make_room()?;
            }
            let mut rows = String::new();
            let mut push = |key: &_, payload: &_| sorter.push(key, payload);
            let parsed = kind.parse(input, &chunk, &mut counts, &mut push, &mut rows)?;
            positions.fetch_add(parsed, Relaxed);
            if let Some(file) = &rejects
                && let Ok(mut file) = file.lock()
            {
                file.put(number, rows)?;
            }
        }
        Ok((sorter.finish()?, counts))
    };
    let (read, worked) = thread::scope(|scope| {
        let work = |inbox| work(inbox).inspect_err(|_| stop.store(true, Relaxed));
        let workers: Vec<_> = (0..workers)
            .map(|_| inbox.clone())
            .map(|inbox| scope.spawn(move || work(inbox)))
            .collect();
        // Only the workers own the inbox now: when they end, sending fails.
        drop(inbox);
        let mut number = 0;
        let read = options
            .inputs
            .iter()
            .zip(dumps)
            .try_for_each(|(input, dump)| {
                for chunk in kind.chunks(dump) {
                    let chunk = chunk.map_err(|error| {
                        stop.store(true, Relaxed);
                        InputError::read(input)(error)
                    })?;
                    let (alone, done) = channel();
                    let alone = (K::bytes(&chunk) > LARGE).then_some(alone);
                    if chunks.send((number, input, chunk, alone)).is_err() {
                        break;
                    }
                    // Returns at once, unless the chunk is large: an error means that the chunk was parsed.
                    let _ = done.recv();
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
    let rejects = rejects.and_then(|file| file.into_inner().ok());
    rejects.map_or(Ok(()), RejectFile::flush)?;
    Ok((runs, counts))
}
