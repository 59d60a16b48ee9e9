//! `shelfish publish`: output.

use std::fmt;
use std::process::ExitCode;

use indicatif::HumanBytes;

use crate::Outcome;
use crate::publish::{Options, Report, publish};
use crate::terminal::shown::{counted, shown};

/// Publishes a database and prints a summary.
pub fn run(options: &Options) -> Outcome {
    options.output.print(&publish(options)?)?;
    Ok(ExitCode::SUCCESS)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |bytes| HumanBytes(bytes).to_string();
        let would = if self.dry_run { "would be " } else { "" };
        let share = 100.0 * self.sent_bytes as f64 / self.bytes.max(1) as f64;
        writeln!(
            f,
            "{} of {} {would}sent, {} of {} ({share:.1} %)",
            self.sent_shards,
            counted(self.shards, "file"),
            bytes(self.sent_bytes),
            bytes(self.bytes)
        )?;
        if self.removed_files > 0 {
            writeln!(
                f,
                "{} {would}removed, {}",
                counted(self.removed_files, "old file"),
                bytes(self.removed_bytes)
            )?;
        }
        if let Some(cors) = &self.cors {
            writeln!(
                f,
                "{}",
                cors.lines().map(shown).collect::<Vec<_>>().join("\n")
            )?;
        }
        let verdict = match (self.dry_run, self.changed) {
            (true, true) => "would be replaced",
            (true, false) => "is this one already",
            (false, true) => "published",
            (false, false) => "was this one already",
        };
        writeln!(
            f,
            "{}: {verdict}, {}, {:.1} s",
            shown(&self.manifest),
            self.integrity,
            self.seconds
        )
    }
}
