//! Counts of tests and reports of failures, read from the output of the programs that run the tests.

use std::{collections::BTreeSet, fmt, ops::AddAssign, process::Command};

use anyhow::Result;

use crate::shell::{call, say, watch};

/// Number of tests by result. A skipped test lacks its server, its data, its browser or the option `--all`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    /// Lines in which a program reports its failed tests.
    pub(crate) failures: Vec<String>,
}

impl Tally {
    pub(crate) fn passed(passed: usize) -> Tally {
        Tally {
            passed,
            ..Tally::default()
        }
    }

    pub(crate) fn failed(failed: usize) -> Tally {
        Tally {
            failed,
            ..Tally::default()
        }
    }

    /// Reports that something is not tested, with the reason. Counts as one skipped test.
    pub(crate) fn skipped(reason: impl fmt::Display) -> Tally {
        say(format!("NOT TESTED {reason}"));
        Tally {
            skipped: 1,
            ..Tally::default()
        }
    }

    /// Adds a failure if the command failed without a failed test.
    pub fn unless_broken(self, is_fine: bool) -> Tally {
        if is_fine || self.failed > 0 {
            self
        } else {
            Tally { failed: 1, ..self }
        }
    }

    pub(crate) fn and(mut self, other: Tally) -> Tally {
        self += other;
        self
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.failures.extend(other.failures);
    }
}

/// `1593 passed, 0 failed, 2 skipped`
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// Runs a command that counts as one test.
pub(crate) fn check(command: &mut Command) -> Result<Tally> {
    call(command)?;
    Ok(Tally::passed(1))
}

/// Runs a command whose output contains counts of tests, and adds the counts of all lines.
pub(crate) fn counted(
    command: &mut Command,
    mut count: impl FnMut(&str) -> Tally,
) -> Result<Tally> {
    let (mut tally, mut failures) = (Tally::default(), Failures::default());
    // Colours would be part of the numbers.
    command.env("NO_COLOR", "1").env_remove("FORCE_COLOR");
    let is_fine = watch(command, |line| {
        tally += count(line);
        failures.read(line);
    })?;
    Ok(Tally {
        failures: failures.lines,
        ..tally.unless_broken(is_fine)
    })
}

/// Maximum number of lines of the failures of a program.
const MAX_FAILURE_LINES: usize = 200;

/// The part of a program's output that reports failed tests.
#[derive(Default)]
struct Failures {
    lines: Vec<String>,
    is_inside: bool,
}

impl Failures {
    /// Reads a line of the output of Node, cargo or Vitest.
    fn read(&mut self, line: &str) {
        let is_start =
            line == "✖ failing tests:" || line == "failures:" || line.contains(" Failed Tests ");
        let is_end = line.starts_with("test result:") || line.starts_with(" Test Files ");
        self.is_inside = (self.is_inside || is_start) && !is_end;
        if self.is_inside && self.lines.len() < MAX_FAILURE_LINES {
            self.lines.push(line.to_owned());
        }
    }
}

/// Runs `cargo test` and counts its tests. A test that cannot run prints `SKIPPED: `, its name and the reason, or a
/// line that begins with `NOT TESTED`; cargo counts it as passed. `options` are for the tests, not for cargo.
pub(crate) fn cargo_tests<'a>(
    command: &mut Command,
    options: impl IntoIterator<Item = &'a str>,
) -> Result<Tally> {
    let mut counter = CargoCounter::default();
    // Also shows the output of tests that pass.
    command.args(["--", "--show-output"]).args(options);
    let tally = counted(command, |line| counter.count(line))?;
    Ok(Tally {
        passed: tally.passed.saturating_sub(tally.skipped),
        ..tally
    })
}

/// State between the lines of `cargo test -- --show-output`.
#[derive(Default)]
struct CargoCounter {
    /// Whether the lines are the captured output of a test, and whether that test has been counted as skipped.
    captured: Option<bool>,
    /// Names of the tests that have been counted as skipped while they ran.
    names: BTreeSet<String>,
}

impl CargoCounter {
    fn count(&mut self, line: &str) -> Tally {
        if line.starts_with("---- ") {
            self.captured = Some(false);
        } else if line.starts_with("running ") {
            self.captured = None;
        }
        if self.is_new(line) {
            Tally {
                skipped: 1,
                ..Tally::default()
            }
        } else {
            cargo_counts(line)
        }
    }

    /// Returns whether a line reports a skipped test that has not been counted.
    fn is_new(&mut self, line: &str) -> bool {
        if let Some(is_counted) = &mut self.captured {
            let is_skipped = line.starts_with("SKIPPED: ") || line.starts_with("NOT TESTED");
            return is_skipped && !std::mem::replace(is_counted, true);
        }
        // A test that bypasses the capture names itself, and its line may follow other text.
        match line
            .split_once("SKIPPED: ")
            .map(|(_, rest)| rest.split_once(": ").map_or(rest, |(name, _)| name))
        {
            // One test at a time runs on the main thread, whose name is not the name of the test.
            Some("main") => true,
            Some(name) => self.names.insert(name.to_owned()),
            None => false,
        }
    }
}

/// Parses `test result: ok. 12 passed; 0 failed; ...`.
fn cargo_counts(line: &str) -> Tally {
    let number = |before: &str| line.split_once(before)?.0.rsplit(' ').next()?.parse().ok();
    match line.starts_with("test result:") {
        true => tally(
            number(" passed;").unwrap_or(0),
            number(" failed;").unwrap_or(0),
            0,
        ),
        false => Tally::default(),
    }
}

