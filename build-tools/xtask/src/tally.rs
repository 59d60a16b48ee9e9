//! Counts of tests, read from the output of the programs that run the tests.

use std::{fmt, ops::AddAssign, process::Command};

use anyhow::Result;

use crate::shell::{call, say, watch};

/// Number of tests by result, names of failed tests, and milliseconds of tests that report them. A skipped test lacks its server, its
/// data, its browser or the option `--all`.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    pub(crate) failures: Vec<String>,
    pub(crate) times: Vec<(u64, String)>,
}

impl Tally {
    pub(crate) fn passed(passed: usize) -> Tally {
        Tally {
            passed,
            ..Tally::default()
        }
    }

    pub(crate) fn failed(message: String) -> Tally {
        Tally {
            failed: 1,
            failures: vec![message],
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

    pub(crate) fn and(mut self, other: Tally) -> Tally {
        self += other;
        self
    }

    /// Reads a line of cargo, Node, Vitest or this program.
    pub(crate) fn read(&mut self, line: &str) {
        let text = line.trim();
        let words: Vec<&str> = text.split_whitespace().collect();
        let before = |word: &str| {
            let found = words
                .windows(2)
                .find(|pair| pair[1].trim_end_matches([',', ';']) == word);
            found.and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
        };
        let ours = text.starts_with(|c: char| c.is_ascii_digit()) && text.ends_with(" skipped");
        if ours || text.starts_with("test result:") || text.starts_with("Tests  ") {
            self.passed += before("passed");
            self.failed += before("failed");
            self.skipped += before("skipped");
        } else if let ["ℹ", kind, number] = words[..] {
            let number = number.parse().unwrap_or(0);
            match kind {
                "pass" => self.passed += number,
                "fail" => self.failed += number,
                _ => {}
            }
        } else if text.contains("SKIPPED: ")
            // With `--filter`, Node also prints the tests that are not asked for.
            || text.starts_with('﹣') && !text.ends_with("# test name does not match pattern")
        {
            self.skipped += 1;
        } else if let Some((name, milliseconds)) = text
            .strip_prefix("✔ ")
            .and_then(|test| test.rsplit_once(" ("))
        {
            let milliseconds = milliseconds.trim_end_matches("ms)").parse::<f64>();
            self.times
                .extend(milliseconds.ok().map(|time| (time as u64, name.to_owned())));
        }
        let failed = line.starts_with("✖ ") && line != "✖ failing tests:"
            || line.starts_with("test ") && line.ends_with("FAILED")
            || text.starts_with("FAIL ");
        if failed && !self.failures.iter().any(|other| other == text) {
            self.failures.push(text.to_owned());
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.failures.extend(other.failures);
        self.times.extend(other.times);
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

/// Runs a command whose output contains counts of tests, and adds them.
pub(crate) fn counted(command: &mut Command) -> Result<Tally> {
    let mut tally = Tally::default();
    // Colours would be part of the numbers.
    command.env("NO_COLOR", "1").env_remove("FORCE_COLOR");
    let is_fine = watch(command, |line| tally.read(line))?;
    // A command can fail without a failed test.
    tally.failed += usize::from(!is_fine && tally.failed == 0);
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summaries_and_failures_of_all_programs_are_read() {
        let mut tally = Tally::default();
        let lines = "test a ... FAILED
test b ... SKIPPED: b: no server
test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out
✔ a search (12.5ms)
✖ c (1 ms)
﹣ in WebKit (1.2ms) # Xvfb not found
﹣ another test (0.4ms) # test name does not match pattern
ℹ pass 7
ℹ fail 2
✖ failing tests:
✖ c (1 ms)
 FAIL d
      Tests  1 failed | 11 passed | 2 skipped (14)
1593 passed, 2 failed, 1 skipped";
        lines.lines().for_each(|line| tally.read(line));
        assert_eq!(tally.to_string(), "1623 passed, 8 failed, 5 skipped");
        assert_eq!(
            tally.failures,
            ["test a ... FAILED", "✖ c (1 ms)", "FAIL d"]
        );
        assert_eq!(tally.times, [(12, "a search".to_owned())]);
    }
}
