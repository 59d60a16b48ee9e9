//! The report of an examination, for people and for programs.

use std::fmt;

use indicatif::HumanBytes;
use serde::Serialize;

use super::check::{Check, Verdict};
use super::server::Server;
use super::speed::Speed;
use crate::terminal::shown::shown;

/// Report of an examination.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// URL of the manifest.
    pub url: String,
    /// Origin of the pages that read the database.
    pub origin: String,
    /// Kind of the host.
    pub host: Server,
    /// Whether there are no problems. Warnings are allowed.
    pub ok: bool,
    /// Number of problems.
    pub problems: usize,
    /// Number of warnings.
    pub warnings: usize,
    /// Checks in their order.
    pub checks: Vec<Check>,
    /// Measured times, if ranges work.
    pub speed: Option<Speed>,
    /// Number of requests that were sent.
    pub requests: usize,
    /// Number of bytes of bodies that were received.
    pub bytes: u64,
    /// Duration in seconds.
    pub seconds: f64,
}

impl Report {
    /// Returns the number of checks with a result.
    pub fn count(&self, result: Verdict) -> usize {
        self.checks
            .iter()
            .filter(|check| check.result == result)
            .count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}, for pages of {}, on {}\n",
            shown(&self.url),
            shown(&self.origin),
            self.host
        )?;
        let mut remedies: Vec<(&str, &str)> = Vec::new();
        for Check {
            title,
            result,
            found,
            expected,
            remedy,
            ..
        } in &self.checks
        {
            let mark = match result {
                Verdict::Ok => "ok",
                Verdict::Warning => "warning",
                Verdict::Problem => "PROBLEM",
                Verdict::NotChecked => "not checked",
            };
            writeln!(f, "{mark:<11}  {title:<20}  {}", shown(found))?;
            if matches!(result, Verdict::Warning | Verdict::Problem) {
                writeln!(f, "{:13}expected: {}", "", shown(expected))?;
                let Some(remedy) = remedy.as_deref() else {
                    continue;
                };
                if let Some((earlier, _)) = remedies.iter().find(|(_, earlier)| *earlier == remedy)
                {
                    writeln!(f, "{:13}remedy:   the same as for {earlier}", "")?;
                    continue;
                }
                remedies.push((title, remedy));
                for (n, line) in remedy.lines().enumerate() {
                    let label = if n == 0 { "remedy:" } else { "" };
                    writeln!(f, "{:13}{label:<8}  {}", "", shown(line))?;
                }
            }
        }
        let count = |n: usize, name: &str| format!("{n} {name}{}", if n == 1 { "" } else { "s" });
        write!(
            f,
            "\n{}, {}",
            count(self.problems, "problem"),
            count(self.warnings, "warning")
        )?;
        write!(f, ", {} ok", self.count(Verdict::Ok))?;
        match self.count(Verdict::NotChecked) {
            0 => {}
            n => write!(f, ", {n} not checked")?,
        }
        writeln!(
            f,
            "; {}, {}, {:.1} s",
            count(self.requests, "request"),
            HumanBytes(self.bytes),
            self.seconds
        )
    }
}
