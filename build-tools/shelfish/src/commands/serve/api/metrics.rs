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

/// Outcome of a request for a newer manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revalidation {
    /// The manifest is the same.
    Unchanged,
    /// A different manifest replaced the manifest.
    Replaced,
    /// The manifest could not be read. The old manifest stays in use.
    Failed,
}

/// State of the database, for the metrics.
#[derive(Clone, Copy, Debug, Default)]
pub struct DatabaseState {
    /// Counters of the reader.
    pub stats: Stats,
    /// Number of positions of the database.
    pub positions: u64,
    /// Time since the source last sent or confirmed the manifest; `None` if the manifest is from the disk cache.
    pub manifest_age: Option<Duration>,
    /// Number of times that a different manifest replaced the manifest.
    pub replacements: u64,
}

/// Labels of [`Outcome`], in its order.
const OUTCOMES: [&str; 5] = ["hit", "miss", "refused", "busy", "failed"];
/// Labels of [`Revalidation`], in its order.
const REVALIDATIONS: [&str; 3] = ["unchanged", "replaced", "failed"];
/// Upper bounds of the histogram, in microseconds.
const BOUNDS: [u64; 9] = [
    50, 100, 250, 1_000, 5_000, 25_000, 100_000, 1_000_000, 10_000_000,
];

/// Counts since the start of the server.
#[derive(Debug, Default)]
pub struct Metrics {
    outcomes: [AtomicU64; OUTCOMES.len()],
    times: [AtomicU64; BOUNDS.len()],
    micros: AtomicU64,
    revalidations: [AtomicU64; REVALIDATIONS.len()],
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

    /// Counts a request for a newer manifest.
    pub fn count_revalidation(&self, outcome: Revalidation) {
        self.revalidations[outcome as usize].fetch_add(1, Relaxed);
    }

    /// Formats all metrics, including those of the reader.
    pub fn text(&self, source: &DatabaseState) -> String {
        let DatabaseState {
            stats,
            positions,
            manifest_age,
            replacements,
        } = source;
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, samples: &[(String, String)]| {
            // Writing to a String does not fail.
            let _ = writeln!(
                text,
                "# HELP shelfish_{name} {help}\n# TYPE shelfish_{name} {kind}"
            );
            for (label, value) in samples {
                let _ = writeln!(text, "shelfish_{name}{label} {value}");
            }
        };
        let one = |value: u64| vec![(String::new(), value.to_string())];
        let counts: Vec<u64> = self
            .outcomes
            .iter()
            .map(|count| count.load(Relaxed))
            .collect();
        let labelled =
            |label: &str, counts: &mut dyn Iterator<Item = (&str, u64)>| -> Vec<(String, String)> {
                counts
                    .map(|(name, count)| (format!("{{{label}=\"{name}\"}}"), count.to_string()))
                    .collect()
            };
        let samples = labelled(
            "outcome",
            &mut OUTCOMES.into_iter().zip(counts.iter().copied()),
        );
        family(
            "questions_total",
            "counter",
            "Questions to /api/cloud-eval.",
            &samples,
        );
        let mut sum = 0;
        let mut samples: Vec<(String, String)> = Vec::new();
        for (bound, count) in BOUNDS.iter().zip(&self.times) {
            sum += count.load(Relaxed);
            samples.push((
                format!("_bucket{{le=\"{}\"}}", *bound as f64 / 1e6),
                sum.to_string(),
            ));
        }
        let all = counts.iter().sum::<u64>();
        samples.push(("_bucket{le=\"+Inf\"}".to_owned(), all.to_string()));
        samples.push((
            "_sum".to_owned(),
            (self.micros.load(Relaxed) as f64 / 1e6).to_string(),
        ));
        samples.push(("_count".to_owned(), all.to_string()));
        family(
            "question_seconds",
            "histogram",
            "Time from question to answer.",
            &samples,
        );
        family(
            "source_requests_total",
            "counter",
            "Requests to the database's host.",
            &one(stats.requests),
        );
        family(
            "source_bytes_total",
            "counter",
            "Bytes that the database's host sent.",
            &one(stats.bytes),
        );
        let blocks = [
            ("memory", stats.memory_hits),
            ("disk", stats.cache_hits),
            ("source", stats.network_blocks),
        ];
        family(
            "blocks_total",
            "counter",
            "Blocks by origin.",
            &labelled("from", &mut blocks.into_iter()),
        );
        family(
            "positions",
            "gauge",
            "Positions of the database.",
            &one(*positions),
        );
        let age = manifest_age.map(|age| (String::new(), age.as_secs_f64().to_string()));
        let help = "Time since the database's host last sent or confirmed the manifest.";
        family("manifest_age_seconds", "gauge", help, age.as_slice());
        let counts = self.revalidations.iter().map(|count| count.load(Relaxed));
        let samples = labelled("outcome", &mut REVALIDATIONS.into_iter().zip(counts));
        family(
            "revalidations_total",
            "counter",
            "Requests for a newer manifest, by --revalidate.",
            &samples,
        );
        let help = "Times that a different manifest replaced the manifest.";
        family(
            "manifest_replacements_total",
            "counter",
            help,
            &one(*replacements),
        );
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
        metrics.count_revalidation(Revalidation::Failed);
        let text = metrics.text(&DatabaseState {
            stats: Stats {
                requests: 7,
                ..Stats::default()
            },
            positions: 99,
            manifest_age: Some(Duration::from_millis(1500)),
            replacements: 2,
        });
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
            "shelfish_manifest_age_seconds 1.5",
            "shelfish_revalidations_total{outcome=\"replaced\"} 0",
            "shelfish_revalidations_total{outcome=\"failed\"} 1",
            "shelfish_manifest_replacements_total 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }
}