/// Parses `1593 passed, 0 failed, 2 skipped`.
pub fn our_counts(line: &str) -> Option<Tally> {
    let mut parts = line
        .split(", ")
        .zip(["passed", "failed", "skipped"])
        .map(|(part, word)| {
            let (number, found) = part.split_once(' ')?;
            number.parse().ok().filter(|_| found == word)
        });
    let tally = tally(parts.next()??, parts.next()??, parts.next()??);
    (tally.to_string() == line).then_some(tally)
}

fn tally(passed: usize, failed: usize, skipped: usize) -> Tally {
    Tally {
        passed,
        failed,
        skipped,
        failures: Vec::new(),
    }
}

/// Parses `ℹ pass 12`, `ℹ fail 0`, and `﹣ a name # a reason` for each skipped test or suite. `ℹ skipped` does not
/// count suites.
pub fn node_counts(line: &str) -> Tally {
    let number = |word: &str| {
        line.trim_start_matches(['ℹ', '#', ' '])
            .strip_prefix(word)?
            .trim()
            .parse()
            .ok()
    };
    match line.trim_start().chars().next() {
        Some('ℹ' | '#') if !line.starts_with(' ') => tally(
            number("pass ").unwrap_or(0),
            number("fail ").unwrap_or(0),
            0,
        ),
        // With `--filter`, node also prints the tests that are not asked for.
        Some('﹣') if !line.ends_with("# test name does not match pattern") => Tally {
            skipped: 1,
            ..Tally::default()
        },
        _ => Tally::default(),
    }
}

/// Parses `Tests  1 failed | 11 passed | 2 skipped (14)`.
pub(crate) fn vitest_counts(line: &str) -> Tally {
    let words: Vec<&str> = line.split_whitespace().collect();
    let before = |word: &str| {
        words.windows(2).find(|pair| pair[1] == word)?[0]
            .parse()
            .ok()
    };
    let [passed, failed, skipped] =
        ["passed", "failed", "skipped"].map(|word| before(word).unwrap_or(0));
    if words.first() == Some(&"Tests") {
        tally(passed, failed, skipped)
    } else {
        Tally::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_read() {
        let line =
            "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out";
        assert_eq!(cargo_counts(line), tally(12, 3, 0));
        assert_eq!(
            node_counts("ℹ pass 7").and(node_counts("ℹ fail 2")),
            tally(7, 2, 0)
        );
        assert_eq!(
            node_counts("  ﹣ in WebKit (1.2ms) # Xvfb not found"),
            tally(0, 0, 1)
        );
        assert_eq!(
            node_counts("﹣ another test (0.4ms) # test name does not match pattern"),
            tally(0, 0, 0)
        );
        assert_eq!(node_counts("ok 7 pass 3"), tally(0, 0, 0));
        assert_eq!(
            our_counts("1593 passed, 2 failed, 1 skipped"),
            Some(tally(1593, 2, 1))
        );
        assert_eq!(our_counts("1593 passed, 2 failed"), None);
        assert_eq!(our_counts("12 passed, 2 failed, 1 skipped, 4 left"), None);
        assert_eq!(
            vitest_counts("      Tests  1 failed | 11 passed | 2 skipped (14)"),
            tally(11, 1, 2)
        );
    }

    #[test]
    fn reports_of_failures_are_read() {
        let report = |output: &str| {
            let mut failures = Failures::default();
            output.lines().for_each(|line| failures.read(line));
            failures.lines.join("\n")
        };
        let cargo = "successes:\n\n---- a ----\nfine\n\nfailures:\n\n---- b ----\nbad\n\nfailures:\n    b\ntest result: FAILED. 1 passed";
        assert_eq!(
            report(cargo),
            "failures:\n\n---- b ----\nbad\n\nfailures:\n    b"
        );
        assert_eq!(
            report("✖ a (1 ms)\nℹ fail 1\n\n✖ failing tests:\n\n✖ a (1 ms)\n  bad"),
            "✖ failing tests:\n\n✖ a (1 ms)\n  bad"
        );
        let vitest = " ✓ a\n⎯⎯ Failed Tests 1 ⎯⎯\n FAIL b\n Test Files  1 failed\n Tests  1 failed";
        assert_eq!(report(vitest), "⎯⎯ Failed Tests 1 ⎯⎯\n FAIL b");
        assert_eq!(
            report(&"failures:\n".repeat(1_000)).lines().count(),
            MAX_FAILURE_LINES
        );
    }

    #[test]
    fn each_skipped_test_counts_once() {
        let skipped = |lines: &[&str]| {
            let mut counter = CargoCounter::default();
            lines
                .iter()
                .map(|line| counter.count(line))
                .fold(Tally::default(), Tally::and)
                .skipped
        };
        assert_eq!(
            skipped(&[
                "SKIPPED: a::b: no file x",
                "SKIPPED: a::b: no file y",
                "SKIPPED: c: no server"
            ]),
            2
        );
        assert_eq!(
            skipped(&[
                "test a::b ... SKIPPED: main: no file",
                "test c ... SKIPPED: main: no file"
            ]),
            2
        );
        assert_eq!(
            skipped(&[
                "---- a stdout ----",
                "NOT TESTED: x",
                "NOT TESTED: y",
                "---- b ----",
                "NOT TESTED: z"
            ]),
            2
        );
    }
}
