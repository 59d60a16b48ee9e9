//! Progress of a command: a bar on a terminal.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressStyle};

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
            format!("{{prefix}} [{{bar:30}}] {done}/{total}, {{msg}}"),
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

/// Returns the time that the rest takes at the mean speed. A hundredth of the work must be done, because the first steps say little.
fn left(done: u64, total: Option<u64>, elapsed: Duration) -> Option<Duration> {
    let share = done as f64 / total? as f64;
    let left = elapsed.as_secs_f64() * (1.0 / share - 1.0);
    (share >= 0.01 && left >= 0.0).then(|| Duration::from_secs_f64(left))
}

fn rate(work: &Work, start: Instant) -> String {
    let left = match left(work.done.load(Relaxed), work.total, start.elapsed()) {
        Some(time) => format!(", {} left", HumanDuration(time)),
        None => String::new(),
    };
    let a_second = |done: u64| (done as f64 / start.elapsed().as_secs_f64().max(0.001)) as u64;
    match &work.positions {
        Some(positions) => {
            let positions = positions.load(Relaxed);
            format!(
                "{} positions, {}/s{left}",
                HumanCount(positions),
                HumanCount(a_second(positions))
            )
        }
        None => format!("{}/s{left}", HumanBytes(a_second(work.done.load(Relaxed)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_is_left_follows_the_mean_speed_also_after_a_pause() {
        let seconds = Duration::from_secs;
        assert_eq!(left(250, Some(1_000), seconds(10)), Some(seconds(30)));
        assert_eq!(left(1_000, Some(1_000), seconds(3_600)), Some(seconds(0)));
        for (done, total) in [
            (0, Some(1_000)),
            (9, Some(1_000)),
            (5, None),
            (0, Some(0)),
            (5, Some(0)),
            (7, Some(5)),
        ] {
            assert_eq!(left(done, total, seconds(10)), None, "{done} of {total:?}");
        }
    }
}
