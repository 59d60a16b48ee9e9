//! Tests in Node, and from there in browsers.

use std::{collections::BTreeSet, process::Command};

use anyhow::Result;

use super::{
    Args,
    tally::{Tally, counted, node_counts},
};
use crate::shell::{program, root, say};

/// Runs Node's own test runner over the `*.test.mjs` of a directory.
pub(super) fn node_tests(args: &Args, directory: &str, node: &mut Command) -> Result<Tally> {
    // Two files at a time: the tests of slow networks mostly wait.
    Ok(run_node(args, node, &test_files(directory)?, 2)?.0)
}

/// Tests of so many files may fail for the load of the machine; more are no accident.
const MOST_AGAIN: usize = 3;

/// As [`node_tests`]; where few of the files fail, these run again by themselves, and it is said which: on a machine that does
/// other work, a browser may take longer than a test waits. What needs no browser has no such excuse.
pub(super) fn browser_tests(args: &Args, directory: &str, node: &mut Command) -> Result<Tally> {
    let mut again = copy(node);
    let (first, failed) = run_node(args, node, &test_files(directory)?, 2)?;
    if failed.is_empty() || failed.len() > MOST_AGAIN {
        return Ok(first);
    }
    say(format!("{} failed; again, alone: {}", first.failed, failed.join(", ")));
    let (second, _) = run_node(args, &mut again, &failed, 1)?;
    let mended = first.failed.saturating_sub(second.failed);
    say(format!("PASSED ONLY WHEN RUN AGAIN: {mended}"));
    Ok(Tally { passed: first.passed + mended, failed: second.failed })
}

fn test_files(directory: &str) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(root().join(directory))?.flatten();
    let mut files: Vec<String> = entries.map(|entry| entry.path().display().to_string()).collect();
    files.retain(|path| path.ends_with(".test.mjs"));
    files.sort();
    Ok(files)
}

/// Runs files of tests, some at a time; and says in which of them one failed.
fn run_node(args: &Args, node: &mut Command, files: &[String], at_a_time: usize) -> Result<(Tally, Vec<String>)> {
    node.args(["--test", "--test-reporter=spec"]);
    node.env("SHELFISH", program("shelfish")).env("SHELFISH_ATTACK", program("attack"));
    if let Some(filter) = &args.filter {
        node.arg(format!("--test-name-pattern={filter}"));
    }
    let mut failed = BTreeSet::new();
    let tally = counted(node.arg(format!("--test-concurrency={at_a_time}")).args(files), |line| {
        failed.extend(failed_file(line));
        node_counts(line)
    })?;
    Ok((tally, failed.into_iter().collect()))
}

/// A command with the same program, arguments and environment.
fn copy(command: &Command) -> Command {
    let mut copy = Command::new(command.get_program());
    copy.args(command.get_args()).envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    copy.current_dir(root());
    copy
}

/// `test at tests/browser/board.test.mjs:50:7`, which stands in the list of what failed.
fn failed_file(line: &str) -> Option<String> {
    let (file, _) = line.strip_prefix("test at ")?.split_once(".test.mjs:")?;
    Some(format!("{file}.test.mjs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_a_failed_test_is_named() {
        let line = "test at tests/browser/board-axe.test.mjs:50:7";
        assert_eq!(failed_file(line).as_deref(), Some("tests/browser/board-axe.test.mjs"));
        assert_eq!(failed_file("✖ failing tests:"), None);
    }
}
