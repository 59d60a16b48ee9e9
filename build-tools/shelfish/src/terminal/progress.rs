//! Progress of a command: a bar on a terminal.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};

/// Interval between two updates of a bar.
const BAR: Duration = Duration::from_millis(200);

/// Measure of the progress of a phase.
#[derive(Clone)]
pub struct Work {
    /// Name of the phase.
    pub phase: &'static str,
    /// Amount that is done.
    pub done: Arc<AtomicU64>,
    /// Total amount, if known.
    pub total: Option<u64>,
    /// Whether amounts are bytes.
    pub is_bytes: bool,
    /// Number of positions so far, if the phase processes positions.
    pub positions: Option<Arc<AtomicU64>>,
}

impl Work {
    /// Creates a phase that is measured in positions.
    pub fn positions(phase: &'static str, done: &Arc<AtomicU64>, total: Option<u64>) -> Work {
        Work {
            phase,
            done: done.clone(),
            total,
            is_bytes: false,
            positions: Some(done.clone()),
        }
    }
}

/// Progress report, which ends when it is dropped.
pub struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts the report, unless `quiet` is set or standard error is no terminal.
    pub fn start(work: Work, quiet: bool) -> Progress {
        let (stop, stopped) = channel();
        let is_shown = !quiet && std::io::stderr().is_terminal();
        let thread = is_shown.then(|| {
            thread::spawn(move || {
                let (start, bar) = (Instant::now(), bar(&work));
                while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(BAR) {
                    bar.set_position(work.done.load(Relaxed));
                    bar.set_message(rate(&work, start));
                }
                bar.finish_and_clear();
            })
        });
        Progress {
            stop: Some(stop),
            thread,
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn bar(work: &Work) -> ProgressBar {
    let (done, total) = if work.is_bytes {
        ("{bytes}", "{total_bytes}")
    } else {
        ("{human_pos}", "{human_len}")
    };
    let (bar, template) = match work.total {
        Some(length) => (
            ProgressBar::new(length),
            format!("{{prefix}} [{{bar:30}}] {done}/{total}, {{msg}}, {{eta}} left"),
        ),
        None => (
            ProgressBar::new_spinner(),
            format!("{{prefix}} {{spinner}} {done}, {{msg}}"),
        ),
    };
    let style =
        ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style.progress_chars("=> "))
        .with_prefix(work.phase)
}

fn rate(work: &Work, start: Instant) -> String {
    let a_second = |done: u64| (done as f64 / start.elapsed().as_secs_f64().max(0.001)) as u64;
    match &work.positions {
        Some(positions) => {
            let positions = positions.load(Relaxed);
            format!(
                "{} positions, {}/s",
                HumanCount(positions),
                HumanCount(a_second(positions))
            )
        }
        None => format!("{}/s", HumanBytes(a_second(work.done.load(Relaxed)))),
    }
}
