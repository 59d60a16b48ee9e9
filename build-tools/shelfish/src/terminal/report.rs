//! What a command says at its end: JSON for programs, text for people.

use std::fmt;
use std::io::{self, Write};

use indicatif::HumanCount;
use serde::Serialize;

use super::shown::json;

/// Prints a report on standard output: as JSON on one line, or as text.
///
/// # Errors
///
/// Standard output cannot be written to, or the report has no form in JSON.
pub fn print(report: &(impl Serialize + fmt::Display), is_json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if is_json { writeln!(out, "{}", json(report)?) } else { write!(out, "{report}") }
}

/// Writes a line for each count that is not zero.
///
/// # Errors
///
/// As those of `f`.
pub fn write_counts<'a>(f: &mut fmt::Formatter<'_>, counts: impl IntoIterator<Item = (&'a str, u64)>) -> fmt::Result {
    let mut counts = counts.into_iter().filter(|(_, n)| *n > 0);
    counts.try_for_each(|(what, n)| writeln!(f, "{what}: {}", HumanCount(n)))
}
