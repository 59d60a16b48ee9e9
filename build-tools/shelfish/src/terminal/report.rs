//! The report at the end of a command: JSON for programs, text for humans.

use std::fmt;
use std::io::{self, Write};

use indicatif::HumanCount;
use serde::{Serialize, Serializer};

use super::shown::json;

/// Options of the output of commands with a summary.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct Output {
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Print no progress and no summary, only errors; --json prints the summary all the same
    #[arg(short, long)]
    pub quiet: bool,
}

impl Output {
    /// Prints a summary, if it is wanted.
    pub fn print(self, report: &(impl Serialize + fmt::Display)) -> io::Result<()> {
        if self.json || !self.quiet {
            print(report, self.json)?;
        }
        Ok(())
    }
}

/// Prints a report on standard output: as JSON on one line, or as text.
pub fn print(report: &(impl Serialize + fmt::Display), is_json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if is_json {
        writeln!(out, "{}", json(report)?)
    } else {
        write!(out, "{report}")
    }
}

/// Writes a line for each count that is not zero.
pub fn write_counts<'a>(
    f: &mut fmt::Formatter<'_>,
    counts: impl IntoIterator<Item = (&'a str, u64)>,
) -> fmt::Result {
    let mut counts = counts.into_iter().filter(|(_, n)| *n > 0);
    counts.try_for_each(|(what, n)| writeln!(f, "{what}: {}", HumanCount(n)))
}

/// Writes the number of rejected items of an input, unless it is zero.
pub fn write_rejected(
    f: &mut fmt::Formatter<'_>,
    rejected: u64,
    all: u64,
    items: &str,
) -> fmt::Result {
    if rejected == 0 {
        return Ok(());
    }
    let (rejected, all) = (HumanCount(rejected), HumanCount(all));
    writeln!(
        f,
        "{rejected} of {all} {items} (--json counts the reasons, --rejects FILE lists them)"
    )
}

/// Returns the counts that are not zero, with their names.
pub fn named<'a>(
    names: &'a [&'static str],
    counts: &'a [u64],
) -> impl Iterator<Item = (&'static str, u64)> + 'a {
    names
        .iter()
        .copied()
        .zip(counts.iter().copied())
        .filter(|(_, count)| *count > 0)
}

/// Serializes a value as its text.
pub fn as_text<T: fmt::Display, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}
