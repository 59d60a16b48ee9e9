//! Metrics of the API in the format of Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use shelfish::reader::Stats;

/// Outcome of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The database has an evaluation.
    Hit,
    /// The database lacks the position.
    Miss,
    /// The question is invalid.
    Refused,
    /// Too many questions were pending.
    Busy,
    /// The database could not be read.
    Failed,
}

/// Labels of [`Outcome`], in its order.
const OUTCOMES: [&str; 5] = ["hit", "miss", "refused", "busy", "failed"];
/// Upper bounds of the histogram, in microseconds.
const BOUNDS: [u64; 9] = [50, 100, 250, 1_000, 5_000, 25_000, 100_000, 1_000_000, 10_000_000];

/// Counts since the start of the server.
#[derive(Debug, Default)]
pub struct Metrics {
    outcomes: [AtomicU64; OUTCOMES.len()],
    times: [AtomicU64; BOUNDS.len()],
    micros: AtomicU64,
}

impl Metrics {
    /// Counts a question.
    pub fn count(&self, outcome: Outcome, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.outcomes[outcome as usize].fetch_add(1, Relaxed);
        self.micros.fetch_add(micros, Relaxed);
        if let Some(n) = BOUNDS.iter().position(|bound| micros <= *bound) {
            self.times[n].fetch_add(1, Relaxed);
        }
    }

    /// Formats all metrics, including those of the reader.
    pub fn text(&self, stats: &Stats, positions: u64) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, samples: &[(String, String)]| {
            // Writing to a String does not fail.
            let _ = writeln!(text, "# HELP shelfish_{name} {help}\n# TYPE shelfish_{name} {kind}");
            for (label, value) in samples {
                let _ = writeln!(text, "shelfish_{name}{label} {value}");
            }
        };
        let one = |value: u64| vec![(String::new(), value.to_string())];
        let counts: Vec<u64> = self.outcomes.iter().map(|count| count.load(Relaxed)).collect();
        let samples: Vec<_> = OUTCOMES
            .iter()
            .zip(&counts)
            .map(|(outcome, count)| (format!("{{outcome=\"{outcome}\"}}"), count.to_string()))
            .collect();
        family("questions_total", "counter", "Questions to /api/cloud-eval.", &samples);
        let mut sum = 0;
        let mut samples: Vec<(String, String)> = Vec::new();
        for (bound, count) in BOUNDS.iter().zip(&self.times) {
            sum += count.load(Relaxed);
            samples.push((format!("_bucket{{le=\"{}\"}}", *bound as f64 / 1e6), sum.to_string()));
        }
        let all = counts.iter().sum::<u64>();
        samples.push(("_bucket{le=\"+Inf\"}".to_owned(), all.to_string()));
        samples.push(("_sum".to_owned(), (self.micros.load(Relaxed) as f64 / 1e6).to_string()));
        samples.push(("_count".to_owned(), all.to_string()));
        family("question_seconds", "histogram", "Time from question to answer.", &samples);
        family("source_requests_total", "counter", "Requests to the database's host.", &one(stats.requests));
        family("source_bytes_total", "counter", "Bytes that the database's host sent.", &one(stats.bytes));
        let blocks = [("memory", stats.memory_hits), ("disk", stats.cache_hits), ("source", stats.network_blocks)];
        let samples: Vec<_> =
            blocks.iter().map(|(from, count)| (format!("{{from=\"{from}\"}}"), count.to_string())).collect();
        family("blocks_total", "counter", "Blocks by where they came from.", &samples);
        family("positions", "gauge", "Positions of the database.", &one(positions));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_formatted_for_prometheus() {
        let metrics = Metrics::default();
        metrics.count(Outcome::Hit, Duration::from_micros(30));
        metrics.count(Outcome::Hit, Duration::from_micros(300));
        metrics.count(Outcome::Miss, Duration::from_secs(60));
        let text = metrics.text(&Stats { requests: 7, ..Stats::default() }, 99);
        for line in [
            "# TYPE shelfish_questions_total counter",
            "shelfish_questions_total{outcome=\"hit\"} 2",
            "shelfish_questions_total{outcome=\"miss\"} 1",
            "shelfish_questions_total{outcome=\"failed\"} 0",
            "shelfish_question_seconds_bucket{le=\"0.00005\"} 1",
            "shelfish_question_seconds_bucket{le=\"0.001\"} 2",
            "shelfish_question_seconds_bucket{le=\"10\"} 2",
            "shelfish_question_seconds_bucket{le=\"+Inf\"} 3",
            "shelfish_question_seconds_count 3",
            "shelfish_source_requests_total 7",
            "shelfish_positions 99",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }
}
