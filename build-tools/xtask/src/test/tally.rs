//! What the steps come to, as the runners of tests tell it.

use std::process::Command;

use anyhow::Result;

use crate::shell::{call, watch};

/// How many tests passed and failed.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) passed: usize,
    pub(super) failed: usize,
}

impl Tally {
    pub(super) fn and(self, other: Tally) -> Tally {
        Tally { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }

    /// One that failed without a failed test counts as one.
    pub(super) fn unless_broken(self, is_fine: bool) -> Tally {
        if is_fine || self.failed > 0 { self } else { Tally { failed: 1, ..self } }
    }
}

/// A command that passes or fails as one.
pub(super) fn check(command: &mut Command) -> Result<Tally> {
    call(command)?;
    Ok(Tally { passed: 1, failed: 0 })
}

/// A command that says how many of its tests passed; one that fails without a failed test counts as one more failure.
pub(super) fn counted(command: &mut Command, mut count: impl FnMut(&str) -> Tally) -> Result<Tally> {
    let mut tally = Tally::default();
    // Colours would hide the figures.
    command.env("NO_COLOR", "1").env_remove("FORCE_COLOR");
    let fine = watch(command, |line| tally = tally.and(count(line)))?;
    Ok(tally.unless_broken(fine))
}

/// `test result: ok. 12 passed; 0 failed; ...`
pub(super) fn cargo_counts(line: &str) -> Tally {
    let number = |before: &str| line.split_once(before)?.0.rsplit(' ').next()?.parse().ok();
    match line.starts_with("test result:") {
        true => Tally { passed: number(" passed;").unwrap_or(0), failed: number(" failed;").unwrap_or(0) },
        false => Tally::default(),
    }
}

/// `1593 passed, 0 failed`
pub(super) fn our_counts(line: &str) -> Tally {
    let counts = line.strip_suffix(" failed").and_then(|line| line.split_once(" passed, "));
    let counts = counts.and_then(|(passed, failed)| Some((passed.parse().ok()?, failed.parse().ok()?)));
    counts.map_or(Tally::default(), |(passed, failed)| Tally { passed, failed })
}

/// `ℹ pass 12`, `ℹ fail 0`
pub(super) fn node_counts(line: &str) -> Tally {
    let number = |word: &str| line.trim_start_matches(['ℹ', '#', ' ']).strip_prefix(word)?.trim().parse().ok();
    match line.starts_with(['ℹ', '#']) {
        true => Tally { passed: number("pass ").unwrap_or(0), failed: number("fail ").unwrap_or(0) },
        false => Tally::default(),
    }
}

/// `Tests  1 failed | 11 passed (12)`
pub(super) fn vitest_counts(line: &str) -> Tally {
    let words: Vec<&str> = line.split_whitespace().collect();
    let before = |word: &str| words.windows(2).find(|pair| pair[1] == word)?[0].parse().ok();
    match words.first() {
        Some(&"Tests") => Tally { passed: before("passed").unwrap_or(0), failed: before("failed").unwrap_or(0) },
        _ => Tally::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_read() {
        let tally = cargo_counts("test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out");
        assert_eq!((tally.passed, tally.failed), (12, 3));
        assert_eq!((node_counts("ℹ pass 7").passed, node_counts("ℹ fail 2").failed), (7, 2));
        assert_eq!(node_counts("ok 7 pass 3").passed, 0);
        let tally = our_counts("1593 passed, 2 failed");
        assert_eq!((tally.passed, tally.failed), (1593, 2));
        let tally = vitest_counts("      Tests  1 failed | 11 passed (12)");
        assert_eq!((tally.passed, tally.failed), (11, 1));
    }
}
